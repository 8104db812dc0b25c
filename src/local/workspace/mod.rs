//! All that the server knows. No I/O and no clock: whoever calls says what time it is.

use std::collections::BTreeMap;

use crate::local::clock::{Epoch, Moment};
use crate::local::idempotency::Ledger;
use crate::local::script::Script;

mod agenda;
mod agents;
mod amendments;
mod approvals;
mod authority;
mod capabilities;
mod deliveries;
mod downloads;
mod endpoints;
mod events;
mod limits;
mod mandates;
mod polls;
mod quiet;
mod record;
pub(crate) mod secrets;
pub(crate) mod store;

use agenda::Agenda;
use agents::AgentRecord;
use approvals::ApprovalRecord;
pub(crate) use approvals::{ApprovalFilter, Decision};
use capabilities::Registry;
pub(crate) use deliveries::Attempt;
use deliveries::Deliveries;
pub(crate) use downloads::FILE;
use downloads::Links;
use endpoints::EndpointRecord;
pub(crate) use events::{EventLog, is_gap};
use mandates::{Awaited, MandateRecord};
pub(crate) use mandates::{Filter as MandateFilter, Job, Mail, Outcome};
use polls::Polls;
use record::Shelf;
use store::Store;

/// The state of the server.
#[derive(Debug)]
pub(crate) struct Workspace {
    epoch: Epoch,
    random: fastrand::Rng,
    /// Where the server listens, for links to itself.
    origin: String,
    agents: Store<AgentRecord>,
    mandates: Store<MandateRecord>,
    approvals: Store<ApprovalRecord>,
    capabilities: Registry,
    endpoints: Store<EndpointRecord>,
    deliveries: Deliveries,
    shelf: Shelf,
    links: Links,
    pub(crate) events: EventLog,
    /// What is to be run by what was connected for it; whoever holds the workspace takes it away and reports.
    pub(crate) jobs: Vec<Job>,
    /// What is to be sent to webhook endpoints, in the same way.
    pub(crate) attempts: Vec<Attempt>,
    agenda: Agenda,
    pub(crate) polls: Polls,
    /// What agents are told to do, in the order in which it was given.
    scripts: Vec<Script>,
    pub(crate) ledger: Ledger,
}

impl Workspace {
    pub(crate) fn new(epoch: Epoch, mut random: fastrand::Rng, origin: String) -> Self {
        let created_at = epoch.timestamp(Moment::default());
        let capabilities = Registry::new(created_at, || new_id("cap_", &mut random));
        Self {
            epoch,
            random,
            origin,
            agents: Store::default(),
            mandates: Store::default(),
            approvals: Store::default(),
            capabilities,
            endpoints: Store::default(),
            deliveries: Deliveries::default(),
            shelf: Shelf::new(),
            links: Links::default(),
            events: EventLog::default(),
            jobs: Vec::new(),
            attempts: Vec::new(),
            agenda: Agenda::default(),
            polls: Polls::default(),
            scripts: Vec::new(),
            ledger: Ledger::default(),
        }
    }

    /// Begins anew, with what has been connected.
    pub(crate) fn reset(&mut self) {
        let origin = std::mem::take(&mut self.origin);
        let mut fresh = Self::new(self.epoch, self.random.fork(), origin);
        fresh.capabilities.take_executors(&mut self.capabilities);
        *self = fresh;
    }

    /// How many there are of each thing.
    pub(crate) fn counts(&self) -> BTreeMap<&'static str, usize> {
        BTreeMap::from([
            ("agents", self.agents.len()),
            ("mandates", self.mandates.len()),
            ("approvals", self.approvals.len()),
            ("webhookEndpoints", self.endpoints.len()),
        ])
    }

    /// Lets happen whatever is due by now, in the order and with the time at which it was due.
    pub(crate) fn advance(&mut self, now: Moment) {
        while let Some((at, serial)) = self.agenda.first().filter(|(at, _)| *at <= now) {
            self.wake_mandate(serial, at);
        }
        self.send_due(now);
    }

    /// When something happens next by itself.
    pub(crate) fn next_due(&self) -> Option<Moment> {
        let mandates = self.agenda.first().map(|(at, _)| at);
        mandates.into_iter().chain(self.deliveries.next_due()).min()
    }

    /// Whether something is due that doesn't only end the time a person was given. A pending decision holds time up
    /// for all; a mandate that is paused only doesn't hurry it.
    pub(crate) fn may_skip(&self) -> bool {
        let delivery = self.deliveries.next_due();
        let mut due = self.agenda.iter().map(|(at, mandate)| (at, self.awaits(mandate)));
        match due.find(|(_, awaited)| *awaited != Some(Awaited::Command)) {
            Some((at, Some(_))) => delivery.is_some_and(|delivery| delivery < at),
            Some((_, None)) => true,
            None => delivery.is_some(),
        }
    }

    fn new_id(&mut self, prefix: &str) -> String {
        new_id(prefix, &mut self.random)
    }
}

/// An id that no other server gave either, so that one kept from an earlier run finds nothing rather than
/// something else.
pub(crate) fn new_id(prefix: &str, random: &mut fastrand::Rng) -> String {
    const LENGTH: usize = 16;
    let mut id = String::with_capacity(prefix.len() + LENGTH);
    id.push_str(prefix);
    id.extend(std::iter::repeat_with(|| random.digit(36)).take(LENGTH));
    id
}
