//! Random inputs, cut at random: the same ones in every run.

use fastrand::Rng;

use super::{decode, oracle};

/// What inputs are made of: mostly what means something, or begins like it.
const PIECES: [&[u8]; 40] = [
    b"data",
    b"event",
    b"id",
    b"retry",
    b"foo",
    b":",
    b": ",
    b":",
    b" ",
    b"\n",
    b"\n",
    b"\n\n",
    b"\r",
    b"\r\n",
    b"\r\n\r\n",
    b"\n\r",
    b"\0",
    b"a",
    b"xyz",
    b"7",
    b"1500",
    b"99999999999999999999",
    b"\t",
    b"\xEF\xBB\xBF",
    b"\xEF",
    b"\xEF\xBB",
    b"\xFF",
    b"\xC3",
    b"\xA9",
    b"\xE2\x82\xAC",
    b"\xE2\x82",
    b"\xF0\x9F",
    b"\x98\x80",
    b"\xED\xA0\x80",
    b"\xE2\x80\xA8",
    b"data: ",
    b"id: 1\n",
    b"event: t\n",
    b"data: a\n\n",
    b":\n\n",
];

fn input(random: &mut Rng) -> Vec<u8> {
    (0..random.usize(0..60)).flat_map(|_| *random.choice(PIECES.iter()).unwrap()).copied().collect()
}

fn chunks<'a>(mut input: &'a [u8], random: &mut Rng) -> Vec<&'a [u8]> {
    let largest = random.usize(1..30);
    let mut chunks = Vec::new();
    while !input.is_empty() {
        let (chunk, rest) = input.split_at(random.usize(0..=largest.min(input.len())));
        chunks.push(chunk);
        input = rest;
    }
    chunks
}

#[test]
fn random_inputs_at_random_cuts_read_as_by_the_oracle() {
    let mut events = 0;
    for seed in 0..20_000 {
        let mut random = Rng::with_seed(seed);
        let input = input(&mut random);
        let right = oracle::read(&input);
        events += right.blocks.len();
        for _ in 0..4 {
            let chunks = chunks(&input, &mut random);
            let reading = decode(chunks.iter().copied());
            assert_eq!(reading, right, "seed {seed}: {:?} in {chunks:?}", String::from_utf8_lossy(&input));
        }
    }
    assert!(events > 10_000, "the inputs mean something: {events} blocks");
}

#[test]
fn random_bytes_read_as_by_the_oracle() {
    for seed in 0..20_000 {
        let mut random = Rng::with_seed(seed);
        let mut input = b"data:".to_vec();
        // Every byte, but often enough one that UTF-8 gives a meaning to, and an end.
        input.extend((0..random.usize(0..24)).map(|_| random.u8(0x78..)));
        input.extend_from_slice(b"\n\n");
        assert_eq!(decode(chunks(&input, &mut random)), oracle::read(&input), "seed {seed}: {input:?}");
    }
}
