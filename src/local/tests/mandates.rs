use std::time::Duration;

use super::*;
use crate::agents::{Agent, AgentCreateParams, AgentStatus, AgentUpdateParams};
use crate::mandates::{
    Authority, AuthorityRule, CapabilityLimit, Mandate, MandateCreateParams, MandateListParams,
    MandateStatus, SuccessCriterion,
};
use crate::types::{ErrorCode, Interval, JsonNumber, Money};

const NAMES: [&str; 5] = ["email.send", "email.get_delivery", "phone", "mailbox.search", "fax.send"];

async fn agent(client: &Client, names: &[&str]) -> Agent {
    client.agents().create(AgentCreateParams::new("A", "m/m").capabilities(names.to_vec())).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_wait_sees_a_mandate_to_its_end() {
    let (_server, client) = server().await;
    let agent = agent(&client, &["email.send"]).await;
    let authority = Authority::new().capabilities(["email.send"]).maximum_actions(5);
    let params = MandateCreateParams::new(&agent.id, "Ask for a quote.")
        .guidance(["Be polite."])
        .authority(authority.clone())
        .metadata("request", "PR-1");
    let mandate = client.mandates().create(params).await.unwrap();
    assert_eq!((&mandate.status, mandate.authority_version), (&MandateStatus::Queued, 1));
    assert_eq!((&mandate.authority, &mandate.guidance[0]), (&authority, &"Be polite.".to_owned()));

    let interval = Duration::from_millis(25);
    let mut updates = client.mandate(&mandate.id).wait().poll_interval(interval).updates();
    let mut statuses = Vec::new();
    let mut states = 0;
    while let Some(mandate) = updates.try_next().await.unwrap() {
        states += 1;
        statuses.push(mandate.status);
    }
    statuses.dedup();
    assert_eq!(states, 7);
    let (running, waiting) = (MandateStatus::Running, MandateStatus::WaitingExternal);
    assert_eq!(
        statuses,
        [MandateStatus::Queued, running.clone(), waiting, running, MandateStatus::Completed]
    );
}

#[tokio::test(start_paused = true)]
async fn a_mandate_moves_on_while_nobody_asks() {
    let (server, client) = server().await;
    let agent = agent(&client, &[]).await;
    // With nothing due the server sleeps by now, and has to be woken.
    tokio::time::sleep(Duration::from_secs(1)).await;
    let mandate = client.mandates().create(MandateCreateParams::new(&agent.id, "Think.")).await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    // Looked at behind the server's back, since a request would move it on.
    let seen = server.shared.workspace.lock().unwrap().mandate(mandate.id.as_str()).unwrap();
    assert_eq!(seen.status, MandateStatus::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_mandate_can_be_given_only_what_its_agent_can_do() {
    let (_server, client) = server().await;
    let agent = agent(&client, &NAMES).await;
    let refused = async |names: &[&str]| {
        let authority = Authority::new().capabilities(names.to_vec());
        let params = MandateCreateParams::new(&agent.id, "Do it.").authority(authority);
        let error = client.mandates().create(params).await.unwrap_err();
        assert_eq!(error.status().unwrap(), 422);
        (error.code().cloned().unwrap(), error.api().unwrap().param.clone().unwrap())
    };
    let second = "authority.capabilities[1]".to_owned();
    for name in ["phone", "email", "browser.run", "phone.call", "fax.send", "fax.receive"] {
        let code = ErrorCode::CapabilityNotGranted;
        assert_eq!(refused(&["email.send", name]).await, (code, second.clone()), "{name}");
    }
    let code = ErrorCode::CapabilityUnavailable;
    assert_eq!(refused(&["email.send", "mailbox.search"]).await, (code.clone(), second));
    assert_eq!(refused(&[]).await, (code, "authority.capabilities".to_owned()));
}

#[tokio::test(start_paused = true)]
async fn limits_that_contradict_each_other_are_refused() {
    let (server, client) = server().await;
    let agent = agent(&client, &[]).await;
    let new = Authority::new;
    let cases = [
        (new().spend_maximum(Money::usd(-1)), "maximum"),
        (new().spend_approval_threshold(Money::usd(1)), "approvalThreshold"),
        (new().spend_maximum(Money::usd(5)).spend_approval_threshold(Money::usd(-1)), "approvalThreshold"),
        (new().spend_maximum(Money::usd(5)).spend_approval_threshold(Money::usd(5)), "approvalThreshold"),
        (
            new().spend_maximum(Money::usd(5)).spend_approval_threshold(Money::new(1, "eur")),
            "approvalThreshold",
        ),
    ];
    for (authority, field) in cases {
        let params = MandateCreateParams::new(&agent.id, "Buy it.").authority(authority);
        let error = client.mandates().create(params).await.unwrap_err();
        assert_eq!(error.code(), Some(&ErrorCode::InvalidAuthority), "{error}");
        assert_eq!(error.api().unwrap().param, Some(format!("authority.spend.{field}")));
    }
    let fine = new().spend_maximum(Money::usd(5)).spend_approval_threshold(Money::usd(4));
    client.mandates().create(MandateCreateParams::new(&agent.id, "Buy it.").authority(fine)).await.unwrap();

    let body = format!(r#"{{"agent":"{}","objective":"o","authority":{{"maximumActions":-1}}}}"#, agent.id);
    let answer = Raw::change(Method::POST, "/v1/mandates", "k", body).send(&server.service()).await;
    assert_eq!(answer.refusal(), (422, "invalid_request", Some("authority.maximumActions")));
    assert_eq!(answer.body["error"]["code"], "invalid_authority");
}

#[tokio::test(start_paused = true)]
async fn limits_that_no_action_could_be_held_against_are_refused() {
    let (_server, client) = server().await;
    let agent = agent(&client, &["email.send"]).await;
    let create = async |authority: Authority| {
        client.mandates().create(MandateCreateParams::new(&agent.id, "Ask.").authority(authority)).await
    };
    let work = client.mandate(create(Authority::new()).await.unwrap().id);
    let rate = |interval: &str| {
        let interval: Interval = serde_json::from_value(interval.into()).unwrap();
        let fine = CapabilityLimit::new("email.send").rate(1, Interval::hours(1));
        Authority::new().capability_limits([fine, CapabilityLimit::new("a.b").rate(1, interval)])
    };
    let rule = |min: &str, max: &str| {
        let bound = |text: &str| text.parse::<JsonNumber>().unwrap();
        let rule = AuthorityRule::new("email.send", "quantity").min(bound(min)).max(bound(max));
        Authority::new().rules([AuthorityRule::new("email.send", "to").min(1), rule])
    };
    let criterion = |min: i64, max: i64| {
        Authority::new().success_criteria([SuccessCriterion::new("amount_minor").min(min).max(max)])
    };
    let cases = [
        (rate("soon"), "capabilityLimits[1].rate.interval"),
        (rate(""), "capabilityLimits[1].rate.interval"),
        (rate("1w"), "capabilityLimits[1].rate.interval"),
        (rate("0s"), "capabilityLimits[1].rate.interval"),
        (rule("2", "1"), "rules[1].min"),
        (rule("0.5", "0.25"), "rules[1].min"),
        (criterion(2, -2), "successCriteria[0].min"),
    ];
    for (authority, field) in cases {
        let created = create(authority.clone()).await.unwrap_err();
        let amended = work.amend_with("Change.", |_| authority.clone()).await.unwrap_err();
        for error in [created, amended] {
            assert_eq!(error.status().unwrap(), 422);
            assert_eq!(error.code(), Some(&ErrorCode::InvalidAuthority), "{error}");
            assert_eq!(error.api().unwrap().param, Some(format!("authority.{field}")));
        }
    }
    for fine in [rate("1d"), rule("1", "1.0"), criterion(-2, 2)] {
        create(fine.clone()).await.unwrap();
        work.amend_with("Change.", |_| fine.clone()).await.unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn limits_come_back_as_they_were_sent() {
    let (server, client) = server().await;
    let agent = agent(&client, &[]).await;
    let authority = r#"{"maximumActions":5,"custom":{"big":123456789012345678901234567890}}"#;
    let body = format!(r#"{{"agent":"{}","objective":"o","authority":{authority}}}"#, agent.id);
    let created = Raw::change(Method::POST, "/v1/mandates", "k", body).send(&server.service()).await;
    let id = created.body["id"].as_str().unwrap();
    let answer = client.request(Method::GET, format!("/v1/mandates/{id}")).await.unwrap();
    let text = String::from_utf8(answer.to_vec()).unwrap();
    assert!(text.contains("123456789012345678901234567890"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_mandate_needs_an_active_agent_and_keeps_the_version_it_began_with() {
    let (_server, client) = server().await;
    let create = |id: &str| client.mandates().create(MandateCreateParams::new(id, "Think."));
    let error = create("agt_missing").await.unwrap_err();
    assert_eq!(
        (error.status().unwrap().as_u16(), error.code()),
        (422, Some(&ErrorCode::from("invalid_request")))
    );
    assert_eq!(error.api().unwrap().param.as_deref(), Some("agent"));

    let agent = agent(&client, &[]).await;
    let mandate = create(agent.id.as_str()).await.unwrap();
    client.agents().update(&agent.id, AgentUpdateParams::new().name("B")).await.unwrap();
    let disable = AgentUpdateParams::new().status(AgentStatus::Disabled);
    client.agents().update(&agent.id, disable).await.unwrap();
    assert_eq!(create(agent.id.as_str()).await.unwrap_err().code(), Some(&ErrorCode::AgentDisabled));
    let done = client.mandate(&mandate.id).wait().await.unwrap();
    assert_eq!((done.status, done.agent_revision), (MandateStatus::Completed, Some(1)));
}

#[tokio::test(start_paused = true)]
async fn commands_follow_the_status() {
    let (server, client) = server().await;
    let agent = agent(&client, &[]).await;
    let mandate = client.mandates().create(MandateCreateParams::new(&agent.id, "Think.")).await.unwrap();
    let work = client.mandate(&mandate.id);
    assert_eq!(work.pause("Wait.").await.unwrap().status, MandateStatus::Queued);
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert_eq!(work.get().await.unwrap().status, MandateStatus::Paused);
    let error = work.pause("Wait.").await.unwrap_err();
    assert_eq!((error.is_conflict(), error.code()), (true, Some(&ErrorCode::InvalidStatusTransition)));

    let path = format!("/v1/mandates/{}/resume", mandate.id);
    let without_body = Raw::new(Method::POST, &path).key().header("idempotency-key", "k");
    assert_eq!(without_body.send(&server.service()).await.body["status"], "running");
    work.cancel("Enough.").await.unwrap();
    assert_eq!(work.wait().await.unwrap().status, MandateStatus::Canceled);
    assert_eq!(work.cancel("Enough.").await.unwrap_err().code(), Some(&ErrorCode::InvalidStatusTransition));
    assert!(client.mandate("mnd_missing").pause("Wait.").await.unwrap_err().is_not_found());
}

#[tokio::test(start_paused = true)]
async fn a_mandate_ends_with_its_time() {
    let (_server, client) = server().await;
    let agent = agent(&client, &[]).await;
    let start = agent.created_at.unwrap();
    let params =
        MandateCreateParams::new(&agent.id, "Think.").expires_at(start + Duration::from_secs(86_400));
    let work = client.mandate(client.mandates().create(params).await.unwrap().id);
    work.pause("Wait.").await.unwrap();
    let done = work.wait().await.unwrap();
    assert_eq!((done.status, done.updated_at), (MandateStatus::Expired, done.expires_at));
}

#[tokio::test(start_paused = true)]
async fn lists_keep_to_their_filters() {
    let (_server, client) = server().await;
    let (one, two) = (agent(&client, &[]).await, agent(&client, &[]).await);
    let mut ids = Vec::new();
    for agent in [&one, &two, &one] {
        let params = MandateCreateParams::new(&agent.id, "Think.");
        ids.push(client.mandates().create(params).await.unwrap().id);
    }
    client.mandate(&ids[2]).cancel("No.").await.unwrap();
    tokio::time::sleep(Duration::from_millis(60)).await;
    client.mandate(&ids[0]).pause("Wait.").await.unwrap();
    tokio::time::sleep(Duration::from_millis(100)).await;

    let list = async |params: MandateListParams| {
        let found: Vec<Mandate> =
            client.mandates().list(params.limit(1)).items().try_collect().await.unwrap();
        found.into_iter().map(|mandate| mandate.id).collect::<Vec<_>>()
    };
    let new = MandateListParams::new;
    assert_eq!(list(new()).await, ids);
    assert_eq!(list(new().agent(&one.id)).await, [ids[0].clone(), ids[2].clone()]);
    assert!(list(new().agent("agt_missing")).await.is_empty());
    let two_statuses = [MandateStatus::Paused, MandateStatus::Canceled];
    assert_eq!(list(new().status(two_statuses)).await, [ids[0].clone(), ids[2].clone()]);
    assert_eq!(list(new().status([MandateStatus::Running]).agent(&two.id)).await, [ids[1].clone()]);
}
