//! Agents: what is saved of them, and how far their capabilities are.

use std::time::Duration;

use super::Workspace;
use super::capabilities::{Registry, Standing};
use super::store::Window;
use crate::local::answer::{Refusal, Result};
use crate::local::capabilities;
use crate::local::clock::Moment;
use crate::model::agents::{
    Agent, AgentCapabilityReadiness, AgentCapabilityStatus, AgentCreateParams, AgentStatus, AgentUpdateParams,
};
use crate::model::page::Page;
use crate::model::types::{AgentId, Extra, Nullable};

/// The family whose capabilities have something to set up (documented).
const PHONE: &str = "phone";
/// How long setting up a phone takes.
const PROVISIONING: Duration = Duration::from_millis(100);

/// An agent as it was last saved. How far its capabilities are is told when it is read.
#[derive(Debug)]
pub(crate) struct AgentRecord {
    pub(super) saved: Agent,
    /// When the phone is set up, for an agent that has one.
    phone_ready: Option<Moment>,
    /// The last two digits of its phone number.
    extension: u8,
}

impl Workspace {
    pub(crate) fn create_agent(&mut self, params: AgentCreateParams, now: Moment) -> Result<Agent> {
        not_empty("name", &params.name)?;
        not_empty("model", &params.model)?;
        let id = self.new_id("agt_");
        let created_at = Some(self.epoch.timestamp(now));
        let saved = Agent {
            id: AgentId::from(id.as_str()),
            name: params.name,
            model: params.model,
            status: AgentStatus::Active,
            instructions: params.instructions,
            capabilities: params.capabilities,
            capability_config: params.capability_config,
            capability_status: Default::default(),
            revision: Some(1),
            metadata: params.metadata,
            created_at,
            updated_at: created_at,
            extra: Extra::new(),
        };
        let mut record = AgentRecord { saved, phone_ready: None, extension: self.random.u8(0..100) };
        record.set_up_phone(None, now);
        let agent = record.view(&self.capabilities, now);
        self.agents.insert(&id, record);
        Ok(agent)
    }

    pub(crate) fn agent(&self, id: &str, now: Moment) -> Result<Agent> {
        self.agents.find(id).map(|record| record.view(&self.capabilities, now)).ok_or_else(|| unknown(id))
    }

    pub(crate) fn list_agents(&self, window: &Window, now: Moment) -> Result<Page<Agent>> {
        self.agents.page(window, |_| true, |record| record.view(&self.capabilities, now))
    }

    /// What is not set stays (documented). Only a configuration that really differs makes a new revision;
    /// status and metadata alone do not (documented).
    pub(crate) fn update_agent(&mut self, id: &str, params: AgentUpdateParams, now: Moment) -> Result<Agent> {
        let updated_at = self.epoch.timestamp(now);
        let record = self.agents.find_mut(id).ok_or_else(|| unknown(id))?;
        // All that can be refused is refused before anything changes.
        if let Some(AgentStatus::Unknown(status)) = &params.status {
            return Err(Refusal::invalid(format!("{status:?} is no status of an agent")).param("status"));
        }
        for (field, text) in [("name", &params.name), ("model", &params.model)] {
            if let Some(text) = text {
                not_empty(field, text)?;
            }
        }
        let before = record.saved.clone();
        let saved = &mut record.saved;
        if let Some(name) = params.name {
            saved.name = name;
        }
        if let Some(model) = params.model {
            saved.model = model;
        }
        match params.instructions {
            Nullable::Unset => {}
            Nullable::Null => saved.instructions = None,
            Nullable::Value(instructions) => saved.instructions = Some(instructions),
        }
        if let Some(capabilities) = params.capabilities {
            saved.capabilities = capabilities;
        }
        if let Some(config) = params.capability_config {
            saved.capability_config = config;
        }
        if let Some(status) = params.status {
            saved.status = status;
        }
        if let Some(metadata) = params.metadata {
            saved.metadata = metadata;
        }
        if configuration(&before) != configuration(saved) {
            saved.revision = before.revision.map(|revision| revision + 1);
        }
        if before != *saved {
            saved.updated_at = Some(updated_at);
        }
        record.set_up_phone(Some(&before), now);
        Ok(record.view(&self.capabilities, now))
    }
}

impl AgentRecord {
    /// Begins the setup of a phone that is new or whose settings differ.
    fn set_up_phone(&mut self, before: Option<&Agent>, now: Moment) {
        let settings = |agent: &Agent| agent.capability_config.get(PHONE).cloned();
        let unchanged = before.is_some_and(|before| settings(before) == settings(&self.saved));
        let has_phone = self.saved.capabilities.iter().any(|name| capabilities::family(name) == PHONE);
        self.phone_ready = match self.phone_ready {
            _ if !has_phone => None,
            Some(ready) if unchanged => Some(ready),
            _ => Some(now.after(PROVISIONING)),
        };
    }

    fn view(&self, registry: &Registry, now: Moment) -> Agent {
        let names = self.saved.capabilities.iter();
        let statuses = names.map(|name| (name.clone(), self.readiness(name, registry.standing(name), now)));
        Agent { capability_status: statuses.collect(), ..self.saved.clone() }
    }

    fn readiness(&self, name: &str, standing: Standing, now: Moment) -> AgentCapabilityStatus {
        let is_phone = capabilities::family(name) == PHONE;
        let (status, detail) = match standing {
            Standing::Available | Standing::Family if is_phone && self.phone_ready > Some(now) => {
                (AgentCapabilityReadiness::Provisioning, Some("A phone number is being set up."))
            }
            Standing::Available | Standing::Family => (AgentCapabilityReadiness::Ready, None),
            Standing::Unavailable => (
                AgentCapabilityReadiness::Unavailable,
                Some("The workspace has it, but nothing runs it yet."),
            ),
            Standing::Disabled => {
                (AgentCapabilityReadiness::Unavailable, Some("It has been taken out of use."))
            }
            Standing::Unknown => {
                (AgentCapabilityReadiness::Unavailable, Some("The workspace has no capability of this name."))
            }
        };
        let number = (is_phone && status == AgentCapabilityReadiness::Ready).then(|| self.number());
        AgentCapabilityStatus { status, detail: detail.map(str::to_owned), number, extra: Extra::new() }
    }

    /// The number the agent already has, or one of those kept free for fiction.
    fn number(&self) -> String {
        let config = self.saved.capability_config.get(PHONE);
        if let Some(resource) = config.and_then(|config| config.resource.clone()) {
            return resource;
        }
        let area = config.and_then(|config| config.area_code.as_deref()).unwrap_or("302");
        format!("+1{area}55501{:02}", self.extension)
    }
}

/// What a revision is a version of (documented).
fn configuration(agent: &Agent) -> impl PartialEq {
    (
        agent.name.clone(),
        agent.model.clone(),
        agent.instructions.clone(),
        agent.capabilities.clone(),
        agent.capability_config.clone(),
    )
}

pub(super) fn not_empty(field: &str, text: &str) -> Result<()> {
    if text.trim().is_empty() {
        return Err(Refusal::invalid(format!("{field} is empty")).param(field));
    }
    Ok(())
}

fn unknown(id: &str) -> Refusal {
    Refusal::not_found("agent", id)
}
