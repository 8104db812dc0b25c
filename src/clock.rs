//! Time: the timer that calls and waits run on, and the only place that reads the wall clock.

use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;
use std::time::{Duration, Instant, SystemTime};

use jiff::Timestamp;

/// The future that [`Timer::sleep`] gives.
pub type Sleep = Pin<Box<dyn Future<Output = ()> + Send>>;

/// The time that calls, retries and waits run on.
///
/// With the feature `client` it is tokio's, and there is nothing to do. Without it, or to test with a clock
/// of your own, give one to [`ClientBuilder::timer`](crate::ClientBuilder::timer).
pub trait Timer: Debug + Send + Sync + 'static {
    /// The present moment of this timer; never goes back.
    fn now(&self) -> Instant;

    /// Ends after a duration. Dropping it ends the sleep.
    fn sleep(&self, duration: Duration) -> Sleep;

    /// The date and time, against which dates in headers are read.
    fn wall_clock(&self) -> SystemTime {
        system_time()
    }
}

#[expect(clippy::disallowed_methods, reason = "the one place that reads the wall clock")]
pub(crate) fn system_time() -> SystemTime {
    SystemTime::now()
}

/// The date and time, against which the age of a webhook is read. A clock set beyond what a timestamp can
/// hold reads as 1970, to which everything is too new.
pub(crate) fn timestamp() -> Timestamp {
    Timestamp::try_from(system_time()).unwrap_or(Timestamp::UNIX_EPOCH)
}

#[expect(clippy::disallowed_methods, reason = "for what has no timer: a lease in memory")]
pub(crate) fn monotonic() -> Instant {
    Instant::now()
}

/// Tokio's time, which its tests can pause.
#[cfg(feature = "client")]
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct TokioTimer;

#[cfg(feature = "client")]
impl Timer for TokioTimer {
    fn now(&self) -> Instant {
        tokio::time::Instant::now().into_std()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        Box::pin(tokio::time::sleep(duration))
    }
}
