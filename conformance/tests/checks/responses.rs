//! Responses: right ones pass, and each thing that can be wrong with one is found.

use http::Method;
use serde_json::{Value, json};

use crate::messages::{ONE_TIME_CODE, Response, assert_found};
use crate::samples::{agent, approval, authority, error, mandate, with};

#[test]
fn right_responses_pass() {
    let (get, post) = (Method::GET, Method::POST);
    let amendment = json!({"id": "amd_1", "mandate": "mnd_1", "version": 2, "authority": authority(), "reason": "More.", "createdAt": "2026-11-30T10:00:00Z"});
    for response in [
        Response::new(post.clone(), "/v1/agents", 201, &agent()),
        Response::new(get.clone(), "/v1/agents", 200, &json!({"data": [agent()], "nextCursor": null})),
        Response::new(get.clone(), "/v1/agents", 200, &json!({"data": [], "nextCursor": "c"})),
        Response::new(get.clone(), "/v1/agents/a", 200, &with(agent(), "/later", json!([1]))),
        Response::new(post.clone(), "/v1/mandates", 201, &mandate()),
        Response::new(post.clone(), "/v1/mandates/m/amendments", 201, &amendment),
        Response::new(post.clone(), "/v1/mandates/m/cancel", 409, &error("invalid_status_transition")),
        Response::new(post.clone(), "/v1/mandates", 422, &error("agent_disabled")),
        Response::new(post, "/v1/mandates", 422, &error("a_new_code")),
        Response::new(get.clone(), "/v1/agents/a", 404, &error("not_found")),
        Response::new(get.clone(), "/v1/agents", 429, &error("rate_limited")).header("retry-after", "1"),
        Response::new(get.clone(), "/v1/agents", 503, &error("unavailable")),
        Response::new(get, "/v1/mandates/m/events/stream", 410, &error("cursor_expired")),
        Response::empty(Method::DELETE, "/v1/webhooks/endpoints/w", 204),
    ] {
        assert_eq!(response.check(), Ok(()));
    }
}

#[test]
fn a_status_that_is_not_declared_is_found() {
    for (method, path, status, body) in [
        (Method::POST, "/v1/agents", 200, agent()),
        (Method::GET, "/v1/agents/a", 201, agent()),
        (Method::GET, "/v1/agents/a", 302, error("moved")),
        (Method::DELETE, "/v1/webhooks/endpoints/w", 200, json!({})),
    ] {
        let found = Response::new(method, path, status, &body).check().expect_err(path);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].ends_with(&format!(": status: {status} is not declared")), "{found:?}");
    }
}

#[test]
fn a_body_of_another_shape_than_the_status_asks_for_is_found() {
    let get = |status, body: &Value| Response::new(Method::GET, "/v1/agents/a", status, body).check();
    let required = |property: &str| format!("\"{property}\" is a required property");
    assert_found(get(500, &agent()), &[("getAgent: 500 body: ", &required("error"))]);
    assert_found(
        get(404, &json!({"error": "gone"})),
        &[("getAgent: 404 body at /error: ", r#"type "object""#)],
    );
    assert_found(
        get(418, &json!({"error": {"type": "a", "code": "b"}})),
        &[("getAgent: 418 body at /error: ", &required("message"))],
    );
    let missing = ["id", "name", "model", "status", "revision", "createdAt"].map(required);
    assert_found(
        get(200, &error("not_found")),
        &missing.each_ref().map(|end| ("getAgent: 200 body: ", end.as_str())),
    );
}

#[test]
fn wrong_headers_and_bodies_are_found() {
    let ok = || Response::new(Method::GET, "/v1/agents/a", 200, &agent());
    let deleted = || Response::empty(Method::DELETE, "/v1/webhooks/endpoints/w", 204);
    for (response, begin, end) in [
        (ok().without("shadway-request-id"), "getAgent: header Shadway-Request-Id: ", "required"),
        (
            ok().header("shadway-request-id", ""),
            "getAgent: header Shadway-Request-Id: ",
            "shorter than 1 character",
        ),
        (
            ok().header("content-type", "text/html"),
            "getAgent: header content-type: ",
            "application/json is due, once",
        ),
        (ok().without("content-type"), "getAgent: header content-type: ", "application/json is due, once"),
        (ok().body(""), "getAgent: 200 body: ", "not JSON from line 1 column 0"),
        (ok().body("{\"id\":"), "getAgent: 200 body: ", "not JSON from line 1 column 6"),
        (deleted().body("{}"), "deleteWebhookEndpoint: 204 body: ", "no body is declared"),
        (
            deleted().without("shadway-request-id"),
            "deleteWebhookEndpoint: header Shadway-Request-Id: ",
            "required",
        ),
    ] {
        assert_found(response.check(), &[(begin, end)]);
    }
}

#[test]
fn wrong_fields_are_found() {
    for (path, body, begin, end) in [
        ("/v1/agents/a", with(agent(), "/status", json!("enabled")), "getAgent: 200 body at /status: ", ""),
        ("/v1/agents/a", with(agent(), "/id", json!("")), "getAgent: 200 body at /id: ", "1 character"),
        (
            "/v1/agents/a",
            with(agent(), "/createdAt", json!("2026-11-30")),
            "getAgent: 200 body at /createdAt: ",
            "",
        ),
        (
            "/v1/agents/a",
            with(agent(), "/capabilityStatus/phone/status", json!("ok")),
            "getAgent: 200 body at /capabilityStatus/phone/status: ",
            "",
        ),
        (
            "/v1/mandates/m",
            with(mandate(), "/currentState", json!({})),
            "getMandate: 200 body at /currentState: ",
            "required property",
        ),
        (
            "/v1/mandates/m",
            with(mandate(), "/metadata/n", json!(1)),
            "getMandate: 200 body at /metadata/n: ",
            r#"type "string""#,
        ),
        (
            "/v1/approvals/a",
            with(approval(), "/inputs", json!({"otp": ONE_TIME_CODE})),
            "getApproval: 200 body: ",
            "",
        ),
        ("/v1/approvals", json!({"data": [approval(), {}], "next": null}), "listApprovals: 200 body", ""),
        (
            "/v1/artifacts/a/download",
            json!({"url": "here", "expiresAt": "2026-11-30T10:00:00Z"}),
            "getArtifactDownload: 200 body at /url: ",
            "",
        ),
    ] {
        let found = Response::new(Method::GET, path, 200, &body).check().expect_err(begin);
        let fits = found.iter().any(|found| found.starts_with(begin) && found.ends_with(end));
        assert!(fits && !found.concat().contains(ONE_TIME_CODE), "{begin}: {found:#?}");
        // A date-time that is no date-time is so by format and by pattern.
        assert!(found.len() <= 2 || path == "/v1/approvals", "{found:#?}");
    }
}

#[test]
fn an_endpoint_never_shows_its_secret() {
    let endpoint = json!({"id": "whe_1", "url": "https://example.com/", "subscribedEvents": ["*"], "status": "active", "createdAt": "2026-11-30T10:00:00Z"});
    let check = |status, path, body: &Value| {
        Response::new(if status == 201 { Method::POST } else { Method::GET }, path, status, body).check()
    };
    let created = json!({"endpoint": endpoint, "secret": "whsec_1"});
    assert_eq!(check(201, "/v1/webhooks/endpoints", &created), Ok(()));
    assert_eq!(check(200, "/v1/webhooks/endpoints/w", &endpoint), Ok(()));
    let leaking = with(endpoint, "/secret", json!("whsec_1"));
    assert_found(check(200, "/v1/webhooks/endpoints/w", &leaking), &[("getWebhookEndpoint: 200 body: ", "")]);
    let leaking = with(created, "/endpoint", leaking);
    assert_found(
        check(201, "/v1/webhooks/endpoints", &leaking),
        &[("createWebhookEndpoint: 201 body at /endpoint: ", "")],
    );
}

#[test]
fn a_code_appears_only_where_it_is_listed() {
    let check = |path, status, code| Response::new(Method::POST, path, status, &error(code)).check();
    assert_eq!(check("/v1/mandates/m/amendments", 409, "mandate_ended"), Ok(()));
    assert_found(
        check("/v1/mandates/m/pause", 409, "mandate_ended"),
        &[("pauseMandate: 409 body at /error/code: ", "not among the codes of the operation")],
    );
    assert_found(
        check("/v1/agents", 422, "agent_disabled"),
        &[("createAgent: 422 body at /error/code: ", "not among the codes of the operation")],
    );
    assert_found(check("/v1/agents", 409, "taken"), &[("createAgent: 409 body at /error/code: ", "")]);
}
