//! How a mandate ends: its success criteria, held against confirmed facts.

use super::summary;
use crate::local::agent::Ending;
use crate::local::agent::outcome::{check, result};
use crate::local::agent::sample::is_secret;
use crate::local::agent::text::shortened;
use crate::local::capabilities::is_built_in;
use crate::local::clock::Moment;
use crate::local::workspace::Workspace;
use crate::local::workspace::limits::unmet;
use crate::local::workspace::record::from;
use crate::local::workspace::store::Serial;
use crate::model::authority::SuccessCriterion;
use crate::model::json::RawJson;
use crate::model::mandates::MandateStatus;
use crate::model::record::FactSourceType;

impl Workspace {
    /// Completes the mandate only if every criterion holds, whoever says that it is done (documented).
    pub(super) fn finish(&mut self, serial: Serial, ending: Ending, at: Moment) {
        let Some(record) = self.mandates.get(serial) else { return };
        let criteria = record.mandate.authority.success_criteria.clone();
        if ending == Ending::Usual {
            for criterion in &criteria {
                self.settle(serial, criterion, at);
            }
        }
        let Some(record) = self.mandates.get(serial) else { return };
        let mut wrong: Vec<(String, String)> =
            criteria.iter().filter_map(|criterion| record.record.mismatch(criterion)).collect();
        let tally = &record.tally;
        let question = |why: &String| (why.clone(), format!("How can this be done? {why}"));
        match &ending {
            Ending::Usual if criteria.is_empty() && tally.runs.is_empty() => {
                wrong.extend(tally.not_done.iter().map(question));
                let unknown =
                    tally.unknown.iter().map(|(name, _)| format!("what became of {name} is unknown"));
                wrong.extend(unknown.map(|why| question(&why)));
            }
            Ending::Usual | Ending::Complete(_) => {}
            Ending::Fail(why) => wrong = vec![question(why)],
        }
        let (status, text) = match (wrong.first(), ending) {
            (_, Ending::Fail(why)) => (MandateStatus::Failed, why),
            (Some((why, _)), _) => {
                (MandateStatus::Failed, format!("Failed: {}", shortened_end(why, wrong.len())))
            }
            (None, Ending::Complete(text)) => (MandateStatus::Completed, text),
            (None, Ending::Usual) => (MandateStatus::Completed, record.done_summary()),
        };
        if let Some(mut scribe) = self.scribe(serial, at) {
            for (_, question) in wrong {
                scribe.issue(question);
            }
        }
        self.transition(serial, status, summary(text), at);
    }

    /// Gives a criterion its fact, where none is known and what was done can support one. A fact that a
    /// capability of the workspace's own has to report is not made up.
    fn settle(&mut self, serial: Serial, criterion: &SuccessCriterion, at: Moment) {
        let key = &criterion.fact;
        let Some(record) = self.mandates.get(serial) else { return };
        if record.record.facts.iter().any(|fact| fact.key == *key) {
            return;
        }
        let argued = record.tally.runs.iter().rev().find_map(|run| {
            let value = run.arguments.get(key).filter(|_| !is_secret(key))?;
            Some((run.clone(), RawJson::from(value.clone())))
        });
        if let Some((run, value)) = argued {
            let Some(mut scribe) = self.scribe(serial, at) else { return };
            let arguments = format!("{{{}:{value}}}", RawJson::from(key.as_str()));
            scribe.document(result(&run.capability, &arguments, Some((key, value.get()))));
            scribe.fact(key, value, from(FactSourceType::Action, &run.id));
            return;
        }
        let owed = record.granted.iter().any(|name| !is_built_in(name) && self.names(name, key));
        let last = record.tally.runs.last().map(|run| run.id.clone());
        if let (false, Some(last)) = (owed, last) {
            let value = fitting(criterion);
            let Some(mut scribe) = self.scribe(serial, at) else { return };
            scribe.document(check(key, value.get()));
            scribe.fact(key, value, from(FactSourceType::Action, &last));
        }
    }

    /// Whether the input or the output of a capability has a field of this name.
    fn names(&self, capability: &str, field: &str) -> bool {
        let Some(capability) = self.capabilities.latest(capability) else { return false };
        let has = |schema: &Option<RawJson>| {
            let schema = schema.as_ref().and_then(|schema| schema.to_value().ok()).unwrap_or_default();
            schema["properties"].get(field).is_some()
        };
        has(&capability.output_schema) || has(&capability.input_schema)
    }
}

impl super::MandateRecord {
    fn done_summary(&self) -> String {
        let tally = &self.tally;
        let count = match tally.runs.len() {
            0 => "no action".to_owned(),
            1 => "1 action".to_owned(),
            more => format!("{more} actions"),
        };
        let mut text = match tally.real {
            0 => format!("Done, in simulation, with {count}: nothing left this machine."),
            real => format!("Done with {count}; {real} of them really ran."),
        };
        if !tally.not_done.is_empty() {
            text.push_str(&format!(" Not done: {}.", tally.not_done.join("; ")));
        }
        if !tally.unknown.is_empty() {
            let names: Vec<&str> = tally.unknown.iter().map(|(name, _)| name.as_str()).collect();
            text.push_str(&format!(" Unknown: {}.", names.join(", ")));
        }
        if !tally.refused.is_empty() {
            text.push_str(&format!(" Refused: {}.", tally.refused.join(", ")));
        }
        format!("{text} {}", shortened(&self.mandate.objective))
    }
}

impl crate::local::workspace::record::Record {
    /// What does not match a criterion, and the question that leaves open.
    fn mismatch(&self, criterion: &SuccessCriterion) -> Option<(String, String)> {
        let key = &criterion.fact;
        let why = match self.facts.iter().find(|fact| fact.key == *key) {
            None => "is not known".to_owned(),
            Some(fact) if !fact.status.is_confirmed() => format!("is {}, not confirmed", fact.status),
            Some(fact) => unmet(criterion, &fact.value)?,
        };
        Some((format!("{key} {why}"), format!("What about {key}? It {why}.")))
    }
}

/// The value that satisfies a criterion.
fn fitting(criterion: &SuccessCriterion) -> RawJson {
    let bound = criterion.min.as_ref().or(criterion.max.as_ref());
    let number = bound.and_then(|bound| bound.get().parse().ok());
    criterion.equals.clone().or(number).unwrap_or_else(|| RawJson::from(true))
}

fn shortened_end(why: &str, count: usize) -> String {
    match count {
        1 => format!("{why}."),
        more => format!("{why}, and {} more.", more - 1),
    }
}
