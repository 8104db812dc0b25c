//! Webhook endpoints: the calls, and that a secret stays one.

use serde_json::{Value, json};
use shadway::ErrorKind;
use shadway::events::EventType;
use shadway::types::ListParams;
use shadway::webhooks::{
    WebhookEndpointCreateParams, WebhookEndpointSecretRotated, WebhookEndpointStatus,
    WebhookEndpointUpdateParams,
};

use crate::support::{Script, Step, page};

fn endpoint() -> Value {
    json!({"id": "whe_1", "url": "https://example.com/hook", "subscribedEvents": ["*"], "status": "active"})
}

fn with_secret() -> Value {
    json!({"endpoint": endpoint(), "secret": "whsec_s3cr3t"})
}

#[tokio::test]
async fn each_call_says_its_method_path_query_and_body() {
    let script = Script::new([
        Step::json(201, &with_secret()),
        Step::json(200, &endpoint()),
        Step::json(200, &page(&[endpoint()], &Value::Null)),
        Step::json(200, &endpoint()),
        Step::json(200, &with_secret()),
        Step::text(204, ""),
    ]);
    let endpoints = script.client().webhooks().endpoints();
    let params = WebhookEndpointCreateParams::new(
        "https://example.com/hook",
        [EventType::MandateStatusChanged, EventType::from("agent.retired")],
    );
    let created = endpoints.create(params.description("Ours.")).await.unwrap();
    assert_eq!(created.secret.expose(), "whsec_s3cr3t");
    assert_eq!(created.endpoint.subscribed_events, [EventType::All]);
    endpoints.get("whe_1").await.unwrap();
    endpoints.list(ListParams::new().limit(2)).await.unwrap();
    let change = WebhookEndpointUpdateParams::new()
        .url("https://example.com/new")
        .subscribed_events(["*"])
        .status(WebhookEndpointStatus::Disabled)
        .description("Theirs.");
    endpoints.update("whe_1", change).await.unwrap();
    assert_eq!(endpoints.rotate_secret("whe_1").await.unwrap().secret, created.secret);
    endpoints.delete("whe_1").await.unwrap();
    let seen = script.seen();
    let lines: Vec<_> = seen.iter().map(|seen| format!("{} {}", seen.method, seen.path())).collect();
    assert_eq!(
        lines,
        [
            "POST /v1/webhooks/endpoints",
            "GET /v1/webhooks/endpoints/whe_1",
            "GET /v1/webhooks/endpoints?limit=2",
            "PATCH /v1/webhooks/endpoints/whe_1",
            "POST /v1/webhooks/endpoints/whe_1/rotate-secret",
            "DELETE /v1/webhooks/endpoints/whe_1",
        ]
    );
    let create = json!({"url": "https://example.com/hook", "description": "Ours.",
        "subscribedEvents": ["mandate.status_changed", "agent.retired"]});
    assert_eq!(seen[0].json(), create);
    let update = json!({"url": "https://example.com/new", "subscribedEvents": ["*"], "status": "disabled",
        "description": "Theirs."});
    assert_eq!(seen[3].json(), update);
    for change in [0, 3, 4, 5] {
        assert!(seen[change].header("idempotency-key").is_some(), "{}", lines[change]);
    }
    assert!(seen[4].body.is_empty() && seen[5].body.is_empty());
}

#[tokio::test]
async fn a_deletion_answered_with_a_body_is_done_all_the_same_and_a_refused_one_is_not() {
    let script = Script::new([Step::json(200, &endpoint()), Step::error(404, "not_found")]);
    let endpoints = script.client().webhooks().endpoints();
    endpoints.delete("whe_1").await.unwrap();
    assert!(endpoints.delete("whe_1").await.unwrap_err().is_not_found());
}

#[tokio::test]
async fn a_secret_is_in_no_debug_and_no_error() {
    let script = Script::new([
        Step::json(201, &with_secret()),
        Step::json(201, &json!({"endpoint": 7, "secret": "whsec_s3cr3t"})),
        Step::json(201, &json!({"endpoint": endpoint(), "secret": ["whsec_s3cr3t"]})),
    ]);
    let create = || {
        let params = WebhookEndpointCreateParams::new("https://example.com/hook", ["*"]);
        script.client().webhooks().endpoints().create(params)
    };
    let created = create().await.unwrap();
    for text in [format!("{created:?}"), format!("{created:#?}"), format!("{:?}", created.secret.clone())] {
        assert!(!text.contains("s3cr3t"), "{text}");
    }
    for _ in 0..2 {
        let error = create().await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Decode);
        let text = format!("{error} {error:?} {error:#?}");
        assert!(!text.contains("s3cr3t"), "{text}");
    }
}

#[test]
fn a_rotated_secret_is_not_lost_for_want_of_its_endpoint() {
    let rotated: WebhookEndpointSecretRotated = serde_json::from_str(r#"{"secret":"whsec_2"}"#).unwrap();
    assert_eq!((rotated.secret.expose(), rotated.endpoint), ("whsec_2", None));
}
