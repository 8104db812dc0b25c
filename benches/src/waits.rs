//! Ten thousand waits on one watcher: connections, memory, and the time until they return.

use std::fmt;
use std::future::{IntoFuture as _, poll_fn};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::task::Poll;
use std::thread;
use std::time::{Duration, Instant};

use bytes::Bytes;
use fastrand::Rng;
use futures::channel::mpsc;
use futures_util::stream::StreamExt as _;
use http_body::Frame;
use http_body_util::StreamBody;
use serde_json::{Value, json};
use shadway::call::CallFuture;
use shadway::mandates::{Mandate, Watcher};
use shadway::transport::{Body, HttpFuture, HttpService};

use crate::measure::{in_words, memory_apart};
use crate::service::{self, Runtime};

/// How many mandates are waited for, by one wait each.
const WAITS: usize = 10_000;
/// Between two final events, when they don't come all at once.
const PACE: Duration = Duration::from_millis(1);
/// How long a read takes of a service that isn't in memory: meanwhile others become due.
const READ: Duration = Duration::from_millis(5);
/// No run takes so long, unless a wait is never woken.
const LONGEST: Duration = Duration::from_secs(120);

/// Prints what came of it; whether one stream did for all.
#[must_use]
pub fn run() -> bool {
    println!("{WAITS} waits on one watcher: from the writing of the final event to the wait's return\n");
    println!("| final events | streams opened | reads | p50 | p99 | longest | all |");
    println!("|---|---|---|---|---|---|---|");
    let mut fine = true;
    let cases = [
        ("one each millisecond, read at once", Some(PACE), Duration::ZERO),
        ("one each millisecond, read in 5 ms", Some(PACE), READ),
        ("all together, read at once", None, Duration::ZERO),
        ("all together, read in 5 ms", None, READ),
    ];
    for (name, pace, read_takes) in cases {
        let Some(run) = returns(pace, read_takes) else {
            println!("| {name} | not all returned within {LONGEST:?} |");
            return false;
        };
        let at = |share: usize| in_words(run.times[(run.times.len() - 1) * share / 100]);
        let (streams, reads, all) = (run.streams, run.reads, in_words(run.all));
        println!("| {name} | {streams} | {reads} | {} | {} | {} | {all} |", at(50), at(99), at(100));
        fine &= streams == 1;
    }
    println!();
    fine && memory_apart("waits")
}

struct Returns {
    /// From the shortest to the longest.
    times: Vec<Duration>,
    /// From the first write to the last return.
    all: Duration,
    streams: usize,
    /// From the first write on.
    reads: usize,
}

/// Each wait is a task of one thread, and the service writes from another.
fn returns(pace: Option<Duration>, read_takes: Duration) -> Option<Returns> {
    let fleet = Fleet::new(read_takes);
    runtime().block_on(async {
        let watcher = fleet.watcher();
        let tasks: Vec<_> = (0..WAITS)
            .map(|number| {
                let wait = watcher.wait(id(number)).into_future();
                tokio::spawn(async move {
                    let mandate = wait.await.expect("it ends well");
                    assert!(mandate.status.is_terminal());
                    now()
                })
            })
            .collect();
        fleet.settle(async || tokio::time::sleep(Duration::from_millis(10)).await).await;
        let reads = fleet.0.reads.load(Ordering::Relaxed);
        let writer = thread::spawn({
            let fleet = fleet.clone();
            move || fleet.end_all(pace)
        });
        let returned = tokio::time::timeout(LONGEST, async {
            let mut returned = Vec::with_capacity(WAITS);
            for task in tasks {
                returned.push(task.await.expect("no panic"));
            }
            returned
        });
        let returned = returned.await.ok()?;
        let written = writer.join().expect("no panic");
        let mut times: Vec<_> =
            returned.iter().zip(&written).map(|(after, before)| *after - *before).collect();
        times.sort();
        Some(Returns {
            times,
            all: *returned.iter().max()? - *written.iter().min()?,
            streams: fleet.0.streams.load(Ordering::Relaxed),
            reads: fleet.0.reads.load(Ordering::Relaxed) - reads,
        })
    })
}

/// Prints the bytes that one of the waits holds, by what `live` says of all that is allocated; whether one
/// stream did for all.
#[must_use]
pub fn memory(live: &dyn Fn() -> usize) -> bool {
    println!("Bytes of one of {WAITS} waits\n");
    println!("| | its future | first polled | at rest, when all were read | streams opened |");
    println!("|---|---|---|---|---|");
    let cases = [
        ("a wait", None, false),
        ("a wait that is a task of its own", None, true),
        ("a wait with a timeout", Some(Duration::from_secs(3_600)), false),
        ("one with a timeout that is a task of its own", Some(Duration::from_secs(3_600)), true),
    ];
    cases.into_iter().all(|(name, timeout, spawned)| {
        let (size, polled, rest, streams) = held(live, timeout, spawned);
        let polled = polled.map_or("–".to_owned(), |polled| polled.to_string());
        println!("| {name} | {size} | {polled} | {rest} | {streams} |");
        streams == 1
    })
}

fn held(
    live: &dyn Fn() -> usize,
    timeout: Option<Duration>,
    spawned: bool,
) -> (usize, Option<usize>, usize, usize) {
    let fleet = Fleet::new(READ);
    runtime().block_on(async {
        let watcher = fleet.watcher();
        let wait = |number| wait(&watcher, number, timeout);
        let size = size_of_val(&*wait(0));
        let streams = || fleet.0.streams.load(Ordering::Relaxed);
        if spawned {
            let mut tasks = Vec::with_capacity(WAITS);
            let before = live();
            tasks.extend((0..WAITS).map(|number| tokio::spawn(wait(number))));
            fleet.settle(async || tokio::time::sleep(Duration::from_millis(10)).await).await;
            let rest = (live() - before) / WAITS;
            tasks.iter().for_each(tokio::task::JoinHandle::abort);
            return (size, None, rest, streams());
        }
        let mut waits = Vec::with_capacity(WAITS);
        let before = live();
        waits.extend((0..WAITS).map(wait));
        poll_all(&mut waits).await;
        let polled = (live() - before) / WAITS;
        fleet
            .settle(async || {
                tokio::time::sleep(Duration::from_millis(10)).await;
                poll_all(&mut waits).await;
            })
            .await;
        (size, Some(polled), (live() - before) / WAITS, streams())
    })
}

fn wait(watcher: &Watcher, number: usize, timeout: Option<Duration>) -> CallFuture<Mandate> {
    let wait = watcher.wait(id(number));
    match timeout {
        Some(timeout) => wait.timeout(timeout).into_future(),
        None => wait.into_future(),
    }
}

async fn poll_all(waits: &mut [CallFuture<Mandate>]) {
    poll_fn(|context| {
        let ready = waits.iter_mut().any(|wait| wait.as_mut().poll(context).is_ready());
        assert!(!ready, "nothing has ended");
        Poll::Ready(())
    })
    .await;
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime")
}

fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// As long as an id with a ULID in it.
fn id(number: usize) -> String {
    format!("mnd_{number:026}")
}

/// Mandates that run until they are ended, and one stream for all of them.
#[derive(Clone)]
struct Fleet(Arc<Inner>);

struct Inner {
    read_takes: Duration,
    ended: Vec<AtomicBool>,
    stream: Mutex<Option<mpsc::UnboundedSender<Bytes>>>,
    streams: AtomicUsize,
    reads: AtomicUsize,
    running: String,
    completed: String,
    event: String,
}

/// A fixture on one line.
fn compact(text: &str) -> String {
    serde_json::from_str::<Value>(text).expect("JSON").to_string()
}

impl Fleet {
    fn new(read_takes: Duration) -> Self {
        Self(Arc::new(Inner {
            read_takes,
            ended: (0..WAITS).map(|_| AtomicBool::new(false)).collect(),
            stream: Mutex::default(),
            streams: AtomicUsize::new(0),
            reads: AtomicUsize::new(0),
            running: compact(include_str!("../../fixtures/mandates/running.json")),
            completed: compact(include_str!("../../fixtures/mandates/completed.json")),
            event: compact(include_str!("../../fixtures/events/mandate.status_changed.json")),
        }))
    }

    fn watcher(&self) -> Watcher {
        service::client(self.clone(), Runtime).watcher()
    }

    /// Goes on until nothing more is read.
    async fn settle(&self, mut step: impl AsyncFnMut()) {
        let (mut last, mut same) = (0, 0);
        while same < 30 {
            step().await;
            let reads = self.0.reads.load(Ordering::Relaxed);
            same = if reads > 0 && reads == last { same + 1 } else { 0 };
            last = reads;
        }
    }

    /// Ends all in random order, and says when the event of each was written.
    fn end_all(&self, pace: Option<Duration>) -> Vec<Instant> {
        let mut order: Vec<usize> = (0..WAITS).collect();
        Rng::with_seed(4).shuffle(&mut order);
        let written: Vec<OnceLock<Instant>> = (0..WAITS).map(|_| OnceLock::new()).collect();
        let stream = self.0.stream.lock().expect("no panic").clone().expect("a stream");
        for (at, number) in order.into_iter().enumerate() {
            let event = self.0.event.replace("mnd_1", &id(number)).replace("evt_1", &format!("evt_{at}"));
            let frame = format!("id: evt_{at}\nevent: mandate.status_changed\ndata: {event}\n\n");
            self.0.ended[number].store(true, Ordering::Release);
            written[number].set(now()).expect("each once");
            stream.unbounded_send(frame.into()).expect("somebody listens");
            if let Some(pace) = pace {
                thread::sleep(pace);
            }
        }
        written.into_iter().filter_map(OnceLock::into_inner).collect()
    }

    fn stream(&self) -> http::Response<Body> {
        self.0.streams.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = mpsc::unbounded();
        sender.unbounded_send(Bytes::from_static(b"id: evt_start\n\n")).expect("it is open");
        *self.0.stream.lock().expect("no panic") = Some(sender);
        let frames = receiver.map(|bytes| Ok::<_, std::io::Error>(Frame::data(bytes)));
        service::answer(Body::new(StreamBody::new(frames)))
    }

    fn read(&self, path: &str, query: &str) -> http::Response<Body> {
        self.0.reads.fetch_add(1, Ordering::Relaxed);
        let body = match path.strip_prefix("/v1/mandates/mnd_") {
            Some(number) => self.mandate(number.parse().expect("a number")),
            None => self.page(query),
        };
        http::Response::new(Body::from(body))
    }

    fn mandate(&self, number: usize) -> String {
        let ended = self.0.ended[number].load(Ordering::Acquire);
        let text = if ended { &self.0.completed } else { &self.0.running };
        text.replace("mnd_1", &id(number))
    }

    /// Those under way, in pages.
    fn page(&self, query: &str) -> String {
        let value = |name: &str| {
            let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.find(|(key, _)| *key == name).and_then(|(_, value)| value.parse::<usize>().ok())
        };
        let under_way = |number: &usize| !self.0.ended[*number].load(Ordering::Acquire);
        let (from, limit) = (value("cursor").unwrap_or(0), value("limit").unwrap_or(20));
        let numbers: Vec<usize> = (from..WAITS).filter(under_way).take(limit).collect();
        let next = numbers.last().map(|last| last + 1).filter(|next| *next < WAITS && numbers.len() == limit);
        let mandates: Vec<String> = numbers.into_iter().map(|number| self.mandate(number)).collect();
        let next = next.map(|next| next.to_string());
        format!(r#"{{"data":[{}],"nextCursor":{}}}"#, mandates.join(","), json!(next))
    }
}

impl fmt::Debug for Fleet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fleet")
    }
}

impl HttpService for Fleet {
    fn call(&self, request: http::Request<Bytes>) -> HttpFuture<'_> {
        if request.uri().path() == "/v1/events/stream" {
            return Box::pin(std::future::ready(Ok(self.stream())));
        }
        Box::pin(async move {
            if !self.0.read_takes.is_zero() {
                tokio::time::sleep(self.0.read_takes).await;
            }
            let uri = request.uri();
            Ok(self.read(uri.path(), uri.query().unwrap_or_default()))
        })
    }
}
