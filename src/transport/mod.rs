//! From an unsent request to an answer: encode once, let the retry loop send it, tell an answer from an
//! error. The seam to the wire is [`HttpService`].

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, HeaderName, HeaderValue};
use http::{HeaderMap, Method, StatusCode, Uri};
use serde::de::DeserializeOwned;

use crate::config::{ApiKey, BaseUrl, Mode};
use crate::error::{CallFacts, Cause, Error, Result, one_line};
use crate::model::json::misfit;

pub(crate) mod budget;
mod open;
pub(crate) mod outcome;
pub(crate) mod request;
#[cfg(feature = "client")]
pub(crate) mod reqwest;
pub(crate) mod retry;
pub(crate) mod seam;
#[cfg(feature = "tracing")]
pub(crate) mod trace;
#[cfg(not(feature = "tracing"))]
#[path = "untraced.rs"]
pub(crate) mod trace;
mod wiped;

#[cfg(feature = "local")]
pub(crate) use self::reqwest::ReqwestService;
pub use crate::clock::{Sleep, Timer};
use budget::Budget;
use outcome::Outcome;
use request::{Key, Request};
pub use seam::{Body, HttpError, HttpFuture, HttpService, LongLived};

/// The header that makes a repeated change safe (documented).
pub(crate) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");
/// The headers that name a request to the service, the first one found counts (assumed).
pub(crate) const REQUEST_ID: [HeaderName; 2] =
    [HeaderName::from_static("shadway-request-id"), HeaderName::from_static("x-request-id")];

pub(crate) const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// How long things may take, and how large they may get.
#[derive(Debug, Clone)]
pub(crate) struct Limits {
    pub(crate) timeout: Option<Duration>,
    pub(crate) attempt_timeout: Duration,
    pub(crate) max_retries: u32,
    pub(crate) max_response_bytes: usize,
    /// In tokens; `None` for retries without a budget.
    pub(crate) retry_budget: Option<u32>,
}

/// All that a client's calls share.
pub(crate) struct Transport {
    pub(crate) service: Box<dyn HttpService>,
    pub(crate) timer: Arc<dyn Timer>,
    pub(crate) base_url: BaseUrl,
    pub(crate) api_key: ApiKey,
    /// Sent with every request: the key, what is accepted, the user agent, and what the caller added.
    pub(crate) headers: HeaderMap,
    pub(crate) limits: Limits,
    pub(crate) budget: Option<Budget>,
}

impl Transport {
    pub(crate) fn mode(&self) -> Mode {
        self.api_key.mode()
    }

    /// Sends a request, with retries, and gives the answer if it is a 2xx.
    pub(crate) async fn send(&self, request: &Request) -> Result<Answer> {
        let wire = self.encode(request)?;
        let span = trace::Span::new(request, &wire.uri, &*self.timer);
        let finished = span.around(retry::run(self, &wire)).await;
        let key = wire.key.as_ref().and_then(|key| key.to_str().ok());
        let mut call = CallFacts {
            attempts: finished.attempts,
            idempotency_key: key.map(str::to_owned),
            ambiguous: finished.ambiguous,
            out_of_time: finished.out_of_time,
            out_of_budget: finished.out_of_budget,
            ..CallFacts::default()
        };
        self.learn(&mut call, &finished.outcome);
        let result = match finished.outcome.into_answer() {
            Ok(answer) => {
                // What the decoder has to know, should the body not fit.
                call.ambiguous = request.is_change();
                Ok(Answer { call, ..answer })
            }
            Err(cause) => Err(Error::new(cause, call)),
        };
        span.answered(&result, &*self.timer);
        result
    }

    /// What a refusal says of the call it belongs to.
    fn learn(&self, call: &mut CallFacts, outcome: &Outcome) {
        if let Some(answer) = outcome.refusal() {
            call.status = Some(answer.status);
            call.request_id = answer.request_id();
            call.retry_after = retry::retry_after(&answer.headers, self.timer.wall_clock());
        }
    }

    /// What has to be made before the first attempt, and can go wrong.
    fn encode<'r>(&self, request: &'r Request) -> Result<Wire<'r>> {
        let uri = request.uri(&self.base_url)?;
        let key = match &request.key {
            Key::Given(key) => Some(key.clone()),
            Key::Auto if request.is_change() => Some(request::new_key()?),
            Key::Auto | Key::Off => None,
        };
        Ok(Wire { request, uri, key })
    }
}

/// A request as it goes out, the same on every attempt.
pub(crate) struct Wire<'r> {
    request: &'r Request,
    uri: Uri,
    key: Option<HeaderValue>,
}

impl Wire<'_> {
    /// For one attempt. The headers are made anew, as what is sent is gone, and most calls need no second one.
    fn attempt(&self, transport: &Transport) -> http::Request<Bytes> {
        let mut wire = http::Request::new(self.request.body.clone().unwrap_or_default());
        *wire.method_mut() = self.request.method.clone();
        *wire.uri_mut() = self.uri.clone();
        let headers = wire.headers_mut();
        *headers = transport.headers.clone();
        headers.extend(self.request.headers.clone());
        if self.request.body.is_some() {
            headers.insert(CONTENT_TYPE, JSON);
        }
        if let Some(key) = &self.key {
            headers.insert(IDEMPOTENCY_KEY, key.clone());
        }
        wire
    }
}

impl fmt::Debug for Transport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Of headers the names only: a value may be a secret.
        f.debug_struct("Transport")
            .field("base_url", &self.base_url)
            .field("mode", &self.mode())
            .field("headers", &self.headers.keys().map(HeaderName::as_str).collect::<Vec<_>>())
            .field("limits", &self.limits)
            .field("budget", &self.budget)
            .field("service", &self.service)
            .field("timer", &self.timer)
            .finish_non_exhaustive()
    }
}

/// A whole answer.
#[derive(Clone)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    pub(crate) call: CallFacts,
}

impl Answer {
    pub(crate) fn request_id(&self) -> Option<String> {
        request_id(&self.headers)
    }

    /// The body as a type; when it doesn't fit, the error names the path of the field.
    pub(crate) fn json<T: DeserializeOwned>(&self, key: &ApiKey) -> Result<T> {
        serde_json::from_slice(&self.body).map_err(|error| {
            let what = match self.body.trim_ascii().first() {
                None => "the body is empty".to_owned(),
                // A field's name or a value of theirs may be in it.
                Some(_) => misfit::<T>(&self.body).unwrap_or_else(|| error.to_string()),
            };
            let call =
                CallFacts { status: Some(self.status), request_id: self.request_id(), ..self.call.clone() };
            Error::new(unfit(&what, error, key), call)
        })
    }
}

/// Why what came doesn't fit, without the key where that repeats it: the source quotes the same, and can't be changed.
pub(crate) fn unfit(what: &str, source: serde_json::Error, key: &ApiKey) -> Cause {
    match key.redact_text(what) {
        Some(shown) => Cause::Decode(one_line(&shown), None),
        None => Cause::Decode(one_line(what), Some(source.into())),
    }
}

/// The id under which the service knows a request.
pub(crate) fn request_id(headers: &HeaderMap) -> Option<String> {
    let id = REQUEST_ID.iter().find_map(|name| headers.get(name))?;
    id.to_str().ok().map(str::to_owned)
}

/// Whether a method changes something, and so carries an idempotency key.
pub(crate) fn is_change(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}
