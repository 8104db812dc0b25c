//! What the server answers: a resource, or a refusal in the envelope that every error has.

use std::fmt;

use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{HeaderValue, StatusCode};
use serde::Serialize;

use crate::model::errors::{ApiError, ErrorBody, ErrorCode};

pub(crate) type Result<T, E = Refusal> = std::result::Result<T, E>;

/// A whole answer, fit to be given again.
#[derive(Clone)]
pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) body: Bytes,
}

impl Reply {
    pub(crate) fn ok(body: &impl Serialize) -> Result<Self> {
        Self::json(StatusCode::OK, body)
    }

    pub(crate) fn created(body: &impl Serialize) -> Result<Self> {
        Self::json(StatusCode::CREATED, body)
    }

    /// Done, and nothing to say.
    pub(crate) fn no_content() -> Self {
        Self { status: StatusCode::NO_CONTENT, body: Bytes::new() }
    }

    fn json(status: StatusCode, body: &impl Serialize) -> Result<Self> {
        match serde_json::to_vec(body) {
            Ok(body) => Ok(Self { status, body: body.into() }),
            Err(error) => Err(Refusal::new(StatusCode::INTERNAL_SERVER_ERROR, error.to_string())),
        }
    }
}

/// Without the body, which may hold the secret of an endpoint.
impl fmt::Debug for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reply").field("status", &self.status).finish_non_exhaustive()
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        if self.status == StatusCode::NO_CONTENT {
            return self.status.into_response();
        }
        let json = HeaderValue::from_static("application/json");
        (self.status, [(CONTENT_TYPE, json)], self.body).into_response()
    }
}

/// Why a request is refused. Boxed, since it travels in every result.
#[derive(Debug)]
pub(crate) struct Refusal(Box<(StatusCode, ApiError)>);

impl Refusal {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        // Where the contract has no code for it, the family says enough.
        let error = ApiError {
            error_type: Some(error_type(status).to_owned()),
            code: Some(ErrorCode::from(error_type(status))),
            message: message.into(),
            ..ApiError::default()
        };
        Self(Box::new((status, error)))
    }

    /// 400: the request can't be read.
    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// 422: the request reads well and asks for something that is not allowed.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, message)
    }

    /// 403: nobody may do this.
    pub(crate) fn forbidden(message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, message)
    }

    /// 404: the thing is unknown.
    pub(crate) fn not_found(what: &str, id: &str) -> Self {
        Self::new(StatusCode::NOT_FOUND, format!("there is no {what} {id:?}"))
    }

    /// 409: the request contradicts the present state.
    pub(crate) fn conflict(code: ErrorCode, message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, message).code(code)
    }

    /// The same refusal, said in other words.
    pub(crate) fn message(mut self, message: impl Into<String>) -> Self {
        self.0.1.message = message.into();
        self
    }

    pub(crate) fn code(mut self, code: ErrorCode) -> Self {
        self.0.1.code = Some(code);
        self
    }

    pub(crate) fn param(mut self, param: impl Into<String>) -> Self {
        self.0.1.param = Some(param.into());
        self
    }

    /// The parameter that is refused, where it is known.
    pub(crate) fn named(&self) -> Option<&str> {
        self.0.1.param.as_deref()
    }

    pub(crate) fn into_reply(self) -> Reply {
        let (status, error) = *self.0;
        // An envelope of texts always serializes.
        let body = serde_json::to_vec(&ErrorBody { error }).unwrap_or_default();
        Reply { status, body: body.into() }
    }

    #[cfg(test)]
    pub(crate) fn error(&self) -> (u16, &ApiError) {
        (self.0.0.as_u16(), &self.0.1)
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        self.into_reply().into_response()
    }
}

/// The family of an error; the names are assumed.
fn error_type(status: StatusCode) -> &'static str {
    match status.as_u16() {
        401 => "authentication",
        403 => "permission",
        404 => "not_found",
        409 => "conflict",
        410 => "gone",
        429 => "rate_limit",
        500..=599 => "server",
        _ => "invalid_request",
    }
}
