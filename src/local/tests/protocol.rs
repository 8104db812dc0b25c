use std::time::Duration;

use super::*;
use crate::ErrorKind;
use crate::agents::{AgentCreateParams, AgentUpdateParams};
use crate::types::ErrorCode;
use crate::types::ListParams;

const AGENT: &str = r#"{"name":"A","model":"m/m"}"#;

#[tokio::test(start_paused = true)]
async fn every_answer_has_its_own_request_id() {
    let (server, _) = server().await;
    let mut ids = Vec::new();
    for raw in [Raw::get("/v1/agents"), Raw::get("/nowhere"), Raw::new(Method::GET, "/v1/agents")] {
        let answer = raw.send(&server.service()).await;
        let id = answer.headers["shadway-request-id"].to_str().unwrap().to_owned();
        assert!(id.starts_with("req_"), "{id}");
        assert_eq!(answer.headers["content-type"], "application/json");
        ids.push(id);
    }
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn only_its_own_key_is_accepted() {
    let (server, _) = server().await;
    let refused = (401, "authentication", None);
    for value in ["Bearer sk_test_other", "Bearer", "Basic sk_test_local", "sk_test_local"] {
        let raw = Raw::new(Method::GET, "/v1/agents").header("authorization", value);
        assert_eq!(raw.send(&server.service()).await.refusal(), refused, "{value}");
    }
    let unknown_path = Raw::new(Method::GET, "/nowhere").send(&server.service()).await;
    assert_eq!(unknown_path.refusal(), refused);
    let client = Client::builder().api_key("sk_live_1").http_service(server.service()).build().unwrap();
    let error = client.agents().get("agt_1").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Authentication);
    assert!(!error.to_string().contains("sk_"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn what_it_does_not_know_is_refused_in_the_envelope() {
    let (server, _) = server().await;
    let service = server.service();
    let json = "application/json";
    let new = |key: &str| Raw::new(Method::POST, "/v1/agents").key().header("idempotency-key", key);
    let long = format!(r#"{{"name":"{}"}}"#, "a".repeat(1024 * 1024));
    let post = |body: &str| {
        let key = format!("length-{}", body.len());
        Raw::change(Method::POST, "/v1/agents", &key, body.to_owned())
    };
    let cases = [
        (Raw::get("/v1"), (404, "not_found", None)),
        (Raw::get("/v1/agents/agt_missing"), (404, "not_found", None)),
        (Raw::get("/v1/agents/%ff"), (404, "not_found", None)),
        (Raw::new(Method::DELETE, "/v1/agents/agt_1").key(), (405, "invalid_request", None)),
        (Raw::get("/v1/agents?page=2"), (400, "invalid_request", Some("page"))),
        (Raw::get("/v1/agents?limit=0"), (400, "invalid_request", Some("limit"))),
        (Raw::get("/v1/agents?limit=1&limit=2"), (400, "invalid_request", Some("limit"))),
        (Raw::get("/v1/agents?cursor=x"), (400, "invalid_request", Some("cursor"))),
        (Raw::get("/v1/agents/agt_1?limit=1"), (400, "invalid_request", Some("limit"))),
        (Raw::get("/v1/mandates?status=tired"), (400, "invalid_request", Some("status"))),
        (post("{"), (400, "invalid_request", None)),
        (post("[]"), (422, "invalid_request", None)),
        (post(r#"{"name":"A"}"#), (422, "invalid_request", Some("model"))),
        (post(r#"{"name":" ","model":"m"}"#), (422, "invalid_request", Some("name"))),
        (post(&long), (413, "invalid_request", None)),
        (Raw { body: AGENT.into(), ..new("t") }, (415, "invalid_request", None)),
        (
            Raw::new(Method::POST, "/v1/agents").key().header("content-type", json),
            (400, "invalid_request", Some("Idempotency-Key")),
        ),
        (new("two words"), (400, "invalid_request", Some("Idempotency-Key"))),
    ];
    for (raw, expected) in cases {
        let what = format!("{:?} {:.60?}", raw.request, raw.body);
        assert_eq!(raw.send(&service).await.refusal(), expected, "{what}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_that_comes_again_gets_the_first_answer() {
    let (server, client) = server().await;
    let service = server.service();
    let first = Raw::change(Method::POST, "/v1/agents", "k1", AGENT).send(&service).await;
    let spaced = r#" {"model": "m/m", "name": "A"} "#;
    let again = Raw::change(Method::POST, "/v1/agents", "k1", spaced).send(&service).await;
    assert_eq!((first.status, again.status), (201, 201));
    assert_eq!(first.body, again.body);
    assert_ne!(first.headers["shadway-request-id"], again.headers["shadway-request-id"]);
    assert_eq!(client.agents().list(ListParams::new()).await.unwrap().data.len(), 1);

    let other = Raw::change(Method::POST, "/v1/agents", "k1", r#"{"name":"B","model":"m/m"}"#);
    let other = other.send(&service).await;
    assert_eq!(other.refusal(), (409, "conflict", Some("Idempotency-Key")));
    assert_eq!(other.body["error"]["code"], "idempotency_key_reused");
    let elsewhere = Raw::change(Method::POST, "/v1/mandates", "k1", AGENT).send(&service).await;
    assert_eq!(elsewhere.status, 409);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_comes_again_too() {
    let (_server, client) = server().await;
    let rename = || client.agents().update("agt_1", AgentUpdateParams::new().name("B")).idempotency_key("k");
    assert!(rename().await.unwrap_err().is_not_found());
    assert!(rename().await.unwrap_err().is_not_found());
    let other = client.agents().update("agt_2", AgentUpdateParams::new().name("B")).idempotency_key("k");
    assert_eq!(other.await.unwrap_err().code(), Some(&ErrorCode::IdempotencyKeyReused));
}

#[tokio::test(start_paused = true)]
async fn a_list_goes_on_in_order_while_it_grows() {
    let (_server, client) = server().await;
    let create = |name: String| client.agents().create(AgentCreateParams::new(name, "m/m"));
    for number in 0..5 {
        create(number.to_string()).await.unwrap();
    }
    let mut agents = client.agents().list(ListParams::new().limit(2)).items();
    let mut names = vec![agents.try_next().await.unwrap().unwrap().name];
    create("5".to_owned()).await.unwrap();
    while let Some(agent) = agents.try_next().await.unwrap() {
        names.push(agent.name);
    }
    assert_eq!(names, ["0", "1", "2", "3", "4", "5"]);
}

#[tokio::test]
async fn it_serves_http_until_it_is_shut_down() {
    let server = LocalServer::start().await.unwrap();
    let client = server.client().unwrap();
    let service = server.service();
    let agent = client.agents().create(AgentCreateParams::new("A", "m/m")).await.unwrap();
    assert_eq!(client.agents().get(&agent.id).await.unwrap(), agent);
    let head = client.request(Method::HEAD, "/v1/agents").await.unwrap();
    assert!(head.is_empty());
    let large = client.request(Method::POST, "/v1/agents").json(&"x".repeat(9_000_000)).await.unwrap_err();
    assert_eq!(large.status().unwrap(), 413);

    let address = server.url().trim_start_matches("http://").to_owned();
    server.shutdown().await;
    assert!(tokio::net::TcpStream::connect(&address).await.is_err());
    let gone = client.agents().get(&agent.id).max_retries(0).await.unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::Connection);
    let client = Client::builder().api_key("sk_test_local").http_service(service).build().unwrap();
    let gone = client.agents().get(&agent.id).max_retries(0).await.unwrap_err();
    assert_eq!(gone.kind(), ErrorKind::Connection);
}

#[tokio::test]
async fn a_shutdown_does_not_wait_for_idle_or_silent_connections() {
    let server = LocalServer::start().await.unwrap();
    let client = server.client().unwrap();
    client.agents().list(ListParams::new()).await.unwrap();
    let address = server.url().trim_start_matches("http://").to_owned();
    let _silent = tokio::net::TcpStream::connect(&address).await.unwrap();
    let shutdown = tokio::time::timeout(Duration::from_secs(2), server.shutdown());
    shutdown.await.unwrap();
}

#[tokio::test]
async fn dropping_it_closes_the_port() {
    let server = LocalServer::start().await.unwrap();
    let address = server.url().trim_start_matches("http://").to_owned();
    assert!(tokio::net::TcpStream::connect(&address).await.is_ok());
    drop(server);
    let closed = async {
        while tokio::net::TcpStream::connect(&address).await.is_ok() {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(5), closed).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn its_debug_text_shows_where_it_is_and_no_key() {
    let (server, client) = server().await;
    let text = format!("{server:?} {:?} {client:?}", server.service());
    assert!(text.contains(server.url()) && !text.contains("sk_test"), "{text}");
}

#[test]
fn without_a_runtime_it_says_what_is_missing() {
    let start = futures_util::FutureExt::now_or_never(LocalServer::start());
    assert_eq!(start.unwrap().unwrap_err().kind(), ErrorKind::Config);
}
