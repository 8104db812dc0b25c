//! A service that goes on while nobody looks, and whose connections break anywhere: all by chance, from a seed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use bytes::Bytes;
use fastrand::Rng;
use futures_util::stream;
use http_body_util::StreamBody;
use serde_json::{Value, json};
use shadway::Client;
use shadway::transport::{Body, HttpError, HttpFuture, HttpService};

use super::page;

/// The mandate whose stream may be read instead of the workspace's.
pub(crate) const MANDATE: &str = "mnd_1";
const MANDATES: [&str; 3] = [MANDATE, "mnd_2", "mnd_3"];

/// What may go wrong.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Faults {
    /// Connections end between and inside events, and requests are refused.
    pub(crate) cuts: bool,
    /// A resumed stream may begin before the event to resume after, also with the very first.
    pub(crate) replays: bool,
    /// A stream doesn't say its position when it is opened.
    pub(crate) shy: bool,
}

#[derive(Clone)]
pub(crate) struct Torn(Arc<Inner>);

struct Inner {
    faults: Faults,
    /// All that will ever happen, in its order.
    log: Vec<Value>,
    /// Where an id stands in it.
    places: HashMap<String, usize>,
    state: Mutex<State>,
}

struct State {
    /// So many have.
    happened: usize,
    random: Rng,
    cuts: usize,
    repeated: usize,
}

impl Torn {
    /// A service at which `happened` events have, and others will until there are `total` of the workspace or of the
    /// one mandate. They are of some mandates in turn, each with holes in its sequence.
    pub(crate) fn new(
        seed: u64,
        mandate: Option<&str>,
        total: usize,
        happened: usize,
        faults: Faults,
    ) -> Self {
        let mut random = Rng::with_seed(seed);
        let mut sequences = [0; MANDATES.len()];
        let (mut log, mut belonging): (Vec<Value>, usize) = (Vec::new(), 0);
        while belonging < total {
            let of = random.usize(..MANDATES.len());
            sequences[of] += if random.u8(..20) == 0 { 1_000 } else { random.u64(1..4) };
            // Opaque, and in no order.
            let id = format!("evt_{:016x}", random.u64(..));
            let text = "ë\u{1f600}".repeat(random.usize(..8));
            log.push(json!({
                "id": id, "type": "test.happened", "sequence": sequences[of], "mandate": MANDATES[of],
                "data": {"text": text},
            }));
            belonging += usize::from(log.last().is_some_and(|event| belongs(event, mandate)));
        }
        let places = log.iter().enumerate().map(|(at, event)| (id(event).to_owned(), at)).collect();
        let state = Mutex::new(State { happened, random, cuts: 0, repeated: 0 });
        Self(Arc::new(Inner { faults, log, places, state }))
    }

    pub(crate) fn client(&self) -> Client {
        Client::builder().api_key("sk_test_1").max_retries(0).http_service(self.clone()).build().unwrap()
    }

    /// The ids of all that will ever happen, of the workspace or of the one mandate.
    pub(crate) fn ids(&self, mandate: Option<&str>) -> Vec<String> {
        self.0.log.iter().filter(|event| belongs(event, mandate)).map(|event| id(event).to_owned()).collect()
    }

    /// How many connections were cut, and events sent again that were before the one to resume after.
    pub(crate) fn damage(&self) -> (usize, usize) {
        let state = self.0.state.lock().unwrap();
        (state.cuts, state.repeated)
    }

    /// The place of the first event from there on that belongs, if it has happened.
    fn next(&self, mandate: Option<&str>, from: usize, happened: usize) -> Option<usize> {
        (from..happened).find(|at| belongs(&self.0.log[*at], mandate))
    }

    fn list(&self, mandate: Option<&str>, query: &str) -> Body {
        let happened = self.0.state.lock().unwrap().happened;
        let cursor = query.split('&').find_map(|part| part.strip_prefix("cursor="));
        let mut from = cursor.map_or(0, |cursor| cursor.parse().unwrap());
        let mut events = Vec::new();
        while let Some(at) = self.next(mandate, from, happened).filter(|_| events.len() < 100) {
            events.push(self.0.log[at].clone());
            from = at + 1;
        }
        let more = self.next(mandate, from, happened).map_or(Value::Null, |next| json!(next.to_string()));
        Body::from(page(&events, &more).to_string())
    }

    fn follow(&self, mandate: Option<&'static str>, cursor: Option<&str>) -> Body {
        let (service, faults) = (self.clone(), self.0.faults);
        let mut state = self.0.state.lock().unwrap();
        let mut at = match cursor {
            Some(cursor) => self.0.places.get(cursor).map_or(0, |place| place + 1),
            None => state.happened,
        };
        let mut text = Vec::new();
        if cursor.is_none() && !faults.shy {
            // The event that was the last of any mandate: a position is one of the workspace.
            let position = at.checked_sub(1).map_or("evt_start", |last| id(&self.0.log[last]));
            text.extend_from_slice(format!("id: {position}\n\n").as_bytes());
        }
        let mut left = if faults.cuts { state.random.usize(..900) } else { usize::MAX };
        if cursor.is_some() && faults.replays {
            let back = match state.random.u8(..100) {
                // Not to be cut: otherwise it goes back faster than on.
                0..2 => {
                    left = usize::MAX;
                    at
                }
                2..30 => state.random.usize(..6).min(at),
                _ => 0,
            };
            state.repeated += back;
            at -= back;
        }
        drop(state);
        let frames = stream::poll_fn(move |context| {
            let mut state = service.0.state.lock().unwrap();
            if left == 0 {
                state.cuts += 1;
                let clean = state.random.bool();
                let broken = || std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
                return Poll::Ready(Some(Err(broken())).filter(|_| !clean));
            }
            if state.random.u8(..3) == 0 {
                context.waker().wake_by_ref();
                return Poll::Pending;
            }
            if text.is_empty() {
                // Whenever one is read, another happens.
                let Some(next) = service.next(mandate, at, service.0.log.len()) else { return Poll::Pending };
                state.happened = state.happened.max(next + 1);
                let event = &service.0.log[next];
                at = next + 1;
                text.extend_from_slice(format!("id: {}\ndata: {event}\n\n", id(event)).as_bytes());
            }
            let most = text.len().min(left);
            let size = if state.random.bool() { most } else { state.random.usize(1..=most) };
            left -= size;
            Poll::Ready(Some(Ok(http_body::Frame::data(text.drain(..size).collect::<Bytes>()))))
        });
        Body::new(StreamBody::new(frames))
    }
}

fn id(event: &Value) -> &str {
    event["id"].as_str().unwrap()
}

fn belongs(event: &Value, mandate: Option<&str>) -> bool {
    mandate.is_none_or(|mandate| event["mandate"] == mandate)
}

impl std::fmt::Debug for Torn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Torn")
    }
}

impl HttpService for Torn {
    fn call(&self, request: http::Request<Bytes>) -> HttpFuture<'_> {
        Box::pin(async move {
            // Things happen at any time, also while a request is on its way, there and back.
            let pass = || {
                let mut state = self.0.state.lock().unwrap();
                let more = state.random.usize(..5).saturating_sub(3);
                state.happened = (state.happened + more).min(self.0.log.len());
                (state.random.bool(), self.0.faults.cuts && state.random.u8(..30) == 0)
            };
            let (slow, refused) = pass();
            if slow {
                tokio::task::yield_now().await;
            }
            if refused {
                return Ok(http::Response::builder().status(503).body(Body::from("")).unwrap());
            }
            let path = request.uri().path();
            let mandate = path.starts_with("/v1/mandates/").then_some(MANDATE);
            let (kind, body) = if path.ends_with("/stream") {
                let cursor = request.headers().get("last-event-id").map(|id| id.to_str().unwrap());
                ("text/event-stream", self.follow(mandate, cursor))
            } else {
                ("application/json", self.list(mandate, request.uri().query().unwrap_or_default()))
            };
            if pass().0 {
                tokio::task::yield_now().await;
            }
            http::Response::builder().header("content-type", kind).body(body).map_err(HttpError::other)
        })
    }
}
