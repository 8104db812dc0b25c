//! How long to wait before the next connection.

use std::time::Duration;

/// Where the delays begin, unless the service names another (assumed).
const FIRST: Duration = Duration::from_millis(250);
/// What a `retry` of the service's may come to. Nothing at all would be a loop without a pause.
const LEAST_BASE: Duration = FIRST;
const LARGEST_BASE: Duration = Duration::from_secs(60);
/// Where the delays stop to grow (assumed).
const LONGEST: Duration = Duration::from_secs(30);
/// A `Retry-After` is kept to up to this: a longer one is more likely wrong than meant.
const LONGEST_WISH: Duration = Duration::from_secs(60 * 60);

/// Delays that double with each connection that brought nothing.
#[derive(Debug)]
pub(super) struct Backoff {
    base: Duration,
    failures: u32,
}

impl Backoff {
    pub(super) fn new() -> Self {
        Self { base: FIRST, failures: 0 }
    }

    /// The service's `retry`, in milliseconds.
    pub(super) fn set_base(&mut self, milliseconds: u64) {
        self.base = Duration::from_millis(milliseconds).clamp(LEAST_BASE, LARGEST_BASE);
    }

    /// The next delay: anything up to the present limit (full jitter, `random` from 0 to 1), so that clients cut
    /// at the same moment don't come back at the same moment; and no less than the service wished.
    pub(super) fn next(&mut self, random: f64, wish: Option<Duration>) -> Duration {
        let grown = self.base.saturating_mul(2_u32.saturating_pow(self.failures));
        let limit = grown.min(LONGEST.max(self.base));
        self.failures = self.failures.saturating_add(1);
        limit.mul_f64(random).max(wish.unwrap_or_default().min(LONGEST_WISH))
    }

    /// A connection brought something.
    pub(super) fn reset(&mut self) {
        self.failures = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(backoff: &mut Backoff, count: usize) -> Vec<u128> {
        (0..count).map(|_| backoff.next(1.0, None).as_millis()).collect()
    }

    #[test]
    fn the_limit_doubles_up_to_half_a_minute_and_begins_anew_after_a_success() {
        let mut backoff = Backoff::new();
        assert_eq!(limits(&mut backoff, 9), [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
        backoff.failures = u32::MAX;
        assert_eq!(limits(&mut backoff, 2), [30_000, 30_000]);
        backoff.reset();
        assert_eq!(limits(&mut backoff, 2), [250, 500]);
    }

    #[test]
    fn the_jitter_is_full() {
        assert_eq!(Backoff::new().next(0.0, None), Duration::ZERO);
        assert_eq!(Backoff::new().next(0.5, None), Duration::from_millis(125));
    }

    #[test]
    fn the_services_base_counts_within_bounds() {
        for (milliseconds, first) in
            [(0, 250), (249, 250), (3_000, 3_000), (60_000, 60_000), (60_001, 60_000), (u64::MAX, 60_000)]
        {
            let mut backoff = Backoff::new();
            backoff.set_base(milliseconds);
            assert_eq!(limits(&mut backoff, 1), [first], "{milliseconds}");
        }
        let mut backoff = Backoff::new();
        limits(&mut backoff, 2);
        backoff.set_base(0);
        assert_eq!(limits(&mut backoff, 1), [1_000], "a new base forgets no failure");
        backoff.set_base(60_000);
        assert_eq!(limits(&mut backoff, 2), [60_000, 60_000], "a base beyond the longest is kept to");
    }

    #[test]
    fn a_wish_is_kept_to_within_reason() {
        let seconds = Duration::from_secs;
        assert_eq!(Backoff::new().next(1.0, Some(seconds(120))), seconds(120));
        assert_eq!(Backoff::new().next(1.0, Some(seconds(0))), Duration::from_millis(250));
        assert_eq!(Backoff::new().next(1.0, Some(Duration::MAX)), seconds(3_600));
    }
}
