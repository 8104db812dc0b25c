//! What the simulated agent does, as data. Whoever runs it reads one step after the other.

use std::collections::VecDeque;
use std::time::Duration;

use super::capabilities::family;

pub(crate) mod outcome;
pub(crate) mod sample;
mod step;
pub(crate) mod text;

pub use step::Check;
pub(crate) use step::{Act, Ask, Await, Branches, Ending, Note, Sent, Step, Trouble, capabilities};

/// How long a mandate is queued before its first step.
pub(crate) const QUEUED: Duration = Duration::from_millis(50);
/// How long a step takes: long enough to be seen in a live view, short enough not to be waited for.
pub(crate) const STEP: Duration = Duration::from_millis(100);
/// How long a reply is waited for, unless another time is said (documented).
pub(crate) const REPLY_LIMIT: Duration = Duration::from_secs(24 * 60 * 60);
/// The most actions an unscripted run takes of those that come with every workspace.
const MOST: usize = 6;
/// An action that only undoes another, so it is taken by no plan.
const UNDOES: &str = "browser.cancel_run";

/// An action that is granted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Granted {
    pub(crate) name: String,
    pub(crate) reads: bool,
    pub(crate) built_in: bool,
}

/// What is left to do.
#[derive(Debug)]
pub(crate) struct Plan {
    steps: VecDeque<Step>,
    scripted: bool,
}

impl Plan {
    /// The plan of every mandate that has no script: it reads, plans, takes each granted action once, checks and
    /// ends.
    pub(crate) fn usual(guidance: usize, granted: &[Granted], criteria: usize) -> Self {
        let reading = match guidance {
            0 => "Reading the objective.".to_owned(),
            1 => "Reading the objective and a line of guidance.".to_owned(),
            more => format!("Reading the objective and {more} lines of guidance."),
        };
        let names: Vec<&str> = granted.iter().map(|action| action.name.as_str()).collect();
        let planning = match text::names(&names) {
            Some(names) => format!("Planning the work. It may use {names}."),
            None => {
                "Planning the work. No capability is granted, so it can only be thought through.".to_owned()
            }
        };
        let mut steps = VecDeque::from([Step::Work { summary: reading }, Step::Work { summary: planning }]);
        steps.extend(actions(granted));
        steps.extend(end(criteria));
        Self { steps, scripted: false }
    }

    /// Steps that were given, and the usual end behind them.
    pub(crate) fn scripted(steps: Vec<Step>, criteria: usize) -> Self {
        Self { steps: steps.into_iter().chain(end(criteria)).collect(), scripted: true }
    }

    pub(crate) fn next(&mut self) -> Option<Step> {
        self.steps.pop_front()
    }

    /// Puts steps before all others.
    pub(crate) fn first(&mut self, steps: impl IntoIterator<Item = Step, IntoIter: DoubleEndedIterator>) {
        for step in steps.into_iter().rev() {
            self.steps.push_front(step);
        }
    }

    pub(crate) fn clear(&mut self) {
        self.steps.clear();
    }

    /// Adds the actions that an amendment has granted, before the result is checked; a script stays as it is.
    pub(crate) fn extend(&mut self, granted: &[Granted]) {
        if self.scripted {
            return;
        }
        // Behind the last check there is only the end.
        let rest = self.steps.split_off(self.steps.len().saturating_sub(2));
        self.steps.extend(actions(granted));
        self.steps.extend(rest);
    }
}

/// The usual end.
fn end(criteria: usize) -> [Step; 2] {
    let checking = match criteria {
        0 => "Checking the result against the objective.".to_owned(),
        1 => "Checking the result against the success criterion.".to_owned(),
        more => format!("Checking the result against {more} success criteria."),
    };
    [Step::Work { summary: checking }, Step::Finish(Ending::Usual)]
}

/// One action each: of a family those that change something, then those that look at what came of it. What only
/// looks comes last.
fn actions(granted: &[Granted]) -> Vec<Step> {
    let mut room = MOST.saturating_sub(granted.iter().filter(|action| !action.built_in).count());
    let mut taken = Vec::new();
    for action in granted.iter().filter(|action| action.name != UNDOES) {
        if !action.built_in || room > 0 {
            room -= usize::from(action.built_in);
            taken.push(action);
        }
    }
    let mut families: Vec<&str> = Vec::new();
    for action in &taken {
        if !families.contains(&family(&action.name)) {
            families.push(family(&action.name));
        }
    }
    let of = |name: &str, reads: bool| {
        let (taken, name) = (taken.clone(), name.to_owned());
        taken.into_iter().filter(move |action| action.reads == reads && family(&action.name) == name)
    };
    families.sort_by_key(|name| of(name, false).next().is_none());
    let mut steps = Vec::new();
    for name in families {
        let act = |action: &Granted| Step::Act(Box::new(Act::new(&action.name, None)));
        let writes: Vec<_> = of(name, false).map(act).collect();
        let reads: Vec<_> = of(name, true).map(act).collect();
        let waits = of(name, false)
            .filter(|action| awaits_reply(&action.name))
            .map(|action| Step::Await(Box::new(reply(&action.name))));
        // Whether an email arrived is known before it is answered; a call or a thread has to go on first.
        if name == "email" {
            steps.extend(writes.into_iter().chain(reads).chain(waits));
        } else {
            steps.extend(writes.into_iter().chain(waits).chain(reads));
        }
    }
    steps
}

/// A wait for whoever was written to or called, who answers in a moment.
fn reply(capability: &str) -> Await {
    Await {
        to: Sent::By(capability.to_owned()),
        what: None,
        after: STEP,
        limit: REPLY_LIMIT,
        text: None,
        otherwise: Vec::new(),
    }
}

/// Whether somebody answers what the action sends.
pub(crate) fn awaits_reply(capability: &str) -> bool {
    matches!(capability, "email.send" | "mailbox.send" | "mailbox.reply" | "phone.call")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn granted(names: &[&str]) -> Vec<Granted> {
        let granted = |name: &&str| Granted {
            name: (*name).to_owned(),
            reads: name.contains(".get") || name.contains(".read"),
            built_in: !name.starts_with("my"),
        };
        names.iter().map(granted).collect()
    }

    fn plan(names: &[&str]) -> Vec<String> {
        let shown = |step: Step| match step {
            Step::Work { summary } => summary,
            Step::Act(act) => act.capability,
            Step::Await(wait) => format!("reply to {:?}", wait.to),
            Step::Finish(_) => "end".to_owned(),
            other => format!("{other:?}"),
        };
        Plan::usual(0, &granted(names), 2).steps.into_iter().map(shown).collect()
    }

    #[test]
    fn it_writes_before_it_looks_and_waits_for_replies() {
        let names =
            ["mys.get", "email.get_delivery", "email.send", "phone.call", "phone.get_call", "myp.order"];
        assert_eq!(
            plan(&names),
            [
                "Reading the objective.",
                "Planning the work. It may use mys.get, email.get_delivery and 4 more.",
                "email.send",
                "email.get_delivery",
                "reply to By(\"email.send\")",
                "phone.call",
                "reply to By(\"phone.call\")",
                "phone.get_call",
                "myp.order",
                "mys.get",
                "Checking the result against 2 success criteria.",
                "end",
            ]
        );
    }

    #[test]
    fn it_takes_few_actions_and_all_of_your_own() {
        let names = [
            "email.send",
            "email.get_delivery",
            "mailbox.send",
            "mailbox.read_thread",
            "browser.cancel_run",
            "phone.call",
            "my.a",
            "my.b",
            "my.c",
            "my.d",
            "my.e",
        ];
        let plan = plan(&names);
        assert_eq!(plan[2..4], ["email.send", "reply to By(\"email.send\")"]);
        assert_eq!(plan[4..9], ["my.a", "my.b", "my.c", "my.d", "my.e"]);
    }

    #[test]
    fn what_an_amendment_grants_comes_before_the_check() {
        let mut plan = Plan::usual(1, &granted(&[]), 0);
        plan.extend(&granted(&["browser.run"]));
        assert_eq!(plan.steps[2], Step::Act(Box::new(Act::new("browser.run", None))));
        assert_eq!(plan.steps.len(), 5);
        plan.steps.drain(..4);
        plan.extend(&granted(&["browser.run"]));
        assert_eq!(plan.steps.back(), Some(&Step::Finish(Ending::Usual)));
    }

    #[test]
    fn an_amendment_adds_nothing_to_a_script() {
        let mut plan = Plan::scripted(vec![], 0);
        plan.extend(&granted(&["browser.run"]));
        assert_eq!(plan.steps.len(), 2);
        plan.first([Step::Work { summary: "a".to_owned() }, Step::Work { summary: "b".to_owned() }]);
        assert_eq!(plan.next(), Some(Step::Work { summary: "a".to_owned() }));
    }
}
