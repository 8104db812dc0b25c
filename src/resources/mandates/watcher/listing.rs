//! The events that a reader has missed, as they are listed.

use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use super::queue::Gap;
use crate::clock::{Sleep, Timer};
use crate::error::Result;
use crate::model::events::Event;
use crate::resources::events::MandateEvents;
use crate::resources::mandates::watch::pace::{Pace, behind};
use crate::stream::History;

/// Lists until nothing is missing: a list that fails for a while, or lags behind the stream, is asked for again.
pub(super) struct Listing {
    events: MandateEvents,
    timer: Arc<dyn Timer>,
    /// The sequence after which the list begins or, of those listed, the last.
    from: Option<u64>,
    /// The sequence of an event that is known to have happened.
    up_to: Option<u64>,
    /// There may be others after that.
    doubtful: bool,
    /// What came from the stream, and is given out after what is listed.
    held: Option<Box<Event>>,
    began: Instant,
    pace: Pace,
    items: Option<History>,
    pause: Option<Sleep>,
}

impl Listing {
    /// The list of what is in the gap, for a reader whose highest sequence is this.
    pub(super) fn new(
        events: MandateEvents,
        timer: Arc<dyn Timer>,
        gap: Gap,
        highest: Option<u64>,
        held: Option<Box<Event>>,
    ) -> Self {
        let began = timer.now();
        let from = match gap.lowest {
            Some(lowest) if gap.lowest <= highest => Some(lowest - 1),
            _ => highest,
        };
        let doubtful = gap.missed && gap.since <= highest;
        let pace = Pace::new(None, began);
        Self {
            events,
            timer,
            from,
            up_to: gap.highest,
            doubtful,
            held,
            began,
            pace,
            items: None,
            pause: None,
        }
    }

    /// The next event that is listed; `None` at the end.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Event>>> {
        loop {
            if let Some(pause) = &mut self.pause {
                ready!(pause.as_mut().poll(context));
                self.pause = None;
            }
            let items = self.items.get_or_insert_with(|| self.events.all_after(self.from));
            let item = ready!(items.as_mut().poll_next(context));
            let now = self.timer.now();
            let delay = match item {
                Some(Err(error)) if error.passes() => {
                    self.pace.failed(now, error.retry_after());
                    self.pace.delay(now, fastrand::f64())
                }
                None if self.up_to > self.from => match behind(self.began, now) {
                    Some(delay) => delay,
                    // By now it is no lag: the service doesn't list it.
                    None => return Poll::Ready(None),
                },
                item => {
                    self.pace.answered();
                    if let Some(Ok(event)) = &item {
                        self.from = self.from.max(Some(event.sequence));
                    }
                    return Poll::Ready(item);
                }
            };
            self.items = None;
            self.pause = Some(self.timer.sleep(delay));
        }
    }

    /// At the end: whether more may be missing than was listed, and what comes next.
    pub(super) fn end(self) -> (bool, Option<Box<Event>>) {
        (self.doubtful, self.held)
    }
}
