//! The key is nowhere but in its header.

use std::sync::{Arc, Mutex};

use http::Method;
use shadway::Client;
use shadway::agents::AgentCreateParams;
use shadway::types::ListParams;

use crate::support::{Script, Step, agent, mandate};

const KEY: &str = "sk_test_s3cr3t";

/// Everything printed here in both forms, and searched.
fn shows_nothing(value: &impl std::fmt::Debug) {
    for text in [format!("{value:?}"), format!("{value:#?}")] {
        assert!(!text.contains("s3cr3t"), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn no_public_type_prints_the_key_or_what_may_be_secret() {
    let script = Script::new([Step::error(500, "x"), Step::Broken, Step::error(401, "x")]);
    let builder = Client::builder()
        .api_key(KEY)
        .base_url("https://user:s3cr3t@host")
        .default_header("x-proxy-token", "s3cr3t")
        .http_service(script.clone());
    shows_nothing(&builder);
    let client = builder.base_url("https://api.shadway.com").build().unwrap();
    shows_nothing(&client);
    shows_nothing(&client.agents());
    shows_nothing(&client.mandate("mnd_1"));
    shows_nothing(&client.mandate("mnd_1").wait());
    shows_nothing(&client.mandate("mnd_1").wait().updates());
    shows_nothing(&client.agents().wait_until_ready("agt_1"));
    shows_nothing(&client.agents().list(ListParams::new()).items());
    let call = || {
        client
            .request(Method::POST, "/v1/s3cr3t")
            .query("token", "s3cr3t")
            .header("x-token", "s3cr3t")
            .json(&"s3cr3t")
    };
    shows_nothing(&call());
    shows_nothing(&call().header("x-bad", "s3cr3t\n"));
    let error = call().await.unwrap_err();
    shows_nothing(&error);
    assert!(!error.to_string().contains("s3cr3t"));
}

#[tokio::test(start_paused = true)]
async fn nothing_that_is_logged_holds_a_key_an_id_a_query_or_a_body() {
    let log = Log::default();
    let guard = tracing::subscriber::set_default(log.clone());
    let script = Script::new([
        Step::error(503, "busy"),
        Step::Broken,
        Step::json(201, &agent()),
        Step::json(200, &mandate("completed")),
    ]);
    let client = script.builder().api_key(KEY).build().unwrap();
    let broken = Script::new([Step::Broken]).client();
    broken.agents().get("agt_1").await.unwrap_err();
    // What other tests have done without a subscriber is remembered by the places that log.
    tracing::callsite::rebuild_interest_cache();
    client
        .agents()
        .create(AgentCreateParams::new("s3cr3t", "p/m"))
        .header("x-token", "s3cr3t")
        .query("token", "s3cr3t")
        .await
        .unwrap();
    client.mandates().get("s3cr3t").await.unwrap();
    drop(guard);
    let lines = log.0.lock().unwrap().clone();
    assert!(lines.iter().any(|line| line.contains("/v1/agents") && line.contains("503")), "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("trying again")), "{lines:#?}");
    assert!(lines.iter().any(|line| line.contains("/v1/mandates/{id}")), "{lines:#?}");
    for line in lines {
        assert!(!line.contains("s3cr3t"), "{line}");
    }
}

/// Every event and span, at every level, as one line each.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl tracing::Subscriber for Log {
    fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, attributes: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        self.0.lock().unwrap().push(format!("{attributes:?}"));
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, values: &tracing::span::Record<'_>) {
        self.0.lock().unwrap().push(format!("{values:?}"));
    }

    fn event(&self, event: &tracing::Event<'_>) {
        self.0.lock().unwrap().push(format!("{event:?}"));
    }

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}
