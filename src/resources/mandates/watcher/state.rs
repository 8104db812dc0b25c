//! Who waits for what, and what is known of each mandate.

use std::collections::HashMap;
use std::time::Instant;

use super::agenda::{Agenda, Place, Urgency};
use super::queue::Queue;
use super::reads::Wanted;
use crate::error::Error;
use crate::model::approvals::Approval;
use crate::model::mandates::Mandate;
use crate::model::types::MandateId;

/// Names a member. Those of waits are above those of event streams.
pub(super) type Key = u64;

#[derive(Default)]
pub(super) struct State {
    pub(super) topics: HashMap<MandateId, Topic>,
    pub(super) members: HashMap<Key, Member>,
    pub(super) agenda: Agenda,
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
}

pub(super) struct Member {
    pub(super) topic: MandateId,
    pub(super) kind: Kind,
    pub(super) outcome: Option<Outcome>,
    /// Its time is over, and the first read with a higher number is the last.
    pub(super) last_read_after: Option<u64>,
    pub(super) may_run_out: bool,
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

impl Topic {
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
    pub(super) fn wanted(&self, id: &MandateId) -> Wanted {
        self.topics.get(id).map_or(Wanted::default(), |topic| topic.wanted(&self.members))
    }

    pub(super) fn keeps_last(&self, id: &MandateId) -> bool {
        self.topics.get(id).is_some_and(|topic| topic.members(&self.members).any(|member| member.may_run_out))
    }

    /// Calls for a read of a mandate, if it is wanted.
    pub(super) fn call_for(&mut self, id: &MandateId, urgency: Urgency) {
        let Some(topic) = self.topics.get_mut(id) else { return };
        if topic.wanted(&self.members).is_none() {
            return;
        }
        let runs_out = topic.members(&self.members).any(|member| member.last_read_after.is_some());
        let urgency = if runs_out { urgency.last() } else { urgency };
        match &mut topic.stage {
            // One that was under way before doesn't count, and may hang.
            Stage::Reading { last, again, .. } if *last || !urgency.is_last() => {
                *again = Some(again.map_or(urgency, |before| before.min(urgency)));
            }
            Stage::Queued((before, _)) if *before <= urgency => {}
            stage => {
                if let Stage::Queued(place) = stage {
                    self.agenda.remove(*place);
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

    /// Puts the next read of a mandate off, or calls it off.
    pub(super) fn put_off(&mut self, id: &MandateId, to: Option<Instant>) {
        if let Some(topic) = self.topics.get_mut(id) {
            self.agenda.put_off(id, topic.later, to);
            topic.later = to;
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
            self.put_off(id, None);
            if let Some(Topic { stage: Stage::Queued(place), .. }) = self.topics.remove(id) {
                self.agenda.remove(place);
            }
        }
    }

    /// All reads were given up.
    pub(super) fn begin_anew(&mut self) {
        self.agenda = Agenda::default();
        for topic in self.topics.values_mut() {
            (topic.stage, topic.later) = (Stage::Idle, None);
        }
        self.call_for_all();
    }

    pub(super) fn call_for_all(&mut self) {
        let ids: Vec<MandateId> = self.topics.keys().cloned().collect();
        for id in ids {
            self.call_for(&id, Urgency::Due);
        }
    }
}
