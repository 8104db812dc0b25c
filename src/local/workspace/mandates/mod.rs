//! Mandates: how they begin, and what is kept of each.

use serde_json::Value;

use super::Workspace;
use super::agents::not_empty;
use super::authority;
use super::limits::Used;
use super::record::Record;
use super::store::{Serial, Window};
use crate::local::agent::{self, Granted, Plan};
use crate::local::answer::{Refusal, Result};
use crate::local::capabilities::is_built_in;
use crate::local::clock::Moment;
use crate::local::script::Script;
use crate::model::agents::AgentStatus;
use crate::model::amendments::MandateAmendment;
use crate::model::approvals::ApprovalInputs;
use crate::model::capabilities::CapabilityEffect;
use crate::model::errors::ErrorCode;
use crate::model::mandates::{Mandate, MandateCreateParams, MandateState, MandateStatus};
use crate::model::page::Page;
use crate::model::record::FactSource;
use crate::model::types::{AgentId, Extra, MandateId};

mod actions;
mod commands;
mod decisions;
mod end;
mod notes;
mod outcomes;
mod runs;
mod steps;
mod unclear;
mod waits;

use decisions::Asked;
pub(crate) use runs::{Job, Outcome};
use runs::{Run, Underway};
pub(crate) use waits::Mail;
use waits::Wait;

/// A mandate, and what is still to come of it.
#[derive(Debug)]
pub(crate) struct MandateRecord {
    pub(super) mandate: Mandate,
    /// What its agent could do when it began; it keeps that (documented).
    pub(super) agent_capabilities: Vec<String>,
    /// The actions that its limits grant.
    pub(super) granted: Vec<String>,
    pub(super) plan: Plan,
    /// Whether nobody will decide or answer, as its script says.
    nobody_answers: bool,
    doing: Doing,
    /// When the present step is over by itself; a wait and a decision have times of their own.
    next_step: Option<Moment>,
    expires: Option<Moment>,
    pending: Option<Pending>,
    used: Used,
    /// The number of its last event.
    pub(super) sequence: u64,
    pub(super) record: Record,
    pub(super) amendments: Vec<MandateAmendment>,
    tally: Tally,
    /// Replies that came before they were waited for.
    mail: Vec<Mail>,
    /// What a person answered to a question, for the next action.
    given: ApprovalInputs,
    /// What the next fact comes from.
    source: Option<FactSource>,
}

/// What is under way, or was when it was paused.
#[derive(Debug, Default)]
enum Doing {
    /// Something that leaves no trace.
    #[default]
    Nothing,
    /// An action.
    Action(Box<Underway>),
    /// Waiting for a reply or a time.
    Waiting(Box<Wait>),
    /// Waiting for a person.
    Decision(Box<Asked>),
}

/// What a person is awaited with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::local) enum Awaited {
    Decision,
    /// To go on after a pause.
    Command,
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
    /// Those of which nobody knows what became, with their arguments.
    unknown: Vec<(String, Value)>,
    /// All that were to have an effect, in order.
    attempts: Vec<Attempt>,
}

/// An action that was to have an effect.
#[derive(Debug)]
struct Attempt {
    capability: String,
    /// To whom it went, if it says so.
    party: Option<String>,
    /// Whether it is certain that it went out.
    went: bool,
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
        let criteria = authority.success_criteria.len();
        let usual = Plan::usual(params.guidance.len(), &actions, criteria);

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
        let script = self.scripts.iter().rev().find(|script| script.fits(&mandate));
        let nobody_answers = script.is_some_and(Script::is_unanswered);
        let plan = script.map_or(usual, |script| Plan::scripted(script.steps(), criteria));
        let record = MandateRecord {
            mandate: mandate.clone(),
            agent_capabilities,
            granted,
            plan,
            nobody_answers,
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
            mail: Vec::new(),
            given: ApprovalInputs::default(),
            source: None,
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

    pub(super) fn recorded(&self, id: &str) -> Result<&MandateRecord> {
        self.mandates.find(id).ok_or_else(|| unknown(id))
    }

    /// Gives a script to all mandates that are created from now on and that it fits.
    pub(crate) fn script(&mut self, script: Script) {
        self.capabilities.simulate(script.capabilities());
        self.scripts.push(script);
    }

    /// The person that a mandate waits for before all else, who may still come.
    pub(in crate::local) fn awaits(&self, serial: Serial) -> Option<Awaited> {
        let record = self.mandates.get(serial).filter(|record| !record.nobody_answers)?;
        match record.mandate.status {
            MandateStatus::NeedsApproval => Some(Awaited::Decision),
            MandateStatus::Paused => Some(Awaited::Command),
            _ => None,
        }
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
