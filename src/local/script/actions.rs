//! What can be said of an action: what it spends, gives back and takes, what goes wrong, and what a decision brings.

use std::time::Duration;

use serde_json::Value;

use super::Script;
use crate::local::agent::{Act, Branches, Check, Step, Trouble};
use crate::model::types::Money;

impl Script {
    /// What the last action spends: set in the argument that the limits look at, such as `amount_minor`, if it has
    /// one or its input does; otherwise said beside the arguments.
    #[must_use]
    pub fn spending(self, money: Money) -> Self {
        self.of_action("spending", |act| act.spending = Some(money))
    }

    /// What the last action gives back, where nothing is connected that really runs. Its fields become facts.
    #[must_use]
    pub fn returns(self, output: Value) -> Self {
        self.of_action("returns", |act| act.returns = Some(output))
    }

    /// Lets the last action fail, in place of running it.
    #[must_use]
    pub fn fails(self, code: impl Into<String>, message: impl Into<String>) -> Self {
        let trouble = Trouble::Fails { code: code.into(), message: message.into() };
        self.of_action("fails", |act| act.trouble = Some(trouble))
    }

    /// How long the last action takes. What is really run takes its own time.
    #[must_use]
    pub fn takes(self, duration: Duration) -> Self {
        self.of_action("takes", |act| act.takes = Some(duration))
    }

    /// Lets the last action go out and its answer never come, in place of running it. What follows depends on the
    /// capability's `idempotency` (documented):
    ///
    /// - `native` and `keyed`: it is safe to repeat and is, once, with the result of [`Check::Done`]. A second answer
    ///   that never comes, for [`Check::Unknown`], leaves the outcome unknown.
    /// - `reconcilable`: the capability's checker looks up what happened, and finds this. The attempt and the check
    ///   are both in the evidence. What was not done has failed.
    /// - `none`: nobody can tell, so the outcome stays unknown, whatever is said here.
    ///
    /// An unknown outcome is told by `capability.execution_unknown` and an open issue. It counts neither as done nor
    /// as failed, what it spends stays spent, and the same action with the same arguments is blocked from then on.
    ///
    /// ```
    /// use serde_json::json;
    /// use shadway::local::{Check, Script};
    ///
    /// let script = Script::any()
    ///     .act("procurement.create_po", json!({"supplier": "Atlas", "amount_minor": 749_900}))
    ///     .unclear(Check::Done(json!({"purchase_reference": "PO-2041"})))
    ///     .complete("Ordered.");
    /// ```
    #[must_use]
    pub fn unclear(self, check: Check) -> Self {
        self.of_action("unclear", |act| act.trouble = Some(Trouble::Unclear(check)))
    }

    /// What else is done if a person approves of the last action, behind it, or answers the last question. An action
    /// that nobody has to be asked for leaves it out.
    ///
    /// ```
    /// use serde_json::json;
    /// use shadway::local::Script;
    ///
    /// let script = Script::any()
    ///     .act("procurement.create_po", json!({"supplier": "Atlas", "amount_minor": 749_900}))
    ///     .on_approved(|then| then.complete("Ordered."))
    ///     .on_rejected(|then| then.act("email.send", json!({"to": "sales@atlas.example", "body": "No, thank you."})));
    /// ```
    #[must_use]
    pub fn on_approved(mut self, steps: impl FnOnce(Self) -> Self) -> Self {
        let steps = self.branch(steps);
        self.of_decision("on_approved", |decided| decided.approved = steps)
    }

    /// What else is done if a person refuses the last action, or to answer the last question.
    #[must_use]
    pub fn on_rejected(mut self, steps: impl FnOnce(Self) -> Self) -> Self {
        let steps = self.branch(steps);
        self.of_decision("on_rejected", |decided| decided.rejected = steps)
    }

    fn of_action(self, what: &str, change: impl FnOnce(&mut Act)) -> Self {
        self.of_last(what, "no action", change, |step| match step {
            Step::Act(act) => Some(act),
            _ => None,
        })
    }

    fn of_decision(self, what: &str, change: impl FnOnce(&mut Branches)) -> Self {
        self.of_last(what, "no action and no question", change, |step| match step {
            Step::Act(act) => Some(&mut act.decided),
            Step::Ask(ask) => Some(&mut ask.decided),
            _ => None,
        })
    }
}
