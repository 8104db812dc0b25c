//! Actions: held against the limits, and run.

use serde_json::Value;

use super::{Doing, MandateStatus, summary};
use crate::local::agent::outcome;
use crate::local::agent::sample::{self, Context};
use crate::local::agent::text::doing;
use crate::local::agent::{STEP, Step};
use crate::local::clock::Moment;
use crate::local::workspace::Workspace;
use crate::local::workspace::limits::{self, cost};
use crate::local::workspace::secrets;
use crate::local::workspace::store::Serial;
use crate::model::approvals::ApprovalInputs;
use crate::model::events::{
    CapabilityExecution, CapabilityExecutionError, CapabilityExecutionEventData, EventData,
};
use crate::model::json::RawJson;
use crate::model::types::Extra;
use crate::resources::capabilities::Executor;

/// An action as it would run, and nothing else: what a person approves is this.
#[derive(Debug)]
pub(super) struct Action {
    pub(super) capability: String,
    pub(super) arguments: Value,
    /// What a person gave for this one run.
    pub(super) inputs: ApprovalInputs,
}

/// An action under way.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(super) id: String,
    pub(super) capability: String,
    pub(super) arguments: Value,
    started: Moment,
    /// The version of the limits that it runs under.
    version: u64,
}

/// An action to be run by what has been connected for it, outside of the workspace.
#[derive(Debug)]
pub(crate) struct Job {
    pub(crate) mandate: Serial,
    pub(crate) run: Run,
    pub(crate) executor: Executor,
    pub(crate) input: RawJson,
    /// What the outcome must not show.
    pub(crate) hidden: ApprovalInputs,
}

/// What came of a job.
#[derive(Debug)]
pub(crate) enum Outcome {
    Done(RawJson),
    /// With a code and the reason.
    Failed(&'static str, String),
}

impl Workspace {
    /// Takes an action, or says why not.
    pub(super) fn act(&mut self, serial: Serial, name: &str, at: Moment) {
        let arguments = self.arguments(serial, name, at);
        let action = Action { capability: name.to_owned(), arguments, inputs: ApprovalInputs::default() };
        self.consider(serial, action, at);
    }

    pub(super) fn consider(&mut self, serial: Serial, action: Action, at: Moment) {
        let (Some(capability), Some(record)) =
            (self.capabilities.latest(&action.capability), self.mandates.get(serial))
        else {
            return;
        };
        if let Some(why) = self.forbidden(serial, &action, at) {
            self.block(serial, &action.capability, why, at);
        } else if limits::needs_approval(capability, &action.arguments, &record.mandate.authority) {
            self.ask(serial, action, at);
        } else {
            self.start(serial, action, at);
        }
    }

    /// Why an action may not run now.
    pub(super) fn forbidden(&self, serial: Serial, action: &Action, at: Moment) -> Option<String> {
        let record = self.mandates.get(serial)?;
        let name = &action.capability;
        let capability = self.capabilities.latest(name)?;
        if !self.capabilities.is_available(name) {
            return Some(format!("nothing runs {name} any more"));
        }
        let authority = &record.mandate.authority;
        limits::blocked(capability, &action.arguments, authority, &record.granted, &record.used, at)
    }

    /// Records an action as blocked, never as done (documented).
    pub(super) fn block(&mut self, serial: Serial, name: &str, why: String, at: Moment) {
        let id = self.new_id("exe_");
        let Some(record) = self.mandates.get_mut(serial) else { return };
        record.tally.not_done.push(why.clone());
        let version = record.mandate.authority_version;
        let blocked = execution(id, name, version);
        self.work(serial, format!("Blocked: {why}. Going on without it."), at);
        self.emit(serial, EventData::ExecutionBlocked(told(blocked, Some(why))), at);
    }

    pub(super) fn start(&mut self, serial: Serial, action: Action, at: Moment) {
        let id = self.new_id("exe_");
        let Some(capability) = self.capabilities.latest(&action.capability) else { return };
        let executor = self.capabilities.executor(&action.capability).cloned();
        let Some(record) = self.mandates.get_mut(serial) else { return };
        record.used.count(capability, &action.arguments, at);
        let input = secrets::with_inputs(capability, &action.arguments, &action.inputs);
        let run = Run {
            id,
            capability: action.capability,
            arguments: action.arguments,
            started: at,
            version: record.mandate.authority_version,
        };
        record.doing = Doing::Action(Box::new(run.clone()));
        record.next_step = executor.is_none().then(|| at.after(STEP));
        let state = summary(doing(&run.capability, &run.arguments));
        self.transition(serial, MandateStatus::Running, state, at);
        let started = execution(run.id.clone(), &run.capability, run.version);
        self.emit(serial, EventData::ExecutionStarted(told(started, None)), at);
        if let Some(executor) = executor {
            let input = RawJson::from(input);
            self.jobs.push(Job { mandate: serial, run, executor, input, hidden: action.inputs });
        }
    }

    /// What comes of an action that nothing was connected for.
    pub(super) fn simulate(&mut self, serial: Serial, run: Run, at: Moment) {
        self.completed(serial, &run, at);
        let (_, document) = outcome::of(&run.capability, &run.arguments, &run.id);
        let Some(mut scribe) = self.scribe(serial, at) else { return };
        scribe.document(document);
        if let Some(key) = outcome::counted(&run.capability) {
            scribe.count(key, &run.id);
        }
        let Some(record) = self.mandates.get_mut(serial) else { return };
        let to = run.arguments["to"].as_str().unwrap_or("the other side of the conversation").to_owned();
        record.tally.sent.push((run.capability.clone(), to));
        record.tally.done(run, false);
    }

    /// What came of an action that something was connected for. A mandate that has ended meanwhile stays as it
    /// is: its last event is its final status.
    pub(crate) fn report(&mut self, serial: Serial, run: Run, outcome: Outcome, at: Moment) {
        let Some(record) = self.mandates.get_mut(serial) else { return };
        if !matches!(&record.doing, Doing::Action(now) if now.id == run.id) {
            return;
        }
        record.doing = Doing::Nothing;
        match outcome {
            Outcome::Done(output) => {
                self.completed(serial, &run, at);
                if let Some(mut scribe) = self.scribe(serial, at) {
                    scribe.result(&run.capability, &output, &secrets::fields(&output), &run.id);
                }
                let Some(record) = self.mandates.get_mut(serial) else { return };
                record.tally.done(run, true);
            }
            Outcome::Failed(code, message) => self.failed(serial, &run, code, message, at),
        }
        self.step(serial, at);
    }

    fn completed(&mut self, serial: Serial, run: &Run, at: Moment) {
        self.emit(serial, EventData::ExecutionCompleted(told(run.over(at), None)), at);
    }

    fn failed(&mut self, serial: Serial, run: &Run, code: &str, message: String, at: Moment) {
        let Some(record) = self.mandates.get_mut(serial) else { return };
        let spent = self.capabilities.latest(&run.capability);
        let spent = spent.and_then(|found| cost(found, &run.arguments, &record.mandate.authority));
        record.used.spent -= spent.map_or(0, |spent| spent.amount);
        let why = format!("{} failed: {message}", run.capability);
        record.script.push_front(Step::Work { summary: format!("{why}. Going on without it.") });
        record.tally.not_done.push(why);
        let error = CapabilityExecutionError { message, code: Some(code.to_owned()), extra: Extra::new() };
        let execution = CapabilityExecution { error: Some(error), ..run.over(at) };
        self.emit(serial, EventData::ExecutionFailed(told(execution, None)), at);
    }

    /// Arguments that fit what the mandate is about.
    fn arguments(&self, serial: Serial, name: &str, at: Moment) -> Value {
        let (Some(record), Some(capability)) = (self.mandates.get(serial), self.capabilities.latest(name))
        else {
            return Value::Null;
        };
        let mandate = &record.mandate;
        let schema = capability.input_schema.as_ref().and_then(|schema| schema.to_value().ok());
        let context = Context {
            capability: name,
            objective: &mandate.objective,
            guidance: &mandate.guidance,
            deadline: mandate.deadline,
            authority: &mandate.authority,
            left_to_spend: limits::left_to_spend(&mandate.authority, &record.used),
            reference: record.tally.runs.last().map_or("none", |run| run.id.as_str()),
            now: self.epoch.timestamp(at),
        };
        sample::arguments(&schema.unwrap_or_default(), &context)
    }
}

impl Run {
    /// The run when it is over.
    fn over(&self, at: Moment) -> CapabilityExecution {
        let took = u64::try_from(at.since(self.started).as_millis()).unwrap_or(u64::MAX);
        let execution = execution(self.id.clone(), &self.capability, self.version);
        CapabilityExecution { duration_ms: Some(took), ..execution }
    }
}

fn execution(id: String, capability: &str, version: u64) -> CapabilityExecution {
    CapabilityExecution {
        capability: capability.to_owned(),
        id: Some(id),
        duration_ms: None,
        error: None,
        authority_version: Some(version),
        extra: Extra::new(),
    }
}

fn told(execution: CapabilityExecution, reason: Option<String>) -> Box<CapabilityExecutionEventData> {
    Box::new(CapabilityExecutionEventData { execution, reason, extra: Extra::new() })
}
