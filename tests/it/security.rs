//! `SECURITY.md` beside what it names.

use std::fs;
use std::path::Path;

fn read(path: &str) -> Option<String> {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).ok()
}

/// Each proof, a file and the tests in it: a list item that begins with a path, with all its lines.
fn proofs(document: &str) -> Vec<(String, Vec<String>)> {
    let mut items: Vec<String> = Vec::new();
    let mut open = false;
    for line in document.lines() {
        match line.strip_prefix("- `") {
            Some(item) => items.push(format!("`{item}")),
            None if open && line.starts_with("  ") => items.last_mut().unwrap().push_str(line),
            None => {}
        }
        open = line.starts_with("- `") || (open && line.starts_with("  "));
    }
    let names = |item: &String| item.split('`').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>();
    items.iter().map(names).map(|mut names| (names.remove(0), names)).collect()
}

/// The proofs that are not there.
fn missing(document: &str, read: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let mut missing = Vec::new();
    for (path, tests) in proofs(document) {
        let Some(text) = read(&path) else {
            missing.push(path);
            continue;
        };
        let is_test = |name: &String| {
            let header = format!("fn {name}(");
            let before = text.split(&header).next().filter(|before| before.len() < text.len());
            // Between the attribute of a test and its function stand other attributes at most.
            before
                .and_then(|before| before.rsplit("\n\n").next())
                .is_some_and(|before| before.contains("#[test]") || before.contains("#[tokio::test"))
        };
        missing.extend(tests.iter().filter(|test| !is_test(test)).map(|test| format!("{path}: {test}")));
    }
    missing
}

#[test]
fn every_promise_has_its_tests_and_every_test_named_is_there() {
    let document = read("SECURITY.md").unwrap();
    let promises = document.split("\n## Promises\n").nth(1).unwrap().split("\n## ").next().unwrap();
    let unproved: Vec<_> =
        promises.split("\n\n**").skip(1).filter(|promise| proofs(promise).is_empty()).collect();
    assert_eq!(unproved.len(), 1, "only that `unsafe` is forbidden is proved by the compiler: {unproved:#?}");
    assert!(proofs(&document).iter().map(|(_, tests)| tests.len()).sum::<usize>() > 50);
    let mut missing = missing(&document, read);
    if read("conformance/Cargo.toml").is_none() {
        // Not in the published package.
        missing.retain(|path| !["fuzz/", "soak/", "tls/"].iter().any(|folder| path.starts_with(folder)));
    }
    assert!(missing.is_empty(), "named in SECURITY.md, and not there: {missing:#?}");
}

#[test]
fn what_is_not_there_is_found() {
    let read = |path: &str| {
        (path == "a.rs")
            .then(|| "#[test]\nfn one() {}\n\nfn helper() {}\n\n#[tokio::test]\nasync fn two() {}".to_owned())
    };
    let document =
        "- `a.rs`: `one`,\n  `two`, `three`,\n  `helper`\n- `b.rs`: `four`\n\ntext `five`\n  `six`";
    assert_eq!(missing(document, read), ["a.rs: three", "a.rs: helper", "b.rs"]);
}

#[test]
fn signatures_are_compared_in_constant_time_alone() {
    let text = read("src/webhooks/verify.rs").unwrap();
    let compares = text.split("fn fits(").nth(1).unwrap().split("\n    }\n").next().unwrap();
    assert!(compares.contains("fits |= code.ct_eq(&signature)"), "{compares}");
    for early in ["==", "return", "break", " if ", "any(", "?"] {
        assert!(!compares.contains(early), "it should look at all, whatever was found: {compares}");
    }
}
