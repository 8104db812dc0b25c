#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::retry_after::check(input));
