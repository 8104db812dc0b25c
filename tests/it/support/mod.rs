//! A transport that answers from a script and remembers what it was asked.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use http::{HeaderMap, Method};
use serde_json::{Value, json};
use shadway::transport::{Body, HttpError, HttpFuture, HttpService, LongLived, Sleep, Timer};
use shadway::{Client, ClientBuilder};
use tokio::time::Instant;

pub(crate) mod fleet;
pub(crate) mod flights;
pub(crate) mod raw;
pub(crate) mod recorder;
pub(crate) mod streams;
pub(crate) mod torn;
pub(crate) mod world;

/// What becomes of one request.
#[derive(Clone)]
pub(crate) enum Step {
    Answer(u16, Vec<(&'static str, String)>, Bytes),
    /// Certainly never sent.
    Refused,
    /// Sent, and then the connection closed.
    Broken,
    /// No answer, ever.
    Hang,
    /// Headers and the start of a body, then the connection closed.
    CutBody(u16, Bytes),
    /// Headers and the start of a body, then nothing more.
    StalledBody(u16, Bytes),
}

impl Step {
    pub(crate) fn json(status: u16, body: &Value) -> Self {
        Self::Answer(status, Vec::new(), body.to_string().into())
    }

    pub(crate) fn text(status: u16, body: impl Into<Bytes>) -> Self {
        Self::Answer(status, Vec::new(), body.into())
    }

    pub(crate) fn error(status: u16, code: &str) -> Self {
        Self::json(status, &json!({"error": {"type": "test", "code": code, "message": "It said no."}}))
    }

    pub(crate) fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        if let Self::Answer(_, headers, _) = &mut self {
            headers.push((name, value.into()));
        }
        self
    }
}

/// One request as it reached the transport.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) method: Method,
    pub(crate) uri: String,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) at: Instant,
}

impl Seen {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).expect("a JSON body")
    }

    pub(crate) fn path(&self) -> &str {
        self.uri.strip_prefix("https://api.shadway.com").expect("the default base URL")
    }
}

#[derive(Clone)]
pub(crate) struct Script(Arc<Mutex<State>>);

struct State {
    steps: VecDeque<Step>,
    last: Step,
    seen: Vec<Seen>,
    /// Requests for streams are answered with 404, and neither take a step nor are remembered.
    without_streams: bool,
}

impl Script {
    /// Takes the steps in turn, and the last one for ever after.
    pub(crate) fn new(steps: impl IntoIterator<Item = Step>) -> Self {
        let steps: VecDeque<_> = steps.into_iter().collect();
        let last = steps.back().expect("a step").clone();
        Self(Arc::new(Mutex::new(State { steps, last, seen: Vec::new(), without_streams: false })))
    }

    /// The script of a service that has no streams, whose steps are the answers to everything else.
    pub(crate) fn without_streams(steps: impl IntoIterator<Item = Step>) -> Self {
        let script = Self::new(steps);
        script.0.lock().unwrap().without_streams = true;
        script
    }

    pub(crate) fn seen(&self) -> Vec<Seen> {
        self.0.lock().unwrap().seen.clone()
    }

    pub(crate) fn count(&self) -> usize {
        self.0.lock().unwrap().seen.len()
    }

    /// The time between one request and the next.
    pub(crate) fn gaps(&self) -> Vec<Duration> {
        self.seen().windows(2).map(|pair| pair[1].at - pair[0].at).collect()
    }

    pub(crate) fn builder(&self) -> ClientBuilder {
        Client::builder().api_key("sk_test_1").http_service(self.clone())
    }

    pub(crate) fn client(&self) -> Client {
        self.builder().build().unwrap()
    }
}

impl std::fmt::Debug for Script {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Script")
    }
}

impl HttpService for Script {
    fn call(&self, request: http::Request<Bytes>) -> HttpFuture<'_> {
        let step = {
            let mut state = self.0.lock().unwrap();
            let (parts, body) = request.into_parts();
            if state.without_streams && parts.extensions.get::<LongLived>().is_some() {
                let refusal = http::Response::builder().status(404).body(Body::from("")).unwrap();
                return Box::pin(std::future::ready(Ok(refusal)));
            }
            state.seen.push(Seen {
                method: parts.method,
                uri: parts.uri.to_string(),
                headers: parts.headers,
                body,
                at: Instant::now(),
            });
            state.steps.pop_front().unwrap_or_else(|| state.last.clone())
        };
        Box::pin(async move {
            match step {
                Step::Answer(status, headers, body) => {
                    let mut response = http::Response::builder().status(status);
                    for (name, value) in headers {
                        response = response.header(name, value);
                    }
                    Ok(response.body(Body::from(body)).unwrap())
                }
                Step::Refused => Err(HttpError::connect("refused")),
                Step::Broken => Err(HttpError::other("connection closed")),
                Step::Hang => std::future::pending().await,
                Step::StalledBody(status, start) => {
                    let start =
                        futures_util::stream::iter([Ok::<_, std::io::Error>(http_body::Frame::data(start))]);
                    let body = futures_util::StreamExt::chain(start, futures_util::stream::pending());
                    let body = http_body_util::StreamBody::new(body);
                    Ok(http::Response::builder().status(status).body(Body::new(body)).unwrap())
                }
                Step::CutBody(status, start) => {
                    let frames = [
                        Ok(http_body::Frame::data(start)),
                        Err(std::io::Error::new(std::io::ErrorKind::UnexpectedEof, "cut")),
                    ];
                    let body = http_body_util::StreamBody::new(futures_util::stream::iter(frames));
                    Ok(http::Response::builder().status(status).body(Body::new(body)).unwrap())
                }
            }
        })
    }
}

/// Tokio's time, at a date that stands still.
#[derive(Debug)]
pub(crate) struct FixedDate(pub(crate) SystemTime);

impl Timer for FixedDate {
    fn now(&self) -> std::time::Instant {
        Instant::now().into_std()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        Box::pin(tokio::time::sleep(duration))
    }

    fn wall_clock(&self) -> SystemTime {
        self.0
    }
}

/// What a test's chance begins with, this thread's own included; printed, so that one that fails can be made again.
#[expect(clippy::print_stdout, reason = "shown if the test fails")]
pub(crate) fn seed() -> u64 {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    fastrand::seed(seed);
    seed
}

pub(crate) fn agent() -> Value {
    json!({"id": "agt_1", "name": "Assistant", "model": "p/m", "status": "active"})
}

pub(crate) fn mandate(status: &str) -> Value {
    json!({
        "id": "mnd_1", "agent": "agt_1", "objective": "Say hello.", "status": status,
        "guidance": [], "metadata": {}, "authority": {}, "authorityVersion": 1, "currentState": {"summary": format!("It is {status}.")},
    })
}

pub(crate) fn page(data: &[Value], next_cursor: &Value) -> Value {
    json!({"data": data, "nextCursor": next_cursor})
}
