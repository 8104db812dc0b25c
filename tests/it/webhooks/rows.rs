//! Where each row of the table of webhook cases is tested.

use std::collections::BTreeSet;

use super::vectors;

/// What comes in (`N` is now, `s` the right signature), and the vectors and tests that say what becomes of it.
const ROWS: [(&str, &[&str], &[&str]); 19] = [
    (
        "t=N,v1=s in any order, beside others, with blanks, empty elements, upper case",
        &["rightly signed", "any header-name case", "any id"],
        &["headers::headers_come_from_whatever_holds_them"],
    ),
    ("a body of non-UTF-8 bytes, an empty body", &["any body"], &[]),
    (
        "t = N-300, N+300",
        &["t = N-300, N+300"],
        &["headers::the_tolerance_is_to_the_second_in_both_directions"],
    ),
    (
        "N-301, N+301; t=0; u64 max; milliseconds",
        &["N-301, N+301; t=0; u64 max; milliseconds"],
        &["headers::a_time_beyond_what_there_is_is_refused_however_much_is_tolerated"],
    ),
    ("no id header; no signature header", &["no id header; no signature header"], &[]),
    (
        "either header twice, even alike",
        &["either header twice, even alike"],
        &["headers::a_header_in_two_spellings_of_a_map_is_there_twice"],
    ),
    ("t twice, or two headers merged by a proxy", &["t twice, or two headers merged by a proxy"], &[]),
    ("empty value; only v1=s", &["empty value; only v1=s"], &[]),
    (
        "id empty, with a dot, blank, non-ASCII, 257 characters",
        &["id empty, with a dot, blank, non-ASCII, 257 characters"],
        &["headers::a_signer_makes_nothing_that_no_verifier_takes"],
    ),
    ("id m.N with the body cut at the next dot", &["id m.N with the body cut at the next dot"], &[]),
    ("t that is no time", &["not a time"], &[]),
    ("only t; only v0, v2, V1, v1a; v1 =s", &["only t; only v0, v2, V1, v1a; v1 =s"], &[]),
    (
        "an element without =; 17 v1; 33 elements; a header above 4 KiB",
        &["an element without =; 17 v1; 33 elements; a header above 4 KiB"],
        &[],
    ),
    (
        "a signature that is none; id or t changed; other secret; another body",
        &[
            "a signature that is none",
            "the right signature under another name",
            "id or t changed; other secret",
            "body re-serialised, + newline, + byte-order mark, emptied, truncated",
        ],
        &[],
    ),
    (
        "any single bit of header or body flipped",
        &[],
        &["mutations::any_flipped_bit_of_id_header_or_body_is_refused"],
    ),
    (
        "a secret that is none",
        &[
            "empty, blank",
            "whsec_ alone or too short",
            "no prefix",
            "in quotes",
            "an API key",
            "inner blank, zero-width space",
        ],
        &["secrets::a_base64_key_needs_a_base64_secret_whenever_it_comes"],
    ),
    ("a secret with blanks or a newline around it", &["with blanks or a newline around it"], &[]),
    (
        "over the body limit; stale or unsigned",
        &[],
        &[
            "axum::a_body_over_the_limit_is_413_and_not_read_to_its_end",
            "axum::the_body_of_what_is_stale_or_unsigned_is_never_asked_for",
            "axum::whatever_is_wrong_the_answer_is_one_text_and_the_handler_does_not_run",
        ],
    ),
    (
        "300,000 header values shaped like the grammar",
        &[],
        &["mutations::no_header_value_shaped_like_the_grammar_verifies_or_panics"],
    ),
];

/// What is beside the table.
const MORE: [&str; 5] = [
    "a rotation, signed with both",
    "a rotation, verified with both",
    "a secret that is not base64",
    "long enough",
    "other schemes",
];

#[test]
fn every_row_has_its_tests_and_every_vector_its_row() {
    let named: Vec<&str> = ROWS.iter().flat_map(|(_, vectors, _)| *vectors).copied().chain(MORE).collect();
    let set: BTreeSet<String> = named.iter().map(|name| (*name).to_owned()).collect();
    assert_eq!(set, vectors::rows());
    assert_eq!(named.len(), set.len(), "each in one row");
    for (row, vectors, tests) in ROWS {
        assert!(vectors.len() + tests.len() > 0, "{row}");
        for test in tests {
            let (module, name) = test.split_once("::").unwrap();
            let source = match module {
                "axum" => include_str!("axum.rs"),
                "headers" => include_str!("headers.rs"),
                "mutations" => include_str!("mutations.rs"),
                "secrets" => include_str!("secrets.rs"),
                other => unreachable!("no module is called {other}"),
            };
            let is_test = ["#[test]\nfn", "#[tokio::test]\nasync fn"]
                .iter()
                .any(|start| source.contains(&format!("{start} {name}(")));
            assert!(is_test, "{test}");
        }
    }
}
