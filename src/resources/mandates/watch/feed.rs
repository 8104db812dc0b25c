//! An event stream as a wait needs it: news and its state, never an error, never an end.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream as _;

use crate::clock::{Sleep, Timer};
use crate::error::ErrorKind;
use crate::model::events::Event;
use crate::stream::{EventStream, StreamState};

/// How long to wait before the stream is opened anew when its cursor is refused, or an event too large, again and
/// again.
const LOST_AGAIN: Duration = Duration::from_secs(5);
/// And when it is refused altogether: that may be a fault of a proxy's, or be put right.
const REFUSED: Duration = Duration::from_secs(60);

/// Opens streams for a feed.
pub(crate) type Opener = Box<dyn Fn() -> EventStream + Send + Sync>;

/// Connects, resumes and goes on by itself; while it is refused it is silent, and whoever waits reads instead.
pub(crate) struct Feed {
    opener: Opener,
    timer: Arc<dyn Timer>,
    state: Arc<State>,
    source: Source,
    /// A stream was given up that could not go on from where it was, and no event has come since.
    lost_before: bool,
}

enum Source {
    Stream(Box<EventStream>),
    Pause(Sleep),
    /// No stream is to be had for now.
    Refused(Sleep),
}

/// What the stream's observer has seen.
#[derive(Default)]
struct State {
    open: AtomicBool,
    /// The connection that is made, or was made last, goes on after an event.
    resumes: AtomicBool,
    /// A connection was opened, and this has not been asked for yet.
    opened: AtomicBool,
    /// And it doesn't go on after an event.
    missed: AtomicBool,
}

impl Feed {
    pub(crate) fn new(opener: Opener, timer: Arc<dyn Timer>) -> Self {
        let state = Arc::default();
        let source = Source::Stream(Box::new(observed(&opener, &state)));
        Self { opener, timer, state, source, lost_before: false }
    }

    /// The next event. Whether anything else has changed is to be asked after each poll, ready or not.
    pub(crate) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Event> {
        loop {
            let ended = match &mut self.source {
                Source::Pause(sleep) | Source::Refused(sleep) => {
                    std::task::ready!(sleep.as_mut().poll(context));
                    self.reopen();
                    continue;
                }
                Source::Stream(stream) => {
                    match std::task::ready!(Pin::new(&mut **stream).poll_next(context)) {
                        Some(Ok(event)) => {
                            self.lost_before = false;
                            return Poll::Ready(event);
                        }
                        Some(Err(error)) => Some(error.kind()),
                        None => None,
                    }
                }
            };
            self.state.open.store(false, Ordering::Relaxed);
            match ended {
                // What was missed is found by the read that the new stream's opening calls for.
                Some(ErrorKind::CursorTooOld | ErrorKind::ResponseTooLarge) => {
                    if std::mem::replace(&mut self.lost_before, true) {
                        self.source = Source::Pause(self.timer.sleep(LOST_AGAIN));
                    } else {
                        self.reopen();
                    }
                }
                _ => {
                    // Not all at the same moment.
                    let pause = REFUSED.mul_f64(0.75 + fastrand::f64() / 4.0);
                    self.source = Source::Refused(self.timer.sleep(pause));
                }
            }
        }
    }

    /// How large the last event was, in bytes as it was sent.
    pub(crate) fn event_bytes(&self) -> usize {
        match &self.source {
            Source::Stream(stream) => stream.event_bytes(),
            Source::Pause(_) | Source::Refused(_) => 0,
        }
    }

    /// Whether events come as they happen, as far as is known.
    pub(crate) fn is_open(&self) -> bool {
        self.state.open.load(Ordering::Relaxed)
    }

    /// Whether it was opened since this was last asked.
    pub(crate) fn take_opened(&self) -> bool {
        self.state.opened.swap(false, Ordering::Relaxed)
    }

    /// Whether it was opened, since this was last asked, in a way that may have missed what happened before.
    pub(crate) fn take_missed(&self) -> bool {
        self.state.missed.swap(false, Ordering::Relaxed)
    }

    /// Whether there is no stream, and will be none for a while.
    pub(crate) fn is_refused(&self) -> bool {
        matches!(self.source, Source::Refused(_))
    }

    fn reopen(&mut self) {
        self.source = Source::Stream(Box::new(observed(&self.opener, &self.state)));
    }
}

fn observed(opener: &Opener, state: &Arc<State>) -> EventStream {
    let state = Arc::clone(state);
    opener().observer(move |seen| match seen {
        StreamState::Connecting { after } => {
            state.open.store(false, Ordering::Relaxed);
            state.resumes.store(after.is_some(), Ordering::Relaxed);
        }
        StreamState::Open => {
            state.open.store(true, Ordering::Relaxed);
            state.opened.store(true, Ordering::Relaxed);
            if !state.resumes.load(Ordering::Relaxed) {
                state.missed.store(true, Ordering::Relaxed);
            }
        }
        StreamState::Waiting { .. } => state.open.store(false, Ordering::Relaxed),
        // An opening that doesn't resume is noted above, and a feed's stream doesn't go on until an end.
        StreamState::Missed | StreamState::EndMissing | StreamState::Skipped { .. } => {}
    })
}
