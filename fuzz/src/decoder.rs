//! Bytes to event blocks, however they are cut, beside the standard's rules over the whole input; and with a limit:
//! exactly what is larger is refused, and the memory is bounded by it.

use shadway::fuzzing;

pub fn check(input: &[u8]) {
    let random = &mut crate::random(input);
    let right = fuzzing::oracle(input);
    for chunks in crate::chunkings(input, random) {
        let (reading, cost) = fuzzing::decode(&chunks, usize::MAX);
        assert_eq!(reading, right);
        assert!(cost.looked_at <= input.len(), "{} looked at", cost.looked_at);
        // A line that was cut is gathered, and once more with the others of its block.
        assert!(cost.copied <= 8 * input.len() + 16, "{} of {} copied", cost.copied, input.len());
    }
    for limit in [random.usize(0..64), random.usize(0..=input.len())] {
        let refused = is_larger(input, limit);
        for chunks in crate::chunkings(input, random) {
            let (reading, cost) = fuzzing::decode(&chunks, limit);
            assert_eq!(reading.is_refused(), refused, "refused at a limit of {limit}");
            assert!(refused || reading == right, "{reading:?} at a limit of {limit}, not {right:?}");
            assert!(reading.begins(&right), "{reading:?} at a limit of {limit} doesn't begin {right:?}");
            // A line that was cut, and the lines of its block: each up to the limit, and an end.
            assert!(cost.held <= 2 * limit + 4, "{} bytes held at a limit of {limit}", cost.held);
        }
    }
}

/// Whether there is an event whose lines have more bytes than the limit. Lines that are not kept count only while they
/// come.
fn is_larger(input: &[u8], limit: usize) -> bool {
    const MARK: &[u8] = b"\xEF\xBB\xBF";
    if MARK.starts_with(input) {
        return false;
    }
    let text = input.strip_prefix(MARK).unwrap_or(input);
    let (mut kept, mut line) = (0, Vec::new());
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'\n' if at > 0 && text[at - 1] == b'\r' => {}
            b'\n' | b'\r' => {
                let name = line.split(|byte| *byte == b':').next().unwrap_or_default();
                match name {
                    _ if line.is_empty() => kept = 0,
                    b"data" | b"event" => kept += line.len() + 1,
                    _ => {}
                }
                line.clear();
            }
            byte => line.push(*byte),
        }
        if kept + line.len() > limit {
            return true;
        }
    }
    false
}
