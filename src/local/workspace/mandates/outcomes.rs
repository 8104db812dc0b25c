//! What comes of actions: done or failed, and what that leaves behind.

use serde_json::Value;

use super::Doing;
use super::runs::{Course, Outcome, Run, Underway, told};
use crate::local::agent::{Check, Step, outcome};
use crate::local::clock::Moment;
use crate::local::workspace::Workspace;
use crate::local::workspace::record::from;
use crate::local::workspace::secrets;
use crate::local::workspace::store::Serial;
use crate::model::events::{CapabilityExecution, CapabilityExecutionError, EventData};
use crate::model::json::RawJson;
use crate::model::record::{FactSource, FactSourceType};
use crate::model::types::Extra;

impl Workspace {
    /// The time of an action is over.
    pub(super) fn come_out(&mut self, serial: Serial, underway: Underway, at: Moment) {
        let Underway { run, course } = underway;
        match course {
            Course::Done(returns) => self.simulated(serial, run, returns, at),
            Course::Fails { code, message } => self.failed(serial, &run, &code, message, at),
            Course::Connected(job) => return self.unanswered(serial, run, None, Course::Connected(job), at),
            Course::Unclear(check, returns) => {
                let again = match &check {
                    // What is safe to repeat lands on the same result (documented).
                    Check::Done(output) => Course::Done(Some(output.clone())),
                    Check::NotDone => Course::Done(returns),
                    Check::Unknown => Course::Unclear(Check::Unknown, returns),
                };
                return self.unanswered(serial, run, Some(check), again, at);
            }
            Course::Checked(check) => self.checked(serial, run, check, at),
        }
        self.step(serial, at);
    }

    /// What came of an action that something was connected for. A mandate that has ended meanwhile stays as it
    /// is: its last event is its final status.
    pub(crate) fn report(&mut self, serial: Serial, run: Run, outcome: Outcome, at: Moment) {
        let Some(record) = self.mandates.get_mut(serial) else { return };
        // Whichever attempt answers first, it is the same action.
        if !matches!(&record.doing, Doing::Action(now) if now.run.id == run.id) {
            return;
        }
        record.doing = Doing::Nothing;
        match outcome {
            Outcome::Done(output) => {
                let source = from(FactSourceType::Action, &run.id);
                self.done(serial, run, Some(output), &source, at);
                let Some(record) = self.mandates.get_mut(serial) else { return };
                record.tally.real += 1;
            }
            Outcome::Failed(code, message) => self.failed(serial, &run, code, message, at),
        }
        self.step(serial, at);
    }

    /// What comes of an action that nothing was connected for.
    fn simulated(&mut self, serial: Serial, run: Run, returns: Option<Value>, at: Moment) {
        let source = from(FactSourceType::Action, &run.id);
        let (capability, sent) = (run.capability.clone(), outcome::sent(&run.capability, &run.arguments));
        let usual = outcome::of(&run.capability, &run.id);
        let said = returns.is_some();
        self.done(serial, run, returns.map(RawJson::from), &source, at);
        let Some(mut scribe) = self.scribe(serial, at) else { return };
        match sent {
            Some(message) => {
                scribe.document(message);
            }
            None if said => {}
            None => {
                scribe.document(outcome::result(&capability, &usual.to_string(), None));
            }
        }
        if let Some(key) = outcome::counted(&capability) {
            scribe.count(key, source);
        }
    }

    /// An action is done, and what its result says is a fact from the given source.
    pub(super) fn done(
        &mut self,
        serial: Serial,
        run: Run,
        output: Option<RawJson>,
        source: &FactSource,
        at: Moment,
    ) {
        self.emit(serial, EventData::ExecutionCompleted(told(run.over(at), None)), at);
        if let (Some(output), Some(mut scribe)) = (output, self.scribe(serial, at)) {
            scribe.result(&run.capability, &output, &secrets::fields(&output), source);
        }
        self.attempted(serial, &run.capability, &run.arguments, true);
        let Some(record) = self.mandates.get_mut(serial) else { return };
        record.source = Some(source.clone());
        record.tally.runs.push(run);
    }

    pub(super) fn failed(&mut self, serial: Serial, run: &Run, code: &str, message: String, at: Moment) {
        self.attempted(serial, &run.capability, &run.arguments, false);
        let Some(record) = self.mandates.get_mut(serial) else { return };
        record.used.spent -= run.cost.as_ref().map_or(0, |spent| spent.amount);
        let why = format!("{} failed: {message}", run.capability);
        record.plan.first([Step::Work { summary: format!("{why}. Going on without it.") }]);
        record.tally.not_done.push(why);
        let error = CapabilityExecutionError { message, code: Some(code.to_owned()), extra: Extra::new() };
        let execution = CapabilityExecution { error: Some(error), ..run.over(at) };
        self.emit(serial, EventData::ExecutionFailed(told(execution, None)), at);
    }
}
