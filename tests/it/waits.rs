//! Waiting where there are no event streams: by reading.

use std::time::Duration;

use serde_json::json;
use shadway::ErrorKind;
use shadway::mandates::MandateStatus;
use tokio::time::Instant;

use crate::support::{Script, Step, mandate};

fn status(status: &str) -> Step {
    Step::json(200, &mandate(status))
}

#[tokio::test(start_paused = true)]
async fn one_that_had_ended_is_found_at_once() {
    for end in ["completed", "failed", "canceled", "expired"] {
        let script = Script::without_streams([status(end)]);
        let started = Instant::now();
        let done = script.client().mandate("mnd_1").wait().await.unwrap();
        assert_eq!(done.status.as_str(), end);
        assert_eq!(script.count(), 1);
        assert!(started.elapsed() < Duration::from_millis(10));
    }
}

#[tokio::test(start_paused = true)]
async fn it_reads_until_the_end_and_less_often_while_nothing_changes() {
    let script =
        Script::without_streams(std::iter::repeat_n(status("running"), 200).chain([status("completed")]));
    let done = script.client().mandate("mnd_1").wait().await.unwrap();
    assert_eq!(done.status, MandateStatus::Completed);
    let gaps = script.gaps();
    assert!(gaps.iter().all(|gap| *gap >= Duration::from_millis(750)), "{gaps:?}");
    // For two minutes by a second, and then by a quarter of the time since at most.
    let mut passed = Duration::ZERO;
    for gap in &gaps {
        let beyond = passed.saturating_sub(Duration::from_secs(120));
        assert!(*gap <= (beyond / 4).max(Duration::from_secs(1)) + Duration::from_millis(5), "{gaps:?}");
        passed += *gap;
    }
    assert!(gaps.iter().all(|gap| *gap <= Duration::from_millis(30_010)), "{gaps:?}");
    assert!(gaps[199] >= Duration::from_millis(22_500), "{gaps:?}");
}

#[tokio::test(start_paused = true)]
async fn an_interval_of_the_callers_is_kept_to() {
    let script =
        Script::without_streams(std::iter::repeat_n(status("running"), 5).chain([status("completed")]));
    script.client().mandate("mnd_1").wait().poll_interval(Duration::from_secs(7)).await.unwrap();
    for gap in script.gaps() {
        assert!(gap >= Duration::from_secs(7) && gap < Duration::from_millis(7_010), "{gap:?}");
    }
    // Nothing at all would be a loop without a pause.
    let script = Script::without_streams([status("running")]);
    let wait = script.client().mandate("mnd_1").wait().poll_interval(Duration::ZERO);
    wait.timeout(Duration::from_secs(1)).await.unwrap_err();
    assert!(script.count() < 110, "{}", script.count());
}

#[tokio::test(start_paused = true)]
async fn a_timeout_carries_the_last_state() {
    let script = Script::without_streams([status("running")]);
    let started = Instant::now();
    let wait = script.client().mandate("mnd_1").wait().timeout(Duration::from_secs(60));
    let error = wait.await.unwrap_err();
    assert!(
        started.elapsed() >= Duration::from_secs(60) && started.elapsed() < Duration::from_millis(60_010)
    );
    assert!(error.is_wait_timeout() && error.is_timeout() && error.is_retryable());
    let last = error.last_mandate().unwrap();
    assert_eq!(last.current_state.summary, "It is running.");
    assert_eq!(error.to_string(), "what was waited for did not come within 60s; the work goes on");
}

#[tokio::test(start_paused = true)]
async fn the_read_at_the_deadline_wins_over_the_timeout() {
    let script = Script::without_streams([status("running"), status("completed")]);
    let wait = script.client().mandate("mnd_1").wait();
    let wait = wait.poll_interval(Duration::from_secs(3600)).timeout(Duration::from_secs(5));
    assert_eq!(wait.await.unwrap().status, MandateStatus::Completed);
    assert_eq!(script.count(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_service_that_hangs_does_not_hold_a_wait_beyond_its_timeout() {
    let script = Script::without_streams([status("running"), Step::Hang]);
    let started = Instant::now();
    let error = script.client().mandate("mnd_1").wait().timeout(Duration::from_secs(20)).await.unwrap_err();
    assert!(error.is_wait_timeout());
    assert!(error.last_mandate().is_some());
    // The last read may take 5 s beyond it.
    assert!(started.elapsed() <= Duration::from_millis(25_010), "{:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn trouble_that_passes_does_not_end_a_wait() {
    let script = Script::without_streams([
        Step::error(429, "slow_down").with_header("Retry-After", "40"),
        Step::error(503, "busy"),
        Step::error(501, "x"),
        Step::error(425, "too_early"),
        Step::Refused,
        Step::Broken,
        Step::Hang,
        status("completed"),
    ]);
    script.client().mandate("mnd_1").wait().await.unwrap();
    assert_eq!(script.count(), 8);
    assert!(script.gaps()[0] >= Duration::from_secs(40), "the service's wish is kept to");
}

#[tokio::test(start_paused = true)]
async fn a_wish_to_wait_for_ever_is_kept_to_for_a_minute() {
    let script = Script::without_streams([
        Step::error(503, "x").with_header("Retry-After", "99999999999"),
        status("completed"),
    ]);
    script.client().mandate("mnd_1").wait().await.unwrap();
    assert!(script.gaps()[0] < Duration::from_millis(60_010), "{:?}", script.gaps());
}

#[tokio::test(start_paused = true)]
async fn a_mandate_that_can_not_be_read_ends_a_wait() {
    for code in [401, 403, 404] {
        let script = Script::without_streams([status("running"), Step::error(code, "no")]);
        let error = script.client().mandate("mnd_1").wait().await.unwrap_err();
        assert_eq!(error.status().unwrap().as_u16(), code);
        assert_eq!(script.count(), 2);
    }
    let error =
        Script::without_streams([Step::text(200, "{}")]).client().mandate("mnd_1").wait().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Decode);
}

#[tokio::test(start_paused = true)]
async fn a_status_never_seen_keeps_waiting() {
    let script = Script::without_streams([status("hibernating"), status("paused"), status("completed")]);
    let mut updates = script.client().mandate("mnd_1").wait().updates();
    let mut seen = Vec::new();
    while let Some(state) = updates.try_next().await.unwrap() {
        seen.push(state.status.to_string());
    }
    assert_eq!(seen, ["hibernating", "paused", "completed"]);
}

#[tokio::test(start_paused = true)]
async fn updates_give_each_state_once_and_the_last_one_last() {
    let script = Script::without_streams(
        ["queued", "queued", "running", "running", "running", "completed", "completed"].map(status),
    );
    let mut updates = script.client().mandate("mnd_1").wait().updates();
    let mut seen = Vec::new();
    while let Some(state) = updates.next().await {
        seen.push(state.unwrap().status.to_string());
    }
    assert_eq!(seen, ["queued", "running", "completed"]);
    assert!(updates.next().await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_timeout_is_the_last_item_of_the_updates() {
    let script = Script::without_streams([status("running")]);
    let mut updates = script.client().mandate("mnd_1").wait().timeout(Duration::from_secs(9)).updates();
    assert!(updates.next().await.unwrap().is_ok());
    assert!(updates.next().await.unwrap().unwrap_err().is_wait_timeout());
    assert!(updates.next().await.is_none());
}

fn readiness(status: &str) -> Step {
    Step::json(
        200,
        &json!({"id": "agt_1", "name": "A", "model": "p/m", "status": "active",
            "capabilityStatus": {"email.send": {"status": "ready"},
                "phone": {"status": status, "detail": "Verify your address."}}}),
    )
}

#[tokio::test(start_paused = true)]
async fn an_agent_is_waited_for_until_it_is_ready() {
    let script = Script::new(["provisioning", "provisioning", "brewing", "ready"].map(readiness));
    let agent = script.client().agents().wait_until_ready("agt_1").await.unwrap();
    assert_eq!(agent.not_ready().count(), 0);
    assert_eq!(script.count(), 4);
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_will_not_be_ready_by_itself_is_an_error() {
    for status in ["requires_action", "unavailable", "failed"] {
        let script = Script::new([readiness("provisioning"), readiness(status)]);
        let error = script.client().agents().wait_until_ready("agt_1").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotReady);
        assert_eq!(error.to_string(), format!("the capability phone is {status}: Verify your address."));
    }
    let script = Script::new([readiness("provisioning")]);
    let wait = script.client().agents().wait_until_ready("agt_1").timeout(Duration::from_secs(30));
    assert!(wait.await.unwrap_err().is_wait_timeout());
}
