//! The table against the sources, both ways.

use std::collections::BTreeSet;
use std::path::Path;

use super::faults::COLUMNS;
use super::table::Table;
use super::{calls, streams};

/// The public methods of the resources, and what the client and its calls send by themselves, as `Type::method`. Not
/// those that return the type itself, which set something, or what can't be awaited.
fn methods() -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = BTreeSet::new();
    let mut paths = vec![root.join("resources"), root.join("call.rs"), root.join("page.rs")];
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            paths.extend(std::fs::read_dir(path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            found.extend(methods_of(&std::fs::read_to_string(path).unwrap()));
        }
    }
    found
}

fn methods_of(text: &str) -> Vec<String> {
    let mut implemented = String::new();
    let mut found = Vec::new();
    for (at, line) in
        text.match_indices('\n').map(|(at, _)| (at + 1, text[at + 1..].lines().next().unwrap_or_default()))
    {
        if let Some(rest) = line.strip_prefix("impl") {
            implemented = word(behind_parameters(rest).trim_start());
        }
        let Some(rest) = line.strip_prefix("    pub fn ").or_else(|| line.strip_prefix("    pub async fn "))
        else {
            continue;
        };
        // Up to its body, over as many lines as it takes.
        let signature = text[at..].split_once(" {\n").map_or(line, |(signature, _)| signature);
        let sets = signature.contains("-> Self") || signature.contains("-> Result<Self>");
        if !sets && !signature.contains("-> &") {
            found.push(format!("{implemented}::{}", word(rest)));
        }
    }
    found
}

/// What follows an `impl` and its type parameters, if it has any.
fn behind_parameters(text: &str) -> &str {
    let mut depth = 0;
    for (at, character) in text.char_indices() {
        match character {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return &text[at + 1..];
        }
    }
    text
}

fn word(text: &str) -> String {
    text.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect()
}

#[test]
fn every_method_that_sends_a_request_is_a_row() {
    let table = Table::read();
    let rows: BTreeSet<_> = calls::rows()
        .iter()
        .map(|row| row.name)
        .chain(streams::ROWS.iter().map(|row| row.name))
        .map(str::to_owned)
        .collect();
    let classed: BTreeSet<_> = table.calls.keys().cloned().collect();
    assert_eq!(rows, classed, "what is run, and what has a class");
    let others: BTreeSet<_> = table.others.iter().cloned().collect();
    let both: Vec<_> = rows.intersection(&others).collect();
    assert!(both.is_empty(), "a row, and none: {both:?}");
    let known: BTreeSet<_> = rows.union(&others).cloned().collect();
    let methods = methods();
    let new: Vec<_> = methods.difference(&known).collect();
    assert!(new.is_empty(), "these need a row, or a reason why they are none: {new:#?}");
    let gone: Vec<_> = known.difference(&methods).collect();
    assert!(gone.is_empty(), "these are in the table only: {gone:#?}");
    assert!(methods.len() > 60, "the sources were found");
}

#[test]
fn a_method_is_found_however_its_signature_is_written() {
    let text = "\nimpl<T: Into<Option<u8>> + Send> Record<T> {\n    pub fn list(&self) -> Call<Page<T>> {\n    }\n\n    pub fn limit(mut self) -> Self {\n    }\n}\n\
        impl Things {\n    pub fn make(\n        &self,\n        name: &str,\n    ) -> Call<Thing> {\n    }\n    pub async fn run(&self) -> u8 {\n\
        }\n    pub(crate) fn own(&self) -> u8 {\n    }\n    pub fn id(&self) -> &Id {\n    }\n}\n";
    assert_eq!(methods_of(text), ["Record::list", "Things::make", "Things::run"]);
}

#[test]
fn every_fault_is_a_column_and_a_line_of_the_table() {
    let table = Table::read();
    let columns: BTreeSet<_> = COLUMNS.iter().map(|column| column.name).collect();
    assert_eq!(columns.len(), COLUMNS.len(), "each once");
    assert_eq!(columns, table.faults().collect(), "what is run, and what is expected");
    for (call, fault) in table.exceptions.keys() {
        assert!(table.calls.contains_key(call) && columns.contains(&**fault), "{call} {fault}");
    }
    // What makes a fault of the local server, up to what says more of it.
    let source = include_str!("../../../src/local/faults/mod.rs");
    let (makers, _) = source.split_once("/// More of what goes wrong.").expect("the next part");
    let makers: BTreeSet<_> = makers
        .split("\n    pub fn ")
        .skip(1)
        .filter(|text| text.split('{').next().is_some_and(|signature| signature.contains("-> Self")))
        .map(word)
        .collect();
    let used: BTreeSet<_> = columns.iter().filter(|name| name.contains('(')).map(|name| word(name)).collect();
    assert_eq!(makers, used, "the faults that can be made, and those that are");
    assert!(makers.len() > 25, "the source was found");
}
