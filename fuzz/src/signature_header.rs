//! The grammar of the signature header, beside a second reading of it that is written for clarity only.
//!
//! The input is a header value, in which `@` stands for the right signature, so that accepted headers can be
//! found.

use std::sync::LazyLock;
use std::time::Duration;

use jiff::Timestamp;
use shadway::webhooks::{SignatureHeaders, Signer, Verifier, VerifyError};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const N: i64 = 1_760_000_000;

static VERIFIER: LazyLock<Verifier> =
    LazyLock::new(|| Verifier::new(SECRET).unwrap().tolerance(Duration::from_secs(300)));
static CODE: LazyLock<String> = LazyLock::new(|| {
    let signature = Signer::new(SECRET).unwrap().sign_at("dlv_1", "body", now()).unwrap().signature;
    signature.split_once("v1=").unwrap().1.to_owned()
});

fn now() -> Timestamp {
    Timestamp::from_second(N).unwrap()
}

pub fn check(input: &[u8]) {
    let mut value = Vec::new();
    for byte in input {
        match byte {
            b'@' => value.extend_from_slice(CODE.as_bytes()),
            byte => value.push(*byte),
        }
    }
    let headers = SignatureHeaders::new(&b"dlv_1"[..], &value[..]);
    let answer = VERIFIER.verify_at(&headers, "body", now()).map(|_| ());
    assert_eq!(answer, expected(&value), "{}", String::from_utf8_lossy(&value));
}

fn expected(value: &[u8]) -> Result<(), VerifyError> {
    if value.len() > 4096 || value.split(|byte| *byte == b',').count() > 32 {
        return Err(VerifyError::Malformed);
    }
    // Byte for byte a character, so that texts can be used.
    let value: String = value.iter().map(|byte| char::from(*byte)).collect();
    let blank = |c: char| c.is_ascii_whitespace();
    let (mut times, mut signatures) = (Vec::new(), Vec::new());
    for element in
        value.split(',').map(|element| element.trim_matches(blank)).filter(|element| !element.is_empty())
    {
        let (name, value) = element.split_once('=').ok_or(VerifyError::Malformed)?;
        match name {
            "t" => times.push(value),
            "v1" => signatures.push(value),
            _ => {}
        }
        if times.len() > 1 {
            return Err(VerifyError::DuplicateTimestamp);
        }
        if signatures.len() > 16 {
            return Err(VerifyError::Malformed);
        }
    }
    let time = times.first().ok_or(VerifyError::MissingTimestamp)?;
    let seconds: u64 = time.parse().map_err(|_| VerifyError::InvalidTimestamp)?;
    if seconds.to_string() != **time {
        return Err(VerifyError::InvalidTimestamp);
    }
    if signatures.is_empty() {
        return Err(VerifyError::NoSupportedSignature);
    }
    let now = N as u64;
    if seconds < now - 300 {
        return Err(VerifyError::TooOld { seconds: now - seconds });
    }
    if seconds > now + 300 {
        return Err(VerifyError::TooNew { seconds: seconds - now });
    }
    let right = signatures.iter().any(|signature| signature.eq_ignore_ascii_case(&CODE));
    if seconds == now && right { Ok(()) } else { Err(VerifyError::Mismatch) }
}
