//! Approvals: the points at which a person decides.

use std::collections::BTreeMap;
use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};

use super::json::RawJson;
use super::secret::Secret;
use super::types::{ApprovalId, MandateId};

/// The capability of an action that asks for information rather than permission (documented).
const INPUT_REQUEST: &str = "input.provide";

string_enum! {
    /// What became of an approval.
    pub enum ApprovalStatus {
        /// Waits for a decision (documented).
        Pending = "pending",
        /// The action was allowed (assumed).
        Approved = "approved",
        /// The action was refused (assumed).
        Rejected = "rejected",
        /// Nobody decided in time; a decision that comes now runs nothing (documented).
        Expired = "expired",
        /// Its mandate was canceled (assumed).
        Canceled = "canceled",
    }
}

wire! {
    /// One value an action needs from a person (assumed).
    pub struct ApprovalField {
        required {
            /// Its name, under which the answer goes into [`ApprovalApproveParams::input`].
            name: String,
        }
        optional {
            /// What to call it on a form.
            label: Option<String>,
            /// Whether the value is secret. See [`is_secret`](ApprovalField::is_secret).
            secret: Option<bool>,
            /// Whether the action needs it.
            required: Option<bool>,
        }
    }
}

impl ApprovalField {
    /// Whether to hide the value while it is typed: yes, unless the service says that it is no secret.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        self.secret.unwrap_or(true)
    }
}

wire! {
    /// The exact action a person decides on (documented). Show it as it is; don't paraphrase it.
    pub struct ApprovalAction {
        required {
            /// The capability that would run, or `input.provide` for a question.
            capability: String,
        }
        optional {
            /// What it would do, in plain words; of an input request, the question.
            consequence: String,
            /// What it would run with, secrets hidden by the service, so safe to show. Kept as JSON text:
            /// no number is rounded. `null` if there is none.
            arguments: RawJson,
            /// The values it asks a person for (assumed).
            fields: Vec<ApprovalField>,
        }
    }
}

impl ApprovalAction {
    /// Whether this asks for information, to be given as [inputs](ApprovalApproveParams::input), rather than
    /// for permission.
    #[must_use]
    pub fn is_input_request(&self) -> bool {
        self.capability == INPUT_REQUEST
    }
}

wire! {
    /// A point in a mandate where a person decides on one exact action (documented).
    pub struct Approval {
        required {
            /// Its id.
            id: ApprovalId,
            /// The mandate that waits.
            mandate: MandateId,
            /// What became of it.
            status: ApprovalStatus,
            /// What the person is asked.
            question: String,
            /// The exact action to decide on.
            action: ApprovalAction,
        }
        optional {
            /// When it expires, at most seven days after it was asked.
            expires_at: Option<Timestamp>,
            /// Why it was decided as it was (assumed).
            reason: Option<String>,
            /// When it was decided, expired or was canceled (assumed).
            resolved_at: Option<Timestamp>,
            /// When it was asked.
            created_at: Option<Timestamp>,
            /// When it last changed.
            updated_at: Option<Timestamp>,
        }
    }
}

impl Approval {
    /// Whether it waits for a decision. By the time one arrives it may have been decided, or have expired.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.status == ApprovalStatus::Pending
    }
}

/// Values that a person gives with an approval, by name: secret, so they never print.
///
/// Wiped when it is dropped is this copy of them, and so is the body that a call makes of it, once it has been sent for
/// the last time. Not wiped: what the transport copies on the way out (reqwest's and hyper's buffers, and those of TLS),
/// and JSON that you make of it yourself.
#[derive(Clone, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct ApprovalInputs(BTreeMap<String, Secret>);

impl ApprovalInputs {
    /// Sets one value.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<String>) {
        self.0.insert(name.into(), Secret::from(value.into()));
    }

    /// The names that have a value.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The value of a name, in the open.
    #[must_use]
    pub fn expose(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(Secret::expose)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for ApprovalInputs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApprovalInputs(…)")
    }
}

impl<'de> Deserialize<'de> for ApprovalInputs {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // The error would repeat what came instead of an object.
        BTreeMap::deserialize(deserializer)
            .map(Self)
            .map_err(|_| serde::de::Error::custom("expected an object of texts (what came is not shown)"))
    }
}

wire! {
    /// What goes with an approving decision.
    ///
    /// ```
    /// use shadway::approvals::ApprovalApproveParams;
    ///
    /// let params = ApprovalApproveParams::new().reason("Verified with the account holder.").input("otp", "483921");
    /// assert!(!format!("{params:?}").contains("483921"));
    /// ```
    #[derive(Default)]
    pub struct ApprovalApproveParams {
        required {}
        optional {
            /// Why, for the record.
            reason: Option<String>,
            /// Values for running this one action, secret.
            inputs: ApprovalInputs,
        }
    }
}

impl ApprovalApproveParams {
    /// No reason and no values.
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

    /// A value that only the person has, such as a one-time code; call it again for another.
    ///
    /// The service keeps it briefly and encrypted, shows it to nobody, and deletes it once the action is done
    /// (documented).
    #[must_use]
    pub fn input(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.inputs.insert(name, value);
        self
    }
}

/// A text is the reason.
impl From<&str> for ApprovalApproveParams {
    fn from(reason: &str) -> Self {
        Self::new().reason(reason)
    }
}

/// A text is the reason.
impl From<String> for ApprovalApproveParams {
    fn from(reason: String) -> Self {
        Self::new().reason(reason)
    }
}

wire! {
    /// What goes with a rejecting decision: a reason only, since a rejection takes no inputs (documented).
    #[derive(Default)]
    pub struct ApprovalRejectParams {
        required {}
        optional {
            /// Why, for the record.
            reason: Option<String>,
        }
    }
}

impl ApprovalRejectParams {
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

/// A text is the reason.
impl From<&str> for ApprovalRejectParams {
    fn from(reason: &str) -> Self {
        Self::new().reason(reason)
    }
}

/// A text is the reason.
impl From<String> for ApprovalRejectParams {
    fn from(reason: String) -> Self {
        Self::new().reason(reason)
    }
}

/// Which approvals to list, and how many a page.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ApprovalListParams {
    /// The size of a page, 1 to 100; the service's default is 20 (assumed).
    pub limit: Option<u32>,
    /// Only approvals in one of these; empty means any.
    pub status: Vec<ApprovalStatus>,
    /// Only approvals of this mandate.
    pub mandate: Option<MandateId>,
}

impl ApprovalListParams {
    /// All approvals of the workspace.
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

    /// Only approvals in one of these.
    #[must_use]
    pub fn status(mut self, statuses: impl IntoIterator<Item = ApprovalStatus>) -> Self {
        self.status = statuses.into_iter().collect();
        self
    }

    /// Only approvals of this mandate.
    #[must_use]
    pub fn mandate(mut self, mandate: impl Into<MandateId>) -> Self {
        self.mandate = Some(mandate.into());
        self
    }
}
