//! Changes that come again under the same key: the first answer is given again (documented).

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};

use http::{HeaderMap, Method};
use serde_json::Value;

use super::answer::{Refusal, Reply, Result};
use crate::model::errors::ErrorCode;
use crate::transport::IDEMPOTENCY_KEY;

/// The longest key (assumed).
const LONGEST_KEY: usize = 255;

/// What makes two requests the same: method, path with query, and a JSON-equal body (assumed).
#[derive(Debug, Hash)]
pub(crate) struct Fingerprint {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) body: Value,
}

/// Every key seen, with what tells its request from others and the answer given. None is ever forgotten: the
/// service promises 24 hours, and no local server runs much longer.
///
/// Of the request only a hash is kept: what came with an approval may be secret, and is not to stay.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    answers: HashMap<String, (u64, Reply)>,
    hasher: RandomState,
}

impl Ledger {
    /// The answer given before, if this request came before.
    pub(crate) fn recall(&self, key: &str, request: &Fingerprint) -> Result<Option<Reply>> {
        match self.answers.get(key) {
            None => Ok(None),
            Some((first, reply)) if *first == self.hasher.hash_one(request) => Ok(Some(reply.clone())),
            Some(_) => Err(Refusal::conflict(
                ErrorCode::IdempotencyKeyReused,
                "this idempotency key came before with another request",
            )
            .param("Idempotency-Key")),
        }
    }

    /// Keeps an answer, unless it says that the server failed: such a request may be tried again (assumed).
    pub(crate) fn keep(&mut self, key: String, request: &Fingerprint, reply: &Reply) {
        if !reply.status.is_server_error() {
            self.answers.insert(key, (self.hasher.hash_one(request), reply.clone()));
        }
    }
}

/// The key that every change has to carry (documented; that one without is refused is assumed).
pub(crate) fn key(headers: &HeaderMap) -> Result<String> {
    let refuse = |why: &str| Err(Refusal::bad_request(why).param("Idempotency-Key"));
    let mut keys = headers.get_all(IDEMPOTENCY_KEY).iter();
    let Some(key) = keys.next() else {
        return refuse("a request that changes something needs an Idempotency-Key header");
    };
    let visible = !key.is_empty() && key.as_bytes().iter().all(u8::is_ascii_graphic);
    match key.to_str() {
        Ok(key) if visible && key.len() <= LONGEST_KEY && keys.next().is_none() => Ok(key.to_owned()),
        _ => refuse("the Idempotency-Key has to be one of 1 to 255 visible ASCII characters"),
    }
}

#[cfg(test)]
mod tests {
    use http::StatusCode;
    use serde_json::json;

    use super::*;

    fn request(path: &str, body: Value) -> Fingerprint {
        Fingerprint { method: Method::POST, path: path.to_owned(), body }
    }

    fn reply(status: u16) -> Reply {
        Reply { status: StatusCode::from_u16(status).unwrap(), body: "{}".into() }
    }

    #[test]
    fn the_first_answer_is_given_again_and_another_request_refused() {
        let mut ledger = Ledger::default();
        ledger.keep("k".to_owned(), &request("/a", json!({"x": 1, "y": 2})), &reply(422));
        let again = ledger.recall("k", &request("/a", json!({"y": 2, "x": 1}))).unwrap();
        assert_eq!(again.unwrap().status, 422);
        for other in [request("/a", json!({"x": 1})), request("/b", json!({"x": 1, "y": 2}))] {
            let refusal = ledger.recall("k", &other).unwrap_err();
            let (status, error) = refusal.error();
            assert_eq!((status, error.code.clone()), (409, Some(ErrorCode::IdempotencyKeyReused)));
        }
        assert!(ledger.recall("other", &request("/a", json!({}))).unwrap().is_none());
    }

    #[test]
    fn a_failure_of_the_server_is_not_kept() {
        let mut ledger = Ledger::default();
        ledger.keep("k".to_owned(), &request("/a", json!({})), &reply(503));
        assert!(ledger.recall("k", &request("/b", json!({}))).unwrap().is_none());
    }

    #[test]
    fn a_key_is_one_of_visible_characters() {
        let with = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(IDEMPOTENCY_KEY, value.parse().unwrap());
            }
            key(&headers)
        };
        assert_eq!(with(&["renewal-2026-q3"]).unwrap(), "renewal-2026-q3");
        assert_eq!(with(&[&"k".repeat(255)]).unwrap().len(), 255);
        for refused in [&[][..], &[""], &["a b"], &["a", "b"], &[&"k".repeat(256)]] {
            let refusal = with(refused).unwrap_err();
            assert_eq!(refusal.error().0, 400);
            assert_eq!(refusal.error().1.param.as_deref(), Some("Idempotency-Key"));
        }
    }
}
