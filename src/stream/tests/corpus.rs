//! The files of `fixtures/sse`, each at every chunking.

use std::collections::BTreeSet;
use std::path::Path;

use serde_json::{Value, json};

use crate::model::types::EventId;

use super::{cuts_in_three, cuts_in_two, decode, oracle, oracle::Reading};

/// Up to this many bytes an input is cut at every two places.
const SHORT: usize = 64;

struct Case {
    name: String,
    input: Vec<u8>,
    expected: Value,
}

fn cases() -> Vec<Case> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/sse");
    let names: BTreeSet<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "sse"))
        .collect();
    let case = |path: &std::path::PathBuf| Case {
        name: path.file_stem().unwrap().to_string_lossy().into_owned(),
        input: std::fs::read(path).unwrap(),
        expected: serde_json::from_slice(&std::fs::read(path.with_extension("json")).unwrap()).unwrap(),
    };
    names.iter().map(case).collect()
}

/// A reading in the words of the fixtures.
fn described(reading: &Reading) -> Value {
    let events = reading.blocks.iter().filter_map(|block| {
        let frame = block.frame.as_ref()?;
        let id = block.id.as_ref().map_or("", EventId::as_str);
        Some(json!({"type": frame.event, "data": frame.data, "lastEventId": id}))
    });
    let mut described = json!({"events": events.collect::<Vec<_>>()});
    if let Some(id) = reading.blocks.last().and_then(|block| block.id.as_ref()) {
        described["lastEventId"] = id.as_str().into();
    }
    if let Some(retry) = reading.retry {
        described["retry"] = retry.into();
    }
    described
}

#[test]
fn there_are_cases_enough() {
    assert!(cases().len() >= 100, "{}", cases().len());
}

#[test]
fn the_oracle_reads_each_case_as_its_file_says() {
    for Case { name, input, expected } in cases() {
        assert_eq!(described(&oracle::read(&input)), expected, "{name}");
    }
}

#[test]
fn the_decoder_reads_each_case_the_same_at_every_chunking() {
    for Case { name, input, expected } in cases() {
        let right = oracle::read(&input);
        assert_eq!(described(&decode([&input[..]])), expected, "{name}");
        for chunks in cuts_in_two(&input) {
            assert_eq!(decode(chunks), right, "{name}, cut after {}", chunks[0].len());
        }
        if input.len() <= SHORT {
            for chunks in cuts_in_three(&input) {
                let [start, middle, _] = chunks.map(<[u8]>::len);
                assert_eq!(decode(chunks), right, "{name}, cut after {start} and {middle} more");
            }
        }
        for size in 1..=3 {
            let chunks = || input.chunks(size);
            assert_eq!(decode(chunks()), right, "{name}, in chunks of {size}");
            let with_empty = chunks().flat_map(|chunk| [&[][..], chunk, &[]]);
            assert_eq!(decode(with_empty), right, "{name}, in chunks of {size} and empty ones");
        }
    }
}

/// No block waits for a byte that comes after its own end.
#[test]
fn a_block_is_there_with_the_byte_that_ends_it() {
    for Case { name, input, .. } in cases() {
        for end in 0..=input.len() {
            let so_far = &input[..end];
            assert_eq!(decode(so_far.chunks(1)), oracle::read(so_far), "{name}, up to {end}");
        }
    }
}
