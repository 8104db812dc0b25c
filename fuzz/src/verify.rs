//! Whatever comes, verifying doesn't panic, and takes only what was signed.
//!
//! The input is three parts behind each other: a length and an id, a length and a signature header, and the
//! body. The real delivery is signed by a secret that the input can't hold.

use std::sync::LazyLock;
use std::time::Duration;

use jiff::Timestamp;
use shadway::webhooks::{Scheme, SignatureHeaders, Signer, Verifier, VerifyError, diagnose};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

static VERIFIERS: LazyLock<[Verifier; 2]> = LazyLock::new(|| {
    let verifier = Verifier::new(SECRET).unwrap().tolerance(Duration::MAX);
    let other = verifier.clone().scheme(Scheme::new().base64_signature().base64_key()).unwrap();
    [verifier, other]
});
static SIGNER: LazyLock<Signer> = LazyLock::new(|| Signer::new(SECRET).unwrap());

fn now() -> Timestamp {
    Timestamp::from_second(1_760_000_000).unwrap()
}

pub fn check(input: &[u8]) {
    let (id, rest) = part(input);
    let (signature, body) = part(rest);
    let headers = SignatureHeaders::new(id, signature);
    for verifier in VERIFIERS.iter() {
        let answer = verifier.verify_at(&headers, body, now());
        assert!(answer.is_err(), "nobody signed this");
        // What the headers alone refuse is refused for the same reason.
        match verifier.check_headers_at(&headers, now()) {
            Ok(()) => assert_eq!(answer, Err(VerifyError::Mismatch)),
            Err(error) => assert_eq!(answer, Err(error)),
        }
    }
    assert!(!matches!(diagnose(&headers, body, SECRET), Ok(Some(_))));

    // The same id and body, rightly signed: taken, and read as an event without a panic; with one byte more,
    // refused.
    let Ok(id) = std::str::from_utf8(id) else { return };
    let Ok(headers) = SIGNER.sign_at(id, body, now()) else { return };
    let delivery = VERIFIERS[0].verify_at(&headers, body, now()).unwrap();
    assert_eq!((delivery.id(), delivery.body()), (id, body));
    if let Err(error) = delivery.event() {
        let line = error.to_string();
        assert!(!line.contains(char::is_control) && line.len() < 700, "more than a short line: {line:?}");
    }
    let longer = [body, b" "].concat();
    assert_eq!(VERIFIERS[0].verify_at(&headers, &longer, now()), Err(VerifyError::Mismatch));
}

fn part(input: &[u8]) -> (&[u8], &[u8]) {
    match input.split_first() {
        Some((length, rest)) => rest.split_at(usize::from(*length).min(rest.len())),
        None => (input, input),
    }
}
