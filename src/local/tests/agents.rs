use std::time::Duration;

use super::*;
use crate::agents::{
    AgentCapabilityConfig, AgentCapabilityReadiness, AgentCreateParams, AgentStatus, AgentUpdateParams,
};

#[tokio::test(start_paused = true)]
async fn only_a_configuration_that_differs_makes_a_revision() {
    let (_server, client) = server().await;
    let agents = client.agents();
    let params = AgentCreateParams::new("A", "m/m").instructions("Be concise.").metadata("team", "x");
    let agent = agents.create(params).await.unwrap();
    assert_eq!((agent.revision, &agent.status), (Some(1), &AgentStatus::Active));

    let update = |params| agents.update(&agent.id, params);
    let new = AgentUpdateParams::new;
    let same = update(new().name("A").instructions("Be concise.")).await.unwrap();
    assert_eq!(same, agent);
    tokio::time::advance(Duration::from_secs(1)).await;
    let labels = update(new().status(AgentStatus::Disabled).metadata([("team", "y")])).await.unwrap();
    assert_eq!((labels.revision, &labels.status), (Some(1), &AgentStatus::Disabled));
    assert!(labels.updated_at > agent.updated_at);
    assert_eq!(labels.instructions.as_deref(), Some("Be concise."));

    let changes = [
        new().name("B"),
        new().model("m/n"),
        new().clear_instructions(),
        new().capabilities(["email.send"]),
        new().capability_config([("phone", AgentCapabilityConfig::new().country("US"))]),
    ];
    for (change, revision) in changes.into_iter().zip(2..) {
        assert_eq!(update(change).await.unwrap().revision, Some(revision));
    }
    let last = agents.get(&agent.id).await.unwrap();
    assert_eq!((last.name.as_str(), last.instructions), ("B", None));
}

#[tokio::test(start_paused = true)]
async fn null_clears_the_instructions_and_nothing_else() {
    let (server, client) = server().await;
    let agent = client.agents().create(AgentCreateParams::new("A", "m/m")).await.unwrap();
    let path = format!("/v1/agents/{}", agent.id);
    for field in ["name", "model", "capabilities", "capabilityConfig", "status", "metadata"] {
        let body = format!(r#"{{"{field}":null}}"#);
        let answer = Raw::change(Method::PATCH, &path, field, body).send(&server.service()).await;
        assert_eq!(answer.refusal(), (422, "invalid_request", Some(field)));
    }
    let body = r#"{"status":"asleep"}"#;
    let answer = Raw::change(Method::PATCH, &path, "k", body).send(&server.service()).await;
    assert_eq!(answer.refusal(), (422, "invalid_request", Some("status")));
    assert_eq!(client.agents().get(&agent.id).await.unwrap(), agent);
}

#[tokio::test(start_paused = true)]
async fn a_phone_is_set_up_for_a_moment_and_all_else_is_told_at_once() {
    let (_server, client) = server().await;
    let names = ["email.send", "phone", "phone.call", "mailbox.search", "fax.send", "browser"];
    let phone = AgentCapabilityConfig::new().country("US").area_code("415");
    let params = AgentCreateParams::new("A", "m/m").capabilities(names).capability_config("phone", phone);
    let agent = client.agents().create(params).await.unwrap();
    let told = |name: &str| agent.capability_status[name].status.clone();
    assert_eq!(told("email.send"), AgentCapabilityReadiness::Ready);
    assert_eq!(told("browser"), AgentCapabilityReadiness::Ready);
    assert_eq!(told("phone"), AgentCapabilityReadiness::Provisioning);
    assert_eq!(told("phone.call"), AgentCapabilityReadiness::Provisioning);
    for name in ["mailbox.search", "fax.send"] {
        assert_eq!(told(name), AgentCapabilityReadiness::Unavailable);
        assert!(agent.capability_status[name].detail.is_some());
    }

    tokio::time::advance(Duration::from_millis(100)).await;
    let ready = client.agents().get(&agent.id).await.unwrap();
    let status = &ready.capability_status["phone"];
    assert_eq!(status.status, AgentCapabilityReadiness::Ready);
    assert!(status.number.as_deref().unwrap().starts_with("+1415555"), "{status:?}");
    assert_eq!(ready.not_ready().count(), 2);

    let renamed = client.agents().update(&agent.id, AgentUpdateParams::new().name("B")).await.unwrap();
    assert_eq!(renamed.capability_status, ready.capability_status);
    let own = AgentCapabilityConfig::new().resource("+14155550100");
    let own = AgentUpdateParams::new().capabilities(["phone"]).capability_config([("phone", own)]);
    let own = client.agents().update(&agent.id, own).await.unwrap();
    assert_eq!(own.capability_status["phone"].status, AgentCapabilityReadiness::Provisioning);
    let own = client.agents().wait_until_ready(&agent.id).await.unwrap();
    assert_eq!(own.capability_status["phone"].number.as_deref(), Some("+14155550100"));
}

#[tokio::test(start_paused = true)]
async fn a_change_that_is_refused_changes_nothing() {
    let (_server, client) = server().await;
    let before = client.agents().create(AgentCreateParams::new("A", "m/m")).await.unwrap();
    for params in [
        AgentUpdateParams::new().name("B").model(" "),
        AgentUpdateParams::new().model("p/other").name(""),
        AgentUpdateParams::new().name("B").status("retired".into()),
    ] {
        let error = client.agents().update(&before.id, params).await.unwrap_err();
        assert_eq!(error.status().unwrap(), 422);
        assert_eq!(client.agents().get(&before.id).await.unwrap(), before);
    }
}
