//! One attempt of a delivery over HTTP: from what is due to what came of it.

use std::sync::OnceLock;
use std::time::Duration;

use bytes::Bytes;
use http::header::{CONTENT_TYPE, USER_AGENT};
use http::{HeaderValue, Request};
use jiff::Timestamp;
use tokio::time::timeout;

use super::deliveries::DeliveryOutcome;
use super::faults::Kind;
use super::shared::chain;
use super::workspace::Attempt;
use crate::clock;
use crate::error::{BoxError, one_line};
use crate::transport::{HttpError, HttpFuture, HttpService, ReqwestService};
use crate::webhooks::{SIGNATURE_HEADER, Signer};

/// How long an endpoint has for its answer (assumed).
const TIMEOUT: Duration = Duration::from_secs(10);

/// Makes one attempt, with what goes wrong with it. Of an answer only the status counts.
pub(crate) async fn send(
    service: &dyn HttpService,
    attempt: &Attempt,
    fault: Option<&Kind>,
) -> DeliveryOutcome {
    if fault == Some(&Kind::DuplicateDelivery) {
        // As if its answer had been lost.
        once(service, attempt, fault).await;
    }
    once(service, attempt, fault).await
}

async fn once(service: &dyn HttpService, attempt: &Attempt, fault: Option<&Kind>) -> DeliveryOutcome {
    // Whatever the server's clock says: the receiver compares it with its own.
    let request = match request(attempt, clock::timestamp(), fault) {
        Ok(request) => request,
        Err(error) => return unanswered(&*error),
    };
    match timeout(TIMEOUT, service.call(request)).await {
        Ok(Ok(response)) => DeliveryOutcome::Answered(response.status()),
        Ok(Err(error)) => unanswered(&*error.into_source()),
        Err(_) => DeliveryOutcome::Unanswered(format!("no answer within {TIMEOUT:?}")),
    }
}

/// What an attempt puts on the wire: the one place where a delivery becomes a request.
fn request(
    attempt: &Attempt,
    signed_at: Timestamp,
    fault: Option<&Kind>,
) -> Result<Request<Bytes>, BoxError> {
    let (newest, earlier) = &attempt.secrets;
    let signer = earlier.iter().try_fold(Signer::new(newest)?, Signer::also)?;
    let signed_at = match fault {
        Some(Kind::OldSignature(ago)) => {
            signed_at.checked_sub(*ago).unwrap_or_default().max(Timestamp::UNIX_EPOCH)
        }
        _ => signed_at,
    };
    // No event is empty, so a signature of nothing fits none.
    let signed_body: &[u8] = if fault == Some(&Kind::BadSignature) { &[] } else { &attempt.body };
    let signed = signer.sign_at(&attempt.id, signed_body, signed_at)?;
    let again = (fault == Some(&Kind::DoubledSignature)).then_some((SIGNATURE_HEADER, &signed.signature));
    let mut request = Request::post(&attempt.url)
        .header(CONTENT_TYPE, "application/json")
        .header(USER_AGENT, concat!("shadway-local/", env!("CARGO_PKG_VERSION")));
    for (name, value) in signed.pairs().into_iter().chain(again) {
        let mut value = HeaderValue::from_str(value)?;
        value.set_sensitive(true);
        request = request.header(name, value);
    }
    Ok(request.body(attempt.body.clone())?)
}

fn unanswered(error: &(dyn std::error::Error + 'static)) -> DeliveryOutcome {
    DeliveryOutcome::Unanswered(one_line(&chain(error)))
}

/// Sends over the network, with a client that is made for the first delivery: most servers have none.
#[derive(Debug, Default)]
pub(crate) struct Network(OnceLock<Result<ReqwestService, String>>);

impl HttpService for Network {
    fn call(&self, request: Request<Bytes>) -> HttpFuture<'_> {
        match self.0.get_or_init(|| ReqwestService::direct(TIMEOUT).map_err(|error| error.to_string())) {
            Ok(service) => service.call(request),
            Err(why) => Box::pin(async { Err(HttpError::connect(why.as_str())) }),
        }
    }
}
