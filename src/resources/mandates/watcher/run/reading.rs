//! Which reads are made, how many at a time, and what they come to.

use std::collections::HashMap;
use std::task::{Context, Poll};
use std::time::Duration;

use super::Run;
use crate::call::CallFuture;
use crate::error::{Error, ErrorKind, Result};
use crate::model::types::MandateId;
use crate::resources::mandates::watch::pace::failing;
use crate::resources::mandates::watcher::agenda::{Agenda, Urgency};
use crate::resources::mandates::watcher::reads::{self, Found};
use crate::resources::mandates::watcher::state::{Key, Kind, Member, Outcome, Stage, State};

/// How many reads are under way at a time, unless many are due.
const FEW_READS: usize = 8;
/// And how many then: fewer than the streams that HTTP/2 servers commonly allow on a connection (100).
const MOST_READS: usize = 64;
/// From so many mandates on that each need a read of their own, more are made at a time.
const RUSH_FROM: usize = 200;
/// From so many mandates on that are due, lists are read instead of each.
const BATCH_FROM: usize = 32;
/// Of so many reads one is of what no event told of, although others are more urgent.
const DUES_TURN: u64 = 4;
/// And of so many one is of a mandate whose last read failed, unless one of those is under way: they may hang, and others
/// are to have the other places.
const FAILINGS_TURN: u64 = 16;
/// How long lists that are refused are not asked for again.
const LISTS_REFUSED: Duration = Duration::from_secs(60);

pub(super) struct Reading {
    number: u64,
    urgency: Urgency,
    what: What,
    future: CallFuture<HashMap<MandateId, Found>>,
}

enum What {
    One(MandateId),
    Many(Vec<MandateId>),
}

impl Run {
    /// Which mandates are read next, and how many at most; `None` while no read may begin.
    pub(super) fn next(&self, agenda: &Agenda) -> Option<(Urgency, usize)> {
        let batching = self.reading.iter().any(|reading| matches!(reading.what, What::Many(_)));
        let held_back = self.pace.holds_back() && !self.rested;
        let lists = self.no_lists_until.is_none_or(|until| self.timer.now() >= until);
        if self.reading.len() >= self.most_reads() {
            return None;
        }
        let many = |urgency| agenda.count(urgency, BATCH_FROM) == BATCH_FROM && lists;
        // Now and then it is their turn, however many others there are.
        let is_turn = |urgency| !(batching && many(urgency));
        let one_failed = self.reading.iter().any(|reading| reading.urgency == Urgency::Failing);
        let order = match self.started {
            count if count % FAILINGS_TURN == 1 && !one_failed && is_turn(Urgency::Failing) => {
                Urgency::FAILING_FIRST
            }
            count if count % DUES_TURN == 0 && is_turn(Urgency::Due) => Urgency::DUE_FIRST,
            _ => Urgency::ALL,
        };
        for urgency in order {
            if held_back && !urgency.is_last() {
                return None;
            }
            let count = agenda.count(urgency, BATCH_FROM);
            let in_batches = count == BATCH_FROM && !urgency.is_alone() && lists;
            match in_batches {
                true if !batching => return Some((urgency, usize::MAX)),
                // The list that is read now may tell of others too, and leave few.
                true if matches!(urgency, Urgency::Due | Urgency::Failing) => return None,
                _ if count > 0 => return Some((urgency, 1)),
                _ => {}
            }
        }
        None
    }

    /// One more for every 8 that were answered: a service that can't bear that says so before there are many.
    fn most_reads(&self) -> usize {
        (FEW_READS + self.rush / FEW_READS).min(MOST_READS)
    }

    /// A read was answered. What has begun as a rush is one until nothing is left to be read alone.
    fn hurry(&mut self, agenda: &Agenda) {
        let begins = if self.rush == 0 { RUSH_FROM } else { 1 };
        self.rush = if agenda.count_alone(begins) == begins { self.rush + 1 } else { 0 };
    }

    pub(super) fn start(&mut self, state: &mut State) {
        while let Some((urgency, most)) = self.next(&state.agenda) {
            let number = self.started + 1;
            let ids = state.agenda.take(urgency, most);
            let mut wanted = Vec::with_capacity(ids.len());
            for id in ids {
                wanted.extend(state.begin(&id, number).map(|want| (id, want)));
            }
            let (what, future): (_, CallFuture<_>) = match wanted.pop() {
                None => continue,
                Some((id, want)) if wanted.is_empty() => {
                    let read = reads::single(self.client.clone(), id.clone(), want);
                    let key = id.clone();
                    (What::One(id), Box::pin(async move { Ok(HashMap::from([(key, read.await?)])) }))
                }
                Some(last) => {
                    wanted.push(last);
                    let ids = wanted.iter().map(|(id, _)| id.clone()).collect();
                    (What::Many(ids), Box::pin(reads::batch(self.client.clone(), wanted)))
                }
            };
            // After a failure one read shows whether it is over.
            self.rested = false;
            self.started = number;
            self.reading.push(Reading { number, urgency, what, future });
        }
    }

    /// Takes the reads that are done; how many there were.
    pub(super) fn finish(
        &mut self,
        state: &mut State,
        context: &mut Context<'_>,
        woken: &mut Vec<Key>,
    ) -> usize {
        let mut done = Vec::new();
        let mut at = 0;
        while at < self.reading.len() {
            match self.reading[at].future.as_mut().poll(context) {
                Poll::Ready(found) => done.push((self.reading.swap_remove(at), found)),
                Poll::Pending => at += 1,
            }
        }
        let count = done.len();
        for (reading, found) in done {
            self.apply(state, reading, found, woken);
        }
        count
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
        let urgency = if many { Urgency::Due } else { Urgency::Alone };
        let mut again = Vec::new();
        for id in &ids {
            if let Some(topic) = state.topics.get_mut(id) {
                match topic.stage {
                    Stage::Reading { number, again: called, .. } if number == reading.number => {
                        again.extend(called.map(|urgency| (id.clone(), urgency)));
                        topic.stage = Stage::Idle;
                    }
                    // It is no longer this read that is waited for.
                    _ => {}
                }
            }
        }
        match found {
            Ok(mut found) => {
                if self.pace.holds_back() {
                    // What was waited for is over.
                    self.pause = None;
                }
                self.pace.answered();
                self.hurry(&state.agenda);
                self.doubt = false;
                let count = ids.len();
                for id in ids {
                    match found.remove(&id) {
                        Some(found) => {
                            Self::learn(state, &id, found, reading.number, woken);
                            state.check_doubt(&id, self.timer.now(), count);
                        }
                        // Of those under way it is none, as far as the lists were read.
                        None => again.push((id, Urgency::Alone)),
                    }
                }
            }
            Err(error) if !many && may_be_of_one(&error) => {
                let now = self.timer.now();
                self.rush = 0;
                if ids.iter().any(|id| self.is_of_all(state, id)) {
                    self.hold_back(None);
                }
                for id in ids {
                    state.give_up(&id, reading.number, woken);
                    state.rest(&id, now, |since| failing(since, now, fastrand::f64()));
                }
            }
            Err(error) if error.passes() => {
                self.rush = 0;
                self.hold_back(error.retry_after());
                for id in ids {
                    // A last read that comes to nothing is the last all the same.
                    state.give_up(&id, reading.number, woken);
                    let urgency = if state.is_failing(&id) { Urgency::Failing } else { urgency };
                    again.push((id, urgency));
                }
            }
            Err(_) if many => {
                self.no_lists_until = Some(self.timer.now() + LISTS_REFUSED);
                again.extend(ids.into_iter().map(|id| (id, urgency)));
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
                    again.push((id, urgency));
                }
            }
        }
        for (id, urgency) in again {
            state.call_for(&id, urgency);
        }
    }

    /// The service is in trouble: no read begins for a while, or for as long as it says.
    fn hold_back(&mut self, wish: Option<Duration>) {
        self.pace.failed(self.timer.now(), wish);
        (self.pause, self.rested) = (None, false);
    }

    /// Whether a read that failed tells of trouble of the whole service: not the first of them, nor those of a mandate
    /// that is known to fail.
    fn is_of_all(&mut self, state: &State, id: &MandateId) -> bool {
        !state.is_failing(id) && (self.pace.holds_back() || std::mem::replace(&mut self.doubt, true))
    }

    /// What a read says of a mandate.
    fn learn(state: &mut State, id: &MandateId, found: Found, number: u64, woken: &mut Vec<Key>) {
        let ended = found.mandate.as_ref().is_some_and(|mandate| mandate.status.is_terminal());
        let outcome = |member: &Member| {
            let asked = match member.kind {
                Kind::Events(_) => return None,
                Kind::End => None,
                Kind::Approval if number <= member.since => None,
                Kind::Approval => found.approval.clone().map(Outcome::Asked),
            };
            let end = || found.mandate.clone().filter(|_| ended).map(Outcome::Ended);
            let last = || member.runs_out_with(number).then(|| Outcome::OutOfTime(found.mandate.clone()));
            asked.or_else(end).or_else(last)
        };
        state.settle(id, outcome, woken);
        state.recovered(id);
        if let Some(mandate) = &found.mandate {
            state.keep(id, mandate);
        }
    }
}

/// Whether others may be read although one can't.
fn may_be_of_one(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Server | ErrorKind::Timeout) && error.retry_after().is_none()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::client::Client;
    use crate::resources::mandates::watcher::wakers::Wakers;

    #[tokio::test]
    async fn a_mandate_whose_read_failed_has_its_turn_however_many_others_there_are() {
        let client = Client::builder().api_key("sk_test_1").build().unwrap();
        for others in [Urgency::Alone, Urgency::Again, Urgency::Due] {
            let (mut run, mut agenda) = (Run::new(&client, &Arc::<Wakers>::default()), Agenda::default());
            agenda.add("failing".into(), Urgency::Failing);
            (0..BATCH_FROM - 1).for_each(|number| {
                agenda.add(format!("m{number}").into(), others);
            });
            let failing =
                |run: &Run| run.next(&agenda).is_some_and(|(urgency, _)| urgency == Urgency::Failing);
            let turns = |run: &mut Run| {
                let turns = (0..2 * FAILINGS_TURN).filter(|started| {
                    run.started = *started;
                    failing(run)
                });
                turns.count()
            };
            assert_eq!(turns(&mut run), 2, "beside {others:?}");
            // One that hangs leaves the other places to others.
            let (what, future) = (What::One("failing".into()), Box::pin(std::future::pending()));
            run.reading.push(Reading { number: 1, urgency: Urgency::Failing, what, future });
            assert_eq!(turns(&mut run), 0, "beside {others:?}");
        }
    }

    #[test]
    fn an_approval_is_not_given_to_a_wait_that_began_after_the_read_that_shows_it() {
        let id = MandateId::from("m");
        for (since, given) in [(2, true), (3, false), (4, false)] {
            let mut state = State::default();
            let member = Member {
                topic: id.clone(),
                kind: Kind::Approval,
                outcome: None,
                since,
                last_read: None,
                may_run_out: false,
            };
            state.topics.entry(id.clone()).or_default().members.push(1);
            state.members.insert(1, member);
            let approval = serde_json::from_str(
                r#"{"id":"apr_1","mandate":"m","status":"pending","question":"May it?","action":{"capability":"a.b"}}"#,
            );
            let found = Found { mandate: None, approval: Some(approval.unwrap()) };
            Run::learn(&mut state, &id, found, 3, &mut Vec::new());
            let outcome = &state.members[&1].outcome;
            assert_eq!(matches!(outcome, Some(Outcome::Asked(_))), given, "since {since}");
        }
    }
}
