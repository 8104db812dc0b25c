//! Deliveries: which are taken for Shadway's, and that nothing else is.

mod axum;
mod dedupe;
mod deliveries;
mod example;
mod headers;
mod mutations;
mod rows;
mod secrets;
mod vectors;

use jiff::Timestamp;
use shadway::webhooks::{SignatureHeaders, Signer, Verifier};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OLD_SECRET: &str = "whsec_PD8ILPZIo2LaLaSwMfKQ9r8GKYqrTwjU";
const BODY: &str =
    r#"{"id":"evt_1","type":"agent.retired","sequence":7,"mandate":"mnd_1","data":{"note":"Grüße"}}"#;

/// Now, in seconds.
const N: i64 = 1_760_000_000;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_second(seconds).unwrap()
}

fn verifier() -> Verifier {
    Verifier::new(SECRET).unwrap()
}

fn signed(body: impl AsRef<[u8]>) -> SignatureHeaders {
    Signer::new(SECRET).unwrap().sign_at("dlv_1", body, at(N)).unwrap()
}
