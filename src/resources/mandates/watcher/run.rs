//! The stream and the reads of a watcher, while anyone waits.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use super::hub::{Key, Kind, Member, Outcome, Stage, State};
use super::queue::Queue;
use super::reads::{self, Found, Wanted};
use super::wakers::Wakers;
use super::watchdogs::Watchdogs;
use crate::call::CallFuture;
use crate::client::Client;
use crate::clock::{Sleep, Timer};
use crate::error::Result;
use crate::model::events::Event;
use crate::model::types::MandateId;
use crate::resources::mandates::watch::Hint;
use crate::resources::mandates::watch::feed::Feed;
use crate::resources::mandates::watch::pace::{Pace, behind};
use crate::resources::mandates::{approval_wait, wait};
use crate::resources::poll::passes;

/// How many reads are under way at a time.
const MOST_READS: usize = 8;
/// From so many mandates on that are due, lists are read instead of each.
const BATCH_FROM: usize = 32;
/// How many events are taken before others get their turn.
const EVENTS_AT_ONCE: usize = 256;

pub(super) struct Run {
    client: Client,
    timer: Arc<dyn Timer>,
    feed: Feed,
    /// The stream has been open before.
    opened: bool,
    pace: Pace,
    pause: Option<Sleep>,
    rested: bool,
    /// Mandates that something has called for a read of.
    pub(super) call_for: Vec<MandateId>,
    /// Those to be read alone, and those that a list may tell of too.
    alone: VecDeque<MandateId>,
    due: VecDeque<MandateId>,
    /// Those to be read again in a while.
    later: BTreeSet<(Instant, MandateId)>,
    alarm: Option<(Instant, Sleep)>,
    reading: Vec<Reading>,
    /// How many reads have begun.
    pub(super) started: u64,
    lists_are_refused: bool,
    watchdogs: Watchdogs,
}

struct Reading {
    number: u64,
    what: What,
    future: CallFuture<HashMap<MandateId, Found>>,
}

enum What {
    One(MandateId),
    Many(Vec<MandateId>),
}

impl Run {
    pub(super) fn new(client: &Client, wakers: &Arc<Wakers>) -> Self {
        let timer = Arc::clone(&client.transport().timer);
        let events = client.events();
        Self {
            client: client.clone(),
            feed: Feed::new(Box::new(move || events.stream()), Arc::clone(&timer)),
            opened: false,
            pace: Pace::new(None, timer.now()),
            pause: None,
            rested: false,
            call_for: Vec::new(),
            alone: VecDeque::new(),
            due: VecDeque::new(),
            later: BTreeSet::new(),
            alarm: None,
            reading: Vec::new(),
            started: 0,
            lists_are_refused: false,
            watchdogs: Watchdogs::new(wakers),
            timer,
        }
    }

    /// Does what there is to do; says for whom there is something now.
    pub(super) fn drive(&mut self, state: &mut State, context: &mut Context<'_>) -> Vec<Key> {
        let mut woken = Vec::new();
        self.watchdogs.keep(&*self.timer);
        loop {
            for id in std::mem::take(&mut self.call_for) {
                self.mark(state, id, false);
            }
            self.start(state);
            let read = self.finish(state, context, &mut woken);
            self.listen(state, context, &mut woken);
            self.look_at_the_clock(state, context);
            if !read && !self.may_start() && self.call_for.is_empty() {
                break;
            }
        }
        woken
    }

    /// Calls for a read, of the mandate alone or with the others that are due.
    fn mark(&mut self, state: &mut State, id: MandateId, alone: bool) {
        if state.wanted(&id) == Wanted::default() {
            return;
        }
        let Some(topic) = state.topics.get_mut(&id) else { return };
        match &mut topic.stage {
            Stage::Reading { again } => *again = true,
            Stage::Queued if !alone => {}
            Stage::Queued | Stage::Idle => {
                topic.stage = Stage::Queued;
                if alone { self.alone.push_back(id) } else { self.due.push_back(id) }
            }
        }
    }

    fn may_start(&self) -> bool {
        let any = !self.alone.is_empty() || !self.due.is_empty();
        let batching = self.reading.iter().any(|reading| matches!(reading.what, What::Many(_)));
        let blocked = self.alone.is_empty() && self.in_batches() && batching;
        any && !blocked && self.reading.len() < MOST_READS && (self.rested || !self.pace.holds_back())
    }

    fn in_batches(&self) -> bool {
        self.due.len() >= BATCH_FROM && !self.lists_are_refused
    }

    fn start(&mut self, state: &mut State) {
        while self.may_start() {
            let batching = self.reading.iter().any(|reading| matches!(reading.what, What::Many(_)));
            let (what, future): (_, CallFuture<_>) = if self.in_batches() && !batching {
                let mut wanted = Vec::new();
                for id in std::mem::take(&mut self.due) {
                    wanted.extend(begin(state, &id).map(|want| (id, want)));
                }
                let ids = wanted.iter().map(|(id, _)| id.clone()).collect();
                (What::Many(ids), Box::pin(reads::batch(self.client.clone(), wanted)))
            } else {
                let Some(id) = self.alone.pop_front().or_else(|| self.due.pop_front()) else { return };
                let Some(wanted) = begin(state, &id) else { continue };
                let read = reads::single(self.client.clone(), id.clone(), wanted);
                let key = id.clone();
                (What::One(id), Box::pin(async move { Ok(HashMap::from([(key, read.await?)])) }))
            };
            // After a failure one read shows whether it is over.
            self.rested = false;
            self.started += 1;
            self.reading.push(Reading { number: self.started, what, future });
        }
    }

    /// Takes the reads that are done; whether there were any.
    fn finish(&mut self, state: &mut State, context: &mut Context<'_>, woken: &mut Vec<Key>) -> bool {
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
                if topic.stage == (Stage::Reading { again: true }) {
                    again.push(id.clone());
                }
                topic.stage = Stage::Idle;
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
            Err(error) if passes(&error) => {
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
        match topic.told {
            Some(told) if wanted != Wanted::default() => {
                if !std::mem::replace(&mut topic.later, true) {
                    self.later.insert((now + behind(told, now), id.clone()));
                }
            }
            _ => topic.told = None,
        }
    }

    /// Takes what has come, and what it calls for.
    fn listen(&mut self, state: &mut State, context: &mut Context<'_>, woken: &mut Vec<Key>) {
        for taken in 1.. {
            let Poll::Ready(event) = self.feed.poll(context) else { break };
            self.hear(state, &event, woken);
            if taken == EVENTS_AT_ONCE {
                context.waker().wake_by_ref();
                break;
            }
        }
        if self.feed.take_missed() {
            self.call_for.extend(state.topics.keys().cloned());
            if std::mem::replace(&mut self.opened, true) {
                each_queue(state, woken, Queue::missed);
            }
        }
        if self.feed.is_refused() {
            each_queue(state, woken, Queue::refused);
        }
        if self.pace.stream_is_open(self.feed.is_open(), self.timer.now()) {
            self.pause = None;
        }
    }

    fn hear(&mut self, state: &mut State, event: &Event, woken: &mut Vec<Key>) {
        let Some(topic) = state.topics.get_mut(&event.mandate) else { return };
        let mut hints = Vec::new();
        for key in &topic.members {
            match state.members.get_mut(key).map(|member| &mut member.kind) {
                Some(Kind::Events(queue)) => woken.extend(queue.push(event).then_some(*key)),
                None => {}
                Some(Kind::End) => hints.push(wait::status_event(event)),
                Some(Kind::Approval) => hints.push(approval_wait::hint(event)),
            }
        }
        if hints.contains(&Hint::Over) {
            topic.told = topic.told.or_else(|| Some(self.timer.now()));
            self.mark(state, event.mandate.clone(), true);
        } else if hints.contains(&Hint::Changed) {
            self.mark(state, event.mandate.clone(), false);
        }
    }

    /// Marks what is due by now, and sees to it that somebody is woken for what is due next.
    fn look_at_the_clock(&mut self, state: &mut State, context: &mut Context<'_>) {
        let now = self.timer.now();
        loop {
            let Some((first, _)) = self.later.first() else {
                self.alarm = None;
                break;
            };
            let first = *first;
            if self.alarm.as_ref().is_none_or(|(at, _)| *at != first) {
                self.alarm = Some((first, self.timer.sleep(first.saturating_duration_since(now))));
            }
            let over = self.alarm.as_mut().is_some_and(|(_, sleep)| sleep.as_mut().poll(context).is_ready());
            if !over {
                break;
            }
            self.alarm = None;
            if let Some((_, id)) = self.later.pop_first() {
                if let Some(topic) = state.topics.get_mut(&id) {
                    topic.later = false;
                }
                self.mark(state, id, true);
            }
        }
        if self.rested {
            return;
        }
        let pace = &self.pace;
        let pause = self.pause.get_or_insert_with(|| self.timer.sleep(pace.delay(now, fastrand::f64())));
        if pause.as_mut().poll(context).is_ready() {
            self.pause = None;
            self.rested = self.pace.holds_back();
            self.call_for.extend(state.topics.keys().cloned());
        }
    }
}

/// Takes a mandate out of the queue, if it is still there and wanted.
fn begin(state: &mut State, id: &MandateId) -> Option<Wanted> {
    let wanted = state.wanted(id);
    let topic = state.topics.get_mut(id)?;
    if topic.stage != Stage::Queued {
        return None;
    }
    if wanted == Wanted::default() {
        topic.stage = Stage::Idle;
        return None;
    }
    topic.stage = Stage::Reading { again: false };
    Some(wanted)
}

fn each_queue(state: &mut State, woken: &mut Vec<Key>, change: fn(&mut Queue)) {
    for (key, member) in &mut state.members {
        if let Kind::Events(queue) = &mut member.kind {
            change(queue);
            woken.push(*key);
        }
    }
}
