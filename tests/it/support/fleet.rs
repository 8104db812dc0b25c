//! A service with many mandates, which a test moves on, and one stream for all of them.

use std::collections::{BTreeMap, HashMap};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::StreamBody;
use serde_json::{Value, json};
use shadway::Client;
use shadway::transport::{Body, HttpFuture, HttpService};
use tokio::sync::mpsc;
use tokio::time::{Instant, Interval, interval_at};

use super::page;

type Frame = Result<http_body::Frame<Bytes>, std::io::Error>;

#[derive(Clone)]
pub(crate) struct Fleet(Arc<Inner>);

struct Inner {
    /// How long a read takes.
    read_takes: Duration,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By number, so that lists have an order.
    statuses: BTreeMap<usize, &'static str>,
    asking: BTreeMap<usize, ()>,
    events: Vec<(usize, u64, Value)>,
    sequences: HashMap<usize, u64>,
    counts_from_zero: bool,
    /// Of the events so many of the last are not listed.
    lists_lag: usize,
    streams: Vec<mpsc::UnboundedSender<Bytes>>,
    /// What requests for streams and reads are refused with.
    refuse_streams: Option<u16>,
    refuse_reads: Option<u16>,
    refuse_lists: Option<u16>,
    /// Of so many reads one is refused, with 429.
    refuse_every_nth: Option<usize>,
    /// And reads of these alone.
    broken: HashMap<String, u16>,
    /// No event is known to resume after.
    forgets: bool,
    /// Reads never end, or the next one panics, or the stream does.
    reads_hang: bool,
    read_panics: bool,
    stream_panics: bool,
    counts: Counts,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// Streams ever opened, and those of one mandate among them.
    pub(crate) streams: usize,
    pub(crate) own_streams: usize,
    /// Streams that are open now.
    pub(crate) open: usize,
    pub(crate) gets: usize,
    pub(crate) lists: usize,
    /// The most reads that were under way at a time.
    pub(crate) at_a_time: usize,
    under_way: usize,
}

impl Fleet {
    pub(crate) fn new(mandates: usize, read_takes: Duration) -> Self {
        let statuses = (0..mandates).map(|number| (number, "running")).collect();
        Self(Arc::new(Inner { read_takes, state: Mutex::new(State { statuses, ..State::default() }) }))
    }

    pub(crate) fn client(&self) -> Client {
        Client::builder().api_key("sk_test_1").http_service(self.clone()).build().unwrap()
    }

    pub(crate) fn counts(&self) -> Counts {
        self.state().counts
    }

    pub(crate) fn refuse_streams(&self, status: Option<u16>) {
        self.state().refuse_streams = status;
    }

    pub(crate) fn refuse_reads(&self, status: Option<u16>) {
        self.state().refuse_reads = status;
    }

    pub(crate) fn refuse_every_nth(&self, number: usize) {
        self.state().refuse_every_nth = Some(number);
    }

    pub(crate) fn refuse_lists(&self, status: Option<u16>) {
        self.state().refuse_lists = status;
    }

    /// Reads of this mandate are refused, and those of others aren't.
    pub(crate) fn break_reads_of(&self, number: usize, status: u16) {
        self.state().broken.insert(format!("/v1/mandates/{}", id(number)), status);
    }

    pub(crate) fn hang_reads(&self, hang: bool) {
        self.state().reads_hang = hang;
    }

    /// The next read panics in the transport.
    pub(crate) fn panic_in_read(&self) {
        self.state().read_panics = true;
    }

    /// And the streams that are open now do, when they are polled.
    pub(crate) fn panic_in_stream(&self) {
        self.state().stream_panics = true;
        self.send_to_all(Vec::new());
    }

    /// Changes a status, and tells of it.
    pub(crate) fn set(&self, number: usize, status: &'static str) {
        self.set_silently(number, status);
        let data = json!({"mandate": mandate(number, status), "previousStatus": "running"});
        self.tell(number, "mandate.status_changed", data);
    }

    pub(crate) fn set_silently(&self, number: usize, status: &'static str) {
        self.state().statuses.insert(number, status);
    }

    pub(crate) fn ask(&self, number: usize) {
        self.ask_silently(number);
        self.tell(number, "mandate.approval_requested", json!({"approval": approval(number)}));
    }

    pub(crate) fn ask_silently(&self, number: usize) {
        self.state().asking.insert(number, ());
    }

    pub(crate) fn tell(&self, number: usize, kind: &str, data: Value) {
        let mut guard = self.state();
        let state = &mut *guard;
        let sequence = state.sequences.entry(number).or_default();
        *sequence += 1;
        let sequence = *sequence - u64::from(state.counts_from_zero);
        drop(guard);
        self.send(number, kind, Some(sequence), data);
    }

    /// Tells of something out of order, or without a number.
    pub(crate) fn tell_as(&self, number: usize, sequence: Option<u64>) {
        self.send(number, "test.happened", sequence, json!({}));
    }

    fn send(&self, number: usize, kind: &str, sequence: Option<u64>, data: Value) {
        let mut guard = self.state();
        let state = &mut *guard;
        let position = state.events.len() + 1;
        let mut event = json!({
            "id": position.to_string(), "type": kind, "sequence": sequence, "mandate": id(number), "data": data,
        });
        let sequence = sequence.unwrap_or_else(|| {
            event.as_object_mut().unwrap().remove("sequence");
            0
        });
        let text = Bytes::from(format!("id: {position}\nevent: {kind}\ndata: {event}\n\n"));
        state.events.push((number, sequence, event));
        let streams = state.streams.clone();
        drop(guard);
        // Not under the lock, since it wakes whoever reads.
        streams.iter().for_each(|stream| drop(stream.send(text.clone())));
    }

    /// The first event of each mandate has the sequence 0.
    pub(crate) fn count_from_zero(&self) {
        self.state().counts_from_zero = true;
    }

    /// Lists of events end so many events before the last one.
    pub(crate) fn lists_lag(&self, events: usize) {
        self.state().lists_lag = events;
    }

    /// Sends bytes of no event over all streams.
    pub(crate) fn send_to_all(&self, bytes: Vec<u8>) {
        let bytes = Bytes::from(bytes);
        self.state().streams.retain(|stream| stream.send(bytes.clone()).is_ok());
    }

    /// Cuts all streams.
    pub(crate) fn cut(&self) {
        self.state().streams.clear();
    }

    /// From now on no event is known to resume after.
    pub(crate) fn forget(&self) {
        self.state().forgets = true;
    }

    /// Lets go of all events and closed streams, which else are kept.
    pub(crate) fn forget_all(&self) {
        let mut state = self.state();
        state.events.clear();
        state.streams.retain(|stream| !stream.is_closed());
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.state.lock().unwrap()
    }

    fn stream(&self, path: &str, after: Option<usize>) -> http::Response<Body> {
        let mut state = self.state();
        state.counts.streams += 1;
        state.counts.own_streams += usize::from(path != "/v1/events/stream");
        if let Some(status) = state.refuse_streams.filter(|_| path == "/v1/events/stream") {
            return refusal(status);
        }
        if state.forgets && after.is_some() {
            return refusal(410);
        }
        let (sender, receiver) = mpsc::unbounded_channel();
        let position = state.events.len();
        let hello = if after.is_none() { format!("id: {position}\n\n") } else { ":\n\n".to_owned() };
        let _ = sender.send(hello.into());
        for (at, (_, _, event)) in state.events.iter().enumerate().skip(after.unwrap_or(position)) {
            let _ = sender.send(format!("id: {}\ndata: {event}\n\n", at + 1).into());
        }
        state.streams.push(sender);
        state.counts.open += 1;
        let body = Body::new(StreamBody::new(Counted { receiver, beats: beats(), fleet: self.clone() }));
        http::Response::builder().header("content-type", "text/event-stream").body(body).unwrap()
    }

    async fn read(&self, path: String, query: String) -> http::Response<Body> {
        {
            let counts = &mut self.state().counts;
            counts.under_way += 1;
            counts.at_a_time = counts.at_a_time.max(counts.under_way);
        }
        let _under_way = UnderWay(self.clone());
        let (hangs, panics) = {
            let mut state = self.state();
            (state.reads_hang, std::mem::take(&mut state.read_panics))
        };
        assert!(!panics, "a fault of the transport's");
        if hangs {
            std::future::pending::<()>().await;
        }
        if !self.0.read_takes.is_zero() {
            tokio::time::sleep(self.0.read_takes).await;
        }
        let mut state = self.state();
        let many = |name: &str| -> Vec<String> {
            let pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            pairs.filter(|(key, _)| *key == name).map(|(_, value)| value.to_owned()).collect()
        };
        let list = ["/v1/approvals", "/v1/mandates"].contains(&path.as_str()) || path.ends_with("/events");
        if list {
            state.counts.lists += 1
        } else {
            state.counts.gets += 1
        }
        if let Some(status) = state.refuse_reads.or(state.refuse_lists.filter(|_| list)) {
            return refusal(status);
        }
        if state.refuse_every_nth.is_some_and(|n| (state.counts.gets + state.counts.lists) % n == 0) {
            return refusal(429);
        }
        if let Some(status) = state.broken.get(&path) {
            return refusal(*status);
        }
        let answer = if path == "/v1/approvals" {
            let wanted = many("mandate");
            let asking = state.asking.keys().filter(|number| wanted.is_empty() || wanted[0] == id(**number));
            cut_page(asking.map(|number| approval(*number)), &many)
        } else if path == "/v1/mandates" {
            let wanted = many("status");
            let wanted = state.statuses.iter().filter(|(_, status)| wanted.iter().any(|w| w == *status));
            cut_page(wanted.map(|(number, status)| mandate(*number, status)), &many)
        } else if let Some(id_) =
            path.strip_prefix("/v1/mandates/").and_then(|rest| rest.strip_suffix("/events"))
        {
            let after = many("afterSequence").first().map(|after| after.parse::<u64>().unwrap());
            let after = |at: u64| after.is_none_or(|after| at > after);
            let listed = &state.events[..state.events.len().saturating_sub(state.lists_lag)];
            let events = listed.iter().filter(|(number, at, _)| id(*number) == id_ && after(*at));
            cut_page(events.map(|(_, _, event)| event.clone()), &many)
        } else {
            let number = path.trim_start_matches("/v1/mandates/mnd_").parse().unwrap();
            match state.statuses.get(&number) {
                Some(status) => mandate(number, status),
                None => return refusal(404),
            }
        };
        http::Response::new(Body::from(answer.to_string()))
    }
}

fn refusal(status: u16) -> http::Response<Body> {
    let body = r#"{"error":{"type":"test","message":"It said no."}}"#;
    http::Response::builder().status(status).body(Body::from(body)).unwrap()
}

/// Makes no more of what there is than the page holds.
fn cut_page(all: impl Iterator<Item = Value>, many: &dyn Fn(&str) -> Vec<String>) -> Value {
    let limit = many("limit").first().map_or(20, |limit| limit.parse().unwrap());
    let from: usize = many("cursor").first().map_or(0, |cursor| cursor.parse().unwrap());
    let mut rest = all.skip(from);
    let items: Vec<Value> = rest.by_ref().take(limit).collect();
    let next = rest.next().map_or(Value::Null, |_| json!((from + limit).to_string()));
    page(&items, &next)
}

pub(crate) fn id(number: usize) -> String {
    format!("mnd_{number}")
}

fn mandate(number: usize, status: &str) -> Value {
    json!({"id": id(number), "agent": "agt_1", "objective": "Say hello.", "status": status})
}

fn approval(number: usize) -> Value {
    json!({
        "id": format!("apr_{number}"), "mandate": id(number), "status": "pending", "question": "May it?",
        "action": {"capability": "email.send"},
    })
}

struct UnderWay(Fleet);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.state().counts.under_way -= 1;
    }
}

fn beats() -> Interval {
    let every = Duration::from_secs(15);
    interval_at(Instant::now() + every, every)
}

/// A body with heartbeats that says when it is dropped.
struct Counted {
    receiver: mpsc::UnboundedReceiver<Bytes>,
    beats: Interval,
    fleet: Fleet,
}

impl futures_core::Stream for Counted {
    type Item = Frame;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Frame>> {
        let panics = std::mem::take(&mut self.fleet.state().stream_panics);
        assert!(!panics, "a fault of the transport's");
        if let Poll::Ready(bytes) = self.receiver.poll_recv(context) {
            return Poll::Ready(bytes.map(|bytes| Ok(http_body::Frame::data(bytes))));
        }
        self.beats.poll_tick(context).map(|_| Some(Ok(http_body::Frame::data(":\n\n".into()))))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.fleet.state().counts.open -= 1;
    }
}

impl std::fmt::Debug for Fleet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Fleet")
    }
}

impl HttpService for Fleet {
    fn call(&self, request: http::Request<Bytes>) -> HttpFuture<'_> {
        let path = request.uri().path().to_owned();
        let query = request.uri().query().unwrap_or_default().to_owned();
        let after = request.headers().get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok());
        Box::pin(async move {
            if path.ends_with("/stream") {
                return Ok(self.stream(&path, after));
            }
            Ok(self.read(path, query).await)
        })
    }
}
