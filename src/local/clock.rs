//! The one clock of the server: tokio's, so that its tests can pause it.

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

/// Tells what time it is.
#[derive(Debug)]
pub(crate) struct Clock {
    start: Instant,
    pub(crate) epoch: Epoch,
}

impl Clock {
    pub(crate) fn start() -> Self {
        Self { start: Instant::now(), epoch: Epoch::default() }
    }

    pub(crate) fn now(&self) -> Moment {
        Moment(self.start.elapsed())
    }

    /// When a moment comes; `None` for one that no clock reaches.
    pub(crate) fn instant(&self, moment: Moment) -> Option<Instant> {
        self.start.checked_add(moment.0)
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
