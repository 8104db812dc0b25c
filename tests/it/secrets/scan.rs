//! Which of the crate's public types can hold a secret, read from its sources.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// What holds a secret, or may: texts that are wiped, headers, bodies, and whatever hides behind a trait.
const HOLDERS: [&str; 8] =
    ["Secret", "Zeroizing", "Wiped", "HeaderValue", "HeaderMap", "Bytes", "BoxStream", "dyn"];

/// What a secret's name has in it.
const HINTS: [&str; 9] =
    ["secret", "token", "key", "password", "signature", "url", "credential", "otp", "inputs"];

/// The fields with such a name that are texts all the same, which print, and why they may.
const PLAIN: [(&str, &str); 8] = [
    ("ClientBuilder.base_url", "may hold a password, and is left out of what prints"),
    ("Fact.key", "the name of what is known"),
    ("LocalServer.url", "its address on this machine"),
    ("RequestRecord.idempotency_key", "what a test's client sent"),
    ("Response.idempotency_key", "for the caller to repeat the call with"),
    ("WebhookEndpoint.url", "where the service delivers to, for all who have the key"),
    ("WebhookEndpointCreateParams.url", "the same"),
    ("WebhookEndpointUpdateParams.url", "the same"),
];

/// Public structs and enums that hold one of these, directly or through others.
pub(super) fn public_types_that_can_hold_a_secret() -> BTreeSet<String> {
    holders(sources())
}

fn sources() -> impl Iterator<Item = String> {
    let mut files = Vec::new();
    collect(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut files);
    assert!(files.len() > 50, "the sources were found");
    files.into_iter().map(|file| fs::read_to_string(file).unwrap())
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            // Neither tests nor what only the fuzz targets see.
            _ if path.ends_with("tests") || path.ends_with("fuzzing.rs") => {}
            true => collect(&path, files),
            false => files.push(path),
        }
    }
}

/// A type, and the words in the types of its fields.
#[derive(Default)]
struct Definition {
    public: bool,
    words: BTreeSet<String>,
}

fn holders(sources: impl Iterator<Item = String>) -> BTreeSet<String> {
    let mut types: BTreeMap<String, Definition> = BTreeMap::new();
    for source in sources {
        for (name, definition) in definitions(&source) {
            // Of two with the same name either counts.
            let known = types.entry(name).or_default();
            known.public |= definition.public;
            known.words.extend(definition.words);
        }
    }
    let mut found: BTreeSet<String> = HOLDERS.map(str::to_owned).into();
    loop {
        let more: Vec<_> = types
            .iter()
            .filter(|(name, definition)| !found.contains(*name) && !definition.words.is_disjoint(&found))
            .map(|(name, _)| name.clone())
            .collect();
        if more.is_empty() {
            break;
        }
        found.extend(more);
    }
    found.into_iter().filter(|name| types.get(name).is_some_and(|definition| definition.public)).collect()
}

fn definitions(source: &str) -> Vec<(String, Definition)> {
    let code: Vec<_> = source.lines().filter(|line| !line.trim_start().starts_with(['/', '#'])).collect();
    let code = code.join("\n");
    let code = code.split("mod tests {").next().unwrap_or_default();
    let mut found = Vec::new();
    for kind in ["struct ", "enum ", "type "] {
        for (at, _) in code.match_indices(kind) {
            let before = &code[..at];
            if before.ends_with(|before: char| before.is_alphanumeric() || before == '_') {
                continue;
            }
            let rest = &code[at + kind.len()..];
            let (name, body) =
                rest.split_at(rest.find(|letter: char| !is_word(letter)).unwrap_or(rest.len()));
            let public = before.ends_with("pub ") && kind != "type ";
            let words = words(body, kind == "enum ");
            found.push((name.to_owned(), Definition { public, words }));
        }
    }
    found
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$'
}

/// The words up to the end of a definition; of an enum without the names of its variants.
fn words(body: &str, is_enum: bool) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let mut word = String::new();
    let mut depth = 0_usize;
    for letter in body.chars() {
        if is_word(letter) {
            word.push(letter);
            continue;
        }
        let ended = std::mem::take(&mut word);
        if !ended.is_empty() && (!is_enum || depth > 1) {
            words.insert(ended);
        }
        match letter {
            '{' | '(' => depth += 1,
            '}' | ')' => {
                depth = depth.saturating_sub(1);
                if depth == 0 && letter == '}' {
                    break;
                }
            }
            ';' if depth == 0 => break,
            _ => {}
        }
    }
    words
}

/// Fields of public types that are plain text, and named as if they held a secret.
fn plain_texts_named_like_a_secret(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut owner = None;
    for line in source.lines() {
        let begins = ["pub struct ", "pub enum "].iter().find_map(|kind| line.split_once(kind));
        match begins.filter(|_| line.ends_with('{')) {
            Some((_, rest)) => owner = rest.split(|letter| !is_word(letter)).next(),
            None if line == "}" => owner = None,
            None => {}
        }
        let field = line.trim_start().trim_start_matches("pub ").split_once(": ");
        let (Some(owner), Some((name, kind))) = (owner, field) else { continue };
        let is_text =
            kind.split(|letter| !is_word(letter)).any(|word| ["String", "Value", "RawJson"].contains(&word));
        // A text that is wiped is found by its type.
        if is_text && !kind.contains("Zeroizing") && HINTS.iter().any(|hint| name.contains(hint)) {
            found.push(format!("{owner}.{name}"));
        }
    }
    found
}

#[test]
fn what_is_named_like_a_secret_is_no_plain_text() {
    let found: BTreeSet<_> = sources().flat_map(|source| plain_texts_named_like_a_secret(&source)).collect();
    let excused: BTreeSet<_> = PLAIN.iter().map(|(field, _)| (*field).to_owned()).collect();
    assert_eq!(found, excused, "a secret has a type that hides it; what is none is listed, with why");
}

#[test]
fn a_type_that_can_hold_a_secret_is_found_however_it_is_written() {
    let found = |source: &str| holders([source.to_owned()].into_iter()).into_iter().collect::<Vec<_>>();
    for source in [
        "pub struct A(Secret);",
        "pub struct A<T> { of: Option<Zeroizing<String>>, t: T }",
        "pub enum A { No, Yes { it: Secret } }",
        "pub enum A { No, Yes(Box<Secret>) }",
        "wire! {\n    pub struct A {\n        required { a: Secret, }\n        optional {}\n    }\n}",
        "pub struct A { of: B }\npub(crate) struct B(C);\nenum C { D(Secret) }",
        "pub struct A { of: Alias }\ntype Alias = Box<dyn Fn()>;",
    ] {
        assert_eq!(found(source), ["A"], "{source}");
    }
    // What a macro writes has no name here, and so has to be written out to be allowed.
    assert_eq!(found("pub struct $name<T>(Box<dyn X>);"), ["$name"]);
    for source in [
        "pub struct A { a: String }\nstruct B(Secret);",
        "pub enum A { Secret, Other(u8) }",
        "// pub struct A(Secret);",
    ] {
        assert!(found(source).is_empty(), "{source}");
    }
}
