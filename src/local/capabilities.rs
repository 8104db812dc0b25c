//! The capabilities that come with every workspace (documented; their inputs and outputs are assumed).

use std::sync::LazyLock;

use jiff::Timestamp;
use serde_json::{Map, Value, json};

use crate::model::capabilities::{
    Capability, CapabilityEffect, CapabilityExecutionMode, CapabilityIdempotency, CapabilityRisk,
    CapabilityStatus, CapabilityVerify,
};
use crate::model::json::RawJson;
use crate::model::types::{CapabilityId, Extra, Metadata};

/// One capability: its name, what it does, whether it only reads, and the fields of its input and output.
struct BuiltIn(&'static str, &'static str, Kind, &'static [&'static str], &'static [&'static str]);

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Write,
    Read,
    /// A read that is listed but can't run (documented).
    Listed,
}

#[rustfmt::skip]
const BUILT_IN: [BuiltIn; 12] = [
    BuiltIn("email.send", "Send an email from the agent's own address", Kind::Write, &["to", "subject", "body"], &["message"]),
    BuiltIn("email.get_delivery", "Check the delivery status of a sent email", Kind::Read, &["message"], &["status"]),
    BuiltIn("mailbox.read_thread", "Read a conversation in a connected mailbox", Kind::Read, &["thread"], &["messages"]),
    BuiltIn("mailbox.send", "Send a new message from a connected mailbox", Kind::Write, &["to", "subject", "body"], &["message", "thread"]),
    BuiltIn("mailbox.reply", "Reply within an existing conversation", Kind::Write, &["thread", "body"], &["message"]),
    BuiltIn("phone.call", "Place an outbound phone call", Kind::Write, &["to", "purpose"], &["call"]),
    BuiltIn("phone.get_call", "Check the status and outcome of a call", Kind::Read, &["call"], &["status", "outcome"]),
    BuiltIn("browser.run", "Run a browsing task in a managed browser", Kind::Write, &["task"], &["run"]),
    BuiltIn("browser.get_run", "Check a browser run's progress and result", Kind::Read, &["run"], &["status", "result"]),
    BuiltIn("browser.cancel_run", "Cancel a running browser task", Kind::Write, &["run"], &["status"]),
    BuiltIn("mailbox.search", "Search a connected mailbox", Kind::Listed, &["query"], &["threads"]),
    BuiltIn("mailbox.get_attachment", "Fetch an attachment from a connected mailbox", Kind::Listed, &["attachment"], &["content"]),
];

/// All of them as the service lists them.
pub(crate) fn built_in(
    created_at: Timestamp,
    mut new_id: impl FnMut() -> String,
) -> impl Iterator<Item = Capability> {
    let all = BUILT_IN.into_iter().zip(&*SCHEMAS);
    all.map(move |(BuiltIn(name, description, kind, ..), (input, output))| Capability {
        name: name.to_owned(),
        description: description.to_owned(),
        risk: if kind == Kind::Write && family(name) != "browser" {
            CapabilityRisk::Communications
        } else {
            CapabilityRisk::None
        },
        effect: if kind == Kind::Write { CapabilityEffect::Write } else { CapabilityEffect::Read },
        verify: if kind == Kind::Write { CapabilityVerify::ReadAfterWrite } else { CapabilityVerify::None },
        idempotency: if kind == Kind::Write {
            CapabilityIdempotency::Reconcilable
        } else {
            CapabilityIdempotency::Native
        },
        execution_mode: if kind == Kind::Listed {
            CapabilityExecutionMode::Unavailable
        } else {
            CapabilityExecutionMode::Available
        },
        status: CapabilityStatus::Active,
        id: Some(CapabilityId::from(new_id())),
        version: None,
        input_schema: Some(input.clone()),
        output_schema: Some(output.clone()),
        metadata: Metadata::new(),
        created_at: Some(created_at),
        updated_at: Some(created_at),
        extra: Extra::new(),
    })
}

/// Whether the name is that of a capability that comes with every workspace.
pub(crate) fn is_built_in(name: &str) -> bool {
    BUILT_IN.iter().any(|built_in| built_in.0 == name)
}

/// Their inputs and outputs, written once: tests make workspaces by the thousand.
static SCHEMAS: LazyLock<Vec<(RawJson, RawJson)>> = LazyLock::new(|| {
    let both = |BuiltIn(.., input, output): &BuiltIn| (schema(input).into(), schema(output).into());
    BUILT_IN.iter().map(both).collect()
});

fn schema(fields: &[&str]) -> Value {
    let properties: Map<String, Value> =
        fields.iter().map(|field| ((*field).to_owned(), json!({"type": "string"}))).collect();
    json!({"type": "object", "properties": properties, "required": fields, "additionalProperties": false})
}

/// Whether the name is an action's, which always has a dot (documented), rather than a family's.
pub(crate) fn is_action(name: &str) -> bool {
    name.contains('.')
}

/// The family of a name; a family's name is its own.
pub(crate) fn family(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_of_twelve_can_run() {
        let all: Vec<_> = built_in(Timestamp::UNIX_EPOCH, || "cap_1".to_owned()).collect();
        assert_eq!(all.len(), 12);
        assert_eq!(all.iter().filter(|capability| capability.is_runnable()).count(), 10);
        let reads: Vec<_> = all
            .iter()
            .filter(|capability| capability.is_runnable() && capability.effect == CapabilityEffect::Read)
            .map(|capability| capability.name.as_str())
            .collect();
        assert_eq!(reads, ["email.get_delivery", "mailbox.read_thread", "phone.get_call", "browser.get_run"]);
    }
}
