//! The record of a mandate: what the service knows of the job, and how it knows. Read-only (documented).

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::json::RawJson;
use super::secret::Secret;
use super::types::{ArtifactId, AssertionId, CommitmentId, EvidenceId, FactId, InformationNeedId, IssueId};

string_enum! {
    /// How sure the service is of a fact (documented).
    pub enum FactStatus {
        /// Confirmed.
        Verified = "verified",
        /// Confirmed: it follows from what is.
        Derived = "derived",
        /// Seen, not confirmed.
        Observed = "observed",
        /// Reported, not confirmed.
        Asserted = "asserted",
        /// Out of date.
        Stale = "stale",
        /// In conflict with something else that is known.
        Conflicted = "conflicted",
        /// Something else that is known speaks against it.
        Contradicted = "contradicted",
        /// A gap that is being tracked; not to be taken for [`Unknown`](FactStatus::Unknown), a status this
        /// version of the crate does not know.
        Gap = "unknown",
    }
}

impl FactStatus {
    /// Whether the fact counts towards completion: verified or derived.
    #[must_use]
    pub fn is_confirmed(&self) -> bool {
        matches!(self, Self::Verified | Self::Derived)
    }
}

string_enum! {
    /// What a fact came from (documented; the texts are assumed).
    pub enum FactSourceType {
        /// An action the agent took.
        Action = "action",
        /// An event.
        Event = "event",
        /// A piece of evidence.
        Evidence = "evidence",
        /// A check.
        Check = "check",
    }
}

wire! {
    /// Where a fact came from (that each has a source is documented, the shape assumed).
    pub struct FactSource {
        required {
            /// What it came from.
            #[serde(rename = "type")]
            source_type: FactSourceType,
        }
        optional {
            /// The id of what it came from, such as a piece of evidence.
            id: Option<String>,
        }
    }
}

wire! {
    /// Something known of the job (documented). The service writes facts; nobody else can.
    pub struct Fact {
        required {
            /// What it is about, as a success criterion names it.
            key: String,
            /// Its value, any JSON, as the text that came: no number is rounded. `null` if there is none.
            #[serde(default)]
            value: RawJson,
            /// How sure the service is.
            status: FactStatus,
        }
        optional {
            /// Its id (assumed).
            id: Option<FactId>,
            /// Where it came from.
            source: Option<FactSource>,
            /// When it was first known.
            created_at: Option<Timestamp>,
            /// When it last changed.
            updated_at: Option<Timestamp>,
        }
    }
}

wire! {
    /// How strong a piece of evidence is: who produced it, and how it came here (documented).
    #[derive(Default)]
    pub struct EvidenceQuality {
        required {}
        optional {
            /// The class of who produced it; the texts are the service's (the name is documented).
            source_class: String,
            /// Whether the service confirmed where it comes from (the name is assumed).
            provenance_confirmed: Option<bool>,
            /// Whether it is firsthand (the name is assumed).
            firsthand: Option<bool>,
        }
    }
}

wire! {
    /// The actual source behind a fact: the quote itself, not a summary (documented).
    pub struct Evidence {
        required {
            /// What it is.
            title: String,
        }
        optional {
            /// Its id (assumed).
            id: Option<EvidenceId>,
            /// A short excerpt, word for word.
            excerpt: String,
            /// Where in the artifact it is, any JSON (the name is assumed, and the shape open).
            location: Option<RawJson>,
            /// The document, email or record it points to (the name is assumed).
            artifact: Option<ArtifactId>,
            /// How strong it is.
            quality: EvidenceQuality,
            /// When it was recorded.
            created_at: Option<Timestamp>,
            /// When it last changed.
            updated_at: Option<Timestamp>,
        }
    }
}

string_enum! {
    /// How far an open question is; it only moves forward (documented; the texts are assumed).
    pub enum IssueState {
        /// Asked.
        Open = "open",
        /// Somebody reacted without answering.
        Acknowledged = "acknowledged",
        /// Somebody answered.
        Answered = "answered",
        /// Settled.
        Resolved = "resolved",
    }
}

wire! {
    /// A question the work needs to answer (documented).
    pub struct Issue {
        required {
            /// The question.
            question: String,
            /// How far it is.
            state: IssueState,
        }
        optional {
            /// Its id (assumed).
            id: Option<IssueId>,
            /// When it came up.
            created_at: Option<Timestamp>,
            /// When it last changed.
            updated_at: Option<Timestamp>,
        }
    }
}

wire! {
    /// A claim that somebody made (documented). Who said it stands apart from how well it holds.
    pub struct Assertion {
        required {
            /// The claim.
            claim: String,
        }
        optional {
            /// Its id (assumed).
            id: Option<AssertionId>,
            /// The issue it is about.
            issue: Option<IssueId>,
            /// Who said it, any JSON (the name is assumed, and the shape open).
            source: Option<RawJson>,
            /// How well it holds, any JSON (the name is assumed, and the shape open).
            support: Option<RawJson>,
            /// When it was made.
            created_at: Option<Timestamp>,
            /// When it last changed.
            updated_at: Option<Timestamp>,
        }
    }
}

wire! {
    /// Something the agent still has to find out (documented).
    pub struct InformationNeed {
        required {
            /// What has to be found out (the name is assumed).
            question: String,
            /// How far it is, in the service's words (assumed).
            state: String,
        }
        optional {
            /// Its id (assumed).
            id: Option<InformationNeedId>,
            /// When it came up.
            created_at: Option<Timestamp>,
            /// When it last changed.
            updated_at: Option<Timestamp>,
        }
    }
}

string_enum! {
    /// Who made a promise to whom (documented; the texts are assumed).
    pub enum CommitmentDirection {
        /// The agent promised something.
        Made = "made",
        /// Somebody promised the agent something.
        Received = "received",
    }
}

wire! {
    /// A promise the agent made or received (that they are recorded is documented, the shape assumed).
    pub struct Commitment {
        required {
            /// Who made it to whom.
            direction: CommitmentDirection,
            /// The promise.
            text: String,
        }
        optional {
            /// Its id.
            id: Option<CommitmentId>,
            /// The other side.
            party: Option<String>,
            /// What became of it, in the service's words.
            state: Option<String>,
            /// When it is due.
            due_at: Option<Timestamp>,
            /// When it was made.
            created_at: Option<Timestamp>,
            /// When it last changed.
            updated_at: Option<Timestamp>,
        }
    }
}

wire! {
    /// A document, an email or a record, saved exactly as it arrived (that they are kept is documented, the
    /// shape assumed).
    pub struct Artifact {
        required {
            /// Its id.
            id: ArtifactId,
        }
        optional {
            /// Its name.
            name: String,
            /// Its media type, as `application/pdf`.
            content_type: Option<String>,
            /// Its size in bytes.
            size: Option<u64>,
            /// When it arrived.
            created_at: Option<Timestamp>,
            /// When it last changed.
            updated_at: Option<Timestamp>,
        }
    }
}

/// A link that whoever has it can use, so its query, which holds the signature, never prints. This copy of it is wiped
/// when it is dropped, as a [`WebhookSecret`](crate::webhooks::WebhookSecret) is.
///
/// ```
/// use shadway::record::SignedUrl;
///
/// let link = SignedUrl::from("https://files.example/art_1?signature=5up");
/// assert_eq!(format!("{link:?}"), "SignedUrl(…)");
/// assert!(link.expose().ends_with("5up"));
/// ```
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SignedUrl(Secret);

impl SignedUrl {
    /// The whole link, to fetch it.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.0.expose()
    }
}

impl From<String> for SignedUrl {
    fn from(url: String) -> Self {
        Self(url.into())
    }
}

impl From<&str> for SignedUrl {
    fn from(url: &str) -> Self {
        Self::from(url.to_owned())
    }
}

impl fmt::Debug for SignedUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Where in the link the signature stands is the service's to choose.
        f.write_str("SignedUrl(…)")
    }
}

wire! {
    /// Where an artifact can be fetched for a short while (documented; the call is assumed).
    pub struct ArtifactDownload {
        required {
            /// The link. Don't store or log it.
            url: SignedUrl,
        }
        optional {
            /// When the link ends.
            expires_at: Option<Timestamp>,
        }
    }
}
