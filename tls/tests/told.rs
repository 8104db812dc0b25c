//! What is told to `log` and to `tracing`, at every level, by all that a call goes through on its way to a socket: reqwest,
//! hyper-util and rustls, with the features that make them tell it. One test, as a program has one logger.

#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use std::collections::BTreeSet;
use std::fmt::{Debug, Write as _};
use std::sync::Mutex;

use http::Method;
use serde_json::json;
use shadway::agents::AgentCreateParams;
use shadway::local::LocalServer;
use shadway::mandates::MandateCreateParams;
use shadway::{Client, ClientBuilder};
use tls::{Front, Root};
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// In each query, header and body that is sent.
const WORD: &str = "s3cr3t";

/// Who told what.
static TOLD: Mutex<Vec<(String, String)>> = Mutex::new(Vec::new());

fn tell(target: &str, text: String) {
    TOLD.lock().unwrap().push((target.to_owned(), text));
}

struct Listener;

impl log::Log for Listener {
    fn enabled(&self, _: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &log::Record<'_>) {
        tell(record.target(), record.args().to_string());
    }

    fn flush(&self) {}
}

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        write!(self.0, "{field}={value:?} ").unwrap();
    }
}

impl Subscriber for Listener {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &Attributes<'_>) -> Id {
        let mut text = Text(format!("{} ", span.metadata().name()));
        span.record(&mut text);
        tell(span.metadata().target(), text.0);
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, values: &Record<'_>) {
        let mut text = Text(String::new());
        values.record(&mut text);
        tell("a span", text.0);
    }

    fn event(&self, event: &Event<'_>) {
        let mut text = Text(String::new());
        event.record(&mut text);
        tell(event.metadata().target(), text.0);
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// A bit of everything; the id of what it made.
async fn use_all(builder: ClientBuilder) -> String {
    let client = builder.default_header("x-proxy-token", WORD).build().unwrap();
    let agent = client.agents().create(AgentCreateParams::new(WORD, "p/m")).await.unwrap();
    let create = client.mandates().create(MandateCreateParams::new(&agent.id, WORD));
    let mandate =
        create.header("x-token", WORD).idempotency_key(format!("key-{WORD}-{}", agent.id)).await.unwrap();
    let mut events = client.mandate(&mandate.id).events().stream().resume_after("evt_start").until_terminal();
    while events.try_next().await.unwrap().is_some() {}
    let call = client.request(Method::POST, format!("/v1/{WORD}")).query("token", WORD);
    call.json(&json!({"otp": WORD})).await.unwrap_err();
    mandate.id.to_string()
}

#[tokio::test]
async fn nothing_below_the_client_tells_a_key_an_id_a_query_a_header_or_a_body() {
    log::set_logger(&Listener).unwrap();
    log::set_max_level(log::LevelFilter::Trace);
    tracing::subscriber::set_global_default(Listener).unwrap();

    let server = LocalServer::start().await.unwrap();
    let root = Root::new("a test").unwrap();
    let front = Front::start(root.signs("127.0.0.1").unwrap(), server.url()).await.unwrap();
    let _ = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
    let trusts = reqwest::Certificate::from_pem(root.pem().as_bytes()).unwrap();
    let own = reqwest::Client::builder().no_proxy().tls_certs_merge([trusts]).build().unwrap();
    let builder = |url| Client::builder().api_key(server.api_key()).base_url(url);
    let ids = [use_all(builder(server.url())).await, use_all(builder(front.url()).reqwest_client(own)).await];

    let untrusting = builder(front.url()).build().unwrap();
    let failed = untrusting.agents().create(AgentCreateParams::new(WORD, "p/m")).max_retries(0).await;
    assert!(failed.is_err(), "what is told of a failure counts too");

    let told = TOLD.lock().unwrap().clone();
    let who: BTreeSet<_> = told.iter().map(|(target, _)| target.split("::").next().unwrap()).collect();
    let secrets = [WORD, server.api_key(), &ids[0], &ids[1]];
    let telling: Vec<_> =
        told.iter().filter(|(_, text)| secrets.iter().any(|secret| text.contains(secret))).collect();
    assert!(telling.is_empty(), "{telling:#?}");
    // They were listened to.
    let silent: Vec<_> = ["hyper_util", "reqwest", "rustls", "shadway"]
        .into_iter()
        .filter(|name| !who.contains(name))
        .collect();
    assert!(silent.is_empty(), "{silent:?} of {who:?}");
}
