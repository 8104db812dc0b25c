//! Requests that last: opened here, read by who asked.

use std::pin::pin;

use futures_util::future::{Either, select};
use http::header::{ACCEPT, HeaderName, HeaderValue};

use super::outcome::Outcome;
use super::request::Request;
use super::seam::{Body, LongLived};
use super::{Transport, trace};
use crate::error::{CallFacts, Cause, Error, Result};

/// The header that says after which event to go on (documented).
const LAST_EVENT_ID: HeaderName = HeaderName::from_static("last-event-id");
const EVENT_STREAM: HeaderValue = HeaderValue::from_static("text/event-stream");
/// The refusal is read up to a limit of its own.
const NO_ANSWER_BYTES: usize = 0;

impl Transport {
    /// Sends a request once and gives a 2xx as soon as its headers are there; the body may go on for ever.
    ///
    /// The attempt timeout holds until then, and for the body of a refusal. `attempt` counts for the error.
    pub(crate) async fn open(
        &self,
        request: &Request,
        last_event_id: Option<HeaderValue>,
        attempt: u32,
    ) -> Result<http::Response<Body>> {
        // All headers are made anew: a stream outlives a key, if keys come to change.
        let mut wire = self.encode(request)?;
        wire.headers_mut().insert(ACCEPT, EVENT_STREAM);
        if let Some(id) = last_event_id {
            wire.headers_mut().insert(LAST_EVENT_ID, id);
        }
        wire.extensions_mut().insert(LongLived);
        let limit = self.limits.attempt_timeout;
        let span = trace::Span::new(request, wire.uri(), &*self.timer);
        let exchange = pin!(async {
            match self.service.call(wire).await {
                Ok(response) if response.status().is_success() => Ok(response),
                other => Err(Outcome::read(other, NO_ANSWER_BYTES, &self.api_key).await),
            }
        });
        let opened = match span.around(select(exchange, self.timer.sleep(limit))).await {
            Either::Left((opened, _)) => opened,
            Either::Right(_) => Err(Outcome::AttemptTimeout(limit)),
        };
        let result = opened.map_err(|outcome| {
            let mut call = CallFacts { attempts: attempt, ..CallFacts::default() };
            self.learn(&mut call, &outcome);
            Error::new(outcome.into_answer().err().unwrap_or(Cause::StreamEnd), call)
        });
        span.opened(&result, attempt, &*self.timer);
        result
    }
}
