//! A service with one mandate that changes at set times, seen through streams and reads that are late, refused, or
//! cut.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, StreamExt as _};
use http_body_util::StreamBody;
use serde_json::{Value, json};
use shadway::Client;
use shadway::mandates::MandateHandle;
use shadway::transport::{Body, HttpError, HttpFuture, HttpService, LongLived};
use tokio::sync::Semaphore;
use tokio::time::{Instant, sleep_until};

use super::{mandate, page};

type Frame = Result<http_body::Frame<Bytes>, std::io::Error>;

/// What becomes of one request for a stream.
#[derive(Clone)]
pub(crate) struct Link {
    refused: Option<u16>,
    headers_after: Duration,
    names_position: bool,
    cut_after: Option<Duration>,
    flooded: bool,
}

impl Link {
    /// It opens, says where it stands, and lasts.
    pub(crate) fn open() -> Self {
        Self {
            refused: None,
            headers_after: Duration::ZERO,
            names_position: true,
            cut_after: None,
            flooded: false,
        }
    }

    pub(crate) fn refused(status: u16) -> Self {
        Self { refused: Some(status), ..Self::open() }
    }

    /// The headers come so long after the request.
    pub(crate) fn held_back(mut self, time: Duration) -> Self {
        self.headers_after = time;
        self
    }

    /// It doesn't say where it stands, so that it can't be resumed before its first event.
    pub(crate) fn nameless(mut self) -> Self {
        self.names_position = false;
        self
    }

    /// So long after its headers comes an event that is too large.
    pub(crate) fn flooded(after: Duration) -> Self {
        Self { flooded: true, ..Self::open().cut(after) }
    }

    /// It breaks so long after its headers.
    pub(crate) fn cut(mut self, time: Duration) -> Self {
        self.cut_after = Some(time);
        self
    }
}

/// What happens to the mandate.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Change {
    Status(&'static str),
    /// It asks for approval; its status stays.
    Asks,
    /// An event tells of a status that no read ever sees.
    Rumor(&'static str),
    /// A status that no event tells of.
    Unsaid(&'static str),
    /// A status, by an event whose data don't fit.
    Garbled(&'static str),
}

#[derive(Clone)]
pub(crate) struct World(Arc<Inner>);

struct Inner {
    started: Instant,
    changes: Vec<(Duration, Change)>,
    /// How much later than it happened a read sees a change.
    lag: Duration,
    /// How long a read takes; it sees what was so when it began.
    read_takes: Duration,
    /// How many of the reads hang that would tell of a change.
    hangs: usize,
    /// Those that count at a time.
    slots: Semaphore,
    log: Mutex<Log>,
}

struct Log {
    links: VecDeque<Link>,
    reads: usize,
    hung: usize,
    streams: usize,
    open: usize,
}

impl World {
    /// Changes at their times, and links in turn, the last one for ever.
    pub(crate) fn new(
        changes: impl IntoIterator<Item = (Duration, Change)>,
        links: impl IntoIterator<Item = Link>,
    ) -> Self {
        Self(Arc::new(Inner {
            started: Instant::now(),
            changes: changes.into_iter().collect(),
            lag: Duration::ZERO,
            read_takes: Duration::ZERO,
            hangs: 0,
            slots: Semaphore::new(1_000),
            log: Mutex::new(Log {
                links: links.into_iter().collect(),
                reads: 0,
                hung: 0,
                streams: 0,
                open: 0,
            }),
        }))
    }

    pub(crate) fn lagging(self, lag: Duration) -> Self {
        self.with(|inner| inner.lag = lag)
    }

    pub(crate) fn reads_take(self, time: Duration) -> Self {
        self.with(|inner| inner.read_takes = time)
    }

    /// So many of the reads that would tell of a change are never answered, the first ones.
    pub(crate) fn hanging(self, reads: usize) -> Self {
        self.with(|inner| inner.hangs = reads)
    }

    pub(crate) fn one_request_at_a_time(self) -> Self {
        self.with(|inner| inner.slots = Semaphore::new(1))
    }

    fn with(mut self, change: impl FnOnce(&mut Inner)) -> Self {
        change(Arc::get_mut(&mut self.0).expect("not shared yet"));
        self
    }

    pub(crate) fn client(&self) -> Client {
        Client::builder().api_key("sk_test_1").http_service(self.clone()).build().unwrap()
    }

    pub(crate) fn work(&self) -> MandateHandle {
        self.client().mandate("mnd_1")
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.0.started.elapsed()
    }

    pub(crate) fn reads(&self) -> usize {
        self.0.log.lock().unwrap().reads
    }

    pub(crate) fn streams(&self) -> usize {
        self.0.log.lock().unwrap().streams
    }

    /// Streams that are open now.
    pub(crate) fn open(&self) -> usize {
        self.0.log.lock().unwrap().open
    }

    /// What had changed by then.
    fn by(&self, time: Duration) -> impl Iterator<Item = Change> {
        self.0.changes.iter().filter(move |(at, _)| *at <= time).map(|(_, change)| *change)
    }

    async fn read(&self, path: &str) -> http::Response<Body> {
        let _slot = self.0.slots.acquire().await.expect("a slot");
        self.0.log.lock().unwrap().reads += 1;
        // Nothing, if that was before the beginning.
        let seen = self.elapsed().checked_sub(self.0.lag);
        let by = |time: Option<Duration>| time.into_iter().flat_map(|time| self.by(time));
        if by(seen).next().is_some() && self.hangs() {
            std::future::pending::<()>().await;
        }
        let answer = match path {
            "/v1/approvals" => {
                let asked = by(seen).any(|change| change == Change::Asks);
                let asked: Vec<Value> = asked.then(approval).into_iter().collect();
                page(&asked, &Value::Null)
            }
            _ => mandate(status(by(seen))),
        };
        tokio::time::sleep(self.0.read_takes).await;
        http::Response::new(Body::from(answer.to_string()))
    }

    fn hangs(&self) -> bool {
        let mut log = self.0.log.lock().unwrap();
        let hangs = log.hung < self.0.hangs;
        log.hung += usize::from(hangs);
        hangs
    }

    async fn stream(&self, after: Option<usize>) -> Result<http::Response<Body>, HttpError> {
        let link = {
            let mut log = self.0.log.lock().unwrap();
            log.streams += 1;
            match log.links.len() {
                1 => log.links[0].clone(),
                _ => log.links.pop_front().expect("a link"),
            }
        };
        tokio::time::sleep(link.headers_after).await;
        if let Some(status) = link.refused {
            let refusal = r#"{"error":{"type":"test","message":"It said no."}}"#;
            return Ok(http::Response::builder().status(status).body(Body::from(refusal)).unwrap());
        }
        // What happens from now on, or after the event with that number.
        let position = self.by(self.elapsed()).count();
        let hello = match after {
            None if link.names_position => format!("id: {position}\n\n"),
            _ => ":\n\n".to_owned(),
        };
        let world = self.clone();
        let events = stream::iter(after.unwrap_or(position)..self.0.changes.len()).then(move |number| {
            let world = world.clone();
            async move {
                sleep_until(world.0.started + world.0.changes[number].0).await;
                world.event(number)
            }
        });
        let beats = stream::unfold((), |()| async {
            tokio::time::sleep(Duration::from_secs(15)).await;
            Some((":\n\n".to_owned(), ()))
        });
        let texts = stream::once(std::future::ready(hello)).chain(stream::select(events, beats));
        let frames = texts.map(|text| Ok(http_body::Frame::data(text.into())));
        let opened = Instant::now();
        let cut = async move {
            match link.cut_after {
                Some(time) => sleep_until(opened + time).await,
                None => std::future::pending().await,
            }
        };
        let flood =
            stream::iter(link.flooded.then(|| Ok(http_body::Frame::data(vec![b' '; 17 << 20].into()))));
        self.0.log.lock().unwrap().open += 1;
        let frames: Pin<Box<dyn futures_core::Stream<Item = Frame> + Send>> =
            Box::pin(frames.take_until(cut).chain(flood));
        let body = Body::new(StreamBody::new(Counted { frames, world: self.clone() }));
        Ok(http::Response::builder().header("content-type", "text/event-stream").body(body).unwrap())
    }

    fn event(&self, number: usize) -> String {
        let (kind, data) = match self.0.changes[number].1 {
            Change::Status(status) | Change::Rumor(status) => {
                ("mandate.status_changed", json!({"mandate": mandate(status), "previousStatus": "running"}))
            }
            Change::Garbled(_) => ("mandate.status_changed", json!({"mandate": "it changed"})),
            Change::Unsaid(_) => return ":\n\n".to_owned(),
            Change::Asks => ("mandate.approval_requested", json!({"approval": approval()})),
        };
        let sequence = number + 1;
        let event = json!({
            "id": sequence.to_string(), "type": kind, "sequence": sequence, "mandate": "mnd_1", "data": data,
        });
        format!("id: {sequence}\nevent: {kind}\ndata: {event}\n\n")
    }
}

fn status(changes: impl Iterator<Item = Change>) -> &'static str {
    let statuses = changes.filter_map(|change| match change {
        Change::Status(status) | Change::Unsaid(status) | Change::Garbled(status) => Some(status),
        Change::Asks | Change::Rumor(_) => None,
    });
    statuses.last().unwrap_or("running")
}

fn approval() -> Value {
    json!({
        "id": "apr_1", "mandate": "mnd_1", "status": "pending", "question": "May it?",
        "action": {"capability": "email.send", "consequence": "Sends an email.", "arguments": {}},
        "createdAt": "2026-01-01T00:00:00Z",
    })
}

/// A body that says when it is dropped.
struct Counted {
    frames: Pin<Box<dyn futures_core::Stream<Item = Frame> + Send>>,
    world: World,
}

impl futures_core::Stream for Counted {
    type Item = Frame;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Frame>> {
        self.frames.as_mut().poll_next(context)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.world.0.log.lock().unwrap().open -= 1;
    }
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("World")
    }
}

impl HttpService for World {
    fn call(&self, request: http::Request<Bytes>) -> HttpFuture<'_> {
        let lasts = request.extensions().get::<LongLived>().is_some();
        let after = request.headers().get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok());
        let path = request.uri().path().to_owned();
        Box::pin(async move {
            if lasts {
                return self.stream(after).await;
            }
            Ok(self.read(&path).await)
        })
    }
}
