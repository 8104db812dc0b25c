//! The events that a reader has missed, as they are listed.

use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Instant;

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
    /// The sequence of an event that is known to have happened.
    up_to: Option<u64>,
    began: Instant,
    pace: Pace,
    items: Option<History>,
    pause: Option<Sleep>,
}

impl Listing {
    pub(super) fn new(events: MandateEvents, timer: Arc<dyn Timer>, up_to: Option<u64>) -> Self {
        let began = timer.now();
        Self { events, timer, up_to, began, pace: Pace::new(None, began), items: None, pause: None }
    }

    /// The next event after the sequence, which is that of the last event; `None` at the end.
    pub(super) fn poll(
        &mut self,
        context: &mut Context<'_>,
        after: Option<u64>,
    ) -> Poll<Option<Result<Event>>> {
        loop {
            if let Some(pause) = &mut self.pause {
                ready!(pause.as_mut().poll(context));
                self.pause = None;
            }
            let items = self.items.get_or_insert_with(|| self.events.all_after(after));
            let item = ready!(items.as_mut().poll_next(context));
            let now = self.timer.now();
            let delay = match item {
                Some(Err(error)) if error.passes() => {
                    self.pace.failed(now, error.retry_after());
                    self.pace.delay(now, fastrand::f64())
                }
                None if self.up_to > after => match behind(self.began, now) {
                    Some(delay) => delay,
                    // By now it is no lag: the service doesn't list it.
                    None => return Poll::Ready(None),
                },
                item => {
                    self.pace.answered();
                    return Poll::Ready(item);
                }
            };
            self.items = None;
            self.pause = Some(self.timer.sleep(delay));
        }
    }
}
