//! The seam between the crate and the wire.

use std::fmt;
use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt as _;

use crate::error::BoxError;

/// What [`HttpService::call`] gives.
pub type HttpFuture<'a> = Pin<Box<dyn Future<Output = Result<http::Response<Body>, HttpError>> + Send + 'a>>;

/// Sends one request and gives its answer, as soon as the headers are there.
///
/// An implementation
///
/// - sends the request once: no retry, no redirect, no change to its headers;
/// - gives every answer as `Ok`, whatever its status;
/// - says [`HttpError::connect`] only when the request was certainly never sent, since then even a change
///   without an idempotency key is tried again;
/// - stops at once when the future or the body is dropped;
/// - needs no timeout of its own: the caller drops what takes too long.
///
/// ```
/// use bytes::Bytes;
/// use shadway::transport::{Body, HttpFuture, HttpService};
///
/// /// Answers everything with one mandate.
/// #[derive(Debug)]
/// struct Canned;
///
/// impl HttpService for Canned {
///     fn call(&self, _: http::Request<Bytes>) -> HttpFuture<'_> {
///         let body = r#"{"id":"mnd_1","agent":"agt_1","objective":"Say hello.","status":"running"}"#;
///         Box::pin(async move { Ok(http::Response::new(Body::from(body))) })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> shadway::Result<()> {
/// let client = shadway::Client::builder().api_key("sk_test_1").http_service(Canned).build()?;
/// assert_eq!(client.mandates().get("mnd_1").await?.objective, "Say hello.");
/// # Ok(())
/// # }
/// ```
pub trait HttpService: fmt::Debug + Send + Sync + 'static {
    /// Sends one request.
    fn call(&self, request: http::Request<Bytes>) -> HttpFuture<'_>;
}

/// Marks a request whose answer goes on for as long as the caller listens, such as an event stream: it is among
/// the request's extensions.
///
/// A transport that allows so many requests at a time has to let these pass, or they keep out all others.
///
/// ```
/// use shadway::transport::LongLived;
///
/// fn counts(request: &http::Request<bytes::Bytes>) -> bool {
///     request.extensions().get::<LongLived>().is_none()
/// }
/// # assert!(counts(&http::Request::default()));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct LongLived;

/// The body of an answer, as it arrives.
pub struct Body(Pin<Box<dyn http_body::Body<Data = Bytes, Error = BoxError> + Send>>);

impl Body {
    /// Any body whose data is [`Bytes`].
    pub fn new<B>(body: B) -> Self
    where
        B: http_body::Body<Data = Bytes> + Send + 'static,
        B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
    {
        Self(Box::pin(body.map_err(Into::into)))
    }
}

impl<T: Into<Bytes>> From<T> for Body {
    fn from(whole: T) -> Self {
        Self::new(http_body_util::Full::new(whole.into()))
    }
}

impl http_body::Body for Body {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        self.0.as_mut().poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}

impl fmt::Debug for Body {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Body").finish_non_exhaustive()
    }
}

/// Why a request got no answer.
#[derive(Debug, thiserror::Error)]
#[error("{source}")]
pub struct HttpError {
    pub(crate) kind: HttpErrorKind,
    source: BoxError,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum HttpErrorKind {
    Connect,
    Timeout,
    Other,
    /// The adapter followed a redirect, to the URL named.
    #[cfg_attr(not(feature = "client"), expect(dead_code, reason = "only the adapter finds out"))]
    Redirected(String),
}

impl HttpError {
    /// The request was certainly never sent: no connection.
    pub fn connect(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { kind: HttpErrorKind::Connect, source: source.into() }
    }

    /// No answer in time; the request may have been sent.
    pub fn timeout(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { kind: HttpErrorKind::Timeout, source: source.into() }
    }

    /// Anything else; the request may have been sent.
    pub fn other(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        Self { kind: HttpErrorKind::Other, source: source.into() }
    }

    #[cfg(feature = "client")]
    pub(crate) fn redirected(location: String) -> Self {
        let source = format!("the HTTP client followed a redirect to {location}").into();
        Self { kind: HttpErrorKind::Redirected(location), source }
    }

    pub(crate) fn into_source(self) -> BoxError {
        self.source
    }
}
