//! What comes out of a stream: every event once, in the service's order.

use bytes::Bytes;
use fastrand::Rng;
use serde_json::json;
use shadway::Client;
use shadway::events::{EventData, EventType};
use shadway::transport::{Body, HttpError, HttpFuture, HttpService};

use super::{SECOND, next, nothing_for, take};
use crate::support::streams::{End, Play, Player, event, open, status_event};

#[tokio::test(start_paused = true)]
async fn a_repeat_is_left_out_also_on_a_later_connection() {
    let again = |id: &str, number: u64| event(number).replace(&format!("evt_{number}"), id);
    let player = Player::new([
        open().send(event(1)).send(event(2)).send(event(1)).then(End::Cut),
        // The same place under another id, and the same id at another place.
        open().send(event(2)).send(again("evt_x", 2)).send(event(3)).send(again("evt_1", 9)).send(event(4)),
    ]);
    let mut events = player.stream();
    assert_eq!(take(&mut events, 4).await, ["evt_1", "evt_2", "evt_3", "evt_4"]);
    nothing_for(SECOND, &mut events).await;
}

#[tokio::test(start_paused = true)]
async fn a_lower_sequence_never_seen_is_no_repeat() {
    let player =
        Player::new([[5, 3, 4, 1, 9].into_iter().fold(open(), |play, number| play.send(event(number)))]);
    assert_eq!(take(&mut player.stream(), 5).await, ["evt_5", "evt_3", "evt_4", "evt_1", "evt_9"]);
}

#[tokio::test(start_paused = true)]
async fn the_cursor_is_that_of_the_event_given_out() {
    let player =
        Player::new([open().send(event(1)).send("id: evt_8\n\n").send(event(9)).send("id: evt_10\n")]);
    let mut events = player.stream();
    for number in [1, 9] {
        next(&mut events).await;
        assert_eq!(events.cursor().unwrap(), &*format!("evt_{number}"));
    }
    nothing_for(SECOND, &mut events).await;
    assert_eq!(events.cursor().unwrap(), "evt_9", "a block that isn't complete moves nothing");
}

#[tokio::test(start_paused = true)]
async fn what_is_no_event_is_left_out_and_moves_the_cursor() {
    for data in ["", "null", "[]", "{oops", "{}", r#"{"id":"evt_5"}"#, "<html>"] {
        let player = Player::new([
            open().send(event(1)).send(format!("id: evt_5\ndata: {data}\n\n")).then(End::Cut),
            open().send(event(6)),
        ]);
        let mut events = player.stream();
        assert_eq!(take(&mut events, 2).await, ["evt_1", "evt_6"], "{data}");
        assert_eq!(player.cursors()[1].as_deref(), Some("evt_5"));
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_never_seen_before_is_given_out_as_it_came() {
    let misfit = event(2).replace("test.happened", "mandate.status_changed");
    let player = Player::new([open().send(event(1)).send(misfit).send(status_event(3, "hibernating"))]);
    let mut events = player.stream();
    let unknown = next(&mut events).await;
    assert_eq!(unknown.event_type, EventType::Unknown("test.happened".to_owned()));
    assert!(!unknown.is_known());
    assert!(matches!(next(&mut events).await.data, EventData::Unknown(_)), "the data doesn't fit the type");
    assert_eq!(next(&mut events).await.mandate_status().unwrap().as_str(), "hibernating");
}

#[tokio::test(start_paused = true)]
async fn other_types_are_left_out_and_move_the_cursor() {
    let sent = || open().send(event(1)).send(status_event(2, "running")).send(event(3)).then(End::Cut);
    let player = Player::new([sent(), open().send(status_event(4, "running"))]);
    let mut events = player.stream().event_types([EventType::MandateStatusChanged]);
    assert_eq!(take(&mut events, 2).await, ["evt_2", "evt_4"]);
    assert_eq!(player.cursors()[1].as_deref(), Some("evt_3"));

    for all in [vec![], vec!["*"], vec!["mandate.status_changed", "test.happened"]] {
        let mut events = Player::new([sent()]).stream().event_types(all);
        assert_eq!(take(&mut events, 3).await, ["evt_1", "evt_2", "evt_3"]);
    }
}

#[tokio::test(start_paused = true)]
async fn large_events_arrive() {
    for size in [70_000, 1_048_577, 8_000_000] {
        let data =
            json!({"id": "evt_1", "type": "x", "sequence": 1, "mandate": "m", "data": "x".repeat(size)});
        let bytes = Bytes::from(format!("data: {data}\n\n"));
        let pieces = (0..bytes.len()).step_by(16_384).map(|at| bytes.slice(at..bytes.len().min(at + 16_384)));
        let player = Player::new([pieces.fold(open(), Play::send)]);
        let event = next(&mut player.stream()).await;
        let EventData::Unknown(data) = event.data else { panic!("known") };
        assert_eq!(data.get().len(), size + 2);
    }
}

const TOTAL: u64 = 20_000;

/// Sends all events after the cursor or from a little before it, in pieces, and breaks off anywhere.
#[derive(Debug)]
struct Faulty(std::sync::Mutex<Rng>);

impl HttpService for Faulty {
    fn call(&self, request: http::Request<Bytes>) -> HttpFuture<'_> {
        let mut random = self.0.lock().unwrap();
        let cursor =
            request.headers().get("last-event-id").map(|id| id.to_str().unwrap()[4..].parse().unwrap());
        let first = u64::saturating_sub(cursor.unwrap_or(0) + 1, random.u64(0..4)).max(1);
        let last = first + random.u64(0..200);
        let text: String = ["retry: 0\n\n".to_owned()].into_iter().chain((first..=last).map(event)).collect();
        let mut bytes = Bytes::from(text);
        bytes.truncate(random.usize(0..=bytes.len()));
        if random.u8(0..10) == 0 {
            return Box::pin(async { Err(HttpError::other("reset")) });
        }
        let mut frames = Vec::new();
        while !bytes.is_empty() {
            let piece = bytes.split_to(random.usize(1..=4_096.min(bytes.len())));
            frames.push(Ok(http_body::Frame::data(piece)));
        }
        if random.bool() {
            frames.push(Err(std::io::Error::from(std::io::ErrorKind::ConnectionReset)));
        }
        let body = Body::new(http_body_util::StreamBody::new(futures_util::stream::iter(frames)));
        let response = http::Response::builder().header("content-type", "text/event-stream").body(body);
        Box::pin(async { Ok(response.unwrap()) })
    }
}

#[tokio::test(start_paused = true)]
async fn nothing_is_lost_repeated_or_out_of_order_on_a_line_that_breaks_anywhere() {
    let service = Faulty(std::sync::Mutex::new(Rng::with_seed(7)));
    let client = Client::builder().api_key("sk_test_1").http_service(service).build().unwrap();
    let mut events = client.events().stream();
    for number in 1..=TOTAL {
        assert_eq!(next(&mut events).await.sequence, number);
    }
}
