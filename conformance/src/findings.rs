//! What a check has found so far.

use serde_json::Value;

/// Findings about one message of one operation.
#[derive(Debug)]
pub(crate) struct Findings<'a> {
    operation: &'a str,
    list: Vec<String>,
}

impl<'a> Findings<'a> {
    pub(crate) const fn new(operation: &'a str) -> Self {
        Self { operation, list: Vec::new() }
    }

    /// Adds a finding. `place` is where in the message it is, as `body` or `query limit`.
    pub(crate) fn add(&mut self, place: &str, reason: impl AsRef<str>) {
        let reason = reason.as_ref();
        self.list.push(format!("{}: {place}: {reason}", self.operation));
    }

    /// Adds what a schema had against a value.
    pub(crate) fn extend(&mut self, place: &str, reasons: impl IntoIterator<Item = Reason>) {
        for Reason { pointer, text } in reasons {
            if pointer.is_empty() {
                self.add(place, text);
            } else {
                self.add(&format!("{place} at {pointer}"), text);
            }
        }
    }

    /// Parses JSON, or says where it stops being JSON.
    pub(crate) fn parse(&mut self, place: &str, bytes: &[u8]) -> Option<Value> {
        match serde_json::from_slice(bytes) {
            Ok(value) => Some(value),
            Err(error) => {
                let (line, column) = (error.line(), error.column());
                self.add(place, format!("not JSON from line {line} column {column}"));
                None
            }
        }
    }

    pub(crate) fn into_result(self) -> Result<(), Vec<String>> {
        if self.list.is_empty() { Ok(()) } else { Err(self.list) }
    }
}

/// One thing that a schema has against a value.
#[derive(Debug)]
pub(crate) struct Reason {
    /// A JSON pointer to the part that is wrong; empty for the whole.
    pub(crate) pointer: String,
    /// Why, without the value.
    pub(crate) text: String,
}
