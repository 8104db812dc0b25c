//! What calls do, told to `tracing` in the words of OpenTelemetry's HTTP clients: methods, route templates, statuses,
//! times; never an id, a query, a header or a body. `untraced.rs` stands in for it without the feature.

use std::time::{Duration, Instant};

use http::{Method, Response, StatusCode, Uri};
use tracing::field::{Empty, display};
use tracing::instrument::{Instrument as _, Instrumented};

use super::outcome::Outcome;
use super::request::Request;
use super::{Answer, Body, request_id};
use crate::clock::Timer;
use crate::error::{Error, ErrorKind, Result};

/// What the conventions call all that they have no word for.
const OTHER: &str = "_OTHER";

/// The span of one call, from before its first attempt until its answer is whole; of a request that lasts, until its
/// answer begins.
pub(super) struct Span {
    span: tracing::Span,
    /// `None` when nobody listens.
    started: Option<Instant>,
}

impl Span {
    pub(super) fn new(request: &Request, uri: &Uri, timer: &dyn Timer) -> Self {
        let span = tracing::info_span!(
            target: "shadway",
            "call",
            otel.name = %name(request),
            otel.kind = "client",
            otel.status_code = Empty,
            http.request.method = method(request),
            http.request.resend_count = Empty,
            http.response.status_code = Empty,
            url.template = request.template,
            server.address = uri.host().map(|host| host.trim_matches(['[', ']'])),
            server.port = port(uri),
            "error.type" = Empty,
            shadway.attempts = Empty,
            shadway.request_id = Empty,
            shadway.duration_ms = Empty,
        );
        let started = (!span.is_disabled()).then(|| timer.now());
        Self { span, started }
    }

    /// The work, whose own events and spans then lie in this one.
    pub(super) fn around<F: Future>(&self, work: F) -> Instrumented<F> {
        work.instrument(self.span.clone())
    }

    pub(super) fn answered(&self, result: &Result<Answer>, timer: &dyn Timer) {
        let attempts = match result {
            Ok(answer) => answer.call.attempts,
            Err(error) => error.attempts(),
        };
        if attempts > 1 {
            self.span.record("http.request.resend_count", attempts - 1);
        }
        let answer = result.as_ref().map(|answer| (answer.status, answer.request_id()));
        self.end(answer, attempts, timer);
    }

    pub(super) fn opened(&self, result: &Result<Response<Body>>, attempt: u32, timer: &dyn Timer) {
        let answer = result.as_ref().map(|response| (response.status(), request_id(response.headers())));
        self.end(answer, attempt, timer);
    }

    fn end(&self, answer: Result<(StatusCode, Option<String>), &Error>, attempts: u32, timer: &dyn Timer) {
        let Some(started) = self.started else { return };
        let (status, request_id) = match &answer {
            Ok((status, request_id)) => (Some(*status), request_id.as_deref()),
            Err(error) => (error.status(), error.request_id()),
        };
        if let Some(status) = status {
            self.span.record("http.response.status_code", status.as_u16());
        }
        if let Some(request_id) = request_id {
            self.span.record("shadway.request_id", request_id);
        }
        self.span.record("shadway.attempts", attempts);
        let took = timer.now().saturating_duration_since(started);
        self.span.record("shadway.duration_ms", milliseconds(took));
        if let Err(error) = answer {
            self.span.record("otel.status_code", "ERROR");
            self.span.record("error.type", display(type_of(error)));
        }
    }
}

/// A request is sent again after this delay.
pub(super) fn retry(request: &Request, outcome: &Outcome, attempts: u32, delay: Duration) {
    let status = outcome.refusal().map(|answer| answer.status);
    tracing::debug!(
        target: "shadway",
        {
            http.request.method = method(request),
            http.request.resend_count = attempts,
            http.response.status_code = status.map(|status| status.as_u16()),
            url.template = request.template,
            "error.type" = %error_type(status, if outcome.is_attempt_timeout() { "timeout" } else { "connection" }),
            shadway.request_id = outcome.refusal().and_then(Answer::request_id),
            shadway.delay_ms = milliseconds(delay)
        },
        "trying again"
    );
}

/// A request that lasted is made again after this delay.
pub(crate) fn reconnect(request: &Request, cause: &Error, delay: Duration) {
    tracing::debug!(
        target: "shadway",
        {
            http.request.method = method(request),
            http.response.status_code = cause.status().map(|status| status.as_u16()),
            url.template = request.template,
            "error.type" = %type_of(cause),
            shadway.request_id = cause.request_id(),
            shadway.delay_ms = milliseconds(delay)
        },
        "connecting again"
    );
}

fn type_of(error: &Error) -> String {
    let word = match error.kind() {
        ErrorKind::Connection => "connection",
        ErrorKind::Timeout => "timeout",
        ErrorKind::Redirect => "redirect",
        ErrorKind::ResponseTooLarge => "response_too_large",
        _ => OTHER,
    };
    error_type(error.status(), word)
}

/// The status where that is the error, the word otherwise: few values, none of them from outside.
fn error_type(status: Option<StatusCode>, word: &str) -> String {
    match status.filter(|status| status.is_client_error() || status.is_server_error()) {
        Some(status) => status.as_str().to_owned(),
        None => word.to_owned(),
    }
}

fn name(request: &Request) -> String {
    // As the conventions want it of a method that none of them is.
    let method = match method(request) {
        OTHER => "HTTP",
        known => known,
    };
    match request.template {
        Some(template) => format!("{method} {template}"),
        None => method.to_owned(),
    }
}

/// Methods of the caller's own all go by one word, as the conventions want it.
fn method(request: &Request) -> &str {
    const KNOWN: [Method; 9] = [
        Method::GET,
        Method::POST,
        Method::PATCH,
        Method::PUT,
        Method::DELETE,
        Method::HEAD,
        Method::OPTIONS,
        Method::TRACE,
        Method::CONNECT,
    ];
    if KNOWN.contains(&request.method) { request.method.as_str() } else { OTHER }
}

fn port(uri: &Uri) -> u16 {
    let default = if uri.scheme_str() == Some("http") { 80 } else { 443 };
    uri.port_u16().unwrap_or(default)
}

fn milliseconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
