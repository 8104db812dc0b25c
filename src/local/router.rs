//! From HTTP to the handlers and back: the key, the body, and what every answer carries.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::Router;
use axum::extract::{FromRequestParts as _, Query, RawPathParams, Request, State};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{MethodFilter, MethodRouter, get, on};
use bytes::Bytes;
use http::header::{AUTHORIZATION, CONTENT_TYPE};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, StatusCode};
use http_body_util::BodyExt as _;

use super::API_KEY;
use super::answer::{Refusal, Reply, Result};
use super::control::CONTROLS;
use super::handlers::{Handler, agents, approvals, capabilities, endpoints, mandates, record};
use super::idempotency::{self, Fingerprint};
use super::incoming::{self, Incoming, JsonBody};
use super::shared::Shared;
use super::stream;
use super::traffic::Kind;
use super::workspace::{FILE, new_id};
use crate::model::routes;
use crate::transport::{REQUEST_ID, is_change};

/// The largest body accepted (assumed).
pub(super) const LARGEST_BODY: usize = 1024 * 1024;

pub(crate) fn router(shared: Arc<Shared>) -> Router {
    let api = ROUTES
        .into_iter()
        .fold(Router::new(), |router, (method, path, handler)| router.route(path, call(method, handler)));
    api.route(routes::EVENT_STREAM, get(stream::workspace))
        .route(routes::MANDATE_EVENT_STREAM, get(stream::mandate))
        .fallback(unknown_path)
        .method_not_allowed_fallback(wrong_method)
        .layer(middleware::from_fn_with_state(Arc::clone(&shared), gate))
        // Whoever has the link needs no key.
        .route(FILE, get(file))
        .with_state(shared)
}

/// The template of the contract's route that a path belongs to; empty for any other path.
pub(super) fn template(path: &str) -> &'static str {
    let all = ROUTES.iter().map(|(_, template, _)| *template);
    let mut all = all.chain([routes::EVENT_STREAM, routes::MANDATE_EVENT_STREAM]);
    all.find(|template| fits(template, path)).unwrap_or_default()
}

/// Whether a path is one that a template describes: `{…}` stands for any one part of it, `*` at the end for all
/// that is left.
pub(super) fn fits(template: &str, path: &str) -> bool {
    let mut parts = path.split('/');
    for wanted in template.split('/') {
        match parts.next() {
            Some(_) if wanted == "*" => return true,
            Some(part) if part == wanted || (wanted.starts_with('{') && !part.is_empty()) => {}
            _ => return false,
        }
    }
    parts.next().is_none()
}

/// Whether a request to this path is a call of the service, rather than something beside it.
pub(super) fn is_call(path: &str) -> bool {
    !fits(FILE, path) && !fits(CONTROLS, path)
}

const GET: MethodFilter = MethodFilter::GET;
const POST: MethodFilter = MethodFilter::POST;
const PATCH: MethodFilter = MethodFilter::PATCH;
const DELETE: MethodFilter = MethodFilter::DELETE;

/// Every call of the contract that has one answer; the streams have a file of their own.
const ROUTES: [(MethodFilter, &str, Handler); 36] = [
    (GET, routes::AGENTS, agents::list),
    (POST, routes::AGENTS, agents::create),
    (GET, routes::AGENT, agents::get),
    (PATCH, routes::AGENT, agents::update),
    (GET, routes::MANDATES, mandates::list),
    (POST, routes::MANDATES, mandates::create),
    (GET, routes::MANDATE, mandates::get),
    (POST, routes::MANDATE_PAUSE, mandates::pause),
    (POST, routes::MANDATE_RESUME, mandates::resume),
    (POST, routes::MANDATE_CANCEL, mandates::cancel),
    (GET, routes::MANDATE_AMENDMENTS, record::amendments),
    (POST, routes::MANDATE_AMENDMENTS, mandates::amend),
    (GET, routes::MANDATE_EVENTS, record::mandate_events),
    (GET, routes::MANDATE_FACTS, record::facts),
    (GET, routes::MANDATE_EVIDENCE, record::evidence),
    (GET, routes::MANDATE_ISSUES, record::issues),
    (GET, routes::MANDATE_ASSERTIONS, record::assertions),
    (GET, routes::MANDATE_INFORMATION_NEEDS, record::information_needs),
    (GET, routes::MANDATE_COMMITMENTS, record::commitments),
    (GET, routes::MANDATE_ARTIFACTS, record::artifacts),
    (GET, routes::ARTIFACT_DOWNLOAD, record::download),
    (GET, routes::EVENTS, record::events),
    (GET, routes::APPROVALS, approvals::list),
    (GET, routes::APPROVAL, approvals::get),
    (POST, routes::APPROVAL_APPROVE, approvals::approve),
    (POST, routes::APPROVAL_REJECT, approvals::reject),
    (GET, routes::CAPABILITIES, capabilities::list),
    (POST, routes::CAPABILITIES, capabilities::register),
    (GET, routes::CAPABILITY, capabilities::get),
    (PATCH, routes::CAPABILITY, capabilities::update),
    (GET, routes::WEBHOOK_ENDPOINTS, endpoints::list),
    (POST, routes::WEBHOOK_ENDPOINTS, endpoints::create),
    (GET, routes::WEBHOOK_ENDPOINT, endpoints::get),
    (PATCH, routes::WEBHOOK_ENDPOINT, endpoints::update),
    (DELETE, routes::WEBHOOK_ENDPOINT, endpoints::delete),
    (POST, routes::WEBHOOK_ENDPOINT_ROTATE_SECRET, endpoints::rotate_secret),
];

fn call(method: MethodFilter, handler: Handler) -> MethodRouter<Arc<Shared>> {
    on(method, move |State(shared): State<Arc<Shared>>, request: Request| async move {
        match answer(&shared, handler, request).await {
            Ok(reply) => reply.into_response(),
            Err(refusal) => refusal.into_response(),
        }
    })
}

/// Lets in whoever has the key, and names every answer.
async fn gate(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    named(match authenticate(&shared, request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    })
}

/// The answer with an id of its own.
pub(super) fn named(mut response: Response) -> Response {
    if let Ok(id) = HeaderValue::try_from(new_id("req_", &mut fastrand::Rng::new())) {
        response.headers_mut().insert(REQUEST_ID[0].clone(), id);
    }
    response
}

fn authenticate(shared: &Shared, headers: &HeaderMap) -> Result<()> {
    has_key(headers)?;
    if shared.revoked.load(Ordering::Relaxed) {
        return Err(Refusal::new(StatusCode::UNAUTHORIZED, "the API key has been revoked"));
    }
    Ok(())
}

/// Whether a request comes with the one key there is.
pub(super) fn has_key(headers: &HeaderMap) -> Result<()> {
    let refuse = |why: &str| Err(Refusal::new(StatusCode::UNAUTHORIZED, why));
    let given = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok()?.split_once(' '));
    match given {
        Some((scheme, key)) if scheme.eq_ignore_ascii_case("bearer") && key.trim() == API_KEY => Ok(()),
        Some(_) => refuse("the API key is not known; a local server accepts only its own"),
        None => refuse("there is no API key; send it as `Authorization: Bearer <key>`"),
    }
}

async fn answer(shared: &Shared, handler: Handler, request: Request) -> Result<Reply> {
    let _counted = shared.traffic.count(Kind::Request);
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
        workspace.ledger.keep(key, &fingerprint, &reply);
        Ok(reply)
    })
}

/// What stands in the path; at most one thing in every route.
pub(super) async fn id(parts: &mut Parts) -> Result<String> {
    match RawPathParams::from_request_parts(parts, &()).await {
        Ok(params) => Ok(params.iter().next().map(|(_, id)| id.to_owned()).unwrap_or_default()),
        Err(rejection) => Err(Refusal::new(StatusCode::NOT_FOUND, rejection.body_text())),
    }
}

/// The whole body, as far as it was read when the request came in.
async fn read(body: axum::body::Body) -> Result<Bytes> {
    let text = body.collect().await.map_err(|_| Refusal::bad_request("the body broke off"))?.to_bytes();
    if text.len() > LARGEST_BODY {
        let message = format!("the body is larger than {LARGEST_BODY} bytes");
        return Err(Refusal::new(StatusCode::PAYLOAD_TOO_LARGE, message));
    }
    Ok(text)
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok()?.split(';').next());
    kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}

/// What a link to an artifact leads to.
async fn file(State(shared): State<Arc<Shared>>, request: Request) -> Result<Response> {
    let (mut parts, _) = request.into_parts();
    let id = id(&mut parts).await?;
    let query = Query::<Vec<(String, String)>>::try_from_uri(&parts.uri).map(|Query(query)| query);
    let signature = incoming::Query::from(query.unwrap_or_default()).one("signature")?.unwrap_or_default();
    let (artifact, content) = shared.with(|workspace, now| workspace.file(&id, &signature, now))?;
    let kind = artifact.content_type.and_then(|kind| HeaderValue::try_from(kind).ok());
    let kind = kind.unwrap_or(HeaderValue::from_static("application/octet-stream"));
    Ok(([(CONTENT_TYPE, kind)], content).into_response())
}

async fn unknown_path(request: Request) -> Refusal {
    Refusal::not_found("path", request.uri().path())
}

async fn wrong_method(request: Request) -> Refusal {
    let message = format!("{} does not apply to {}", request.method(), request.uri().path());
    Refusal::new(StatusCode::METHOD_NOT_ALLOWED, message)
}
