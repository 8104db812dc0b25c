//! The key that makes a repeated change safe.

use http::Method;
use serde_json::json;
use shadway::ErrorKind;
use shadway::agents::{AgentCreateParams, AgentUpdateParams};
use shadway::mandates::MandateCreateParams;

use crate::support::{Script, Step, agent, mandate};

fn create() -> AgentCreateParams {
    AgentCreateParams::new("Assistant", "p/m")
}

#[tokio::test]
async fn every_change_has_a_key_of_its_own_and_no_read_has_one() {
    let script = Script::new([Step::json(200, &agent())]);
    let client = script.client();
    client.agents().create(create()).await.unwrap();
    client.agents().create(create()).await.unwrap();
    client.agents().update("agt_1", AgentUpdateParams::new().name("B")).await.unwrap();
    client.request(Method::DELETE, "/v1/anything").await.unwrap();
    client.agents().get("agt_1").await.unwrap();
    let keys: Vec<_> =
        script.seen().iter().map(|seen| seen.header("idempotency-key").map(str::to_owned)).collect();
    assert_eq!(keys[4], None);
    let mut changes: Vec<_> = keys[..4].iter().map(|key| key.clone().expect("a key")).collect();
    changes.sort();
    changes.dedup();
    assert_eq!(changes.len(), 4, "no two calls share a key");
}

#[tokio::test]
async fn every_command_is_a_change() {
    let script = Script::new([Step::json(200, &mandate("running"))]);
    let client = script.client();
    let work = client.mandate("mnd_1");
    work.pause("a").await.unwrap();
    work.resume("b").await.unwrap();
    work.cancel("c").await.unwrap();
    client.mandates().create(MandateCreateParams::new("agt_1", "x")).await.unwrap();
    for seen in script.seen() {
        assert_eq!(seen.header("idempotency-key").map(str::len), Some(36), "{} {}", seen.method, seen.uri);
    }
}

#[tokio::test(start_paused = true)]
async fn the_callers_key_wins_and_stays_for_the_retries() {
    let script = Script::new([Step::error(500, "x"), Step::json(200, &agent())]);
    script.client().agents().create(create()).idempotency_key("quote-2026-q3").await.unwrap();
    for seen in script.seen() {
        assert_eq!(seen.header("idempotency-key"), Some("quote-2026-q3"));
    }
}

#[tokio::test]
async fn a_key_that_can_not_be_sent_is_refused_before_anything_is() {
    let script = Script::new([Step::json(200, &agent())]);
    let client = script.client();
    for key in ["", &"k".repeat(256), "schlüssel", "a b", "a\nb", "\u{7f}"] {
        let error = client.agents().create(create()).idempotency_key(key).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{key:?}");
        assert!(error.to_string().contains("1 to 255 visible ASCII"), "{error}");
    }
    assert_eq!(script.count(), 0);
    client.agents().create(create()).idempotency_key("k".repeat(255)).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_failed_calls_key_can_be_used_again() {
    let script = Script::new([Step::Broken, Step::Broken, Step::Broken, Step::json(201, &agent())]);
    let client = script.client();
    let error = client.agents().create(create()).await.unwrap_err();
    let key = error.idempotency_key().unwrap().to_owned();
    client.agents().create(create()).idempotency_key(&key).await.unwrap();
    assert!(script.seen().iter().all(|seen| seen.header("idempotency-key") == Some(&key)));
}

#[tokio::test(start_paused = true)]
async fn with_the_key_off_only_what_was_never_sent_is_tried_again() {
    let create = |step: Step| async move {
        let script = Script::new([step, Step::json(201, &agent())]);
        let _ = script.client().agents().create(create()).without_idempotency_key().await;
        assert!(script.seen().iter().all(|seen| seen.header("idempotency-key").is_none()));
        script.count()
    };
    assert_eq!(create(Step::Refused).await, 2);
    for step in [Step::error(500, "x"), Step::error(429, "x"), Step::Hang, Step::Broken] {
        assert_eq!(create(step).await, 1);
    }
}

#[tokio::test]
async fn a_body_travels_as_json_and_a_read_has_none() {
    let script = Script::new([Step::json(200, &agent())]);
    let client = script.client();
    client.agents().create(create().metadata("team", "procurement")).await.unwrap();
    client.agents().get("agt_1").await.unwrap();
    let seen = script.seen();
    assert_eq!(
        seen[0].json(),
        json!({"name": "Assistant", "model": "p/m", "metadata": {"team": "procurement"}})
    );
    assert_eq!(seen[0].header("accept"), Some("application/json"));
    assert!(seen[1].body.is_empty());
    assert_eq!(seen[1].header("content-type"), None);
}
