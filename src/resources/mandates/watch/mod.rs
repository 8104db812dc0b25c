//! Waiting for something by events, with reads underneath.
//!
//! Only a read ends a wait. An event, or an opening that may have missed some, calls for one; and if nothing does,
//! one is made now and then all the same.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use futures_util::future::{Either, select};

use crate::call::CallFuture;
use crate::clock::{Sleep, Timer};
use crate::error::{Error, Result};
use crate::model::events::Event;
use crate::model::mandates::MandateStatus;
use crate::resources::poll::{LAST_READ, PollOptions};

pub(crate) mod feed;
mod hedge;
pub(crate) mod pace;

use feed::{Feed, Opener};
use hedge::Hedged;
use pace::Pace;

/// How many events are taken before others get their turn.
const EVENTS_AT_ONCE: usize = 64;

/// What an event means to a wait.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Hint {
    Nothing,
    /// A read may tell something new.
    Changed,
    /// A read tells this status, or will in a moment.
    Status(MandateStatus),
    /// A read tells that the wait is over, or will in a moment; or it may, since what the event says is not clear.
    Over,
}

/// What is waited for.
pub(crate) struct Subject<T> {
    pub(crate) read: Box<dyn Fn() -> CallFuture<T> + Send + Sync>,
    pub(crate) done: fn(&T) -> bool,
    pub(crate) status: fn(&T) -> Option<&MandateStatus>,
    pub(crate) hint: fn(&Event) -> Hint,
    pub(crate) timed_out: fn(Duration, Option<T>) -> Error,
}

/// Every state that is seen to differ from the one before; the last one is where the subject got to, or the error.
pub(crate) struct Watch<T> {
    timer: Arc<dyn Timer>,
    options: PollOptions,
    subject: Subject<T>,
    phase: Phase<T>,
    last: Option<T>,
}

enum Phase<T> {
    /// A wait begins when it is polled, not when it is made.
    New(Opener),
    Following(Box<Following<T>>),
    /// The last read, at the deadline.
    Last(CallFuture<Option<T>>),
    Over,
}

struct Following<T> {
    feed: Feed,
    deadline: Option<Sleep>,
    reading: Hedged<T>,
    /// Something has called for a read since the last one began.
    due: bool,
    /// What an event has said last that no read has said yet.
    told: Hint,
    pace: Pace,
    pause: Option<Sleep>,
    /// The pause is over.
    rested: bool,
}

impl<T> Watch<T> {
    pub(crate) fn new(
        timer: Arc<dyn Timer>,
        options: PollOptions,
        subject: Subject<T>,
        opener: Opener,
    ) -> Self {
        Self { timer, options, subject, phase: Phase::New(opener), last: None }
    }
}

impl<T: Send + 'static> Watch<T> {
    fn begin(&self, opener: Opener) -> Following<T> {
        let timer = Arc::clone(&self.timer);
        let now = timer.now();
        // A timeout beyond what a clock can hold is none.
        let limit = self.options.timeout.filter(|limit| now.checked_add(*limit).is_some());
        Following {
            deadline: limit.map(|limit| timer.sleep(limit)),
            feed: Feed::new(opener, timer),
            reading: Hedged::new(),
            due: true,
            told: Hint::Nothing,
            pace: Pace::new(self.options.interval, now),
            pause: None,
            rested: false,
        }
    }

    /// One attempt, and no longer than [`LAST_READ`]; `None` if it came to nothing.
    fn last_read(&self) -> CallFuture<Option<T>> {
        let read = (self.subject.read)();
        let sleep = self.timer.sleep(LAST_READ);
        Box::pin(async move {
            match select(read, sleep).await {
                Either::Left((Ok(state), _)) => Ok(Some(state)),
                Either::Left((Err(error), _)) if error.passes() => Ok(None),
                Either::Left((Err(error), _)) => Err(error),
                Either::Right(_) => Ok(None),
            }
        })
    }
}

/// What a step of a wait that goes on comes to.
enum Step<T> {
    State(T),
    Failed(Error),
    OutOfTime,
}

impl<T: Send + 'static> Following<T> {
    fn poll(&mut self, context: &mut Context<'_>, timer: &dyn Timer, subject: &Subject<T>) -> Poll<Step<T>> {
        loop {
            if !self.reading.is_under_way() && self.is_due(context, timer) {
                (self.due, self.rested) = (false, false);
                self.pause = None;
                self.reading.begin(timer, (subject.read)());
            }
            // First, so that what had ended before is found without a connection more.
            if let Poll::Ready(read) = self.reading.poll(context, timer, &subject.read) {
                match read {
                    Ok(state) => {
                        self.pace.answered();
                        self.pace.rounded(timer.now());
                        self.compare((subject.status)(&state));
                        return Poll::Ready(Step::State(state));
                    }
                    Err(error) if error.passes() => {
                        self.due = true;
                        self.pace.failed(timer.now(), error.retry_after());
                    }
                    Err(error) => return Poll::Ready(Step::Failed(error)),
                }
            }
            self.listen(context, timer, subject.hint);
            if self.deadline.as_mut().is_some_and(|deadline| deadline.as_mut().poll(context).is_ready()) {
                return Poll::Ready(Step::OutOfTime);
            }
            if self.reading.is_under_way() || !self.is_due(context, timer) {
                return Poll::Pending;
            }
        }
    }

    /// Takes what has come, and what it calls for.
    fn listen(&mut self, context: &mut Context<'_>, timer: &dyn Timer, hint: fn(&Event) -> Hint) {
        for taken in 1.. {
            let Poll::Ready(event) = self.feed.poll(context) else { break };
            self.hear(hint(&event), timer);
            if taken == EVENTS_AT_ONCE {
                context.waker().wake_by_ref();
                break;
            }
        }
        if self.feed.take_opened() {
            self.due = true;
        }
        if self.feed.take_missed() {
            self.pace.missed(timer.now());
        }
        if self.pace.stream_is_open(self.feed.is_open(), timer.now()) {
            self.pause = None;
        }
    }

    fn hear(&mut self, hint: Hint, timer: &dyn Timer) {
        self.due |= hint != Hint::Nothing;
        if matches!(hint, Hint::Status(_) | Hint::Over) {
            self.pace.told(timer.now());
            if self.told != Hint::Over {
                self.told = hint;
            }
        }
    }

    /// A read that agrees with what was told has caught up. One that says the wait is over ends it.
    fn compare(&mut self, read: Option<&MandateStatus>) {
        if matches!(&self.told, Hint::Status(told) if read == Some(told)) {
            self.told = Hint::Nothing;
            self.pace.caught_up();
        }
    }

    fn is_due(&mut self, context: &mut Context<'_>, timer: &dyn Timer) -> bool {
        if self.rested || (self.due && !self.pace.holds_back()) {
            return true;
        }
        let (pace, now) = (&self.pace, timer.now());
        let pause = self.pause.get_or_insert_with(|| timer.sleep(pace.delay(now, fastrand::f64())));
        self.rested = pause.as_mut().poll(context).is_ready();
        self.rested
    }
}

impl<T: Clone + PartialEq + Send + Unpin + 'static> Stream for Watch<T> {
    type Item = Result<T>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<T>>> {
        let watch = self.get_mut();
        loop {
            let step = match &mut watch.phase {
                Phase::New(_) => {
                    if let Phase::New(opener) = std::mem::replace(&mut watch.phase, Phase::Over) {
                        watch.phase = Phase::Following(Box::new(watch.begin(opener)));
                    }
                    continue;
                }
                Phase::Following(following) => {
                    std::task::ready!(following.poll(context, &*watch.timer, &watch.subject))
                }
                Phase::Last(reading) => match std::task::ready!(reading.as_mut().poll(context)) {
                    Ok(Some(state)) if (watch.subject.done)(&state) => Step::State(state),
                    Ok(state) => {
                        let limit = watch.options.timeout.unwrap_or_default();
                        let last = state.or_else(|| watch.last.take());
                        Step::Failed((watch.subject.timed_out)(limit, last))
                    }
                    Err(error) => Step::Failed(error),
                },
                Phase::Over => return Poll::Ready(None),
            };
            match step {
                // The stream is closed, and a read that is under way dropped.
                Step::OutOfTime => watch.phase = Phase::Last(watch.last_read()),
                Step::Failed(error) => {
                    watch.phase = Phase::Over;
                    return Poll::Ready(Some(Err(error)));
                }
                Step::State(state) if (watch.subject.done)(&state) => {
                    watch.phase = Phase::Over;
                    return Poll::Ready(Some(Ok(state)));
                }
                Step::State(state) if watch.last.as_ref() == Some(&state) => {}
                Step::State(state) => {
                    watch.last = Some(state.clone());
                    return Poll::Ready(Some(Ok(state)));
                }
            }
        }
    }
}
