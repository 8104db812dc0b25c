//! Bytes to event blocks, exact to the rules of WHATWG's event streams. The rest of the crate sees only
//! [`Decoder`].
//!
//! `eventsource-stream` reads the fields of each block. It never sees more than one complete block, in valid
//! UTF-8, with LF line ends and nothing but `event` and `data` in it: left alone with what comes over the
//! network it panics on a byte-order mark, stops for good at a bad byte, and takes time that grows with the
//! square of an event's size. What it can't tell (the id of a block without data, `retry` by the letter) is
//! read here.

use std::borrow::Cow;
use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use futures_core::Stream as _;
use futures_util::stream;
use memchr::memchr;

pub(super) use super::lines::TooLarge;
use super::lines::{Buffer, Lines};
use crate::model::types::EventId;

/// A block of up to this many lines is given to the crate whole, a longer one line by line: for each line it
/// copies all that is left of what it was given.
const WHOLE_LINES: usize = 4;

/// A complete block that says something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    /// The last event id on this connection, of this block or an earlier one; `None` when there was none yet.
    /// Empty when the service took it back.
    pub(super) id: Option<EventId>,
    /// `None` if the block moved the id only.
    pub(super) frame: Option<Frame>,
}

/// What a block with data carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    /// `message` if the block named none.
    pub(super) event: String,
    pub(super) data: String,
}

/// Takes the bytes of one connection as they come and gives the blocks in them.
#[derive(Debug)]
pub(super) struct Decoder {
    pub(super) lines: Lines,
    max_event_bytes: usize,
    /// The `event` and `data` lines of the block so far, each ended by an LF.
    pub(super) fields: Buffer,
    field_lines: usize,
    has_data: bool,
    has_id: bool,
    id: Option<EventId>,
    retry: Option<u64>,
}

impl Decoder {
    /// An event whose lines have more bytes than the limit is refused.
    pub(super) fn new(max_event_bytes: usize) -> Self {
        Self {
            lines: Lines::default(),
            max_event_bytes,
            fields: Buffer::default(),
            field_lines: 0,
            has_data: false,
            has_id: false,
            id: None,
            retry: None,
        }
    }

    /// Takes a chunk, once [`next`](Self::next) has no block left in the last one.
    pub(super) fn push(&mut self, chunk: Bytes) {
        self.lines.push(chunk);
    }

    /// The next complete block, if there is one. After an error there is no use in going on.
    pub(super) fn next(&mut self) -> Result<Option<Block>, TooLarge> {
        loop {
            let room = self.max_event_bytes - self.fields.len();
            let Some(line) = self.lines.next(room)? else { return Ok(None) };
            if !line.is_empty() {
                let (name, value) = split(line);
                match name {
                    b"data" | b"event" => {
                        self.has_data |= name == b"data";
                        self.field_lines += 1;
                        self.fields.append(line, self.max_event_bytes);
                        self.fields.append(b"\n", self.max_event_bytes);
                        if self.fields.len() > self.max_event_bytes {
                            return Err(TooLarge);
                        }
                    }
                    b"id" if memchr(0, value).is_none() => {
                        self.has_id = true;
                        self.id = Some(EventId::from(&*text(value)));
                    }
                    b"retry" => self.retry = milliseconds(value).or(self.retry),
                    _ => {}
                }
            } else if let Some(block) = self.end_block() {
                return Ok(Some(block));
            }
        }
    }

    /// The reconnection time the service asked for since this was last called, in milliseconds.
    pub(super) fn take_retry(&mut self) -> Option<u64> {
        self.retry.take()
    }

    fn end_block(&mut self) -> Option<Block> {
        let has_id = std::mem::take(&mut self.has_id);
        let has_data = std::mem::take(&mut self.has_data);
        self.fields.append(b"\n", self.max_event_bytes);
        let frame = has_data.then(|| read(&text(self.fields.bytes()), self.field_lines)).flatten();
        self.fields.clear();
        self.field_lines = 0;
        (has_id || frame.is_some()).then(|| Block { id: self.id.clone(), frame })
    }
}

/// The name of a line's field and its value.
fn split(line: &[u8]) -> (&[u8], &[u8]) {
    match memchr(b':', line) {
        Some(colon) => {
            let value = &line[colon + 1..];
            (&line[..colon], value.strip_prefix(b" ").unwrap_or(value))
        }
        None => (line, b""),
    }
}

/// Invalid UTF-8 is repaired. Most is valid, and finding that out alone is several times as fast.
fn text(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// Digits and nothing else; more than a number holds is as much as it holds.
fn milliseconds(value: &[u8]) -> Option<u64> {
    if value.is_empty() || !value.iter().all(u8::is_ascii_digit) {
        return None;
    }
    Some(
        value.iter().fold(0_u64, |sum, digit| sum.saturating_mul(10).saturating_add(u64::from(digit - b'0'))),
    )
}

/// One block, through the crate. Its reader is made anew for each, so nothing is left over from the one before.
fn read(block: &str, lines: usize) -> Option<Frame> {
    let mut events = eventsource_stream::EventStream::new(stream::iter(pieces(block, lines).map(given)));
    // All of the block is there, so there is nothing to wait for.
    match Pin::new(&mut events).poll_next(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(Some(Ok(event))) => Some(Frame { event: event.event, data: event.data }),
        _ => None,
    }
}

fn given(piece: &str) -> Result<&str, Infallible> {
    Ok(piece)
}

fn pieces(block: &str, lines: usize) -> impl Iterator<Item = &str> {
    let whole = if lines <= WHOLE_LINES { block.len() } else { 0 };
    let (whole, rest) = block.split_at(whole);
    std::iter::once(whole).chain(rest.split_inclusive('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_crate_never_gets_many_lines_at_once() {
        let block = "data: a\n".repeat(40_000) + "\n";
        assert!(pieces(&block, 40_000).all(|piece| piece.len() <= "data: a\n".len()));
        assert_eq!(pieces(&block, 40_000).collect::<String>(), block);
        assert_eq!(pieces("event: x\ndata: a\n\n", 2).next(), Some("event: x\ndata: a\n\n"));
    }
}
