//! The server's own controls over HTTP, for programs in other languages: what [`LocalServer`](super::LocalServer) has
//! methods for. They are no part of the service's contract.

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use http::StatusCode;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::answer::{Refusal, Reply, Result};
use super::deliveries::{DeliveryOutcome, DeliveryRecord, DeliveryState, RedeliverError};
use super::entry::Entry;
use super::faults::Fault;
use super::requests::RequestRecord;
use super::router::has_key;
use super::scenario::{self, Scenario, Time};
use crate::error::Error;

/// Where they are.
pub(super) const CONTROLS: &str = "/_local/*";

/// The controls, which are for whoever has the key, even once that is revoked.
pub(crate) fn router(entry: Entry) -> Router {
    Router::new()
        .route("/_local/state", get(state))
        .route("/_local/clock", get(clock))
        .route("/_local/clock/advance", post(advance))
        .route("/_local/clock/skip", post(skip))
        .route("/_local/scenario", post(load))
        .route("/_local/faults", post(fault).delete(clear_faults))
        .route("/_local/key/revoke", post(revoke))
        .route("/_local/key/restore", post(restore))
        .route("/_local/requests", get(requests))
        .route("/_local/deliveries", get(deliveries))
        .route("/_local/deliveries/{id}/redeliver", post(redeliver))
        .route("/_local/reset", post(reset))
        .layer(middleware::from_fn(gate))
        .with_state(entry)
}

async fn gate(request: Request, next: Next) -> Response {
    match has_key(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    }
}

async fn state(State(entry): State<Entry>) -> Result<Reply> {
    let shared = &entry.shared;
    let (counts, next) = shared.with(|workspace, _| (workspace.counts(), workspace.next_due()));
    Reply::ok(&json!({
        "now": shared.now(),
        "nextDue": next.map(|moment| shared.clock.epoch.timestamp(moment)),
        "counts": counts,
    }))
}

async fn clock(State(entry): State<Entry>) -> Result<Reply> {
    now(&entry)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Advance {
    by: Time,
}

async fn advance(State(entry): State<Entry>, body: Bytes) -> Result<Reply> {
    let Advance { by } = decode(&body)?;
    entry.shared.advance(by.0).await;
    now(&entry)
}

async fn skip(State(entry): State<Entry>) -> Result<Reply> {
    entry.shared.skip_to_next().await;
    now(&entry)
}

fn now(entry: &Entry) -> Result<Reply> {
    Reply::ok(&json!({"now": entry.shared.now()}))
}

async fn load(State(entry): State<Entry>, body: Bytes) -> Result<Reply> {
    let scenario: Scenario = decode(&body)?;
    let refuse = |error: Error| Refusal::invalid(format!("the scenario is refused: {error}"));
    let loaded = scenario::load(&entry, scenario).await.map_err(refuse)?;
    Reply::ok(&json!({"mandates": loaded.mandates, "endpoints": loaded.endpoints}))
}

async fn fault(State(entry): State<Entry>, body: Bytes) -> Result<Reply> {
    let fault: Fault = decode(&body)?;
    entry.shared.faults().add(fault);
    Ok(Reply::no_content())
}

async fn clear_faults(State(entry): State<Entry>) -> Reply {
    entry.shared.faults().clear();
    Reply::no_content()
}

async fn revoke(State(entry): State<Entry>) -> Reply {
    entry.shared.revoke_key();
    Reply::no_content()
}

async fn restore(State(entry): State<Entry>) -> Reply {
    entry.shared.restore_key();
    Reply::no_content()
}

async fn requests(State(entry): State<Entry>) -> Result<Reply> {
    let requests = entry.shared.journal().all();
    Reply::ok(&json!({"data": requests.iter().map(request).collect::<Vec<_>>()}))
}

fn request(request: &RequestRecord) -> Value {
    json!({
        "method": request.method.as_str(),
        "route": request.route,
        "path": request.path,
        "query": request.query,
        "idempotencyKey": request.idempotency_key,
        "lastEventId": request.last_event_id,
        "userAgent": request.user_agent,
        "body": request.body.as_ref().and_then(|body| body.to_value().ok()),
        "status": request.status.map(|status| status.as_u16()),
        "faulty": request.fault.is_some(),
        "at": request.at,
    })
}

async fn deliveries(State(entry): State<Entry>) -> Result<Reply> {
    let log = entry.shared.with(|workspace, _| workspace.delivery_log());
    Reply::ok(&json!({"data": log.iter().map(delivery).collect::<Vec<_>>()}))
}

fn delivery(delivery: &DeliveryRecord) -> Value {
    let attempts = delivery.attempts.iter().map(|attempt| {
        let (status, error) = match &attempt.outcome {
            DeliveryOutcome::Answered(status) => (Some(status.as_u16()), None),
            DeliveryOutcome::Unanswered(why) => (None, Some(why)),
        };
        json!({"at": attempt.at, "status": status, "error": error})
    });
    json!({
        "id": delivery.id,
        "endpoint": delivery.endpoint,
        "event": delivery.event,
        "eventType": delivery.event_type,
        "state": match delivery.state {
            DeliveryState::Pending => "pending",
            DeliveryState::Delivered => "delivered",
            DeliveryState::Failed => "failed",
        },
        "attempts": attempts.collect::<Vec<_>>(),
        "nextAttemptAt": delivery.next_attempt_at,
    })
}

async fn redeliver(State(entry): State<Entry>, Path(id): Path<String>) -> Result<Reply> {
    match entry.shared.with(|workspace, now| workspace.redeliver(&id, now)) {
        Ok(()) => Ok(Reply::no_content()),
        Err(RedeliverError::UnknownDelivery) => Err(Refusal::not_found("delivery", &id)),
        Err(error) => Err(Refusal::new(StatusCode::CONFLICT, error.to_string())),
    }
}

async fn reset(State(entry): State<Entry>) -> Reply {
    entry.shared.reset();
    Reply::no_content()
}

fn decode<T: DeserializeOwned>(body: &[u8]) -> Result<T> {
    serde_json::from_slice(body).map_err(|error| Refusal::bad_request(error.to_string()))
}
