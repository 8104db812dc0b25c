//! How the server's time passes.

use std::time::Duration;

use serde_json::json;

use crate::Client;
use crate::agents::AgentCreateParams;
use crate::approvals::{ApprovalApproveParams, ApprovalListParams, ApprovalStatus};
use crate::capabilities::{CapabilityEffect, CapabilityRegisterParams, Executor};
use crate::local::{LocalClock, LocalServer, Script};
use crate::mandates::{
    Authority, Mandate, MandateCommandParams, MandateCreateParams, MandateHandle, MandateStatus,
};
use crate::types::RawJson;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const WEEK: Duration = Duration::from_secs(7 * 24 * 60 * 60);

async fn server(clock: LocalClock) -> (LocalServer, Client) {
    let server = LocalServer::builder().clock(clock).start().await.unwrap();
    let client = Client::builder().api_key(server.api_key()).http_service(server.service()).build().unwrap();
    (server, client)
}

async fn mandate(client: &Client, authority: Authority) -> MandateHandle {
    let agent = AgentCreateParams::new("Assistant", "p/m").capabilities(["email.send"]);
    let agent = client.agents().create(agent).await.unwrap();
    let params = MandateCreateParams::new(&agent.id, "Write to sales@atlas.example.").authority(authority);
    client.mandate(&client.mandates().create(params).await.unwrap().id)
}

async fn asks(client: &Client) -> MandateHandle {
    mandate(client, Authority::new().require_approval_for(["email.send"])).await
}

fn elapsed(server: &LocalServer, since: jiff::Timestamp) -> Duration {
    Duration::try_from(server.now().duration_since(since)).unwrap()
}

async fn seen(server: &LocalServer, work: &MandateHandle) -> Mandate {
    server.shared.with(|workspace, _| workspace.mandate(work.id().as_str())).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_manual_clock_stands_until_it_is_moved() {
    let (server, client) = server(LocalClock::Manual).await;
    let began = server.now();
    let work = mandate(&client, Authority::new()).await;
    tokio::time::sleep(WEEK).await;
    assert_eq!((server.now(), work.get().await.unwrap().status), (began, MandateStatus::Queued));

    let next = server.skip_to_next().await.unwrap();
    assert_eq!((next, work.get().await.unwrap().status), (server.now(), MandateStatus::Running));
    server.advance(DAY).await;
    assert_eq!(server.now(), next + jiff::SignedDuration::from_hours(24));
    let done = work.get().await.unwrap();
    assert_eq!(done.status, MandateStatus::Completed);
    // Each thing happened when it was due, not when time had been moved.
    assert!(done.updated_at.unwrap() < next + jiff::SignedDuration::from_secs(5), "{done:?}");
    assert_eq!(server.skip_to_next().await, None);
}

#[tokio::test(start_paused = true)]
async fn moved_time_waits_for_what_is_connected() {
    let (server, client) = server(LocalClock::Manual).await;
    let object = json!({"type": "object", "properties": {"reference": {"type": "string"}}});
    let register = CapabilityRegisterParams::new("parts.check", "Checks.", object.clone(), object);
    client.capabilities().register(register.effect(CapabilityEffect::Read)).await.unwrap();
    server.connect(Executor::new("parts.check", |_: RawJson| async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        Ok::<_, std::io::Error>(RawJson::from(json!({"reference": "r"})))
    }));
    let agent = AgentCreateParams::new("Assistant", "p/m").capabilities(["parts.check"]);
    let agent = client.agents().create(agent).await.unwrap();
    let made = client.mandates().create(MandateCreateParams::new(&agent.id, "Check.")).await.unwrap();
    server.advance(DAY).await;
    assert_eq!(client.mandate(&made.id).get().await.unwrap().status, MandateStatus::Completed);
}

#[tokio::test(start_paused = true)]
async fn an_automatic_clock_moves_only_for_those_who_wait() {
    let (server, client) = server(LocalClock::Automatic).await;
    let began = server.now();
    let work = mandate(&client, Authority::new()).await;
    // 20 ms of this machine's time are not enough for the first step, and nobody waits.
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(seen(&server, &work).await.status, MandateStatus::Queued);
    assert_eq!(elapsed(&server, began), Duration::from_millis(20));

    // Somebody asks, and is told that it has not ended: as good as waiting, until it has got on.
    assert_eq!(work.get().await.unwrap().status, MandateStatus::Queued);
    tokio::time::sleep(Duration::from_millis(5)).await;
    assert_eq!(seen(&server, &work).await.status, MandateStatus::Running);
    let got_on = elapsed(&server, began);
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(elapsed(&server, began), got_on + Duration::from_millis(20));
}

#[tokio::test(start_paused = true)]
async fn an_automatic_clock_never_passes_the_end_of_a_persons_time() {
    let (server, client) = server(LocalClock::Automatic).await;
    let began = server.now();
    let (asking, other) = (asks(&client).await, asks(&client).await);
    let approval = asking.wait_for_approval().await.unwrap().unwrap();
    let list = client.approvals().list(ApprovalListParams::new().status([ApprovalStatus::Pending]));
    list.await.unwrap();
    let mut events = client.events().stream();
    tokio::spawn(async move { while let Ok(Some(_)) = events.try_next().await {} });
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(elapsed(&server, began) < Duration::from_secs(70), "{:?}", elapsed(&server, began));

    client.approvals().approve(&approval.id, ApprovalApproveParams::new()).await.unwrap();
    assert_eq!(asking.wait().await.unwrap().status, MandateStatus::Completed);
    assert_eq!(other.get().await.unwrap().status, MandateStatus::NeedsApproval);
}

#[tokio::test]
async fn an_automatic_clock_serves_clients_over_sockets_that_stream_or_poll() {
    let server = LocalServer::start().await.unwrap();
    let client = server.client().unwrap();
    let began = server.now();
    let work = mandate(&client, Authority::new()).await;
    assert_eq!(work.wait().await.unwrap().status, MandateStatus::Completed);

    let work = mandate(&client, Authority::new()).await;
    let mut polls = 0;
    while !work.get().await.unwrap().status.is_terminal() {
        polls += 1;
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(polls < 40, "{polls}");
    assert!(elapsed(&server, began) > Duration::from_secs(1), "{:?}", elapsed(&server, began));
}

#[tokio::test(start_paused = true)]
async fn a_faster_clock_is_so_many_times_as_fast() {
    let (server, client) = server(LocalClock::Faster(100)).await;
    let began = server.now();
    let work = asks(&client).await;
    tokio::time::sleep(Duration::from_millis(10)).await;
    assert_eq!(seen(&server, &work).await.status, MandateStatus::NeedsApproval);
    tokio::time::sleep(WEEK / 100).await;
    assert_eq!(seen(&server, &work).await.status, MandateStatus::Paused);
    assert_eq!(elapsed(&server, began), WEEK + Duration::from_secs(1));
}

#[tokio::test(start_paused = true)]
async fn time_that_is_moved_on_ends_what_a_person_was_given() {
    let (server, client) = server(LocalClock::Real).await;
    let work = asks(&client).await;
    work.wait_for_approval().await.unwrap().unwrap();
    server.advance(WEEK).await;
    assert_eq!(work.get().await.unwrap().status, MandateStatus::Paused);
}

#[tokio::test(start_paused = true)]
async fn a_seed_gives_the_same_ids() {
    let mut ids = Vec::new();
    for seed in [1, 1, 2] {
        let server = LocalServer::builder().seed(seed).start().await.unwrap();
        let work = mandate(&server.client().unwrap(), Authority::new()).await;
        ids.push(work.id().to_string());
    }
    assert!(ids[0] == ids[1] && ids[0] != ids[2], "{ids:?}");
}

#[tokio::test(start_paused = true)]
async fn whoever_asked_about_what_waits_for_a_person_moves_nothing_else() {
    let (server, client) = server(LocalClock::Automatic).await;
    let asking = asks(&client).await;
    asking.wait_for_approval().await.unwrap().unwrap();
    asking.get().await.unwrap();
    let began = server.now();
    let other = mandate(&client, Authority::new()).await;
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(seen(&server, &other).await.status, MandateStatus::Queued);
    assert_eq!(elapsed(&server, began), Duration::from_millis(20));
}

#[tokio::test(start_paused = true)]
async fn a_mandate_that_is_paused_is_not_hurried_and_keeps_no_other_waiting() {
    let (server, client) = server(LocalClock::Automatic).await;
    let agent = AgentCreateParams::new("Assistant", "p/m").capabilities(["email.send"]);
    let agent = client.agents().create(agent).await.unwrap();
    let expires = server.now() + jiff::SignedDuration::from_hours(2);
    let params = MandateCreateParams::new(&agent.id, "Write to sales@atlas.example.").expires_at(expires);
    let paused = client.mandate(&client.mandates().create(params).await.unwrap().id);
    paused.pause(MandateCommandParams::new()).await.unwrap();
    while paused.get().await.unwrap().status != MandateStatus::Paused {
        tokio::time::sleep(Duration::from_millis(2)).await;
    }
    // It alone is no reason to move on.
    tokio::time::sleep(Duration::from_millis(20)).await;
    assert_eq!(paused.get().await.unwrap().status, MandateStatus::Paused);
    assert!(server.now() < expires);
    // Another is.
    server.script(Script::any().wait(DAY).complete("Done."));
    let other = mandate(&client, Authority::new()).await;
    assert_eq!(other.wait().await.unwrap().status, MandateStatus::Completed);
    assert_eq!(paused.get().await.unwrap().status, MandateStatus::Expired);
}
