//! The events that wait for the reader of one mandate.

use std::collections::VecDeque;

use crate::model::events::Event;

/// How many events wait for a slow reader. Those that come then are left out here, and listed when it gets there.
pub(super) const MOST: usize = 256;

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
    events: VecDeque<Box<Event>>,
    /// Events were left out, and the highest sequence of those that came.
    gap: Option<Option<u64>>,
    refused: bool,
}

impl Queue {
    /// Adds an event; whether the reader is to be woken.
    pub(super) fn push(&mut self, event: &Event) -> bool {
        if self.gap.is_none() && self.events.len() == MOST {
            self.missed();
        }
        if let Some(highest) = &mut self.gap {
            *highest = Some(event.sequence).max(*highest);
            return false;
        }
        self.events.push_back(Box::new(event.clone()));
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
        if let Some(event) = self.events.pop_front() {
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
