//! The steps of a script, as data.

use std::time::Duration;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::local::{Check, Script};
use crate::model::record::{CommitmentDirection, FactStatus, IssueState};
use crate::model::types::{Interval, Money};

/// One step: what [`Script`] has a method for, under the same name.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Step {
    Work(String),
    Act(Act),
    WaitExternal(WaitExternal),
    Wait(Time),
    Ask(Ask),
    Fact { key: String, value: Value, status: FactStatus },
    Evidence { name: String, text: String, excerpt: String },
    Issue { question: String, state: IssueState },
    Assertion { party: String, claim: String },
    InformationNeed(String),
    Commitment { direction: CommitmentDirection, party: String, text: String },
    Complete(String),
    Fail(String),
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Act {
    capability: String,
    #[serde(default = "no_arguments")]
    arguments: Value,
    spending: Option<Money>,
    returns: Option<Value>,
    fails: Option<Failure>,
    unclear: Option<Found>,
    takes: Option<Time>,
    #[serde(default)]
    on_approved: Vec<Step>,
    #[serde(default)]
    on_rejected: Vec<Step>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Failure {
    code: String,
    message: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Found {
    Done(Value),
    NotDone,
    Unknown,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WaitExternal {
    what: String,
    after: Time,
    from: Option<String>,
    reply: Option<String>,
    limit: Option<Time>,
    #[serde(default)]
    otherwise: Vec<Step>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ask {
    question: String,
    fields: Vec<String>,
    #[serde(default)]
    on_approved: Vec<Step>,
    #[serde(default)]
    on_rejected: Vec<Step>,
}

/// A length of time: `"20h"`, or a number of seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Time(pub(crate) Duration);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let time = match Value::deserialize(deserializer)? {
            Value::Number(seconds) => {
                seconds.as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok())
            }
            text @ Value::String(_) => {
                serde_json::from_value(text).ok().as_ref().and_then(Interval::as_duration)
            }
            _ => None,
        };
        time.map(Self).ok_or_else(|| {
            D::Error::custom(
                "no length of time: write seconds, or a number and d, h, m or s, such as \"20h\"",
            )
        })
    }
}

fn no_arguments() -> Value {
    Value::Object(serde_json::Map::new())
}

pub(super) fn follow(script: Script, steps: Vec<Step>) -> Script {
    steps.into_iter().fold(script, |script, step| step.add(script))
}

impl Step {
    fn add(self, script: Script) -> Script {
        match self {
            Self::Work(summary) => script.work(summary),
            Self::Act(act) => act.add(script),
            Self::WaitExternal(wait) => wait.add(script),
            Self::Wait(time) => script.wait(time.0),
            Self::Ask(ask) => {
                let script = script.ask(ask.question, ask.fields);
                decided(script, ask.on_approved, ask.on_rejected)
            }
            Self::Fact { key, value, status } => script.fact(key, value, status),
            Self::Evidence { name, text, excerpt } => script.evidence(name, text, excerpt),
            Self::Issue { question, state } => script.issue(question, state),
            Self::Assertion { party, claim } => script.assertion(party, claim),
            Self::InformationNeed(question) => script.information_need(question),
            Self::Commitment { direction, party, text } => script.commitment(direction, party, text),
            Self::Complete(summary) => script.complete(summary),
            Self::Fail(summary) => script.fail(summary),
        }
    }
}

impl Act {
    fn add(self, script: Script) -> Script {
        let mut script = script.act(self.capability, self.arguments);
        if let Some(money) = self.spending {
            script = script.spending(money);
        }
        if let Some(output) = self.returns {
            script = script.returns(output);
        }
        if let Some(Failure { code, message }) = self.fails {
            script = script.fails(code, message);
        }
        if let Some(found) = self.unclear {
            script = script.unclear(match found {
                Found::Done(output) => Check::Done(output),
                Found::NotDone => Check::NotDone,
                Found::Unknown => Check::Unknown,
            });
        }
        if let Some(time) = self.takes {
            script = script.takes(time.0);
        }
        decided(script, self.on_approved, self.on_rejected)
    }
}

impl WaitExternal {
    fn add(self, script: Script) -> Script {
        let mut script = script.wait_external(self.what, self.after.0);
        if let Some(party) = self.from {
            script = script.from(party);
        }
        if let Some(text) = self.reply {
            script = script.reply(text);
        }
        if let Some(limit) = self.limit {
            script = script.limit(limit.0);
        }
        let steps = self.otherwise;
        if steps.is_empty() { script } else { script.otherwise(|then| follow(then, steps)) }
    }
}

fn decided(mut script: Script, approved: Vec<Step>, rejected: Vec<Step>) -> Script {
    if !approved.is_empty() {
        script = script.on_approved(|then| follow(then, approved));
    }
    if !rejected.is_empty() {
        script = script.on_rejected(|then| follow(then, rejected));
    }
    script
}
