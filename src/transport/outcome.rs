//! What became of one attempt.

use std::time::Duration;

use bytes::Bytes;
use http::header::{HeaderValue, LOCATION};
use http::{HeaderMap, StatusCode};
use http_body::Body as _;
use http_body_util::BodyExt as _;

use super::seam::{Body, HttpError, HttpErrorKind};
use super::wiped::Wiped;
use super::{Answer, REQUEST_ID};
use crate::config::ApiKey;
use crate::error::{BoxError, CallFacts, Cause, SHOWN_BYTES, is_retried_status, one_line};
use crate::model::errors::{ApiError, ErrorBody, ErrorCode};

/// How much of a refusal's body is read: enough to keep the connection in use.
const REFUSAL_BYTES: usize = 64 * 1024;
/// For how much of what is announced room is made before it comes.
const TRUSTED_BYTES: usize = 1024 * 1024;

pub(crate) enum Outcome {
    /// A 2xx with its whole body.
    Answer(Answer),
    /// Any other status.
    Refused(Answer, Box<ApiError>),
    /// A redirect, and where it points; without an answer when the transport had followed it already.
    Redirected(Option<Answer>, String),
    /// Certainly never sent.
    NotSent(BoxError),
    /// Sent, perhaps; no whole answer.
    Broken(BoxError),
    /// The attempt took longer than it may.
    AttemptTimeout(Duration),
    /// The transport has a timeout of its own, and it was over.
    TransportTimeout(BoxError),
    /// The whole call took too long.
    CallTimeout,
    /// The answer is larger than the limit.
    TooLarge(usize),
}

impl Outcome {
    /// Reads the answer to its end, or to its limit. Where a refusal repeats the key, it is taken out: all that an
    /// error says of the service comes from here.
    pub(crate) async fn read(
        response: Result<http::Response<Body>, HttpError>,
        limit: usize,
        key: &ApiKey,
    ) -> Self {
        let (mut parts, body) = match response {
            Ok(response) => response.into_parts(),
            Err(error) => {
                return match error.kind.clone() {
                    HttpErrorKind::Connect => Self::NotSent(error.into_source()),
                    HttpErrorKind::Timeout => Self::TransportTimeout(error.into_source()),
                    HttpErrorKind::Other => Self::Broken(error.into_source()),
                    HttpErrorKind::Redirected(location) => {
                        Self::Redirected(None, key.redact_text(&location).unwrap_or(location))
                    }
                };
            }
        };
        let success = parts.status.is_success();
        let limit = if success { limit } else { REFUSAL_BYTES };
        if success && body.size_hint().lower() > limit as u64 {
            return Self::TooLarge(limit);
        }
        if success {
            redact_request_id(&mut parts.headers, key);
        } else {
            redact(parts.headers.values_mut(), key);
        }
        match read(body, limit).await {
            Ok(Read { bytes, .. }) if !success => {
                let bytes = key.redact(&bytes).map_or(bytes, Bytes::from);
                let location =
                    parts.headers.get(LOCATION).filter(|_| parts.status.is_redirection()).map(shown_location);
                let api = api_error(&bytes);
                let answer = answer(parts.status, parts.headers, bytes);
                match location {
                    Some(location) => Self::Redirected(Some(answer), location),
                    None => Self::Refused(answer, api),
                }
            }
            Ok(Read { whole: false, .. }) => Self::TooLarge(limit),
            Ok(Read { bytes, .. }) => Self::Answer(answer(parts.status, parts.headers, bytes)),
            // A refusal whose body broke off is still one, with its headers; but what sort of conflict it was
            // is known only from the body.
            Err(_) if !success && parts.status != StatusCode::CONFLICT => {
                Self::Refused(answer(parts.status, parts.headers, Bytes::new()), api_error(b""))
            }
            Err(error) => Self::Broken(error),
        }
    }

    /// The answer, if one came that is none to what was asked.
    pub(crate) fn refusal(&self) -> Option<&Answer> {
        match self {
            Self::Refused(answer, _) => Some(answer),
            Self::Redirected(answer, _) => answer.as_ref(),
            _ => None,
        }
    }

    /// The answer, or why there is none.
    pub(crate) fn into_answer(self) -> Result<Answer, Cause> {
        Err(match self {
            Self::Answer(answer) => return Ok(answer),
            Self::Refused(_, api) => Cause::Api(api),
            Self::Redirected(_, location) => Cause::Redirect(location),
            Self::NotSent(source) => Cause::Connect(source),
            Self::Broken(source) => Cause::Connection(source),
            Self::AttemptTimeout(limit) => Cause::AttemptTimeout(limit),
            Self::TransportTimeout(source) => Cause::TransportTimeout(source),
            Self::CallTimeout => Cause::CallTimeout,
            Self::TooLarge(limit) => Cause::ResponseTooLarge(limit),
        })
    }

    pub(crate) fn code(&self) -> Option<&ErrorCode> {
        match self {
            Self::Refused(_, api) => api.code.as_ref(),
            _ => None,
        }
    }

    /// Whether the service may have acted on a change although this outcome doesn't say so.
    pub(crate) fn is_ambiguous(&self) -> bool {
        match self {
            Self::Answer(_) | Self::NotSent(_) => false,
            Self::Refused(answer, _) => {
                answer.status.is_server_error()
                    || answer.status == StatusCode::REQUEST_TIMEOUT
                    || self.code() == Some(&ErrorCode::IdempotencyInProgress)
            }
            Self::Redirected(..)
            | Self::Broken(_)
            | Self::AttemptTimeout(_)
            | Self::TransportTimeout(_)
            | Self::CallTimeout
            | Self::TooLarge(_) => true,
        }
    }

    /// Whether the attempt was given up for lack of an answer.
    pub(crate) fn is_attempt_timeout(&self) -> bool {
        matches!(self, Self::AttemptTimeout(_) | Self::TransportTimeout(_))
    }

    /// Whether the service did its work, also if that was to refuse the request for what it asks.
    pub(crate) fn shows_health(&self) -> bool {
        match self {
            Self::Answer(_) => true,
            Self::Refused(answer, _) => answer.status.is_client_error() && !self.calls_for_retry(),
            _ => false,
        }
    }

    /// Whether it is a refusal that may pass.
    pub(crate) fn calls_for_retry(&self) -> bool {
        match self {
            Self::Refused(answer, _) => {
                is_retried_status(answer.status) || self.code() == Some(&ErrorCode::IdempotencyInProgress)
            }
            _ => false,
        }
    }

    /// Whether this outcome settles what became of earlier attempts with the same key.
    pub(crate) fn is_final_word(&self) -> bool {
        match self {
            Self::Answer(_) => true,
            // Those who refuse with these may not have looked at the key.
            Self::Refused(answer, _) => {
                !self.is_ambiguous() && !matches!(answer.status.as_u16(), 401 | 403 | 429)
            }
            _ => false,
        }
    }
}

fn answer(status: StatusCode, headers: HeaderMap, body: Bytes) -> Answer {
    Answer { status, headers, body, call: CallFacts::default() }
}

/// Of an answer that is given to the caller as it came, the one header that is told elsewhere as well.
fn redact_request_id(headers: &mut HeaderMap, key: &ApiKey) {
    for name in &REQUEST_ID {
        redact(headers.get_mut(name).into_iter(), key);
    }
}

/// Takes the key out of headers that repeat it.
pub(super) fn redact<'a>(headers: impl Iterator<Item = &'a mut HeaderValue>, key: &ApiKey) {
    for value in headers {
        let shown = key.redact(value.as_bytes()).map(Bytes::from);
        if let Some(Ok(shown)) = shown.map(HeaderValue::from_maybe_shared) {
            *value = shown;
        }
    }
}

struct Read {
    bytes: Bytes,
    whole: bool,
}

/// Reads a body up to a limit and never holds more than a frame beyond it.
async fn read(mut body: Body, limit: usize) -> Result<Read, BoxError> {
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    let mut bytes = Wiped::with_room(announced.min(limit).min(TRUSTED_BYTES));
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        let room = limit - bytes.len();
        if data.len() > room {
            bytes.extend(&data[..room]);
            return Ok(Read { bytes: bytes.into(), whole: false });
        }
        bytes.extend(&data);
    }
    Ok(Read { bytes: bytes.into(), whole: true })
}

/// What the service said; or, of a body that isn't its own, the start.
fn api_error(body: &[u8]) -> Box<ApiError> {
    Box::new(match serde_json::from_slice::<ErrorBody>(body) {
        Ok(body) => body.error,
        Err(_) => ApiError { message: one_line(&String::from_utf8_lossy(body)), ..ApiError::default() },
    })
}

/// Where a redirect points, without what may be secret in it.
fn shown_location(location: &HeaderValue) -> String {
    match location.to_str() {
        Ok(text) if text.len() <= SHOWN_BYTES => bare_url(text),
        _ => "a location that can't be shown".to_owned(),
    }
}

/// A URL without user, password, query and fragment.
pub(crate) fn bare_url(url: &str) -> String {
    // To a URL parser a backslash is a slash.
    let url = url.split(['?', '#']).next().unwrap_or_default().replace('\\', "/");
    match url.split_once("//") {
        Some((scheme, rest)) => {
            let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
            let host = host.rsplit('@').next().unwrap_or_default();
            format!("{scheme}//{host}{path}")
        }
        None => url,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(feature = "client")]
    fn where_a_callers_client_was_redirected_to_is_shown_without_the_key() {
        use futures_util::FutureExt as _;

        let key = ApiKey::parse("sk_test_s3cr3t").unwrap();
        let error = HttpError::redirected("https://a.example/sk_test_s3cr3t".to_owned());
        let read = Outcome::read(Err(error), 0, &key).now_or_never().unwrap();
        assert!(matches!(read, Outcome::Redirected(None, to) if to == "https://a.example/[redacted]"));
    }

    #[test]
    fn a_url_is_shown_without_what_may_be_secret() {
        assert_eq!(bare_url("https://user:pass@a.example/b?key=1#c"), "https://a.example/b");
        assert_eq!(bare_url("//a@b.example"), "//b.example");
        assert_eq!(bare_url("/b?key=1"), "/b");
        assert_eq!(bare_url(r"https:\\user:pass@a.example\b"), "https://a.example/b");
    }
}
