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
    /// Events were left out: they are to be listed.
    Gap(Gap),
    /// The shared stream is refused, and not asked for again for a while; it may be that it was open before, and that
    /// events were left out since.
    Refused {
        missed: bool,
    },
}

/// The events that were left out, as far as they are known.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Gap {
    /// The lowest sequence of those that came, other than that of an event without a number.
    pub(super) lowest: Option<u64>,
    /// And the highest.
    pub(super) highest: Option<u64>,
    /// Others were missed, and nobody knows which.
    pub(super) missed: bool,
    /// The highest of those that came after that.
    pub(super) since: Option<u64>,
}

impl Gap {
    fn leave_out(&mut self, sequence: u64) {
        if sequence != 0 {
            self.lowest = Some(self.lowest.map_or(sequence, |lowest| lowest.min(sequence)));
        }
        self.highest = self.highest.max(Some(sequence));
        self.since = self.since.max(Some(sequence));
    }

    /// Events were missed now.
    fn miss(&mut self) {
        (self.missed, self.since) = (true, None);
    }

    /// All that is before an event.
    pub(super) fn before(event: &Event) -> Self {
        Self { highest: Some(event.sequence), ..Self::default() }
    }

    /// What nothing is known of.
    pub(super) fn unknown() -> Self {
        Self { missed: true, ..Self::default() }
    }
}

#[derive(Default)]
pub(super) struct Queue {
    events: VecDeque<(usize, Box<Event>)>,
    bytes: usize,
    gap: Option<Gap>,
    refused: bool,
}

impl Queue {
    /// Adds an event that was sent in so many bytes; whether the reader is to be woken.
    pub(super) fn push(&mut self, event: &Event, bytes: usize) -> bool {
        let too_large = self.bytes + bytes > MOST_BYTES && !self.events.is_empty();
        if self.gap.is_none() && (self.events.len() == MOST || too_large) {
            self.gap = Some(Gap::default());
        }
        if let Some(gap) = &mut self.gap {
            gap.leave_out(event.sequence);
            return false;
        }
        self.bytes += bytes;
        self.events.push_back((bytes, Box::new(event.clone())));
        true
    }

    /// Events were missed for all.
    pub(super) fn missed(&mut self) {
        self.gap.get_or_insert_default().miss();
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
                Some(Next::Gap(gap)) => return (count, gap.highest),
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

    #[test]
    fn the_gap_tells_what_was_left_out_and_whether_that_is_all() {
        let mut queue = Queue::default();
        let gap = |queue: &mut Queue| match queue.take() {
            Some(Next::Gap(gap)) => gap,
            _ => panic!("no gap"),
        };
        queue.missed();
        assert_eq!(gap(&mut queue), Gap::unknown());
        (1..=256).for_each(|sequence| assert!(queue.push(&event(10 * sequence), 0)));
        for sequence in [2_570, 0, 2_555, 2_560] {
            assert!(!queue.push(&event(sequence), 0));
        }
        drain_events(&mut queue);
        let (lowest, highest) = (Some(2_555), Some(2_570));
        assert_eq!(gap(&mut queue), Gap { lowest, highest, missed: false, since: highest });
        // What is missed after others were left out is not known from them.
        (1..=256).for_each(|sequence| assert!(queue.push(&event(sequence), 0)));
        queue.push(&event(300), 0);
        queue.missed();
        drain_events(&mut queue);
        assert_eq!(gap(&mut queue), Gap { lowest: Some(300), highest: Some(300), missed: true, since: None });
        queue.missed();
        queue.push(&event(400), 0);
        assert_eq!(gap(&mut queue).since, Some(400));
    }

    fn drain_events(queue: &mut Queue) {
        (0..256).for_each(|_| assert!(matches!(queue.take(), Some(Next::Event(_)))));
    }
}
