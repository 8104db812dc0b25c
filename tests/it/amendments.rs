//! Amendments: nothing but the limit that was meant changes.

use serde_json::{Value, json};
use shadway::ErrorKind;
use shadway::mandates::{Authority, MandateAmendmentCreateParams};
use shadway::types::ErrorCode;

use crate::support::{Script, Step, mandate};

fn amendment(version: u64) -> Step {
    Step::json(201, &json!({"id": "amd_1", "mandate": "mnd_1", "version": version, "reason": "r"}))
}

fn read(version: u64) -> Step {
    let mut read = mandate("running");
    read["authorityVersion"] = json!(version);
    read["authority"] = json!({"maximumActions": version});
    Step::json(200, &read)
}

#[tokio::test]
async fn an_amendment_sends_the_limits_the_reason_and_the_version() {
    let script = Script::new([amendment(4)]);
    let authority = Authority::new().maximum_actions(7);
    let params = MandateAmendmentCreateParams::new(authority, "More of it.", 3);
    let made = script.client().mandate("mnd_1").amend(params).await.unwrap();
    assert_eq!(made.version, 4);
    let seen = &script.seen()[0];
    assert_eq!((seen.method.as_str(), seen.path()), ("POST", "/v1/mandates/mnd_1/amendments"));
    let body = json!({"authority": {"maximumActions": 7}, "reason": "More of it.", "expectedVersion": 3});
    assert_eq!(seen.json(), body);
}

#[tokio::test]
async fn amending_with_a_change_reads_and_sends_the_version_read() {
    let script = Script::new([read(3), amendment(4)]);
    let work = script.client().mandate("mnd_1");
    let amending = work.amend_with("More of it.", |limits| limits.maximum_read_actions(9));
    assert_eq!(script.count(), 0, "nothing is sent before it is awaited");
    assert_eq!(amending.await.unwrap().version, 4);
    let body = json!({"authority": {"maximumActions": 3, "maximumReadActions": 9}, "reason": "More of it.",
        "expectedVersion": 3});
    assert_eq!(script.seen()[1].json(), body);
}

#[tokio::test]
async fn a_change_by_somebody_else_is_read_and_changed_again() {
    let stale = || Step::error(409, "version_mismatch");
    let script = Script::new([read(3), stale(), read(4), stale(), read(5), amendment(6)]);
    let work = script.client().mandate("mnd_1");
    let made = work.amend_with("r", |limits| limits.maximum_read_actions(9)).await.unwrap();
    assert_eq!(made.version, 6);
    let sent: Vec<Value> =
        script.seen().iter().filter(|seen| seen.method == "POST").map(crate::support::Seen::json).collect();
    let versions: Vec<_> = sent.iter().map(|body| body["expectedVersion"].as_u64()).collect();
    assert_eq!(versions, [Some(3), Some(4), Some(5)]);
    assert_eq!(sent[2]["authority"], json!({"maximumActions": 5, "maximumReadActions": 9}));
    let keys: Vec<_> =
        script.seen().iter().filter_map(|seen| seen.header("idempotency-key").map(str::to_owned)).collect();
    assert!(keys[0] != keys[1] && keys[1] != keys[2], "each is a new request");
}

#[tokio::test]
async fn conflicts_without_end_are_given_up_and_other_errors_at_once() {
    let rounds = (0..20).flat_map(|version| [read(version), Step::error(409, "version_mismatch")]);
    let script = Script::new(rounds);
    let error = script.client().mandate("mnd_1").amend_with("r", |limits| limits).await.unwrap_err();
    assert_eq!((error.kind(), error.code()), (ErrorKind::Conflict, Some(&ErrorCode::VersionMismatch)));
    assert_eq!(script.count(), 10, "five rounds of a read and an amendment");

    let script = Script::new([read(3), Step::error(409, "mandate_ended")]);
    let error = script.client().mandate("mnd_1").amend_with("r", |limits| limits).await.unwrap_err();
    assert_eq!((error.code(), script.count()), (Some(&ErrorCode::MandateEnded), 2));

    let script = Script::new([Step::error(404, "not_found")]);
    let error = script.client().mandate("mnd_1").amend_with("r", |limits| limits).await.unwrap_err();
    assert!(error.is_not_found() && script.count() == 1);
}

#[tokio::test]
async fn an_amendment_can_be_spawned() {
    let script = Script::new([read(3), amendment(4)]);
    let work = script.client().mandate("mnd_1");
    tokio::spawn(work.amend_with("r", |limits| limits)).await.unwrap().unwrap();
}
