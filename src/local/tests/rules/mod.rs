//! The rules that the service documents, one test each. The first line of each names the page of the product's
//! documentation, and quotes what it says there.

use std::time::Duration;

use serde_json::json;

use super::*;
use crate::agents::{Agent, AgentCreateParams};
use crate::approvals::Approval;
use crate::capabilities::{
    CapabilityEffect, CapabilityIdempotency, CapabilityRegisterParams, CapabilityRisk,
};
use crate::events::{Event, EventData};
use crate::local::{Check, Replied, Script, days, hours, minutes};
use crate::mandates::{Authority, Mandate, MandateCreateParams, MandateHandle, MandateStatus};
use crate::record::FactStatus;
use crate::types::{ErrorCode, Money};

mod agents;
mod approvals;
mod capabilities;
mod events;
mod execution;
mod limits;
mod mandates;
mod verification;
mod waiting;

const ORDER: &str = "procurement.create_po";
const NAMES: [&str; 4] = ["email.send", "email.get_delivery", "phone.call", ORDER];

/// A workspace with an agent that can write, call and order.
struct Scene {
    server: LocalServer,
    client: Client,
    agent: Agent,
}

impl Scene {
    async fn new() -> Self {
        Self::with(order()).await
    }

    async fn with(order: CapabilityRegisterParams) -> Self {
        let scene = Self::unconnected(order).await;
        // So that it runs in simulation, whatever the agent does.
        scene.server.script(Script::when(|_| false).act(ORDER, json!({})));
        scene
    }

    /// Where nothing runs an order yet.
    async fn unconnected(order: CapabilityRegisterParams) -> Self {
        let (server, client) = server().await;
        client.capabilities().register(order).await.unwrap();
        let agent = AgentCreateParams::new("Buyer", "m/m").capabilities(NAMES);
        let agent = client.agents().create(agent).await.unwrap();
        Self { server, client, agent }
    }

    /// A mandate with these limits, in which the agent does this.
    async fn give(&self, authority: Authority, script: Script) -> MandateHandle {
        self.server.script(script);
        self.create(MandateCreateParams::new(&self.agent.id, "Buy 200 units.").authority(authority)).await
    }

    async fn create(&self, params: MandateCreateParams) -> MandateHandle {
        self.client.mandate(self.client.mandates().create(params).await.unwrap().id)
    }
}

/// An order, which spends and can be undone, and whose outcome can be checked.
fn order() -> CapabilityRegisterParams {
    let input = json!({"type": "object", "properties": {
        "supplier": {"type": "string"}, "quantity": {"type": "integer"}, "otp": {"type": "string"}}});
    CapabilityRegisterParams::new(ORDER, "Create a purchase order.", input, json!({"type": "object"}))
        .risk(CapabilityRisk::Financial)
        .effect(CapabilityEffect::Write)
        .idempotency(CapabilityIdempotency::Reconcilable)
}

/// A mandate from its beginning to its end.
async fn run(authority: Authority, script: Script) -> (Scene, MandateHandle, Mandate) {
    let scene = Scene::new().await;
    let work = scene.give(authority, script).await;
    later(days(4)).await;
    let done = work.wait().await.unwrap();
    (scene, work, done)
}

/// Lets time pass in one go, which is quicker than to wait through it.
async fn later(duration: Duration) {
    tokio::time::sleep(duration).await;
}

fn email() -> Value {
    json!({"to": "sales@atlas.example", "subject": "A quote", "body": "For 200 units, please."})
}

/// A script whose agent orders for so many cents, and is done.
fn buy(cents: i64) -> Script {
    Script::any().act(ORDER, json!({"quantity": 200})).spending(Money::usd(cents)).complete("Done.")
}

/// Follows a mandate until it has this status.
async fn until(work: &MandateHandle, status: MandateStatus) -> Mandate {
    let mut states = work.wait().updates();
    while let Some(mandate) = states.try_next().await.unwrap() {
        if mandate.status == status {
            return mandate;
        }
    }
    panic!("it ended without being {status}");
}

async fn asked(work: &MandateHandle) -> Approval {
    work.wait_for_approval().await.unwrap().unwrap()
}

async fn events(work: &MandateHandle) -> Vec<Event> {
    work.events().list().items().try_collect().await.unwrap()
}

/// What is told of the mandate, each event in a few words.
async fn story(work: &MandateHandle) -> Vec<String> {
    events(work).await.iter().map(in_words).collect()
}

/// The same, of its actions only.
async fn actions(work: &MandateHandle) -> Vec<String> {
    let events = events(work).await;
    events.iter().filter(|event| event.execution().is_some()).map(in_words).collect()
}

fn in_words(event: &Event) -> String {
    let run = |what: &str| {
        let run = event.execution().unwrap();
        format!("{} {what}", run.capability)
    };
    match &event.data {
        EventData::MandateStatusChanged(change) => change.mandate.status.to_string(),
        EventData::ApprovalRequested(asked) => format!("{} asked for", asked.approval.action.capability),
        EventData::ApprovalResolved(asked) => {
            format!("{} {}", asked.approval.action.capability, asked.approval.status)
        }
        EventData::ExecutionStarted(_) => run("started"),
        EventData::ExecutionCompleted(_) => run("done"),
        EventData::ExecutionFailed(_) => run("failed"),
        EventData::ExecutionUnsettled(_) => run("unknown"),
        EventData::ExecutionBlocked(blocked) => {
            run(&format!("blocked: {}", blocked.reason.as_deref().unwrap()))
        }
        EventData::Unknown(_) => panic!("{event:?}"),
    }
}

/// The statuses it went through.
async fn statuses(work: &MandateHandle) -> Vec<String> {
    events(work).await.iter().filter_map(|event| event.mandate_status().map(ToString::to_string)).collect()
}

/// How long after its creation a mandate came to this event, in whole seconds.
async fn seconds_until(work: &MandateHandle, words: &str) -> i64 {
    let created = work.get().await.unwrap().created_at.unwrap();
    let events = events(work).await;
    let event = events.iter().find(|event| in_words(event) == words).unwrap();
    event.created_at.unwrap().duration_since(created).as_secs()
}

async fn facts(work: &MandateHandle) -> Vec<(String, String, FactStatus)> {
    let facts = work.facts().list().await.unwrap().data;
    facts.into_iter().map(|fact| (fact.key, fact.value.to_string(), fact.status)).collect()
}

async fn issues(work: &MandateHandle) -> Vec<String> {
    let issues = work.issues().list().await.unwrap().data;
    issues.into_iter().map(|issue| issue.question).collect()
}
