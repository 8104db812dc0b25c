//! What a call does, told to `tracing`: methods, route templates, statuses, times; never an id, a query, a
//! header or a body. Nothing at all without the feature.

use std::time::Duration;

use super::outcome::Outcome;
use super::request::Request;

#[cfg(feature = "tracing")]
pub(super) fn attempt(request: &Request, number: u32, outcome: &Outcome, took: Duration) {
    let what = match outcome {
        Outcome::Answer(_) => "answer",
        Outcome::Refused(..) => "refusal",
        Outcome::Redirected(..) => "redirect",
        Outcome::NotSent(_) => "no connection",
        Outcome::Broken(_) => "broken connection",
        Outcome::AttemptTimeout(_) => "attempt timeout",
        Outcome::TransportTimeout(_) => "transport timeout",
        Outcome::CallTimeout => "call timeout",
        Outcome::TooLarge(_) => "answer too large",
    };
    let answer = outcome.answer();
    tracing::debug!(
        target: "shadway",
        method = %request.method,
        route = request.template,
        attempt = number,
        outcome = what,
        status = answer.map(|answer| answer.status.as_u16()),
        request_id = answer.and_then(|answer| answer.request_id()),
        took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        "attempt"
    );
}

#[cfg(feature = "tracing")]
pub(super) fn retry(request: &Request, attempts: u32, delay: Duration) {
    tracing::debug!(
        target: "shadway",
        method = %request.method,
        route = request.template,
        attempts,
        delay_ms = u64::try_from(delay.as_millis()).unwrap_or(u64::MAX),
        "trying again"
    );
}

#[cfg(feature = "tracing")]
pub(super) fn opened(request: &Request, number: u32, took: Duration) {
    tracing::debug!(
        target: "shadway",
        method = %request.method,
        route = request.template,
        attempt = number,
        outcome = "open",
        took_ms = u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        "attempt"
    );
}

#[cfg(not(feature = "tracing"))]
pub(super) fn opened(_: &Request, _: u32, _: Duration) {}

#[cfg(not(feature = "tracing"))]
pub(super) fn attempt(_: &Request, _: u32, _: &Outcome, _: Duration) {}

#[cfg(not(feature = "tracing"))]
pub(super) fn retry(_: &Request, _: u32, _: Duration) {}
