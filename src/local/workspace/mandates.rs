//! Mandates: how they begin, what commands do to them, and how the agent's script moves them on.

use super::Workspace;
use super::agents::not_empty;
use super::authority;
use super::store::{Serial, Window};
use crate::local::agent::{self, Script, Step};
use crate::local::answer::{Refusal, Result};
use crate::local::clock::Moment;
use crate::model::agents::AgentStatus;
use crate::model::errors::ErrorCode;
use crate::model::mandates::{Mandate, MandateCreateParams, MandateState, MandateStatus};
use crate::model::page::Page;
use crate::model::types::{AgentId, Extra, MandateId};

/// A mandate, and what is still to come of it.
#[derive(Debug)]
pub(crate) struct MandateRecord {
    mandate: Mandate,
    script: Script,
    /// When the present step is over. None for one that is paused or has ended.
    next_step: Option<Moment>,
    expires: Option<Moment>,
    pending: Option<Pending>,
}

/// A command that takes effect at the next safe point, with the reason given.
#[derive(Debug)]
enum Pending {
    Pause(Option<String>),
    Cancel(Option<String>),
}

/// Which mandates a list is of.
#[derive(Debug)]
pub(crate) struct Filter {
    /// In any of these; empty means any at all.
    pub(crate) statuses: Vec<MandateStatus>,
    pub(crate) agent: Option<AgentId>,
}

impl Workspace {
    pub(crate) fn create_mandate(&mut self, params: MandateCreateParams, now: Moment) -> Result<Mandate> {
        not_empty("objective", &params.objective)?;
        let Some(agent) = self.agents.find(params.agent.as_str()).map(|record| &record.saved) else {
            return Err(Refusal::invalid(format!("there is no agent {:?}", params.agent)).param("agent"));
        };
        if agent.status == AgentStatus::Disabled {
            let refusal = Refusal::invalid("the agent is disabled").code(ErrorCode::AgentDisabled);
            return Err(refusal.param("agent"));
        }
        let authority = params.authority.unwrap_or_default();
        let granted = authority::check(&authority, agent)?;
        // What the mandate keeps of the agent, whatever becomes of that later (documented).
        let agent_revision = agent.revision;
        let script = agent::script(&params.objective, &granted, authority.success_criteria.len());

        let id = self.new_id("mnd_");
        let created_at = Some(self.epoch.timestamp(now));
        let expires_at = params.expires_at.value().copied();
        let mandate = Mandate {
            id: MandateId::from(id.as_str()),
            agent: params.agent,
            current_state: summary(format!("Queued: {}", agent::shortened(&params.objective))),
            objective: params.objective,
            status: MandateStatus::Queued,
            agent_revision,
            guidance: params.guidance,
            deadline: params.deadline.value().copied(),
            expires_at,
            authority,
            authority_version: 1,
            metadata: params.metadata,
            created_at,
            updated_at: created_at,
            extra: Extra::new(),
        };
        let record = MandateRecord {
            mandate: mandate.clone(),
            script,
            next_step: Some(now.after(agent::QUEUED)),
            // One in the past ends the mandate as soon as it exists (assumed: no refusal is documented).
            expires: expires_at.map(|at| self.epoch.moment(at).max(now)),
            pending: None,
        };
        let serial = self.mandates.insert(&id, record);
        self.reschedule(serial);
        Ok(mandate)
    }

    pub(crate) fn mandate(&self, id: &str) -> Result<Mandate> {
        self.mandates.find(id).map(|record| record.mandate.clone()).ok_or_else(|| unknown(id))
    }

    pub(crate) fn list_mandates(&self, window: &Window, filter: &Filter) -> Result<Page<Mandate>> {
        let keep = |record: &MandateRecord| {
            let mandate = &record.mandate;
            (filter.statuses.is_empty() || filter.statuses.contains(&mandate.status))
                && filter.agent.as_ref().is_none_or(|agent| *agent == mandate.agent)
        };
        self.mandates.page(window, keep, |record| record.mandate.clone())
    }

    /// Stops new work at the next safe point: the status changes then, not now (documented).
    pub(crate) fn pause(&mut self, id: &str, reason: Option<String>) -> Result<Mandate> {
        let (serial, record) = self.active(id)?;
        match (&record.mandate.status, &record.pending) {
            (_, Some(Pending::Cancel(_))) => return Err(record.does_not_apply("paused")),
            (
                MandateStatus::Queued
                | MandateStatus::Running
                | MandateStatus::WaitingExternal
                | MandateStatus::NeedsApproval,
                _,
            ) => record.pending = Some(Pending::Pause(reason)),
            _ => return Err(record.does_not_apply("paused")),
        }
        self.seen(serial, id)
    }

    /// Goes on with a paused mandate, or withdraws a pause that is pending (assumed).
    pub(crate) fn resume(&mut self, id: &str, now: Moment) -> Result<Mandate> {
        let (serial, record) = self.active(id)?;
        match (&record.mandate.status, &record.pending) {
            (_, Some(Pending::Pause(_))) => record.pending = None,
            (MandateStatus::Paused, None) => self.step(serial, now),
            _ => return Err(record.does_not_apply("resumed")),
        }
        self.seen(serial, id)
    }

    /// Stops further work, from any status that is not final (documented): a step that is under way first
    /// comes to its end, where none is there is nothing to wait for (assumed).
    pub(crate) fn cancel(&mut self, id: &str, reason: Option<String>, now: Moment) -> Result<Mandate> {
        let (serial, record) = self.active(id)?;
        record.pending = Some(Pending::Cancel(reason));
        if record.mandate.status != MandateStatus::Running {
            self.step(serial, now);
        }
        self.seen(serial, id)
    }

    /// What the agenda has for a mandate: its end by `expires_at`, or the end of its present step.
    pub(super) fn wake_mandate(&mut self, serial: Serial, at: Moment) {
        match self.mandates.get(serial) {
            Some(record) if record.expires.is_some_and(|expires| expires <= at) => {
                let state = summary("Expired: the time for this was over before it was done.".to_owned());
                self.transition(serial, MandateStatus::Expired, state, at);
            }
            Some(_) => self.step(serial, at),
            None => self.agenda.set(serial, None),
        }
    }

    /// A safe point: does what is pending, and otherwise what the script has next.
    fn step(&mut self, serial: Serial, at: Moment) {
        let Some(record) = self.mandates.get_mut(serial) else { return };
        let (status, text, takes) = match record.pending.take() {
            Some(Pending::Cancel(reason)) => (MandateStatus::Canceled, because("Canceled", reason), None),
            Some(Pending::Pause(reason)) => (MandateStatus::Paused, because("Paused", reason), None),
            None => match record.script.pop_front() {
                Some(Step::Work { summary, takes }) => (MandateStatus::Running, summary, Some(takes)),
                Some(Step::Complete { summary }) => (MandateStatus::Completed, summary, None),
                None => (MandateStatus::Completed, "Done.".to_owned(), None),
            },
        };
        record.next_step = takes.map(|takes| at.after(takes));
        self.transition(serial, status, summary(text), at);
    }

    /// The one place where a mandate changes, so that what every change brings about is done for each.
    fn transition(&mut self, serial: Serial, status: MandateStatus, state: MandateState, at: Moment) {
        let updated_at = self.epoch.timestamp(at);
        let Some(record) = self.mandates.get_mut(serial) else { return };
        if status.is_terminal() {
            record.script.clear();
            record.next_step = None;
            record.expires = None;
            record.pending = None;
        }
        record.mandate.status = status;
        record.mandate.current_state = state;
        record.mandate.updated_at = Some(updated_at);
        self.reschedule(serial);
    }

    fn reschedule(&mut self, serial: Serial) {
        let due = self
            .mandates
            .get(serial)
            .and_then(|record| [record.next_step, record.expires].into_iter().flatten().min());
        self.agenda.set(serial, due);
    }

    /// A mandate that has not ended: no command applies to one that has.
    fn active(&mut self, id: &str) -> Result<(Serial, &mut MandateRecord)> {
        let serial = self.mandates.serial(id).ok_or_else(|| unknown(id))?;
        let record = self.mandates.get_mut(serial).ok_or_else(|| unknown(id))?;
        if record.mandate.status.is_terminal() {
            let message = format!("the mandate has ended: it is {}", record.mandate.status);
            return Err(Refusal::conflict(ErrorCode::InvalidStatusTransition, message));
        }
        Ok((serial, record))
    }

    fn seen(&self, serial: Serial, id: &str) -> Result<Mandate> {
        self.mandates.get(serial).map(|record| record.mandate.clone()).ok_or_else(|| unknown(id))
    }
}

impl MandateRecord {
    fn does_not_apply(&self, command: &str) -> Refusal {
        let status = &self.mandate.status;
        let message = match &self.pending {
            Some(Pending::Cancel(_)) => format!("a mandate that is being canceled can't be {command}"),
            _ => format!("a mandate that is {status} can't be {command}"),
        };
        Refusal::conflict(ErrorCode::InvalidStatusTransition, message)
    }
}

fn summary(summary: String) -> MandateState {
    MandateState { summary, ..MandateState::default() }
}

fn because(what: &str, reason: Option<String>) -> String {
    match reason {
        Some(reason) => format!("{what}: {}", agent::shortened(&reason)),
        None => format!("{what}."),
    }
}

fn unknown(id: &str) -> Refusal {
    Refusal::not_found("mandate", id)
}

#[cfg(test)]
mod tests;
