use super::*;
use crate::webhooks::WebhookEndpointCreateParams;

#[tokio::test(start_paused = true)]
async fn secrets_are_shown_once_and_differ() {
    let (server, client) = server().await;
    let webhooks = client.webhooks();
    let endpoints = webhooks.endpoints();
    let create = || endpoints.create(WebhookEndpointCreateParams::new("https://example.com/hooks", ["*"]));
    let created = create().idempotency_key("k").await.unwrap();
    assert_eq!(create().idempotency_key("k").await.unwrap().secret, created.secret);
    let rotated = endpoints.rotate_secret(&created.endpoint.id).await.unwrap();
    for secret in [&created.secret, &rotated.secret] {
        assert!(secret.expose().starts_with("whsec_") && secret.expose().len() == 38);
    }
    assert_ne!(rotated.secret, created.secret);
    let read =
        Raw::get(&format!("/v1/webhooks/endpoints/{}", created.endpoint.id)).send(&server.service()).await;
    assert!(!read.body.to_string().contains("whsec_"), "{}", read.body);
}

#[tokio::test(start_paused = true)]
async fn what_can_not_be_delivered_to_is_refused() {
    let (server, client) = server().await;
    let service = server.service();
    let cases = [
        (r#"{"url":"http://example.com/","subscribedEvents":["*"]}"#, "url"),
        (r#"{"url":"https://example.com/","subscribedEvents":[]}"#, "subscribedEvents"),
        (r#"{"url":"https://example.com/","subscribedEvents":["mandate.dreamt"]}"#, "subscribedEvents"),
        (r#"{"url":"https://example.com/"}"#, "subscribedEvents"),
    ];
    for (body, field) in cases {
        let raw = Raw::change(Method::POST, "/v1/webhooks/endpoints", body, body).send(&service).await;
        assert_eq!(raw.refusal(), (422, "invalid_request", Some(field)), "{body}");
    }
    let params = WebhookEndpointCreateParams::new("https://example.com/hooks", ["*"]);
    let id = client.webhooks().endpoints().create(params).await.unwrap().endpoint.id;
    let path = format!("/v1/webhooks/endpoints/{id}");
    for (body, field) in
        [(r#"{"url":"/x"}"#, "url"), (r#"{"status":"tired"}"#, "status"), (r#"{"url":null}"#, "url")]
    {
        let raw = Raw::change(Method::PATCH, &path, body, body).send(&service).await;
        assert_eq!(raw.refusal(), (422, "invalid_request", Some(field)), "{body}");
    }
    let deleted = Raw::new(Method::DELETE, &path).key().header("idempotency-key", "d");
    let response = service.call(deleted.request.body(Bytes::new()).unwrap()).await.unwrap();
    assert_eq!(response.status(), 204);
    assert!(response.headers().get("content-type").is_none());
}

#[tokio::test(start_paused = true)]
async fn only_three_things_of_a_capability_can_be_changed() {
    let (server, _client) = server().await;
    let service = server.service();
    let body = r#"{"name":"a.b","description":"d","inputSchema":{"type":"object"},"outputSchema":{"type":"object"}}"#;
    let created = Raw::change(Method::POST, "/v1/capabilities", "k", body).send(&service).await;
    assert_eq!((created.status, &created.body["executionMode"]), (201, &Value::from("unavailable")));
    for field in ["name", "version", "risk", "inputSchema", "executionMode"] {
        let body = format!(r#"{{"description":"new","{field}":"x"}}"#);
        let raw = Raw::change(Method::PATCH, "/v1/capabilities/a.b", field, body).send(&service).await;
        assert_eq!(raw.refusal(), (422, "invalid_request", Some(field)));
    }
    let read = Raw::get("/v1/capabilities/a.b").send(&service).await;
    assert_eq!(read.body["description"], "d");
}
