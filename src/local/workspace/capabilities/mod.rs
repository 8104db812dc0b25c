//! The capabilities of the workspace: those it comes with, those registered, and what runs them.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use super::Workspace;
use super::store::{Serial, Store, Window};
use crate::local::answer::{Refusal, Result};
use crate::local::capabilities::{built_in, family, is_built_in};
use crate::local::clock::Moment;
use crate::model::capabilities::{
    Capability, CapabilityEffect, CapabilityExecutionMode, CapabilityIdempotency, CapabilityRegisterParams,
    CapabilityRisk, CapabilityStatus, CapabilityUpdateParams, CapabilityVerify,
};
use crate::model::errors::ErrorCode;
use crate::model::page::Page;
use crate::model::types::{CapabilityId, Extra};
use crate::resources::capabilities::Executor;

mod check;

/// How a name stands with the workspace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Standing {
    /// An action that can run.
    Available,
    /// An action that is known but that nothing runs.
    Unavailable,
    /// An action that has been taken out of use.
    Disabled,
    /// No action but the family of some, such as `phone`.
    Family,
    /// Nothing the workspace knows.
    Unknown,
}

/// All versions of all capabilities, and the functions connected by name.
#[derive(Debug)]
pub(crate) struct Registry {
    store: Store<Capability>,
    /// The version of each name that was registered last: the one that counts.
    latest: HashMap<String, Serial>,
    executors: HashMap<String, Executor>,
    /// Those that a script acts with, so that they run in simulation.
    simulated: HashSet<String>,
}

impl Registry {
    pub(super) fn new(created_at: Timestamp, new_id: impl FnMut() -> String) -> Self {
        let mut registry = Self {
            store: Store::default(),
            latest: HashMap::new(),
            executors: HashMap::new(),
            simulated: HashSet::new(),
        };
        for capability in built_in(created_at, new_id) {
            registry.insert(capability);
        }
        registry
    }

    fn insert(&mut self, capability: Capability) {
        let name = capability.name.clone();
        let serial = self.store.insert(&key(&name, capability.version.as_deref()), capability);
        self.latest.insert(name, serial);
    }

    pub(super) fn standing(&self, name: &str) -> Standing {
        match self.latest(name) {
            Some(capability) if capability.status != CapabilityStatus::Active => Standing::Disabled,
            Some(capability) if self.runs(capability) => Standing::Available,
            Some(_) => Standing::Unavailable,
            None if self.latest.keys().any(|other| family(other) == name) => Standing::Family,
            None => Standing::Unknown,
        }
    }

    pub(super) fn is_available(&self, name: &str) -> bool {
        self.standing(name) == Standing::Available
    }

    /// The version of a capability that counts.
    pub(super) fn latest(&self, name: &str) -> Option<&Capability> {
        self.store.get(*self.latest.get(name)?)
    }

    /// What has been connected to run it.
    pub(super) fn executor(&self, name: &str) -> Option<&Executor> {
        self.executors.get(name)
    }

    /// Lets capabilities run in simulation once they are registered; those that come with the workspace and can't
    /// run stay as they are.
    pub(super) fn simulate(&mut self, names: Vec<&str>) {
        self.simulated.extend(names.into_iter().filter(|name| !is_built_in(name)).map(str::to_owned));
    }

    /// Takes over what has been connected to another registry.
    pub(super) fn take_executors(&mut self, other: &mut Self) {
        self.executors = std::mem::take(&mut other.executors);
    }

    fn runs(&self, capability: &Capability) -> bool {
        capability.execution_mode == CapabilityExecutionMode::Available
            || self.executors.contains_key(&capability.name)
            || self.simulated.contains(&capability.name)
    }

    fn view(&self, capability: &Capability) -> Capability {
        let execution_mode = if self.runs(capability) {
            CapabilityExecutionMode::Available
        } else {
            CapabilityExecutionMode::Unavailable
        };
        Capability { execution_mode, ..capability.clone() }
    }

    fn find(&self, name: &str, version: Option<&str>) -> Option<Serial> {
        match version {
            Some(_) => self.store.serial(&key(name, version)),
            None => self.latest.get(name).copied(),
        }
    }
}

/// No name has a line break in it, so no two pairs share a key.
fn key(name: &str, version: Option<&str>) -> String {
    match version {
        Some(version) => format!("{name}\n{version}"),
        None => name.to_owned(),
    }
}

impl Workspace {
    /// Gives a capability something that runs it, as soon as it is registered.
    pub(crate) fn connect(&mut self, executor: Executor) {
        self.capabilities.executors.insert(executor.name().to_owned(), executor);
    }

    /// Only defines it: it can't run until something is connected (documented).
    pub(crate) fn register(&mut self, params: CapabilityRegisterParams, now: Moment) -> Result<Capability> {
        check::definition(&params)?;
        let version = params.version.as_deref();
        if is_built_in(&params.name) || self.capabilities.store.serial(&key(&params.name, version)).is_some()
        {
            let message = match version {
                _ if is_built_in(&params.name) => format!("{:?} comes with the workspace", params.name),
                Some(version) => format!("version {version:?} of {:?} is registered already", params.name),
                None => format!("{:?} is registered already; what differs needs a new version", params.name),
            };
            return Err(Refusal::conflict(ErrorCode::CapabilityExists, message).param("name"));
        }
        let created_at = Some(self.epoch.timestamp(now));
        let capability = Capability {
            name: params.name,
            description: params.description,
            risk: params.risk.unwrap_or(CapabilityRisk::Custom),
            effect: params.effect.unwrap_or(CapabilityEffect::Write),
            verify: params.verify.unwrap_or(CapabilityVerify::None),
            idempotency: params.idempotency.unwrap_or(CapabilityIdempotency::None),
            execution_mode: CapabilityExecutionMode::Unavailable,
            status: CapabilityStatus::Active,
            id: Some(CapabilityId::from(self.new_id("cap_"))),
            version: params.version,
            input_schema: Some(params.input_schema),
            output_schema: Some(params.output_schema),
            metadata: params.metadata,
            created_at,
            updated_at: created_at,
            extra: Extra::new(),
        };
        let seen = self.capabilities.view(&capability);
        self.capabilities.insert(capability);
        Ok(seen)
    }

    pub(crate) fn capability(&self, name: &str, version: Option<&str>) -> Result<Capability> {
        let found = self.capabilities.find(name, version);
        let capability = found.and_then(|serial| self.capabilities.store.get(serial));
        capability.map(|found| self.capabilities.view(found)).ok_or_else(|| unknown(name, version))
    }

    pub(crate) fn list_capabilities(&self, window: &Window) -> Result<Page<Capability>> {
        self.capabilities.store.page(window, |_| true, |capability| self.capabilities.view(capability))
    }

    /// Only the description, the status and the labels can be changed (documented).
    pub(crate) fn update_capability(
        &mut self,
        name: &str,
        version: Option<&str>,
        params: CapabilityUpdateParams,
        now: Moment,
    ) -> Result<Capability> {
        let updated_at = self.epoch.timestamp(now);
        let serial = self.capabilities.find(name, version).ok_or_else(|| unknown(name, version))?;
        if is_built_in(name) {
            return Err(Refusal::forbidden(format!("{name:?} comes with the workspace and stays as it is")));
        }
        check::change(&params)?;
        let Some(saved) = self.capabilities.store.get_mut(serial) else {
            return Err(unknown(name, version));
        };
        let before = saved.clone();
        if let Some(description) = params.description {
            saved.description = description;
        }
        if let Some(status) = params.status {
            saved.status = status;
        }
        if let Some(metadata) = params.metadata {
            saved.metadata = metadata;
        }
        if before != *saved {
            saved.updated_at = Some(updated_at);
        }
        self.capability(name, version)
    }
}

fn unknown(name: &str, version: Option<&str>) -> Refusal {
    match version {
        Some(version) => Refusal::not_found(&format!("version {version:?} of a capability"), name),
        None => Refusal::not_found("capability", name),
    }
}

#[cfg(test)]
mod tests;
