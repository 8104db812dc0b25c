//! What a stream tells of itself, beside its events.

use std::fmt;
use std::time::Duration;

use crate::error::Error;
use crate::model::types::EventId;

/// What a stream is at, for its [observer](super::EventStream::observer).
#[derive(Debug)]
#[non_exhaustive]
pub enum StreamState {
    /// A connection is being made.
    #[non_exhaustive]
    Connecting {
        /// The event to go on after; without one the stream starts with what happens next.
        after: Option<EventId>,
    },
    /// The service has answered, and events may come.
    Open,
    /// The connection that was just opened couldn't resume, since the one before had named no position. What happened in
    /// between is not given out, except the event by which the mandate ended to a stream that goes on
    /// [until then](super::EventStream::until_terminal): list the events if you need the others. With a
    /// [`checkpoint`](super::EventStream::checkpoint) they are listed, and this is never seen.
    Missed,
    /// The mandate has ended, and neither a connection nor the list of its events, which was asked for three times, has
    /// the event by which it did; others may be missing too. It is the last that is seen of a stream that goes on
    /// [until then](super::EventStream::until_terminal): list the events later to have them all.
    EndMissing,
    /// There is no connection; the next is made after a delay.
    #[non_exhaustive]
    Waiting {
        /// Why there is none.
        cause: Error,
        /// How long until the next one.
        delay: Duration,
    },
    /// Something came that is no event, and was left out.
    #[non_exhaustive]
    Skipped {
        /// What it should have been, in the service's words.
        event_type: String,
        /// Why it is no event.
        cause: Error,
    },
}

type Function = dyn Fn(&StreamState) + Send + Sync;

/// A function of the caller's.
#[derive(Default)]
pub(super) struct Observer(Option<Box<Function>>);

impl Observer {
    pub(super) fn new(observer: impl Fn(&StreamState) + Send + Sync + 'static) -> Self {
        Self(Some(Box::new(observer)))
    }

    pub(super) fn see(&self, state: &StreamState) {
        if let Some(observer) = &self.0 {
            observer(state);
        }
    }
}

impl fmt::Debug for Observer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Observer(…)" } else { "Observer(none)" })
    }
}
