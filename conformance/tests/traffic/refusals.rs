//! Every way in which the service says no.

use std::time::Duration;

use serde_json::json;
use shadway::agents::{AgentCreateParams, AgentStatus, AgentUpdateParams};
use shadway::approvals::ApprovalListParams;
use shadway::capabilities::{CapabilityRegisterParams, CapabilityUpdateParams};
use shadway::mandates::{Authority, MandateAmendmentCreateParams, MandateCreateParams};
use shadway::types::Money;
use shadway::{Client, ErrorKind};

use crate::witness::Stage;

pub(crate) async fn everything(stage: &Stage) {
    let client = &stage.client;
    creation(client).await;
    decisions(client).await;
    capabilities(client).await;
    unknown(client).await;
}

fn refused_with(code: &str, error: &shadway::Error) {
    assert_eq!(error.code().map(ToString::to_string).as_deref(), Some(code), "{error}");
}

async fn creation(client: &Client) {
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

async fn decisions(client: &Client) {
    let agents = client.agents();
    let agent = agents.create(AgentCreateParams::new("D", "p/m").capabilities(["email.send"])).await.unwrap();
    let authority = || Authority::new().require_approval_for(["email.send"]);
    let begin = async || {
        let params = MandateCreateParams::new(&agent.id, "Ask for a quote.").authority(authority());
        let mandate = client.mandates().create(params).await.unwrap();
        tokio::time::sleep(Duration::from_secs(1)).await;
        let asked = client.approvals().list(ApprovalListParams::new().mandate(&mandate.id)).await.unwrap();
        (client.mandate(&mandate.id), asked.data[0].id.clone())
    };

    let (work, approval) = begin().await;
    client.approvals().approve(&approval, "Fine.").await.unwrap();
    refused_with("already_resolved", &client.approvals().reject(&approval, "No.").await.unwrap_err());
    let amend = |version| MandateAmendmentCreateParams::new(authority(), "More.", version);
    refused_with("version_mismatch", &work.amend(amend(7)).await.unwrap_err());
    let negative = authority().spend_maximum(Money::usd(5)).spend_approval_threshold(Money::usd(6));
    let negative = MandateAmendmentCreateParams::new(negative, "More.", 1);
    refused_with("invalid_authority", &work.amend(negative).await.unwrap_err());
    work.wait().await.unwrap();
    refused_with("mandate_ended", &work.amend(amend(1)).await.unwrap_err());

    let (work, approval) = begin().await;
    work.cancel("No longer needed.").await.unwrap();
    refused_with("mandate_ended", &client.approvals().approve(&approval, "Fine.").await.unwrap_err());

    let (work, approval) = begin().await;
    tokio::time::sleep(Duration::from_secs(8 * 24 * 60 * 60)).await;
    refused_with("approval_expired", &client.approvals().approve(&approval, "Fine.").await.unwrap_err());
    refused_with("invalid_status_transition", &work.pause("Again.").await.unwrap_err());
}

async fn capabilities(client: &Client) {
    let capabilities = client.capabilities();
    let object = || json!({"type": "object"});
    let params = |name: &str| CapabilityRegisterParams::new(name, "Order.", object(), object());
    capabilities.register(params("erp.order")).await.unwrap();
    refused_with("capability_exists", &capabilities.register(params("erp.order")).await.unwrap_err());
    refused_with("capability_exists", &capabilities.register(params("email.send")).await.unwrap_err());
    let fixed = capabilities.update("email.send", CapabilityUpdateParams::new().description("Mine."));
    assert_eq!(fixed.await.unwrap_err().kind(), ErrorKind::Permission);
    let version = capabilities.get_version("erp.order", "9").await.unwrap_err();
    assert!(version.is_not_found());
}

/// Nothing that is asked for is there.
async fn unknown(client: &Client) {
    let work = client.mandate("mnd_none");
    let errors = [
        client.approvals().get("apr_none").await.unwrap_err(),
        client.approvals().approve("apr_none", "Fine.").await.unwrap_err(),
        client.approvals().reject("apr_none", "No.").await.unwrap_err(),
        client.capabilities().get("a.b").await.unwrap_err(),
        client.artifacts().download("art_none").await.unwrap_err(),
        client.webhooks().endpoints().get("whe_none").await.unwrap_err(),
        client.webhooks().endpoints().delete("whe_none").await.unwrap_err(),
        client.webhooks().endpoints().rotate_secret("whe_none").await.unwrap_err(),
        work.facts().list().await.unwrap_err(),
        work.amendments().list().await.unwrap_err(),
        work.events().list().await.unwrap_err(),
        work.amend(MandateAmendmentCreateParams::new(Authority::new(), "More.", 1)).await.unwrap_err(),
    ];
    assert!(errors.iter().all(shadway::Error::is_not_found), "{errors:?}");
}
