//! Deliveries to verify and to refuse, each with all that is ready before it comes.

use std::sync::Arc;

use hmac::{Hmac, KeyInit as _, Mac as _};
use http::{HeaderMap, HeaderName, HeaderValue};
use sha2::Sha256;
use shadway::webhooks::{ID_HEADER, SIGNATURE_HEADER, Signer, Verifier};

/// Bytes of a body.
pub const SIZES: [usize; 2] = [1 << 10, 64 << 10];
/// What all others are held against.
pub const FLOOR: &str = "hmac and sha2 alone (the floor)";
/// The crate.
pub const SHADWAY: &str = "shadway";

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const ID: &str = "dlv_01k8v3qz000000000000000001";

/// Something to be done again and again.
pub struct Case {
    /// Its name.
    pub name: &'static str,
    /// Does it, and says whether the answer was right.
    pub right: Box<dyn Fn() -> bool>,
    /// Whether it is no failure that it allocates.
    pub may_allocate: bool,
}

impl Case {
    fn new(name: &'static str, right: impl Fn() -> bool + 'static) -> Self {
        Self { name, right: Box::new(right), may_allocate: true }
    }

    fn without_allocations(self) -> Self {
        Self { may_allocate: false, ..self }
    }
}

/// An event of exactly so many bytes, if it is to have more than a hundred.
pub(crate) fn body(size: usize) -> Vec<u8> {
    let around = r#"{"id":"evt_1","type":"agent.retired","sequence":1,"mandate":"mnd_1","data":{"note":""}}"#;
    let (start, end) = around.split_at(around.len() - 3);
    format!("{start}{}{end}", "a note, ".repeat(size / 8 + 1).split_at(size.saturating_sub(around.len())).0)
        .into()
}

/// A delivery of that size, signed in the way of each just now: they read the time themselves.
#[must_use]
pub fn verifications(size: usize) -> Vec<Case> {
    let sent = Sent::now(size);
    vec![floor(&sent), shadway(&sent), shadway_with_event(&sent), svix(&sent), standardwebhooks(&sent)]
}

struct Sent {
    /// One for all: where a body lies in memory makes a difference, too.
    body: Arc<[u8]>,
    headers: HeaderMap,
    /// In seconds.
    time: String,
}

impl Sent {
    fn now(size: usize) -> Self {
        let body: Arc<[u8]> = body(size).into();
        let made = Signer::new(SECRET).expect("a secret").sign(ID, &*body).expect("an id");
        let time = made.signature["t=".len()..].split(',').next().expect("a time").to_owned();
        Self { body, headers: map([(ID_HEADER, made.id), (SIGNATURE_HEADER, made.signature)]), time }
    }

    fn seconds(&self) -> i64 {
        self.time.parse().expect("seconds")
    }
}

/// Keyed before, and the signature decoded before.
fn floor(sent: &Sent) -> Case {
    let keyed = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).expect("any key");
    let (time, body) = (sent.time.clone(), Arc::clone(&sent.body));
    let mac = move || {
        let mut mac = keyed.clone();
        [ID.as_bytes(), b".", time.as_bytes(), b".", &body].iter().for_each(|part| mac.update(part));
        mac
    };
    let code = mac().finalize().into_bytes();
    Case::new(FLOOR, move || mac().verify(&code).is_ok())
}

fn shadway(sent: &Sent) -> Case {
    let (headers, body) = (sent.headers.clone(), Arc::clone(&sent.body));
    let verifier = Verifier::new(SECRET).expect("a secret");
    Case::new(SHADWAY, move || verifier.verify(&headers, &body).is_ok()).without_allocations()
}

fn shadway_with_event(sent: &Sent) -> Case {
    let (headers, body) = (sent.headers.clone(), Arc::clone(&sent.body));
    let verifier = Verifier::new(SECRET).expect("a secret");
    Case::new("shadway, and the typed event", move || {
        verifier.verify(&headers, &body).is_ok_and(|delivery| delivery.event().is_ok())
    })
}

fn svix(sent: &Sent) -> Case {
    let webhook = svix::webhooks::Webhook::new(SECRET).expect("a secret");
    let signature = webhook.sign(ID, sent.seconds(), &sent.body).expect("a signature");
    let headers =
        [("svix-id", ID.to_owned()), ("svix-timestamp", sent.time.clone()), ("svix-signature", signature)];
    let (headers, body) = (map(headers), Arc::clone(&sent.body));
    Case::new("svix", move || webhook.verify(&body, &headers).is_ok())
}

fn standardwebhooks(sent: &Sent) -> Case {
    let webhook = standardwebhooks::Webhook::new(SECRET).expect("a secret");
    let signature = webhook.sign(ID, sent.seconds(), &sent.body).expect("a signature");
    let headers = [
        ("webhook-id", ID.to_owned()),
        ("webhook-timestamp", sent.time.clone()),
        ("webhook-signature", signature),
    ];
    let (headers, body) = (map(headers), Arc::clone(&sent.body));
    Case::new("standardwebhooks", move || webhook.verify(&body, &headers).is_ok())
}

/// Deliveries of 1 KiB whose headers are enough to refuse them.
#[must_use]
pub fn refusals() -> Vec<Case> {
    let body = body(SIZES[0]);
    let verifier = Verifier::new(SECRET).expect("a secret");
    let code = "0".repeat(64);
    let refusal = |name, signature: String| {
        let (verifier, body) = (verifier.clone(), body.clone());
        let headers = map([(ID_HEADER, ID.to_owned()), (SIGNATURE_HEADER, signature)]);
        Case::new(name, move || verifier.verify(&headers, &body).is_err()).without_allocations()
    };
    let full = |pattern: &str| pattern.repeat(4096 / pattern.len());
    vec![
        refusal("stale", format!("t=1760000000,v1={code}")),
        refusal("stale, with two signatures", format!("t=1760000000,v1={code},v1={code}")),
        refusal("without a time", format!("v1={code}")),
        refusal("junk", "Bearer c2VjcmV0".to_owned()),
        refusal("4 KiB of letters", full("a")),
        refusal("4 KiB of one element", format!("x={}", &full("y")[2..])),
        refusal("4 KiB of elements", full("x=y,")),
        refusal("4 KiB of commas", full(",")),
        refusal("above 4 KiB", format!("{},", full(","))),
    ]
}

fn map<const N: usize>(headers: [(&str, String); N]) -> HeaderMap {
    // As a request has them.
    let others = [("host", "example.com"), ("content-type", "application/json"), ("user-agent", "Shadway/1")];
    let others = others.map(|(name, value)| (name, value.to_owned()));
    let header = |(name, value): (&str, String)| {
        (name.parse::<HeaderName>().expect("a name"), HeaderValue::try_from(value).expect("a value"))
    };
    others.into_iter().chain(headers).map(header).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_an_event_of_the_size_asked_for() {
        for size in SIZES {
            assert_eq!(body(size).len(), size);
            assert!(serde_json::from_slice::<shadway::events::Event>(&body(size)).is_ok());
        }
    }

    #[test]
    fn every_case_gives_the_right_answer() {
        let cases = SIZES.into_iter().flat_map(verifications).chain(refusals());
        cases.for_each(|case| assert!((case.right)(), "{}", case.name));
    }
}
