//! A million events through a stream that is cut at random.

use std::collections::BTreeMap;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use fastrand::Rng;
use futures_core::Stream;
use http::{Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::StreamBody;
use shadway::events::StreamState;
use shadway::transport::{Body, HttpError, HttpFuture, HttpService};

use crate::measure::time;
use crate::service::{self, Runtime};

/// The most events before the cursor that a connection sends again.
const MOST_REPEATS: u64 = 40;
/// The most bytes of a connection: some 150 events.
const LONGEST: usize = 64 << 10;

/// Prints what came of it; whether nothing was lost, repeated or out of order.
#[must_use]
pub fn run(events: u64, seed: u64) -> bool {
    let flaky = Flaky(Arc::new(Mutex::new(State {
        last: events,
        random: Rng::with_seed(seed),
        sent: 0,
        requests: BTreeMap::new(),
    })));
    let mut tally = Tally::new(events);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
    let runtime = runtime.expect("a runtime");
    let mut virtual_time = Duration::ZERO;
    let took = time(|| {
        virtual_time = runtime.block_on(async {
            let began = tokio::time::Instant::now();
            follow(&flaky, &mut tally).await;
            began.elapsed()
        });
    });
    let state = flaky.0.lock().expect("one thread");
    let connections: u64 = state.requests.values().sum();
    let (lost, fine) = (tally.lost(), tally.is_fine());
    println!(
        "{events} events, seed {seed}: {lost} lost, {} repeated, {} out of order",
        tally.repeated, tally.disordered
    );
    println!("{connections} requests, of which {:?}", state.requests);
    println!("{} events sent again and left out", state.sent.saturating_sub(events));
    println!(
        "{:.1} s of computing, {:.0} s of the paused clock's",
        took.as_secs_f64(),
        virtual_time.as_secs_f64()
    );
    fine && connections > events / 1_000
}

async fn follow(flaky: &Flaky, tally: &mut Tally) {
    let client = service::client(flaky.clone(), Runtime);
    let mut stream = client.events().stream().resume_after(id(0)).observer(|state| {
        if let StreamState::Skipped { event_type, cause, .. } = state {
            println!("skipped {event_type}: {cause}");
        }
    });
    while let Some(event) = stream.next().await {
        let event = event.expect("no error is final");
        assert_eq!(event.id, id(event.sequence).as_str(), "an event of its own");
        tally.note(event.sequence);
    }
}

/// What arrived.
struct Tally {
    arrived: Vec<bool>,
    highest: u64,
    repeated: u64,
    disordered: u64,
}

impl Tally {
    fn new(events: u64) -> Self {
        Self { arrived: vec![false; events as usize], highest: 0, repeated: 0, disordered: 0 }
    }

    fn note(&mut self, sequence: u64) {
        let place = &mut self.arrived[sequence as usize - 1];
        self.repeated += u64::from(*place);
        *place = true;
        self.disordered += u64::from(sequence <= self.highest);
        self.highest = self.highest.max(sequence);
    }

    fn lost(&self) -> usize {
        self.arrived.iter().filter(|arrived| !**arrived).count()
    }

    fn is_fine(&self) -> bool {
        self.lost() == 0 && self.repeated == 0 && self.disordered == 0
    }
}

/// A service that keeps no connection for long.
#[derive(Debug, Clone)]
struct Flaky(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    /// The last event there is.
    last: u64,
    random: Rng,
    /// Whole events that were sent, repeats and all.
    sent: u64,
    /// What became of how many requests.
    requests: BTreeMap<&'static str, u64>,
}

impl HttpService for Flaky {
    fn call(&self, request: Request<Bytes>) -> HttpFuture<'_> {
        let answer = self.answer(&request);
        Box::pin(std::future::ready(answer))
    }
}

impl Flaky {
    fn answer(&self, request: &Request<Bytes>) -> Result<Response<Body>, HttpError> {
        let mut state = self.0.lock().expect("one thread");
        let cursor = request.headers().get("last-event-id").expect("a cursor").to_str().expect("text");
        let cursor: u64 = cursor.strip_prefix("evt_").and_then(|number| number.parse().ok()).expect("an id");
        let (name, answer) = match state.random.u8(..20) {
            _ if cursor == state.last => ("the end (204)", Ok(refusal(StatusCode::NO_CONTENT))),
            0 => ("refused", Err(HttpError::connect("refused"))),
            1 => ("broken before the answer", Err(HttpError::other("reset"))),
            2 => ("503", Ok(refusal(StatusCode::SERVICE_UNAVAILABLE))),
            kind => {
                let (name, end) = match kind % 3 {
                    0 => ("streams ended", End::Clean),
                    1 => ("streams cut", End::Cut),
                    _ => ("streams gone silent", End::Silence),
                };
                let mut random = state.random.fork();
                let next = cursor.saturating_sub(random.u64(..=MOST_REPEATS)) + 1;
                let left = random.usize(..LONGEST);
                let line_end = ["\n", "\r\n", "\r"][random.usize(..3)];
                let cut = Cut {
                    service: self.clone(),
                    next,
                    last: state.last,
                    left,
                    random,
                    line_end,
                    rest: Vec::new(),
                    end,
                };
                (name, Ok(service::answer(Body::new(StreamBody::new(cut)))))
            }
        };
        *state.requests.entry(name).or_default() += 1;
        answer
    }
}

fn refusal(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::from(Bytes::new()));
    *response.status_mut() = status;
    response
}

/// A stream of events that ends after some bytes, wherever that is.
struct Cut {
    service: Flaky,
    next: u64,
    last: u64,
    /// Bytes until the cut.
    left: usize,
    random: Rng,
    line_end: &'static str,
    /// What is written and not sent.
    rest: Vec<u8>,
    end: End,
}

#[derive(Clone, Copy)]
enum End {
    Clean,
    Cut,
    Silence,
}

impl Stream for Cut {
    type Item = Result<Frame<Bytes>, std::io::Error>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let size = self.random.usize(1..=8 << 10).min(self.left);
        while self.rest.len() < size && self.next <= self.last {
            self.write_next();
        }
        let size = size.min(self.rest.len());
        if size == 0 {
            return match self.end {
                End::Clean => Poll::Ready(None),
                End::Cut => Poll::Ready(Some(Err(std::io::ErrorKind::UnexpectedEof.into()))),
                // Nothing wakes it but the stream's own timer.
                End::Silence => Poll::Pending,
            };
        }
        self.left -= size;
        let rest = self.rest.split_off(size);
        let piece = std::mem::replace(&mut self.rest, rest);
        Poll::Ready(Some(Ok(Frame::data(piece.into()))))
    }
}

impl Cut {
    fn write_next(&mut self) {
        let (number, end) = (self.next, self.line_end);
        self.next += 1;
        let id = id(number);
        let mandate = number % 100;
        let note = "0123456789 äöü ".repeat(self.random.usize(..30));
        let event = format!(
            r#"{{"id":"{id}","type":"capability.execution_completed","sequence":{number},"mandate":"mnd_{mandate}","data":{{"execution":{{"capability":"email.send","durationMs":412,"note":"{note}"}}}}}}"#
        );
        let heartbeat =
            if self.random.u8(..8) == 0 { format!(": heartbeat{end}{end}") } else { String::new() };
        let kind = "capability.execution_completed";
        let frame = format!("{heartbeat}id: {id}{end}event: {kind}{end}data: {event}{end}{end}");
        self.rest.extend_from_slice(frame.as_bytes());
        self.service.0.lock().expect("one thread").sent += 1;
    }
}

fn id(number: u64) -> String {
    format!("evt_{number}")
}
