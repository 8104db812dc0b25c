//! Streams that keep their position: nothing is lost, wherever the program stops.

use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;

use bytes::Bytes;
use serde_json::{Value, json};
use shadway::events::{Checkpoint, CheckpointFuture, EventStream, MemoryCheckpoint, checkpoint_conformance};
use shadway::transport::{Body, HttpError, HttpFuture, HttpService};
use shadway::types::EventId;
use shadway::{Client, ErrorKind};

use super::{SECOND, ended, item, next, nothing_for, take};
use crate::support::page;
use crate::support::streams::event;

const TOTAL: u64 = 1_000;

/// A service at which events happen at any time, also between two requests: those up to `happened` have.
#[derive(Debug, Clone)]
struct Busy(Arc<State>);

#[derive(Debug)]
struct State {
    happened: AtomicU64,
    total: u64,
    /// How many happen with each request, just before it is answered and just after.
    pace: [u64; 2],
    /// It sends no block with its position when a stream is opened.
    shy: bool,
    /// The status that the request of a number gets instead of its answer.
    trouble: fn(usize) -> Option<u16>,
    requests: Mutex<Vec<String>>,
}

impl Busy {
    fn new(happened: u64, total: u64, pace: [u64; 2]) -> Self {
        Self::of(Self::state(happened, total, pace))
    }

    fn state(happened: u64, total: u64, pace: [u64; 2]) -> State {
        let happened = happened.into();
        State { happened, total, pace, shy: false, trouble: |_| None, requests: Mutex::default() }
    }

    fn of(state: State) -> Self {
        Self(Arc::new(state))
    }

    fn happen(&self, count: u64) -> u64 {
        let now = (self.0.happened.load(Ordering::Relaxed) + count).min(self.0.total);
        self.0.happened.store(now, Ordering::Relaxed);
        now
    }

    fn stream(&self) -> EventStream {
        let client = Client::builder().api_key("sk_test_1").max_retries(0).http_service(self.clone()).build();
        client.unwrap().mandate("mnd_1").events().stream()
    }

    /// The requests so far, by what they ask for.
    fn requests(&self) -> Vec<String> {
        self.0.requests.lock().unwrap().clone()
    }

    fn list(&self, query: &str) -> Body {
        let cursor = query.split('&').find_map(|part| part.strip_prefix("cursor="));
        let first = cursor.map_or(1, |cursor| cursor.parse().unwrap());
        let happened = self.happen(0);
        let last = happened.min(first + 99);
        let events: Vec<Value> = (first..=last)
            .map(|number| {
                json!({"id": format!("evt_{number}"), "type": "test.happened", "sequence": number, "mandate": "mnd_1"})
            })
            .collect();
        let more = if last < happened { json!((last + 1).to_string()) } else { Value::Null };
        Body::from(page(&events, &more).to_string())
    }

    fn follow(&self, cursor: Option<u64>) -> Body {
        let after = cursor.unwrap_or_else(|| self.happen(0));
        let hello = (cursor.is_none() && !self.0.shy).then(|| format!("id: evt_{after}\n\n"));
        let busy = self.clone();
        // From here on an event happens whenever one is read.
        let rest = futures_util::stream::unfold(after, move |last| {
            let busy = busy.clone();
            async move {
                if last >= busy.0.total {
                    return std::future::pending().await;
                }
                busy.0.happened.fetch_max(last + 1, Ordering::Relaxed);
                Some((event(last + 1), last + 1))
            }
        });
        let pieces = futures_util::StreamExt::chain(futures_util::stream::iter(hello), rest);
        let frames = futures_util::StreamExt::map(pieces, |piece| {
            Ok::<_, std::io::Error>(http_body::Frame::data(Bytes::from(piece)))
        });
        Body::new(http_body_util::StreamBody::new(frames))
    }
}

impl HttpService for Busy {
    fn call(&self, request: http::Request<Bytes>) -> HttpFuture<'_> {
        self.happen(self.0.pace[0]);
        let cursor = request.headers().get("last-event-id").map(|id| id.to_str().unwrap()[4..].to_owned());
        let query = request.uri().query().unwrap_or_default();
        let (asked, kind, body) = match request.uri().path().ends_with("/stream") {
            true => {
                let body = self.follow(cursor.as_ref().map(|id| id.parse().unwrap()));
                (format!("after {}", cursor.unwrap_or_default()), "text/event-stream", body)
            }
            false => (format!("list {query}"), "application/json", self.list(query)),
        };
        let trouble = (self.0.trouble)(self.requests().len());
        self.0.requests.lock().unwrap().push(asked);
        self.happen(self.0.pace[1]);
        let body = if trouble.is_some() { Body::from("") } else { body };
        let response = http::Response::builder().status(trouble.unwrap_or(200));
        let response = response.header("content-type", kind).body(body);
        Box::pin(async { response.map_err(HttpError::other) })
    }
}

/// A store whose saves take a while, or fail.
#[derive(Clone, Default)]
pub(super) struct Slow {
    kept: MemoryCheckpoint,
    saves: Arc<Mutex<Vec<EventId>>>,
    fails: bool,
    unreadable: bool,
}

impl Checkpoint for Slow {
    fn load<'a>(&'a self, stream: &'a str) -> CheckpointFuture<'a, Option<EventId>> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            if self.unreadable {
                return Err("no such table".into());
            }
            self.kept.load(stream).await
        })
    }

    fn save<'a>(&'a self, stream: &'a str, position: &'a EventId) -> CheckpointFuture<'a, ()> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            if self.fails {
                return Err("the disk is full".into());
            }
            self.saves.lock().unwrap().push(position.clone());
            self.kept.save(stream, position).await
        })
    }
}

/// Asks for the next event, and gives up at once.
async fn ask(events: &mut EventStream) -> bool {
    let mut asked = Box::pin(events.try_next());
    poll_fn(|context| Poll::Ready(asked.as_mut().poll(context).is_ready())).await
}

/// What the program is at when it stops, after it handled an event.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Stop {
    /// It has not asked for another.
    Before,
    /// It has, and does not come to handle it.
    After,
}

/// Stops after each event in turn and starts again. Gives the numbers in the order in which they were handled.
async fn lives(service: &Busy, store: &(impl Checkpoint + Clone), stop: Stop) -> Vec<u64> {
    let mut handled = Vec::new();
    while handled.last() != Some(&TOTAL) {
        let mut events = service.stream().checkpoint(store.clone());
        // The one in hand comes again, so one more is needed to get on.
        let count = if stop == Stop::Before && !handled.is_empty() { 2 } else { 1 };
        for _ in 0..count {
            handled.push(next(&mut events).await.sequence);
        }
        if stop == Stop::After {
            ask(&mut events).await;
        }
    }
    handled
}

#[tokio::test(start_paused = true)]
async fn a_program_that_stops_at_any_event_loses_none_and_repeats_the_one_in_hand_only() {
    let twice: Vec<u64> = (1..=TOTAL).flat_map(|number| [number, number]).collect();
    for (happened, pace) in
        [(0, [0, 0]), (0, [1, 0]), (0, [0, 1]), (1, [0, 0]), (250, [1, 3]), (TOTAL, [0, 0])]
    {
        let service = Busy::new(happened, TOTAL, pace);
        let handled = lives(&service, &MemoryCheckpoint::new(), Stop::Before).await;
        assert_eq!(handled, twice[..twice.len() - 1], "{happened} {pace:?}");

        let service = Busy::new(happened, TOTAL, pace);
        let handled = lives(&service, &MemoryCheckpoint::new(), Stop::After).await;
        assert!(handled.into_iter().eq(1..=TOTAL), "{happened} {pace:?}");

        // The save is not through when the program stops.
        let service = Busy::new(happened, TOTAL, pace);
        let mut handled = Vec::new();
        let store = Slow::default();
        while handled.last() != Some(&TOTAL) {
            let mut events = service.stream().checkpoint(store.clone());
            let count = if handled.is_empty() { 1 } else { 2 };
            handled.extend(take(&mut events, count).await.iter().map(|id| id[4..].parse::<u64>().unwrap()));
            assert!(!ask(&mut events).await);
        }
        assert_eq!(handled, twice[..twice.len() - 1], "{happened} {pace:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn with_an_empty_store_the_history_comes_first_and_nothing_is_lost_between() {
    for happened in [0, 1, 99, 100, 101, 250] {
        for pace in [[0, 0], [1, 0], [0, 1], [7, 5]] {
            for shy in [false, true] {
                let state = State { shy, ..Busy::state(happened, 400, pace) };
                let mut events = Busy::of(state).stream().checkpoint(MemoryCheckpoint::new());
                for number in 1..=400 {
                    assert_eq!(next(&mut events).await.sequence, number, "{happened} {pace:?} {shy}");
                }
                nothing_for(SECOND, &mut events).await;
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn all_pages_are_listed_once_and_the_stream_resumes_after_the_last() {
    let service = Busy::new(250, 251, [0, 0]);
    let store = MemoryCheckpoint::new();
    let mut events = service.stream().checkpoint(store.clone());
    assert_eq!(take(&mut events, 251).await.len(), 251);
    let first = ["after ", "list limit=100", "list limit=100&cursor=101", "list limit=100&cursor=201"];
    assert_eq!(service.requests()[..4], first);
    assert_eq!(service.requests()[4..], ["after 250"]);
    nothing_for(SECOND, &mut events).await;
    drop(events);
    nothing_for(SECOND, &mut service.stream().checkpoint(store.clone())).await;
    assert_eq!(service.requests()[5..], ["after 251"], "no list: there is a position");
    assert_eq!(store.load("mandate:mnd_1").await.unwrap().unwrap(), "evt_251");
}

#[tokio::test(start_paused = true)]
async fn a_stream_without_a_checkpoint_lists_nothing() {
    let service = Busy::new(5, 6, [0, 0]);
    assert_eq!(take(&mut service.stream(), 1).await, ["evt_6"]);
    assert_eq!(service.requests(), ["after "]);
}

#[tokio::test(start_paused = true)]
async fn of_an_empty_history_the_opening_block_is_no_position_since_the_list_may_lag() {
    let service = Busy::new(0, 0, [0, 0]);
    let store = MemoryCheckpoint::new();
    nothing_for(SECOND / 5, &mut service.stream().checkpoint(store.clone())).await;
    assert_eq!(store.load("mandate:mnd_1").await.unwrap(), None);
    nothing_for(SECOND / 5, &mut service.stream().checkpoint(store)).await;
    assert_eq!(service.requests(), ["after ", "list limit=100", "after ", "list limit=100"]);
}

#[tokio::test(start_paused = true)]
async fn a_position_in_the_store_comes_before_one_given_and_an_empty_store_after_it() {
    let service = Busy::new(9, 9, [0, 0]);
    let store = MemoryCheckpoint::new();
    let stream = || service.stream().resume_after("evt_6").checkpoint(store.clone());
    let mut events = stream();
    assert_eq!(take(&mut events, 2).await, ["evt_7", "evt_8"]);
    drop(events);
    assert_eq!(take(&mut stream(), 1).await, ["evt_8"], "evt_7 was handled");
    assert_eq!(service.requests(), ["after 6", "after 7"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_left_out_is_saved_once_nothing_more_is_at_hand() {
    let service = Busy::new(0, 300, [0, 0]);
    let store = Slow::default();
    let mut events = service.stream().event_types(["never.happened"]).checkpoint(store.clone());
    nothing_for(SECOND, &mut events).await;
    assert_eq!(*store.saves.lock().unwrap(), ["evt_300"], "one save for all of them");
    assert_eq!(events.cursor().unwrap(), "evt_300");
}

#[tokio::test(start_paused = true)]
async fn an_event_is_saved_before_anything_else_is_read() {
    let service = Busy::new(3, 3, [0, 0]);
    let store = Slow::default();
    let mut events = service.stream().checkpoint(store.clone());
    for number in 1..=3 {
        next(&mut events).await;
        assert_eq!(store.saves.lock().unwrap().len(), number - 1, "not while it is in hand");
        // Given up again and again: a save that has begun goes on where it was.
        assert!(!ask(&mut events).await);
    }
    nothing_for(SECOND, &mut events).await;
    assert_eq!(*store.saves.lock().unwrap(), ["evt_1", "evt_2", "evt_3"]);
}

#[tokio::test(start_paused = true)]
async fn a_store_that_fails_is_an_error_and_the_end() {
    let service = Busy::new(3, 3, [0, 0]);
    let mut events = service.stream().checkpoint(Slow { unreadable: true, ..Slow::default() });
    let error = item(&mut events).await.unwrap_err();
    assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::Checkpoint, false));
    assert_eq!(error.to_string(), "the position of the stream could not be loaded");
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "no such table");
    ended(&mut events).await;
    assert!(service.requests().is_empty(), "never a start from nothing");

    let mut events = service.stream().checkpoint(Slow { fails: true, ..Slow::default() });
    assert_eq!(next(&mut events).await.sequence, 1);
    let error = item(&mut events).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Checkpoint);
    assert_eq!(error.to_string(), "the position of the stream could not be saved");
    ended(&mut events).await;
}

#[tokio::test(start_paused = true)]
async fn each_stream_has_its_own_position() {
    let store = Slow::default();
    let service = Busy::new(3, 3, [0, 0]);
    nothing_for(SECOND, &mut service.stream().event_types(["x"]).checkpoint(store.clone())).await;
    let client = Client::builder().api_key("sk_test_1").http_service(service).build().unwrap();
    let mut all = client.events().stream().checkpoint(store.clone());
    assert_eq!(take(&mut all, 3).await, ["evt_1", "evt_2", "evt_3"]);
    assert_eq!(store.kept.load("workspace").await.unwrap().unwrap(), "evt_2");
    assert_eq!(store.kept.load("mandate:mnd_1").await.unwrap().unwrap(), "evt_3");
}

#[tokio::test(start_paused = true)]
async fn a_history_that_breaks_off_goes_on_and_loses_nothing() {
    let troubles: [fn(usize) -> Option<u16>; 4] = [
        |number| (number == 1).then_some(503),
        |number| (number == 2).then_some(503),
        |number| (number % 4 == 1).then_some(500),
        |number| (number % 3 == 0).then_some(429),
    ];
    for trouble in troubles {
        for (happened, pace) in [(0, [0, 0]), (0, [0, 1]), (250, [0, 0]), (250, [2, 3])] {
            let state = |total| State { trouble, ..Busy::state(happened, total, pace) };
            let service = Busy::of(state(400));
            let mut events = service.stream().checkpoint(MemoryCheckpoint::new());
            for number in 1..=400 {
                assert_eq!(next(&mut events).await.sequence, number, "{:?}", service.requests());
            }
            let handled = lives(&Busy::of(state(TOTAL)), &MemoryCheckpoint::new(), Stop::After).await;
            assert!(handled.into_iter().eq(1..=TOTAL), "{happened} {pace:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_history_that_is_refused_is_an_error_and_the_end() {
    let state = State { trouble: |number| (number == 1).then_some(404), ..Busy::state(5, 9, [0, 0]) };
    let service = Busy::of(state);
    let mut events = service.stream().checkpoint(MemoryCheckpoint::new());
    assert_eq!(item(&mut events).await.unwrap_err().kind(), ErrorKind::NotFound);
    ended(&mut events).await;
    assert_eq!(service.requests().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_over_before_it_began_still_has_its_history() {
    let state = State { trouble: |number| (number == 0).then_some(204), ..Busy::state(3, 3, [0, 0]) };
    let store = MemoryCheckpoint::new();
    let mut events = Busy::of(state).stream().checkpoint(store.clone());
    assert_eq!(take(&mut events, 3).await, ["evt_1", "evt_2", "evt_3"]);
    ended(&mut events).await;
    assert_eq!(store.load("mandate:mnd_1").await.unwrap().unwrap(), "evt_3");
}

/// A store that keeps one position, whatever the stream.
#[derive(Clone, Default)]
struct Careless(MemoryCheckpoint);

impl Checkpoint for Careless {
    fn load<'a>(&'a self, _: &'a str) -> CheckpointFuture<'a, Option<EventId>> {
        self.0.load("")
    }

    fn save<'a>(&'a self, _: &'a str, position: &'a EventId) -> CheckpointFuture<'a, ()> {
        self.0.save("", position)
    }
}

#[tokio::test]
async fn the_conformance_check_passes_good_stores_and_names_the_rule_that_others_break() {
    let store = MemoryCheckpoint::new();
    checkpoint_conformance(|| store.clone()).await.unwrap();
    let error = checkpoint_conformance(|| store.clone()).await.unwrap_err();
    assert_eq!(error.rule, "a store without a position gives none");
    let store = Slow::default();
    checkpoint_conformance(|| Arc::new(store.clone())).await.unwrap();

    let store = Careless::default();
    let error = checkpoint_conformance(|| store.clone()).await.unwrap_err();
    assert_eq!(error.rule, "a stream without a position never gets another stream's");
    assert_eq!(error.to_string(), format!("{}: it gave \"evt_one\"", error.rule));
    let error = checkpoint_conformance(MemoryCheckpoint::new).await.unwrap_err();
    assert_eq!(error.rule, "a store opened again gives what was saved");
    let error = checkpoint_conformance(|| Slow { fails: true, ..Slow::default() }).await.unwrap_err();
    assert_eq!(error.rule, "a position is saved");
    let error = checkpoint_conformance(|| Slow { unreadable: true, ..Slow::default() }).await.unwrap_err();
    assert_eq!(error.to_string(), "a store without a position gives none: it failed: no such table");
}
