//! `shadway` on a service in memory.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use bytes::Bytes;
use futures_util::stream;
use http_body::Frame;
use http_body_util::StreamBody;
use shadway::Client;
use shadway::events::EventStream;
use shadway::transport::{Body, HttpFuture, HttpService, Sleep, Timer};

/// The stream of a workspace whose first answer consists of these chunks, and whose second ends it.
pub(crate) fn stream_of(chunks: Vec<Bytes>) -> EventStream {
    client(Once(Mutex::new(Some(chunks))), Instantly).events().stream().max_event_bytes(64 << 20)
}

/// A client on a service and a timer.
pub(crate) fn client(service: impl HttpService, timer: impl Timer) -> Client {
    let builder = Client::builder().api_key("sk_test_1").http_service(service).timer(timer);
    builder.build().expect("a client")
}

/// An answer to the request for a stream.
pub(crate) fn answer(body: Body) -> http::Response<Body> {
    let mut response = http::Response::new(body);
    let kind = http::HeaderValue::from_static("text/event-stream");
    response.headers_mut().insert(http::header::CONTENT_TYPE, kind);
    response
}

#[derive(Debug)]
struct Once(Mutex<Option<Vec<Bytes>>>);

impl HttpService for Once {
    fn call(&self, _: http::Request<Bytes>) -> HttpFuture<'_> {
        let chunks = self.0.lock().expect("one thread").take();
        let response = match chunks {
            Some(chunks) => {
                let frames = chunks.into_iter().map(|chunk| Ok::<_, std::io::Error>(Frame::data(chunk)));
                answer(Body::new(StreamBody::new(stream::iter(frames))))
            }
            None => {
                let mut end = http::Response::new(Body::from(Bytes::new()));
                *end.status_mut() = http::StatusCode::NO_CONTENT;
                end
            }
        };
        Box::pin(std::future::ready(Ok(response)))
    }
}

/// Sleeps not at all.
#[derive(Debug)]
struct Instantly;

impl Timer for Instantly {
    #[expect(clippy::disallowed_methods, reason = "nothing here depends on the time")]
    fn now(&self) -> Instant {
        Instant::now()
    }

    fn sleep(&self, _: Duration) -> Sleep {
        Box::pin(std::future::ready(()))
    }
}

/// The clock of tokio's runtime; one that is paused goes on when all else waits.
#[derive(Debug)]
pub(crate) struct Runtime;

impl Timer for Runtime {
    fn now(&self) -> Instant {
        tokio::time::Instant::now().into_std()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        Box::pin(tokio::time::sleep(duration))
    }
}
