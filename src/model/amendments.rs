//! Amendments: a mandate's limits, replaced as a whole and kept in every version.

use jiff::Timestamp;

use super::authority::Authority;
use super::types::{AmendmentId, Extra, MandateId};

wire! {
    /// One replacement of a mandate's limits. It can't be changed afterwards, and all are kept (documented).
    pub struct MandateAmendment {
        required {
            /// The version of the limits that it made.
            version: u64,
        }
        always {
            /// The limits from then on (the field is assumed).
            authority: Authority,
        }
        optional {
            /// Its id (assumed).
            id: Option<AmendmentId>,
            /// The mandate (the field is assumed).
            mandate: Option<MandateId>,
            /// Why they were changed (that it is kept is documented, the field assumed).
            reason: String,
            /// Who changed them (that it is kept is documented, the field assumed).
            actor: Option<String>,
            /// When they were changed.
            created_at: Option<Timestamp>,
        }
    }
}

wire! {
    /// A replacement of a mandate's limits.
    ///
    /// It replaces **all** of them: begin with the authority that was read, not with a new one.
    pub struct MandateAmendmentCreateParams {
        required {
            /// All limits from now on.
            authority: Authority,
            /// Why, for the record.
            reason: String,
            /// The version of the limits that was read; the change conflicts if it is no longer the present one.
            expected_version: u64,
        }
        optional {}
    }
}

impl MandateAmendmentCreateParams {
    /// All limits from now on, why, and the version that was read.
    #[must_use]
    pub fn new(authority: Authority, reason: impl Into<String>, expected_version: u64) -> Self {
        Self { authority, reason: reason.into(), expected_version, extra: Extra::new() }
    }
}
