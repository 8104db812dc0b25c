//! The insides of event streams, for the fuzz targets alone.

use std::time::Duration;

use bytes::Bytes;

use super::backoff::Backoff;
use super::decoder::Decoder;
use super::lines::Lines;

#[path = "tests/oracle.rs"]
mod oracle;

/// What the decoder or the oracle made of an input. With a limit it may be refused midway.
#[derive(Debug, PartialEq)]
pub struct Reading {
    reading: oracle::Reading,
    refused: bool,
}

impl Reading {
    /// Whether it is the start of another, up to where this one was refused.
    #[must_use]
    pub fn begins(&self, whole: &Self) -> bool {
        whole.reading.blocks.starts_with(&self.reading.blocks)
    }

    /// Whether something was larger than the limit.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        self.refused
    }
}

/// What a reading took.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Cost {
    /// How many bytes of buffer there were at most.
    pub held: usize,
    /// How many bytes were looked at in search of a line's end.
    pub looked_at: usize,
    /// How many bytes were copied, also by a buffer that grew.
    pub copied: usize,
}

/// The lines in what comes in these chunks, and whether one had more bytes than the limit.
#[must_use]
pub fn lines(chunks: &[&[u8]], limit: usize) -> (Vec<Vec<u8>>, bool, Cost) {
    let (mut lines, mut found, mut cost) = (Lines::default(), Vec::new(), Cost::default());
    let mut refused = false;
    'chunks: for chunk in chunks {
        lines.push(Bytes::copy_from_slice(chunk));
        loop {
            match lines.next(limit) {
                Ok(Some(line)) => found.push(line.to_vec()),
                Ok(None) => break,
                Err(_) => {
                    refused = true;
                    break 'chunks;
                }
            }
        }
        cost.held = cost.held.max(lines.carry.capacity());
    }
    cost.looked_at = lines.looked_at;
    cost.copied = lines.carry.copied;
    (found, refused, cost)
}

/// What the decoder reads of these chunks, of events up to a limit.
#[must_use]
pub fn decode(chunks: &[&[u8]], max_event_bytes: usize) -> (Reading, Cost) {
    let (mut decoder, mut blocks, mut cost) = (Decoder::new(max_event_bytes), Vec::new(), Cost::default());
    let mut refused = false;
    for chunk in chunks {
        decoder.push(Bytes::copy_from_slice(chunk));
        while !refused {
            match decoder.next() {
                Ok(Some(block)) => blocks.push(block),
                Ok(None) => break,
                Err(_) => refused = true,
            }
        }
        cost.held = cost.held.max(decoder.lines.carry.capacity() + decoder.fields.capacity());
        if refused {
            break;
        }
    }
    cost.looked_at = decoder.lines.looked_at;
    cost.copied = decoder.lines.carry.copied + decoder.fields.copied;
    let reading = oracle::Reading { blocks, retry: decoder.take_retry() };
    (Reading { reading, refused }, cost)
}

/// The reading of a whole input by the standard's rules, written for clarity only.
#[must_use]
pub fn oracle(input: &[u8]) -> Reading {
    Reading { reading: oracle::read(input), refused: false }
}

/// The delay before a reconnect: `random` is from 0 to 1, `retry` the service's in milliseconds, `wish` what
/// `Retry-After` asks for.
#[must_use]
pub fn reconnect_delay(random: f64, retry: Option<u64>, wish: Option<Duration>) -> Duration {
    let mut backoff = Backoff::new();
    retry.into_iter().for_each(|milliseconds| backoff.set_base(milliseconds));
    backoff.next(random, wish)
}
