//! What verifying allocates, counted by an allocator of its own: nothing.

#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use allocation_counter::measure;
use http::{HeaderMap, HeaderValue};
use jiff::Timestamp;
use shadway::webhooks::{SignatureHeaders, Signer, Verifier};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const OLD_SECRET: &str = "whsec_PD8ILPZIo2LaLaSwMfKQ9r8GKYqrTwjU";

fn now() -> Timestamp {
    Timestamp::from_second(1_760_000_000).unwrap()
}

fn allocations(work: impl FnOnce()) -> u64 {
    measure(work).count_total
}

#[test]
fn verifying_allocates_nothing_on_accept_and_on_reject() {
    let body = vec![b'x'; 64 * 1024];
    let verifier = Verifier::new(OLD_SECRET).unwrap().also(SECRET).unwrap();
    let good = Signer::new(SECRET).unwrap().also(OLD_SECRET).unwrap().sign_at("dlv_1", &body, now()).unwrap();
    let mut map = HeaderMap::new();
    for (name, value) in good.pairs() {
        map.insert(name, HeaderValue::from_str(value).unwrap());
    }
    let pairs = [("shadway-webhook-id", good.id.as_str()), ("shadway-signature", good.signature.as_str())];
    assert_eq!(allocations(|| assert!(verifier.verify_at(&good, &body, now()).is_ok())), 0);
    assert_eq!(allocations(|| assert!(verifier.verify_at(&map, &body, now()).is_ok())), 0);
    assert_eq!(allocations(|| assert!(verifier.verify_at(&pairs, &body, now()).is_ok())), 0);
    assert_eq!(allocations(|| assert!(verifier.check_headers_at(&map, now()).is_ok())), 0);
    assert_eq!(allocations(|| assert!(verifier.verify_at(&map, &body[1..], now()).is_err())), 0);
    assert_eq!(allocations(|| assert!(verifier.verify(&map, &body).is_err())), 0, "too old by now");
    let bad = [
        String::new(),
        "t=1760000000".to_owned(),
        "t=x,v1=00".to_owned(),
        "t=1760000000,v1=00,v1=zz,v0=1".to_owned(),
        "t=1760000000".to_owned() + &",v1=00".repeat(17),
        ",".repeat(5_000),
    ];
    for value in &bad {
        let headers = SignatureHeaders::new("dlv_1", value.as_str());
        assert_eq!(
            allocations(|| assert!(verifier.verify_at(&headers, &body, now()).is_err())),
            0,
            "{value}"
        );
    }
}

/// Or the figures above prove nothing.
#[test]
fn what_allocates_is_counted() {
    assert!(allocations(|| drop(std::hint::black_box(vec![1_u8; 9]))) > 0);
    let signer = Signer::new(SECRET).unwrap();
    assert!(allocations(|| drop(signer.sign_at("dlv_1", "", now()))) > 0);
}
