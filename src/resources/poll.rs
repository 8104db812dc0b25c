//! Reading a resource again and again until it has got somewhere.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::stream::{self, BoxStream, StreamExt as _};

use crate::call::Call;
use crate::clock::Timer;
use crate::error::{Error, ErrorKind, Result};

/// The delays between reads: from a quarter second, doubled while nothing changes, to 30 s.
const FIRST_DELAY: Duration = Duration::from_millis(250);
const LONGEST_DELAY: Duration = Duration::from_secs(30);
/// An interval of nothing would keep the service and this machine busy.
const SHORTEST_INTERVAL: Duration = Duration::from_millis(10);
/// How much of what `Retry-After` asks for is kept to: one answer shouldn't stop a wait for a year.
const LONGEST_WISH: Duration = Duration::from_secs(60);
/// What the last read at the deadline may take beyond it.
const LAST_READ: Duration = Duration::from_secs(5);

/// How a wait was asked for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PollOptions {
    pub(crate) timeout: Option<Duration>,
    pub(crate) interval: Option<Duration>,
}

/// What is read, and when it has got there.
pub(crate) struct Target<T> {
    pub(crate) read: Box<dyn Fn() -> Call<T> + Send + Sync>,
    pub(crate) done: fn(&T) -> Result<bool>,
    pub(crate) timed_out: fn(Duration, Option<T>) -> Error,
}

/// Every state that is seen to differ from the one before; the last one is where the target got to, or the
/// error.
pub(crate) fn states<T>(
    timer: Arc<dyn Timer>,
    options: PollOptions,
    target: Target<T>,
) -> BoxStream<'static, Result<T>>
where
    T: Clone + PartialEq + Send + 'static,
{
    let poll = Poll { timer, options, target, begun: false, deadline: None, delay: FIRST_DELAY, last: None };
    stream::unfold(Some(poll), |poll| async {
        let mut poll = poll?;
        match poll.next().await {
            Ok((state, true)) => Some((Ok(state), None)),
            Ok((state, false)) => Some((Ok(state), Some(poll))),
            Err(error) => Some((Err(error), None)),
        }
    })
    .fuse()
    .boxed()
}

/// The last state of a wait that ends well.
pub(crate) async fn last<T>(mut states: BoxStream<'static, Result<T>>) -> Result<T> {
    let mut last = Err(Error::invalid_input("the wait was over before it began"));
    while let Some(state) = states.next().await {
        last = Ok(state?);
    }
    last
}

struct Poll<T> {
    timer: Arc<dyn Timer>,
    options: PollOptions,
    target: Target<T>,
    /// A wait begins when it is polled, not when it is made.
    begun: bool,
    deadline: Option<Instant>,
    delay: Duration,
    last: Option<T>,
}

impl<T: Clone + PartialEq + Send + 'static> Poll<T> {
    /// The next state that differs, and whether it is the last.
    async fn next(&mut self) -> Result<(T, bool)> {
        if !self.begun {
            self.begun = true;
            self.deadline = self.options.timeout.and_then(|limit| self.timer.now().checked_add(limit));
        } else {
            self.pause(None).await;
        }
        loop {
            let left = self.left();
            let out_of_time = left.is_some_and(|left| left.is_zero());
            let read = (self.target.read)().max_retries(0);
            let read = match left {
                _ if out_of_time => read.timeout(LAST_READ),
                Some(left) => read.timeout(left),
                None => read,
            };
            let wish = match read.send().await {
                Ok(state) => {
                    let done = (self.target.done)(&state)?;
                    if done || (!out_of_time && self.last.as_ref() != Some(&state)) {
                        self.last = Some(state.clone());
                        self.delay = FIRST_DELAY;
                        return Ok((state, done));
                    }
                    self.last = Some(state);
                    None
                }
                Err(error) if passes(&error) => error.retry_after(),
                Err(error) => return Err(error),
            };
            if let (true, Some(limit)) = (out_of_time, self.options.timeout) {
                return Err((self.target.timed_out)(limit, self.last.take()));
            }
            self.pause(wish).await;
        }
    }

    fn left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(self.timer.now()))
    }

    /// Sleeps until the next read is due, or the time is over.
    async fn pause(&mut self, wish: Option<Duration>) {
        let delay = match self.options.interval {
            Some(interval) => interval.max(SHORTEST_INTERVAL),
            // Between half and all of it, so that many waits don't read in step.
            None => self.delay.mul_f64(0.5 + fastrand::f64() / 2.0),
        };
        let delay = delay.max(wish.unwrap_or_default().min(LONGEST_WISH));
        self.delay = (self.delay * 2).min(LONGEST_DELAY);
        self.timer.sleep(self.left().map_or(delay, |left| delay.min(left))).await;
    }
}

/// Whether a failed read says nothing of the target: the next one may go well.
pub(crate) fn passes(error: &Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::Connection | ErrorKind::Timeout | ErrorKind::RateLimit | ErrorKind::Server
    )
}
