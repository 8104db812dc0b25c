//! Requests: right ones pass, and what is wrong beside the body is found.

use serde_json::json;

use crate::messages::{ONE_TIME_CODE, Request, assert_found};
use crate::samples::authority;

#[test]
fn right_requests_pass() {
    let mandate = json!({"agent": "agt_1", "objective": "Ask.", "deadline": null, "authority": authority()});
    for request in [
        Request::get("https://api.shadway.com/v1/agents?limit=100&cursor=a%2Bb"),
        Request::get("/v1/agents/a%2Fb"),
        Request::get("/v1/approvals?status=pending&status=expired&mandate=mnd_1"),
        Request::get("/v1/mandates?status=running"),
        Request::get("/v1/mandates/m/events?afterSequence=0"),
        Request::get("/v1/capabilities/procurement.create_po?version=2"),
        Request::stream("/v1/events/stream"),
        Request::stream("/v1/mandates/m/events/stream").header("last-event-id", "evt_ü"),
        Request::post("/v1/mandates", &mandate),
        Request::post("/v1/agents", &json!({"name": "a", "model": "b"}))
            .header("content-type", "application/json; charset=utf-8"),
        Request::patch("/v1/agents/a", &json!({"instructions": null})),
        Request::patch("/v1/agents/a", &json!({"status": "disabled"})),
        Request::empty_post("/v1/mandates/m/pause"),
        Request::post("/v1/mandates/m/pause", &json!({})),
        Request::post("/v1/approvals/a/approve", &json!({"inputs": {"otp": ONE_TIME_CODE}})),
        Request::empty_post("/v1/webhooks/endpoints/w/rotate-secret"),
        Request::post(
            "/v1/webhooks/endpoints",
            &json!({"url": "http://127.0.0.1:80/x", "subscribedEvents": ["*"]}),
        ),
    ] {
        assert_eq!(request.check(), Ok(()));
    }
}

#[test]
fn an_operation_that_is_not_there_is_found() {
    assert_found(Request::get("/v1/agents/a/b").check(), &[("GET /v1/agents/a/b: ", "no such operation")]);
    assert_found(
        Request::patch("/v1/mandates/m", &json!({})).check(),
        &[("PATCH /v1/mandates/m: ", "no such operation")],
    );
}

#[test]
fn a_path_segment_that_is_no_text_is_found() {
    assert_found(Request::get("/v1/agents/a%FF").check(), &[("getAgent: path id: ", "not UTF-8")]);
}

#[test]
fn wrong_query_parameters_are_found() {
    for (query, place, reason) in [
        ("limt=20", "query limt: ", "not declared"),
        ("limit=0", "query limit: ", "minimum of 1"),
        ("limit=101", "query limit: ", "maximum of 100"),
        ("limit=ten", "query limit: ", r#"type "integer""#),
        ("limit=1.5", "query limit: ", r#"type "integer""#),
        ("limit=", "query limit: ", r#"type "integer""#),
        ("limit=1&limit=1", "query limit: ", "more than once"),
        ("cursor=", "query cursor: ", "shorter than 1 character"),
        ("cursor=%FF", "query: ", "not UTF-8"),
        ("status=pending&status=late", "query status at /1: ", "other candidates"),
    ] {
        let result = Request::get(&format!("/v1/approvals?{query}")).check();
        assert_found(result, &[(&format!("listApprovals: {place}"), reason)]);
    }
}

#[test]
fn wrong_headers_are_found() {
    let agent = || Request::post("/v1/agents", &json!({"name": "a", "model": "b"}));
    let stream = || Request::stream("/v1/events/stream");
    let key = "createAgent: header Idempotency-Key: ";
    let authorization = "createAgent: header authorization: ";
    for (request, begin, end) in [
        (agent().without("idempotency-key"), key, "required"),
        (agent().header("idempotency-key", ""), key, "\""),
        (agent().header("idempotency-key", "a b"), key, "\""),
        (agent().header("idempotency-key", "schlüssel"), key, "\""),
        (agent().header("idempotency-key", &"k".repeat(256)), key, "\""),
        (agent().another("idempotency-key", "other"), key, "more than once"),
        (agent().without("authorization"), authorization, "due"),
        (agent().header("authorization", "Basic sk_test_1"), authorization, "due"),
        (agent().header("authorization", "Bearer "), authorization, "due"),
        (agent().another("authorization", "Bearer sk_test_2"), authorization, "due"),
        (agent().without("content-type"), "createAgent: header content-type: ", "due, once"),
        (agent().header("content-type", "text/plain"), "createAgent: header content-type: ", "due, once"),
        (stream().without("accept"), "streamEvents: header accept: ", "due"),
        (stream().header("accept", "application/json, */*"), "streamEvents: header accept: ", "due"),
        (
            stream().header("last-event-id", ""),
            "streamEvents: header Last-Event-ID: ",
            "shorter than 1 character",
        ),
        (
            stream().raw_header("last-event-id", b"evt_\xFF"),
            "streamEvents: header Last-Event-ID: ",
            "not UTF-8",
        ),
        (
            stream().header("last-event-id", "a").another("last-event-id", "b"),
            "streamEvents: header Last-Event-ID: ",
            "more than once",
        ),
    ] {
        assert_found(request.check(), &[(begin, end)]);
    }
}

#[test]
fn everything_is_found_at_once_and_no_value_is_quoted() {
    let secret = "sk_live_never_shown";
    let body = json!({"name": 5, "model": "", "status": secret, "metadata": {"a": {"b": secret}}, "capabilityConfig": {"phone": {"country": secret}}});
    let result = Request::post(&format!("/v1/agents?dry={secret}"), &body)
        .header("idempotency-key", &format!("{secret} "))
        .header("authorization", &format!("Bearer {secret} x"))
        .header("content-type", secret)
        .check();
    let found = result.expect_err("much is wrong");
    assert_eq!(found.len(), 9, "{found:#?}");
    assert!(!found.concat().contains(secret), "{found:#?}");
}
