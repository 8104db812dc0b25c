//! What a connection takes over from the one before: the position, and nothing else.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::HeaderMap;

use crate::client::{Client, ClientBuilder};
use crate::transport::{Body, HttpFuture, HttpService};

/// A service whose streams give one event and end. It remembers the headers that it was sent.
#[derive(Debug, Clone, Default)]
struct Brief(Arc<Mutex<Vec<HeaderMap>>>);

impl HttpService for Brief {
    fn call(&self, request: http::Request<Bytes>) -> HttpFuture<'_> {
        let mut sent = self.0.lock().unwrap();
        sent.push(request.into_parts().0.headers);
        let number = sent.len();
        let event = format!(r#"{{"id":"evt_{number}","type":"x","sequence":{number},"mandate":"m"}}"#);
        let body = Body::from(format!("id: evt_{number}\ndata: {event}\n\n"));
        let response = http::Response::builder().header("content-type", "text/event-stream").body(body);
        Box::pin(async { Ok(response.unwrap()) })
    }
}

impl Brief {
    fn client(&self, key: &str) -> ClientBuilder {
        Client::builder().api_key(key).http_service(self.clone())
    }

    /// What the last request had under these names.
    fn last(&self, names: [&str; 4]) -> [Option<String>; 4] {
        let sent = self.0.lock().unwrap();
        let headers = sent.last().unwrap();
        names.map(|name| headers.get(name).map(|value| value.to_str().unwrap().to_owned()))
    }
}

#[tokio::test(start_paused = true)]
async fn each_connection_takes_key_and_headers_from_the_client_as_it_is_then() {
    const NAMES: [&str; 4] = ["authorization", "x-team", "x-floor", "last-event-id"];
    let service = Brief::default();
    let first = service.client("sk_test_1").default_header("X-Team", "a").build().unwrap();
    let second = service.client("sk_test_2").default_header("X-Floor", "9").build().unwrap();
    let mut events = first.events().stream();
    events.try_next().await.unwrap().unwrap();
    let sent = |values: [&str; 4]| values.map(|value| Some(value.to_owned()).filter(|value| value != "-"));
    assert_eq!(service.last(NAMES), sent(["Bearer sk_test_1", "a", "-", "-"]));
    // No client changes as yet, so the stream is given another one.
    events.call = second.events().stream().call;
    events.try_next().await.unwrap().unwrap();
    assert_eq!(service.last(NAMES), sent(["Bearer sk_test_2", "-", "9", "evt_1"]));
    events.call = first.events().stream().call;
    events.try_next().await.unwrap().unwrap();
    assert_eq!(service.last(NAMES), sent(["Bearer sk_test_1", "a", "-", "evt_2"]));
}
