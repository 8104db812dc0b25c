//! Actions: held against the limits, and started.

use std::time::Duration;

use serde_json::Value;

use super::runs::{Course, Job, Run, Underway, execution, told};
use super::{Attempt, Doing, MandateRecord, MandateStatus, summary};
use crate::local::agent::sample::{self, Context};
use crate::local::agent::text::doing;
use crate::local::agent::{Act, STEP, Step, Trouble};
use crate::local::clock::Moment;
use crate::local::workspace::Workspace;
use crate::local::workspace::limits::{self, Blocked, Limits, Proposal};
use crate::local::workspace::secrets;
use crate::local::workspace::store::Serial;
use crate::model::approvals::ApprovalInputs;
use crate::model::capabilities::CapabilityEffect;
use crate::model::events::EventData;
use crate::model::json::RawJson;

/// How long something connected may run before its outcome counts as unclear.
pub(super) const LONGEST_RUN: Duration = Duration::from_secs(10 * 60);

/// An action as it would run, and nothing else: what a person approves is this.
#[derive(Debug)]
pub(super) struct Action {
    pub(super) act: Act,
    pub(super) arguments: Value,
    /// What a person gave for this one run.
    pub(super) inputs: ApprovalInputs,
}

impl Workspace {
    /// Takes an action, or says why not.
    pub(super) fn act(&mut self, serial: Serial, act: Act, at: Moment) {
        let arguments = self.arguments(serial, &act, at);
        self.consider(serial, Action { act, arguments, inputs: ApprovalInputs::default() }, at);
    }

    pub(super) fn consider(&mut self, serial: Serial, action: Action, at: Moment) {
        match self.forbidden(serial, &action, at) {
            Some(Blocked { until: Some(until), .. }) if action.act.arguments.is_none() => {
                // Whoever plans by itself does not try in the quiet hours, but waits until they are over.
                self.act_later(serial, action.act, until, at);
                self.step(serial, at);
            }
            Some(blocked) => self.block(serial, &action, blocked, at),
            None if self.has_to_ask(serial, &action) => self.ask(serial, action, at),
            None => self.start(serial, action, at),
        }
    }

    /// Why an action may not run now.
    pub(super) fn forbidden(&self, serial: Serial, action: &Action, at: Moment) -> Option<Blocked> {
        let record = self.mandates.get(serial)?;
        let limits = Limits {
            authority: &record.mandate.authority,
            granted: &record.granted,
            used: &record.used,
            now: at,
            time: self.epoch.timestamp(at),
        };
        let name = &action.act.capability;
        let Some(proposal) = self.proposal(action) else {
            let unknown = || format!("the workspace has no capability {name}");
            return Some(limits.prohibits(name).unwrap_or_else(unknown).into());
        };
        let cannot_run = || {
            let available = self.capabilities.is_available(name);
            (!available).then(|| format!("nothing runs {name} any more").into())
        };
        limits.forbid(&proposal).or_else(cannot_run).or_else(|| {
            // What may have happened is never taken for safe to repeat (documented).
            let same = |(other, arguments): &(String, Value)| other == name && *arguments == action.arguments;
            let unsettled = record.tally.unknown.iter().any(same);
            unsettled.then(|| format!("nobody knows whether {name} has happened already").into())
        })
    }

    fn has_to_ask(&self, serial: Serial, action: &Action) -> bool {
        self.mandates.get(serial).zip(self.proposal(action)).is_some_and(|(record, proposal)| {
            limits::needs_approval(&proposal, &record.mandate.authority, &record.record.facts)
        })
    }

    pub(super) fn proposal<'a>(&'a self, action: &'a Action) -> Option<Proposal<'a>> {
        Some(Proposal {
            capability: self.capabilities.latest(&action.act.capability)?,
            arguments: &action.arguments,
            spending: action.act.spending.as_ref(),
        })
    }

    /// Records an action as blocked, never as done (documented). Whoever plans by itself tries again when the quiet
    /// hours are over.
    pub(super) fn block(&mut self, serial: Serial, action: &Action, blocked: Blocked, at: Moment) {
        let Blocked { why, until } = blocked;
        let id = self.new_id("exe_");
        self.attempted(serial, &action.act.capability, &action.arguments, false);
        let Some(record) = self.mandates.get_mut(serial) else { return };
        let blocked = execution(id, &action.act.capability, record.mandate.authority_version);
        match until {
            Some(until) if action.act.arguments.is_none() => {
                self.act_later(serial, action.act.clone(), until, at);
            }
            _ => record.tally.not_done.push(why.clone()),
        }
        self.work(serial, format!("Blocked: {why}. Going on without it."), at);
        self.emit(serial, EventData::ExecutionBlocked(told(blocked, Some(why))), at);
    }

    fn act_later(&mut self, serial: Serial, act: Act, until: jiff::Timestamp, at: Moment) {
        let duration = self.epoch.moment(until).since(at);
        let what = Some(format!("the end of the quiet hours, {until}"));
        let Some(record) = self.mandates.get_mut(serial) else { return };
        record.plan.first([Step::Sleep { duration, what }, Step::Act(Box::new(act))]);
    }

    pub(super) fn start(&mut self, serial: Serial, action: Action, at: Moment) {
        let Action { act, arguments, mut inputs } = action;
        let id = self.new_id("exe_");
        let Some(capability) = self.capabilities.latest(&act.capability) else { return };
        // What a script says of the outcome takes the place of running it.
        let executor = self.capabilities.executor(&act.capability).filter(|_| act.trouble.is_none()).cloned();
        let Some(record) = self.mandates.get_mut(serial) else { return };
        let proposal = Proposal { capability, arguments: &arguments, spending: act.spending.as_ref() };
        record.used.count(&proposal, at);
        let cost = proposal.cost(&record.mandate.authority);
        record.give(&mut inputs);
        let input = secrets::with_inputs(capability, &arguments, &inputs);
        let version = record.mandate.authority_version;
        let run = Run { id, capability: act.capability, arguments, cost, started: at, version, attempt: 1 };
        let state = summary(doing(&run.capability, &run.arguments));
        self.transition(serial, MandateStatus::Running, state, at);
        let course = match (executor, act.trouble) {
            (Some(executor), _) => Course::Connected(Box::new(Job {
                mandate: serial,
                run: run.clone(),
                executor,
                input: RawJson::from(input),
                hidden: inputs,
            })),
            (None, None) => Course::Done(act.returns),
            (None, Some(Trouble::Fails { code, message })) => Course::Fails { code, message },
            (None, Some(Trouble::Unclear(check))) => Course::Unclear(check, act.returns),
        };
        self.begin(serial, run, course, act.takes.unwrap_or(STEP), at);
    }

    /// Sets an action going, for the first or the second time.
    pub(super) fn begin(&mut self, serial: Serial, run: Run, course: Course, takes: Duration, at: Moment) {
        let Some(record) = self.mandates.get_mut(serial) else { return };
        let started = execution(run.id.clone(), &run.capability, run.version);
        let job = if let Course::Connected(job) = &course { Some(Job::clone(job)) } else { None };
        let takes = if job.is_some() { LONGEST_RUN } else { takes };
        record.next_step = Some(at.after(takes));
        record.doing = Doing::Action(Box::new(Underway { run, course }));
        self.jobs.extend(job);
        self.emit(serial, EventData::ExecutionStarted(told(started, None)), at);
        self.reschedule(serial);
    }

    /// Notes that an action was to have an effect.
    pub(super) fn attempted(&mut self, serial: Serial, name: &str, arguments: &Value, went: bool) {
        let reads =
            self.capabilities.latest(name).is_some_and(|found| found.effect == CapabilityEffect::Read);
        let Some(record) = self.mandates.get_mut(serial).filter(|_| !reads) else { return };
        let party = arguments["to"].as_str().map(str::to_owned);
        record.tally.attempts.push(Attempt { capability: name.to_owned(), party, went });
    }

    /// What an action runs with: what was said, or else what fits what the mandate is about.
    fn arguments(&self, serial: Serial, act: &Act, at: Moment) -> Value {
        let schema = self.capabilities.latest(&act.capability).and_then(|found| found.input_schema.as_ref());
        let schema = schema.and_then(|schema| schema.to_value().ok()).unwrap_or_default();
        if let Some(said) = &act.arguments {
            let mut arguments = said.clone();
            if let Some(money) = &act.spending {
                sample::set_amount(&mut arguments, &schema, money);
            }
            return arguments;
        }
        let Some(record) = self.mandates.get(serial) else { return Value::Null };
        let mandate = &record.mandate;
        let context = Context {
            capability: &act.capability,
            objective: &mandate.objective,
            guidance: &mandate.guidance,
            deadline: mandate.deadline,
            authority: &mandate.authority,
            left_to_spend: limits::left_to_spend(&mandate.authority, &record.used),
            reference: record.tally.runs.last().map_or("none", |run| run.id.as_str()),
            now: self.epoch.timestamp(at),
        };
        sample::arguments(&schema, &context)
    }
}

impl MandateRecord {
    /// Hands over what a person answered, and keeps none of it.
    fn give(&mut self, inputs: &mut ApprovalInputs) {
        let given = std::mem::take(&mut self.given);
        for name in given.names() {
            if let (None, Some(value)) = (inputs.expose(name), given.expose(name)) {
                inputs.insert(name, value);
            }
        }
    }
}
