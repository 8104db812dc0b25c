//! What an agent is told to do, as data.

use std::time::Duration;

use serde_json::Value;

use crate::model::json::RawJson;
use crate::model::record::{CommitmentDirection, FactStatus, IssueState};
use crate::model::types::Money;

/// One step. Between two steps is the safe point at which a pause or a cancellation takes effect.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// Is at work for a while, and says what on.
    Work { summary: String },
    /// Takes an action, if the limits allow it.
    Act(Box<Act>),
    /// Waits for the reply to what an action sent, if it went out.
    Await(Box<Await>),
    /// Waits for a time, and says for what.
    Sleep { duration: Duration, what: Option<String> },
    /// Asks a person for something that only they know.
    Ask(Box<Ask>),
    /// Writes something down, which takes no time.
    Note(Note),
    /// Ends.
    Finish(Ending),
}

/// An action to take.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Act {
    pub(crate) capability: String,
    /// What to run it with; `None` makes up what fits its input.
    pub(crate) arguments: Option<Value>,
    /// What it spends, where the arguments don't say it.
    pub(crate) spending: Option<Money>,
    /// What it gives back, where nothing is connected that really runs.
    pub(crate) returns: Option<Value>,
    /// What goes wrong.
    pub(crate) trouble: Option<Trouble>,
    pub(crate) takes: Option<Duration>,
    pub(crate) decided: Branches,
}

/// What goes wrong with an action.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Trouble {
    Fails {
        code: String,
        message: String,
    },
    /// The answer never comes.
    Unclear(Check),
}

/// What the checker of a capability finds about an action whose answer never came: see
/// [`Script::unclear`](crate::local::Script::unclear).
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Check {
    /// It was done, and this is its result.
    Done(Value),
    /// It was not done.
    NotDone,
    /// It can't tell: the check fails too.
    Unknown,
}

/// What else is done once a person has decided.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Branches {
    pub(crate) approved: Vec<Step>,
    pub(crate) rejected: Vec<Step>,
}

/// A reply to wait for.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Await {
    pub(crate) to: Sent,
    /// What is awaited, in plain words.
    pub(crate) what: Option<String>,
    /// How long it takes to come.
    pub(crate) after: Duration,
    /// How long it is waited for.
    pub(crate) limit: Duration,
    /// What it says.
    pub(crate) text: Option<String>,
    /// What is done when it does not come in time.
    pub(crate) otherwise: Vec<Step>,
}

/// What a reply answers.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Sent {
    /// The last action.
    Last,
    /// The last action that went to this party.
    To(String),
    /// The first action of this capability.
    By(String),
}

/// A question to a person.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Ask {
    pub(crate) question: String,
    /// The names of the values to give.
    pub(crate) fields: Vec<String>,
    pub(crate) decided: Branches,
}

/// Something to write down in the record.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Note {
    Fact { key: String, value: RawJson, status: FactStatus },
    Issue { question: String, state: IssueState },
    Assertion { party: String, claim: String },
    Need { question: String },
    Commitment { direction: CommitmentDirection, party: String, text: String },
    Evidence { name: String, text: String, excerpt: String },
}

/// How an agent ends its work.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Ending {
    /// As one does that has no script.
    Usual,
    /// Says that it is done.
    Complete(String),
    /// Gives up.
    Fail(String),
}

impl Act {
    /// An action, with nothing special about it.
    pub(crate) fn new(capability: impl Into<String>, arguments: Option<Value>) -> Self {
        Self {
            capability: capability.into(),
            arguments,
            spending: None,
            returns: None,
            trouble: None,
            takes: None,
            decided: Branches::default(),
        }
    }
}

/// The names of all actions that may come up.
pub(crate) fn capabilities(steps: &[Step]) -> Vec<&str> {
    let mut names = Vec::new();
    let mut rest = vec![steps];
    while let Some(steps) = rest.pop() {
        for step in steps {
            match step {
                Step::Act(act) => {
                    names.push(act.capability.as_str());
                    rest.extend([&act.decided.approved[..], &act.decided.rejected[..]]);
                }
                Step::Ask(ask) => rest.extend([&ask.decided.approved[..], &ask.decided.rejected[..]]),
                Step::Await(wait) => rest.push(&wait.otherwise),
                Step::Work { .. } | Step::Sleep { .. } | Step::Note(_) | Step::Finish(_) => {}
            }
        }
    }
    names
}
