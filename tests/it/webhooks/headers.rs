//! Headers from anywhere, times at their limits, and what a delivery gives.

use std::collections::HashMap;
use std::time::Duration;

use http::HeaderMap;
use shadway::webhooks::{
    Delivery, ID_HEADER, SIGNATURE_HEADER, SignatureHeaders, SignedHeaders, Signer, Verifier, VerifyError,
};

use super::{BODY, N, OLD_SECRET, SECRET, at, signed, verifier};
use crate::support::{Script, Step};

fn takes<H: SignedHeaders + ?Sized>(headers: &H) {
    let delivery = verifier()
        .verify_at(headers, BODY, at(N + 1))
        .map(|delivery| (delivery.id().to_owned(), delivery.timestamp()));
    assert_eq!(delivery, Ok(("dlv_1".to_owned(), at(N))));
}

#[test]
fn headers_come_from_whatever_holds_them() {
    let made = signed(BODY);
    takes(&made);
    takes(&SignatureHeaders::new(made.id.as_str(), made.signature.as_str()));
    takes(&SignatureHeaders::new(made.id.as_bytes(), made.signature.as_bytes()));
    let pairs = [("Shadway-Webhook-Id", made.id.as_str()), ("shadway-signature", made.signature.as_str())];
    takes(&pairs);
    takes(&pairs[..]);
    takes(&pairs.to_vec());
    let owned: HashMap<String, String> =
        pairs.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    takes(&owned);
    let mut map = HeaderMap::new();
    for (name, value) in made.pairs() {
        map.insert(name, value.parse().unwrap());
    }
    takes(&map);
    takes(&&map);
    let request =
        http::Request::builder().header(ID_HEADER, &made.id).header(SIGNATURE_HEADER, &made.signature);
    takes(request.body(BODY).unwrap().headers());
}

#[test]
fn a_header_in_two_spellings_of_a_map_is_there_twice() {
    let made = signed(BODY);
    let map = HashMap::from([
        ("shadway-webhook-id", made.id.as_str()),
        ("Shadway-Webhook-Id", made.id.as_str()),
        ("shadway-signature", made.signature.as_str()),
    ]);
    let answer = verifier().verify_at(&map, BODY, at(N));
    assert_eq!(answer, Err(VerifyError::DuplicateHeader("Shadway-Webhook-Id")));
}

#[test]
fn bodies_come_as_texts_bytes_and_buffers() {
    let made = signed(BODY);
    let verifier = verifier();
    assert!(verifier.verify_at(&made, BODY, at(N)).is_ok());
    assert!(verifier.verify_at(&made, BODY.as_bytes(), at(N)).is_ok());
    assert!(verifier.verify_at(&made, &BODY.to_owned(), at(N)).is_ok());
    assert!(verifier.verify_at(&made, &BODY.as_bytes().to_vec(), at(N)).is_ok());
    assert!(verifier.verify_at(&made, &bytes::Bytes::from(BODY), at(N)).is_ok());
}

#[test]
fn the_tolerance_is_to_the_second_in_both_directions() {
    let made = signed(BODY);
    let check = |verifier: &Verifier, now| {
        verifier.verify_at(&made, BODY, now).map(|_| ()).map_err(|error| error.to_string())
    };
    let minute = verifier().tolerance(Duration::from_secs(60));
    assert_eq!(check(&minute, at(N + 60)), Ok(()));
    assert_eq!(check(&minute, at(N - 60)), Ok(()));
    assert!(check(&minute, at(N + 61)).unwrap_err().contains("signed 61 s ago"));
    assert!(check(&minute, at(N - 61)).unwrap_err().contains("signed 61 s from now"));
    let fraction = at(N + 60) + Duration::from_millis(999);
    assert_eq!(check(&minute, fraction), Ok(()), "its time has whole seconds, and so has ours");
    let none = verifier().tolerance(Duration::ZERO);
    assert_eq!(check(&none, at(N)), Ok(()));
    assert!(check(&none, at(N + 1)).is_err());
    assert!(check(&none, jiff::Timestamp::MIN).unwrap_err().contains("from now"));
    assert!(check(&none, jiff::Timestamp::MAX).unwrap_err().contains("ago"));
}

#[test]
fn a_time_beyond_what_there_is_is_refused_however_much_is_tolerated() {
    let verifier = verifier().tolerance(Duration::MAX);
    for t in ["253402300800", "9223372036854775808", "18446744073709551615"] {
        let headers = SignatureHeaders::new("dlv_1".to_owned(), format!("t={t},v1=00"));
        let answer = verifier.verify_at(&headers, BODY, at(N));
        assert!(matches!(answer, Err(VerifyError::TooNew { .. })), "{answer:?}");
    }
    let headers = SignatureHeaders::new("dlv_1", "t=0,v1=00");
    assert_eq!(verifier.verify_at(&headers, BODY, at(N)), Err(VerifyError::Mismatch));
}

#[test]
fn without_a_time_it_is_now() {
    let made = Signer::new(SECRET).unwrap().sign("dlv_1", BODY).unwrap();
    assert!(verifier().verify(&made, BODY).is_ok());
    assert_eq!(verifier().check_headers(&made), Ok(()));
    assert!(matches!(verifier().verify(&signed(BODY), BODY), Err(VerifyError::TooOld { .. })));
    assert!(matches!(verifier().check_headers(&signed(BODY)), Err(VerifyError::TooOld { .. })));
}

#[test]
fn the_client_verifies_too() {
    let made = Signer::new(SECRET).unwrap().sign("dlv_1", BODY).unwrap();
    let script = Script::new([Step::Hang]);
    let webhooks = script.client().webhooks();
    assert_eq!(webhooks.verify(&made, BODY, SECRET).unwrap().event().unwrap().id, "evt_1");
    assert_eq!(webhooks.verify(&made, BODY, OLD_SECRET), Err(VerifyError::Mismatch));
    let error = webhooks.verify(&made, BODY, "sk_test_1").unwrap_err();
    assert!(error.to_string().contains("API key"), "{error}");
    assert_eq!(script.count(), 0, "nothing was sent");
}

#[test]
fn an_event_that_can_t_be_read_is_no_matter_of_verification() {
    let event = |body: &str| {
        let made = signed(body);
        verifier().verify_at(&made, body, at(N)).unwrap().event()
    };
    let read = event(BODY).unwrap();
    assert_eq!((read.sequence, read.is_known()), (7, false));
    for (body, reason) in [
        ("", "EOF"),
        ("null", "expected an event"),
        (r#"{"id":"evt_1"}"#, "missing field `type`"),
        (r#"{"id":"evt_1","type":"x","sequence":"7","mandate":"mnd_1"}"#, "sequence: "),
    ] {
        let error = event(body).unwrap_err();
        let text = error.to_string();
        assert!(text.starts_with("the delivery is signed, but its body is no event: "), "{text}");
        assert!(text.contains(reason), "{text}");
        assert!(std::error::Error::source(&error).is_some());
    }
    let long = format!(r#"{{"id":"evt_1","type":"x","sequence":"{}"}}"#, "7".repeat(2_000));
    let text = event(&long).unwrap_err().to_string();
    assert!(text.contains("sequence: ") && text.len() < 700, "{text}");
}

#[test]
fn a_signer_makes_nothing_that_no_verifier_takes() {
    let signer = Signer::new(SECRET).unwrap();
    for id in ["", "a.b", "a b", "ü", &"a".repeat(257)] {
        assert_eq!(signer.sign_at(id, BODY, at(N)), Err(VerifyError::InvalidDeliveryId), "{id}");
    }
    assert_eq!(signer.sign_at("dlv_1", BODY, at(-1)), Err(VerifyError::InvalidTimestamp));
    let first = signer.sign_at("dlv_1", BODY, at(0)).unwrap();
    assert!(verifier().verify_at(&first, BODY, at(0)).is_ok());
}

#[test]
fn what_verifies_can_cross_threads_and_is_cheap_to_clone() {
    fn shared<T: Send + Sync + Clone + 'static>() {}
    shared::<Verifier>();
    shared::<Signer>();
    fn copied<T: Copy>() {}
    copied::<VerifyError>();
    copied::<Delivery<'static>>();
    assert!(size_of::<Verifier>() <= 64, "{}", size_of::<Verifier>());
}
