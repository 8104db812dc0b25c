//! Messages to check, right until a test spoils them.

#![expect(clippy::expect_used, reason = "what a test cannot write down right is for it to fail on")]

use std::sync::LazyLock;

use conformance::Document;
use http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, Uri};
use serde_json::Value;

static DOCUMENT: LazyLock<Document> = LazyLock::new(|| Document::load().expect("the document loads"));

/// A value that no finding may quote.
pub(crate) const ONE_TIME_CODE: &str = "483921";

/// A request with what every request needs.
pub(crate) struct Request {
    method: Method,
    uri: String,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Request {
    pub(crate) fn get(uri: &str) -> Self {
        Self::bare(Method::GET, uri)
    }

    pub(crate) fn post(uri: &str, body: &Value) -> Self {
        Self::empty_post(uri).json(body)
    }

    pub(crate) fn empty_post(uri: &str) -> Self {
        Self::bare(Method::POST, uri).header("idempotency-key", "quote-2026-q3")
    }

    pub(crate) fn patch(uri: &str, body: &Value) -> Self {
        Self::bare(Method::PATCH, uri).header("idempotency-key", "k").json(body)
    }

    pub(crate) fn stream(uri: &str) -> Self {
        Self::get(uri).header("accept", "text/event-stream")
    }

    fn bare(method: Method, uri: &str) -> Self {
        let request = Self { method, uri: uri.to_owned(), headers: HeaderMap::new(), body: Vec::new() };
        request.header("authorization", "Bearer sk_test_1")
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        let mut request = self.header("content-type", "application/json");
        request.body = body.to_string().into_bytes();
        request
    }

    /// Sets a header in place of any before.
    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.insert(header_name(name), header_value(value));
        self
    }

    /// Sets a header to bytes that need be no text.
    pub(crate) fn raw_header(mut self, name: &str, value: &[u8]) -> Self {
        let value = HeaderValue::from_bytes(value).expect("a header value");
        self.headers.insert(header_name(name), value);
        self
    }

    /// Adds a header beside any before.
    pub(crate) fn another(mut self, name: &str, value: &str) -> Self {
        self.headers.append(header_name(name), header_value(value));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.remove(name);
        self
    }

    pub(crate) fn body(mut self, body: &str) -> Self {
        self.body = body.as_bytes().to_vec();
        self
    }

    pub(crate) fn check(&self) -> Result<(), Vec<String>> {
        let uri: Uri = self.uri.parse().expect("a URI");
        DOCUMENT.check_request(&self.method, &uri, &self.headers, &self.body)
    }
}

/// A response with what every response needs.
pub(crate) struct Response {
    method: Method,
    path: String,
    status: u16,
    headers: HeaderMap,
    body: Vec<u8>,
}

impl Response {
    pub(crate) fn new(method: Method, path: &str, status: u16, body: &Value) -> Self {
        let mut response = Self::empty(method, path, status);
        response.body = body.to_string().into_bytes();
        response.header("content-type", "application/json")
    }

    pub(crate) fn empty(method: Method, path: &str, status: u16) -> Self {
        let response =
            Self { method, path: path.to_owned(), status, headers: HeaderMap::new(), body: Vec::new() };
        response.header("shadway-request-id", "req_1")
    }

    pub(crate) fn stream(path: &str, body: &str) -> Self {
        Self::empty(Method::GET, path, 200).header("content-type", "text/event-stream").body(body)
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.insert(header_name(name), header_value(value));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.remove(name);
        self
    }

    pub(crate) fn body(mut self, body: &str) -> Self {
        self.body = body.as_bytes().to_vec();
        self
    }

    pub(crate) fn check(&self) -> Result<(), Vec<String>> {
        let status = StatusCode::from_u16(self.status).expect("a status");
        DOCUMENT.check_response(&self.method, &self.path, status, &self.headers, &self.body)
    }
}

/// The findings are these, each begun and ended as given: `(begin, end)`.
#[track_caller]
pub(crate) fn assert_found(result: Result<(), Vec<String>>, due: &[(&str, &str)]) {
    let found = result.expect_err("something should be found");
    assert_eq!(found.len(), due.len(), "{found:#?}");
    for (found, (begin, end)) in found.iter().zip(due) {
        let fits = found.starts_with(begin) && found.ends_with(end);
        assert!(fits, "{found:?} is not {begin:?} … {end:?}");
    }
}

fn header_name(name: &str) -> HeaderName {
    name.parse().expect("a header name")
}

fn header_value(value: &str) -> HeaderValue {
    HeaderValue::from_bytes(value.as_bytes()).expect("a header value")
}
