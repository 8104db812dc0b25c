//! What the fuzz targets reach of the crate's inside: thin functions, in builds with `--cfg fuzzing` only.

use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures_util::FutureExt as _;
use http::header::{HeaderValue, RETRY_AFTER};
use http::{Method, Response, StatusCode};
use serde::de::DeserializeOwned;

use crate::config::{ApiKey, BaseUrl};
use crate::error::{CallFacts, Error, Result};
use crate::transport::Body;
use crate::transport::outcome::Outcome;
use crate::transport::request::Request;
use crate::transport::retry::{self, Conditions};

pub use crate::stream::fuzzing::{Cost, Reading, decode, lines, oracle, reconnect_delay};

fn outcome(response: Response<Body>) -> Option<Outcome> {
    // A body that is all there never waits.
    Outcome::read(Ok(response), usize::MAX, &key()?).now_or_never()
}

fn key() -> Option<ApiKey> {
    ApiKey::parse("sk_test_fuzz").ok()
}

/// What a call gives of an answer with this status and body. `None` of a status that is none.
#[must_use]
pub fn answer<T: DeserializeOwned>(status: u16, body: &[u8]) -> Option<Result<T>> {
    let mut response = Response::new(Body::from(Bytes::copy_from_slice(body)));
    *response.status_mut() = StatusCode::from_u16(status).ok()?;
    let (answer, key) = (outcome(response)?.into_answer(), key()?);
    Some(answer.map_err(|cause| Error::new(cause, CallFacts::default())).and_then(|answer| answer.json(&key)))
}

/// What a `Retry-After` asks for, and the delay that is kept before the next attempt, of a 429. `None` of a value
/// that no header can hold.
#[must_use]
pub fn retry_after(
    value: &[u8],
    now: SystemTime,
    backoff: Duration,
) -> Option<(Option<Duration>, Option<Duration>)> {
    let mut response = Response::new(Body::from(Bytes::new()));
    *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
    response.headers_mut().insert(RETRY_AFTER, HeaderValue::from_bytes(value).ok()?);
    let outcome = outcome(response)?;
    let wish = retry::retry_after(&outcome.refusal()?.headers, now);
    let conditions = Conditions { backoff: Some(backoff), replayable: true, wall_clock: now };
    Some((wish, retry::decide(&outcome, &conditions)))
}

/// A base URL, checked, with a path behind it that begins with a slash.
///
/// # Errors
/// It can't be one.
pub fn base_url(text: &str, allow_insecure_http: bool, path: &str) -> Result<String> {
    let base = BaseUrl::parse(text, allow_insecure_http)?;
    Request::raw(Method::GET, path)?.uri(&base).map(|uri| uri.to_string())
}

/// Path and query of a call: the ids in their places, and one query parameter.
///
/// # Errors
/// An id can't be one.
pub fn path(template: &'static str, ids: &[&str], name: &str, value: &str) -> Result<String> {
    let mut request = Request::new(Method::GET, template, ids)?;
    request.add_query(name, value.to_owned());
    Ok(request.path_and_query(""))
}

/// The path of a call that the caller wrote out.
///
/// # Errors
/// It would end up elsewhere.
pub fn raw_path(path: &str) -> Result<String> {
    Request::raw(Method::GET, path).map(|request| request.path_and_query(""))
}
