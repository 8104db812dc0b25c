//! Everything that can go wrong, as one word-sized type.

use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

use http::StatusCode;

use crate::model::errors::{ApiError, ErrorCode};
use crate::model::mandates::Mandate;
use crate::model::types::EventId;

/// What a call gives.
pub type Result<T, E = Error> = std::result::Result<T, E>;

pub(crate) type BoxError = Box<dyn StdError + Send + Sync>;

/// Everything that can go wrong: the sort is [`Error::kind`], the rest by question.
///
/// Printing it gives one line with the status, the code, the message and the request id, and never a key,
/// a header, a query or a secret. [`std::error::Error::source`] gives what lies beneath.
///
/// ```
/// # async fn doc(client: shadway::Client) {
/// match client.mandates().get("mnd_1").await {
///     Ok(mandate) => println!("{}", mandate.status),
///     Err(error) if error.is_not_found() => println!("no such mandate"),
///     Err(error) if error.is_retryable() => println!("try again after {:?}", error.retry_after()),
///     Err(error) => println!("{error}"),
/// }
/// # }
/// ```
pub struct Error(Box<Inner>);

/// The sort of an [`Error`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The client can't be built from this configuration. Nothing was sent.
    Config,
    /// An argument was refused before anything was sent.
    InvalidInput,
    /// The service refused the request's content (400, 422).
    InvalidRequest,
    /// The key is missing, wrong or revoked (401).
    Authentication,
    /// The key may not do this (403).
    Permission,
    /// There is no such thing (404).
    NotFound,
    /// The request contradicts the present state (409): see [`Error::code`].
    Conflict,
    /// Too many requests (429), also after the retries.
    RateLimit,
    /// The service is in trouble (5xx), also after the retries.
    Server,
    /// Any other status the contract doesn't name.
    UnexpectedStatus,
    /// A redirect, which is never followed.
    Redirect,
    /// The connection could not be made, or broke.
    Connection,
    /// An attempt or the whole call took too long, or the service said so (408).
    Timeout,
    /// A wait for a mandate ran out; the mandate goes on.
    WaitTimeout,
    /// The answer is not what the contract says.
    Decode,
    /// The answer is larger than `max_response_bytes`, or an event of a stream larger than `max_event_bytes`.
    ResponseTooLarge,
    /// The event id a stream was to resume after is older than what the service keeps (410, assumed). Read what
    /// was missed with a list of the events, and stream without resuming; with a checkpoint, remove its position.
    CursorTooOld,
    /// The checkpoint of a stream could not be loaded or saved; the store's error is the source.
    Checkpoint,
    /// A stream with an empty checkpoint brought an event, or its mandate had ended, and the list of the events so far
    /// stayed empty for about a minute after that. Nothing was given out or saved: to begin anew loses nothing.
    HistoryMissing,
    /// A list gave a cursor a second time.
    Pagination,
    /// A capability of an agent that was waited for won't be ready by itself.
    NotReady,
    /// The function behind a capability of your own failed; its error is the source.
    Execution,
}

struct Inner {
    cause: Cause,
    call: CallFacts,
}

/// What is known of the call an error belongs to.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallFacts {
    pub(crate) status: Option<StatusCode>,
    pub(crate) request_id: Option<String>,
    pub(crate) retry_after: Option<Duration>,
    pub(crate) attempts: u32,
    pub(crate) idempotency_key: Option<String>,
    /// A change was sent, and no answer says what became of it.
    pub(crate) ambiguous: bool,
    /// The whole-call timeout, when it is what ended the call.
    pub(crate) out_of_time: Option<Duration>,
    /// The client's retry budget is what ended it.
    pub(crate) out_of_budget: bool,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum Cause {
    #[error("configuration: {0}")]
    Config(String),
    #[error("not sent: {0}")]
    InvalidInput(String),
    #[cfg(feature = "schema")]
    #[error("not run: {0}")]
    NotRun(String),
    #[error("the function of the capability {0} failed")]
    Execution(String, #[source] BoxError),
    #[error("{}", api_line(.0))]
    Api(Box<ApiError>),
    #[error("the service redirected to {0}; redirects are not followed")]
    Redirect(String),
    #[error("the connection could not be made")]
    Connect(#[source] BoxError),
    #[error("the connection failed before the whole answer came")]
    Connection(#[source] BoxError),
    #[error("no answer within {0:?}")]
    AttemptTimeout(Duration),
    #[error("the transport waited no longer for an answer")]
    TransportTimeout(#[source] BoxError),
    #[error("the call's time was over")]
    CallTimeout,
    #[error("what was waited for did not come within {0:?}; the work goes on")]
    WaitTimeout(Duration, Option<Box<Mandate>>),
    #[error("the answer does not fit: {0}")]
    Decode(String, #[source] Option<BoxError>),
    #[error("the answer is larger than {0} bytes")]
    ResponseTooLarge(usize),
    #[error("an event is larger than {0} bytes")]
    EventTooLarge(usize),
    #[error("the service ended the stream")]
    StreamEnd,
    #[error("nothing came for {0:?}")]
    StreamIdle(Duration),
    #[error(
        "the event to resume after is older than what the service keeps; list the events to read what was missed, \
         and stream without resuming: {}",
        api_line(.0)
    )]
    CursorTooOld(Box<ApiError>),
    #[error("the position of the stream could not be {0}")]
    Checkpoint(&'static str, #[source] BoxError),
    #[error("{}, and the list of the events so far stays empty", happened(.0.as_ref()))]
    HistoryMissing(Option<EventId>),
    #[error("{0}")]
    NotReady(String),
    #[error("the list gave the same cursor twice")]
    RepeatedCursor,
}

/// What says that the history can't be empty.
fn happened(event: Option<&EventId>) -> String {
    match event {
        Some(id) => format!("the stream brought the event {}", one_line(id.as_str())),
        None => "the mandate has ended".to_owned(),
    }
}

fn api_line(error: &ApiError) -> String {
    let code = error.code.as_ref().map(|code| format!("{}: ", one_line(code.as_str()))).unwrap_or_default();
    let param = error.param.as_ref().map(|param| format!(" (param {})", one_line(param))).unwrap_or_default();
    let message = if error.message.is_empty() { "no message".to_owned() } else { one_line(&error.message) };
    format!("{code}{message}{param}")
}

/// How much of a text from outside is shown.
pub(crate) const SHOWN_BYTES: usize = 512;

/// The start of a text from outside, fit to be shown in one line.
pub(crate) fn one_line(text: &str) -> String {
    let mut line = String::new();
    for word in text.split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        for character in word.chars().filter(|character| !character.is_control()) {
            if line.len() + character.len_utf8() > SHOWN_BYTES {
                line.push('…');
                return line;
            }
            line.push(character);
        }
    }
    line
}

impl Error {
    /// The sort of error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match &self.0.cause {
            Cause::Config(_) => ErrorKind::Config,
            Cause::InvalidInput(_) => ErrorKind::InvalidInput,
            #[cfg(feature = "schema")]
            Cause::NotRun(_) => ErrorKind::InvalidInput,
            Cause::Execution(..) => ErrorKind::Execution,
            Cause::Api(_) => self.0.call.status.map_or(ErrorKind::UnexpectedStatus, kind_of_status),
            Cause::Redirect(_) => ErrorKind::Redirect,
            Cause::Connect(_) | Cause::Connection(_) | Cause::StreamEnd => ErrorKind::Connection,
            Cause::AttemptTimeout(_)
            | Cause::TransportTimeout(_)
            | Cause::CallTimeout
            | Cause::StreamIdle(_) => ErrorKind::Timeout,
            Cause::WaitTimeout(..) => ErrorKind::WaitTimeout,
            Cause::Decode(..) => ErrorKind::Decode,
            Cause::ResponseTooLarge(_) | Cause::EventTooLarge(_) => ErrorKind::ResponseTooLarge,
            Cause::CursorTooOld(_) => ErrorKind::CursorTooOld,
            Cause::Checkpoint(..) => ErrorKind::Checkpoint,
            Cause::HistoryMissing(_) => ErrorKind::HistoryMissing,
            Cause::NotReady(_) => ErrorKind::NotReady,
            Cause::RepeatedCursor => ErrorKind::Pagination,
        }
    }

    /// Whether time ran out: of a wait, of an attempt, or of the whole call.
    #[must_use]
    pub fn is_timeout(&self) -> bool {
        matches!(self.kind(), ErrorKind::Timeout | ErrorKind::WaitTimeout)
            || self.0.call.out_of_time.is_some()
    }

    /// Whether a wait ran out. The mandate goes on; [`Error::last_mandate`] is what was last seen of it.
    #[must_use]
    pub fn is_wait_timeout(&self) -> bool {
        self.kind() == ErrorKind::WaitTimeout
    }

    /// Whether the request contradicts the present state (409).
    #[must_use]
    pub fn is_conflict(&self) -> bool {
        self.kind() == ErrorKind::Conflict
    }

    /// Whether there is no such thing (404).
    #[must_use]
    pub fn is_not_found(&self) -> bool {
        self.kind() == ErrorKind::NotFound
    }

    /// Whether the same call may well succeed later. With [`Error::idempotency_key`] set on it, repeating a
    /// change is safe.
    #[must_use]
    pub fn is_retryable(&self) -> bool {
        let trouble = self.status().is_none_or(is_retried_status);
        match self.kind() {
            ErrorKind::Connection
            | ErrorKind::Timeout
            | ErrorKind::WaitTimeout
            | ErrorKind::RateLimit
            | ErrorKind::HistoryMissing => true,
            ErrorKind::Server => trouble,
            ErrorKind::Conflict => self.code() == Some(&ErrorCode::IdempotencyInProgress),
            _ => false,
        }
    }

    /// Whether the service may have acted although the call failed: a change was sent, and no answer says
    /// what became of it.
    #[must_use]
    pub fn is_ambiguous(&self) -> bool {
        self.0.call.ambiguous
    }

    /// The HTTP status, if an answer came.
    #[must_use]
    pub fn status(&self) -> Option<StatusCode> {
        self.0.call.status
    }

    /// The service's code for the refusal.
    #[must_use]
    pub fn code(&self) -> Option<&ErrorCode> {
        self.api().and_then(|api| api.code.as_ref())
    }

    /// The id under which the service knows the request; name it when you ask for help.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.0.call.request_id.as_deref()
    }

    /// How long the service asked to wait before the next try.
    #[must_use]
    pub fn retry_after(&self) -> Option<Duration> {
        self.0.call.retry_after
    }

    /// How many requests were sent.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        self.0.call.attempts
    }

    /// The idempotency key of the call that failed. Set it on the next call to repeat the same change.
    #[must_use]
    pub fn idempotency_key(&self) -> Option<&str> {
        self.0.call.idempotency_key.as_deref()
    }

    /// What was last seen of the mandate, after a wait that ran out.
    #[must_use]
    pub fn last_mandate(&self) -> Option<&Mandate> {
        match &self.0.cause {
            Cause::WaitTimeout(_, mandate) => mandate.as_deref(),
            _ => None,
        }
    }

    /// What the service said of the request it refused.
    #[must_use]
    pub fn api(&self) -> Option<&ApiError> {
        match &self.0.cause {
            Cause::Api(api) | Cause::CursorTooOld(api) => Some(api),
            _ => None,
        }
    }

    /// Whether it says nothing of what was asked for: the next try may go well. Streams and waits alike go on after it,
    /// also where no call is tried again ([`Error::is_retryable`]): what lasts outlives a 501 of a proxy's, and a 425.
    pub(crate) fn passes(&self) -> bool {
        let too_early = self.status() == Some(StatusCode::TOO_EARLY);
        too_early
            || matches!(
                self.kind(),
                ErrorKind::Connection | ErrorKind::Timeout | ErrorKind::RateLimit | ErrorKind::Server
            )
    }

    pub(crate) fn new(cause: Cause, call: CallFacts) -> Self {
        Self(Box::new(Inner { cause, call }))
    }

    /// What a refusal (410) means when it was asked to resume.
    pub(crate) fn cursor_too_old(mut self) -> Self {
        if let Cause::Api(api) = self.0.cause {
            self.0.cause = Cause::CursorTooOld(api);
        }
        self
    }

    pub(crate) fn config(message: impl Into<String>) -> Self {
        Self::new(Cause::Config(message.into()), CallFacts::default())
    }

    pub(crate) fn invalid_input(message: impl Into<String>) -> Self {
        Self::new(Cause::InvalidInput(message.into()), CallFacts::default())
    }

    #[cfg(feature = "schema")]
    pub(crate) fn not_run(message: impl Into<String>) -> Self {
        Self::new(Cause::NotRun(message.into()), CallFacts::default())
    }

    pub(crate) fn execution(capability: &str, source: BoxError) -> Self {
        Self::new(Cause::Execution(capability.to_owned(), source), CallFacts::default())
    }

    pub(crate) fn not_ready(why: &str) -> Self {
        Self::new(Cause::NotReady(one_line(why)), CallFacts::default())
    }

    pub(crate) fn wait_timeout(limit: Duration, last: Option<Mandate>) -> Self {
        Self::new(Cause::WaitTimeout(limit, last.map(Box::new)), CallFacts::default())
    }
}

fn kind_of_status(status: StatusCode) -> ErrorKind {
    match status.as_u16() {
        400 | 422 => ErrorKind::InvalidRequest,
        401 => ErrorKind::Authentication,
        403 => ErrorKind::Permission,
        404 => ErrorKind::NotFound,
        408 => ErrorKind::Timeout,
        409 => ErrorKind::Conflict,
        429 => ErrorKind::RateLimit,
        500..=599 => ErrorKind::Server,
        _ => ErrorKind::UnexpectedStatus,
    }
}

/// The statuses that are tried again (assumed).
pub(crate) fn is_retried_status(status: StatusCode) -> bool {
    matches!(status.as_u16(), 408 | 429 | 500 | 502 | 503 | 504)
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let call = &self.0.call;
        if let Some(status) = call.status {
            write!(f, "{} ", status.as_u16())?;
        }
        write!(f, "{}", self.0.cause)?;
        if let Some(limit) = call.out_of_time {
            write!(f, "; the whole call's timeout of {limit:?} leaves no time for another attempt")?;
        }
        if call.out_of_budget {
            f.write_str("; not tried again, the client's retry budget is used up")?;
        }
        if let Some(id) = &call.request_id {
            write!(f, " [request {id}]")?;
        }
        if call.attempts > 1 {
            write!(f, " [{} attempts]", call.attempts)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Error")
            .field("kind", &self.kind())
            .field("cause", &self.0.cause)
            .field("call", &self.0.call)
            .finish()
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.cause.source()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_from_outside_is_shown_in_one_short_line() {
        let page = format!("<html>\r\n\t<body>\u{1}\u{1b}{}", "ö".repeat(2_000));
        let shown = one_line(&page);
        assert!(shown.starts_with("<html> <body>ööö") && shown.ends_with('…'), "{shown}");
        assert!(shown.len() <= SHOWN_BYTES + '…'.len_utf8());
        assert_eq!(one_line(" \n"), "");
        assert_eq!(one_line("a  b"), "a b");
    }
}
