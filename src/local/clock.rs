//! The one clock of the server. It runs on tokio's time, so that its tests can pause it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

use crate::clock::system_time;

/// A point in time, as the distance from the server's start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Moment(Duration);

impl Moment {
    pub(crate) fn after(self, duration: Duration) -> Self {
        Self(self.0.saturating_add(duration))
    }

    pub(crate) fn since(self, earlier: Self) -> Duration {
        self.0.saturating_sub(earlier.0)
    }
}

/// The date and time at which the server started: what turns a moment into a timestamp.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Epoch(Timestamp);

impl Epoch {
    pub(crate) fn timestamp(self, moment: Moment) -> Timestamp {
        // Whole milliseconds: more digits tell nothing, and read badly.
        let elapsed = i64::try_from(moment.0.as_millis()).unwrap_or(i64::MAX);
        let milliseconds = self.0.as_millisecond().saturating_add(elapsed);
        Timestamp::from_millisecond(milliseconds).unwrap_or(Timestamp::MAX)
    }

    /// A time before the start is the start.
    pub(crate) fn moment(self, timestamp: Timestamp) -> Moment {
        Moment(Duration::try_from(timestamp.duration_since(self.0)).unwrap_or_default())
    }
}

impl Default for Epoch {
    fn default() -> Self {
        let started = Timestamp::try_from(system_time()).unwrap_or(Timestamp::UNIX_EPOCH);
        // In whole milliseconds too, so that a timestamp turns back into its moment.
        Self(Timestamp::from_millisecond(started.as_millisecond()).unwrap_or(started))
    }
}

/// How the time of a [`LocalServer`](super::LocalServer) passes, for
/// [`LocalServerBuilder::clock`](super::LocalServerBuilder::clock).
///
/// It is the time of everything in the answers and events, of every limit and every wait. The signatures of webhooks,
/// the heartbeats of streams and a client's own timeouts are in the time of this machine, whatever is chosen here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum LocalClock {
    /// It runs, and jumps to what is due next whenever somebody waits for it: an event stream is open, or a mandate
    /// that has not ended was asked about, or a list of mandates or approvals was, or a test waits for
    /// [the next approval](super::LocalApprovals::next). A week passes in milliseconds.
    ///
    /// It does not jump while a request is answered or something connected runs (a request that a
    /// [fault](super::Fault) holds up does not count), and never past the end of an approval that is pending, unless the script [says that nobody answers](super::Script::nobody_answers). The
    /// `expires_at` of a mandate that is paused is no reason to jump either, but does not keep others from it.
    #[default]
    Automatic,
    /// It stands, and goes on only by [`LocalServer::advance`](super::LocalServer::advance) and
    /// [`LocalServer::skip_to_next`](super::LocalServer::skip_to_next).
    Manual,
    /// It runs as that of this machine.
    Real,
    /// It runs so many times as fast; 0 counts as 1.
    Faster(u32),
}

/// Tells what time it is.
#[derive(Debug)]
pub(crate) struct Clock {
    start: Instant,
    pub(crate) epoch: Epoch,
    kind: LocalClock,
    /// The nanoseconds by which it was moved on.
    ahead: AtomicU64,
}

impl Clock {
    pub(crate) fn start(kind: LocalClock) -> Self {
        Self { start: Instant::now(), epoch: Epoch::default(), kind, ahead: AtomicU64::new(0) }
    }

    pub(crate) fn now(&self) -> Moment {
        let ran = self.speed().map_or(Duration::ZERO, |speed| self.start.elapsed().saturating_mul(speed));
        Moment(ran.saturating_add(self.ahead()))
    }

    /// When a moment comes by itself; `None` for one that never does.
    pub(crate) fn instant(&self, moment: Moment) -> Option<Instant> {
        let ran = moment.0.saturating_sub(self.ahead());
        self.start.checked_add(ran / self.speed()?)
    }

    /// Moves it on to a moment, if it isn't beyond it.
    pub(crate) fn move_to(&self, moment: Moment) {
        let by = u64::try_from(moment.since(self.now()).as_nanos()).unwrap_or(u64::MAX);
        let ahead = self.ahead.load(Ordering::SeqCst).saturating_add(by);
        self.ahead.store(ahead, Ordering::SeqCst);
    }

    /// Whether it is moved to what is due next.
    pub(crate) fn skips(&self) -> bool {
        self.kind == LocalClock::Automatic
    }

    fn ahead(&self) -> Duration {
        Duration::from_nanos(self.ahead.load(Ordering::SeqCst))
    }

    fn speed(&self) -> Option<u32> {
        match self.kind {
            LocalClock::Manual => None,
            LocalClock::Automatic | LocalClock::Real => Some(1),
            LocalClock::Faster(times) => Some(times.max(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_and_timestamps_tell_the_same_time() {
        let epoch = Epoch("2026-01-05T09:00:00.25Z".parse().unwrap());
        let later = Moment::default().after(Duration::from_millis(1_500));
        assert_eq!(epoch.timestamp(later).to_string(), "2026-01-05T09:00:01.75Z");
        assert_eq!(epoch.moment(epoch.timestamp(later)), later);
        assert_eq!(epoch.moment("2020-01-01T00:00:00Z".parse().unwrap()), Moment::default());
        assert_eq!(epoch.timestamp(Moment(Duration::MAX)), Timestamp::MAX);
    }
}
