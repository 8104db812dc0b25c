//! Bytes to lines, however they were cut on the way: the bottom of the decoder.

use bytes::Bytes;
use memchr::memchr2;

/// UTF-8's byte-order mark; one at the very start is no text.
const MARK: &[u8] = b"\xEF\xBB\xBF";
/// A buffer that grew beyond this is given back once it is empty.
const KEPT_BYTES: usize = 64 * 1024;

/// What came is larger than the limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooLarge;

/// Splits at LF, CR and CRLF as they come: a CR ends its line without waiting for what follows.
///
/// Each byte is looked at once, and copied once if its line was cut: the time is linear in what came.
#[derive(Debug, Default)]
pub(super) struct Lines {
    chunk: Bytes,
    /// How much of the chunk has been looked at.
    at: usize,
    /// The start of a line that was cut.
    pub(super) carry: Buffer,
    /// The carried line has been given out.
    given: bool,
    /// The last line ended in CR, so an LF that comes next belongs to its end.
    after_cr: bool,
    /// How much of the byte-order mark has come.
    marked: usize,
    /// The text has begun: there is no mark any more.
    begun: bool,
    #[cfg(any(test, fuzzing))]
    pub(super) looked_at: usize,
}

impl Lines {
    /// Takes a chunk, once [`next`](Self::next) has no line left in the last one.
    pub(super) fn push(&mut self, chunk: Bytes) {
        debug_assert!(self.at == self.chunk.len(), "the chunk before this one was not used up");
        self.chunk = chunk;
        self.at = 0;
        if !self.begun {
            self.skip_mark();
        }
    }

    /// The next complete line, without its end. One of more than `room` bytes is refused as soon as that is
    /// known.
    pub(super) fn next(&mut self, room: usize) -> Result<Option<&[u8]>, TooLarge> {
        if self.given {
            self.given = false;
            self.carry.clear();
        }
        if self.after_cr && self.at < self.chunk.len() {
            self.after_cr = false;
            self.at += usize::from(self.chunk[self.at] == b'\n');
        }
        let start = self.at;
        let end = memchr2(b'\n', b'\r', &self.chunk[start..]).map(|found| start + found);
        let stop = end.unwrap_or(self.chunk.len());
        #[cfg(any(test, fuzzing))]
        {
            self.looked_at += stop - start;
        }
        if self.carry.len() + (stop - start) > room {
            return Err(TooLarge);
        }
        if let Some(end) = end {
            self.after_cr = self.chunk[end] == b'\r';
            self.at = end + 1;
            if self.carry.len() == 0 {
                return Ok(Some(&self.chunk[start..end]));
            }
        }
        self.carry.append(&self.chunk[start..stop], room);
        if end.is_none() {
            self.chunk = Bytes::new();
            self.at = 0;
            return Ok(None);
        }
        self.given = true;
        Ok(Some(self.carry.bytes()))
    }

    fn skip_mark(&mut self) {
        while self.at < self.chunk.len() {
            if self.chunk[self.at] != MARK[self.marked] {
                // It was text that began like a mark.
                self.carry.append(&MARK[..self.marked], usize::MAX);
                self.begun = true;
                return;
            }
            self.at += 1;
            self.marked += 1;
            if self.marked == MARK.len() {
                self.begun = true;
                return;
            }
        }
    }
}

/// Bytes that are gathered up to a limit, with no more memory than the limit.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    #[cfg(any(test, fuzzing))]
    pub(super) copied: usize,
}

impl Buffer {
    pub(super) fn append(&mut self, part: &[u8], limit: usize) {
        let needed = self.bytes.len() + part.len();
        #[cfg(any(test, fuzzing))]
        {
            self.copied += if needed > self.bytes.capacity() { needed } else { part.len() };
        }
        if needed > self.bytes.capacity() {
            // Doubled, as vectors do, or one long line would be copied again and again.
            let capacity = (self.bytes.capacity() * 2).min(limit).max(needed);
            self.bytes.reserve_exact(capacity - self.bytes.len());
        }
        self.bytes.extend_from_slice(part);
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    pub(super) fn len(&self) -> usize {
        self.bytes.len()
    }

    #[cfg(any(test, fuzzing))]
    pub(super) fn capacity(&self) -> usize {
        self.bytes.capacity()
    }

    pub(super) fn clear(&mut self) {
        self.bytes.clear();
        if self.bytes.capacity() > KEPT_BYTES {
            self.bytes = Vec::new();
        }
    }
}
