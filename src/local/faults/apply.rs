//! A fault as it happens to one request.

use std::sync::Arc;
use std::time::Duration;

use axum::response::{IntoResponse as _, Response};
use http::header::{CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use tokio::time::timeout;

use super::Fault;
use super::plan::{Kind, Plan};
use super::{blocks, body};
use crate::local::answer::Refusal;
use crate::local::entry::Closed;
use crate::local::router::named;
use crate::local::shared::Shared;
use crate::local::stream::too_old;

const PAGE: &str = "<html>\n<head><title>502 Bad Gateway</title></head>\n\
    <body><center><h1>502 Bad Gateway</h1></center></body>\n</html>\n";

/// The answer that goes out instead of the one that `handled` makes once it is awaited, or the end of the
/// connection.
pub(crate) async fn apply(
    fault: &Fault,
    shared: &Arc<Shared>,
    handled: impl Future<Output = Response>,
) -> Result<Response, Closed> {
    let plan = &fault.0;
    match &plan.kind {
        Kind::Delay(time) if plan.after_commit => {
            let response = handled.await;
            pause(shared, *time).await?;
            Ok(response)
        }
        Kind::Delay(time) => {
            pause(shared, *time).await?;
            Ok(handled.await)
        }
        Kind::Status(_) | Kind::BadGateway | Kind::CursorTooOld | Kind::Hang | Kind::Close => {
            if plan.after_commit {
                drop(handled.await);
            }
            instead(plan, shared).await
        }
        kind => altered(kind, shared, handled.await).await,
    }
}

/// What takes the answer's place.
async fn instead(plan: &Plan, shared: &Shared) -> Result<Response, Closed> {
    let mut response = match &plan.kind {
        Kind::Status(status) => named(refusal(*status, plan)),
        Kind::CursorTooOld => named(too_old().into_response()),
        // A proxy in between doesn't know what the service calls the request.
        Kind::BadGateway => (StatusCode::BAD_GATEWAY, [(CONTENT_TYPE, "text/html")], PAGE).into_response(),
        Kind::Hang => {
            shared.until_stopped().await;
            return Err(Closed);
        }
        _ => return Err(Closed),
    };
    if let Some(time) = plan.retry_after {
        let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
        response.headers_mut().insert(RETRY_AFTER, HeaderValue::from(seconds));
    }
    Ok(response)
}

fn refusal(status: u16, plan: &Plan) -> Response {
    let status = StatusCode::from_u16(status).ok().filter(|status| !status.is_informational());
    let status = status.unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    if matches!(status, StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) {
        return status.into_response();
    }
    let refusal = Refusal::new(status, "this was asked for: a fault of the local server");
    match &plan.code {
        Some(code) => refusal.code(code.clone()).into_response(),
        None => refusal.into_response(),
    }
}

/// The answer, and what becomes of it on its way.
async fn altered(kind: &Kind, shared: &Arc<Shared>, response: Response) -> Result<Response, Closed> {
    let streams =
        response.headers().get(CONTENT_TYPE).is_some_and(|kind| kind.as_bytes() == b"text/event-stream");
    match (kind, kind.edit()) {
        (Kind::Truncate, _) => body::truncated(response).await,
        (Kind::BadJson, _) => body::rewritten(response, |text| text[..text.len() / 2].to_vec()).await,
        (Kind::Split, _) => Ok(body::split(response, Duration::ZERO, Arc::clone(shared))),
        (Kind::Drip(pause), _) => Ok(body::split(response, *pause, Arc::clone(shared))),
        (_, Some(edit)) if !streams => body::rewritten(response, |text| edit.apply(text)).await,
        _ if streams => Ok(response.map(|body| blocks::tampered(body, kind.clone(), Arc::clone(shared)))),
        _ => Ok(response),
    }
}

/// Waits, unless the server stops.
pub(super) async fn pause(shared: &Shared, time: Duration) -> Result<(), Closed> {
    match timeout(time, shared.until_stopped()).await {
        Ok(()) => Err(Closed),
        Err(_) => Ok(()),
    }
}
