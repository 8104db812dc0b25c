//! Who is woken when the shared stream or a read has something: two of those who wait, so that the first drives for all.
//!
//! Whoever is woken may not come, being busy with something else or about to be dropped. One that is dropped passes
//! it on, and so does one that was given what it waited for and is busy with that. One that is busy with something else
//! doesn't, nor one whose future is gone and that could not be told (`Stream::poll_next` has none): so two are woken, and
//! for the case that both are such there are watchdogs, which wake others after a while. Whoever was woken and did not
//! come is not woken again before it is polled, so that each holds up others once at most.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Wake, Waker};

use super::state::Key;

/// How many are woken to drive.
const CHOSEN: usize = 2;

#[derive(Default)]
pub(super) struct Wakers(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    /// Of those who wait and have not been woken since they were last polled.
    waiting: BTreeMap<Key, Waker>,
    /// There is something to do for whoever comes.
    needed: bool,
    /// Who has been woken to do it, and nobody has come since.
    chosen: Vec<Key>,
    /// How many drive, or are about to have done so: then nobody is woken, since it may be under their lock, and they
    /// see to it in the end.
    driving: usize,
}

impl Wakers {
    /// Somebody is polled, and will wait; whether there is something to do first.
    pub(super) fn enter(&self, key: Key, waker: &Waker) -> bool {
        let mut inner = self.lock();
        let present = inner.waiting.get(&key).is_some_and(|present| present.will_wake(waker));
        let before = if present { None } else { inner.waiting.insert(key, waker.clone()) };
        let needed = std::mem::take(&mut inner.needed);
        inner.chosen.retain(|chosen| !needed && *chosen != key);
        // With a waker a task may be dropped, which then leaves: so it is dropped outside the lock.
        drop(inner);
        drop(before);
        needed
    }

    /// Somebody waits no longer.
    pub(super) fn leave(&self, key: Key) {
        let (before, next) = {
            let mut inner = self.lock();
            let before = inner.waiting.remove(&key);
            let was_chosen = inner.chosen.contains(&key);
            inner.chosen.retain(|chosen| *chosen != key);
            (before, if was_chosen && inner.needed { inner.next(CHOSEN) } else { Vec::new() })
        };
        drop(before);
        wake(next);
    }

    /// Somebody drives, under a lock.
    pub(super) fn begin(&self) {
        self.lock().driving += 1;
    }

    /// And does so no longer: wakes those that something was found for, and one more if there is something to do again.
    pub(super) fn end(&self, found: &[Key]) {
        let wakers: Vec<_> = {
            let mut inner = self.lock();
            inner.driving = inner.driving.saturating_sub(1);
            let found: Vec<_> = found.iter().filter_map(|key| inner.waiting.remove(key)).collect();
            let next = if inner.needed { inner.next(CHOSEN) } else { Vec::new() };
            found.into_iter().chain(next).collect()
        };
        wake(wakers);
    }

    /// There is something to do, without waking anybody: who says so is there.
    pub(super) fn call(&self) {
        self.lock().needed = true;
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Wakers {
    /// Nobody has come for a while: wakes one, if nobody is on the way, and else all.
    pub(super) fn remind(&self, all: bool) {
        let woken: Vec<Waker> = {
            let mut inner = self.lock();
            inner.needed = true;
            if inner.driving > 0 {
                Vec::new()
            } else if !all && inner.chosen.is_empty() {
                inner.next(1)
            } else {
                std::mem::take(&mut inner.waiting).into_values().collect()
            }
        };
        wake(woken);
    }
}

impl Inner {
    /// Who is to be woken to drive, so that so many are on the way, unless somebody drives. The last ones: waits have
    /// higher keys than streams, and are less likely to be busy.
    fn next(&mut self, most: usize) -> Vec<Waker> {
        let mut woken = Vec::new();
        while self.driving == 0 && self.chosen.len() < most {
            let Some((key, waker)) = self.waiting.pop_last() else { break };
            self.chosen.push(key);
            woken.push(waker);
        }
        woken
    }
}

fn wake(wakers: impl IntoIterator<Item = Waker>) {
    wakers.into_iter().for_each(Waker::wake);
}

impl Wake for Wakers {
    fn wake(self: Arc<Self>) {
        Self::wake_by_ref(&self);
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let next = {
            let mut inner = self.lock();
            inner.needed = true;
            inner.next(CHOSEN)
        };
        wake(next);
    }
}
