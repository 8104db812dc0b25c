//! What an agent writes down by itself.

use crate::local::agent::{Note, outcome};
use crate::local::clock::Moment;
use crate::local::workspace::Workspace;
use crate::local::workspace::store::Serial;

impl Workspace {
    /// Writes something into the record. A fact comes from the last action or reply, or else from a check that is on
    /// file: none is there without a source (documented).
    pub(super) fn note(&mut self, serial: Serial, note: Note, at: Moment) {
        let source = self.mandates.get(serial).and_then(|record| record.source.clone());
        let Some(mut scribe) = self.scribe(serial, at) else { return };
        match note {
            Note::Fact { key, value, status } => {
                let on_file = scribe.document(outcome::check(&key, value.get()));
                scribe.fact_as(&key, value, status, source.unwrap_or(on_file));
            }
            Note::Issue { question, state } => scribe.issue_as(question, state),
            Note::Assertion { party, claim } => scribe.assertion(&party, claim),
            Note::Need { question } => scribe.need(question),
            Note::Commitment { direction, party, text } => scribe.commitment(direction, party, text, None),
            Note::Evidence { name, text, excerpt } => {
                let source = scribe.document(outcome::filed(&name, &text, &excerpt));
                if let Some(record) = self.mandates.get_mut(serial) {
                    record.source = Some(source);
                }
            }
        }
    }
}
