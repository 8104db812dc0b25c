//! What the members of a watcher share: one stream, the reads, and who waits for what.
//!
//! Nothing runs by itself: whoever of the members is polled drives all of it, and wakes those it finds something for.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use super::queue::Queue;
use super::reads::Wanted;
use super::run::Run;
use super::wakers::Wakers;
use crate::client::Client;
use crate::error::Error;
use crate::model::approvals::Approval;
use crate::model::events::Event;
use crate::model::mandates::Mandate;
use crate::model::types::MandateId;
use crate::resources::poll::PollOptions;

/// Names a member. Those of event streams are even, those of waits odd and above all even ones.
pub(super) type Key = u64;
const WAITS: Key = 1 << 63;

pub(super) struct Hub {
    pub(super) client: Client,
    pub(super) wakers: Arc<Wakers>,
    state: Mutex<State>,
}

#[derive(Default)]
pub(super) struct State {
    pub(super) topics: HashMap<MandateId, Topic>,
    pub(super) members: HashMap<Key, Member>,
    next_key: Key,
    /// The stream and the reads, while anyone waits.
    run: Option<Box<Run>>,
}

/// What is known of one mandate, for all who watch it.
#[derive(Default)]
pub(super) struct Topic {
    /// Those who still wait.
    pub(super) members: Vec<Key>,
    pub(super) stage: Stage,
    /// An event said then, and none since, what no read has said yet to those who wait for it.
    pub(super) told: Option<(Instant, Wanted)>,
    /// When it is to be read again for that.
    pub(super) later: Option<Instant>,
    /// As it was last read; kept only for waits that may run out.
    pub(super) last: Option<Box<Mandate>>,
}

/// Where the next read of a mandate is.
#[derive(Default, PartialEq, Eq)]
pub(super) enum Stage {
    #[default]
    Idle,
    Queued,
    /// Under way, as the read with that number; something called for another since it began, or not.
    Reading {
        number: u64,
        again: bool,
    },
}

pub(super) struct Member {
    topic: MandateId,
    pub(super) kind: Kind,
    pub(super) outcome: Option<Outcome>,
    /// Its time is over, and the first read with a higher number is the last.
    pub(super) last_read_after: Option<u64>,
    may_run_out: bool,
}

pub(super) enum Kind {
    End,
    Approval,
    Events(Queue),
}

/// How a wait ends.
pub(super) enum Outcome {
    Ended(Box<Mandate>),
    Asked(Box<Approval>),
    Failed(Error),
    OutOfTime(Option<Box<Mandate>>),
}

/// What an event stream is to do next.
pub(super) enum Next {
    Event(Box<Event>),
    /// Events were left out: they are to be listed. The highest sequence of them, if any is known.
    Gap(Option<u64>),
    /// The shared stream is refused, and not asked for again for a while; it may be that it was open before, and that
    /// events were left out since.
    Refused {
        missed: bool,
    },
}

impl Hub {
    pub(super) fn new(client: Client) -> Self {
        Self { client, wakers: Arc::default(), state: Mutex::default() }
    }

    pub(super) fn join(
        self: &Arc<Self>,
        topic: MandateId,
        mut kind: Kind,
        options: PollOptions,
    ) -> Membership {
        let mut state = self.lock();
        state.next_key += 1;
        let mut key = state.next_key;
        let run = state.run.get_or_insert_with(|| Box::new(Run::new(&self.client, &self.wakers)));
        match &mut kind {
            Kind::Events(queue) if run.refused => queue.refused(),
            Kind::Events(_) => {}
            Kind::End | Kind::Approval => {
                key |= WAITS;
                run.call_for.push(topic.clone());
            }
        }
        state.topics.entry(topic.clone()).or_default().members.push(key);
        let may_run_out = options.timeout.is_some();
        let member = Member { topic, kind, outcome: None, last_read_after: None, may_run_out };
        state.members.insert(key, member);
        drop(state);
        self.wakers.call();
        Membership { hub: Arc::clone(self), key }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does what there is to do, for all.
    fn drive(&self) {
        let (woken, closed) = {
            let mut state = self.lock();
            let Some(mut run) = state.run.take() else { return };
            let waker = Waker::from(Arc::clone(&self.wakers));
            let woken = run.drive(&mut state, &mut Context::from_waker(&waker));
            let closed = if state.topics.is_empty() {
                Some(run)
            } else {
                state.run = Some(run);
                None
            };
            (woken, closed)
        };
        drop(closed);
        self.wakers.wake(&woken);
    }
}

impl State {
    pub(super) fn wanted(&self, id: &MandateId) -> Wanted {
        let mut wanted = Wanted::default();
        for member in self.topics.get(id).into_iter().flat_map(|topic| &topic.members) {
            match self.members.get(member).map(|member| &member.kind) {
                Some(Kind::End) => wanted.end = true,
                Some(Kind::Approval) => wanted.approval = true,
                Some(Kind::Events(_)) | None => {}
            }
        }
        wanted
    }

    pub(super) fn keeps_last(&self, id: &MandateId) -> bool {
        let members = self.topics.get(id).into_iter().flat_map(|topic| &topic.members);
        members.filter_map(|key| self.members.get(key)).any(|member| member.may_run_out)
    }

    /// Ends the waits that `outcome` gives an end for, and says whose they are.
    pub(super) fn settle(
        &mut self,
        id: &MandateId,
        mut outcome: impl FnMut(&Member) -> Option<Outcome>,
        woken: &mut Vec<Key>,
    ) {
        let Some(topic) = self.topics.get_mut(id) else { return };
        topic.members.retain(|key| {
            let Some(member) = self.members.get_mut(key) else { return false };
            member.outcome = outcome(member);
            if member.outcome.is_some() {
                woken.push(*key);
            }
            member.outcome.is_none()
        });
        if topic.members.is_empty() {
            self.topics.remove(id);
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
        if self.hub.wakers.enter(self.key, context.waker()) {
            self.hub.drive();
        }
        let taken = self.hub.lock().members.get_mut(&self.key).and_then(take);
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
        let mut state = self.hub.lock();
        let State { members, run: Some(run), .. } = &mut *state else { return };
        if let Some(member) = members.get_mut(&self.key) {
            member.last_read_after = Some(run.started);
            run.call_for.push(member.topic.clone());
        }
        drop(state);
        self.hub.wakers.call();
    }

    /// The mandate as it was last read.
    pub(super) fn last(&self) -> Option<Box<Mandate>> {
        let state = self.hub.lock();
        let topic = &state.members.get(&self.key)?.topic;
        state.topics.get(topic)?.last.clone()
    }
}

impl Drop for Membership {
    fn drop(&mut self) {
        let closed = {
            let mut state = self.hub.lock();
            let member = state.members.remove(&self.key);
            if let Some(topic) = member.as_ref().and_then(|member| state.topics.get_mut(&member.topic)) {
                topic.members.retain(|key| *key != self.key);
                if topic.members.is_empty() {
                    member.as_ref().map(|member| state.topics.remove(&member.topic));
                }
            }
            // What is dropped may be the user's, so it is dropped outside the lock.
            (member, if state.topics.is_empty() { state.run.take() } else { None })
        };
        drop(closed);
        self.rest();
    }
}

/// How long, by the clock, and no longer than a timer can hold.
pub(super) fn deadline(hub: &Hub, limit: Option<Duration>) -> Option<crate::clock::Sleep> {
    let timer = &hub.client.transport().timer;
    let limit = limit.filter(|limit| timer.now().checked_add(*limit).is_some());
    limit.map(|limit| timer.sleep(limit))
}
