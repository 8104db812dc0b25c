//! The events that wait for the reader of one mandate.

use std::collections::VecDeque;

use crate::model::events::Event;

/// How many events wait for a slow reader, and in how many bytes they were sent; one larger than that waits alone. Those
/// that come then are left out here, and listed when it gets there.
const MOST: usize = 256;
const MOST_BYTES: usize = 1 << 20;

/// What an event stream is to do next.
pub(super) enum Next {
    Event(Box<Event>),
    /// Events were left out: they are to be listed. The highest sequence of them, if any is known.
    Gap(Option<u64>),
    /// The shared stream is refused, and not asked for again for a while; it may be that it was open before, and that
    /// events were left out since.
    Refused {
        missed: bool,
    },
}

#[derive(Default)]
pub(super) struct Queue {
    events: VecDeque<(usize, Box<Event>)>,
    bytes: usize,
    /// Events were left out, and the highest sequence of those that came.
    gap: Option<Option<u64>>,
    refused: bool,
}

impl Queue {
    /// Adds an event that was sent in so many bytes; whether the reader is to be woken.
    pub(super) fn push(&mut self, event: &Event, bytes: usize) -> bool {
        let too_large = self.bytes + bytes > MOST_BYTES && !self.events.is_empty();
        if self.gap.is_none() && (self.events.len() == MOST || too_large) {
            self.missed();
        }
        if let Some(highest) = &mut self.gap {
            *highest = Some(event.sequence).max(*highest);
            return false;
        }
        self.bytes += bytes;
        self.events.push_back((bytes, Box::new(event.clone())));
        true
    }

    /// Events were missed for all.
    pub(super) fn missed(&mut self) {
        self.gap.get_or_insert_default();
    }

    pub(super) fn refused(&mut self) {
        self.refused = true;
    }

    pub(super) fn take(&mut self) -> Option<Next> {
        if let Some((bytes, event)) = self.events.pop_front() {
            self.bytes -= bytes;
            return Some(Next::Event(event));
        }
        self.events.shrink_to_fit();
        if self.refused {
            return Some(Next::Refused { missed: self.gap.is_some() });
        }
        // From here on events are queued again, so that none falls between the list and the queue.
        self.gap.take().map(Next::Gap)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(sequence: u64) -> Event {
        let text = format!(r#"{{"id":"evt_{sequence}","type":"x","sequence":{sequence},"mandate":"m"}}"#);
        serde_json::from_str(&text).unwrap()
    }

    /// How many are given out, and the highest of those left out.
    fn drain(queue: &mut Queue) -> (usize, Option<u64>) {
        let mut count = 0;
        loop {
            match queue.take() {
                Some(Next::Event(_)) => count += 1,
                Some(Next::Gap(highest)) => return (count, highest),
                Some(Next::Refused { .. }) | None => return (count, None),
            }
        }
    }

    #[test]
    fn what_waits_is_bounded_in_number_and_in_bytes() {
        for (bytes, most) in [(0, 256), (4_096, 256), (4_097, 255), (100_000, 10), (1 << 20, 1), (1 << 24, 1)]
        {
            let mut queue = Queue::default();
            let kept = (1..=300).filter(|sequence| queue.push(&event(*sequence), bytes)).count();
            assert_eq!(kept, most, "of {bytes} bytes");
            // One that is smaller comes after those that were left out all the same.
            assert!(!queue.push(&event(301), 0));
            assert_eq!(drain(&mut queue), (most, Some(301)));
            assert_eq!(queue.bytes, 0);
            assert!(queue.push(&event(302), bytes));
            assert_eq!(drain(&mut queue), (1, None));
        }
    }
}
