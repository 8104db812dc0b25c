//! How much a client spends on retries: little on a service in trouble, enough on one that is well.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use shadway::agents::AgentCreateParams;
use shadway::events::MemoryCheckpoint;
use shadway::transport::{Body, HttpFuture, HttpService};
use shadway::{Client, ClientBuilder, ErrorKind};

use crate::support::streams::{Player, open};
use crate::support::{Script, Step, agent};

/// A service that takes 20 ms, and fails every request whose number is in the pattern.
#[derive(Debug, Clone)]
struct Service {
    requests: Arc<AtomicUsize>,
    fails: fn(usize) -> bool,
}

impl Service {
    fn new(fails: fn(usize) -> bool) -> Self {
        Self { requests: Arc::default(), fails }
    }

    fn builder(&self) -> ClientBuilder {
        Client::builder().api_key("sk_test_1").http_service(self.clone())
    }

    fn count(&self) -> usize {
        self.requests.load(Ordering::Relaxed)
    }
}

impl HttpService for Service {
    fn call(&self, _: http::Request<Bytes>) -> HttpFuture<'_> {
        let fails = (self.fails)(self.requests.fetch_add(1, Ordering::Relaxed));
        Box::pin(async move {
            tokio::time::sleep(Duration::from_millis(20)).await;
            let (status, body) = if fails { (503, String::new()) } else { (200, agent().to_string()) };
            Ok(http::Response::builder().status(status).body(Body::from(body)).unwrap())
        })
    }
}

/// Makes calls, so many at a time; how many failed.
async fn storm(client: &Client, calls: usize, at_once: usize) -> usize {
    let mut failed = 0;
    for _ in 0..calls / at_once {
        // Each clone is the same client.
        let calls = (0..at_once).map(|_| client.clone().agents().get("agt_1").send());
        failed += join_all(calls).await.iter().filter(|answer| answer.is_err()).count();
    }
    failed
}

#[tokio::test(start_paused = true)]
async fn a_sick_service_gets_little_more_than_one_request_a_call() {
    for at_once in [1, 50, 1_000] {
        let (with, without) = (Service::new(|_| true), Service::new(|_| true));
        assert_eq!(storm(&with.builder().build().unwrap(), 1_000, at_once).await, 1_000);
        let client = without.builder().without_retry_budget().build().unwrap();
        assert_eq!(storm(&client, 1_000, at_once).await, 1_000);
        assert_eq!(without.count(), 3_000);
        assert_eq!(with.count(), 1_100, "500 tokens are 100 retries");
    }
}

#[tokio::test(start_paused = true)]
async fn a_service_that_mostly_fails_is_spared_too() {
    let (with, without) = (Service::new(|number| number % 10 != 0), Service::new(|number| number % 10 != 0));
    let failed = storm(&with.builder().build().unwrap(), 5_000, 50).await;
    let client = without.builder().without_retry_budget().build().unwrap();
    storm(&client, 5_000, 50).await;
    assert!(with.count() * 2 < without.count(), "{} of {}", with.count(), without.count());
    assert!(failed < 5_000, "some go well");
}

#[tokio::test(start_paused = true)]
async fn a_healthy_service_never_fails_a_call_for_the_budgets_sake() {
    // One request in a hundred fails: more than all tokens could pay for, did none come back.
    let service = Service::new(|number| number % 100 == 7);
    assert_eq!(storm(&service.builder().build().unwrap(), 12_000, 50).await, 0);
    assert!(service.count() > 12_110, "each failure was tried again");
    // Refused for what they ask, which shows the service at work.
    let steps = (0..2_000).map(|number| Step::error(if number % 10 == 0 { 503 } else { 404 }, "x"));
    let script = Script::new(steps.chain([Step::error(404, "x")]));
    let client = script.client();
    for _ in 0..1_900 {
        let error = client.agents().get("agt_1").await.unwrap_err();
        assert!(error.is_not_found(), "{error}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_call_that_finds_the_budget_empty_ends_with_its_last_error_and_says_why() {
    let script = Script::new([Step::error(503, "busy")]);
    let client = script.builder().retry_budget(5).build().unwrap();
    let started = tokio::time::Instant::now();
    let error = client.agents().create(AgentCreateParams::new("A", "p/m")).await.unwrap_err();
    assert_eq!((error.kind(), error.attempts()), (ErrorKind::Server, 2));
    let said = "503 busy: It said no.; not tried again, the client's retry budget is used up [2 attempts]";
    assert_eq!(error.to_string(), said);
    assert!(error.is_retryable() && error.is_ambiguous() && error.idempotency_key().is_some());
    assert!(
        started.elapsed() <= Duration::from_millis(501),
        "nothing is waited for: {:?}",
        started.elapsed()
    );

    // Out of retries is not out of budget.
    let client = script.builder().max_retries(0).retry_budget(0).build().unwrap();
    let error = client.agents().get("agt_1").await.unwrap_err();
    assert_eq!(error.to_string(), "503 busy: It said no.");
}

#[tokio::test(start_paused = true)]
async fn a_retry_after_a_timeout_costs_twice_as_much() {
    for (step, retries) in [(Step::Hang, 50), (Step::Broken, 100), (Step::Refused, 100)] {
        let script = Script::new([step]);
        let client = script.client();
        for _ in 0..100 {
            client.agents().get("agt_1").await.unwrap_err();
        }
        assert_eq!(script.count(), 100 + retries);
    }
}

#[tokio::test(start_paused = true)]
async fn what_goes_well_fills_the_budget_again() {
    let steps = [503, 503, 200, 200, 200, 200, 200, 503, 200, 503].map(|status| match status {
        200 => Step::json(200, &agent()),
        status => Step::error(status, "x"),
    });
    let script = Script::new(steps);
    let client = script.builder().retry_budget(5).max_retries(1).build().unwrap();
    let get = async || client.agents().get("agt_1").with_response().await.map(|answer| answer.attempts);
    assert_eq!(get().await.unwrap_err().attempts(), 2);
    for _ in 0..5 {
        assert_eq!(get().await.unwrap(), 1);
    }
    assert_eq!(get().await.unwrap(), 2, "five that went well pay for one retry");
    assert_eq!(get().await.unwrap_err().attempts(), 2, "which came back, as the call went well");
    assert_eq!(get().await.unwrap_err().attempts(), 1);
}

#[tokio::test(start_paused = true)]
async fn neither_reconnects_nor_the_reads_of_waits_spend_any() {
    let limit = Duration::from_secs(600);
    let script = Script::new([Step::error(503, "x")]);
    let client = script.builder().retry_budget(10).build().unwrap();
    let work = client.mandate("mnd_1");
    let watcher = client.watcher();
    assert!(work.wait().timeout(limit).await.unwrap_err().is_wait_timeout());
    assert!(work.wait_for_approval().timeout(limit).await.unwrap_err().is_wait_timeout());
    assert!(client.agents().wait_until_ready("agt_1").timeout(limit).await.unwrap_err().is_wait_timeout());
    assert!(watcher.wait("mnd_1").timeout(limit).await.unwrap_err().is_wait_timeout());
    let mut events = work.events().stream();
    assert!(tokio::time::timeout(limit, events.next()).await.is_err());
    assert_eq!(client.agents().get("agt_1").await.unwrap_err().attempts(), 3, "all of it is left");
    assert_eq!(client.agents().get("agt_1").await.unwrap_err().attempts(), 1);

    // What a stream has to read, it reads with the retries of any call.
    let player = Player::new([open()]).statuses(["503"]);
    let client = player.builder().retry_budget(0).build().unwrap();
    let events = client.mandate("mnd_1").events().stream();
    let mut events = events.until_terminal();
    assert!(tokio::time::timeout(Duration::from_secs(5), events.next()).await.is_err());
    assert_eq!(player.reads(), 3, "the mandate");

    let player = Player::new([open()]).lists([Err(503)]);
    let client = player.builder().retry_budget(0).build().unwrap();
    let mut events = client.events().stream().checkpoint(MemoryCheckpoint::new());
    assert!(tokio::time::timeout(limit, events.next()).await.is_err());
    assert!(player.list_calls() > 2 * player.count().max(1), "the history: {} lists", player.list_calls());
}
