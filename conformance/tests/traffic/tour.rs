//! One of everything that can be asked of the service.

use std::collections::BTreeSet;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use serde_json::json;
use shadway::Client;
use shadway::agents::{AgentCapabilityConfig, AgentCreateParams, AgentStatus, AgentUpdateParams};
use shadway::approvals::{ApprovalApproveParams, ApprovalListParams, ApprovalStatus};
use shadway::capabilities::{
    CapabilityEffect, CapabilityRegisterParams, CapabilityRisk, CapabilityStatus, CapabilityUpdateParams,
    Executor,
};
use shadway::events::EventType;
use shadway::mandates::{
    Authority, AuthorityRule, CapabilityLimit, MandateCreateParams, MandateListParams, MandateStatus,
    QuietHours, SuccessCriterion,
};
use shadway::transport::HttpService as _;
use shadway::types::{Interval, ListParams, Money, RawJson};
use shadway::webhooks::{WebhookEndpointCreateParams, WebhookEndpointStatus, WebhookEndpointUpdateParams};

use crate::witness::Stage;

fn full_authority() -> Authority {
    Authority::new()
        .capabilities(["email.send", "email.get_delivery"])
        .spend_maximum(Money::usd(799_999))
        .spend_approval_threshold(Money::usd(100_000))
        .maximum_actions(40)
        .maximum_read_actions(100)
        .capability_limit(CapabilityLimit::new("email.send").maximum_actions(9).rate(3, Interval::hours(1)))
        .prohibited_actions(["phone.call"])
        .quiet_hours(QuietHours::new("22:00", "07:00", "Europe/Paris"))
        .rules([AuthorityRule::new("email.send", "quantity").min(1).max(500)])
        .require_approval_for(["browser.run"])
        .success_criteria([SuccessCriterion::new("delivered").equals(true)])
}

pub(crate) async fn everything(stage: &Stage) {
    let client = &stage.client;
    agents(client).await;
    mandates(client).await;
    capabilities(stage).await;
    approvals(client).await;
    record(client).await;
    streams(stage).await;
    endpoints(client).await;
}

async fn agents(client: &Client) {
    let agents = client.agents();
    let agent = agents
        .create(
            AgentCreateParams::new("Operations", "p/m")
                .instructions("Be concise.")
                .capabilities(["email.send", "email.get_delivery", "phone", "phone.call"])
                .capability_config("phone", AgentCapabilityConfig::new().country("US").area_code("302"))
                .metadata("team", "procurement"),
        )
        .await
        .unwrap();
    agents.wait_until_ready(&agent.id).timeout(Duration::from_secs(60)).await.unwrap();
    for number in 0..3 {
        agents.create(AgentCreateParams::new(format!("Agent {number}"), "p/m")).await.unwrap();
    }
    let all: Vec<_> = agents.list(ListParams::new().limit(2)).items().try_collect().await.unwrap();
    assert_eq!(all.len(), 4);
    let update = AgentUpdateParams::new()
        .name("Renamed")
        .clear_instructions()
        .capabilities(["email.send"])
        .capability_config([("browser", AgentCapabilityConfig::new().model("p/vision"))])
        .status(AgentStatus::Disabled)
        .metadata([("team", "sales")]);
    agents.update(&agent.id, update).await.unwrap();
    agents.update(&agent.id, AgentUpdateParams::new().status(AgentStatus::Active)).await.unwrap();
}

async fn mandates(client: &Client) {
    let capabilities = ["email.send", "email.get_delivery"];
    let agent =
        client.agents().create(AgentCreateParams::new("Buyer", "p/m").capabilities(capabilities)).await;
    let agent = agent.unwrap();
    let create = || {
        MandateCreateParams::new(&agent.id, "Ask for a quote on 200 units.")
            .guidance(["Include shipping."])
            .deadline("2030-01-01T10:00:00Z".parse().unwrap())
            .clear_expires_at()
            .metadata("purchaseRequest", "PR-1042")
    };
    let mandate = client.mandates().create(create()).idempotency_key("first").await.unwrap();
    let again = client.mandates().create(create()).idempotency_key("first").await.unwrap();
    assert_eq!(again, mandate);
    let work = client.mandate(&mandate.id);
    work.pause("Reviewing.").await.unwrap();
    work.resume("Reviewed.").await.unwrap();
    assert_eq!(work.wait().await.unwrap().status, MandateStatus::Completed);

    let other = client.mandates().create(create().authority(full_authority())).await.unwrap();
    client.mandate(&other.id).cancel("No longer needed.").await.unwrap();
    client.mandate(&other.id).wait().await.unwrap();
    let params = MandateListParams::new().agent(&agent.id).limit(1);
    let listed = client.mandates().list(params.status([MandateStatus::Completed, MandateStatus::Canceled]));
    assert_eq!(listed.items().try_collect::<Vec<_>>().await.unwrap().len(), 2);
}

async fn capabilities(stage: &Stage) {
    let capabilities = stage.client.capabilities();
    let schema = || json!({"type": "object", "properties": {"amount_minor": {"type": "integer"}}});
    let params = CapabilityRegisterParams::new("erp.order", "Create a purchase order.", schema(), schema())
        .risk(CapabilityRisk::Financial)
        .effect(CapabilityEffect::Irreversible)
        .metadata("team", "procurement");
    capabilities.register(params.clone()).await.unwrap();
    capabilities.register(params.version("2")).await.unwrap();
    let all: Vec<_> = capabilities.list(ListParams::new().limit(5)).items().try_collect().await.unwrap();
    assert_eq!(all.len(), 14);
    let change = CapabilityUpdateParams::new()
        .description("Create an order.")
        .status(CapabilityStatus::Active)
        .metadata([("team", "sales")]);
    capabilities.update("erp.order", change).await.unwrap();
    assert!(!capabilities.get_version("erp.order", "2").await.unwrap().is_runnable());
    stage
        .server
        .connect(Executor::new("erp.order", |input: RawJson| async { Ok::<_, std::io::Error>(input) }));
    assert!(capabilities.get("erp.order").await.unwrap().is_runnable());
}

/// One mandate that asks twice: a person lets one action pass and refuses the other.
async fn approvals(client: &Client) {
    let names = ["erp.order", "email.send", "email.get_delivery"];
    let agent =
        client.agents().create(AgentCreateParams::new("Buyer", "p/m").capabilities(names)).await.unwrap();
    let authority = Authority::new()
        .require_approval_for(["email.send"])
        .spend_maximum(Money::usd(799_999))
        .maximum_read_actions(0)
        .success_criteria([SuccessCriterion::new("amount_minor").max(799_999)]);
    let params = MandateCreateParams::new(&agent.id, "Order 200 units.").authority(authority);
    let mandate = client.mandates().create(params).await.unwrap();
    let work = client.mandate(&mandate.id);
    let pending =
        || ApprovalListParams::new().status([ApprovalStatus::Pending]).mandate(&mandate.id).limit(1);
    for decision in ["approve", "reject"] {
        tokio::time::sleep(Duration::from_secs(1)).await;
        let waits = work.get().await.unwrap();
        assert_eq!(waits.status, MandateStatus::NeedsApproval, "{}", waits.current_state.summary);
        let approval = client.approvals().list(pending()).await.unwrap().data.remove(0);
        client.approvals().get(&approval.id).await.unwrap();
        for _ in 0..2 {
            let decided = if decision == "approve" {
                let params = ApprovalApproveParams::new().reason("Checked.").input("otp", "483921");
                client.approvals().approve(&approval.id, params).await
            } else {
                client.approvals().reject(&approval.id, "Not now.").await
            };
            assert_ne!(decided.unwrap().status, ApprovalStatus::Pending);
        }
        work.amend_with("More time.", |authority| authority.maximum_actions(9)).await.unwrap();
    }
    let ended = work.wait().await.unwrap();
    assert_eq!((ended.status, ended.authority_version), (MandateStatus::Completed, 3));
}

/// Reads what the mandates before have left behind: one that completed, one that was canceled.
async fn record(client: &Client) {
    let all: Vec<_> = client.mandates().list(MandateListParams::new()).items().try_collect().await.unwrap();
    let mut found = [0; 8];
    for mandate in &all {
        let work = client.mandate(&mandate.id);
        let artifacts = work.artifacts().list().limit(1).items().try_collect::<Vec<_>>().await.unwrap();
        for artifact in &artifacts {
            client.artifacts().download(&artifact.id).await.unwrap();
        }
        let counts = [
            artifacts.len(),
            work.facts().list().await.unwrap().data.len(),
            work.evidence().list().await.unwrap().data.len(),
            work.issues().list().await.unwrap().data.len(),
            work.assertions().list().await.unwrap().data.len(),
            work.information_needs().list().await.unwrap().data.len(),
            work.commitments().list().await.unwrap().data.len(),
            work.amendments().list().await.unwrap().data.len(),
        ];
        for (sum, count) in found.iter_mut().zip(counts) {
            *sum += count;
        }
        let events = work.events().list().limit(2).items().try_collect::<Vec<_>>().await.unwrap();
        let later =
            work.events().list_after(events[0].sequence).items().try_collect::<Vec<_>>().await.unwrap();
        assert_eq!(later.len() + 1, events.len());
    }
    assert!(found.iter().all(|count| *count > 0), "{found:?}");
    let types: BTreeSet<_> = client
        .events()
        .list()
        .items()
        .try_collect::<Vec<_>>()
        .await
        .unwrap()
        .into_iter()
        .map(|event| event.event_type.to_string())
        .collect();
    assert_eq!(types.len(), 6, "{types:?}");
}

/// The crate has no streams yet, so their requests are written by hand.
async fn streams(stage: &Stage) {
    let first = stage.client.events().list().limit(1).await.unwrap().data.remove(0);
    let of_mandate = format!("/v1/mandates/{}/events/stream", first.mandate);
    for path in ["/v1/events/stream", of_mandate.as_str()] {
        for (resumed, expected) in [(true, "\ndata: "), (false, "id: ")] {
            let request = http::Request::get(format!("{}{path}", stage.server.url()))
                .header("authorization", format!("Bearer {}", stage.server.api_key()))
                .header("accept", "text/event-stream");
            let request = if resumed { request.header("last-event-id", first.id.as_str()) } else { request };
            let answer = stage.witness.call(request.body(Bytes::new()).unwrap()).await.unwrap();
            let body = answer.into_body().collect().await.unwrap().to_bytes();
            assert!(String::from_utf8_lossy(&body).contains(expected), "{body:?}");
        }
    }
}

async fn endpoints(client: &Client) {
    let webhooks = client.webhooks();
    let endpoints = webhooks.endpoints();
    let params =
        WebhookEndpointCreateParams::new("https://example.com/hooks", ["*"]).description("All of them.");
    let created = endpoints.create(params).await.unwrap();
    let id = &created.endpoint.id;
    let local = WebhookEndpointCreateParams::new("http://127.0.0.1:9/hooks", [EventType::ApprovalResolved]);
    endpoints.create(local).await.unwrap();
    assert_eq!(endpoints.get(id).await.unwrap(), created.endpoint);
    let change = WebhookEndpointUpdateParams::new()
        .url("http://localhost:3000/")
        .subscribed_events([EventType::MandateStatusChanged])
        .status(WebhookEndpointStatus::Disabled)
        .description("One of them.");
    endpoints.update(id, change).await.unwrap();
    let rotated = endpoints.rotate_secret(id).await.unwrap();
    assert_ne!(rotated.secret, created.secret);
    let params = ListParams::new().limit(1);
    assert_eq!(endpoints.list(params).items().try_collect::<Vec<_>>().await.unwrap().len(), 2);
    endpoints.delete(id).await.unwrap();
    assert!(endpoints.get(id).await.unwrap_err().is_not_found());
}
