//! Which reads are made, how many at a time, and what they come to.

use std::collections::HashMap;
use std::task::{Context, Poll};

use super::Run;
use crate::call::CallFuture;
use crate::error::Result;
use crate::model::types::MandateId;
use crate::resources::mandates::watch::pace::behind;
use crate::resources::mandates::watcher::hub::{Key, Kind, Member, Outcome, Stage, State};
use crate::resources::mandates::watcher::reads::{self, Found, Wanted};

/// How many reads are under way at a time.
const MOST_READS: usize = 8;
/// From so many mandates on that are due, lists are read instead of each.
const BATCH_FROM: usize = 32;
pub(super) struct Reading {
    number: u64,
    what: What,
    future: CallFuture<HashMap<MandateId, Found>>,
}

enum What {
    One(MandateId),
    Many(Vec<MandateId>),
}

impl Run {
    /// Calls for a read, of the mandate alone or with the others that are due.
    pub(super) fn mark(&mut self, state: &mut State, id: MandateId, alone: bool) {
        if state.wanted(&id).is_none() {
            return;
        }
        let Some(topic) = state.topics.get_mut(&id) else { return };
        match &mut topic.stage {
            Stage::Reading { again, .. } => *again = true,
            Stage::Queued if !alone => {}
            Stage::Queued | Stage::Idle => {
                topic.stage = Stage::Queued;
                if alone { self.alone.push_back(id) } else { self.due.push_back(id) }
            }
        }
    }

    pub(super) fn may_start(&self) -> bool {
        let any = !self.alone.is_empty() || !self.due.is_empty();
        let batching = self.reading.iter().any(|reading| matches!(reading.what, What::Many(_)));
        let blocked = self.alone.is_empty() && self.in_batches() && batching;
        any && !blocked && self.reading.len() < MOST_READS && (self.rested || !self.pace.holds_back())
    }

    fn in_batches(&self) -> bool {
        self.due.len() >= BATCH_FROM && !self.lists_are_refused
    }

    pub(super) fn start(&mut self, state: &mut State) {
        while self.may_start() {
            let number = self.started + 1;
            let batching = self.reading.iter().any(|reading| matches!(reading.what, What::Many(_)));
            let (what, future): (_, CallFuture<_>) = if self.in_batches() && !batching {
                let mut wanted = Vec::new();
                for id in std::mem::take(&mut self.due) {
                    wanted.extend(begin(state, &id, number).map(|want| (id, want)));
                }
                let ids = wanted.iter().map(|(id, _)| id.clone()).collect();
                (What::Many(ids), Box::pin(reads::batch(self.client.clone(), wanted)))
            } else {
                let Some(id) = self.alone.pop_front().or_else(|| self.due.pop_front()) else { return };
                let Some(wanted) = begin(state, &id, number) else { continue };
                let read = reads::single(self.client.clone(), id.clone(), wanted);
                let key = id.clone();
                (What::One(id), Box::pin(async move { Ok(HashMap::from([(key, read.await?)])) }))
            };
            // After a failure one read shows whether it is over.
            self.rested = false;
            self.started = number;
            self.reading.push(Reading { number, what, future });
        }
    }

    /// Takes the reads that are done; whether there were any.
    pub(super) fn finish(
        &mut self,
        state: &mut State,
        context: &mut Context<'_>,
        woken: &mut Vec<Key>,
    ) -> bool {
        let mut done = Vec::new();
        let mut at = 0;
        while at < self.reading.len() {
            match self.reading[at].future.as_mut().poll(context) {
                Poll::Ready(found) => done.push((self.reading.swap_remove(at), found)),
                Poll::Pending => at += 1,
            }
        }
        let any = !done.is_empty();
        for (reading, found) in done {
            self.apply(state, reading, found, woken);
        }
        any
    }

    fn apply(
        &mut self,
        state: &mut State,
        reading: Reading,
        found: Result<HashMap<MandateId, Found>>,
        woken: &mut Vec<Key>,
    ) {
        let many = matches!(reading.what, What::Many(_));
        let ids = match reading.what {
            What::One(id) => vec![id],
            What::Many(ids) => ids,
        };
        let mut again = Vec::new();
        for id in &ids {
            if let Some(topic) = state.topics.get_mut(id) {
                match topic.stage {
                    Stage::Reading { number, again: called } if number == reading.number => {
                        again.extend(called.then(|| id.clone()));
                        topic.stage = Stage::Idle;
                    }
                    // Whoever asked for this read has left, and others have come, who wait for theirs.
                    _ => {}
                }
            }
        }
        match found {
            Ok(mut found) => {
                self.pace.answered();
                for id in ids {
                    match found.remove(&id) {
                        Some(found) => self.learn(state, &id, found, reading.number, woken),
                        // Of those under way it is none, as far as the lists were read.
                        None => self.mark(state, id, true),
                    }
                }
            }
            Err(error) if error.passes() => {
                self.pace.failed(self.timer.now(), error.retry_after());
                (self.pause, self.rested) = (None, false);
                again.extend(ids);
            }
            Err(_) if many => {
                self.lists_are_refused = true;
                again.extend(ids);
            }
            // An error is for one; the others get their own.
            Err(error) => {
                let mut error = Some(error);
                for id in ids {
                    let fail = |member: &Member| match member.kind {
                        Kind::Events(_) => None,
                        Kind::End | Kind::Approval => error.take().map(Outcome::Failed),
                    };
                    state.settle(&id, fail, woken);
                    again.push(id);
                }
            }
        }
        for id in again {
            self.mark(state, id, !many);
        }
    }

    /// What a read says of a mandate.
    fn learn(&mut self, state: &mut State, id: &MandateId, found: Found, number: u64, woken: &mut Vec<Key>) {
        let now = self.timer.now();
        let ended = found.mandate.as_ref().is_some_and(|mandate| mandate.status.is_terminal());
        let outcome = |member: &Member| {
            let waits_for = match member.kind {
                Kind::Events(_) => return None,
                Kind::End => None,
                Kind::Approval => found.approval.clone().map(Outcome::Asked),
            };
            let end = || found.mandate.clone().filter(|_| ended).map(Outcome::Ended);
            let last = || member.last_read_after.filter(|after| number > *after);
            waits_for.or_else(end).or_else(|| last().map(|_| Outcome::OutOfTime(found.mandate.clone())))
        };
        state.settle(id, outcome, woken);
        let keeps_last = state.keeps_last(id);
        let wanted = state.wanted(id);
        let Some(topic) = state.topics.get_mut(id) else { return };
        if keeps_last && found.mandate.is_some() {
            topic.last = found.mandate;
        }
        topic.told = topic.told.map(|(at, of)| (at, of.and(wanted))).filter(|(_, of)| !of.is_none());
        let delay = topic.told.and_then(|(at, _)| behind(at, now));
        if let Some(before) = topic.later.take() {
            self.later.remove(&(before, id.clone()));
        }
        match delay {
            Some(delay) => {
                topic.later = Some(now + delay);
                self.later.insert((now + delay, id.clone()));
            }
            None => topic.told = None,
        }
    }
}

/// Takes a mandate out of the queue, if it is still there and wanted.
fn begin(state: &mut State, id: &MandateId, number: u64) -> Option<Wanted> {
    let wanted = state.wanted(id);
    let topic = state.topics.get_mut(id)?;
    if topic.stage != Stage::Queued {
        return None;
    }
    if wanted.is_none() {
        topic.stage = Stage::Idle;
        return None;
    }
    topic.stage = Stage::Reading { number, again: false };
    Some(wanted)
}
