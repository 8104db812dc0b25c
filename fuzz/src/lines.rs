//! Bytes to lines, however they are cut, beside a reading that is written for clarity only: the same lines, the same
//! refusal, each byte looked at once, and no more memory than the limit.

use shadway::fuzzing;

pub fn check(input: &[u8]) {
    let random = &mut crate::random(input);
    for limit in [usize::MAX, random.usize(0..64), random.usize(0..=input.len())] {
        let (right, refused) = expected(input, limit);
        for chunks in crate::chunkings(input, random) {
            let (lines, was_refused, cost) = fuzzing::lines(&chunks, limit);
            assert_eq!(lines, right, "the lines");
            assert_eq!(was_refused, refused, "refused at a limit of {limit}");
            // Two bytes that began like a byte-order mark are kept before anything is compared with the limit.
            assert!(cost.held <= limit.max(2), "{} bytes held at a limit of {limit}", cost.held);
            assert!(cost.looked_at <= input.len(), "{} looked at", cost.looked_at);
            assert!(cost.copied <= 3 * input.len() + 2, "{} copied", cost.copied);
        }
    }
}

/// The complete lines, up to the first that is larger than the limit; the last one's end may be still to come.
fn expected(input: &[u8], limit: usize) -> (Vec<Vec<u8>>, bool) {
    const MARK: &[u8] = b"\xEF\xBB\xBF";
    if MARK.starts_with(input) {
        return (Vec::new(), false);
    }
    let text = input.strip_prefix(MARK).unwrap_or(input);
    let (mut lines, mut line) = (Vec::new(), Vec::new());
    for (at, byte) in text.iter().enumerate() {
        match byte {
            b'\n' if at > 0 && text[at - 1] == b'\r' => {}
            b'\n' | b'\r' => lines.push(std::mem::take(&mut line)),
            byte => line.push(*byte),
        }
        if line.len() > limit {
            return (lines, true);
        }
    }
    (lines, false)
}
