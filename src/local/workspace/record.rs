//! The record of a mandate: written as the work happens, read by page, changed by nobody.

use std::collections::HashMap;

use bytes::Bytes;
use jiff::{SignedDuration, Timestamp};

use super::store::{Serial, Window, page_of};
use super::{Workspace, new_id};
use crate::local::agent::outcome::{Document, Reply};
use crate::local::answer::Result;
use crate::local::clock::Moment;
use crate::model::json::RawJson;
use crate::model::page::Page;
use crate::model::record::{
    Artifact, Assertion, Commitment, CommitmentDirection, Evidence, EvidenceQuality, Fact, FactSource,
    FactSourceType, FactStatus, InformationNeed, Issue, IssueState,
};
use crate::model::types::{ArtifactId, EvidenceId, Extra, FactId, IssueId};

/// When a simulated promise is due.
const PROMISED: SignedDuration = SignedDuration::from_hours(7 * 24);

/// What is known of one mandate, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Record {
    pub(super) facts: Vec<Fact>,
    evidence: Vec<Evidence>,
    issues: Vec<Issue>,
    assertions: Vec<Assertion>,
    information_needs: Vec<InformationNeed>,
    commitments: Vec<Commitment>,
    artifacts: Vec<Artifact>,
    /// The bytes of the artifacts.
    contents: Vec<Bytes>,
}

/// Where an artifact is: in which mandate's record, and at which place.
pub(super) type Shelf = HashMap<String, (Serial, usize)>;

/// Writes into one record, at one time.
pub(super) struct Scribe<'a> {
    record: &'a mut Record,
    random: &'a mut fastrand::Rng,
    shelf: &'a mut Shelf,
    mandate: Serial,
    at: Timestamp,
}

impl Scribe<'_> {
    /// Keeps a document, as it is, and quotes it: what a fact can come from.
    pub(super) fn document(&mut self, document: Document) -> FactSource {
        let artifact = self.artifact(&document);
        self.quote(document, artifact)
    }

    fn artifact(&mut self, document: &Document) -> ArtifactId {
        let id = ArtifactId::from(self.new_id("art_"));
        self.shelf.insert(id.to_string(), (self.mandate, self.record.artifacts.len()));
        self.record.artifacts.push(Artifact {
            id: id.clone(),
            name: document.name.clone(),
            content_type: Some(document.content_type.to_owned()),
            size: Some(document.text.len() as u64),
            created_at: Some(self.at),
            updated_at: Some(self.at),
            extra: Extra::new(),
        });
        self.record.contents.push(Bytes::from(document.text.clone()));
        id
    }

    fn quote(&mut self, document: Document, artifact: ArtifactId) -> FactSource {
        let id = EvidenceId::from(self.new_id("evd_"));
        let source = from(FactSourceType::Evidence, id.as_str());
        self.record.evidence.push(Evidence {
            title: document.title,
            excerpt: document.excerpt,
            quality: EvidenceQuality {
                source_class: document.source_class.to_owned(),
                provenance_confirmed: Some(true),
                firsthand: Some(document.firsthand),
                extra: Extra::new(),
            },
            id: Some(id),
            location: Some(RawJson::from(document.location)),
            artifact: Some(artifact),
            created_at: Some(self.at),
            updated_at: Some(self.at),
            extra: Extra::new(),
        });
        source
    }

    /// Records a confirmed fact; one of the same key gets the new value.
    pub(super) fn fact(&mut self, key: &str, value: RawJson, source: FactSource) {
        self.fact_as(key, value, FactStatus::Verified, source);
    }

    /// Records a fact, as sure as it is.
    pub(super) fn fact_as(&mut self, key: &str, value: RawJson, status: FactStatus, source: FactSource) {
        let source = Some(source);
        if let Some(fact) = self.record.facts.iter_mut().find(|fact| fact.key == key) {
            fact.value = value;
            fact.status = status;
            fact.source = source;
            fact.updated_at = Some(self.at);
            return;
        }
        let id = Some(FactId::from(self.new_id("fct_")));
        self.record.facts.push(Fact {
            key: key.to_owned(),
            value,
            status,
            id,
            source,
            created_at: Some(self.at),
            updated_at: Some(self.at),
            extra: Extra::new(),
        });
    }

    /// One more of what is counted.
    pub(super) fn count(&mut self, key: &str, source: FactSource) {
        let known = self.record.facts.iter().find(|fact| fact.key == key);
        let before: u64 = known.and_then(|fact| fact.value.get().parse().ok()).unwrap_or(0);
        self.fact(key, RawJson::from(before + 1), source);
    }

    /// What the fields of a result say: a fact each, and the line that proves it.
    pub(super) fn result(
        &mut self,
        capability: &str,
        output: &RawJson,
        fields: &[(String, RawJson)],
        source: &FactSource,
    ) {
        let whole = crate::local::agent::outcome::result(capability, output.get(), None);
        let artifact = self.artifact(&whole);
        if fields.is_empty() {
            self.quote(whole, artifact.clone());
        }
        for (name, value) in fields {
            let field = Some((name.as_str(), value.get()));
            let document = crate::local::agent::outcome::result(capability, output.get(), field);
            self.quote(document, artifact.clone());
            self.fact(name, value.clone(), source.clone());
        }
    }

    /// A question that is open from now on.
    pub(super) fn issue(&mut self, question: String) {
        self.issue_as(question, IssueState::Open);
    }

    /// A question, and how far it is: one that is known only moves forward (documented).
    pub(super) fn issue_as(&mut self, question: String, state: IssueState) {
        if let Some(issue) = self.record.issues.iter_mut().find(|issue| issue.question == question) {
            if progress(&state) > progress(&issue.state) {
                issue.state = state;
                issue.updated_at = Some(self.at);
            }
            return;
        }
        let id = Some(IssueId::from(self.new_id("iss_")));
        self.record.issues.push(Issue {
            question,
            state,
            id,
            created_at: Some(self.at),
            updated_at: Some(self.at),
            extra: Extra::new(),
        });
    }

    /// Something that has to be found out from somebody.
    pub(super) fn need(&mut self, question: String) {
        let id = Some(self.new_id("ifn_").into());
        self.record.information_needs.push(InformationNeed {
            question,
            state: IssueState::Open.to_string(),
            id,
            created_at: Some(self.at),
            updated_at: Some(self.at),
            extra: Extra::new(),
        });
    }

    /// What somebody answered: the document, what it claims and promises, and an end to what was to be found out.
    pub(super) fn reply(&mut self, reply: Reply, question: &str) -> FactSource {
        let source = self.document(reply.document);
        for need in self.record.information_needs.iter_mut().filter(|need| need.question == question) {
            need.state = IssueState::Answered.to_string();
            need.updated_at = Some(self.at);
        }
        if reply.promise {
            let due = self.at.checked_add(PROMISED).ok();
            self.commitment(CommitmentDirection::Received, reply.party.clone(), reply.claim.clone(), due);
        }
        self.assertion(&reply.party, reply.claim);
        source
    }

    /// A claim about the last question that came up, if any. Who made it stands apart from how well it holds
    /// (documented).
    pub(super) fn assertion(&mut self, party: &str, claim: String) {
        let id = Some(self.new_id("ast_").into());
        self.record.assertions.push(Assertion {
            claim,
            id,
            issue: self.record.issues.last().and_then(|issue| issue.id.clone()),
            source: Some(RawJson::from(party)),
            support: Some(RawJson::from("said so, and nothing confirms it yet")),
            created_at: Some(self.at),
            updated_at: Some(self.at),
            extra: Extra::new(),
        });
    }

    /// A promise.
    pub(super) fn commitment(
        &mut self,
        direction: CommitmentDirection,
        party: String,
        text: String,
        due_at: Option<Timestamp>,
    ) {
        let id = Some(self.new_id("cmt_").into());
        self.record.commitments.push(Commitment {
            direction,
            text,
            id,
            party: Some(party),
            state: Some("open".to_owned()),
            due_at,
            created_at: Some(self.at),
            updated_at: Some(self.at),
            extra: Extra::new(),
        });
    }

    /// The day on which a promise made now is due.
    pub(super) fn promised_day(&self) -> String {
        let due = self.at.checked_add(PROMISED).unwrap_or(self.at);
        due.to_string().chars().take_while(|letter| *letter != 'T').collect()
    }

    fn new_id(&mut self, prefix: &str) -> String {
        new_id(prefix, self.random)
    }
}

/// What a fact comes from.
pub(super) fn from(source_type: FactSourceType, id: &str) -> FactSource {
    FactSource { source_type, id: Some(id.to_owned()), extra: Extra::new() }
}

fn progress(state: &IssueState) -> usize {
    let order = [IssueState::Open, IssueState::Acknowledged, IssueState::Answered, IssueState::Resolved];
    order.iter().position(|other| other == state).unwrap_or(order.len())
}

impl Workspace {
    pub(super) fn scribe(&mut self, mandate: Serial, at: Moment) -> Option<Scribe<'_>> {
        let record = &mut self.mandates.get_mut(mandate)?.record;
        let at = self.epoch.timestamp(at);
        Some(Scribe { record, random: &mut self.random, shelf: &mut self.shelf, mandate, at })
    }

    /// The bytes of an artifact, with what is known of it.
    pub(super) fn artifact(&self, id: &str) -> Option<(&Artifact, &Bytes)> {
        let (mandate, place) = self.shelf.get(id)?;
        let record = &self.mandates.get(*mandate)?.record;
        record.artifacts.get(*place).zip(record.contents.get(*place))
    }
}

/// Reads one part of the record of a mandate.
macro_rules! parts {
    ($($list:ident: $field:ident, $item:ty;)*) => {
        impl Workspace {
            $(pub(crate) fn $list(&self, mandate: &str, window: &Window) -> Result<Page<$item>> {
                page_of(&self.recorded(mandate)?.record.$field, window)
            })*
        }
    };
}
parts! {
    list_facts: facts, Fact;
    list_evidence: evidence, Evidence;
    list_issues: issues, Issue;
    list_assertions: assertions, Assertion;
    list_information_needs: information_needs, InformationNeed;
    list_commitments: commitments, Commitment;
    list_artifacts: artifacts, Artifact;
}
