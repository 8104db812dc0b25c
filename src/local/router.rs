//! From HTTP to the handlers and back: the key, the body, and what every answer carries.

use std::sync::Arc;

use axum::Router;
use axum::extract::{FromRequestParts as _, Query, RawPathParams, Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, MethodRouter, on};
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderName};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode};
use http_body_util::BodyExt as _;

use super::API_KEY;
use super::answer::{Refusal, Reply, Result};
use super::handlers::{Handler, agents, mandates};
use super::idempotency::{self, Fingerprint};
use super::incoming::{Incoming, JsonBody};
use super::shared::Shared;
use super::workspace::new_id;
use crate::model::routes;
use crate::transport::{REQUEST_ID, is_change};

/// The largest body accepted (assumed).
const LARGEST_BODY: usize = 1024 * 1024;

pub(crate) fn router(shared: Arc<Shared>) -> Router {
    Router::new()
        .route(routes::AGENTS, call(MethodFilter::GET, agents::list))
        .route(routes::AGENTS, call(MethodFilter::POST, agents::create))
        .route(routes::AGENT, call(MethodFilter::GET, agents::get))
        .route(routes::AGENT, call(MethodFilter::PATCH, agents::update))
        .route(routes::MANDATES, call(MethodFilter::GET, mandates::list))
        .route(routes::MANDATES, call(MethodFilter::POST, mandates::create))
        .route(routes::MANDATE, call(MethodFilter::GET, mandates::get))
        .route(routes::MANDATE_PAUSE, call(MethodFilter::POST, mandates::pause))
        .route(routes::MANDATE_RESUME, call(MethodFilter::POST, mandates::resume))
        .route(routes::MANDATE_CANCEL, call(MethodFilter::POST, mandates::cancel))
        .fallback(unknown_path)
        .method_not_allowed_fallback(wrong_method)
        .layer(middleware::from_fn(gate))
        .with_state(shared)
}

fn call(method: MethodFilter, handler: Handler) -> MethodRouter<Arc<Shared>> {
    on(method, move |State(shared): State<Arc<Shared>>, request: Request| async move {
        match answer(&shared, handler, request).await {
            Ok(reply) => reply.into_response(),
            Err(refusal) => refusal.into_response(),
        }
    })
}

/// Lets in whoever has the key, and names every answer.
async fn gate(request: Request, next: Next) -> Response {
    let mut response = match authenticate(request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    if let Ok(id) = HeaderValue::try_from(new_id("req_", &mut fastrand::Rng::new())) {
        response.headers_mut().insert(HeaderName::from_static(REQUEST_ID[0]), id);
    }
    response
}

fn authenticate(headers: &HeaderMap) -> Result<()> {
    let refuse = |why: &str| Err(Refusal::new(StatusCode::UNAUTHORIZED, why));
    let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()?.split_once(' '));
    match given {
        Some((scheme, key)) if scheme.eq_ignore_ascii_case("bearer") && key.trim() == API_KEY => Ok(()),
        Some(_) => refuse("the API key is not known; a local server accepts only its own"),
        None => refuse("there is no API key; send it as `Authorization: Bearer <key>`"),
    }
}

async fn answer(shared: &Shared, handler: Handler, request: Request) -> Result<Reply> {
    let (mut parts, body) = request.into_parts();
    let id = id(&mut parts).await?;
    let query = match Query::try_from_uri(&parts.uri) {
        Ok(Query(query)) => query,
        Err(error) => return Err(Refusal::bad_request(error.body_text())),
    };
    if !is_change(&parts.method) {
        let body = JsonBody::parse(Bytes::new())?;
        return shared.with(|workspace, now| handler(workspace, Incoming { id, query, body }, now));
    }
    let key = idempotency::key(&parts.headers)?;
    let text = read(body).await?;
    if !text.is_empty() && !is_json(&parts.headers) {
        let message = "the body has to be JSON, with the content type application/json";
        return Err(Refusal::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, message));
    }
    // What is no JSON is no request yet: it leaves no trace under its key.
    let body = JsonBody::parse(text)?;
    let path = parts.uri.path_and_query().map(ToString::to_string).unwrap_or_default();
    let fingerprint = Fingerprint { method: parts.method, path, body: body.value.clone() };
    shared.with(|workspace, now| {
        if let Some(reply) = workspace.ledger.recall(&key, &fingerprint)? {
            return Ok(reply);
        }
        let answer = handler(workspace, Incoming { id, query, body }, now);
        let reply = answer.unwrap_or_else(Refusal::into_reply);
        workspace.ledger.keep(key, fingerprint, &reply);
        Ok(reply)
    })
}

/// What stands in the path; at most one thing in every route.
async fn id(parts: &mut Parts) -> Result<String> {
    match RawPathParams::from_request_parts(parts, &()).await {
        Ok(params) => Ok(params.iter().next().map(|(_, id)| id.to_owned()).unwrap_or_default()),
        Err(rejection) => Err(Refusal::new(StatusCode::NOT_FOUND, rejection.body_text())),
    }
}

/// The whole body. One that is too large is read to its end all the same, or its sender would find the
/// connection broken before the answer.
async fn read(mut body: axum::body::Body) -> Result<Bytes> {
    let mut text = Vec::new();
    let mut length = 0_usize;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Refusal::bad_request("the body broke off"))?;
        let Ok(data) = frame.into_data() else { continue };
        length = length.saturating_add(data.len());
        if length <= LARGEST_BODY {
            text.extend_from_slice(&data);
        }
    }
    if length > LARGEST_BODY {
        let message = format!("the body is larger than {LARGEST_BODY} bytes");
        return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, message));
    }
    Ok(text.into())
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()?.split(';').next());
    kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

async fn unknown_path(request: Request) -> Refusal {
    Refusal::not_found("path", request.uri().path())
}

async fn wrong_method(request: Request) -> Refusal {
    let message = format!("{} does not apply to {}", request.method(), request.uri().path());
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, message)
}
