//! Whatever is changed, nothing passes, and whatever comes, nothing panics.

use shadway::webhooks::{SignatureHeaders, VerifyError};

use super::{BODY, N, at, signed, verifier};

/// The case of a hexadecimal digit is the one thing that says the same in two ways.
#[test]
fn any_flipped_bit_of_id_header_or_body_is_refused() {
    let made = signed(BODY);
    let (id, signature) = (made.id.into_bytes(), made.signature.into_bytes());
    let verifier = verifier();
    let verify = |id: &[u8], signature: &[u8], body: &[u8]| {
        verifier.verify_at(&SignatureHeaders::new(id, signature), body, at(N)).map(|_| ())
    };
    assert_eq!(verify(&id, &signature, BODY.as_bytes()), Ok(()));
    for flipped in flips(&id) {
        assert!(verify(&flipped, &signature, BODY.as_bytes()).is_err(), "{flipped:?}");
    }
    for flipped in flips(BODY.as_bytes()) {
        assert_eq!(verify(&id, &signature, &flipped), Err(VerifyError::Mismatch), "{flipped:?}");
    }
    let code_at = "t=1760000000,v1=".len();
    let (mut same, mut refused) = (0, 0);
    for flipped in flips(&signature) {
        let other_case = flipped[code_at..].eq_ignore_ascii_case(&signature[code_at..]);
        if other_case && flipped[..code_at] == signature[..code_at] {
            same += 1;
            assert_eq!(verify(&id, &flipped, BODY.as_bytes()), Ok(()));
        } else {
            refused += 1;
            assert!(verify(&id, &flipped, BODY.as_bytes()).is_err(), "{flipped:?}");
        }
    }
    let letters = signature[code_at..].iter().filter(|digit| digit.is_ascii_alphabetic()).count();
    assert_eq!((same, same + refused), (letters, signature.len() * 8));
}

fn flips(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    (0..bytes.len() * 8).map(|at| {
        let mut flipped = bytes.to_vec();
        flipped[at / 8] ^= 1 << (at % 8);
        flipped
    })
}

/// Pieces of the grammar and what breaks it, put together by a fixed seed.
#[test]
fn no_header_value_shaped_like_the_grammar_verifies_or_panics() {
    let real = signed("another body").signature;
    let (_, code) = real.split_once("v1=").unwrap();
    let now = N.to_string();
    let pieces: Vec<&[u8]> = vec![
        b"t=",
        b"v1=",
        b"v0=",
        b"v2=",
        b"t",
        b"v1",
        b"=",
        b",",
        b",,",
        b" ",
        b"\t",
        b"\0",
        b"\xff",
        b"\xc3\xbc",
        b"-1",
        b"0",
        b"+",
        b".",
        b"1e9",
        b"18446744073709551615",
        b"18446744073709551616",
        b"99999999999999999999999",
        b"1760000000000",
        b"00",
        b"zz",
        b"\r\n",
        b"\xe2\x80\x8b",
        b"\"",
        b";",
        b"x=1",
        now.as_bytes(),
        code.as_bytes(),
        &code.as_bytes()[..63],
        &code.as_bytes()[1..],
        real.as_bytes(),
    ];
    let mut random = fastrand::Rng::with_seed(5);
    let verifier = verifier();
    let mut reached = std::collections::BTreeMap::new();
    for _ in 0..300_000 {
        let mut value: Vec<u8> = match random.u8(0..4) {
            0 => Vec::new(),
            1 => format!("t={now},v1={code}").into_bytes(),
            2 => format!("t={now},").into_bytes(),
            _ => b"t=".to_vec(),
        };
        for _ in 0..random.usize(0..12) {
            let piece = random.choice(&pieces).unwrap();
            let place = if random.bool() { value.len() } else { random.usize(0..=value.len()) };
            value.splice(place..place, piece.iter().copied());
        }
        if random.u8(0..8) == 0 {
            value
                .iter_mut()
                .for_each(|byte| *byte = if random.u8(0..16) == 0 { random.u8(..) } else { *byte });
        }
        let headers = SignatureHeaders::new(&b"dlv_1"[..], &value[..]);
        let answer = verifier.verify_at(&headers, BODY, at(N));
        let error = answer.expect_err("nobody signed this");
        *reached.entry(error.to_string().chars().take(60).collect::<String>()).or_insert(0) += 1;
    }
    assert!(reached.keys().any(|line| line.starts_with("no signature fits")), "{reached:#?}");
    assert!(reached.len() >= 8, "every kind of refusal: {reached:#?}");
}
