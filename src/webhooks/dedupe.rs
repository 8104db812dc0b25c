//! Which deliveries were handled already: each can come more than once.

use std::collections::{HashMap, VecDeque};
use std::convert::Infallible;
use std::error::Error;
use std::fmt;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::clock;

/// Remembers deliveries by their id, so that what they ask for is done once (that they can repeat is
/// documented).
///
/// Ask only after the delivery was verified: an id that anybody sent is not to be remembered.
///
/// ```
/// use shadway::webhooks::{Begun, Dedupe, Delivery};
///
/// # async fn handle(_: &Delivery<'_>) -> Result<(), std::io::Error> { Ok(()) }
/// /// The status to answer with.
/// async fn once<D: Dedupe>(dedupe: &D, delivery: Delivery<'_>) -> Result<u16, D::Error> {
///     Ok(match dedupe.begin(delivery.id()).await? {
///         Begun::Done => 204,     // it came again
///         Begun::InFlight => 503, // it comes again later; by then the first is through
///         Begun::New => match handle(&delivery).await {
///             Ok(()) => {
///                 dedupe.finish(delivery.id()).await?;
///                 204
///             }
///             Err(_) => {
///                 dedupe.release(delivery.id()).await?; // so that the next try is new
///                 500
///             }
///         },
///     })
/// }
/// # let dedupe = shadway::webhooks::MemoryDedupe::new(10_000);
/// # let secret = "whsec_MfKQ9r8GKYqrTwjU";
/// # let headers = shadway::webhooks::Signer::new(secret)?.sign("dlv_1", "{}")?;
/// # let verifier = shadway::webhooks::Verifier::new(secret)?;
/// # let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
/// # for _ in 0..2 {
/// #     let delivery = verifier.verify(&headers, "{}")?;
/// #     assert_eq!(runtime.block_on(once(&dedupe, delivery)), Ok(204));
/// # }
/// # Ok::<(), shadway::webhooks::VerifyError>(())
/// ```
///
/// [`MemoryDedupe`] is for one process. Whatever you write for more, [`check_dedupe`](super::check_dedupe)
/// says whether it keeps to this.
pub trait Dedupe: Send + Sync {
    /// Why it can't say.
    type Error: Error + Send + Sync + 'static;

    /// Claims a delivery. Of any number who ask at the same time, one gets [`Begun::New`].
    fn begin(&self, id: &str) -> impl Future<Output = Result<Begun, Self::Error>> + Send;

    /// The delivery was handled: it is [`Begun::Done`] from now on, whether it had been claimed or not.
    fn finish(&self, id: &str) -> impl Future<Output = Result<(), Self::Error>> + Send;

    /// Handling it failed: it is [`Begun::New`] to the next who asks. Of one that is done nothing changes.
    ///
    /// A claim has no name but the delivery's id. So a handler that outlives its lease releases also the claim of whoever
    /// came next, and the delivery may be handled once more: take a lease that is longer than any handler takes.
    fn release(&self, id: &str) -> impl Future<Output = Result<(), Self::Error>> + Send;
}

/// What [`Dedupe::begin`] found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a receiver has to do something about each, and there are no others"
)]
pub enum Begun {
    /// It is yours: handle it, then [`finish`](Dedupe::finish) or [`release`](Dedupe::release) it.
    New,
    /// Another is at it. Don't answer 2xx: should that one fail, the delivery has to come again.
    InFlight,
    /// It was handled. Answer 2xx.
    Done,
}

/// A [`Dedupe`] in memory, for one process, of bounded size.
///
/// It remembers so many deliveries, and forgets first what was done first. While all of them are in flight,
/// others are told that they are too, so that they come again later. A claim that was neither finished nor
/// released, because its handler panicked or was dropped, ends after a lease of ten minutes.
///
/// ```
/// use shadway::webhooks::{Begun, Dedupe, MemoryDedupe};
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), std::convert::Infallible> {
/// let dedupe = MemoryDedupe::new(10_000);
/// assert_eq!(dedupe.begin("dlv_1").await?, Begun::New);
/// assert_eq!(dedupe.begin("dlv_1").await?, Begun::InFlight);
/// dedupe.finish("dlv_1").await?;
/// assert_eq!(dedupe.begin("dlv_1").await?, Begun::Done);
/// # Ok(())
/// # }
/// ```
pub struct MemoryDedupe {
    table: Mutex<Table>,
}

impl MemoryDedupe {
    /// Remembers so many deliveries, at least one. The service tries one again for hours (assumed), so take
    /// as many as come in a day: each takes some 100 bytes.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { table: Mutex::new(Table::new(capacity.max(1), Duration::from_secs(10 * 60))) }
    }

    /// How long a claim lasts that is neither finished nor released: longer than any handler takes.
    #[must_use]
    pub fn lease(self, lease: Duration) -> Self {
        self.with(|table| table.lease = lease);
        self
    }

    fn with<T>(&self, work: impl FnOnce(&mut Table) -> T) -> T {
        work(&mut self.table.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Dedupe for MemoryDedupe {
    type Error = Infallible;

    async fn begin(&self, id: &str) -> Result<Begun, Infallible> {
        Ok(self.with(|table| table.begin(id, clock::monotonic())))
    }

    async fn finish(&self, id: &str) -> Result<(), Infallible> {
        self.with(|table| table.finish(id));
        Ok(())
    }

    async fn release(&self, id: &str) -> Result<(), Infallible> {
        self.with(|table| table.release(id));
        Ok(())
    }
}

impl fmt::Debug for MemoryDedupe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (held, capacity) = self.with(|table| (table.states.len(), table.capacity));
        f.debug_struct("MemoryDedupe").field("held", &held).field("capacity", &capacity).finish()
    }
}

struct Table {
    states: HashMap<String, State>,
    /// Those that are done, the oldest first.
    done: VecDeque<String>,
    capacity: usize,
    lease: Duration,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    InFlight { since: Instant },
    Done,
}

impl Table {
    fn new(capacity: usize, lease: Duration) -> Self {
        Self { states: HashMap::new(), done: VecDeque::new(), capacity, lease }
    }

    fn begin(&mut self, id: &str, now: Instant) -> Begun {
        match self.states.get(id).copied() {
            Some(State::Done) => return Begun::Done,
            Some(state) if !self.has_expired(state, now) => return Begun::InFlight,
            Some(_) => {}
            None if !self.make_room(now) => return Begun::InFlight,
            None => {}
        }
        self.states.insert(id.to_owned(), State::InFlight { since: now });
        Begun::New
    }

    fn finish(&mut self, id: &str) {
        if self.states.get(id) == Some(&State::Done) {
            return;
        }
        // One that is not held any more is remembered at the cost of the oldest.
        if !self.states.contains_key(id) && self.states.len() >= self.capacity && !self.forget_oldest() {
            return;
        }
        self.states.insert(id.to_owned(), State::Done);
        self.done.push_back(id.to_owned());
    }

    fn release(&mut self, id: &str) {
        if matches!(self.states.get(id), Some(State::InFlight { .. })) {
            self.states.remove(id);
        }
    }

    fn make_room(&mut self, now: Instant) -> bool {
        if self.states.len() < self.capacity || self.forget_oldest() {
            return true;
        }
        // All are in flight, which is rare enough to look at each.
        let expired = self.states.iter().find(|(_, state)| self.has_expired(**state, now));
        let Some(id) = expired.map(|(id, _)| id.clone()) else { return false };
        self.states.remove(&id);
        true
    }

    fn forget_oldest(&mut self) -> bool {
        self.done.pop_front().is_some_and(|id| self.states.remove(&id).is_some())
    }

    fn has_expired(&self, state: State, now: Instant) -> bool {
        matches!(state, State::InFlight { since } if now.saturating_duration_since(since) >= self.lease)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEASE: Duration = Duration::from_secs(60);

    #[expect(clippy::disallowed_methods, reason = "a moment to begin at")]
    fn table(capacity: usize) -> (Table, Instant) {
        (Table::new(capacity, LEASE), Instant::now())
    }

    #[test]
    fn what_was_done_first_is_forgotten_first() {
        let (mut table, now) = table(2);
        for id in ["a", "b", "c"] {
            assert_eq!(table.begin(id, now), Begun::New);
            table.finish(id);
        }
        assert_eq!(table.begin("c", now), Begun::Done);
        assert_eq!(table.begin("b", now), Begun::Done);
        assert_eq!(table.begin("a", now), Begun::New, "forgotten");
        assert_eq!(table.begin("b", now), Begun::New, "for which the next had to go");
        assert_eq!(table.begin("c", now), Begun::InFlight, "none is done any more");
        assert_eq!((table.states.len(), table.done.len()), (2, 0));
    }

    #[test]
    fn what_is_in_flight_is_never_forgotten_for_another() {
        let (mut table, now) = table(2);
        table.begin("a", now);
        table.begin("b", now);
        assert_eq!(table.begin("c", now), Begun::InFlight, "there is no room: it has to come again");
        assert_eq!(table.begin("a", now), Begun::InFlight);
        table.release("b");
        assert_eq!(table.begin("c", now), Begun::New);
        table.finish("d");
        assert_eq!(table.states.len(), 2, "no room either for one that nobody claimed");
    }

    #[test]
    fn a_claim_ends_with_its_lease() {
        let (mut table, now) = table(2);
        table.begin("a", now);
        assert_eq!(table.begin("a", now + LEASE - Duration::from_nanos(1)), Begun::InFlight);
        assert_eq!(table.begin("a", now + LEASE), Begun::New);
        assert_eq!(table.begin("a", now + LEASE), Begun::InFlight, "a new lease");
        table.begin("b", now);
        assert_eq!(table.begin("c", now + LEASE), Begun::New, "in place of the one whose lease is over");
        assert_eq!(table.begin("b", now + LEASE), Begun::InFlight, "there is no room: it has to come again");
        table.finish("b");
        table.finish("a");
        assert_eq!(table.begin("a", now + LEASE * 9), Begun::Done, "what is done has no lease");
    }

    #[test]
    fn an_id_takes_one_place_however_often_it_is_finished() {
        let (mut table, now) = table(3);
        for _ in 0..10 {
            table.begin("a", now);
            table.finish("a");
        }
        assert_eq!((table.states.len(), table.done.len()), (1, 1));
        for number in 0..1_000 {
            table.begin(&number.to_string(), now);
            table.finish(&number.to_string());
        }
        assert_eq!((table.states.len(), table.done.len()), (3, 3));
    }
}
