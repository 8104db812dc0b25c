//! Who is woken when the shared stream or a read has something: one of those who wait, so that it drives for all.
//!
//! Whoever is woken may not come, being busy with something else or about to be dropped. One that is dropped passes
//! it on, and so does one that was given what it waited for and is busy with that; for one that is busy with something
//! else there are watchdogs, which wake others after a while.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Wake, Waker};

use super::state::Key;

#[derive(Default)]
pub(super) struct Wakers(Mutex<Inner>);

#[derive(Default)]
struct Inner {
    /// Of those who wait and have not been woken since they were last polled.
    waiting: BTreeMap<Key, Waker>,
    /// There is something to do for whoever comes.
    needed: bool,
    /// Who has been woken to do it.
    chosen: Option<Key>,
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
        if needed || inner.chosen == Some(key) {
            inner.chosen = None;
        }
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
            let passes_on = inner.chosen == Some(key) && inner.needed;
            if inner.chosen == Some(key) {
                inner.chosen = None;
            }
            (before, if passes_on { inner.next() } else { None })
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
            let next = if inner.needed { inner.next() } else { None };
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
            } else if !all && inner.chosen.is_none() {
                inner.next().into_iter().collect()
            } else {
                std::mem::take(&mut inner.waiting).into_values().collect()
            }
        };
        wake(woken);
    }
}

impl Inner {
    /// Who is to be woken to drive, unless somebody does or is on the way. The last one: waits have higher keys than
    /// streams, and are less likely to be busy.
    fn next(&mut self) -> Option<Waker> {
        if self.driving > 0 || self.chosen.is_some() {
            return None;
        }
        let (key, waker) = self.waiting.pop_last()?;
        self.chosen = Some(key);
        Some(waker)
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
            inner.next()
        };
        wake(next);
    }
}
