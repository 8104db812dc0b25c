//! Actions under way: what is kept of them, and how they are told.

use serde_json::Value;

use crate::local::agent::Check;
use crate::local::clock::Moment;
use crate::local::workspace::store::Serial;
use crate::model::approvals::ApprovalInputs;
use crate::model::events::{CapabilityExecution, CapabilityExecutionEventData};
use crate::model::json::RawJson;
use crate::model::types::{Extra, Money};
use crate::resources::capabilities::Executor;

/// An action under way.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(super) id: String,
    pub(super) capability: String,
    pub(super) arguments: Value,
    /// What it spends, to be given back if it fails.
    pub(super) cost: Option<Money>,
    pub(super) started: Moment,
    /// The version of the limits that it runs under.
    pub(super) version: u64,
    /// How often it was begun: what is safe to repeat is, once.
    pub(super) attempt: u32,
}

/// An action under way, and what will come of it.
#[derive(Debug)]
pub(super) struct Underway {
    pub(super) run: Run,
    pub(super) course: Course,
}

/// What comes of an action when its time is over.
#[derive(Debug)]
pub(super) enum Course {
    /// What is connected has not come to an end.
    Connected(Box<Job>),
    /// It is done, with this result.
    Done(Option<Value>),
    Fails {
        code: String,
        message: String,
    },
    /// No answer came; what a check will find, and what a second attempt would give.
    Unclear(Check, Option<Value>),
    /// A check was made, and found this.
    Checked(Check),
}

/// An action to be run by what has been connected for it, outside of the workspace.
#[derive(Debug, Clone)]
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

impl Run {
    /// The run when it is over.
    pub(super) fn over(&self, at: Moment) -> CapabilityExecution {
        let took = u64::try_from(at.since(self.started).as_millis()).unwrap_or(u64::MAX);
        let execution = execution(self.id.clone(), &self.capability, self.version);
        CapabilityExecution { duration_ms: Some(took), ..execution }
    }
}

pub(super) fn execution(id: String, capability: &str, version: u64) -> CapabilityExecution {
    CapabilityExecution {
        capability: capability.to_owned(),
        id: Some(id),
        duration_ms: None,
        error: None,
        authority_version: Some(version),
        extra: Extra::new(),
    }
}

pub(super) fn told(
    execution: CapabilityExecution,
    reason: Option<String>,
) -> Box<CapabilityExecutionEventData> {
    Box::new(CapabilityExecutionEventData { execution, reason, extra: Extra::new() })
}
