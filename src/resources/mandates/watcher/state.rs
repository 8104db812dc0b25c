//! Who waits for what, and what is known of each mandate.

use std::collections::HashMap;
use std::num::NonZeroU64;
use std::time::{Duration, Instant};

use super::agenda::{Agenda, Place, Urgency};
use super::queue::Queue;
use super::reads::Wanted;
use crate::error::Error;
use crate::model::approvals::Approval;
use crate::model::mandates::Mandate;
use crate::model::types::MandateId;
use crate::resources::mandates::watch::pace::{Missed, behind};

/// What nothing but time calls for is read at times that lie so far apart, so that lists serve many at once.
const STEP: Duration = Duration::from_millis(250);
/// And each mandate of such a list puts off the next one by so much: 20 pages of 100 a second.
const FOR_EACH: Duration = Duration::from_micros(500);

/// Names a member. Those of waits are above those of event streams.
pub(super) type Key = u64;

#[derive(Default)]
pub(super) struct State {
    pub(super) topics: HashMap<MandateId, Topic>,
    pub(super) members: HashMap<Key, Member>,
    pub(super) agenda: Agenda,
    /// When the first of those steps was.
    steps: Option<Instant>,
}

/// What is known of one mandate, for all who watch it.
#[derive(Default)]
pub(super) struct Topic {
    /// Those who still wait.
    pub(super) members: Vec<Key>,
    pub(super) stage: Stage,
    doubt: Option<Box<Doubt>>,
    /// Its reads have failed since then.
    failing: Option<Instant>,
    /// As it was last read, in JSON, which is smaller; kept only for waits that may run out.
    last: Option<Box<[u8]>>,
}

/// What reads that lag may not tell yet.
#[derive(Default)]
struct Doubt {
    /// An event said then, and none since, what no read has said yet to those who wait for it.
    told: Option<(Instant, Wanted)>,
    missed: Option<Missed>,
    /// When it is to be read again for that.
    later: Option<Instant>,
}

/// Where the next read of a mandate is.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum Stage {
    #[default]
    Idle,
    Queued(Place),
    /// Under way, as the read with that number.
    Reading {
        number: u64,
        /// It is made because somebody's time is over.
        last: bool,
        /// What has called for another since it began.
        again: Option<Urgency>,
    },
    /// The last one failed, and the next is made then.
    Resting {
        until: Instant,
    },
}

pub(super) struct Member {
    pub(super) topic: MandateId,
    pub(super) kind: Kind,
    pub(super) outcome: Option<Outcome>,
    /// How many reads had begun when it came. What these say may be older than what it knows: an approval that it has
    /// decided itself.
    pub(super) since: u64,
    /// Its time is over, and the first read with this number or a higher one is the last.
    pub(super) last_read: Option<NonZeroU64>,
    pub(super) may_run_out: bool,
}

pub(super) enum Kind {
    End,
    Approval,
    Events(Box<Queue>),
}

/// How a wait ends.
pub(super) enum Outcome {
    Ended(Box<Mandate>),
    Asked(Box<Approval>),
    Failed(Error),
    OutOfTime(Option<Box<Mandate>>),
}

impl Member {
    /// Whether this read is its last.
    pub(super) fn runs_out_with(&self, number: u64) -> bool {
        self.last_read.is_some_and(|last| number >= last.get())
    }
}

impl Topic {
    /// An event said it to those who want that.
    pub(super) fn tell(&mut self, at: Instant, to: Wanted) {
        let told = &mut self.doubt.get_or_insert_default().told;
        let before = told.map_or(Wanted::default(), |(_, to)| to);
        *told = Some((at, before.or(to)));
    }

    /// Something may have happened before that no event tells of.
    pub(super) fn miss(&mut self, missed: Missed) {
        self.doubt.get_or_insert_default().missed = Some(missed);
    }

    /// As it was last read.
    pub(super) fn last(&self) -> Option<Box<Mandate>> {
        self.last.as_ref().and_then(|last| serde_json::from_slice(last).ok())
    }

    fn members<'a>(&self, members: &'a HashMap<Key, Member>) -> impl Iterator<Item = &'a Member> {
        self.members.iter().filter_map(|key| members.get(key))
    }

    fn wanted(&self, members: &HashMap<Key, Member>) -> Wanted {
        self.members(members).fold(Wanted::default(), |wanted, member| match member.kind {
            Kind::End => Wanted { end: true, ..wanted },
            Kind::Approval => Wanted { approval: true, ..wanted },
            Kind::Events(_) => wanted,
        })
    }
}

impl State {
    /// Remembers a mandate as it was read, if that may be asked for.
    pub(super) fn keep(&mut self, id: &MandateId, mandate: &Mandate) {
        if let Some(topic) = self.topics.get_mut(id) {
            if topic.members(&self.members).any(|member| member.may_run_out) {
                topic.last = serde_json::to_vec(mandate).ok().map(Vec::into_boxed_slice);
            }
        }
    }

    /// Calls for a read of a mandate, if it is wanted.
    pub(super) fn call_for(&mut self, id: &MandateId, urgency: Urgency) {
        let Some(topic) = self.topics.get_mut(id) else { return };
        if topic.wanted(&self.members).is_none() {
            return;
        }
        let runs_out = topic.members(&self.members).any(|member| member.last_read.is_some());
        let urgency = match (runs_out, topic.failing) {
            (true, _) => urgency.last(),
            // Lists tell nothing of one that is to be read alone: it would never be.
            (false, Some(_)) if urgency != Urgency::Alone => Urgency::Failing,
            (false, _) => urgency,
        };
        match &mut topic.stage {
            // One that was under way before doesn't count, and may hang.
            Stage::Reading { last, again, .. } if *last || !urgency.is_last() => {
                *again = Some(again.map_or(urgency, |before| before.min(urgency)));
            }
            Stage::Queued((before, _)) if *before <= urgency => {}
            Stage::Resting { .. } if !urgency.is_last() => {}
            stage => {
                match stage {
                    Stage::Queued(place) => self.agenda.remove(*place),
                    Stage::Resting { until } => self.agenda.put_off(id, Some(*until), None),
                    Stage::Idle | Stage::Reading { .. } => {}
                }
                *stage = Stage::Queued(self.agenda.add(id.clone(), urgency));
            }
        }
    }

    /// Begins the read of a mandate that was taken from the agenda; what is wanted of it, if anything still is.
    pub(super) fn begin(&mut self, id: &MandateId, number: u64) -> Option<Wanted> {
        let topic = self.topics.get_mut(id)?;
        let wanted = Some(topic.wanted(&self.members)).filter(|wanted| !wanted.is_none());
        let last = matches!(topic.stage, Stage::Queued((urgency, _)) if urgency.is_last());
        topic.stage = match wanted {
            Some(_) => Stage::Reading { number, last, again: None },
            None => Stage::Idle,
        };
        wanted
    }

    /// A mandate was read, as one of so many: what an event said is forgotten once it has come true or to nothing, and
    /// what was missed after a while. Until then there is another read soon.
    pub(super) fn check_doubt(&mut self, id: &MandateId, now: Instant, count: usize) {
        let Some(topic) = self.topics.get_mut(id) else { return };
        let wanted = topic.wanted(&self.members);
        let Some(doubt) = &mut topic.doubt else { return };
        let told = doubt.told.map(|(at, to)| (at, to.and(wanted))).filter(|(_, to)| !to.is_none());
        let again = told.and_then(|(at, _)| behind(at, now)).map(|delay| now + delay);
        doubt.told = told.filter(|_| again.is_some());
        let least = FOR_EACH.saturating_mul(u32::try_from(count).unwrap_or(u32::MAX));
        let missed = doubt.missed.filter(|_| !wanted.is_none()).and_then(|missed| missed.delay(now, least));
        let missed = missed.map(|delay| in_step(*self.steps.get_or_insert(now), now, delay));
        let later = again.into_iter().chain(missed).min();
        self.agenda.put_off(id, std::mem::replace(&mut doubt.later, later), later);
        if later.is_none() {
            topic.doubt = None;
        }
    }

    /// Calls for the one that was put off the least.
    pub(super) fn call_for_first_later(&mut self) {
        let Some(id) = self.agenda.take_later() else { return };
        let Some(topic) = self.topics.get_mut(&id) else { return };
        let told = topic.doubt.as_mut().is_some_and(|doubt| {
            doubt.later = None;
            doubt.told.is_some()
        });
        if let Stage::Resting { .. } = topic.stage {
            topic.stage = Stage::Idle;
        }
        self.call_for(&id, if told { Urgency::Again } else { Urgency::Due });
    }

    /// Whether the last read of a mandate failed.
    pub(super) fn is_failing(&self, id: &MandateId) -> bool {
        self.topics.get(id).is_some_and(|topic| topic.failing.is_some())
    }

    /// A read of a mandate failed: it is read again after a delay, which depends on when that began, so that others have
    /// their turn.
    pub(super) fn rest(&mut self, id: &MandateId, now: Instant, delay: impl Fn(Instant) -> Duration) {
        let Some(topic) = self.topics.get_mut(id) else { return };
        let until = now + delay(*topic.failing.get_or_insert(now));
        if topic.stage == Stage::Idle {
            topic.stage = Stage::Resting { until };
            let before = topic.doubt.as_mut().and_then(|doubt| doubt.later.take());
            self.agenda.put_off(id, before, Some(until));
        }
    }

    /// A mandate could be read.
    pub(super) fn recovered(&mut self, id: &MandateId) {
        if let Some(topic) = self.topics.get_mut(id) {
            topic.failing = None;
        }
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
        self.tidy(id);
    }

    /// Ends the waits whose last read was this one, and came to nothing.
    pub(super) fn give_up(&mut self, id: &MandateId, number: u64, woken: &mut Vec<Key>) {
        let Some(topic) = self.topics.get(id) else { return };
        if topic.members(&self.members).any(|member| member.runs_out_with(number)) {
            let last = topic.last();
            let out_of_time = || Outcome::OutOfTime(last.clone());
            self.settle(id, |member| member.runs_out_with(number).then(out_of_time), woken);
        }
    }

    /// Takes a member out. What it leaves may be the user's: it is to be dropped outside the lock.
    pub(super) fn leave(&mut self, key: Key) -> Option<Member> {
        let member = self.members.remove(&key)?;
        if let Some(topic) = self.topics.get_mut(&member.topic) {
            topic.members.retain(|other| *other != key);
        }
        self.tidy(&member.topic);
        Some(member)
    }

    /// Forgets a mandate that nobody watches any more.
    fn tidy(&mut self, id: &MandateId) {
        if self.topics.get(id).is_some_and(|topic| topic.members.is_empty()) {
            let Some(topic) = self.topics.remove(id) else { return };
            self.agenda.put_off(id, topic.doubt.and_then(|doubt| doubt.later), None);
            match topic.stage {
                Stage::Queued(place) => self.agenda.remove(place),
                Stage::Resting { until } => self.agenda.put_off(id, Some(until), None),
                Stage::Idle | Stage::Reading { .. } => {}
            }
        }
    }

    /// All reads were given up.
    pub(super) fn begin_anew(&mut self) {
        self.agenda = Agenda::default();
        for topic in self.topics.values_mut() {
            topic.stage = Stage::Idle;
            if let Some(doubt) = &mut topic.doubt {
                doubt.later = None;
            }
        }
        self.call_for_all();
    }

    pub(super) fn call_for_all(&mut self) {
        let ids: Vec<MandateId> = self.topics.keys().cloned().collect();
        for id in ids {
            self.call_for(&id, Urgency::Due);
        }
    }

    /// Something may have happened to any mandate.
    pub(super) fn miss_all(&mut self, missed: Missed) {
        for topic in self.topics.values_mut() {
            if !topic.wanted(&self.members).is_none() {
                topic.miss(missed);
            }
        }
    }
}

/// The last step before the delay is over, or else the next one.
fn in_step(first: Instant, now: Instant, delay: Duration) -> Instant {
    let passed = (now + delay).saturating_duration_since(first);
    // A second is a whole number of steps.
    let at = now + delay - Duration::from_nanos((passed.subsec_nanos() % STEP.subsec_nanos()).into());
    if at > now { at } else { at + STEP }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn join(state: &mut State, key: Key, topic: &str, kind: Kind) {
        let topic = MandateId::from(topic);
        state.topics.entry(topic.clone()).or_default().members.push(key);
        let member = Member { topic, kind, outcome: None, since: 0, last_read: None, may_run_out: false };
        state.members.insert(key, member);
    }

    fn lines(state: &State) -> [usize; 6] {
        Urgency::ALL.map(|urgency| state.agenda.count(urgency, usize::MAX))
    }

    #[test]
    fn a_mandate_stands_in_the_line_once_where_it_is_most_urgent() {
        let (mut state, id) = (State::default(), MandateId::from("m"));
        join(&mut state, 1, "m", Kind::End);
        for (urgency, line) in [
            (Urgency::Due, [0, 0, 0, 0, 1, 0]),
            (Urgency::Due, [0, 0, 0, 0, 1, 0]),
            (Urgency::Alone, [0, 0, 1, 0, 0, 0]),
            (Urgency::Alone, [0, 0, 1, 0, 0, 0]),
            (Urgency::Due, [0, 0, 1, 0, 0, 0]),
        ] {
            state.call_for(&id, urgency);
            assert_eq!(lines(&state), line);
        }
        state.members.get_mut(&1).unwrap().last_read = NonZeroU64::new(1);
        state.call_for(&id, Urgency::Due);
        assert_eq!(lines(&state), [0, 1, 0, 0, 0, 0]);
        state.call_for(&id, Urgency::Alone);
        assert_eq!(lines(&state), [1, 0, 0, 0, 0, 0]);
    }

    #[test]
    fn what_is_called_for_during_a_read_is_kept_and_a_last_read_does_not_wait_for_it() {
        let (mut state, id) = (State::default(), MandateId::from("m"));
        join(&mut state, 1, "m", Kind::End);
        state.call_for(&id, Urgency::Due);
        assert_eq!(state.agenda.take(Urgency::Due, 5), std::slice::from_ref(&id));
        assert!(state.begin(&id, 7).is_some());
        state.call_for(&id, Urgency::Alone);
        state.call_for(&id, Urgency::Due);
        let again = Some(Urgency::Alone);
        assert_eq!(state.topics[&id].stage, Stage::Reading { number: 7, last: false, again });
        state.members.get_mut(&1).unwrap().last_read = NonZeroU64::new(8);
        state.call_for(&id, Urgency::Due);
        assert_eq!(lines(&state), [0, 1, 0, 0, 0, 0]);
        state.agenda.take(Urgency::LastDue, 1);
        assert!(state.begin(&id, 8).is_some());
        state.call_for(&id, Urgency::Due);
        assert_eq!(lines(&state), [0; 6], "one last read at a time");
    }

    #[test]
    fn a_mandate_whose_reads_fail_rests_and_only_a_last_read_does_not_wait_for_that() {
        let (mut state, id) = (State::default(), MandateId::from("m"));
        #[expect(clippy::disallowed_methods, reason = "any moment does")]
        let now = Instant::now();
        let second = Duration::from_secs(1);
        join(&mut state, 1, "m", Kind::End);
        for round in 0..2 {
            state.topics.get_mut(&id).unwrap().tell(now, Wanted { end: true, approval: false });
            state.check_doubt(&id, now, 1);
            state.rest(&id, now + round * second, |since| second + (now + round * second - since));
            assert!(state.is_failing(&id));
            assert_eq!(state.agenda.first_later(), Some(now + (1 + 2 * round) * second), "from the first on");
            state.call_for(&id, Urgency::Due);
            assert_eq!(lines(&state), [0; 6]);
            state.call_for_first_later();
            assert_eq!((lines(&state), state.agenda.first_later()), ([0, 0, 0, 0, 0, 1], None));
            state.agenda.take(Urgency::Failing, 1);
            state.topics.get_mut(&id).unwrap().stage = Stage::Idle;
        }
        state.rest(&id, now, |_| second);
        state.members.get_mut(&1).unwrap().last_read = NonZeroU64::new(1);
        state.call_for(&id, Urgency::Due);
        assert_eq!((lines(&state), state.agenda.first_later()), ([0, 1, 0, 0, 0, 0], None));
        state.recovered(&id);
        assert!(!state.is_failing(&id));
    }

    #[test]
    fn a_mandate_whose_read_failed_is_read_alone_once_a_list_tells_nothing_of_it() {
        let (mut state, id) = (State::default(), MandateId::from("m"));
        #[expect(clippy::disallowed_methods, reason = "any moment does")]
        let now = Instant::now();
        join(&mut state, 1, "m", Kind::End);
        state.rest(&id, now, |_| Duration::from_secs(1));
        state.call_for_first_later();
        assert_eq!(lines(&state), [0, 0, 0, 0, 0, 1]);
        state.call_for(&id, Urgency::Alone);
        assert_eq!(lines(&state), [0, 0, 1, 0, 0, 0]);
    }

    #[test]
    fn nothing_is_left_of_a_mandate_that_nobody_watches() {
        let (mut state, id) = (State::default(), MandateId::from("m"));
        #[expect(clippy::disallowed_methods, reason = "any moment does")]
        let at = Instant::now();
        for key in 0..1_000 {
            join(&mut state, key, "m", Kind::End);
            state.call_for(&id, Urgency::Alone);
            state.topics.get_mut(&id).unwrap().tell(at, Wanted { end: true, approval: false });
            state.check_doubt(&id, at, 1);
            if key % 2 == 0 {
                state.topics.get_mut(&id).unwrap().stage = Stage::Idle;
                state.agenda = Agenda::default();
                state.rest(&id, at, |_| Duration::from_secs(1));
            }
            assert!(state.agenda.first_later().is_some());
            assert!(state.leave(key).is_some() && state.leave(key).is_none());
        }
        assert_eq!(lines(&state), [0; 6]);
        assert!(state.agenda.first_later().is_none() && state.topics.is_empty() && state.members.is_empty());
        join(&mut state, 1, "m", Kind::Events(Box::default()));
        state.call_for(&id, Urgency::Alone);
        assert_eq!(lines(&state), [0; 6], "a reader of events needs no read");
    }
}
