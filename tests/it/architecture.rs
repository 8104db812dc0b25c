//! Who may use whom. A module that reaches for another one it shouldn't know makes this fail.

use std::collections::BTreeSet;
use std::path::Path;

/// The modules of the crate, and those each may use. `macros` may be used by all; `lib.rs` joins them.
const MAY_USE: [(&str, &[&str]); 12] = [
    ("model", &[]),
    ("clock", &[]),
    ("error", &["model"]),
    ("config", &["error"]),
    ("transport", &["config", "error", "clock", "model"]),
    ("client", &["config", "transport", "error", "clock"]),
    ("call", &["client", "transport", "error"]),
    ("page", &["call", "error", "model"]),
    ("stream", &["call", "transport", "error", "clock", "model"]),
    ("webhooks", &["model", "error", "clock"]),
    ("resources", &["client", "call", "page", "stream", "webhooks", "model", "error", "clock"]),
    ("local", &["client", "transport", "model", "resources", "webhooks", "error", "clock"]),
];

#[test]
fn modules_use_only_what_they_may() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut modules = BTreeSet::new();
    let mut wrong = Vec::new();
    for (file, text) in sources(&root) {
        let module = module_of(&file);
        // The library's root joins the modules, the macros are written out elsewhere, tests and the fuzz targets see
        // everything.
        if ["fuzzing", "lib", "macros"].contains(&module.as_str()) || file.contains("/tests/") {
            continue;
        }
        modules.insert(module.clone());
        wrong.extend(forbidden(&file, &text).into_iter().map(|used| format!("{file} uses {used}")));
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    let known: BTreeSet<_> = MAY_USE.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(modules, known, "every module has its line in the table, and every line its module");
}

#[test]
fn a_forbidden_use_is_found_however_it_is_written() {
    for text in [
        "use crate::client::Client;",
        "    use crate::client;",
        "fn f(client: &crate::client::Client) {}",
        "use crate::{model::types::Money, client::Client};",
        "use crate::{\n    model::types::{Money, AgentId},\n    client::Client,\n};",
        "pub(crate) use crate::client as c;",
    ] {
        assert_eq!(forbidden("model/types.rs", text), ["client"], "{text}");
    }
    assert_eq!(forbidden("error.rs", "use super::client::Client;"), ["client"]);
    assert_eq!(forbidden("model/mod.rs", "use super::{client::Client};"), ["client"]);
    assert_eq!(forbidden("model/types.rs", "use super::super::client;"), ["client"]);
    assert!(forbidden("model/types.rs", "use super::json::RawJson;").is_empty());
    for text in
        ["// use crate::client::Client;", "/// [`Client`](crate::client::Client)", "use crate::model::x;"]
    {
        assert!(forbidden("model/types.rs", text).is_empty(), "{text}");
    }
    assert_eq!(
        forbidden("elsewhere.rs", "use crate::model;"),
        ["model"],
        "a module without a line may use nothing"
    );
}

#[test]
fn no_file_is_too_long_to_read() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (file, text) in sources(&root) {
        let lines = code_lines(&text);
        assert!(lines <= 400, "{file} has {lines} code lines; split it by concept");
    }
}

#[test]
fn only_one_file_names_reqwest_and_only_one_reads_the_wall_clock() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    for (file, text) in sources(&root) {
        let code = without_comments(&text);
        let builder = file == "client.rs" && code.matches("reqwest::Client").count() == 1;
        let adapter = file == "transport/reqwest.rs" || builder;
        assert!(
            adapter || !code.contains("reqwest::") || code.contains("mod reqwest"),
            "{file} names reqwest"
        );
        assert!(file == "clock.rs" || !code.contains("SystemTime::now"), "{file} reads the wall clock");
    }
}

/// What is told of calls is told in one file, and of refused webhooks in another: both only with the feature.
#[test]
fn only_two_files_name_tracing_and_only_with_its_feature() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let named: Vec<_> = sources(&root).into_iter().filter(|(_, text)| names_tracing(text)).collect();
    let files: BTreeSet<_> = named.iter().map(|(file, _)| file.as_str()).collect();
    assert_eq!(files, ["transport/trace.rs", "webhooks/axum.rs"].into());
    let transport = std::fs::read_to_string(root.join("transport/mod.rs")).unwrap();
    assert!(
        transport.contains("#[cfg(feature = \"tracing\")]\npub(crate) mod trace;"),
        "the file is the feature's"
    );
    let axum = &named.iter().find(|(file, _)| file == "webhooks/axum.rs").unwrap().1;
    for outside in without_items_of_tracing(axum) {
        assert!(!names_tracing(outside), "without the feature there is nothing: {outside}");
    }
    // Nor is it there by a feature that is not named so.
    let manifest = std::fs::read_to_string(root.join("../Cargo.toml")).unwrap();
    let features = manifest.split("\n[features]\n").nth(1).unwrap().split("\n[").next().unwrap();
    let bring: Vec<_> =
        features.lines().filter(|line| line.contains("tracing") && !line.starts_with('#')).collect();
    assert_eq!(bring, [r#"tracing = ["dep:tracing"]"#]);
}

#[test]
fn a_use_of_tracing_is_found_however_it_is_written() {
    for text in [
        "tracing::info!(1);",
        "use tracing;",
        "    use tracing as t;",
        "#[tracing::instrument]",
        "use ::tracing::info;",
    ] {
        assert!(names_tracing(text), "{text}");
    }
    for text in ["// tracing::info!()", "#[cfg(feature = \"tracing\")]", "/// `tracing`", "let untracing::x;"]
    {
        assert!(!names_tracing(text), "{text}");
    }
    let text = "fn a() {}\n\n#[cfg(feature = \"tracing\")]\nfn log() {\n    tracing::warn!();\n}\n\nfn b() { tracing::warn!(); }\n";
    let outside: Vec<_> = without_items_of_tracing(text).collect();
    assert_eq!(outside.iter().filter(|text| names_tracing(text)).count(), 1, "{outside:?}");
}

/// Whether the code of a file names the crate.
fn names_tracing(text: &str) -> bool {
    let code = without_comments(text);
    let is_part = |c: char| c.is_alphanumeric() || c == '_' || c == '"';
    code.match_indices("tracing")
        .any(|(at, word)| !code[..at].ends_with(is_part) && !code[at + word.len()..].starts_with(is_part))
}

/// A file's text but for the items that are there with the feature only: they end with the first line that is a brace.
fn without_items_of_tracing(text: &str) -> impl Iterator<Item = &str> {
    let mut parts = text.split("#[cfg(feature = \"tracing\")]\n");
    let before = parts.next();
    before.into_iter().chain(parts.map(|part| part.split_once("\n}\n").map_or("", |(_, rest)| rest)))
}

fn forbidden(file: &str, text: &str) -> Vec<String> {
    let module = &module_of(file);
    let may = MAY_USE.iter().find(|(name, _)| *name == module).map_or(&[] as &[&str], |(_, may)| may);
    let code = without_comments(text);
    let mut used = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        if code[..at].ends_with('$') {
            continue;
        }
        used.extend(first_segments(&code[at + "crate::".len()..]));
    }
    // As many `super` as the file is deep lead to the root; the tests inside a file are one deeper.
    let code = code.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
    let to_root = "super::".repeat(depth(file));
    for (at, _) in code.match_indices(&to_root) {
        let rest = &code[at + to_root.len()..];
        if !code[..at].ends_with("super::") && !rest.starts_with("super::") {
            used.extend(first_segments(rest));
        }
    }
    let own = ["macros".to_owned(), module.clone()];
    used.into_iter().filter(|used| !own.contains(used) && !may.contains(&used.as_str())).collect()
}

/// The modules named right behind `crate::`, one or a group in braces.
fn first_segments(rest: &str) -> Vec<String> {
    let word = |text: &str| text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect::<String>();
    let Some(group) = rest.strip_prefix('{') else {
        // A type exported at the root, such as `crate::Client`, is named in documentation only.
        return vec![word(rest)];
    };
    let mut depth = 0;
    let mut segments = Vec::new();
    let mut start = true;
    for (at, character) in group.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            ',' if depth == 0 => start = true,
            character if start && !character.is_whitespace() => {
                segments.push(word(&group[at..]));
                start = false;
            }
            _ => {}
        }
    }
    segments
}

/// How many modules a file is below the root.
fn depth(file: &str) -> usize {
    file.trim_end_matches(".rs").trim_end_matches("/mod").split('/').count()
}

fn module_of(file: &str) -> String {
    file.split(['/', '.']).next().unwrap().to_owned()
}

fn without_comments(text: &str) -> String {
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

fn code_lines(text: &str) -> usize {
    let code = without_comments(text);
    let code = code.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    code.lines().filter(|line| !line.trim().is_empty()).count()
}

fn sources(root: &Path) -> Vec<(String, String)> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else {
                let name = path.strip_prefix(root).unwrap().to_string_lossy().replace('\\', "/");
                files.push((name, std::fs::read_to_string(&path).unwrap()));
            }
        }
    }
    assert!(files.len() > 20, "the sources were found");
    files
}
