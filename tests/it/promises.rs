//! What the types promise beside their methods.

use std::future::IntoFuture as _;

use shadway::agents::{Agent, ReadyWait};
use shadway::approvals::Approval;
use shadway::call::{Call, CallFuture};
use shadway::events::EventStream;
use shadway::mandates::{ApprovalWait, Mandate, MandateHandle, Updates, Wait};
use shadway::page::{Items, Page, Pages};
use shadway::{Client, Error};

use crate::support::{Script, Step, agent, mandate};

fn send<T: Send + 'static>() {}
fn sync<T: Sync>() {}
fn unpin<T: Unpin>() {}

#[test]
fn an_error_is_one_word_and_can_cross_threads() {
    assert_eq!(size_of::<Error>(), size_of::<usize>());
    send::<Error>();
    sync::<Error>();
}

#[test]
fn handles_calls_and_streams_can_cross_threads() {
    send::<Client>();
    sync::<Client>();
    send::<MandateHandle>();
    sync::<MandateHandle>();
    send::<Call<Agent>>();
    send::<CallFuture<Agent>>();
    send::<Wait>();
    send::<ApprovalWait>();
    send::<CallFuture<Option<Approval>>>();
    send::<ReadyWait>();
    send::<Updates>();
    unpin::<Updates>();
    send::<Pages<Agent>>();
    unpin::<Pages<Agent>>();
    send::<Items<Mandate>>();
    unpin::<Items<Mandate>>();
    send::<EventStream>();
    unpin::<EventStream>();
    send::<Page<Agent>>();
}

#[tokio::test]
async fn calls_and_waits_can_be_spawned_and_joined() {
    let client = Script::new([Step::json(200, &agent())]).client();
    let task = tokio::spawn(client.agents().get("agt_1").send());
    let two = futures_util::future::join_all([
        client.agents().get("agt_1").send(),
        client.agents().get("agt_2").send(),
    ]);
    assert!(two.await.iter().all(Result::is_ok));
    assert!(task.await.unwrap().is_ok());

    let client = Script::new([Step::json(200, &mandate("completed"))]).client();
    let wait = tokio::spawn(client.mandate("mnd_1").wait().into_future());
    assert!(wait.await.unwrap().is_ok());
}

#[tokio::test(start_paused = true)]
async fn dropping_a_call_ends_it() {
    let script = Script::new([Step::Hang]);
    let client = script.client();
    let cut = tokio::time::timeout(std::time::Duration::from_secs(1), client.agents().get("agt_1").send());
    assert!(cut.await.is_err());
    tokio::time::sleep(std::time::Duration::from_secs(600)).await;
    assert_eq!(script.count(), 1, "nothing goes on behind the caller's back");
}

#[test]
fn futures_stay_small() {
    let client = Script::new([Step::json(200, &agent())]).client();
    let call = client.agents().get("agt_1").send();
    assert!(size_of_val(&call) < 4_096, "{} bytes", size_of_val(&call));
}
