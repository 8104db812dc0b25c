//! How the service says no (the envelope and every code are assumed).

use serde::{Deserialize, Deserializer, Serialize};

use super::plain;
use super::types::Extra;

string_enum! {
    /// Why the service refused, for a program to read. New codes appear over time.
    pub enum ErrorCode {
        /// The command does not apply to the mandate's status.
        InvalidStatusTransition = "invalid_status_transition",
        /// The approval was decided the other way.
        AlreadyResolved = "already_resolved",
        /// The approval's time was over.
        ApprovalExpired = "approval_expired",
        /// The authority has changed since the version that was read.
        VersionMismatch = "version_mismatch",
        /// The idempotency key came before with another request.
        IdempotencyKeyReused = "idempotency_key_reused",
        /// The first request with this idempotency key is still being worked on; repeated by itself.
        IdempotencyInProgress = "idempotency_in_progress",
        /// The mandate has ended.
        MandateEnded = "mandate_ended",
        /// There is a capability of this name and version already.
        CapabilityExists = "capability_exists",
        /// A capability that the mandate needs can't run.
        CapabilityUnavailable = "capability_unavailable",
        /// The agent or the workspace lacks a capability that the mandate asks for.
        CapabilityNotGranted = "capability_not_granted",
        /// The agent is disabled and takes no new mandates.
        AgentDisabled = "agent_disabled",
        /// The limits contradict each other, such as a threshold that is not below the maximum.
        InvalidAuthority = "invalid_authority",
    }
}

/// What the service said of a request it refused.
///
/// An answer that is not the service's own (a proxy's HTML page, an empty body) has no `code`, and its
/// `message` is the start of the body.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ApiError {
    /// The family of the error, such as `conflict`.
    #[serde(rename = "type", default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub error_type: Option<String>,
    /// The reason, for a program.
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub code: Option<ErrorCode>,
    /// The reason, for a person.
    #[serde(default, deserialize_with = "message")]
    pub message: String,
    /// The parameter that was refused.
    #[serde(default, deserialize_with = "text", skip_serializing_if = "Option::is_none")]
    pub param: Option<String>,
    /// What a program can make of it.
    #[serde(default, deserialize_with = "plain::optional", skip_serializing_if = "Option::is_none")]
    pub details: Option<serde_json::Value>,
    /// Fields this version of the crate does not know, as they came.
    #[serde(flatten, deserialize_with = "plain::fields")]
    pub extra: Extra,
}

/// A field that should be a text: if it isn't, that is no reason to lose the others.
fn text<'de, D: Deserializer<'de>, T: From<String>>(deserializer: D) -> Result<Option<T>, D::Error> {
    Ok(match plain::value(deserializer)? {
        serde_json::Value::Null => None,
        serde_json::Value::String(text) => Some(T::from(text)),
        odd => Some(T::from(odd.to_string())),
    })
}

fn message<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    text(deserializer).map(Option::unwrap_or_default)
}

/// The body of every refusal.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct ErrorBody {
    pub(crate) error: ApiError,
}
