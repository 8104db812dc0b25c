//! Outcomes that are unclear: the request went out, and no answer came. That is no failure, and no reason to try
//! again unless the capability says that this is safe (documented).

use super::runs::{Course, Run, Underway, told};
use super::{Doing, Pending, summary};
use crate::local::agent::{Check, STEP, Step, outcome};
use crate::local::clock::Moment;
use crate::local::workspace::Workspace;
use crate::local::workspace::store::Serial;
use crate::model::capabilities::CapabilityIdempotency;
use crate::model::events::EventData;
use crate::model::json::RawJson;
use crate::model::mandates::MandateStatus;
use crate::model::record::FactSourceType;

impl Workspace {
    /// No answer came: what is safe to repeat is repeated once, what can be checked is checked, and all else stays
    /// unknown. Both the attempt and what settles it are recorded (documented).
    pub(super) fn unanswered(
        &mut self,
        serial: Serial,
        mut run: Run,
        check: Option<Check>,
        again: Course,
        at: Moment,
    ) {
        if let Some(mut scribe) = self.scribe(serial, at) {
            scribe.document(outcome::timed_out(&run.capability, &run.id));
        }
        let idempotency = self.capabilities.latest(&run.capability).map(|found| found.idempotency.clone());
        match (idempotency, check) {
            (Some(CapabilityIdempotency::Native | CapabilityIdempotency::Keyed), _)
                if self.may_repeat(serial, &run) =>
            {
                run.attempt += 1;
                let text = format!("No answer came from {}, which is safe to repeat.", run.capability);
                self.transition(serial, MandateStatus::Running, summary(text), at);
                self.begin(serial, run, again, STEP, at);
            }
            (Some(CapabilityIdempotency::Reconcilable), Some(check)) => {
                let text = format!("No answer came from {}. Checking what happened.", run.capability);
                self.work(serial, text, at);
                let Some(record) = self.mandates.get_mut(serial) else { return };
                record.doing = Doing::Action(Box::new(Underway { run, course: Course::Checked(check) }));
            }
            _ => {
                self.unknown(serial, run, at);
                self.step(serial, at);
            }
        }
    }

    /// Whether an action may be repeated: once, and only while it is still wanted and allowed.
    fn may_repeat(&self, serial: Serial, run: &Run) -> bool {
        self.mandates.get(serial).is_some_and(|record| {
            let prohibited = record.mandate.authority.prohibited_actions.contains(&run.capability);
            let allowed = record.granted.contains(&run.capability) && !prohibited;
            run.attempt == 1 && allowed && !matches!(record.pending, Some(Pending::Cancel(_)))
        })
    }

    /// What a check found, which is what the outcome is from now on.
    pub(super) fn checked(&mut self, serial: Serial, run: Run, check: Check, at: Moment) {
        let finding = match &check {
            Check::Done(_) => "it was done",
            Check::NotDone => "it was not done",
            Check::Unknown => "nothing could be found out",
        };
        let document = outcome::checked(&run.capability, &run.id, finding);
        let Some(mut source) = self.scribe(serial, at).map(|mut scribe| scribe.document(document)) else {
            return;
        };
        source.source_type = FactSourceType::Check;
        match check {
            Check::Done(output) => self.done(serial, run, Some(RawJson::from(output)), &source, at),
            Check::NotDone => {
                let message = "no answer came, and a check found that it was not done".to_owned();
                self.failed(serial, &run, "timeout", message, at);
            }
            Check::Unknown => self.unknown(serial, run, at),
        }
    }

    /// Nobody knows: neither done nor failed, and what it may have spent stays spent.
    fn unknown(&mut self, serial: Serial, run: Run, at: Moment) {
        self.attempted(serial, &run.capability, &run.arguments, false);
        self.emit(serial, EventData::ExecutionUnsettled(told(run.over(at), None)), at);
        if let Some(mut scribe) = self.scribe(serial, at) {
            scribe.issue(format!("What became of {}? No answer came, and nothing can tell.", run.capability));
        }
        let Some(record) = self.mandates.get_mut(serial) else { return };
        let text = format!("The outcome of {} is unknown. It is not tried again.", run.capability);
        record.plan.first([Step::Work { summary: text }]);
        record.tally.unknown.push((run.capability, run.arguments));
    }
}
