//! Mandates: how they begin, and what is kept of each.

use super::Workspace;
use super::agents::not_empty;
use super::authority;
use super::limits::Used;
use super::record::Record;
use super::store::{Serial, Window};
use crate::local::agent::{self, Granted, Script};
use crate::local::answer::{Refusal, Result};
use crate::local::capabilities::is_built_in;
use crate::local::clock::Moment;
use crate::model::agents::AgentStatus;
use crate::model::amendments::MandateAmendment;
use crate::model::capabilities::CapabilityEffect;
use crate::model::errors::ErrorCode;
use crate::model::mandates::{Mandate, MandateCreateParams, MandateState, MandateStatus};
use crate::model::page::Page;
use crate::model::types::{AgentId, Extra, MandateId};

mod actions;
mod commands;
mod decisions;
mod end;
mod steps;

use actions::Run;
pub(crate) use actions::{Job, Outcome};
use decisions::Asked;

/// A mandate, and what is still to come of it.
#[derive(Debug)]
pub(crate) struct MandateRecord {
    pub(super) mandate: Mandate,
    /// What its agent could do when it began; it keeps that (documented).
    pub(super) agent_capabilities: Vec<String>,
    /// The actions that its limits grant.
    pub(super) granted: Vec<String>,
    pub(super) script: Script,
    doing: Doing,
    /// When the present step is over by itself.
    next_step: Option<Moment>,
    expires: Option<Moment>,
    pending: Option<Pending>,
    used: Used,
    /// The number of its last event.
    pub(super) sequence: u64,
    pub(super) record: Record,
    pub(super) amendments: Vec<MandateAmendment>,
    tally: Tally,
}

/// What is under way, or was when it was paused.
#[derive(Debug, Default)]
enum Doing {
    /// Something that leaves no trace.
    #[default]
    Nothing,
    /// An action.
    Action(Box<Run>),
    /// Waiting for an answer to an action, from this party.
    Reply(String, String),
    /// Waiting for a person.
    Decision(Box<Asked>),
}

/// A command that takes effect at the next safe point, with the reason given.
#[derive(Debug)]
enum Pending {
    Pause(Option<String>),
    Cancel(Option<String>),
}

/// How its actions went.
#[derive(Debug, Default)]
struct Tally {
    /// Those that were done.
    runs: Vec<Run>,
    /// How many of them something connected really did.
    real: usize,
    /// Why others were not done: blocked or failed.
    not_done: Vec<String>,
    /// Those that a person refused.
    refused: Vec<String>,
    /// To whom something went out, by action.
    sent: Vec<(String, String)>,
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
        // What the mandate keeps of the agent, whatever becomes of that later (documented).
        let (agent_revision, agent_capabilities) = (agent.revision, agent.capabilities.clone());
        let granted = authority::check(&authority, &agent_capabilities, &self.capabilities)?;
        let actions = self.granted(&granted);
        let script = agent::script(params.guidance.len(), &actions, authority.success_criteria.len());

        let id = self.new_id("mnd_");
        let created_at = Some(self.epoch.timestamp(now));
        let expires_at = params.expires_at.value().copied();
        let mandate = Mandate {
            id: MandateId::from(id.as_str()),
            agent: params.agent,
            current_state: summary(format!(
                "Waiting to begin: {}",
                agent::text::shortened(&params.objective)
            )),
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
            agent_capabilities,
            granted,
            script,
            doing: Doing::Nothing,
            next_step: Some(now.after(agent::QUEUED)),
            // One in the past ends the mandate as soon as it exists (assumed: no refusal is documented).
            expires: expires_at.map(|at| self.epoch.moment(at).max(now)),
            pending: None,
            used: Used::default(),
            sequence: 0,
            record: Record::default(),
            amendments: Vec::new(),
            tally: Tally::default(),
        };
        let serial = self.mandates.insert(&id, record);
        self.reschedule(serial);
        Ok(mandate)
    }

    pub(crate) fn mandate(&self, id: &str) -> Result<Mandate> {
        self.recorded(id).map(|record| record.mandate.clone())
    }

    pub(crate) fn list_mandates(&self, window: &Window, filter: &Filter) -> Result<Page<Mandate>> {
        let keep = |record: &MandateRecord| {
            let mandate = &record.mandate;
            (filter.statuses.is_empty() || filter.statuses.contains(&mandate.status))
                && filter.agent.as_ref().is_none_or(|agent| *agent == mandate.agent)
        };
        self.mandates.page(window, keep, |record| record.mandate.clone())
    }

    /// All of them, oldest first.
    pub(crate) fn all_mandates(&self) -> Vec<Mandate> {
        self.mandates.after(0).map(|(_, record)| record.mandate.clone()).collect()
    }

    /// Whether what is due next for it is the end of the time that a person has.
    pub(super) fn awaits_person(&self, serial: Serial) -> bool {
        let waits = |record: &MandateRecord| {
            matches!(record.mandate.status, MandateStatus::NeedsApproval | MandateStatus::Paused)
        };
        self.mandates.get(serial).is_some_and(waits)
    }

    pub(super) fn recorded(&self, id: &str) -> Result<&MandateRecord> {
        self.mandates.find(id).ok_or_else(|| unknown(id))
    }

    /// What a plan has to know of actions.
    pub(super) fn granted(&self, names: &[String]) -> Vec<Granted> {
        let granted = |name: &String| Granted {
            name: name.clone(),
            reads: self.capabilities.latest(name).is_some_and(|found| found.effect == CapabilityEffect::Read),
            built_in: is_built_in(name),
        };
        names.iter().map(granted).collect()
    }

    pub(super) fn seen(&self, serial: Serial, id: &str) -> Result<Mandate> {
        self.mandates.get(serial).map(|record| record.mandate.clone()).ok_or_else(|| unknown(id))
    }
}

pub(super) fn summary(summary: String) -> MandateState {
    MandateState { summary, ..MandateState::default() }
}

fn waiting(summary: String, waiting_on: String) -> MandateState {
    MandateState { summary, waiting_on: Some(waiting_on), ..MandateState::default() }
}

pub(super) fn unknown(id: &str) -> Refusal {
    Refusal::not_found("mandate", id)
}

#[cfg(test)]
mod tests;
