//! Deliveries that come again, and the check of stores that are not ours.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

use shadway::webhooks::{Begun, Dedupe, MemoryDedupe, check_dedupe};

#[tokio::test]
async fn the_one_in_memory_keeps_to_what_is_asked() {
    check_dedupe(&MemoryDedupe::new(64)).await.unwrap();
    let kept = MemoryDedupe::new(64);
    check_dedupe(&kept).await.unwrap();
    check_dedupe(&kept).await.unwrap();
}

#[tokio::test]
async fn of_many_threads_one_handles_a_delivery() {
    let dedupe = Arc::new(MemoryDedupe::new(100));
    let (barrier, mut tasks) = (Arc::new(std::sync::Barrier::new(8)), Vec::new());
    for _ in 0..8 {
        let (dedupe, barrier) = (Arc::clone(&dedupe), Arc::clone(&barrier));
        tasks.push(std::thread::spawn(move || {
            barrier.wait();
            let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
            (0..50).filter(|id| runtime.block_on(dedupe.begin(&id.to_string())) == Ok(Begun::New)).count()
        }));
    }
    assert_eq!(tasks.into_iter().map(|task| task.join().unwrap()).sum::<usize>(), 50);
    assert_eq!(format!("{dedupe:?}"), "MemoryDedupe { held: 50, capacity: 100 }");
}

#[tokio::test]
async fn a_lease_of_nothing_ends_at_once() {
    let dedupe = MemoryDedupe::new(1).lease(std::time::Duration::ZERO);
    assert_eq!(dedupe.begin("a").await, Ok(Begun::New));
    assert_eq!(dedupe.begin("a").await, Ok(Begun::New));
}

/// One fault each.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    None,
    /// The id is read and written in two steps.
    Race,
    ForgetsWhatIsDone,
    ReleasesWhatIsDone,
    NeverReleases,
    IgnoresCase,
    TakesWildcards,
    CutsIds,
    KnowsNoFinishWithoutClaim,
    Fails,
}

struct Store {
    fault: Fault,
    states: Mutex<HashMap<String, Begun>>,
}

#[derive(Debug, thiserror::Error)]
#[error("no connection")]
struct Gone;

impl Store {
    fn key(&self, id: &str) -> String {
        match self.fault {
            Fault::IgnoresCase => id.to_lowercase(),
            Fault::CutsIds => id.chars().take(64).collect(),
            Fault::TakesWildcards => id.replace(['_', '%'], "t"),
            _ => id.to_owned(),
        }
    }
}

impl Dedupe for Store {
    type Error = Gone;

    async fn begin(&self, id: &str) -> Result<Begun, Gone> {
        if self.fault == Fault::Fails {
            return Err(Gone);
        }
        let found = self.states.lock().unwrap().get(&self.key(id)).copied();
        if self.fault == Fault::Race {
            tokio::task::yield_now().await;
        }
        if found.is_none() {
            self.states.lock().unwrap().insert(self.key(id), Begun::InFlight);
        }
        Ok(found.unwrap_or(Begun::New))
    }

    async fn finish(&self, id: &str) -> Result<(), Gone> {
        let mut states = self.states.lock().unwrap();
        match self.fault {
            Fault::ForgetsWhatIsDone => drop(states.remove(id)),
            Fault::KnowsNoFinishWithoutClaim if !states.contains_key(id) => {}
            _ => drop(states.insert(self.key(id), Begun::Done)),
        }
        Ok(())
    }

    async fn release(&self, id: &str) -> Result<(), Gone> {
        let mut states = self.states.lock().unwrap();
        let done = states.get(&self.key(id)) == Some(&Begun::Done);
        if self.fault != Fault::NeverReleases && (!done || self.fault == Fault::ReleasesWhatIsDone) {
            states.remove(&self.key(id));
        }
        Ok(())
    }
}

#[tokio::test]
async fn every_fault_of_a_store_is_found() {
    for (fault, found) in [
        (Fault::Race, "of 16 who asked at the same time, 16 got it"),
        (Fault::ForgetsWhatIsDone, "an id that was finished should be Done, and is New"),
        (Fault::ReleasesWhatIsDone, "a finished id that was released too late should be Done, and is New"),
        (Fault::NeverReleases, "an id that was released should be New, and is InFlight"),
        (Fault::IgnoresCase, "an id like another should be New, and is Done"),
        (Fault::TakesWildcards, "an id like another should be New, and is Done"),
        (Fault::CutsIds, "an id like another should be New, and is InFlight"),
        (
            Fault::KnowsNoFinishWithoutClaim,
            "an id that was finished without a claim should be Done, and is New",
        ),
        (Fault::Fails, "the store failed"),
    ] {
        let store = Store { fault, states: Mutex::default() };
        let error = check_dedupe(&store).await.unwrap_err();
        assert_eq!(error.to_string(), found, "{fault:?}");
        assert_eq!(std::error::Error::source(&error).is_some(), fault == Fault::Fails);
    }
    check_dedupe(&Store { fault: Fault::None, states: Mutex::default() }).await.unwrap();
}

/// Whatever is written against the trait takes any of them.
#[tokio::test]
async fn a_handler_is_written_once_for_all_stores() {
    async fn statuses<D: Dedupe>(dedupe: &D) -> Result<[Begun; 3], D::Error> {
        let first = dedupe.begin("x").await?;
        let second = dedupe.begin("x").await?;
        dedupe.finish("x").await?;
        Ok([first, second, dedupe.begin("x").await?])
    }
    let expected = [Begun::New, Begun::InFlight, Begun::Done];
    assert_eq!(statuses(&MemoryDedupe::new(9)).await, Ok::<_, Infallible>(expected));
    let store = Store { fault: Fault::None, states: Mutex::default() };
    assert_eq!(statuses(&store).await.unwrap(), expected);
}
