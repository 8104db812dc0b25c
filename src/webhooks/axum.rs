//! A verified event as an argument of an axum handler.

use axum::body::Body;
use axum::extract::{FromRef, FromRequest, Request};
use axum::response::{IntoResponse, Response};
use http::StatusCode;
use http_body::Body as _;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use jiff::Timestamp;

use super::error::{EventError, VerifyError};
use super::verify::Verifier;
use crate::error::BoxError;
use crate::model::events::Event;

/// An event is some kilobytes; whatever is far larger is none.
pub(super) const MAX_BODY_BYTES: usize = 1024 * 1024;

impl Verifier {
    /// The largest body that [`VerifiedEvent`] reads; 1 MiB if nothing is said. A limit of the router's own
    /// holds too.
    #[must_use]
    pub const fn max_body_bytes(mut self, limit: usize) -> Self {
        self.max_body_bytes = limit;
        self
    }
}

/// An event that Shadway delivered: verified before the handler runs. Only the extractor makes one.
///
/// The [`Verifier`] is the router's state, or a part of it that implements `FromRef`. Answer 2xx quickly and
/// work afterwards, or the service delivers it again (documented).
///
/// Whoever sends what is refused is not told why. The reason goes to the log with the feature `tracing` alone;
/// without it, a handler that takes a `Result` of this and [`WebhookRejection`] is where it can be seen.
///
/// ```
/// use axum::http::StatusCode;
/// use axum::{Router, routing::post};
/// use shadway::webhooks::{VerifiedEvent, Verifier};
///
/// async fn receive(delivery: VerifiedEvent) -> StatusCode {
///     println!("{} {}", delivery.id, delivery.event.event_type); // tell repeats apart by the id
///     StatusCode::NO_CONTENT
/// }
///
/// # fn secret() -> String { "whsec_MfKQ9r8GKYqrTwjU".into() }
/// let verifier = Verifier::new(secret())?;
/// let router: Router = Router::new().route("/shadway/webhooks", post(receive)).with_state(verifier);
/// # let _ = router;
/// # Ok::<(), shadway::webhooks::SecretError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct VerifiedEvent {
    /// The delivery's id, the same on each retry: drop those you have seen (documented).
    pub id: String,
    /// When it was signed.
    pub timestamp: Timestamp,
    /// The event.
    pub event: Event,
}

impl<S: Send + Sync> FromRequest<S> for VerifiedEvent
where
    Verifier: FromRef<S>,
{
    type Rejection = WebhookRejection;

    async fn from_request(request: Request, state: &S) -> Result<Self, WebhookRejection> {
        receive(request, &Verifier::from_ref(state)).await.inspect_err(log)
    }
}

async fn receive(request: Request, verifier: &Verifier) -> Result<VerifiedEvent, WebhookRejection> {
    let (parts, body) = request.into_parts();
    verifier.check_headers(&parts.headers)?;
    let body = read(body, verifier.max_body_bytes).await?;
    let delivery = verifier.verify(&parts.headers, &body)?;
    Ok(VerifiedEvent {
        id: delivery.id().to_owned(),
        timestamp: delivery.timestamp(),
        event: delivery.event()?,
    })
}

async fn read(body: Body, limit: usize) -> Result<bytes::Bytes, WebhookRejection> {
    if body.size_hint().lower() > u64::try_from(limit).unwrap_or(u64::MAX) {
        return Err(WebhookRejection::TooLarge);
    }
    match Limited::new(body, limit).collect().await {
        Ok(body) => Ok(body.to_bytes()),
        Err(error) if is_limit(&*error) => Err(WebhookRejection::TooLarge),
        Err(error) => Err(WebhookRejection::Unreadable(error)),
    }
}

/// Ours, or that of a layer of the router's, which has it in another error.
fn is_limit(error: &(dyn std::error::Error + 'static)) -> bool {
    let mut layers = std::iter::successors(Some(error), |error| error.source());
    layers.any(|error| error.is::<LengthLimitError>())
}

/// Why [`VerifiedEvent`] is refused. The sender is told one fixed text, whatever the reason; with the feature
/// `tracing` it is logged.
///
/// Take a `Result<VerifiedEvent, WebhookRejection>` in a handler to see to it yourself.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WebhookRejection {
    /// The delivery is not Shadway's, or not from now: 400.
    #[error("not verified: {0}")]
    Unverified(#[from] VerifyError),
    /// The body is larger than the limit, and was not read to its end: 413.
    #[error("the body is larger than the limit; see Verifier::max_body_bytes")]
    TooLarge,
    /// The body could not be read to its end: 400.
    #[error("the body could not be read")]
    Unreadable(#[source] BoxError),
    /// The delivery is Shadway's, but this crate can't read the event: 400.
    #[error(transparent)]
    NotAnEvent(#[from] EventError),
}

impl WebhookRejection {
    /// The status it is answered with.
    #[must_use]
    pub const fn status(&self) -> StatusCode {
        match self {
            Self::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Self::Unverified(_) | Self::Unreadable(_) | Self::NotAnEvent(_) => StatusCode::BAD_REQUEST,
        }
    }
}

impl IntoResponse for WebhookRejection {
    fn into_response(self) -> Response {
        (self.status(), "webhook refused\n").into_response()
    }
}

/// What is logged holds nothing that the sender chose.
#[cfg(feature = "tracing")]
fn log(rejection: &WebhookRejection) {
    let status = rejection.status().as_u16();
    tracing::warn!(target: "shadway", status, reason = %rejection, "webhook refused");
}

#[cfg(not(feature = "tracing"))]
fn log(_: &WebhookRejection) {}
