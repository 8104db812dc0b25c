//! The server as its callers see it.

use bytes::Bytes;
use http::{HeaderMap, Method, Request};
use http_body_util::BodyExt as _;
use serde_json::Value;

use super::{LocalClock, LocalServer, LocalService};
use crate::Client;
use crate::transport::HttpService as _;

mod agents;
mod approvals;
mod clock;
mod connected;
mod deliveries;
mod endpoints;
mod faults;
mod inspection;
#[cfg(feature = "schema")]
mod lifecycle;
mod mandates;
mod protocol;
mod purchase;
mod record;
mod rules;
mod scripts;
mod streams;

/// A server and a client of it in memory. Its clock is tokio's: paused in most of these tests.
async fn server() -> (LocalServer, Client) {
    let server = LocalServer::builder().clock(LocalClock::Real).start().await.unwrap();
    let client = Client::builder().api_key(server.api_key()).http_service(server.service()).build().unwrap();
    (server, client)
}

/// What a client would not send.
struct Raw {
    request: http::request::Builder,
    body: Bytes,
}

struct Answer {
    status: u16,
    headers: HeaderMap,
    body: Value,
}

impl Raw {
    fn new(method: Method, path: &str) -> Self {
        let request = Request::builder().method(method).uri(format!("http://127.0.0.1{path}"));
        Self { request, body: Bytes::new() }
    }

    /// A change as it should be, under this key.
    fn change(method: Method, path: &str, key: &str, body: impl Into<Bytes>) -> Self {
        let raw = Self::new(method, path).key().header("idempotency-key", key);
        Self { body: body.into(), ..raw.header("content-type", "application/json; charset=utf-8") }
    }

    fn get(path: &str) -> Self {
        Self::new(Method::GET, path).key()
    }

    fn key(self) -> Self {
        self.header("authorization", "Bearer sk_test_local")
    }

    fn header(mut self, name: &str, value: &str) -> Self {
        self.request = self.request.header(name, value);
        self
    }

    async fn send(self, service: &LocalService) -> Answer {
        let response = service.call(self.request.body(self.body).unwrap()).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes();
        Answer {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body: serde_json::from_slice(&body).unwrap(),
        }
    }
}

impl Answer {
    /// The status, the type of the error, and the parameter it names.
    fn refusal(&self) -> (u16, &str, Option<&str>) {
        let error = &self.body["error"];
        assert!(error["message"].as_str().is_some_and(|message| !message.is_empty()), "{error}");
        (self.status, error["type"].as_str().unwrap(), error["param"].as_str())
    }
}
