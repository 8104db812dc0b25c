//! The right answers of `fixtures/webhooks/vectors.json`, which a script made that shares no code with the crate.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use http::{HeaderMap, HeaderName, HeaderValue};
use serde::Deserialize;
use shadway::webhooks::{Scheme, SecretError, SignedHeaders, Signer, Verifier, VerifyError, diagnose};

use super::at;

#[derive(Deserialize)]
struct Vectors {
    secret: String,
    cases: Vec<Case>,
    secrets: Vec<SecretCase>,
}

#[derive(Deserialize)]
struct Case {
    row: String,
    answer: String,
    secret: String,
    also: Vec<String>,
    scheme: Vec<String>,
    now: i64,
    headers: Vec<(String, String)>,
    body: String,
}

#[derive(Deserialize)]
struct SecretCase {
    row: String,
    secret: String,
    answer: String,
}

/// The rows that there are vectors of.
pub(super) fn rows() -> BTreeSet<String> {
    let Vectors { cases, secrets, .. } = vectors();
    cases.into_iter().map(|case| case.row).chain(secrets.into_iter().map(|case| case.row)).collect()
}

fn vectors() -> Vectors {
    serde_json::from_str(include_str!("../../../fixtures/webhooks/vectors.json")).unwrap()
}

impl Case {
    fn verifier(&self) -> Verifier {
        let verifier = Verifier::new(&self.secret).unwrap();
        let verifier = self.also.iter().fold(verifier, |verifier, secret| verifier.also(secret).unwrap());
        verifier.scheme(scheme(&self.scheme)).unwrap()
    }

    fn headers(&self) -> Vec<(String, Vec<u8>)> {
        self.headers.iter().map(|(name, value)| (name.clone(), bytes(value))).collect()
    }

    /// What a server has after parsing, unless no server would give such a value.
    fn header_map(&self) -> Option<HeaderMap> {
        let mut map = HeaderMap::new();
        for (name, value) in self.headers() {
            map.append(HeaderName::try_from(name).unwrap(), HeaderValue::from_bytes(&value).ok()?);
        }
        Some(map)
    }

    fn answer(&self, verifier: &Verifier, headers: &impl SignedHeaders) -> String {
        let body = bytes(&self.body);
        let answer = verifier.verify_at(headers, &body, at(self.now));
        // What can be refused without the body is refused alike, and nothing else is.
        let early = verifier.check_headers_at(headers, at(self.now));
        match &answer {
            Ok(_) | Err(VerifyError::Mismatch) => assert_eq!(early, Ok(()), "{}", self.row),
            Err(error) => assert_eq!(early, Err(*error), "{}", self.row),
        }
        match answer {
            Ok(delivery) => {
                assert_eq!(delivery.body(), body);
                assert_eq!(
                    headers.values(shadway::webhooks::ID_HEADER).next(),
                    Some(delivery.id().as_bytes())
                );
                "ok".into()
            }
            Err(error) => name(error),
        }
    }
}

fn bytes(text: &str) -> Vec<u8> {
    text.chars().map(|character| u8::try_from(u32::from(character)).unwrap()).collect()
}

fn scheme(words: &[String]) -> Scheme {
    words.iter().fold(Scheme::new(), |scheme, word| match word.as_str() {
        "base64_signature" => scheme.base64_signature(),
        "base64_key" => scheme.base64_key(),
        "key_without_prefix" => scheme.key_without_prefix(),
        "timestamp_first" => scheme.timestamp_first(),
        other => unreachable!("no scheme is called {other}"),
    })
}

fn name(error: VerifyError) -> String {
    match error {
        VerifyError::MissingHeader(name) => format!("missing_header:{name}"),
        VerifyError::DuplicateHeader(name) => format!("duplicate_header:{name}"),
        VerifyError::InvalidDeliveryId => "invalid_delivery_id".into(),
        VerifyError::Malformed => "malformed".into(),
        VerifyError::MissingTimestamp => "missing_timestamp".into(),
        VerifyError::DuplicateTimestamp => "duplicate_timestamp".into(),
        VerifyError::InvalidTimestamp => "invalid_timestamp".into(),
        VerifyError::NoSupportedSignature => "no_supported_signature".into(),
        VerifyError::TooOld { seconds } => format!("too_old:{seconds}"),
        VerifyError::TooNew { seconds } if error.to_string().contains("milliseconds") => {
            format!("too_new_milliseconds:{seconds}")
        }
        VerifyError::TooNew { seconds } => format!("too_new:{seconds}"),
        VerifyError::Mismatch => "mismatch".into(),
        other => other.to_string(),
    }
}

#[test]
fn every_delivery_gets_its_answer_from_whatever_holds_its_headers() {
    let mut wrong = Vec::new();
    let mut maps = 0;
    for case in &vectors().cases {
        let verifier = case.verifier();
        let pairs = case.headers();
        let mut answers = vec![
            ("vec", case.answer(&verifier, &pairs)),
            ("slice", case.answer(&verifier, &pairs.as_slice())),
        ];
        if let Some(map) = case.header_map() {
            answers.push(("header map", case.answer(&verifier, &map)));
            maps += 1;
        }
        let names: BTreeSet<_> = pairs.iter().map(|(name, _)| name).collect();
        if names.len() == pairs.len() {
            let hashed: HashMap<_, _> = pairs.iter().cloned().collect();
            let sorted: BTreeMap<_, _> = pairs.iter().cloned().collect();
            answers.push(("hash map", case.answer(&verifier, &hashed)));
            answers.push(("tree map", case.answer(&verifier, &sorted)));
        }
        for (holder, answer) in answers {
            if answer != case.answer {
                wrong.push(format!(
                    "{}: {:?} in a {holder}: {answer}, not {}",
                    case.row, case.headers, case.answer
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    assert!(maps > 150, "most can come over HTTP");
}

/// Which row of the table of cases each is for, `rows.rs` says.
#[test]
fn every_row_has_its_vectors() {
    let vectors = vectors();
    let mut rows = BTreeMap::new();
    for row in vectors.cases.iter().map(|case| &case.row).chain(vectors.secrets.iter().map(|case| &case.row))
    {
        *rows.entry(row.as_str()).or_insert(0) += 1;
    }
    let expected = [
        ("N-301, N+301; t=0; u64 max; milliseconds", 7),
        ("a rotation, signed with both", 2),
        ("a rotation, verified with both", 2),
        ("a secret that is not base64", 1),
        ("a signature that is none", 16),
        ("an API key", 2),
        ("an element without =; 17 v1; 33 elements; a header above 4 KiB", 13),
        ("any body", 6),
        ("any header-name case", 3),
        ("any id", 4),
        ("body re-serialised, + newline, + byte-order mark, emptied, truncated", 10),
        ("either header twice, even alike", 5),
        ("empty value; only v1=s", 7),
        ("empty, blank", 4),
        ("id empty, with a dot, blank, non-ASCII, 257 characters", 13),
        ("id m.N with the body cut at the next dot", 2),
        ("id or t changed; other secret", 5),
        ("in quotes", 7),
        ("inner blank, zero-width space", 8),
        ("long enough", 1),
        ("no id header; no signature header", 3),
        ("no prefix", 5),
        ("not a time", 21),
        ("only t; only v0, v2, V1, v1a; v1 =s", 9),
        ("other schemes", 32),
        ("rightly signed", 15),
        ("t = N-300, N+300", 4),
        ("t twice, or two headers merged by a proxy", 4),
        ("the right signature under another name", 6),
        ("whsec_ alone or too short", 4),
        ("with blanks or a newline around it", 5),
    ];
    assert_eq!(rows.into_iter().collect::<Vec<_>>(), expected);
}

#[test]
fn every_secret_gets_its_answer_when_the_verifier_is_made() {
    let vectors = vectors();
    let first = &vectors.cases[0];
    for case in &vectors.secrets {
        let made = Verifier::new(&case.secret);
        assert_eq!(Signer::new(&case.secret).err(), made.as_ref().err().copied());
        let answer = match made {
            // The same key as without the blanks.
            Ok(verifier) => {
                let pairs = first.headers();
                match verifier.verify_at(&pairs, &bytes(&first.body), at(first.now)) {
                    Ok(_) => "ok".to_owned(),
                    Err(_) => "other".to_owned(),
                }
            }
            Err(SecretError::Empty) => "empty".into(),
            Err(SecretError::Quoted) => "quoted".into(),
            Err(SecretError::ApiKey) => "api_key".into(),
            Err(SecretError::NoPrefix) => "no_prefix".into(),
            Err(SecretError::TooShort) => "too_short".into(),
            Err(SecretError::InvalidCharacter { at }) => format!("invalid_character:{at}"),
            Err(other) => other.to_string(),
        };
        assert_eq!(answer, case.answer, "{}: {:?}", case.row, case.secret);
    }
    assert_eq!(vectors.secret, first.secret);
}

#[test]
fn a_signer_makes_what_the_script_makes() {
    let vectors = vectors();
    let mut compared = 0;
    for case in vectors.cases.iter().filter(|case| case.row == "other schemes" && case.answer == "ok") {
        let signer = Signer::new(&case.secret).unwrap().scheme(scheme(&case.scheme)).unwrap();
        let headers = signer.sign_at(&case.headers[0].1, bytes(&case.body), at(case.now)).unwrap();
        // The script also writes base64 in other ways.
        if headers.signature == case.headers[1].1 {
            compared += 1;
        }
    }
    assert_eq!(compared, 12, "each scheme once");
    let case = vectors.cases.iter().find(|case| case.row == "a rotation, signed with both").unwrap();
    let other = vectors.cases.iter().find(|case| !case.also.is_empty()).unwrap();
    let signer = Signer::new(&case.secret).unwrap().also(&other.also[0]).unwrap();
    let headers = signer.sign_at(&case.headers[0].1, bytes(&case.body), at(case.now)).unwrap();
    assert_eq!(headers.signature, case.headers[1].1);
}

#[test]
fn a_diagnosis_finds_the_scheme_of_every_delivery_that_was_rightly_signed() {
    for case in vectors().cases.iter().filter(|case| case.answer == "ok" && case.also.is_empty()) {
        let found = diagnose(&case.headers(), &bytes(&case.body), &case.secret).unwrap().unwrap();
        let found_by = Verifier::new(&case.secret).unwrap().scheme(found.scheme().unwrap()).unwrap();
        assert!(found_by.verify_at(&case.headers(), &bytes(&case.body), at(case.now)).is_ok(), "{found}");
        assert!(!found.gained_line_break());
    }
    for case in vectors().cases.iter().filter(|case| case.row.starts_with("id or t changed")) {
        assert_eq!(diagnose(&case.headers(), &bytes(&case.body), &case.secret).unwrap(), None);
    }
}
