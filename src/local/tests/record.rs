use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;
use crate::agents::AgentCreateParams;
use crate::events::Event;
use crate::mandates::{
    Authority, MandateAmendmentCreateParams, MandateCreateParams, MandateHandle, MandateStatus,
    SuccessCriterion,
};
use crate::types::{ErrorCode, JsonNumber};

async fn done(client: &Client, authority: Authority) -> MandateHandle {
    let params = AgentCreateParams::new("A", "m/m").capabilities(["email.send", "email.get_delivery"]);
    let agent = client.agents().create(params).await.unwrap();
    let params = MandateCreateParams::new(&agent.id, "Email sales@atlas.example.").authority(authority);
    let work = client.mandate(client.mandates().create(params).await.unwrap().id);
    work.wait().await.unwrap();
    work
}

#[tokio::test(start_paused = true)]
async fn criteria_are_met_by_confirmed_facts_with_evidence() {
    let (_server, client) = server().await;
    let exact: JsonNumber = "799999.10".parse().unwrap();
    let work = done(
        &client,
        Authority::new().success_criteria([
            SuccessCriterion::new("delivered").equals(true),
            SuccessCriterion::new("amount").max(exact.clone()),
        ]),
    )
    .await;
    assert_eq!(work.get().await.unwrap().status, MandateStatus::Completed);
    let facts = work.facts().list().await.unwrap().data;
    let known: Vec<_> = facts.iter().map(|fact| (fact.key.as_str(), fact.value.get())).collect();
    assert_eq!(known, [("emails_sent", "1"), ("delivered", "true"), ("amount", exact.get())]);
    let evidence = work.evidence().list().await.unwrap().data;
    let excerpts: Vec<_> = evidence.iter().map(|piece| piece.excerpt.as_str()).collect();
    assert!(
        excerpts.contains(&"delivered: true") && excerpts.contains(&"To: sales@atlas.example"),
        "{excerpts:?}"
    );
    let promises = work.commitments().list().await.unwrap().data;
    assert_eq!(promises[0].party.as_deref(), Some("sales@atlas.example"));
    let needs = work.information_needs().list().await.unwrap().data;
    assert_eq!(needs[0].state, "answered");
}

#[tokio::test(start_paused = true)]
async fn a_criterion_that_nothing_supports_fails_the_mandate() {
    let (_server, client) = server().await;
    let criteria = [SuccessCriterion::new("delivered").equals(true)];
    let work =
        done(&client, Authority::new().maximum_actions(0).maximum_read_actions(0).success_criteria(criteria))
            .await;
    assert_eq!(work.get().await.unwrap().status, MandateStatus::Failed);
    assert!(work.facts().list().await.unwrap().data.is_empty());
}

#[tokio::test]
async fn an_artifact_can_be_fetched_by_its_link_without_a_key() {
    let server = LocalServer::start().await.unwrap();
    let client = server.client().unwrap();
    let work = done(&client, Authority::new()).await;
    let artifact = work.artifacts().list().await.unwrap().data.remove(0);
    let download = client.artifacts().download(&artifact.id).await.unwrap();
    let link = download.url.expose();
    assert!(link.starts_with(server.url()), "{link}");
    let answer = fetch(link).await;
    let (head, content) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert!(head.contains(&format!("content-type: {}", artifact.content_type.unwrap())), "{head}");
    assert!(content.starts_with("To: sales@atlas.example"), "{content}");
    assert_eq!(content.len() as u64, artifact.size.unwrap());
    let forged = link.replace("signature=", "signature=x");
    for link in [forged.as_str(), link.split('?').next().unwrap()] {
        assert!(fetch(link).await.starts_with("HTTP/1.1 403"));
    }
}

/// What anybody gets who has no more than the link.
async fn fetch(link: &str) -> String {
    let (host, path) = link.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = tokio::net::TcpStream::connect(host).await.unwrap();
    let request = format!("GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    answer
}

#[tokio::test(start_paused = true)]
async fn a_link_to_an_artifact_ends() {
    let (server, client) = server().await;
    let work = done(&client, Authority::new()).await;
    let artifact = work.artifacts().list().await.unwrap().data.remove(0);
    let download = client.artifacts().download(&artifact.id).await.unwrap();
    let path = download.url.expose().strip_prefix(server.url()).unwrap().to_owned();
    tokio::time::sleep(Duration::from_secs(301)).await;
    let late = Raw::new(Method::GET, &path).send(&server.service()).await;
    assert_eq!(late.refusal(), (403, "permission", None));
    assert!(client.artifacts().download("art_none").await.unwrap_err().is_not_found());
}

#[tokio::test(start_paused = true)]
async fn events_come_in_order_and_can_be_read_from_a_number_on() {
    let (server, client) = server().await;
    let one = done(&client, Authority::new()).await;
    let two = done(&client, Authority::new()).await;
    let events: Vec<Event> = one.events().list().limit(3).items().try_collect().await.unwrap();
    let sequences: Vec<u64> = events.iter().map(|event| event.sequence).collect();
    assert_eq!(sequences, [1, 2, 3, 4, 6, 7, 8, 9]);
    let later: Vec<Event> = one.events().list_after(4).items().try_collect().await.unwrap();
    assert_eq!(later, events[4..]);
    let others: Vec<Event> = two.events().list().items().try_collect().await.unwrap();
    let all: Vec<Event> = client.events().list().limit(5).items().try_collect().await.unwrap();
    assert_eq!(all, [events, others].concat());
    assert_eq!(*server.shared.position.borrow(), all.len() as u64);
    let odd = format!("/v1/mandates/{}/events?afterSequence=x", one.id());
    let odd = Raw::get(&odd).send(&server.service()).await;
    assert_eq!(odd.refusal(), (400, "invalid_request", Some("afterSequence")));
}

#[tokio::test(start_paused = true)]
async fn an_amendment_replaces_the_limits_at_the_next_step() {
    let (server, client) = server().await;
    let params = AgentCreateParams::new("A", "m/m").capabilities(["email.send", "phone.call"]);
    let agent = client.agents().create(params).await.unwrap();
    let only = Authority::new().capabilities(["email.send"]);
    let params = MandateCreateParams::new(&agent.id, "Reach sales@atlas.example.").authority(only.clone());
    let work = client.mandate(client.mandates().create(params).await.unwrap().id);
    // What the agent can do later does not count: the mandate keeps what it began with.
    let fewer = crate::agents::AgentUpdateParams::new().capabilities(["browser.run"]);
    client.agents().update(&agent.id, fewer).await.unwrap();

    let amend =
        |authority, version| work.amend(MandateAmendmentCreateParams::new(authority, "More.", version));
    let refused = async |authority, version| amend(authority, version).await.unwrap_err().code().cloned();
    assert_eq!(refused(only.clone(), 2).await, Some(ErrorCode::VersionMismatch));
    let lacking = Authority::new().capabilities(["browser.run"]);
    assert_eq!(refused(lacking, 1).await, Some(ErrorCode::CapabilityNotGranted));
    let body = r#"{"authority":{"maximumActions":-1},"reason":"x","expectedVersion":1}"#;
    let path = format!("/v1/mandates/{}/amendments", work.id());
    let negative = Raw::change(Method::POST, &path, "k", body).send(&server.service()).await;
    assert_eq!(negative.body["error"]["code"], "invalid_authority");

    // An empty list means the agent's full set (documented).
    let amendment = amend(Authority::new(), 1).await.unwrap();
    assert_eq!((amendment.version, amendment.reason.as_str()), (2, "More."));
    let mandate = work.wait().await.unwrap();
    assert_eq!((mandate.authority_version, mandate.authority), (2, Authority::new()));
    let actions: Vec<Event> = work.events().list().items().try_collect().await.unwrap();
    let called = |event: &&Event| event.execution().is_some_and(|run| run.capability == "phone.call");
    assert_eq!(actions.iter().filter(called).count(), 2);
    assert_eq!(refused(only, 2).await, Some(ErrorCode::MandateEnded));
    assert_eq!(work.amendments().list().await.unwrap().data, [amendment]);
}
