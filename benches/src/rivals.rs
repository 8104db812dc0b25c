//! The crate's stream and those of others, each run over the same chunks.

use std::convert::Infallible;
use std::hint::black_box;

use bytes::Bytes;
use eventsource_client::{Client as _, ClientBuilder, ReconnectOptions, SSE};
use futures::executor::block_on;
use futures_util::StreamExt as _;
use futures_util::stream;
use launchdarkly_sdk_transport::{ByteStream, HttpTransport, ResponseFuture};
use shadway::events::Event;

use crate::scanner::Scanner;
use crate::service;

/// What becomes of an event's data.
pub struct Sink {
    /// Whether it is decoded.
    json: bool,
    /// How many there were.
    pub events: usize,
}

impl Sink {
    /// Counts the events.
    #[must_use]
    pub fn count() -> Self {
        Self { json: false, events: 0 }
    }

    /// Decodes each into an [`Event`].
    #[must_use]
    pub fn json() -> Self {
        Self { json: true, events: 0 }
    }

    pub(crate) fn take(&mut self, data: &str) {
        self.events += 1;
        if self.json {
            black_box(serde_json::from_str::<Event>(data).expect("an event"));
        } else {
            black_box(data);
        }
    }

    pub(crate) fn count_if(&mut self, ends: bool) {
        self.events += usize::from(ends);
    }
}

/// A way to run over chunks.
pub type Run = fn(&[Bytes], &mut Sink);

/// `shadway`'s own stream, from an answer in memory; it always decodes.
pub(crate) fn shadway(chunks: &[Bytes], sink: &mut Sink) {
    let mut events = service::stream_of(chunks.to_vec());
    block_on(async {
        while let Some(event) = events.try_next().await.expect("no failure") {
            black_box(event);
            sink.events += 1;
        }
    });
}

pub(crate) fn eventsource_stream(chunks: &[Bytes], sink: &mut Sink) {
    let chunks = stream::iter(chunks.iter().cloned().map(Ok::<_, Infallible>));
    let mut events = eventsource_stream::EventStream::new(chunks);
    block_on(async {
        while let Some(event) = events.next().await {
            sink.take(&event.expect("an event").data);
        }
    });
}

pub(crate) fn sse_stream(chunks: &[Bytes], sink: &mut Sink) {
    let chunks = stream::iter(chunks.iter().cloned().map(Ok::<_, Infallible>));
    let mut events = sse_stream::SseByteStream::new(chunks);
    block_on(async {
        while let Some(event) = events.next().await {
            if let Some(data) = event.expect("an event").data {
                sink.take(&data);
            }
        }
    });
}

/// Its parser is private: this is its client, on a transport in memory.
pub(crate) fn eventsource_client(chunks: &[Bytes], sink: &mut Sink) {
    let builder = ClientBuilder::for_url("http://localhost/").expect("a URL");
    let once = ReconnectOptions::reconnect(false).retry_initial(false).build();
    let client = builder.reconnect(once).build_with_transport(Memory(chunks.to_vec()));
    let mut events = client.stream();
    block_on(async {
        while let Some(Ok(event)) = events.next().await {
            if let SSE::Event(event) = event {
                sink.take(&event.data);
            }
        }
    });
}

/// One answer.
#[derive(Clone)]
struct Memory(Vec<Bytes>);

impl HttpTransport for Memory {
    fn request(&self, _: http::Request<Option<Bytes>>) -> ResponseFuture {
        let chunks = self.0.clone();
        Box::pin(async move {
            let body: ByteStream = Box::pin(stream::iter(chunks.into_iter().map(Ok)));
            Ok(http::Response::new(body))
        })
    }
}

pub(crate) fn scanner(chunks: &[Bytes], sink: &mut Sink) {
    let mut scanner = Scanner::default();
    for chunk in chunks {
        scanner.push(chunk, |id, event, data| {
            black_box((id, event));
            sink.take(data);
        });
    }
    black_box(scanner.retry());
}
