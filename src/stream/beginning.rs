//! A stream that has no position yet, and whose list of all that happened before was empty: that may be true, or the
//! list lags behind the stream.

use std::task::{Context, Poll};
use std::time::Duration;

use crate::clock::{Sleep, Timer};
use crate::model::types::EventId;

/// Until the list is asked for again; it doubles each time.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// How often that is done, which takes about a minute.
const MOST_TIMES: u32 = 8;

/// While it is in doubt no position is kept: to resume after one would leave out what no list has shown yet.
#[derive(Default)]
pub(super) struct Beginning {
    doubtful: bool,
    /// How often the list was asked for again, since it was first empty or an event came.
    times: u32,
    pause: Option<Sleep>,
    /// What the connection brought, so that it should be listed.
    happened: Option<EventId>,
}

impl Beginning {
    pub(super) fn is_doubtful(&self) -> bool {
        self.doubtful
    }

    /// The event without which the list can't be whole.
    pub(super) fn happened(&self) -> Option<&EventId> {
        self.happened.as_ref()
    }

    /// The connection brought an event: the list is given the same time once more to show it.
    pub(super) fn hear(&mut self, id: EventId) {
        if self.happened.is_none() {
            *self = Self { doubtful: true, happened: Some(id), ..Self::default() };
        }
    }

    /// The list was empty; when to ask again, if that is still to be done.
    pub(super) fn doubt(&mut self) -> Option<Duration> {
        self.doubtful = true;
        self.pause = None;
        if self.times == MOST_TIMES {
            return None;
        }
        self.times += 1;
        Some(FIRST_PAUSE * 2_u32.pow(self.times - 1))
    }

    pub(super) fn ask_after(&mut self, delay: Option<Duration>, timer: &dyn Timer) {
        self.pause = delay.map(|delay| timer.sleep(delay));
    }

    /// Whether the list is to be asked for again now.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        match &mut self.pause {
            Some(pause) => pause.as_mut().poll(context),
            None => Poll::Pending,
        }
    }
}
