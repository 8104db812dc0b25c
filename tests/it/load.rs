//! Many at once: nobody is left waiting, and memory stays where it was.

#![expect(clippy::print_stdout, reason = "figures, for `-- --nocapture`")]

use std::collections::HashSet;
use std::fmt;
use std::future::IntoFuture as _;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use allocation_counter::{AllocationInfo, measure};
use axum::Router;
use axum::routing::get;
use axum::serve::ListenerExt as _;
use bytes::Bytes;
use futures_util::future::{FutureExt as _, join_all};
use futures_util::stream::{StreamExt as _, iter};
use http_body_util::{BodyExt as _, StreamBody};
use serde_json::json;
use shadway::Client;
use shadway::transport::{Body, HttpError, HttpFuture, HttpService, LongLived};
use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::{Semaphore, mpsc};
use tokio::time::{Instant, sleep};

use crate::support::agent;
use crate::support::fleet::{Fleet, id};

const CALLS: usize = 1_000;
const CONNECTIONS: usize = 8;
const STREAMS: usize = 1_000;
const WAITS: usize = 10_000;
const KIB: i64 = 1_024;
/// By so much the most that was in use may differ from round to round: a map or a list that grew at another moment. Of
/// 1,000 calls 64 bytes each, of 10,000 waits 6.
const PEAK_MARGIN: u64 = 64 * 1_024;

/// Lets so many requests through at a time, first come, first served, each until its answer has been read: what a user
/// puts in front of a transport. What lasts is let past.
struct Limited<S> {
    inner: S,
    permits: Arc<Semaphore>,
}

impl<S> Limited<S> {
    fn new(inner: S) -> Self {
        Self { inner, permits: Arc::new(Semaphore::new(CONNECTIONS)) }
    }
}

impl<S> fmt::Debug for Limited<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Limited").finish_non_exhaustive()
    }
}

impl<S: HttpService> HttpService for Limited<S> {
    fn call(&self, request: http::Request<Bytes>) -> HttpFuture<'_> {
        if request.extensions().get::<LongLived>().is_some() {
            return self.inner.call(request);
        }
        Box::pin(async move {
            let permit = Arc::clone(&self.permits).acquire_owned().await.map_err(HttpError::connect)?;
            let response = self.inner.call(request).await?;
            Ok(response.map(|body| {
                Body::new(body.map_frame(move |frame| {
                    // Kept until the body is dropped.
                    let _ = &permit;
                    frame
                }))
            }))
        })
    }
}

/// A transport over sockets, as a user writes one.
#[derive(Debug)]
struct Sockets(reqwest::Client);

impl HttpService for Sockets {
    fn call(&self, request: http::Request<Bytes>) -> HttpFuture<'_> {
        Box::pin(async move {
            let request = reqwest::Request::try_from(request).map_err(HttpError::other)?;
            let response = self.0.execute(request).await.map_err(HttpError::other)?;
            Ok(http::Response::<reqwest::Body>::from(response).map(Body::new))
        })
    }
}

/// A service in memory that takes 20 ms, and keeps count of how many it serves at a time.
#[derive(Debug, Default)]
struct Busy {
    /// Those that fail once.
    fails: Mutex<HashSet<String>>,
    now: AtomicUsize,
    most: Arc<AtomicUsize>,
}

const TAKES: Duration = Duration::from_millis(20);

impl HttpService for Busy {
    fn call(&self, request: http::Request<Bytes>) -> HttpFuture<'_> {
        Box::pin(async move {
            self.most.fetch_max(self.now.fetch_add(1, Ordering::Relaxed) + 1, Ordering::Relaxed);
            sleep(TAKES).await;
            self.now.fetch_sub(1, Ordering::Relaxed);
            let fails = self.fails.lock().unwrap().remove(request.uri().path());
            let status = if fails { 503 } else { 200 };
            let body = Body::from(agent().to_string());
            Ok(http::Response::builder().status(status).body(body).unwrap())
        })
    }
}

fn client(service: impl HttpService) -> Client {
    Client::builder().api_key("sk_test_1").http_service(service).build().unwrap()
}

/// A runtime of this thread alone, whose allocations can be counted, on a clock that jumps.
fn paused() -> Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build().unwrap()
}

/// None of the rounds leaves anything behind, but for what the first makes to stay, such as a watcher itself; and none
/// has more in use at any moment than one before it.
fn stays_flat(rounds: &[AllocationInfo]) {
    let left: Vec<_> = rounds.iter().skip(1).map(|round| round.bytes_current).collect();
    let peaks: Vec<_> = rounds.iter().map(|round| round.bytes_max).collect();
    println!("bytes at most in use in each round: {peaks:?}; left of each after the first: {left:?}");
    assert!(left.iter().all(|left| left.abs() < 4 * KIB), "bytes are left: {left:?}");
    let mut least = peaks[0];
    for peak in peaks {
        assert!(peak <= least + PEAK_MARGIN, "{peak} bytes at most after {least}");
        least = least.min(peak);
    }
}

/// Makes all calls at once. After which time each came back, in the order in which they were begun.
async fn all_at_once(client: &Client) -> Vec<Duration> {
    let began = Instant::now();
    let calls = (0..CALLS).map(async |number| {
        client.agents().get(number.to_string()).await.unwrap();
        began.elapsed()
    });
    join_all(calls).await
}

#[tokio::test(start_paused = true)]
async fn of_a_thousand_calls_on_eight_connections_each_has_its_turn() {
    let service = Busy::default();
    let most = Arc::clone(&service.most);
    let times = all_at_once(&client(Limited::new(service))).await;
    assert_eq!(most.load(Ordering::Relaxed), CONNECTIONS);
    assert!(times.is_sorted(), "none overtakes another");
    let turns = u32::try_from(CALLS / CONNECTIONS).unwrap();
    assert_eq!(times.last(), Some(&(TAKES * turns)), "and no connection is ever idle");
}

#[tokio::test(start_paused = true)]
async fn calls_that_are_tried_again_do_not_starve_and_starve_nobody() {
    let service = Busy::default();
    let each_tenth = (3..CALLS).step_by(10).map(|number| format!("/v1/agents/{number}"));
    service.fails.lock().unwrap().extend(each_tenth);
    let times = all_at_once(&client(Limited::new(service))).await;
    // A tenth more requests, and for the last one a delay and its own turn at the end of the queue.
    let fair = TAKES * u32::try_from(CALLS / CONNECTIONS).unwrap();
    let slowest = times.iter().max().unwrap();
    assert!(*slowest < fair * 2, "{slowest:?}, when all are through after {fair:?}");
}

#[test]
fn a_thousand_calls_again_and_again_leave_nothing_behind() {
    let runtime = paused();
    let client = client(Limited::new(Busy::default()));
    let round = || measure(|| drop(runtime.block_on(all_at_once(&client))));
    let rounds = [round(), round(), round(), round()];
    let each = i64::try_from(rounds[0].bytes_max).unwrap() / CALLS as i64;
    println!("{each} bytes for each of {CALLS} calls under way");
    assert!(each < 16 * KIB, "{each} bytes for each call under way");
    stays_flat(&rounds);
}

/// A server that counts the connections made to it.
async fn counting_server() -> (SocketAddr, Arc<AtomicUsize>) {
    let connections = Arc::new(AtomicUsize::new(0));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let count = Arc::clone(&connections);
    let listener = listener.tap_io(move |_| {
        count.fetch_add(1, Ordering::Relaxed);
    });
    let answer = || async {
        sleep(Duration::from_millis(1)).await;
        agent().to_string()
    };
    let router = Router::new().route("/v1/agents/{id}", get(answer));
    tokio::spawn(async move { axum::serve(listener, router).await });
    (address, connections)
}

#[tokio::test]
async fn over_sockets_a_limit_is_one_of_connections() {
    let (address, connections) = counting_server().await;
    let sockets = Sockets(reqwest::Client::builder().no_proxy().build().unwrap());
    let builder = Client::builder().api_key("sk_test_1").base_url(format!("http://{address}"));
    let client = builder.http_service(Limited::new(sockets)).build().unwrap();
    let finished = Mutex::new(Vec::new());
    let finished = &finished;
    let client = &client;
    let calls = (0..CALLS).map(|number| async move {
        client.agents().get("agt_1").await.unwrap();
        finished.lock().unwrap().push(number);
    });
    join_all(calls).await;
    let order = finished.lock().unwrap().clone();
    let late = order.iter().enumerate().map(|(place, number)| place.abs_diff(*number)).max().unwrap();
    assert!(late <= 4 * CONNECTIONS, "one came back {late} places from its own");
    assert_eq!(connections.load(Ordering::Relaxed), CONNECTIONS);
}

/// Without a transport of one's own: calls are values, of which so many are sent at a time.
#[tokio::test]
async fn calls_can_be_sent_eight_at_a_time() {
    let (address, connections) = counting_server().await;
    let client =
        Client::builder().api_key("sk_test_1").base_url(format!("http://{address}")).build().unwrap();
    let calls: Vec<_> = (0..CALLS).map(|_| client.agents().get("agt_1")).collect();
    let answers = iter(calls).map(|call| call.send()).buffer_unordered(CONNECTIONS);
    assert_eq!(answers.filter(|answer| std::future::ready(answer.is_ok())).count().await, CALLS);
    assert_eq!(connections.load(Ordering::Relaxed), CONNECTIONS);
}

/// Streams in memory, to which a test writes.
#[derive(Clone, Default)]
struct Streams(Arc<Mutex<Vec<mpsc::UnboundedSender<Bytes>>>>);

impl Streams {
    fn send(&self, number: usize) {
        let event = json!({
            "id": format!("evt_{number}"), "type": "test.happened", "sequence": number, "mandate": "mnd_1", "data": {},
        });
        let frame = Bytes::from(format!("id: evt_{number}\ndata: {event}\n\n"));
        for stream in &*self.0.lock().unwrap() {
            // Twice, as a service may.
            stream.send(frame.clone()).unwrap();
            stream.send(frame.clone()).unwrap();
        }
    }

    fn forget_all(&self) {
        *self.0.lock().unwrap() = Vec::new();
    }

    /// How many are open.
    fn open(&self) -> usize {
        self.0.lock().unwrap().iter().filter(|stream| !stream.is_closed()).count()
    }
}

impl fmt::Debug for Streams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Streams")
    }
}

impl HttpService for Streams {
    fn call(&self, _: http::Request<Bytes>) -> HttpFuture<'_> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.0.lock().unwrap().push(sender);
        let frames = futures_util::stream::unfold(receiver, |mut receiver| async move {
            let bytes = receiver.recv().await?;
            Some((Ok::<_, std::io::Error>(http_body::Frame::data(bytes)), receiver))
        });
        let body = Body::new(StreamBody::new(frames));
        let response = http::Response::builder().header("content-type", "text/event-stream").body(body);
        Box::pin(std::future::ready(Ok(response.unwrap())))
    }
}

#[test]
fn a_thousand_open_streams_again_and_again_get_each_event_once_and_leave_nothing_behind() {
    const EVENTS: usize = 20;
    let runtime = paused();
    let service = Streams::default();
    let client = client(service.clone());
    let mut held = 0;
    let mut round = || {
        measure(|| {
            let mut streams: Vec<_> =
                (0..STREAMS).map(|_| client.mandate("mnd_1").events().stream()).collect();
            let mut next = async |number: usize| {
                let events = join_all(streams.iter_mut().map(|stream| stream.try_next()));
                tokio::join!(events, async {
                    tokio::task::yield_now().await;
                    service.send(number);
                })
                .0
            };
            held = measure(|| {
                runtime.block_on(async {
                    for number in 1..=EVENTS {
                        for event in next(number).await {
                            assert_eq!(event.unwrap().unwrap().sequence, number as u64);
                        }
                    }
                });
            })
            .bytes_current;
            assert_eq!(service.open(), STREAMS, "one connection each");
            drop(streams);
            assert_eq!(service.open(), 0);
            service.forget_all();
        })
    };
    let rounds = [round(), round(), round()];
    let each = held / STREAMS as i64;
    println!("{each} bytes for each of {STREAMS} open streams after {EVENTS} events");
    assert!(each < 24 * KIB, "{each} bytes each");
    stays_flat(&rounds);
}

#[test]
fn a_stream_that_goes_on_for_long_holds_no_more_than_it_has_to_remember() {
    const EVENTS: usize = 10_000;
    let runtime = paused();
    let service = Streams::default();
    let mut stream = client(service.clone()).mandate("mnd_1").events().stream();
    let mut follow = |numbers: std::ops::RangeInclusive<usize>| {
        measure(|| {
            runtime.block_on(async {
                for number in numbers {
                    let (event, ()) = tokio::join!(stream.try_next(), async {
                        tokio::task::yield_now().await;
                        service.send(number);
                    });
                    assert_eq!(event.unwrap().unwrap().sequence, number as u64);
                }
            });
        })
        .bytes_current
    };
    let full = follow(1..=EVENTS);
    println!("{full} bytes for a stream after {EVENTS} events");
    assert!(full < 1_024 * KIB, "{full} bytes after {EVENTS} events");
    let more = follow(EVENTS + 1..=2 * EVENTS);
    assert!(more < 64 * KIB, "{more} bytes more after twice as many");
}

#[test]
fn ten_thousand_waits_again_and_again_leave_nothing_behind() {
    const ROUNDS: usize = 3;
    let runtime = paused();
    let fleet = Fleet::new(WAITS, Duration::from_millis(5));
    let watcher = fleet.client().watcher();
    let mut slowest = Duration::ZERO;
    let mut round = || {
        measure(|| {
            (0..WAITS).for_each(|number| fleet.set_silently(number, "running"));
            runtime.block_on(async {
                let wait = |number| {
                    let wait = watcher.wait(id(number)).into_future();
                    tokio::spawn(wait.map(|ended| (ended.unwrap().status, Instant::now())))
                };
                let waits: Vec<_> = (0..WAITS).map(wait).collect();
                sleep(Duration::from_secs(10)).await;
                assert_eq!(fleet.counts().open, 1);
                (0..WAITS).for_each(|number| fleet.set(number, "completed"));
                let ended = Instant::now();
                for wait in waits {
                    let (status, returned) = wait.await.unwrap();
                    assert!(status.is_terminal());
                    slowest = slowest.max(returned - ended);
                }
            });
            fleet.forget_all();
        })
    };
    let rounds: Vec<_> = (0..ROUNDS).map(|_| round()).collect();
    assert_eq!((fleet.counts().streams, fleet.counts().open), (ROUNDS, 0), "one for each round");
    stays_flat(&rounds);
    println!("the last of {WAITS} waits returned {slowest:?} after all had ended");
    assert!(slowest < Duration::from_secs(2), "one returned after {slowest:?}");
}
