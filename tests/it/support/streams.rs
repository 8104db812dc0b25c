//! A transport that plays event streams from a script, byte by byte and at its times.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, StreamExt as _};
use http_body_util::StreamBody;
use serde_json::json;
use shadway::events::EventStream;
use shadway::transport::{Body, HttpError, HttpFuture, HttpService, LongLived};
use shadway::{Client, ClientBuilder};
use tokio::sync::Semaphore;
use tokio::time::Instant;

use super::{Seen, mandate};

type Frame = Result<http_body::Frame<Bytes>, std::io::Error>;

/// What becomes of one connection.
#[derive(Clone)]
pub(crate) enum Play {
    /// An answer with its whole body.
    Answer(u16, Vec<(&'static str, &'static str)>, &'static str),
    /// A stream: each piece at its time after the opening, and how it goes on after the last.
    Stream(Vec<(Duration, Bytes)>, Duration, End),
    /// Certainly never sent.
    Refused,
    /// Sent, and then the connection closed.
    Reset,
    /// No headers, ever.
    Hang,
}

#[derive(Clone, Copy, PartialEq)]
pub(crate) enum End {
    Clean,
    Cut,
    Never,
}

/// A stream that opens and then stays silent.
pub(crate) fn open() -> Play {
    Play::Stream(Vec::new(), Duration::ZERO, End::Never)
}

pub(crate) fn refusal(status: u16) -> Play {
    Play::Answer(status, Vec::new(), r#"{"error":{"type":"test","code":"said_no","message":"It said no."}}"#)
}

impl Play {
    /// At once.
    pub(crate) fn send(self, piece: impl Into<Bytes>) -> Self {
        self.at(Duration::ZERO, piece)
    }

    /// So long after the opening.
    pub(crate) fn at(mut self, time: Duration, piece: impl Into<Bytes>) -> Self {
        if let Self::Stream(pieces, end_at, _) = &mut self {
            *end_at = time.max(*end_at);
            pieces.push((time, piece.into()));
        }
        self
    }

    pub(crate) fn then(mut self, end: End) -> Self {
        if let Self::Stream(_, _, how) = &mut self {
            *how = end;
        }
        self
    }

    pub(crate) fn header(mut self, name: &'static str, value: &'static str) -> Self {
        if let Self::Answer(_, headers, _) = &mut self {
            headers.push((name, value));
        }
        self
    }
}

/// An event whose id and sequence are the number.
pub(crate) fn event(number: u64) -> String {
    event_of("test.happened", number, &json!({}))
}

pub(crate) fn status_event(number: u64, status: &str) -> String {
    event_of(
        "mandate.status_changed",
        number,
        &json!({"mandate": mandate(status), "previousStatus": "queued"}),
    )
}

fn event_of(event_type: &str, number: u64, data: &serde_json::Value) -> String {
    let event = json!({
        "id": format!("evt_{number}"), "type": event_type, "sequence": number, "mandate": "mnd_1", "data": data,
    });
    format!("id: evt_{number}\nevent: {event_type}\ndata: {event}\n\n")
}

#[derive(Clone)]
pub(crate) struct Player(Arc<Mutex<State>>);

struct State {
    plays: VecDeque<Play>,
    last: Play,
    /// What reads of the mandate say in turn, the last one for ever; a number is an error status.
    statuses: VecDeque<&'static str>,
    /// What lists of the events say in turn, the last one for ever.
    lists: VecDeque<Result<Vec<String>, u16>>,
    reads_take: Duration,
    /// Held by whatever is under way, except streams, when only one may be.
    slot: Option<Arc<Semaphore>>,
    seen: Vec<Seen>,
    reads: usize,
    /// Also those that were given up on the way.
    reads_begun: usize,
    list_calls: usize,
    /// Bodies that are open now.
    open: usize,
}

impl Player {
    /// Plays in turn, and the last one for ever after.
    pub(crate) fn new(plays: impl IntoIterator<Item = Play>) -> Self {
        let plays: VecDeque<_> = plays.into_iter().collect();
        let last = plays.back().expect("a play").clone();
        let statuses = VecDeque::from(["running"]);
        Self(Arc::new(Mutex::new(State {
            plays,
            last,
            statuses,
            lists: VecDeque::from([Ok(Vec::new())]),
            reads_take: Duration::ZERO,
            slot: None,
            seen: Vec::new(),
            reads: 0,
            reads_begun: 0,
            list_calls: 0,
            open: 0,
        })))
    }

    /// Lists of these events, written as they are streamed, or a refusal.
    pub(crate) fn lists(self, lists: impl IntoIterator<Item = Result<Vec<String>, u16>>) -> Self {
        self.0.lock().unwrap().lists = lists.into_iter().collect();
        self
    }

    pub(crate) fn reads_take(self, time: Duration) -> Self {
        self.0.lock().unwrap().reads_take = time;
        self
    }

    /// One request at a time, beside streams.
    pub(crate) fn one_at_a_time(self) -> Self {
        self.0.lock().unwrap().slot = Some(Arc::new(Semaphore::new(1)));
        self
    }

    /// How often the events were listed.
    pub(crate) fn list_calls(&self) -> usize {
        self.0.lock().unwrap().list_calls
    }

    pub(crate) fn statuses(self, statuses: impl IntoIterator<Item = &'static str>) -> Self {
        self.0.lock().unwrap().statuses = statuses.into_iter().collect();
        self
    }

    /// The requests for streams.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.0.lock().unwrap().seen.clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.0.lock().unwrap().seen.len()
    }

    /// How often the mandate was read.
    pub(crate) fn reads(&self) -> usize {
        self.0.lock().unwrap().reads
    }

    /// How often it was begun to be read.
    pub(crate) fn reads_begun(&self) -> usize {
        self.0.lock().unwrap().reads_begun
    }

    pub(crate) fn open(&self) -> usize {
        self.0.lock().unwrap().open
    }

    /// What each request said to resume after.
    pub(crate) fn cursors(&self) -> Vec<Option<String>> {
        self.seen().iter().map(|seen| seen.header("last-event-id").map(str::to_owned)).collect()
    }

    /// The time between one request and the next.
    pub(crate) fn gaps(&self) -> Vec<Duration> {
        self.seen().windows(2).map(|pair| pair[1].at - pair[0].at).collect()
    }

    pub(crate) fn builder(&self) -> ClientBuilder {
        Client::builder().api_key("sk_test_1").http_service(self.clone())
    }

    pub(crate) fn stream(&self) -> EventStream {
        self.builder().build().unwrap().mandate("mnd_1").events().stream()
    }

    fn read(&self) -> http::Response<Body> {
        let mut state = self.0.lock().unwrap();
        state.reads += 1;
        let said = match state.statuses.len() {
            1 => state.statuses[0],
            _ => state.statuses.pop_front().expect("a status"),
        };
        let (status, body) = match said.parse::<u16>() {
            Ok(status) => (status, json!({"error": {"type": "test", "message": "It said no."}})),
            Err(_) => (200, mandate(said)),
        };
        http::Response::builder().status(status).body(Body::from(body.to_string())).unwrap()
    }

    fn list(&self, query: &str) -> http::Response<Body> {
        let mut state = self.0.lock().unwrap();
        state.list_calls += 1;
        let said = match state.lists.len() {
            1 => state.lists[0].clone(),
            _ => state.lists.pop_front().expect("a list"),
        };
        let (status, body) = match said {
            Err(status) => (status, json!({"error": {"type": "test", "message": "It said no."}})),
            Ok(events) => {
                let after = query.split('&').find_map(|pair| pair.strip_prefix("afterSequence="));
                let after = after.map(|after| after.parse::<u64>().unwrap());
                let data = |event: &String| {
                    let data = event.lines().find_map(|line| line.strip_prefix("data: ")).expect("data");
                    serde_json::from_str(data).expect("JSON")
                };
                let mut events: Vec<serde_json::Value> = events.iter().map(data).collect();
                events.retain(|event| after.is_none_or(|after| event["sequence"].as_u64() > Some(after)));
                (200, json!({"data": events, "nextCursor": null}))
            }
        };
        http::Response::builder().status(status).body(Body::from(body.to_string())).unwrap()
    }

    fn body(&self, pieces: Vec<(Duration, Bytes)>, end_at: Duration, end: End) -> Body {
        let opened = Instant::now();
        let frames = stream::iter(pieces).then(move |(time, piece)| async move {
            tokio::time::sleep_until(opened + time).await;
            Ok(http_body::Frame::data(piece))
        });
        let ending = stream::once(async move {
            tokio::time::sleep_until(opened + end_at).await;
            match end {
                End::Clean => None,
                End::Cut => Some(Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof))),
                End::Never => std::future::pending().await,
            }
        });
        self.0.lock().unwrap().open += 1;
        let frames: Pin<Box<dyn futures_core::Stream<Item = Frame> + Send>> =
            Box::pin(frames.chain(ending.filter_map(std::future::ready)));
        Body::new(StreamBody::new(Counted { frames, player: self.clone() }))
    }
}

/// A body that says when it is dropped.
struct Counted {
    frames: Pin<Box<dyn futures_core::Stream<Item = Frame> + Send>>,
    player: Player,
}

impl futures_core::Stream for Counted {
    type Item = Frame;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Frame>> {
        self.frames.as_mut().poll_next(context)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.player.0.lock().unwrap().open -= 1;
    }
}

impl std::fmt::Debug for Player {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Player")
    }
}

impl HttpService for Player {
    fn call(&self, request: http::Request<Bytes>) -> HttpFuture<'_> {
        let (parts, body) = request.into_parts();
        let lasts = parts.extensions.get::<LongLived>().is_some();
        assert_eq!(lasts, parts.uri.path().ends_with("/stream"), "a stream, and only that, is marked");
        if !lasts {
            let (takes, slot) = {
                let state = self.0.lock().unwrap();
                (state.reads_take, state.slot.clone())
            };
            return Box::pin(async move {
                let _held = match &slot {
                    Some(slot) => Some(slot.acquire().await.unwrap()),
                    None => None,
                };
                if parts.uri.path().ends_with("/events") {
                    return Ok(self.list(parts.uri.query().unwrap_or_default()));
                }
                self.0.lock().unwrap().reads_begun += 1;
                tokio::time::sleep(takes).await;
                Ok(self.read())
            });
        }
        let play = {
            let mut state = self.0.lock().unwrap();
            let (uri, at) = (parts.uri.to_string(), Instant::now());
            state.seen.push(Seen { method: parts.method, uri, headers: parts.headers, body, at });
            state.plays.pop_front().unwrap_or_else(|| state.last.clone())
        };
        Box::pin(async move {
            match play {
                Play::Answer(status, headers, body) => {
                    let mut response = http::Response::builder().status(status);
                    for (name, value) in headers {
                        response = response.header(name, value);
                    }
                    Ok(response.body(Body::from(body)).unwrap())
                }
                Play::Stream(pieces, end_at, end) => Ok(http::Response::builder()
                    .header("content-type", "text/event-stream; charset=utf-8")
                    .body(self.body(pieces, end_at, end))
                    .unwrap()),
                Play::Refused => Err(HttpError::connect("refused")),
                Play::Reset => Err(HttpError::other("connection reset")),
                Play::Hang => std::future::pending().await,
            }
        })
    }
}
