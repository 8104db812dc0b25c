//! Reading a resource again and again until it has got somewhere.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures_util::stream::{BoxStream, StreamExt as _};

use crate::call::Call;
use crate::clock::Timer;
use crate::error::{Error, Result};

/// The delays between reads: from a quarter second, doubled while nothing changes, to 30 s.
const FIRST_DELAY: Duration = Duration::from_millis(250);
const LONGEST_DELAY: Duration = Duration::from_secs(30);
/// An interval of nothing would keep the service and this machine busy.
pub(crate) const SHORTEST_INTERVAL: Duration = Duration::from_millis(10);
/// How much of what `Retry-After` asks for is kept to: one answer shouldn't stop a wait for a year.
pub(crate) const LONGEST_WISH: Duration = Duration::from_secs(60);
/// What the last read at the deadline may take beyond it.
pub(crate) const LAST_READ: Duration = Duration::from_secs(5);

/// How a wait was asked for.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PollOptions {
    pub(crate) timeout: Option<Duration>,
    pub(crate) interval: Option<Duration>,
}

/// Reads until the target has got there, or the time is over.
pub(crate) async fn until<T: PartialEq + 'static>(
    timer: Arc<dyn Timer>,
    options: PollOptions,
    read: impl Fn() -> Call<T>,
    done: impl Fn(&T) -> Result<bool>,
) -> Result<T> {
    let deadline = options.timeout.and_then(|limit| timer.now().checked_add(limit));
    let mut poll = Poll { timer, interval: options.interval, deadline, delay: FIRST_DELAY };
    let mut last = None;
    loop {
        let left = poll.left();
        let over = options.timeout.filter(|_| left.is_some_and(|left| left.is_zero()));
        let call = read().max_retries(0);
        let call = match left {
            _ if over.is_some() => call.timeout(LAST_READ),
            Some(left) => call.timeout(left),
            None => call,
        };
        let wish = match call.send().await {
            Ok(state) if done(&state)? => return Ok(state),
            Ok(state) => {
                if last.as_ref() != Some(&state) {
                    poll.delay = FIRST_DELAY;
                }
                last = Some(state);
                None
            }
            Err(error) if error.passes() => error.retry_after(),
            Err(error) => return Err(error),
        };
        if let Some(limit) = over {
            return Err(Error::wait_timeout(limit, None));
        }
        poll.pause(wish).await;
    }
}

/// The last state of a wait that ends well.
pub(crate) async fn last<T>(mut states: BoxStream<'static, Result<T>>) -> Result<T> {
    let mut last = Err(Error::invalid_input("the wait was over before it began"));
    while let Some(state) = states.next().await {
        last = Ok(state?);
    }
    last
}

struct Poll {
    timer: Arc<dyn Timer>,
    interval: Option<Duration>,
    deadline: Option<Instant>,
    delay: Duration,
}

impl Poll {
    fn left(&self) -> Option<Duration> {
        self.deadline.map(|deadline| deadline.saturating_duration_since(self.timer.now()))
    }

    /// Sleeps until the next read is due, or the time is over.
    async fn pause(&mut self, wish: Option<Duration>) {
        let delay = match self.interval {
            Some(interval) => interval.max(SHORTEST_INTERVAL),
            // Between half and all of it, so that many waits don't read in step.
            None => self.delay.mul_f64(0.5 + fastrand::f64() / 2.0),
        };
        let delay = delay.max(wish.unwrap_or_default().min(LONGEST_WISH));
        self.delay = (self.delay * 2).min(LONGEST_DELAY);
        self.timer.sleep(self.left().map_or(delay, |left| delay.min(left))).await;
    }
}
