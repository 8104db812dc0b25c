//! Whether a list showed all that a reader had missed.

use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use crate::clock::{Sleep, Timer};
use crate::model::events::Event;

/// Until the list is asked for again, each time it was. A list rarely lags for longer, and each of many readers asks.
const PAUSES: [Duration; 3] = [Duration::from_millis(500), Duration::from_secs(1), Duration::from_secs(3)];

/// Nobody knows how much was missed, so the list may have lagged behind it. It is asked for again a few times, and, with
/// nothing else to go by, before the next event is given out.
#[derive(Default)]
pub(super) struct Doubt {
    times: usize,
    pause: Option<Sleep>,
}

impl Doubt {
    /// It has been listed.
    pub(super) fn listed(&mut self, timer: &Arc<dyn Timer>) {
        self.pause = PAUSES.get(self.times).map(|pause| timer.sleep(*pause));
        self.times += 1;
    }

    /// Ready when it is to be listed again.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let Some(pause) = &mut self.pause else { return Poll::Pending };
        ready!(pause.as_mut().poll(context));
        self.pause = None;
        Poll::Ready(())
    }
}

/// Whether something that was missed may belong before the event, to a reader whose highest sequence is this.
pub(super) fn is_before(doubt: &mut Option<Doubt>, event: &Event, highest: Option<u64>) -> bool {
    // Nothing is between that one and the very next.
    if highest.is_some_and(|highest| event.sequence == highest.saturating_add(1)) {
        *doubt = None;
    }
    doubt.is_some() && Some(event.sequence) > highest
}
