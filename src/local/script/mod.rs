//! Scripts: what a simulated agent does, said beforehand.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

use super::agent::{self, Act, Ask, Await, Branches, Ending, REPLY_LIMIT, Sent, Step};
use crate::model::mandates::Mandate;

mod actions;
mod notes;
mod waits;

/// What the agent does in the mandates that it is for: one step after the other, inside their limits.
///
/// Give it to a server with [`LocalServer::script`](super::LocalServer::script). It is held to all the rules that
/// hold for any agent: an action may be blocked, ask a person or fail, and then the script goes on with its next
/// step.
///
/// ```
/// # #[tokio::main(flavor = "current_thread", start_paused = true)]
/// # async fn main() -> shadway::Result<()> {
/// use serde_json::json;
/// use shadway::Client;
/// use shadway::agents::AgentCreateParams;
/// use shadway::local::{LocalServer, Script, minutes};
/// use shadway::mandates::{Authority, Mandate, MandateCreateParams, MandateStatus, SuccessCriterion};
/// use shadway::record::FactStatus;
///
/// let local = LocalServer::start().await?;
/// local.script(
///     Script::when(|mandate: &Mandate| mandate.objective.contains("quote"))
///         .act("email.send", json!({"to": "sales@atlas.example", "subject": "A quote", "body": "For 200 units."}))
///         .wait_external("a reply from Atlas", minutes(20))
///         .reply("We sell you 200 units for $7,499.00.")
///         .fact("quoted_minor", 749_900, FactStatus::Verified)
///         .complete("Atlas asks for $7,499.00."),
/// );
///
/// let client = Client::builder().api_key(local.api_key()).http_service(local.service()).build()?;
/// let agent = client.agents().create(AgentCreateParams::new("A", "m/m").capabilities(["email.send"])).await?;
/// let params = MandateCreateParams::new(&agent.id, "Get a quote.").authority(
///     Authority::new().success_criteria([SuccessCriterion::new("quoted_minor").max(799_999)]),
/// );
/// let work = client.mandate(client.mandates().create(params).await?.id);
/// let done = work.wait().await?;
/// assert_eq!(done.status, MandateStatus::Completed);
/// assert_eq!(done.current_state.summary, "Atlas asks for $7,499.00.");
/// # Ok(())
/// # }
/// ```
///
/// A script without an end of its own, which is [`complete`](Script::complete) or [`fail`](Script::fail), ends as a
/// run without a script does: it checks the result, and a fact that a success criterion names and nothing has
/// reported may be made up.
///
/// What follows a step, such as [`spending`](Script::spending) or [`limit`](Script::limit), is about the last one.
/// Behind a step that it can't be about it ends the mandate as failed, with a summary that says so.
#[derive(Clone)]
pub struct Script {
    when: When,
    steps: Vec<Step>,
    unanswered: bool,
}

/// Which mandates a script is for.
#[derive(Clone)]
enum When {
    Any,
    Holds(Arc<dyn Fn(&Mandate) -> bool + Send + Sync>),
}

impl Script {
    /// A script for every mandate, still without a step.
    #[must_use]
    pub fn any() -> Self {
        Self { when: When::Any, steps: Vec::new(), unanswered: false }
    }

    /// A script for the mandates of which this holds when they are created, still without a step.
    ///
    /// It is asked inside of the server, so it must not call that.
    ///
    /// ```
    /// use shadway::local::Script;
    ///
    /// let one = Script::when(|mandate| mandate.metadata.get("purchaseRequest").is_some_and(|id| id == "PR-1042"));
    /// ```
    #[must_use]
    pub fn when(holds: impl Fn(&Mandate) -> bool + Send + Sync + 'static) -> Self {
        Self { when: When::Holds(Arc::new(holds)), ..Self::any() }
    }

    /// Is at work for a moment, and says what on: the mandate's summary.
    #[must_use]
    pub fn work(self, summary: impl Into<String>) -> Self {
        self.step(Step::Work { summary: summary.into() })
    }

    /// Takes an action with exactly these arguments, an object: nothing is filled in, so what a limit has to know and
    /// they leave out blocks it.
    ///
    /// Something [connected](super::LocalServer::connect) is really run with them. Otherwise the action is simulated,
    /// also one of your own: that a script acts with it makes it available once it is registered.
    #[must_use]
    pub fn act(self, capability: impl Into<String>, arguments: Value) -> Self {
        let capability = capability.into();
        if !arguments.is_object() {
            return self.wrong(&format!("the arguments of {capability} are no object"));
        }
        self.step(Step::Act(Box::new(Act::new(capability, Some(arguments)))))
    }

    /// Waits for a reply to the last action, which comes after this time; after none at all it is there already.
    ///
    /// One that takes longer than [the limit](Script::limit) does not come. If the action was blocked, refused or
    /// failed, or there was none, the wait is refused (documented): the script goes on, and an issue says why.
    #[must_use]
    pub fn wait_external(self, what: impl Into<String>, after: Duration) -> Self {
        self.step(Step::Await(Box::new(Await {
            to: Sent::Last,
            what: Some(what.into()),
            after,
            limit: REPLY_LIMIT,
            text: None,
            otherwise: Vec::new(),
        })))
    }

    /// Waits for this time.
    #[must_use]
    pub fn wait(self, duration: Duration) -> Self {
        self.step(Step::Sleep { duration, what: None })
    }

    /// Asks a person for something that only they know: an approval whose action is `input.provide` and whose fields
    /// are these, all of them required.
    ///
    /// What the person gives goes to the next action, into the fields of its input that have the same names, and is
    /// then forgotten. No answer, event or record shows it. Those named like a secret, such as `otp` or `password`,
    /// are marked as one.
    #[must_use]
    pub fn ask(
        self,
        question: impl Into<String>,
        fields: impl IntoIterator<Item = impl Into<String>>,
    ) -> Self {
        let fields = fields.into_iter().map(Into::into).collect();
        let decided = Branches::default();
        self.step(Step::Ask(Box::new(Ask { question: question.into(), fields, decided })))
    }

    /// Says that nobody decides or answers, so that a clock that jumps need not wait for a person.
    #[must_use]
    pub fn nobody_answers(mut self) -> Self {
        self.unanswered = true;
        self
    }

    /// Says that the work is done. The mandate is completed only if confirmed facts satisfy all success criteria, and
    /// failed otherwise (documented).
    #[must_use]
    pub fn complete(self, summary: impl Into<String>) -> Self {
        self.step(Step::Finish(Ending::Complete(summary.into())))
    }

    /// Gives up: the mandate has failed.
    #[must_use]
    pub fn fail(self, summary: impl Into<String>) -> Self {
        self.step(Step::Finish(Ending::Fail(summary.into())))
    }

    pub(super) fn fits(&self, mandate: &Mandate) -> bool {
        match &self.when {
            When::Any => true,
            When::Holds(holds) => holds(mandate),
        }
    }

    pub(super) fn is_unanswered(&self) -> bool {
        self.unanswered
    }

    pub(super) fn steps(&self) -> Vec<Step> {
        self.steps.clone()
    }

    /// The actions that it may take.
    pub(super) fn capabilities(&self) -> Vec<&str> {
        agent::capabilities(&self.steps)
    }

    fn step(mut self, step: Step) -> Self {
        self.steps.push(step);
        self
    }

    /// Says more of the last step, if it is one of which that can be said.
    fn of_last<T>(
        mut self,
        what: &str,
        none: &str,
        change: impl FnOnce(&mut T),
        part: fn(&mut Step) -> Option<&mut T>,
    ) -> Self {
        match self.steps.last_mut().and_then(part) {
            Some(part) => change(part),
            None => return self.wrong(&format!("{what:?} is behind {none}")),
        }
        self
    }

    /// Ends where the script makes no sense, so that whoever wrote it sees that.
    fn wrong(self, why: &str) -> Self {
        self.fail(format!("The script makes no sense: {why}."))
    }

    /// The steps of a branch, and whether they say that nobody answers.
    fn branch(&mut self, steps: impl FnOnce(Self) -> Self) -> Vec<Step> {
        let branch = steps(Self::any());
        self.unanswered |= branch.unanswered;
        branch.steps
    }
}

impl fmt::Debug for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let when = match self.when {
            When::Any => "any",
            When::Holds(_) => "…",
        };
        f.debug_struct("Script").field("when", &when).field("steps", &self.steps).finish_non_exhaustive()
    }
}

/// What became of a reply from outside: see [`LocalServer::reply`](super::LocalServer::reply).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Replied {
    /// The mandate waited for it, and goes on.
    Woke,
    /// It answers something the mandate did, and is kept until that is waited for.
    Kept,
    /// It answers nothing that the mandate did, or the mandate has ended or is none.
    Refused,
}

/// So many minutes.
#[must_use]
pub const fn minutes(count: u64) -> Duration {
    Duration::from_secs(count.saturating_mul(60))
}

/// So many hours.
#[must_use]
pub const fn hours(count: u64) -> Duration {
    minutes(count.saturating_mul(60))
}

/// So many days of 24 hours.
#[must_use]
pub const fn days(count: u64) -> Duration {
    hours(count.saturating_mul(24))
}

#[cfg(test)]
mod tests;
