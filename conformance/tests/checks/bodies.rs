//! Bodies of requests: each thing that can be wrong with one is found.

use serde_json::{Value, json};

use crate::messages::{ONE_TIME_CODE, Request, assert_found};
use crate::samples::{authority, with};

#[test]
fn a_body_is_there_exactly_where_it_is_declared() {
    for (request, begin, end) in [
        (Request::empty_post("/v1/agents"), "createAgent: body: ", "required"),
        (Request::get("/v1/agents").body("{}"), "listAgents: body: ", "no body is declared"),
        (
            Request::empty_post("/v1/webhooks/endpoints/w/rotate-secret").json(&json!({})),
            "rotateWebhookEndpointSecret: body: ",
            "no body is declared",
        ),
        (
            Request::post("/v1/agents", &json!({})).body("{\"name\": "),
            "createAgent: body: ",
            "not JSON from line 1 column 9",
        ),
    ] {
        assert_found(request.check(), &[(begin, end)]);
    }
}

#[test]
fn wrong_bodies_are_found() {
    let mandate = || json!({"agent": "agt_1", "objective": "Ask.", "authority": authority()});
    let spend = "/authority/spend/maximum";
    for (path, body, place, end) in [
        (
            "/v1/mandates",
            with(mandate(), "/objective", Value::Null),
            "createMandate: body: ",
            "required property",
        ),
        (
            "/v1/mandates",
            with(mandate(), "/objectiv", json!("")),
            "createMandate: body: ",
            "('objectiv' was unexpected)",
        ),
        (
            "/v1/mandates",
            with(mandate(), "/deadline", json!("tomorrow")),
            "createMandate: body at /deadline: ",
            "'anyOf' keyword",
        ),
        (
            "/v1/mandates",
            with(mandate(), "/expiresAt", json!("2026-11-30T10:00:00+01:00")),
            "createMandate: body at /expiresAt: ",
            "'anyOf' keyword",
        ),
        (
            "/v1/mandates",
            with(mandate(), &format!("{spend}/amount"), json!(1.5)),
            "createMandate: body at /authority/spend/maximum/amount: ",
            r#"type "integer""#,
        ),
        (
            "/v1/mandates",
            with(mandate(), &format!("{spend}/amount"), json!(9_223_372_036_854_775_808_u64)),
            "createMandate: body at /authority/spend/maximum/amount: ",
            "maximum of 9223372036854775807",
        ),
        (
            "/v1/mandates",
            with(mandate(), &format!("{spend}/amount"), json!(-1)),
            "createMandate: body at /authority/spend/maximum/amount: ",
            "minimum of 0",
        ),
        (
            "/v1/mandates",
            with(mandate(), &format!("{spend}/currency"), json!("USD")),
            "createMandate: body at /authority/spend/maximum/currency: ",
            "\"",
        ),
        (
            "/v1/mandates",
            with(mandate(), "/authority/capabilityLimits/0/rate/interval", json!("PT1H")),
            "createMandate: body at /authority/capabilityLimits/0/rate/interval: ",
            "\"",
        ),
        (
            "/v1/mandates",
            with(mandate(), "/authority/quietHours/start", json!("24:00")),
            "createMandate: body at /authority/quietHours/start: ",
            "\"",
        ),
        (
            "/v1/approvals/a/reject",
            json!({"inputs": {"otp": ONE_TIME_CODE}}),
            "rejectApproval: body: ",
            "('inputs' was unexpected)",
        ),
        (
            "/v1/approvals/a/approve",
            json!({"inputs": {"otp": 483_921}}),
            "approveApproval: body at /inputs/otp: ",
            r#"type "string""#,
        ),
        (
            "/v1/capabilities",
            json!({"name": "phone", "description": "", "inputSchema": {}, "outputSchema": true}),
            "registerCapability: body at /name: ",
            "\"",
        ),
        (
            "/v1/capabilities",
            json!({"name": "a.b", "description": "", "inputSchema": {}, "outputSchema": {}, "executionMode": "available"}),
            "registerCapability: body: ",
            "('executionMode' was unexpected)",
        ),
        (
            "/v1/webhooks/endpoints",
            json!({"url": "http://example.com/", "subscribedEvents": ["*"]}),
            "createWebhookEndpoint: body at /url: ",
            "\"",
        ),
        (
            "/v1/webhooks/endpoints",
            json!({"url": "http://localhost.example.com/", "subscribedEvents": ["*"]}),
            "createWebhookEndpoint: body at /url: ",
            "\"",
        ),
        (
            "/v1/webhooks/endpoints",
            json!({"url": "https://example.com/", "subscribedEvents": ["mandate.done"]}),
            "createWebhookEndpoint: body at /subscribedEvents/0: ",
            "'anyOf' keyword",
        ),
    ] {
        assert_found(Request::post(path, &body).check(), &[(place, end)]);
    }
    let status = Request::patch("/v1/agents/a", &json!({"status": "enabled"})).check();
    assert_found(status, &[("updateAgent: body at /status: ", "")]);
}

#[test]
fn an_authority_is_open_at_every_level() {
    let mut authority = authority();
    for place in [
        "",
        "/spend",
        "/spend/maximum",
        "/capabilityLimits/0",
        "/capabilityLimits/0/rate",
        "/quietHours",
        "/rules/0",
        "/approval",
        "/successCriteria/0",
    ] {
        authority = with(authority, &format!("{place}/later"), json!({"limit": 1}));
    }
    let body = json!({"authority": authority, "reason": "More.", "expectedVersion": 1});
    assert_eq!(Request::post("/v1/mandates/m/amendments", &body).check(), Ok(()));
}
