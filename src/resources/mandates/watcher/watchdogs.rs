//! What wakes others when the one that was woken does not come.

use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::time::{Duration, Instant};

use super::wakers::Wakers;
use crate::clock::{Sleep, Timer};

/// How long a watchdog waits for somebody to come. Nobody is held up for longer than the first, since the second ends as
/// long after it; and while nothing happens one of all is woken as often.
const FIRST_WATCHDOG: Duration = Duration::from_millis(250);
const SECOND_WATCHDOG: Duration = Duration::from_millis(500);

/// The two sleeps that wake others when nobody has come.
pub(super) struct Watchdogs {
    wakers: [Waker; 2],
    sleeps: Option<(Instant, [Sleep; 2])>,
}

impl Watchdogs {
    pub(super) fn new(wakers: &Arc<Wakers>) -> Self {
        let first = Arc::new(Watchdog::First(Arc::clone(wakers)));
        let second = Arc::new(Watchdog::Second(Arc::clone(wakers)));
        Self { wakers: [first.into(), second.into()], sleeps: None }
    }

    /// Somebody is here, so both begin anew; not each time, since that costs.
    pub(super) fn keep(&mut self, timer: &dyn Timer) {
        let now = timer.now();
        let fresh = self
            .sleeps
            .as_ref()
            .is_some_and(|(since, _)| now.saturating_duration_since(*since) < FIRST_WATCHDOG / 2);
        if !fresh {
            let mut sleeps = [timer.sleep(FIRST_WATCHDOG), timer.sleep(SECOND_WATCHDOG)];
            for (sleep, waker) in sleeps.iter_mut().zip(&self.wakers) {
                // Its end is told to the waker alone.
                let _ = sleep.as_mut().poll(&mut Context::from_waker(waker));
            }
            self.sleeps = Some((now, sleeps));
        }
    }
}

/// Wakes when nobody has come for a while.
enum Watchdog {
    /// One, if nobody is on the way; else all.
    First(Arc<Wakers>),
    /// All, since the one that the first has woken did not come.
    Second(Arc<Wakers>),
}

impl Wake for Watchdog {
    fn wake(self: Arc<Self>) {
        match &*self {
            Self::First(wakers) => wakers.remind(false),
            Self::Second(wakers) => wakers.remind(true),
        }
    }
}
