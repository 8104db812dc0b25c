//! What is secret shows nowhere, and an error says what to do.

use std::collections::BTreeSet;

use shadway::webhooks::{Scheme, SecretError, SignatureHeaders, Signer, Verifier, VerifyError};

use super::{BODY, N, OLD_SECRET, SECRET, at, signed, verifier};

fn shows_nothing(value: &impl std::fmt::Debug) {
    let signature = signed(BODY).signature;
    let (_, code) = signature.split_once("v1=").unwrap();
    for text in [format!("{value:?}"), format!("{value:#?}")] {
        for secret in [&SECRET[6..], &OLD_SECRET[6..], code, "Grüße"] {
            assert!(!text.contains(&secret[..6]), "{text}");
        }
    }
}

#[test]
fn no_type_prints_a_secret_a_signature_or_a_body() {
    let both = verifier().also(OLD_SECRET).unwrap();
    shows_nothing(&both);
    assert!(format!("{both:?}").contains("secrets: 2"));
    shows_nothing(&Signer::new(SECRET).unwrap().also(OLD_SECRET).unwrap());
    let made = signed(BODY);
    shows_nothing(&made);
    shows_nothing(&SignatureHeaders::new(made.id.as_str(), made.signature.as_str()));
    shows_nothing(&verifier().verify_at(&made, BODY, at(N)).unwrap());
    shows_nothing(&Verifier::new(format!("{SECRET} ü")).unwrap_err());
    shows_nothing(&Verifier::new(&SECRET[6..]).unwrap_err());
    shows_nothing(&verifier().verify_at(&made, "", at(N)).unwrap_err());
}

#[test]
fn a_base64_key_needs_a_base64_secret_whenever_it_comes() {
    let plain = "whsec_not-base64!but-long-enough";
    let scheme = Scheme::new().base64_key();
    assert_eq!(Verifier::new(plain).unwrap().scheme(scheme).unwrap_err(), SecretError::NotBase64);
    assert_eq!(Signer::new(plain).unwrap().scheme(scheme).unwrap_err(), SecretError::NotBase64);
    let chosen = verifier().scheme(scheme).unwrap();
    assert_eq!(chosen.clone().also(plain).unwrap_err(), SecretError::NotBase64);
    let either = verifier().also(OLD_SECRET).unwrap().scheme(scheme).unwrap();
    let headers =
        Signer::new(OLD_SECRET).unwrap().scheme(scheme).unwrap().sign_at("dlv_1", BODY, at(N)).unwrap();
    assert!(either.verify_at(&headers, BODY, at(N)).is_ok(), "whatever order they were set in");
    assert!(chosen.also(OLD_SECRET).unwrap().verify_at(&headers, BODY, at(N)).is_ok());
}

#[test]
fn every_error_is_one_line_that_says_what_to_do() {
    let lines = [
        SecretError::Empty.to_string(),
        SecretError::Quoted.to_string(),
        SecretError::ApiKey.to_string(),
        SecretError::NoPrefix.to_string(),
        SecretError::TooShort.to_string(),
        SecretError::NotBase64.to_string(),
        Verifier::new("whsec_ 1234567890123456").unwrap_err().to_string(),
        VerifyError::MissingHeader("Shadway-Signature").to_string(),
        VerifyError::DuplicateHeader("Shadway-Signature").to_string(),
        VerifyError::InvalidDeliveryId.to_string(),
        VerifyError::Malformed.to_string(),
        VerifyError::MissingTimestamp.to_string(),
        VerifyError::DuplicateTimestamp.to_string(),
        VerifyError::InvalidTimestamp.to_string(),
        VerifyError::NoSupportedSignature.to_string(),
        VerifyError::Mismatch.to_string(),
        verifier().check_headers_at(&signed(BODY), at(N + 301)).unwrap_err().to_string(),
        verifier().check_headers_at(&signed(BODY), at(N - 301)).unwrap_err().to_string(),
    ];
    for line in &lines {
        assert!(!line.contains('\n') && line.len() < 130, "{line}");
        assert!(line.contains([';', ',']), "what to do about it stands behind what it is: {line}");
    }
    assert_eq!(lines.iter().collect::<BTreeSet<_>>().len(), lines.len());
    let secret = VerifyError::from(SecretError::Quoted);
    assert_eq!(secret.to_string(), SecretError::Quoted.to_string());
}
