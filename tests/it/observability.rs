//! What calls and streams tell `tracing`, in the words of OpenTelemetry's HTTP clients.

use std::time::Duration;

use http::Method;
use shadway::agents::AgentCreateParams;
use tokio::time::Instant;

use crate::quickstart::{example, text};
use crate::support::recorder::{Recorder, Told};
use crate::support::streams::{End, Player, event, open, refusal};
use crate::support::{Script, Step, agent};

/// What a span or event says, without what differs from run to run.
fn said(told: &Told) -> Vec<(&str, &str)> {
    let varies = ["shadway.duration_ms", "shadway.delay_ms"];
    told.fields
        .iter()
        .map(|(name, value)| (name.as_str(), if varies.contains(&name.as_str()) { "…" } else { value }))
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_call_is_one_span_however_many_requests_it_takes() {
    let (recorder, _guard) = Recorder::start();
    let script = Script::new([
        Step::error(503, "busy").with_header("x-request-id", "req_1"),
        Step::Hang,
        Step::Broken,
        Step::json(201, &agent()).with_header("x-request-id", "req_2"),
    ]);
    let started = Instant::now();
    let create = script.client().agents().create(AgentCreateParams::new("A", "p/m")).max_retries(3);
    create.await.unwrap();
    let spans = recorder.spans();
    assert_eq!(spans.len(), 1);
    assert_eq!(
        said(&spans[0]),
        [
            ("http.request.method", "POST"),
            ("http.request.resend_count", "3"),
            ("http.response.status_code", "201"),
            ("otel.kind", "client"),
            ("otel.name", "POST /v1/agents"),
            ("server.address", "api.shadway.com"),
            ("server.port", "443"),
            ("shadway.attempts", "4"),
            ("shadway.duration_ms", "…"),
            ("shadway.request_id", "req_2"),
            ("url.template", "/v1/agents"),
        ]
    );
    assert_eq!(spans[0].level, "INFO");
    assert_eq!(spans[0].get("shadway.duration_ms"), started.elapsed().as_millis().to_string());

    let retries = recorder.events("trying again");
    let of = |number: &'static str, error: &'static str| {
        vec![
            ("error.type", error),
            ("http.request.method", "POST"),
            ("http.request.resend_count", number),
            ("shadway.delay_ms", "…"),
            ("url.template", "/v1/agents"),
        ]
    };
    let mut first = of("1", "503");
    first.insert(3, ("http.response.status_code", "503"));
    first.insert(5, ("shadway.request_id", "req_1"));
    assert_eq!(
        retries.iter().map(said).collect::<Vec<_>>(),
        [first, of("2", "timeout"), of("3", "connection")]
    );
    assert!(retries.iter().all(|retry| retry.level == "DEBUG" && retry.inside == Some(0)), "{retries:#?}");
    let delay = retries[0].get("shadway.delay_ms").parse::<u128>().unwrap();
    assert!(script.gaps()[0].as_millis().abs_diff(delay) <= 2, "the delay is the one that is kept");
}

#[tokio::test(start_paused = true)]
async fn what_went_wrong_is_one_word_or_the_status() {
    for (step, error, status) in [
        (Step::error(404, "x"), "404", "404"),
        (Step::error(500, "x"), "500", "500"),
        (Step::Hang, "timeout", ""),
        (Step::Refused, "connection", ""),
        (Step::text(302, "").with_header("location", "/elsewhere"), "redirect", "302"),
        (Step::text(200, vec![b' '; 100]), "response_too_large", ""),
    ] {
        let (recorder, _guard) = Recorder::start();
        let client = Script::new([step]).builder().max_response_bytes(99).build().unwrap();
        client.agents().get("agt_1").max_retries(0).await.unwrap_err();
        let span = &recorder.spans()[0];
        let said =
            ["error.type", "http.response.status_code", "otel.status_code"].map(|field| span.get(field));
        assert_eq!(said, [error, status, "ERROR"]);
        assert_eq!(span.get("otel.name"), "GET /v1/agents/{id}");
        assert_eq!((span.get("shadway.attempts"), span.get("http.request.resend_count")), ("1", ""));
    }
}

#[tokio::test(start_paused = true)]
async fn a_request_of_the_callers_own_has_no_template_and_few_methods() {
    let (recorder, _guard) = Recorder::start();
    let client = Script::new([Step::text(200, "{}")]).client();
    client.request(Method::GET, "/v1/agents/agt_1").await.unwrap();
    client.request(Method::from_bytes(b"PURGE").unwrap(), "/v1/agents/agt_1").await.unwrap();
    let spans = recorder.spans();
    assert!(spans.iter().all(|span| span.get("url.template").is_empty()));
    assert_eq!((spans[0].get("otel.name"), spans[1].get("otel.name")), ("GET", "HTTP"));
    assert_eq!(spans[1].get("http.request.method"), "_OTHER");
}

#[tokio::test(start_paused = true)]
async fn where_the_service_is_comes_from_the_base_url() {
    for (url, address, port) in [
        ("https://api.example:8443/prefix", "api.example", "8443"),
        ("http://localhost", "localhost", "80"),
        ("http://[::1]:8080", "::1", "8080"),
    ] {
        let (recorder, _guard) = Recorder::start();
        let client = Script::new([Step::json(200, &agent())]).builder().base_url(url).build().unwrap();
        client.agents().get("agt_1").await.unwrap();
        let span = &recorder.spans()[0];
        assert_eq!((span.get("server.address"), span.get("server.port")), (address, port));
        assert_eq!(span.get("url.template"), "/v1/agents/{id}", "as the service knows it");
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_before_it_is_sent_and_what_is_dropped_are_no_finished_calls() {
    let (recorder, _guard) = Recorder::start();
    let script = Script::new([Step::Hang]);
    script.client().agents().get("").await.unwrap_err();
    assert!(recorder.spans().is_empty());
    let call = script.client().agents().get("agt_1").send();
    assert!(tokio::time::timeout(Duration::from_secs(1), call).await.is_err());
    assert_eq!(recorder.spans()[0].get("shadway.duration_ms"), "");
}

#[tokio::test(start_paused = true)]
async fn a_stream_tells_of_each_connection_and_of_each_delay_between_them() {
    let (recorder, _guard) = Recorder::start();
    let player = Player::new([
        refusal(503).header("x-request-id", "req_1"),
        open().send(event(1)).then(End::Cut),
        open().send(event(2)),
    ]);
    let mut events = player.stream();
    events.try_next().await.unwrap().unwrap();
    events.try_next().await.unwrap().unwrap();
    let spans = recorder.spans();
    assert_eq!(spans.len(), 3);
    for (span, (status, error)) in spans.iter().zip([("503", "503"), ("200", ""), ("200", "")]) {
        assert_eq!(span.get("otel.name"), "GET /v1/mandates/{id}/events/stream");
        assert_eq!((span.get("http.response.status_code"), span.get("error.type")), (status, error));
        assert!(!span.get("shadway.duration_ms").is_empty());
    }
    let reconnects = recorder.events("connecting again");
    assert_eq!(
        said(&reconnects[0]),
        [
            ("error.type", "503"),
            ("http.request.method", "GET"),
            ("http.response.status_code", "503"),
            ("shadway.delay_ms", "…"),
            ("shadway.request_id", "req_1"),
            ("url.template", "/v1/mandates/{id}/events/stream"),
        ]
    );
    assert_eq!((reconnects.len(), reconnects[1].get("error.type")), (2, "connection"));
    for (reconnect, gap) in reconnects.iter().zip(player.gaps()) {
        let delay = reconnect.get("shadway.delay_ms").parse::<u128>().unwrap();
        assert!(gap.as_millis().abs_diff(delay) <= 2, "{gap:?} {reconnect:?}");
    }
}

#[tokio::test]
async fn the_example_shows_spans_retries_and_reconnects() {
    let output = example("observe", &[]).await;
    let lines = text(&output.stdout);
    assert_eq!(output.status.code(), Some(0), "{lines}{}", text(&output.stderr));
    let shown = |parts: &[&str]| lines.lines().any(|line| parts.iter().all(|part| line.contains(part)));
    assert!(
        shown(&[" INFO ", r#"otel.name=POST /v1/agents"#, "http.response.status_code=201", "close"]),
        "{lines}"
    );
    assert!(
        shown(&["DEBUG", "trying again", r#"url.template="/v1/agents""#, "error.type=connection"]),
        "{lines}"
    );
    assert!(shown(&["DEBUG", "connecting again", "/v1/mandates/{id}/events/stream"]), "{lines}");
    assert!(lines.trim_end().lines().last().unwrap().starts_with("completed: "), "{lines}");
    assert!(!lines.contains("sk_test") && !lines.contains("mnd_"), "{lines}");
}
