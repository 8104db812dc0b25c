//! What each fuzz target checks: `check` of its module takes one input, and panics if it finds something.

use fastrand::Rng;

mod json;
#[cfg(test)]
mod replay;

pub use json::mutate;

/// The targets, by name: each has a file of its own, here and in `fuzz_targets`.
macro_rules! targets {
    ($($name:ident,)*) => {
        $(pub mod $name;)*

        pub const TARGETS: &[(&str, fn(&[u8]))] = &[$((stringify!($name), $name::check),)*];
    };
}

targets! {
    base_url,
    decoder,
    event,
    lines,
    path,
    resources,
    retry_after,
    signature_header,
    verify,
}

/// Random numbers that are the same for the same input, so that an input that fails does so again.
fn random(input: &[u8]) -> Rng {
    let hash = input.iter().fold(0xcbf2_9ce4_8422_2325, |hash: u64, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    });
    Rng::with_seed(hash)
}

/// Ways in which an input may arrive: whole, byte by byte, and cut at random, also into nothing.
fn chunkings<'a>(input: &'a [u8], random: &mut Rng) -> [Vec<&'a [u8]>; 3] {
    let largest = random.usize(1..=1 + input.len() / 2);
    let (mut cut, mut rest) = (Vec::new(), input);
    while !rest.is_empty() {
        let (chunk, left) = rest.split_at(random.usize(0..=largest.min(rest.len())));
        cut.push(chunk);
        rest = left;
    }
    [vec![input], input.chunks(1).collect(), cut]
}

/// What is in front of a zero byte, and what is behind it.
fn halves(input: &[u8]) -> (&[u8], &[u8]) {
    match input.iter().position(|byte| *byte == 0) {
        Some(at) => (&input[..at], &input[at + 1..]),
        None => (input, &[]),
    }
}
