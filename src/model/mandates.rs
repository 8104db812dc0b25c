//! Mandates: one job each, inside hard limits.

use jiff::Timestamp;

use super::authority::Authority;
use super::types::{AgentId, Extra, MandateId, Metadata, Nullable};

string_enum! {
    /// Where a mandate stands. The service sets it.
    pub enum MandateStatus {
        /// Accepted, not begun (assumed).
        Queued = "queued",
        /// At work (assumed).
        Running = "running",
        /// Waiting for a reply, a timer, or free capacity (documented).
        WaitingExternal = "waiting_external",
        /// Waiting for a person to approve or to answer (documented).
        NeedsApproval = "needs_approval",
        /// Stopped until it is resumed (documented).
        Paused = "paused",
        /// Ended: every success criterion holds (documented).
        Completed = "completed",
        /// Ended without its objective (documented).
        Failed = "failed",
        /// Ended by a command (documented).
        Canceled = "canceled",
        /// Ended because `expires_at` passed (documented).
        Expired = "expired",
    }
}

impl MandateStatus {
    /// Whether the mandate has ended: completed, failed, canceled or expired. An unknown status has not.
    #[must_use]
    pub fn is_terminal(&self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Canceled | Self::Expired)
    }
}

wire! {
    /// What a mandate is at, in plain words (documented).
    #[derive(Default)]
    pub struct MandateState {
        required {}
        always {
            /// What has happened and what is next.
            summary: String,
        }
        optional {
            /// What it is waiting for, while it waits.
            waiting_on: Option<String>,
        }
    }
}

wire! {
    /// One job: an objective, and the authority that bounds it (documented).
    pub struct Mandate {
        required {
            /// Its id.
            id: MandateId,
            /// The agent that does it.
            agent: AgentId,
            /// What should be accomplished.
            objective: String,
            /// Where it stands.
            status: MandateStatus,
        }
        always {
            /// Preferences; the model reads them, nothing enforces them.
            guidance: Vec<String>,
            /// The limits, enforced on every action.
            authority: Authority,
            /// The version of the limits; an amendment raises it.
            authority_version: u64,
            /// What it is at, in plain words.
            current_state: MandateState,
            /// Your own labels.
            metadata: Metadata,
        }
        optional {
            /// The agent's saved version that it runs with (that it keeps one is documented, the field
            /// assumed).
            agent_revision: Option<u64>,
            /// When the job is due. Steers planning, enforces nothing.
            deadline: Option<Timestamp>,
            /// When it ends whatever its state: after this no action runs.
            expires_at: Option<Timestamp>,
            /// When it was created.
            created_at: Option<Timestamp>,
            /// When it last changed.
            updated_at: Option<Timestamp>,
        }
    }
}

wire! {
    /// What makes a new mandate.
    ///
    /// ```
    /// use shadway::mandates::{Authority, MandateCreateParams};
    ///
    /// let params = MandateCreateParams::new("agt_1", "Ask for a quote on 200 units of part #48-221.")
    ///     .guidance(["Include shipping cost."])
    ///     .authority(Authority::new().capabilities(["email.send"]).maximum_actions(5))
    ///     .metadata("purchaseRequest", "PR-1042");
    /// assert_eq!(params.authority.unwrap().maximum_actions, Some(5));
    /// ```
    pub struct MandateCreateParams {
        required {
            /// The agent that does it.
            agent: AgentId,
            /// What should be accomplished.
            objective: String,
            /// When the job is due; unset and `null` are told apart (documented).
            #[serde(default, skip_serializing_if = "Nullable::is_unset")]
            deadline: Nullable<Timestamp>,
            /// When it ends whatever its state; unset and `null` are told apart (documented).
            #[serde(default, skip_serializing_if = "Nullable::is_unset")]
            expires_at: Nullable<Timestamp>,
        }
        optional {
            /// Preferences; nothing enforces them.
            guidance: Vec<String>,
            /// The limits, enforced on every action.
            authority: Option<Authority>,
            /// Your own labels.
            metadata: Metadata,
        }
    }
}

impl MandateCreateParams {
    /// A job for an agent.
    #[must_use]
    pub fn new(agent: impl Into<AgentId>, objective: impl Into<String>) -> Self {
        Self {
            agent: agent.into(),
            objective: objective.into(),
            guidance: Vec::new(),
            deadline: Nullable::Unset,
            expires_at: Nullable::Unset,
            authority: None,
            metadata: Metadata::new(),
            extra: Extra::new(),
        }
    }

    /// Preferences for the agent; nothing enforces them.
    #[must_use]
    pub fn guidance(mut self, lines: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.guidance = lines.into_iter().map(Into::into).collect();
        self
    }

    /// When the job is due. Steers planning, enforces nothing.
    #[must_use]
    pub fn deadline(mut self, deadline: Timestamp) -> Self {
        self.deadline = Nullable::Value(deadline);
        self
    }

    /// Says that there is no deadline, rather than saying nothing of one.
    #[must_use]
    pub fn clear_deadline(mut self) -> Self {
        self.deadline = Nullable::Null;
        self
    }

    /// The hard cutoff: after it no action runs and the mandate ends expired.
    #[must_use]
    pub fn expires_at(mut self, expires_at: Timestamp) -> Self {
        self.expires_at = Nullable::Value(expires_at);
        self
    }

    /// Says that it never expires, rather than saying nothing of it.
    #[must_use]
    pub fn clear_expires_at(mut self) -> Self {
        self.expires_at = Nullable::Null;
        self
    }

    /// The limits, enforced on every action.
    #[must_use]
    pub fn authority(mut self, authority: Authority) -> Self {
        self.authority = Some(authority);
        self
    }

    /// One label; call it again for another.
    #[must_use]
    pub fn metadata(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.metadata.insert(name.into(), value.into());
        self
    }
}

wire! {
    /// What goes with a command to a mandate.
    #[derive(Default)]
    pub struct MandateCommandParams {
        required {}
        optional {
            /// Why, for the record.
            reason: Option<String>,
        }
    }
}

impl MandateCommandParams {
    /// No reason given.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Why, for the record.
    #[must_use]
    pub fn reason(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }
}

/// Which mandates to list, and how many a page (the filters are assumed).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct MandateListParams {
    /// The size of a page, 1 to 100; the service's default is 20 (assumed).
    pub limit: Option<u32>,
    /// Only mandates in one of these; empty means any.
    pub status: Vec<MandateStatus>,
    /// Only mandates of this agent.
    pub agent: Option<AgentId>,
}

impl MandateListParams {
    /// All mandates.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The size of a page, 1 to 100.
    #[must_use]
    pub fn limit(mut self, limit: u32) -> Self {
        self.limit = Some(limit);
        self
    }

    /// Only mandates in one of these.
    #[must_use]
    pub fn status(mut self, statuses: impl IntoIterator<Item = MandateStatus>) -> Self {
        self.status = statuses.into_iter().collect();
        self
    }

    /// Only mandates of this agent.
    #[must_use]
    pub fn agent(mut self, agent: impl Into<AgentId>) -> Self {
        self.agent = Some(agent.into());
        self
    }
}

/// A text is the reason.
impl From<&str> for MandateCommandParams {
    fn from(reason: &str) -> Self {
        Self::new().reason(reason)
    }
}

/// A text is the reason.
impl From<String> for MandateCommandParams {
    fn from(reason: String) -> Self {
        Self::new().reason(reason)
    }
}
