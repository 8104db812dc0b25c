//! Every request the crate sends and every answer the local server gives, held to the document.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use conformance::Document;
use http::Method;
use http_body_util::BodyExt as _;
use shadway::agents::{AgentCapabilityConfig, AgentCreateParams, AgentStatus, AgentUpdateParams};
use shadway::local::{LocalServer, LocalService};
use shadway::mandates::{
    Authority, AuthorityRule, CapabilityLimit, MandateCreateParams, MandateListParams, MandateStatus,
    QuietHours, SuccessCriterion,
};
use shadway::transport::{Body, HttpError, HttpFuture, HttpService};
use shadway::types::ListParams;
use shadway::types::{Interval, Money};
use shadway::{Client, ErrorKind};

/// The local server's own transport, with a look at everything that passes.
#[derive(Clone)]
struct Witness {
    service: LocalService,
    document: Arc<Document>,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    operations: BTreeSet<String>,
    findings: Vec<String>,
}

impl std::fmt::Debug for Witness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Witness")
    }
}

impl HttpService for Witness {
    fn call(&self, request: http::Request<Bytes>) -> HttpFuture<'_> {
        Box::pin(async move {
            let (method, uri) = (request.method().clone(), request.uri().clone());
            let asked = self.document.check_request(&method, &uri, request.headers(), request.body());
            let (parts, body) = self.service.call(request).await?.into_parts();
            let body = body.collect().await.map_err(HttpError::other)?.to_bytes();
            let answered =
                self.document.check_response(&method, uri.path(), parts.status, &parts.headers, &body);
            let mut seen = self.seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if let Some(operation) = self.document.operation(&method, uri.path()) {
                seen.operations.insert(operation.id().to_owned());
            }
            seen.findings.extend(asked.err().into_iter().chain(answered.err()).flatten());
            Ok(http::Response::from_parts(parts, Body::from(body)))
        })
    }
}

/// What the document has, and the crate and the local server don't have yet.
const NOT_SERVED_YET: &[&str] = &[
    "amendMandate",
    "approveApproval",
    "createWebhookEndpoint",
    "deleteWebhookEndpoint",
    "getApproval",
    "getArtifactDownload",
    "getCapability",
    "getWebhookEndpoint",
    "listApprovals",
    "listArtifacts",
    "listAssertions",
    "listCapabilities",
    "listCommitments",
    "listEvents",
    "listEvidence",
    "listFacts",
    "listInformationNeeds",
    "listIssues",
    "listMandateAmendments",
    "listMandateEvents",
    "listWebhookEndpoints",
    "registerCapability",
    "rejectApproval",
    "rotateWebhookEndpointSecret",
    "streamEvents",
    "streamMandateEvents",
    "updateCapability",
    "updateWebhookEndpoint",
];

struct Stage {
    _server: LocalServer,
    witness: Witness,
    client: Client,
}

impl Stage {
    async fn new() -> Self {
        let server = LocalServer::start().await.unwrap();
        let witness = Witness {
            service: server.service(),
            document: Arc::new(Document::load().unwrap()),
            seen: Arc::default(),
        };
        let client = Client::builder()
            .api_key(server.api_key())
            .base_url(server.url())
            .http_service(witness.clone())
            .build()
            .unwrap();
        Self { _server: server, witness, client }
    }

    /// What was exchanged, if all of it was as the document says.
    fn operations(&self) -> BTreeSet<String> {
        let seen = self.witness.seen.lock().unwrap();
        assert!(seen.findings.is_empty(), "{:#?}", seen.findings);
        seen.operations.clone()
    }
}

#[tokio::test(start_paused = true)]
async fn every_call_and_every_answer_is_as_the_document_says() {
    let stage = Stage::new().await;
    agents(&stage.client).await;
    mandates(&stage.client).await;
    let covered = stage.operations();
    let all: BTreeSet<String> =
        stage.witness.document.operations().map(|operation| operation.id().to_owned()).collect();
    let missing: Vec<_> = all.difference(&covered).map(String::as_str).collect();
    assert_eq!(missing, NOT_SERVED_YET, "never exchanged");
}

#[tokio::test(start_paused = true)]
async fn every_refusal_is_as_the_document_says() {
    let stage = Stage::new().await;
    refusals(&stage.client).await;
    stage.operations();
}

#[tokio::test]
async fn the_witness_notices_a_request_that_is_not_in_the_document() {
    let stage = Stage::new().await;
    let odd = [
        stage.client.request(Method::GET, "/v1/agents").query("surprise", 1),
        stage.client.request(Method::GET, "/v1/nowhere"),
        stage.client.request(Method::POST, "/v1/agents").json(&serde_json::json!({"name": 7})),
    ];
    for call in odd {
        let before = stage.witness.seen.lock().unwrap().findings.len();
        call.await.unwrap_err();
        assert!(stage.witness.seen.lock().unwrap().findings.len() > before);
    }
}

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

async fn refusals(client: &Client) {
    let agents = client.agents();
    let agent = agents
        .create(AgentCreateParams::new("A", "p/m").capabilities(["email.send", "mailbox.search"]))
        .await
        .unwrap();
    let refused = |kind, error: shadway::Error| assert_eq!(error.kind(), kind, "{error}");
    refused(ErrorKind::NotFound, agents.get("agt_none").await.unwrap_err());
    refused(ErrorKind::NotFound, client.mandates().get("mnd_none").await.unwrap_err());
    refused(ErrorKind::NotFound, client.mandate("mnd_none").cancel("x").await.unwrap_err());
    let reuse = agents.create(AgentCreateParams::new("A", "p/m")).idempotency_key("k").await.unwrap();
    refused(
        ErrorKind::Conflict,
        agents.create(AgentCreateParams::new("B", "p/m")).idempotency_key("k").await.unwrap_err(),
    );
    for (authority, code) in [
        (Authority::new().capabilities(["phone.call"]), "capability_not_granted"),
        (Authority::new().capabilities(["mailbox.search"]), "capability_unavailable"),
        (
            Authority::new()
                .capabilities(["email.send"])
                .spend_maximum(Money::usd(5))
                .spend_approval_threshold(Money::usd(5)),
            "invalid_authority",
        ),
    ] {
        let params = MandateCreateParams::new(&agent.id, "x").authority(authority);
        let error = client.mandates().create(params).await.unwrap_err();
        assert_eq!(error.code().map(ToString::to_string).as_deref(), Some(code));
    }
    agents.update(&reuse.id, AgentUpdateParams::new().status(AgentStatus::Disabled)).await.unwrap();
    let error = client.mandates().create(MandateCreateParams::new(&reuse.id, "x")).await.unwrap_err();
    assert_eq!(error.code().map(ToString::to_string).as_deref(), Some("agent_disabled"));

    let able = agents.create(AgentCreateParams::new("C", "p/m").capabilities(["email.send"])).await.unwrap();
    let mandate = client.mandates().create(MandateCreateParams::new(&able.id, "x")).await.unwrap();
    let work = client.mandate(&mandate.id);
    refused(ErrorKind::Conflict, work.resume("Nothing to resume.").await.unwrap_err());
    work.wait().await.unwrap();
    refused(ErrorKind::Conflict, work.pause("Too late.").await.unwrap_err());
    refused(ErrorKind::Conflict, work.cancel("Too late.").await.unwrap_err());
}
