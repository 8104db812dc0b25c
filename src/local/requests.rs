//! The requests that came, as a test may want to look at them.

use std::collections::{BTreeMap, VecDeque};

use axum::extract::Query;
use http::header::USER_AGENT;
use http::request::Parts;
use http::{HeaderMap, Method, StatusCode};
use jiff::Timestamp;

use super::faults::Fault;
use crate::model::json::RawJson;
use crate::model::routes;
use crate::transport::IDEMPOTENCY_KEY;

/// How many requests are kept, and how many bytes of their texts; the oldest go first.
const KEPT: usize = 10_000;
const KEPT_BYTES: usize = 16 * 1024 * 1024;
/// What takes the place of a value that may be secret.
const HIDDEN: &str = "[hidden]";

/// A request that a [`LocalServer`](super::LocalServer) got, from [`LocalServer::requests`](super::LocalServer::requests).
///
/// It holds no key: the header `Authorization` is never kept, and no other but those named here.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct RequestRecord {
    /// Its method.
    pub method: Method,
    /// The path with `{id}` or `{name}` for what is filled in, such as `/v1/mandates/{id}`; empty for a path that the
    /// contract does not have.
    pub route: &'static str,
    /// The path as it came, percent-encoded and without the query.
    pub path: String,
    /// The query, decoded, in its order.
    pub query: Vec<(String, String)>,
    /// The header `Idempotency-Key`.
    pub idempotency_key: Option<String>,
    /// The header `Last-Event-ID`.
    pub last_event_id: Option<String>,
    /// The header `User-Agent`.
    pub user_agent: Option<String>,
    /// The body, if it is JSON of at most 1 MiB, and the path one of the contract's. Of a decision on an approval only the reason and the
    /// names of the inputs are kept, never their values.
    pub body: Option<RawJson>,
    /// The status that it was answered with. `None` while there is no answer, and where none went out: the
    /// connection was closed, or the client went away.
    pub status: Option<StatusCode>,
    /// The fault that it met.
    pub fault: Option<Fault>,
    /// When it had come in, in the server's time.
    pub at: Timestamp,
}

impl RequestRecord {
    /// Without what is not yet known.
    pub(crate) fn new(parts: &Parts, route: &'static str, body: Option<&[u8]>, at: Timestamp) -> Self {
        let header = |name: &str| text(&parts.headers, name);
        Self {
            method: parts.method.clone(),
            route,
            path: parts.uri.path().to_owned(),
            query: Query::try_from_uri(&parts.uri).map(|Query(query)| query).unwrap_or_default(),
            idempotency_key: header(IDEMPOTENCY_KEY.as_str()),
            last_event_id: header("last-event-id"),
            user_agent: header(USER_AGENT.as_str()),
            body: body.and_then(|body| shown(route, body)),
            status: None,
            fault: None,
            at,
        }
    }

    fn bytes(&self) -> usize {
        let query = self.query.iter().flat_map(|(name, value)| [name, value]);
        let headers = [&self.idempotency_key, &self.last_event_id, &self.user_agent].into_iter().flatten();
        let texts = query.chain(headers).chain([&self.path]).map(String::len);
        texts.sum::<usize>() + self.body.as_ref().map_or(0, |body| body.get().len())
    }
}

fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name)?.to_str().ok().map(str::to_owned)
}

/// A body without what may be secret in it. One to a path that nobody knows may be meant for any other.
fn shown(route: &str, body: &[u8]) -> Option<RawJson> {
    match route {
        "" => None,
        routes::APPROVAL_APPROVE | routes::APPROVAL_REJECT => decision(body),
        _ => serde_json::from_slice(body).ok().filter(|_| body.len() <= super::router::LARGEST_BODY),
    }
}

/// Of a decision only the reason is no secret, and which inputs were given.
fn decision(body: &[u8]) -> Option<RawJson> {
    let mut fields: BTreeMap<String, RawJson> = serde_json::from_slice(body).ok()?;
    for (name, value) in &mut fields {
        match (name.as_str(), serde_json::from_str::<BTreeMap<String, RawJson>>(value.get())) {
            ("reason", _) => {}
            ("inputs", Ok(mut inputs)) => {
                inputs.values_mut().for_each(|value| *value = HIDDEN.into());
                *value = raw(&inputs);
            }
            _ => *value = HIDDEN.into(),
        }
    }
    Some(raw(&fields))
}

fn raw(fields: &BTreeMap<String, RawJson>) -> RawJson {
    // A map of JSON texts always serializes.
    serde_json::value::to_raw_value(fields).map(RawJson::from).unwrap_or_default()
}

/// The requests that are kept, in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    records: VecDeque<RequestRecord>,
    /// How many came before the first of them.
    dropped: u64,
    bytes: usize,
}

impl Journal {
    /// Writes a request down, and gives its number.
    pub(crate) fn begin(&mut self, record: RequestRecord) -> u64 {
        self.bytes += record.bytes();
        self.records.push_back(record);
        while self.records.len() > KEPT || self.bytes > KEPT_BYTES {
            let Some(oldest) = self.records.pop_front() else { break };
            self.bytes -= oldest.bytes();
            self.dropped += 1;
        }
        self.dropped + self.records.len() as u64
    }

    pub(crate) fn finish(&mut self, number: u64, status: StatusCode) {
        let index = number.checked_sub(self.dropped + 1).and_then(|index| usize::try_from(index).ok());
        if let Some(record) = index.and_then(|index| self.records.get_mut(index)) {
            record.status = Some(status);
        }
    }

    /// Forgets all requests, those that are still to be answered too.
    pub(crate) fn clear(&mut self) {
        self.dropped += self.records.len() as u64;
        self.records.clear();
        self.bytes = 0;
    }

    pub(crate) fn all(&self) -> Vec<RequestRecord> {
        self.records.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(route: &'static str, body: &str) -> RequestRecord {
        let (parts, ()) = http::Request::post("/v1/x?a=1&a=b%20c").body(()).unwrap().into_parts();
        RequestRecord::new(&parts, route, Some(body.as_bytes()), Timestamp::UNIX_EPOCH)
    }

    fn body(route: &'static str, text: &str) -> Option<String> {
        record(route, text).body.map(|body| body.get().to_owned())
    }

    #[test]
    fn what_is_given_with_a_decision_is_not_kept() {
        for route in [routes::APPROVAL_APPROVE, routes::APPROVAL_REJECT] {
            let given = r#"{"reason":"ok","inputs":{"otp":"483921","pin":48},"input":{"otp":"483921"}}"#;
            let shown = r#"{"input":"[hidden]","inputs":{"otp":"[hidden]","pin":"[hidden]"},"reason":"ok"}"#;
            assert_eq!(body(route, given).unwrap(), shown);
            assert_eq!(body(route, r#"{"inputs":"483921"}"#).unwrap(), r#"{"inputs":"[hidden]"}"#);
            assert_eq!(body(route, r#""483921""#), None);
        }
        assert_eq!(body("", r#"{"otp":"483921"}"#), None);
    }

    #[test]
    fn a_body_is_kept_as_it_came() {
        let text = r#"{ "amount": 0.10000000000000000000001 }"#;
        assert_eq!(body(routes::MANDATES, text).unwrap(), text);
        assert_eq!(body(routes::MANDATES, ""), None);
        let query = [("a", "1"), ("a", "b c")].map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(record("", "").query, query);
    }

    #[test]
    fn the_oldest_go_first_by_number_and_by_size() {
        let mut journal = Journal::default();
        let first = journal.begin(record(routes::MANDATES, "1"));
        for _ in 1..=KEPT {
            journal.begin(record(routes::MANDATES, "1"));
        }
        let last = journal.begin(record(routes::MANDATES, "2"));
        assert_eq!((first, last, journal.records.len()), (1, KEPT as u64 + 2, KEPT));
        journal.finish(first, StatusCode::OK);
        journal.finish(last, StatusCode::CREATED);
        let all = journal.all();
        assert_eq!(all.iter().filter(|record| record.status.is_some()).count(), 1);
        assert_eq!(all.last().unwrap().status, Some(StatusCode::CREATED));

        let large = format!(r#""{}""#, "x".repeat(1024 * 1024 - 2));
        for _ in 0..20 {
            journal.begin(record(routes::MANDATES, &large));
        }
        // The path and the query count too, so there is no room for 16.
        assert_eq!(journal.records.len(), 15);
        assert_eq!(journal.bytes, journal.records.iter().map(RequestRecord::bytes).sum::<usize>());
    }
}
