//! A service that repeats the client's key is told of without it.

use std::sync::{Arc, Mutex};

use serde_json::json;
use shadway::events::StreamState;

use super::{KEY, Show, WORD};
use crate::support::recorder::{Recorder, Told};
use crate::support::streams::{Player, event, open};
use crate::support::{Script, Step, agent};

#[tokio::test(start_paused = true)]
async fn a_refusal_that_repeats_the_key_is_told_without_it() {
    let (recorder, guard) = Recorder::start();
    let show = Show::default();
    let answered = |step: Step| Script::new([step]).builder().api_key(KEY).build().unwrap();
    let id = || ("shadway-request-id", format!("req_{KEY}"));
    let body = json!({"error": {
        "type": "authentication", "code": format!("no:{KEY}"), "param": KEY, "hint": format!("not {KEY}"),
        "message": format!("Authorization: Bearer {KEY} is not known, nor is {KEY}."),
        "details": {"headers": [{"authorization": format!("Bearer {KEY}")}]},
    }});
    let steps = [
        Step::json(401, &body).with_header(id().0, id().1),
        // Which is tried again, and of a stream connected again.
        Step::json(503, &body).with_header("x-request-id", id().1),
        Step::text(403, format!("<html>GET /v1/agents, authorization: Bearer {KEY}</html>")),
        Step::text(302, "").with_header("location", format!("/sign-in/{KEY}")),
    ];
    for step in steps {
        let client = answered(step);
        show.error(client.agents().get("agt_1").await.unwrap_err());
        let mut stream = client.events().stream().max_reconnects(1);
        show.error(stream.next().await.unwrap().unwrap_err());
    }
    // Neither where JSON writes it in another way, nor of an answer that is no refusal and doesn't fit.
    let escaped = format!(r"Bearer \u0073{}", &KEY[1..]);
    let refusal =
        format!(r#"{{"error": {{"type": "a", "message": "{escaped}", "x-{escaped}": ["{escaped}"]}}}}"#);
    for step in
        [Step::text(401, refusal), Step::json(200, &json!({"id": "agt_1", "name": "A", "revision": KEY}))]
    {
        let client = answered(step);
        let error = client.agents().get("agt_1").await.unwrap_err();
        assert!(error.to_string().contains("[redacted]"), "{error}");
        show.error(error);
    }
    // Nor is one that is no refusal, but can't be read; or can.
    let client = answered(Step::text(200, "no JSON").with_header(id().0, id().1));
    show.error(client.agents().get("agt_1").await.unwrap_err());
    show.error(client.events().stream().next().await.unwrap().unwrap_err());
    let client = answered(Step::json(200, &agent()).with_header(id().0, id().1));
    let answer = client.agents().get("agt_1").with_response().await.unwrap();
    assert_eq!(answer.request_id.as_deref(), Some("req_[redacted]"));
    drop(guard);
    for told in recorder.told() {
        assert!(!format!("{told:?}").contains(WORD), "{told:?}");
    }
    let with_id = |told: Vec<Told>| {
        told.iter().filter(|told| told.get("shadway.request_id") == "req_[redacted]").count()
    };
    assert!(with_id(recorder.spans()) >= 6, "the rest of the id is told");
    assert_eq!(
        (with_id(recorder.events("trying again")), with_id(recorder.events("connecting again"))),
        (2, 1)
    );
    let error = answered(Step::json(401, &body)).agents().get("agt_1").await.unwrap_err();
    let said = "Authorization: Bearer [redacted] is not known, nor is [redacted].";
    assert_eq!(error.api().unwrap().message, said, "the rest is as it came");
}

#[tokio::test(start_paused = true)]
async fn what_does_not_fit_a_stream_or_a_wait_is_told_without_the_key() {
    let show = Show::default();
    let player = Player::new([open()
        .send(format!("event: no.{KEY}\ndata: {{\"id\": \"evt_1\", \"sequence\": \"{KEY}\"}}\n\n"))
        .send(format!("data: {{\"id\": \"evt_2\", \"sequence\": \"\\u0073{}\"}}\n\n", &KEY[1..]))
        .send(event(3))]);
    let client = player.builder().api_key(KEY).build().unwrap();
    let skipped = Arc::new(Mutex::new(Vec::new()));
    let (states, seen) = (show.clone(), Arc::clone(&skipped));
    let mut events = client.events().stream().observer(move |state| {
        states.value(state);
        if let StreamState::Skipped { event_type, cause, .. } = state {
            states.error(cause);
            seen.lock().unwrap().push(format!("{event_type}: {cause}"));
        }
    });
    assert_eq!(events.try_next().await.unwrap().unwrap().id, "evt_3");
    let skipped = std::mem::take(&mut *skipped.lock().unwrap());
    assert!(skipped[0].starts_with("no.[redacted]: "), "{skipped:?}");
    assert!(
        skipped.len() == 2 && skipped.iter().all(|why| why.contains("\"[redacted]\", expected")),
        "{skipped:?}"
    );

    let stuck = json!({"status": "failed", "detail": format!("{KEY} is refused")});
    let stuck = json!({"id": "agt_1", "name": "A", "model": "p/m", "status": "active",
        "capabilityStatus": {"email.send": stuck}});
    let kind = ("content-type", format!("text/{KEY}"));
    let script = Script::new([Step::text(200, "").with_header(kind.0, kind.1), Step::json(200, &stuck)]);
    let client = script.builder().api_key(KEY).build().unwrap();
    let opened = client.events().stream().next().await.unwrap().unwrap_err();
    let waited = client.agents().wait_until_ready("agt_1").await.unwrap_err();
    for error in [opened, waited] {
        assert!(error.to_string().contains("[redacted]"), "{error}");
        show.error(error);
    }
}
