//! How much a client may spend on retries: a service in trouble is not also flooded with them, and one that is well
//! never notices.

use std::sync::atomic::{AtomicU32, Ordering};

/// The tokens of a client, and what a retry costs of them; all assumed, as AWS's SDKs have it.
pub(crate) const TOKENS: u32 = 500;
const RETRY: u32 = 5;
/// A timeout has kept the service busy for longer than a refusal.
const RETRY_AFTER_TIMEOUT: u32 = 10;
/// What a call that was not retried gives, should any be missing.
const SUCCESS: u32 = 1;

/// The tokens that all calls of a client share.
#[derive(Debug)]
pub(crate) struct Budget {
    capacity: u32,
    left: AtomicU32,
}

impl Budget {
    pub(crate) fn new(capacity: u32) -> Self {
        Self { capacity, left: AtomicU32::new(capacity) }
    }

    fn take(&self, cost: u32) -> bool {
        let pay = |left: u32| left.checked_sub(cost);
        self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, pay).is_ok()
    }

    fn give(&self, tokens: u32) {
        let fill = |left: u32| Some(left.saturating_add(tokens).min(self.capacity));
        // It is never refused.
        let _ = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, fill);
    }
}

/// What one call has to do with the budget.
pub(crate) struct Share<'a> {
    /// `None` for a call that spends nothing and gives nothing.
    budget: Option<&'a Budget>,
    taken: u32,
}

impl<'a> Share<'a> {
    pub(crate) fn of(budget: Option<&'a Budget>) -> Self {
        Self { budget, taken: 0 }
    }

    /// Pays for a retry; whether there was enough.
    pub(crate) fn pay(&mut self, after_timeout: bool) -> bool {
        let cost = if after_timeout { RETRY_AFTER_TIMEOUT } else { RETRY };
        let paid = self.budget.is_none_or(|budget| budget.take(cost));
        if paid {
            self.taken += cost;
        }
        paid
    }

    /// The call went well: what it took comes back, and a little if it took nothing.
    pub(crate) fn refund(self) {
        if let Some(budget) = self.budget {
            budget.give(self.taken.max(SUCCESS));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One call: its retries, each after a timeout or not, and whether it went well in the end.
    type Call = (&'static [bool], bool);

    #[test]
    fn what_calls_take_and_give() {
        const RETRIED: Call = (&[false], true);
        const FAILED: Call = (&[false, false], false);
        const TIMED_OUT: Call = (&[true], false);
        const WELL: Call = (&[], true);
        let table: [(u32, &[Call], u32); 10] = [
            (500, &[], 500),
            (500, &[WELL], 500),
            (500, &[RETRIED], 500),
            (500, &[FAILED], 490),
            (500, &[TIMED_OUT], 490),
            (500, &[(&[true, false], true)], 500),
            (500, &[FAILED, WELL, WELL, WELL], 493),
            (500, &[FAILED, RETRIED], 490),
            (0, &[WELL, WELL], 0),
            (u32::MAX, &[WELL], u32::MAX),
        ];
        for (capacity, calls, left) in table {
            let budget = Budget::new(capacity);
            for (retries, well) in calls {
                let mut share = Share::of(Some(&budget));
                assert!(retries.iter().all(|after_timeout| share.pay(*after_timeout)));
                if *well {
                    share.refund();
                }
            }
            assert_eq!(budget.left.into_inner(), left, "{capacity} {calls:?}");
        }
    }

    #[test]
    fn a_retry_that_costs_more_than_is_left_is_refused_and_takes_nothing() {
        for (capacity, after_timeout, granted) in [
            (0, false, 0),
            (4, false, 0),
            (5, false, 1),
            (9, true, 0),
            (10, true, 1),
            (19, true, 1),
            (500, false, 100),
        ] {
            let budget = Budget::new(capacity);
            let mut share = Share::of(Some(&budget));
            let paid = (0..1000).filter(|_| share.pay(after_timeout)).count();
            assert_eq!(paid, granted, "{capacity}");
            assert_eq!(budget.left.load(Ordering::Relaxed) + share.taken, capacity);
        }
    }

    #[test]
    fn a_call_without_a_budget_may_always() {
        let mut share = Share::of(None);
        assert!((0..1000).all(|_| share.pay(true)));
        share.refund();
    }
}
