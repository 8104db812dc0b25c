//! How many requests the local server answers over sockets, beside a handler of axum's that answers a constant.

use std::future::Future;
use std::net::SocketAddr;
use std::thread;
use std::time::Duration;

use axum::Router;
use axum::routing::{get, post};
use axum::serve::ListenerExt as _;
use bytes::Bytes;
use cpu_time::ThreadTime;
use futures::channel::{mpsc, oneshot};
use futures_util::future::join_all;
use futures_util::stream::StreamExt as _;
use http::{Request, StatusCode};
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http1;
use hyper_util::rt::TokioIo;
use serde_json::json;
use shadway::agents::AgentCreateParams;
use shadway::local::{LocalClock, LocalServer, hours};
use shadway::mandates::{MandateCreateParams, MandateStatus};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};
use tokio::time::Instant;

use crate::measure::Spread;

const CONNECTIONS: usize = 8;
/// Of each kind in a round, on all connections together.
const REQUESTS: usize = 2_000;

/// Prints requests a second, and what the server's thread computes for one.
pub(crate) fn run(rounds: usize) {
    let runtime = runtime();
    let (local, sample) = Host::start(local_server);
    let (bare, _) = {
        let (mandate, created) = (sample.mandate.clone(), sample.created.clone());
        Host::start(move || bare_server(mandate, created))
    };
    println!(
        "Requests over {CONNECTIONS} connections, {REQUESTS} a round, medians of {rounds} rounds (the middle half)\n"
    );
    println!(
        "| | answer | local server | a constant from axum | ratio | computing | of a constant | ratio |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    let reads = Sending { path: format!("/v1/mandates/{}", sample.id), body: Bytes::new() };
    let writes = Sending { path: "/v1/mandates".to_owned(), body: sample.params };
    let cases = [("GET one mandate", &reads, sample.mandate), ("POST a mandate", &writes, sample.created)];
    for (name, sending, answer) in cases {
        let mut turns = Vec::new();
        // The first of each warms up.
        for round in 0..=rounds {
            let turn = [&local, &bare].map(|host| host.round(&runtime, sending, round));
            if round > 0 {
                turns.push(turn);
            }
        }
        let spread = |figure: &dyn Fn(&[Round; 2]) -> f64| Spread::of(turns.iter().map(figure));
        let rate = |host: usize| spread(&move |turn| turn[host].rate).median;
        let computed = |host: usize| spread(&move |turn| turn[host].computed * 1e6).median;
        let ratio = |figure: fn(&Round) -> f64| {
            let Spread { median, low, high } = spread(&move |turn| figure(&turn[0]) / figure(&turn[1]));
            format!("{median:.2} ({low:.2}–{high:.2})")
        };
        println!(
            "| {name} | {} B | {:.0}/s | {:.0}/s | {} | {:.0} µs | {:.0} µs | {} |",
            answer.len(),
            rate(0),
            rate(1),
            ratio(|round| round.rate),
            computed(0),
            computed(1),
            ratio(|round| round.computed),
        );
    }
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().expect("a runtime")
}

/// A server on a thread of its own, which ends with the program.
struct Host {
    address: SocketAddr,
    /// Asks how long that thread has computed.
    computed: mpsc::UnboundedSender<oneshot::Sender<Duration>>,
}

struct Round {
    /// Requests a second, on the wall.
    rate: f64,
    /// Seconds of the server's computing for one.
    computed: f64,
}

impl Host {
    /// What is kept of the start keeps the server.
    fn start<K, T, F>(start: impl FnOnce() -> F + Send + 'static) -> (Self, T)
    where
        F: Future<Output = (SocketAddr, K, T)>,
        T: Send + 'static,
    {
        let (computed, mut asked) = mpsc::unbounded::<oneshot::Sender<Duration>>();
        let (started, told) = oneshot::channel();
        thread::spawn(move || {
            runtime().block_on(async {
                let (address, _kept, rest) = start().await;
                let _ = started.send((address, rest));
                while let Some(answer) = asked.next().await {
                    let _ = answer.send(ThreadTime::now().as_duration());
                }
            });
        });
        let (address, rest) = futures::executor::block_on(told).expect("it starts");
        (Self { address, computed }, rest)
    }

    fn computed(&self) -> Duration {
        let (answer, told) = oneshot::channel();
        self.computed.unbounded_send(answer).expect("it runs");
        futures::executor::block_on(told).expect("it runs")
    }

    fn round(&self, runtime: &Runtime, sending: &Sending, round: usize) -> Round {
        let (computed, began) = (self.computed(), Instant::now());
        let each = REQUESTS / CONNECTIONS;
        let connections = (0..CONNECTIONS)
            .map(|number| sending.on_a_connection(self.address, each, format!("{round}-{number}")));
        runtime.block_on(join_all(connections));
        let requests = (each * CONNECTIONS) as f64;
        Round {
            rate: requests / began.elapsed().as_secs_f64(),
            computed: (self.computed() - computed).as_secs_f64() / requests,
        }
    }
}

/// What is asked again and again; with a body, a change.
struct Sending {
    path: String,
    body: Bytes,
}

impl Sending {
    /// So many, one after the other, under keys that begin in the same way.
    async fn on_a_connection(&self, address: SocketAddr, requests: usize, key: String) {
        let stream = TcpStream::connect(address).await.expect("a connection");
        stream.set_nodelay(true).expect("a socket");
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.expect("a connection");
        tokio::spawn(connection);
        for number in 0..requests {
            let request = Request::builder()
                .uri(&self.path)
                .header("host", "localhost")
                .header("authorization", "Bearer sk_test_local");
            let request = if self.body.is_empty() {
                request.method("GET")
            } else {
                request
                    .method("POST")
                    .header("content-type", "application/json")
                    .header("idempotency-key", format!("{key}-{number}"))
            };
            let request = request.body(Full::new(self.body.clone())).expect("a request");
            let response = sender.send_request(request).await.expect("an answer");
            assert!(response.status().is_success(), "{}", response.status());
            response.into_body().collect().await.expect("a body");
        }
    }
}

/// What is asked for, and what the answers look like.
struct Sample {
    id: String,
    mandate: Bytes,
    created: Bytes,
    params: Bytes,
}

/// With one mandate that has ended. Time stands, so that those that are created cost nothing later.
async fn local_server() -> (SocketAddr, LocalServer, Sample) {
    let server = LocalServer::builder().clock(LocalClock::Manual).start().await.expect("a server");
    let client = server.client().expect("a client");
    let agent = AgentCreateParams::new("Buyer", "m/m").capabilities(["email.send"]);
    let agent = client.agents().create(agent).await.expect("an agent");
    let objective = "Ask sales@atlas.example for a quote.";
    let created = client.mandates().create(MandateCreateParams::new(&agent.id, objective));
    let created = created.await.expect("a mandate");
    server.advance(hours(1)).await;
    let mandate = client.mandate(&created.id).get().await.expect("a mandate");
    assert_eq!(mandate.status, MandateStatus::Completed);
    let text = |mandate| Bytes::from(serde_json::to_vec(mandate).expect("JSON"));
    let sample = Sample {
        id: created.id.to_string(),
        mandate: text(&mandate),
        created: text(&created),
        params: json!({"agent": agent.id, "objective": objective}).to_string().into(),
    };
    let address = server.url().trim_start_matches("http://").parse().expect("an address");
    (address, server, sample)
}

/// Reads what comes, and answers as long as the other.
async fn bare_server(mandate: Bytes, created: Bytes) -> (SocketAddr, (), ()) {
    const JSON: [(&str, &str); 1] = [("content-type", "application/json")];
    let router = Router::new()
        .route("/v1/mandates/{id}", get(move || std::future::ready((JSON, mandate.clone()))))
        .route(
            "/v1/mandates",
            post(move |_: Bytes| std::future::ready((StatusCode::CREATED, JSON, created.clone()))),
        );
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    let listener = listener.tap_io(|stream| {
        let _ = stream.set_nodelay(true);
    });
    tokio::spawn(async move { axum::serve(listener, router).await });
    (address, (), ())
}
