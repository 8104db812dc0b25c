//! Requests that last: opened here, read by who asked.

use std::pin::pin;

use futures_util::future::{Either, select};
use http::header::{ACCEPT, HeaderName, HeaderValue};

use super::outcome::{Outcome, redact};
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
        let mut wire = self.encode(request)?.attempt(self);
        wire.headers_mut().insert(ACCEPT, EVENT_STREAM);
        if let Some(id) = last_event_id {
            wire.headers_mut().insert(LAST_EVENT_ID, id);
        }
        wire.extensions_mut().insert(LongLived);
        let limit = self.limits.attempt_timeout;
        let span = trace::Span::new(request, wire.uri(), &*self.timer);
        let exchange = pin!(async {
            match self.service.call(wire).await {
                Ok(mut response) if response.status().is_success() => {
                    // Of these no caller gets any, and an error may tell of them.
                    redact(response.headers_mut().values_mut(), &self.api_key);
                    Ok(response)
                }
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

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use bytes::Bytes;
    use http::header::AUTHORIZATION;
    use http::{HeaderMap, Method};

    use super::*;
    use crate::clock::TokioTimer;
    use crate::config::{ApiKey, BaseUrl};
    use crate::transport::{HttpFuture, HttpService, Limits};

    /// Refuses all, and remembers the headers.
    #[derive(Debug, Clone, Default)]
    struct Refusing(Arc<Mutex<Vec<HeaderMap>>>);

    impl HttpService for Refusing {
        fn call(&self, request: http::Request<Bytes>) -> HttpFuture<'_> {
            self.0.lock().unwrap().push(request.into_parts().0.headers);
            Box::pin(async { Ok(http::Response::builder().status(204).body(Body::from("")).unwrap()) })
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_same_request_opened_again_has_the_key_and_the_headers_of_its_time() {
        let service = Refusing::default();
        let mut transport = Transport {
            service: Box::new(service.clone()),
            timer: Arc::new(TokioTimer),
            base_url: BaseUrl::parse("https://api.shadway.com", false).unwrap(),
            api_key: ApiKey::parse("sk_test_1").unwrap(),
            headers: HeaderMap::from_iter([(AUTHORIZATION, ApiKey::parse("sk_test_1").unwrap().header())]),
            limits: Limits {
                timeout: None,
                attempt_timeout: std::time::Duration::from_secs(30),
                max_retries: 0,
                max_response_bytes: 1,
                retry_budget: None,
            },
            budget: None,
        };
        let request = Request::raw(Method::GET, "/v1/events/stream").unwrap();
        let position = |id| Some(HeaderValue::from_static(id));
        transport.open(&request, position("evt_1"), 1).await.unwrap();
        transport.headers.insert(AUTHORIZATION, ApiKey::parse("sk_test_2").unwrap().header());
        transport.headers.insert("x-team", HeaderValue::from_static("a"));
        transport.open(&request, position("evt_2"), 2).await.unwrap();
        transport.headers.remove("x-team");
        transport.open(&request, None, 3).await.unwrap();

        let sent = service.0.lock().unwrap();
        let values = |name: &str| {
            let values = sent.iter().map(|headers| headers.get(name).map(|value| value.to_str().unwrap()));
            values.collect::<Vec<_>>()
        };
        let keys = ["Bearer sk_test_1", "Bearer sk_test_2", "Bearer sk_test_2"];
        assert_eq!(values("authorization"), keys.map(Some));
        assert_eq!(values("x-team"), [None, Some("a"), None]);
        assert_eq!(values("last-event-id"), [Some("evt_1"), Some("evt_2"), None]);
    }
}
