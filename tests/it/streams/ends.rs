//! What ends a stream, and with what error.

use std::sync::{Arc, Mutex};

use shadway::ErrorKind;
use shadway::events::EventStream;

use super::{SECOND, ended, item, next, nothing_for, take};
use crate::support::streams::{End, Play, Player, event, open, refusal};

/// The error that is the last item.
async fn last(events: &mut EventStream) -> shadway::Error {
    let error = item(events).await.unwrap_err();
    ended(events).await;
    error
}

#[tokio::test(start_paused = true)]
async fn no_content_ends_it() {
    let player = Player::new([open().send(event(1)).then(End::Cut), Play::Answer(204, Vec::new(), "")]);
    let mut events = player.stream();
    take(&mut events, 1).await;
    ended(&mut events).await;
    assert_eq!(player.count(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_refusal_that_stands_is_one_request_and_one_error() {
    let kinds = [
        (400, ErrorKind::InvalidRequest),
        (401, ErrorKind::Authentication),
        (403, ErrorKind::Permission),
        (404, ErrorKind::NotFound),
        (409, ErrorKind::Conflict),
        (410, ErrorKind::UnexpectedStatus),
        (422, ErrorKind::InvalidRequest),
        (304, ErrorKind::UnexpectedStatus),
    ];
    for (status, kind) in kinds {
        let player = Player::new([refusal(status).header("Shadway-Request-Id", "req_9")]);
        let error = last(&mut player.stream()).await;
        assert_eq!((error.kind(), error.status().unwrap().as_u16()), (kind, status));
        assert_eq!(error.code().unwrap().as_str(), "said_no");
        assert_eq!((error.request_id(), error.attempts()), (Some("req_9"), 1));
        assert_eq!(player.count(), 1, "{status}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_refused_resume_says_so() {
    let player = Player::new([refusal(410)]);
    let mut events = player.stream().resume_after("evt_1");
    let error = last(&mut events).await;
    assert_eq!(error.kind(), ErrorKind::CursorTooOld);
    assert_eq!(error.status().unwrap().as_u16(), 410);
    assert_eq!(error.api().unwrap().message, "It said no.");
    assert!(!error.is_retryable());
    assert_eq!(
        error.to_string(),
        "410 the event to resume after is older than what the service keeps; list the events to read what was \
         missed, and stream without resuming: said_no: It said no."
    );
    assert_eq!(player.count(), 1);
    // Also when it is found out on the way.
    let player = Player::new([open().send(event(1)).then(End::Cut), refusal(410)]);
    let mut events = player.stream();
    take(&mut events, 1).await;
    assert_eq!(last(&mut events).await.kind(), ErrorKind::CursorTooOld);
    assert_eq!(events.cursor().unwrap(), "evt_1");
}

#[tokio::test(start_paused = true)]
async fn a_redirect_is_not_followed() {
    let player = Player::new([refusal(307).header("Location", "https://elsewhere.example/x?token=s3cr3t")]);
    let error = last(&mut player.stream()).await;
    assert_eq!(error.kind(), ErrorKind::Redirect);
    assert!(error.to_string().contains("https://elsewhere.example/x"), "{error}");
    assert!(!error.to_string().contains("s3cr3t"), "{error}");
    assert_eq!(player.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_is_no_event_stream_is_an_error() {
    for (headers, shown) in [
        (vec![("content-type", "text/html; charset=utf-8")], "it is \"text/html\", no event stream"),
        (vec![("content-type", "application/json")], "it is \"application/json\", no event stream"),
        (vec![("content-type", "text/event-streams")], "it is \"text/event-streams\", no event stream"),
        (vec![], "it has no content type"),
    ] {
        let player = Player::new([Play::Answer(200, headers, "data: {}\n\n")]);
        let error = last(&mut player.stream()).await;
        assert_eq!(error.kind(), ErrorKind::Decode);
        assert!(error.to_string().contains(shown), "{error}");
        assert_eq!(player.count(), 1);
    }
    for fine in ["text/event-stream", "Text/Event-Stream ; charset=utf-8"] {
        let player =
            Player::new([Play::Answer(200, vec![("content-type", fine)], ":\n\n"), open().send(event(1))]);
        take(&mut player.stream(), 1).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_limit_of_three_means_exactly_four_connections() {
    for (play, kind) in [
        (Play::Refused, ErrorKind::Connection),
        (Play::Reset, ErrorKind::Connection),
        (Play::Hang, ErrorKind::Timeout),
        (refusal(503), ErrorKind::Server),
        (refusal(429), ErrorKind::RateLimit),
        (open().then(End::Clean), ErrorKind::Connection),
        (open().then(End::Cut), ErrorKind::Connection),
        (open(), ErrorKind::Timeout),
    ] {
        let player = Player::new([play]);
        let error = last(&mut player.stream().max_reconnects(3)).await;
        assert_eq!((error.kind(), error.attempts()), (kind, 4), "{error}");
        assert!(error.is_retryable());
        assert_eq!(player.count(), 4);
    }
    let player = Player::new([open().then(End::Clean)]);
    let error = last(&mut player.stream().max_reconnects(0)).await;
    assert_eq!(error.to_string(), "the service ended the stream");
    assert_eq!(player.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_event_starts_the_count_anew() {
    let good = |number| open().send(event(number)).then(End::Cut);
    let player = Player::new([Play::Refused, Play::Refused, good(1), Play::Refused, good(2), Play::Refused]);
    let mut events = player.stream().max_reconnects(2);
    take(&mut events, 2).await;
    last(&mut events).await;
    assert_eq!(player.count(), 7);
}

#[tokio::test(start_paused = true)]
async fn an_event_above_the_limit_is_an_error() {
    let long = format!("data: {}\n\n", "x".repeat(1_000));
    for sent in
        [open().send(long.clone()), open().send("data: a\n".repeat(200)), open().send(": ".repeat(600))]
    {
        let player = Player::new([sent]);
        let error = last(&mut player.stream().max_event_bytes(999)).await;
        assert_eq!(error.kind(), ErrorKind::ResponseTooLarge);
        assert_eq!(error.to_string(), "an event is larger than 999 bytes");
        assert_eq!((player.count(), player.open()), (1, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn an_id_that_can_not_be_sent_is_an_error_before_anything_is_sent() {
    for id in ["evt\n1", "evt\r1", "evt\u{0}", "evt\u{7f}", " evt", "evt ", "evt\t"] {
        let player = Player::new([open()]);
        let error = last(&mut player.stream().resume_after(id)).await;
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{id:?}");
        assert_eq!(player.count(), 0);
    }
    let player = Player::new([open().send(event(1))]);
    take(&mut player.stream().resume_after("é→"), 1).await;
    assert_eq!(player.seen()[0].headers["last-event-id"].as_bytes(), "é→".as_bytes(), "but any text can");
}

#[tokio::test(start_paused = true)]
async fn an_id_of_the_services_that_can_not_be_sent_back_is_an_error_once_it_is_needed() {
    let odd = "id: a\u{1}b\n\n";
    let player = Player::new([open().send(odd).send(event(1)).send(odd).at(SECOND, ":\n").then(End::Cut)]);
    let mut events = player.stream();
    take(&mut events, 1).await;
    nothing_for(SECOND / 2, &mut events).await;
    let error = last(&mut events).await;
    assert_eq!(error.kind(), ErrorKind::Decode);
    assert!(error.to_string().contains(r#""a\u{1}b""#), "{error}");
    assert_eq!(player.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_id_of_a_mandate_that_can_not_be_sent_is_an_error() {
    let player = Player::new([open()]);
    let client = player.builder().build().unwrap();
    let error = last(&mut client.mandate("..").events().stream()).await;
    assert_eq!(error.kind(), ErrorKind::InvalidInput);
    assert_eq!(player.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_observer_sees_each_step() {
    let player = Player::new([
        open().send(event(1)).send("event: x\ndata: {oops\n\n").then(End::Clean),
        refusal(503).header("Retry-After", "9"),
        open().send(event(2)),
    ]);
    let seen = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&seen);
    let mut events = player.stream().observer(move |state| {
        use shadway::events::StreamState as State;
        log.lock().unwrap().push(match state {
            State::Connecting { after, .. } => format!("connecting after {after:?}"),
            State::Open => "open".to_owned(),
            State::Waiting { cause, delay, .. } => format!("{cause}; {} s", delay.as_secs()),
            State::Skipped { event_type, cause, .. } => format!("skipped {event_type}: {:?}", cause.kind()),
            _ => "?".to_owned(),
        });
    });
    take(&mut events, 2).await;
    assert_eq!(
        *seen.lock().unwrap(),
        [
            "connecting after None",
            "open",
            "skipped x: Decode",
            "the service ended the stream; 0 s",
            r#"connecting after Some("evt_1")"#,
            "503 said_no: It said no. [2 attempts]; 9 s",
            r#"connecting after Some("evt_1")"#,
            "open",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_stream_can_be_spawned_and_printed() {
    let player = Player::new([open().send(event(1))]);
    let mut events = player.stream().resume_after("evt_0");
    let printed = format!("{events:?}");
    assert!(
        printed.contains("evt_0") && printed.contains("start") && !printed.contains("sk_test"),
        "{printed}"
    );
    let task = tokio::spawn(async move { next(&mut events).await.id });
    assert_eq!(task.await.unwrap(), "evt_1");
}
