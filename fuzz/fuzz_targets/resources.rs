#![no_main]

use libfuzzer_sys::{fuzz_mutator, fuzz_target, fuzzer_mutate};

fuzz_target!(|input: &[u8]| fuzz::resources::check(input));

// Every other change keeps it JSON.
fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
    let changed = if seed % 2 == 0 { fuzz::mutate(data, size, max_size, seed) } else { None };
    changed.unwrap_or_else(|| fuzzer_mutate(data, size, max_size))
});
