//! What is sent again, when, and with what.

use std::time::{Duration, SystemTime};

use http::Method;
use serde_json::json;
use shadway::ErrorKind;
use shadway::agents::AgentCreateParams;
use shadway::types::ErrorCode;

use crate::support::{FixedDate, Script, Step, agent};

fn create() -> AgentCreateParams {
    AgentCreateParams::new("Assistant", "p/m").instructions("Be concise.")
}

#[tokio::test(start_paused = true)]
async fn every_attempt_is_the_same_to_the_byte() {
    let script = Script::new([Step::Broken, Step::error(503, "busy"), Step::json(201, &agent())]);
    let answer = script.client().agents().create(create()).with_response().await.unwrap();
    assert_eq!(answer.attempts, 3);
    let seen = script.seen();
    assert_eq!(seen.len(), 3);
    for attempt in &seen {
        assert_eq!(attempt.method, Method::POST);
        assert_eq!(attempt.body, seen[0].body);
        assert_eq!(attempt.headers, seen[0].headers);
        assert_eq!(attempt.header("content-type"), Some("application/json"));
        assert_eq!(attempt.header("idempotency-key"), answer.idempotency_key.as_deref());
    }
}

#[tokio::test(start_paused = true)]
async fn what_may_pass_is_tried_again_and_what_stands_is_not() {
    let passing = [408, 429, 500, 502, 503, 504].map(|status| Step::error(status, "x"));
    for step in
        passing.into_iter().chain([Step::Refused, Step::Broken, Step::Hang, Step::CutBody(200, "{".into())])
    {
        let script = Script::new([step, Step::json(200, &agent())]);
        script.client().agents().get("agt_1").await.unwrap();
        assert_eq!(script.count(), 2);
    }
    for status in [400, 401, 403, 404, 409, 410, 422, 425, 501, 505] {
        let script = Script::new([Step::error(status, "x"), Step::json(200, &agent())]);
        script.client().agents().get("agt_1").await.unwrap_err();
        assert_eq!(script.count(), 1, "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_still_in_progress_is_asked_for_again() {
    let script = Script::new([Step::error(409, "idempotency_in_progress"), Step::json(201, &agent())]);
    script.client().agents().create(create()).await.unwrap();
    assert_eq!(script.count(), 2);

    let script = Script::new([Step::error(409, "idempotency_in_progress")]);
    let error = script.client().agents().create(create()).await.unwrap_err();
    assert_eq!(error.code(), Some(&ErrorCode::IdempotencyInProgress));
    assert!(error.is_retryable() && error.is_ambiguous());
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_kept_to() {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(1_796_000_000);
    let http_date = |ahead: Duration| httpdate::fmt_http_date(now + ahead);
    let cases = [
        ("1".to_owned(), 1.0..1.1),
        ("0".to_owned(), 0.0..0.1),
        (" 7 ".to_owned(), 7.0..7.1),
        (http_date(Duration::from_secs(20)), 20.0..20.1),
        ("Sun, 06 Nov 1994 08:49:37 GMT".to_owned(), 0.0..0.1),
        // Junk: the delay is our own, at most half a second the first time.
        ("soon".to_owned(), 0.0..0.51),
        ("-5".to_owned(), 0.0..0.51),
        ("1.5".to_owned(), 0.0..0.51),
        (String::new(), 0.0..0.51),
    ];
    for (value, expected) in cases {
        let script = Script::new([
            Step::error(429, "slow_down").with_header("Retry-After", value.as_str()),
            Step::json(200, &agent()),
        ]);
        let client = script.builder().timer(FixedDate(now)).build().unwrap();
        client.agents().get("agt_1").await.unwrap();
        let gap = script.gaps()[0].as_secs_f64();
        assert!(expected.contains(&gap), "{value:?} gave {gap}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_wish_beyond_the_cap_is_reported_at_once() {
    for (value, seconds) in [("120", 120), ("61", 61), ("99999999999999999999999", u64::MAX)] {
        let script = Script::new([Step::error(503, "busy").with_header("Retry-After", value)]);
        let error = script.client().agents().get("agt_1").await.unwrap_err();
        assert_eq!(script.count(), 1);
        assert_eq!(error.retry_after(), Some(Duration::from_secs(seconds)));
    }
}

#[tokio::test(start_paused = true)]
async fn an_endless_rate_limit_ends_with_the_retries() {
    for value in ["0", "1", "60"] {
        let script = Script::new([Step::error(429, "slow_down").with_header("Retry-After", value)]);
        let error = script.client().agents().get("agt_1").max_retries(4).await.unwrap_err();
        assert_eq!(script.count(), 5);
        assert_eq!(error.kind(), ErrorKind::RateLimit);
        assert!(error.is_retryable());
    }
}

#[tokio::test(start_paused = true)]
async fn delays_grow_to_a_cap_and_are_spread() {
    let mut first = Vec::new();
    for _ in 0..40 {
        let script = Script::new([Step::error(500, "x")]);
        script.client().agents().get("agt_1").max_retries(8).await.unwrap_err();
        let gaps = script.gaps();
        for (index, gap) in gaps.iter().enumerate() {
            let most = Duration::from_millis(500 << index.min(4)).min(Duration::from_secs(8));
            assert!(*gap <= most + Duration::from_millis(2), "delay {index} was {gap:?}");
        }
        first.push(gaps[0]);
    }
    first.sort();
    assert!(first[39] - first[0] > Duration::from_millis(150), "full jitter spreads: {first:?}");
}

#[tokio::test(start_paused = true)]
async fn a_black_hole_costs_one_attempt_timeout_a_try() {
    let script = Script::new([Step::Hang]);
    let client = script.builder().attempt_timeout(Duration::from_secs(3)).build().unwrap();
    let error = client.agents().get("agt_1").await.unwrap_err();
    assert_eq!(script.count(), 3);
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert!(error.is_timeout() && !error.is_wait_timeout());
    assert_eq!(error.to_string(), "no answer within 3s [3 attempts]");
}

#[tokio::test(start_paused = true)]
async fn a_body_that_stalls_is_cut_by_the_attempts_timeout() {
    for status in [200, 404] {
        let script = Script::new([Step::StalledBody(status, "{".into())]);
        let started = tokio::time::Instant::now();
        let error = script.client().agents().get("agt_1").max_retries(0).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Timeout);
        assert_eq!(started.elapsed().as_secs(), 30);
    }
}

#[tokio::test(start_paused = true)]
async fn the_whole_calls_timeout_cuts_an_attempt_and_says_so() {
    let script = Script::new([Step::Hang]);
    let started = tokio::time::Instant::now();
    let error = script.client().agents().get("agt_1").timeout(Duration::from_secs(5)).await.unwrap_err();
    assert_eq!(started.elapsed(), Duration::from_secs(5));
    assert_eq!(script.count(), 1);
    assert_eq!(error.kind(), ErrorKind::Timeout);
    assert!(error.to_string().contains("the whole call's timeout of 5s"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_sleep_that_would_pass_the_calls_timeout_is_not_begun() {
    let script = Script::new([Step::error(503, "busy").with_header("Retry-After", "10")]);
    let started = tokio::time::Instant::now();
    let error = script.client().agents().get("agt_1").timeout(Duration::from_secs(5)).await.unwrap_err();
    assert!(started.elapsed() < Duration::from_millis(50), "{:?}", started.elapsed());
    assert_eq!(error.status().unwrap(), 503);
    assert!(error.is_timeout());
    assert!(error.to_string().contains("the whole call's timeout of 5s"), "{error}");
}

#[tokio::test(start_paused = true)]
async fn a_call_without_any_time_is_not_sent() {
    let script = Script::new([Step::json(200, &agent())]);
    let error = script.client().agents().get("agt_1").timeout(Duration::ZERO).await.unwrap_err();
    assert!(error.is_timeout());
    assert_eq!((error.attempts(), script.count()), (0, 0));
    // And one of all the time there is has none.
    script.client().agents().get("agt_1").timeout(Duration::MAX).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn the_clients_timeout_holds_where_the_call_sets_none() {
    let script = Script::new([Step::Hang]);
    let client = script.builder().timeout(Duration::from_secs(2)).build().unwrap();
    let started = tokio::time::Instant::now();
    client.agents().get("agt_1").await.unwrap_err();
    assert_eq!(started.elapsed(), Duration::from_secs(2));
}

#[tokio::test(start_paused = true)]
async fn without_retries_there_is_one_attempt() {
    let script = Script::new([Step::error(500, "x")]);
    let client = script.builder().max_retries(0).build().unwrap();
    client.agents().get("agt_1").await.unwrap_err();
    assert_eq!(script.count(), 1);
    // The call's own number wins.
    client.agents().get("agt_1").max_retries(1).await.unwrap_err();
    assert_eq!(script.count(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_body_cut_after_good_headers_is_asked_for_again() {
    let whole = json!({"id": "agt_1", "name": "A", "model": "p/m", "status": "active"}).to_string();
    let script = Script::new([
        Step::CutBody(201, whole.as_bytes()[..10].to_vec().into()),
        Step::text(201, whole.clone()),
    ]);
    script.client().agents().create(create()).await.unwrap();
    let seen = script.seen();
    assert_eq!(seen[0].header("idempotency-key"), seen[1].header("idempotency-key"));
}
