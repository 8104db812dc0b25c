//! A rival: an event-stream scanner with nothing under it but `memchr`.
//!
//! It finds the ends of lines, repairs invalid UTF-8, skips a byte-order mark and knows the four fields. It has no
//! limit, sees no heartbeat, and gives no block that moves the id only.

use std::borrow::Cow;

use memchr::{memchr, memchr2};

/// Gives the data of each event to a function.
#[derive(Default)]
pub struct Scanner {
    /// A line that was cut.
    carry: Vec<u8>,
    after_cr: bool,
    begun: bool,
    event: String,
    data: String,
    has_data: bool,
    id: String,
    retry: Option<u64>,
}

impl Scanner {
    /// Takes a chunk.
    pub fn push(&mut self, mut chunk: &[u8], mut take: impl FnMut(&str, &str, &str)) {
        while !chunk.is_empty() {
            if std::mem::take(&mut self.after_cr) && chunk[0] == b'\n' {
                chunk = &chunk[1..];
                continue;
            }
            let Some(end) = memchr2(b'\n', b'\r', chunk) else {
                self.carry.extend_from_slice(chunk);
                return;
            };
            self.after_cr = chunk[end] == b'\r';
            if self.carry.is_empty() {
                self.line(&chunk[..end], &mut take);
            } else {
                let mut line = std::mem::take(&mut self.carry);
                line.extend_from_slice(&chunk[..end]);
                self.line(&line, &mut take);
                line.clear();
                self.carry = line;
            }
            chunk = &chunk[end + 1..];
        }
    }

    /// The reconnection time the service asked for last, in milliseconds.
    #[must_use]
    pub fn retry(&self) -> Option<u64> {
        self.retry
    }

    fn line(&mut self, mut line: &[u8], take: &mut impl FnMut(&str, &str, &str)) {
        if !std::mem::replace(&mut self.begun, true) {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.is_empty() {
            self.end_event(take);
            return;
        }
        let (name, value) = match memchr(b':', line) {
            Some(0) => return,
            Some(colon) => {
                let value = &line[colon + 1..];
                (&line[..colon], value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, b"".as_slice()),
        };
        let value: Cow<'_, str> = String::from_utf8_lossy(value);
        match name {
            b"data" => {
                if self.has_data {
                    self.data.push('\n');
                }
                self.data.push_str(&value);
                self.has_data = true;
            }
            b"event" => {
                self.event.clear();
                self.event.push_str(&value);
            }
            b"id" if !value.contains('\0') => {
                self.id.clear();
                self.id.push_str(&value);
            }
            b"retry" if value.bytes().all(|byte| byte.is_ascii_digit()) => {
                self.retry = value.parse().ok().or(self.retry);
            }
            _ => {}
        }
    }

    fn end_event(&mut self, take: &mut impl FnMut(&str, &str, &str)) {
        if std::mem::take(&mut self.has_data) {
            let event = if self.event.is_empty() { "message" } else { &self.event };
            take(&self.id, event, &self.data);
        }
        self.event.clear();
        self.data.clear();
    }
}
