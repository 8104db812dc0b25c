//! What is counted on the way.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use shadway::Error;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// How many breaches are told in words.
const TOLD: usize = 20;

/// Numbers that everybody adds to.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Mandates created, and ended.
    pub(crate) created: AtomicU64,
    pub(crate) ended: AtomicU64,
    /// Waits, streams and decisions that came to their end.
    pub(crate) waits: AtomicU64,
    pub(crate) mandate_streams: AtomicU64,
    pub(crate) watched_streams: AtomicU64,
    pub(crate) decisions: AtomicU64,
    pub(crate) commands: AtomicU64,
    /// Events given out by streams of single mandates.
    pub(crate) mandate_events: AtomicU64,
    /// Streams that had to begin anew, since their position was too old.
    pub(crate) begun_anew: AtomicU64,
    /// Streams of watchers that had to, since the list of what they had missed was garbled.
    pub(crate) watched_anew: AtomicU64,
    /// Streams of watchers that had nothing to give: all had happened before.
    pub(crate) too_late_to_watch: AtomicU64,
    /// Deliveries: all that came, those that were refused, handled, failed on purpose, and known already.
    pub(crate) deliveries: AtomicU64,
    pub(crate) refused: AtomicU64,
    pub(crate) handled: AtomicU64,
    pub(crate) dropped: AtomicU64,
    pub(crate) known: AtomicU64,
    /// Events that a stream of a single mandate did not give out, or gave out twice or in another order.
    pub(crate) lost: AtomicU64,
    pub(crate) repeated: AtomicU64,
    /// By the name of the call or the wait and what it ended with.
    outcomes: Mutex<BTreeMap<(&'static str, String), u64>>,
    breaches: Mutex<Breaches>,
}

#[derive(Debug, Default)]
struct Breaches {
    count: usize,
    told: Vec<String>,
}

pub(crate) fn add(count: &AtomicU64) {
    count.fetch_add(1, Ordering::Relaxed);
}

pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Tally {
    pub(crate) fn outcome(&self, name: &'static str, error: Option<&Error>) {
        let word = error.map_or_else(|| "ok".to_owned(), |error| format!("{:?}", error.kind()));
        *lock(&self.outcomes).entry((name, word)).or_default() += 1;
    }

    /// How often each call ended in which way.
    pub(crate) fn outcomes(&self) -> Vec<(&'static str, String)> {
        let mut lines: BTreeMap<&'static str, Vec<String>> = BTreeMap::new();
        for ((name, word), count) in lock(&self.outcomes).iter() {
            lines.entry(name).or_default().push(format!("{word} {count}"));
        }
        lines.into_iter().map(|(name, words)| (name, words.join(", "))).collect()
    }

    /// Something that must not be.
    pub(crate) fn breach(&self, what: impl Into<String>) {
        let mut breaches = lock(&self.breaches);
        breaches.count += 1;
        if breaches.told.len() < TOLD {
            breaches.told.push(what.into());
        }
    }

    pub(crate) fn breaches(&self) -> (usize, Vec<String>) {
        let breaches = lock(&self.breaches);
        (breaches.count, breaches.told.clone())
    }
}

/// Calls begun, requests made again, and connections of streams made again, as the crate tells them to `tracing`.
pub(crate) static CALLS: AtomicU64 = AtomicU64::new(0);
pub(crate) static RETRIES: AtomicU64 = AtomicU64::new(0);
pub(crate) static RECONNECTS: AtomicU64 = AtomicU64::new(0);

/// Listens to the crate alone, and only counts.
#[derive(Debug)]
pub(crate) struct Counter;

impl Subscriber for Counter {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target() == "shadway"
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        add(&CALLS);
        Id::from_u64(1)
    }

    fn event(&self, event: &Event<'_>) {
        let fields = event.metadata().fields();
        if fields.field("http.request.resend_count").is_some() {
            add(&RETRIES);
        } else if fields.field("shadway.delay_ms").is_some() {
            add(&RECONNECTS);
        }
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}
