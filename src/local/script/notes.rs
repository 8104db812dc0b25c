//! What the agent writes into the record, which takes no time. What comes of actions and replies is there without it.

use super::Script;
use crate::local::agent::{Note, Step};
use crate::model::json::RawJson;
use crate::model::record::{CommitmentDirection, FactStatus, IssueState};

impl Script {
    /// A fact, as sure as it is. Its source is the last action, reply or [piece of evidence](Script::evidence), or a
    /// check if there was none. One of the same key gets the new value.
    #[must_use]
    pub fn fact(self, key: impl Into<String>, value: impl Into<RawJson>, status: FactStatus) -> Self {
        self.note(Note::Fact { key: key.into(), value: value.into(), status })
    }

    /// A document, kept as an artifact, and a part of it as the evidence: its first line, if the excerpt is not in it.
    #[must_use]
    pub fn evidence(
        self,
        name: impl Into<String>,
        text: impl Into<String>,
        excerpt: impl Into<String>,
    ) -> Self {
        self.note(Note::Evidence { name: name.into(), text: text.into(), excerpt: excerpt.into() })
    }

    /// A question the work needs to answer, and how far it is. One that is there already moves on, never back
    /// (documented).
    #[must_use]
    pub fn issue(self, question: impl Into<String>, state: IssueState) -> Self {
        self.note(Note::Issue { question: question.into(), state })
    }

    /// A claim that somebody made, about the last issue if there is one.
    #[must_use]
    pub fn assertion(self, party: impl Into<String>, claim: impl Into<String>) -> Self {
        self.note(Note::Assertion { party: party.into(), claim: claim.into() })
    }

    /// Something the agent still has to find out.
    #[must_use]
    pub fn information_need(self, question: impl Into<String>) -> Self {
        self.note(Note::Need { question: question.into() })
    }

    /// A promise, made to somebody or received from them.
    #[must_use]
    pub fn commitment(
        self,
        direction: CommitmentDirection,
        party: impl Into<String>,
        text: impl Into<String>,
    ) -> Self {
        self.note(Note::Commitment { direction, party: party.into(), text: text.into() })
    }

    fn note(self, note: Note) -> Self {
        self.step(Step::Note(note))
    }
}
