//! What the members of a watcher share: one stream, the reads, and who waits for what.
//!
//! Nothing runs by itself: whoever of the members is polled drives all of it, and wakes those it finds something for.

use std::num::NonZeroU64;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use super::agenda::Urgency;
use super::queue::Next;
use super::run::Run;
use super::state::{Key, Kind, Member, Outcome, State};
use super::wakers::Wakers;
use crate::client::Client;
use crate::model::mandates::Mandate;
use crate::model::types::MandateId;
use crate::resources::mandates::watch::pace::Missed;
use crate::resources::poll::PollOptions;

/// The bit that the key of a wait has, and that of an event stream hasn't.
const WAITS: Key = 1 << 63;

pub(super) struct Hub {
    pub(super) client: Client,
    wakers: Arc<Wakers>,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    state: State,
    /// The stream and the reads, while anyone waits.
    run: Option<Box<Run>>,
    last_key: Key,
}

impl Hub {
    pub(super) fn new(client: Client) -> Self {
        Self { client, wakers: Arc::default(), inner: Mutex::default() }
    }

    pub(super) fn join(
        self: &Arc<Self>,
        topic: MandateId,
        mut kind: Kind,
        options: PollOptions,
    ) -> Membership {
        let mut inner = self.lock();
        inner.last_key += 1;
        let mut key = inner.last_key;
        let run = inner.run.get_or_insert_with(|| Box::new(Run::new(&self.client, &self.wakers)));
        match &mut kind {
            Kind::Events(queue) if run.refused => queue.refused(),
            Kind::Events(_) => {}
            Kind::End | Kind::Approval => key |= WAITS,
        }
        let since = run.started;
        let state = &mut inner.state;
        let watched = state.topics.entry(topic.clone()).or_default();
        watched.members.push(key);
        if key & WAITS != 0 {
            // Events that came before were for nobody.
            watched.miss(Missed::new(self.client.transport().timer.now()));
        }
        let may_run_out = options.timeout.is_some();
        let member =
            Member { topic: topic.clone(), kind, outcome: None, since, last_read: None, may_run_out };
        state.members.insert(key, member);
        state.call_for(&topic, Urgency::Due);
        drop(inner);
        self.wakers.call();
        Membership { hub: Arc::clone(self), key }
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does what there is to do, for all.
    fn drive(&self) {
        let mut inner = self.lock();
        let Inner { state, run, .. } = &mut *inner;
        let Some(mut driven) = run.take() else { return };
        self.wakers.begin();
        let waker = Waker::from(Arc::clone(&self.wakers));
        let mut woken = Vec::new();
        // The transport and the timer may be the user's. What panics is polled no more, and others go on without it.
        let done = catch_unwind(AssertUnwindSafe(|| {
            driven.drive(state, &mut Context::from_waker(&waker), &mut woken);
        }));
        let closed = match &done {
            _ if state.topics.is_empty() => Some(driven),
            Ok(()) => {
                *run = Some(driven);
                None
            }
            Err(_) => {
                state.begin_anew();
                *run = Some(Box::new(driven.anew(&self.client, &self.wakers)));
                Some(driven)
            }
        };
        drop(inner);
        if done.is_err() {
            self.wakers.call();
        }
        self.wakers.end(&woken);
        drop(closed);
        if let Err(panic) = done {
            resume_unwind(panic);
        }
    }
}

/// One who waits. Dropping it leaves the watcher.
pub(super) struct Membership {
    hub: Arc<Hub>,
    key: Key,
}

impl Membership {
    pub(super) fn poll_outcome(&self, context: &Context<'_>) -> Poll<Outcome> {
        self.poll(context, |member| member.outcome.take())
    }

    pub(super) fn poll_next(&self, context: &Context<'_>) -> Poll<Next> {
        self.poll(context, |member| match &mut member.kind {
            Kind::Events(queue) => queue.take(),
            Kind::End | Kind::Approval => None,
        })
    }

    fn poll<T>(&self, context: &Context<'_>, take: fn(&mut Member) -> Option<T>) -> Poll<T> {
        let taken = || self.hub.lock().state.members.get_mut(&self.key).and_then(take);
        // Whoever has what it waits for leaves it to others to drive.
        let taken = taken().or_else(|| {
            if self.hub.wakers.enter(self.key, context.waker()) {
                self.hub.drive();
            }
            taken()
        });
        match taken {
            Some(taken) => {
                self.rest();
                Poll::Ready(taken)
            }
            None => Poll::Pending,
        }
    }

    /// It does something else now, and is not to be woken to drive.
    pub(super) fn rest(&self) {
        self.hub.wakers.leave(self.key);
    }

    /// Its time is over: the next read that begins is the last.
    pub(super) fn read_once_more(&self) {
        let mut inner = self.hub.lock();
        let Inner { state, run: Some(run), .. } = &mut *inner else { return };
        let Some(member) = state.members.get_mut(&self.key) else { return };
        member.last_read = NonZeroU64::new(run.started + 1);
        let topic = member.topic.clone();
        state.call_for(&topic, Urgency::Due);
        drop(inner);
        self.hub.wakers.call();
    }

    /// The mandate as it was last read.
    pub(super) fn last(&self) -> Option<Box<Mandate>> {
        let inner = self.hub.lock();
        let topic = &inner.state.members.get(&self.key)?.topic;
        inner.state.topics.get(topic)?.last()
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        let left = {
            let mut inner = self.hub.lock();
            let member = inner.state.leave(self.key);
            // What is dropped may be the user's, so it is dropped outside the lock.
            (member, if inner.state.topics.is_empty() { inner.run.take() } else { None })
        };
        drop(left);
        self.rest();
    }
}

/// How long, by the clock, and no longer than a timer can hold.
pub(super) fn deadline(hub: &Hub, limit: Option<Duration>) -> Option<crate::clock::Sleep> {
    let timer = &hub.client.transport().timer;
    let limit = limit.filter(|limit| timer.now().checked_add(*limit).is_some());
    limit.map(|limit| timer.sleep(limit))
}
