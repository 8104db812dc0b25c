//! How long until the next read, when nothing calls for one.

use std::time::{Duration, Instant};

use crate::resources::poll::{LONGEST_WISH, SHORTEST_INTERVAL};

/// While the stream is open: a second look, should it be open and yet bring nothing.
const HEALTHY: Duration = Duration::from_secs(30);
/// While it isn't, or while reads fail: the first delay.
const AWAY: Duration = Duration::from_secs(1);
/// For so long after the stream was lost the delay stays the first: nothing is seen later than that, and an outage costs
/// about 140 reads.
const CLOSELY: Duration = Duration::from_secs(120);
/// After an event that says what the read doesn't: the first delay.
const BEHIND: Duration = Duration::from_millis(250);
/// For so long what happened before a stream opened is looked for again: reads may lag by as much.
const DOUBTED: Duration = Duration::from_secs(10);
/// Openings that come sooner after each other than that are of one trouble.
const IN_A_ROW: Duration = Duration::from_secs(60);
/// The longest delay, whatever it grew from.
const LONGEST: Duration = Duration::from_secs(30);
/// A connection that has lasted for so long is no part of the trouble before it.
const PROVEN: Duration = Duration::from_secs(5);

/// What the delay between two reads depends on.
///
/// A delay that grows is a quarter of the time the trouble has lasted, or has lasted beyond [`CLOSELY`]: what it hides is
/// then seen late by a quarter of that time at most.
#[derive(Debug)]
pub(crate) struct Pace {
    /// The caller's interval, which then holds whatever the stream does.
    interval: Option<Duration>,
    /// The stream is not open, or was not until it opened, since then.
    away: Option<Instant>,
    opened: Option<Instant>,
    /// All was read then.
    round: Instant,
    /// An event said then, and none since, what no read has said yet.
    behind: Option<Instant>,
    missed: Option<Missed>,
    /// Reads have failed since then.
    failing: Option<Instant>,
    wish: Duration,
}

impl Pace {
    pub(crate) fn new(interval: Option<Duration>, now: Instant) -> Self {
        let (away, wish) = (Some(now), Duration::ZERO);
        Self { interval, away, opened: None, round: now, behind: None, missed: None, failing: None, wish }
    }

    /// Tells whether the stream is open; whether the next delay is to be another for that.
    pub(crate) fn stream_is_open(&mut self, open: bool, now: Instant) -> bool {
        if open == self.opened.is_some() {
            return false;
        }
        match self.opened.take() {
            None => self.opened = Some(now),
            Some(opened) if now.saturating_duration_since(opened) >= PROVEN => self.away = Some(now),
            // One that opens and closes again and again is no better than none.
            Some(_) => self.away = self.away.or(Some(now)),
        }
        self.interval.is_none() && self.failing.is_none()
    }

    /// An event said how it ends, and the reads are to say so too.
    pub(crate) fn told(&mut self, now: Instant) {
        self.behind = Some(now);
    }

    /// The reads say it now.
    pub(crate) fn caught_up(&mut self) {
        self.behind = None;
    }

    /// The stream opened, and may have missed what happened before.
    pub(crate) fn missed(&mut self, now: Instant) {
        self.missed = Some(Missed::after(self.missed, now));
    }

    /// All is read now, so the delay begins anew.
    pub(crate) fn rounded(&mut self, now: Instant) {
        self.round = now;
    }

    /// Whether all was read so shortly before that a stream that is back calls for no more.
    pub(crate) fn has_just_rounded(&self, now: Instant) -> bool {
        now.saturating_duration_since(self.round) < AWAY
    }

    pub(crate) fn answered(&mut self) {
        self.failing = None;
        self.wish = Duration::ZERO;
    }

    pub(crate) fn failed(&mut self, now: Instant, wish: Option<Duration>) {
        self.failing = self.failing.or(Some(now));
        self.wish = wish.unwrap_or_default().min(LONGEST_WISH);
    }

    /// Whether a read that something calls for has to wait all the same, since the last ones failed.
    pub(crate) fn holds_back(&self) -> bool {
        self.failing.is_some()
    }

    /// The next delay; `random`, from 0 to 1, so that many waits don't read in step.
    pub(crate) fn delay(&self, now: Instant, random: f64) -> Duration {
        let away = self.away.filter(|_| self.opened.is_none());
        let jitter = jitter(random);
        let delay = match (self.interval, self.failing, away) {
            (Some(interval), ..) => interval.max(SHORTEST_INTERVAL),
            // The later one: what began a moment ago may soon be over.
            (None, Some(failing), away) => {
                grown(away.map_or(failing, |away| away.max(failing)), now, AWAY).mul_f64(jitter)
            }
            (None, None, Some(away)) => grown(away + CLOSELY, now, AWAY).mul_f64(jitter),
            (None, None, None) => HEALTHY.mul_f64(jitter),
        };
        // However often it begins anew, since the stream comes and goes.
        let most = match (self.interval, self.failing) {
            (None, None) => LONGEST.saturating_sub(now.saturating_duration_since(self.round)),
            _ => Duration::MAX,
        };
        let delay = delay.min(most);
        let behind = self.behind.and_then(|since| behind(since, now));
        let missed = self.missed.and_then(|missed| missed.delay(now, BEHIND));
        let soon = behind.into_iter().chain(missed).filter(|_| self.failing.is_none());
        soon.fold(delay, Duration::min).max(self.wish)
    }
}

/// Something may have happened before that moment which no event tells of, and which no read tells yet if it lags.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Missed {
    at: Instant,
    first: Duration,
}

impl Missed {
    pub(crate) fn new(at: Instant) -> Self {
        Self { at, first: BEHIND }
    }

    /// Once more: for a stream that comes back again and again less is read each time.
    pub(crate) fn after(before: Option<Self>, at: Instant) -> Self {
        let before = before.filter(|before| at.saturating_duration_since(before.at) < IN_A_ROW);
        Self { at, first: before.map_or(BEHIND, |before| (2 * before.first).min(DOUBTED)) }
    }

    /// The delay until the next read, `least` or more; none once reads are trusted.
    pub(crate) fn delay(self, now: Instant, least: Duration) -> Option<Duration> {
        let since = now.saturating_duration_since(self.at);
        let delay = (since / 4).max(self.first).max(least);
        Some(delay).filter(|delay| since + *delay <= DOUBTED)
    }
}

/// The delay until the next read, when an event said then what no read has said yet. Once it has grown to the longest
/// there is none of its own any more: the reads that nothing calls for come as often.
pub(crate) fn behind(since: Instant, now: Instant) -> Option<Duration> {
    Some(grown(since, now, BEHIND)).filter(|delay| *delay < LONGEST)
}

/// The delay until the next read of what alone has failed since then; `random` as in [`Pace::delay`].
pub(crate) fn failing(since: Instant, now: Instant, random: f64) -> Duration {
    grown(since, now, AWAY).mul_f64(jitter(random))
}

fn jitter(random: f64) -> f64 {
    0.75 + random / 4.0
}

fn grown(since: Instant, now: Instant, first: Duration) -> Duration {
    (now.saturating_duration_since(since) / 4).clamp(first, LONGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[expect(clippy::disallowed_methods, reason = "any moment does")]
    fn start() -> Instant {
        Instant::now()
    }

    #[test]
    fn without_a_stream_the_delay_is_a_second_for_two_minutes_and_then_a_quarter_of_the_time_since() {
        let now = start();
        let mut pace = Pace::new(None, now);
        for (passed, delay) in
            [(0, 1_000), (100, 1_000), (124, 1_000), (128, 2_000), (220, 25_000), (10_000, 30_000)]
        {
            pace.rounded(now + passed * SECOND);
            assert_eq!(pace.delay(now + passed * SECOND, 1.0).as_millis(), delay, "after {passed} s");
        }
        assert_eq!(pace.delay(now, 0.0), Duration::from_millis(750));
    }

    #[test]
    fn with_one_it_is_half_a_minute() {
        let now = start();
        let mut pace = Pace::new(None, now);
        assert!(pace.stream_is_open(true, now + SECOND));
        assert!(!pace.stream_is_open(true, now + 2 * SECOND));
        pace.rounded(now + 2 * SECOND);
        assert_eq!(pace.delay(now + 2 * SECOND, 1.0), HEALTHY);
        pace.rounded(now + 60 * SECOND);
        assert!(pace.stream_is_open(false, now + 60 * SECOND));
        assert_eq!(pace.delay(now + 60 * SECOND, 1.0), AWAY, "what was lost just now may soon be back");
    }

    #[test]
    fn a_stream_that_opens_and_closes_again_and_again_is_no_better_than_none() {
        let now = start();
        let mut pace = Pace::new(None, now);
        for second in 0..160 {
            pace.stream_is_open(second % 2 == 0, now + second * SECOND);
        }
        pace.rounded(now + 160 * SECOND);
        assert_eq!(pace.delay(now + 160 * SECOND, 1.0), 10 * SECOND);
    }

    #[test]
    fn however_often_it_begins_anew_it_ends() {
        let now = start();
        let mut pace = Pace::new(None, now);
        assert!(pace.stream_is_open(true, now));
        for (passed, delay) in [(0, 30), (10, 20), (29, 1), (30, 0), (100, 0)] {
            assert_eq!(pace.delay(now + passed * SECOND, 1.0), delay * SECOND, "after {passed} s");
        }
        // What doesn't depend on the stream doesn't begin anew for it.
        pace.failed(now, None);
        assert!(!pace.stream_is_open(false, now));
        assert!(!Pace::new(Some(SECOND), now).stream_is_open(true, now));
    }

    #[test]
    fn a_read_that_lags_is_made_again_soon_and_then_less_often() {
        let now = start();
        let mut pace = Pace::new(None, now);
        pace.stream_is_open(true, now);
        pace.told(now);
        for (passed, delay) in [(0, 250), (1, 250), (2, 500), (4, 1_000), (1_000, 30_000)] {
            pace.rounded(now + passed * SECOND);
            assert_eq!(pace.delay(now + passed * SECOND, 1.0).as_millis(), delay, "after {passed} s");
        }
        pace.told(now + 1_000 * SECOND);
        assert_eq!(pace.delay(now + 1_000 * SECOND, 1.0), BEHIND, "each hint counts anew");
        pace.caught_up();
        assert_eq!(pace.delay(now + 1_000 * SECOND, 1.0), LONGEST);
        assert_eq!(behind(now, now + 120 * SECOND), None, "and is forgotten in the end");
    }

    #[test]
    fn what_an_opening_missed_is_looked_for_again_for_ten_seconds() {
        let now = start();
        let mut pace = Pace::new(None, now);
        pace.stream_is_open(true, now);
        pace.missed(now);
        pace.caught_up();
        let (mut passed, mut reads) = (Duration::ZERO, 0);
        while pace.delay(now + passed, 1.0) <= 3 * SECOND {
            passed += pace.delay(now + passed, 1.0);
            reads += 1;
        }
        assert!((8 * SECOND..=10 * SECOND).contains(&passed) && reads <= 14, "{reads} in {passed:?}");
        pace.failed(now, None);
        assert_eq!(pace.delay(now, 1.0), AWAY, "not while reads fail");
    }

    #[test]
    fn a_stream_that_misses_something_again_and_again_costs_less_each_time() {
        let now = start();
        let mut missed = None;
        for (seconds, delay) in [(0, 250), (5, 500), (10, 1_000), (15, 2_000), (74, 4_000), (140, 250)] {
            let at = now + seconds * SECOND;
            let again = Missed::after(missed, at);
            assert_eq!(again.delay(at, BEHIND), Some(Duration::from_millis(delay)), "after {seconds} s");
            missed = Some(again);
        }
        let often = (0..1_000).fold(None, |missed, _| Some(Missed::after(missed, now)));
        assert_eq!(often.and_then(|often| often.delay(now + SECOND, BEHIND)), None);
        assert_eq!(Missed::new(now).delay(now, 5 * SECOND), Some(5 * SECOND));
    }

    #[test]
    fn a_service_in_trouble_is_not_pressed() {
        let now = start();
        let mut pace = Pace::new(None, now);
        pace.stream_is_open(true, now);
        pace.told(now);
        pace.failed(now, None);
        assert!(pace.holds_back());
        assert_eq!(pace.delay(now, 1.0), AWAY);
        assert_eq!(pace.delay(now + 40 * SECOND, 1.0), 10 * SECOND, "less often from the start");
        pace.failed(now + SECOND, Some(40 * SECOND));
        assert_eq!(pace.delay(now + SECOND, 1.0), 40 * SECOND);
        pace.failed(now + SECOND, Some(Duration::MAX));
        assert_eq!(pace.delay(now + SECOND, 1.0), LONGEST_WISH);
        pace.answered();
        assert!(!pace.holds_back());
        assert_eq!(pace.delay(now, 1.0), BEHIND);
    }

    #[test]
    fn the_callers_interval_holds_whatever_the_stream_does() {
        let now = start();
        let mut pace = Pace::new(Some(7 * SECOND), now);
        assert_eq!(pace.delay(now, 0.3), 7 * SECOND);
        pace.stream_is_open(true, now);
        assert_eq!(pace.delay(now + 60 * SECOND, 0.3), 7 * SECOND);
        assert_eq!(Pace::new(Some(Duration::ZERO), now).delay(now, 0.0), SHORTEST_INTERVAL);
    }
}
