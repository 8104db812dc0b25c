//! What the simulated agent does, as data. Whoever runs it reads one step after the other.

use std::collections::VecDeque;
use std::time::Duration;

use super::capabilities::family;

pub(crate) mod outcome;
pub(crate) mod sample;
pub(crate) mod text;

/// How long a mandate is queued before its first step.
pub(crate) const QUEUED: Duration = Duration::from_millis(50);
/// How long a step takes: long enough to be seen in a live view, short enough not to be waited for.
pub(crate) const STEP: Duration = Duration::from_millis(100);
/// The most actions an unscripted run takes of those that come with every workspace.
const MOST: usize = 6;
/// An action that only undoes another, so it is taken by no plan.
const UNDOES: &str = "browser.cancel_run";

/// One step. Between two steps is the safe point at which a pause or a cancellation takes effect.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// Is at work for a while, and says what on.
    Work { summary: String },
    /// Takes an action, if the limits allow it.
    Act { capability: String },
    /// Waits for the reply to what an action sent, if it went out.
    Await { capability: String },
    /// Holds the result against the success criteria, and ends.
    Finish,
}

/// What is left to do.
pub(crate) type Script = VecDeque<Step>;

/// An action that is granted.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Granted {
    pub(crate) name: String,
    pub(crate) reads: bool,
    pub(crate) built_in: bool,
}

/// The script of every mandate that has no other: it reads, plans, takes each granted action once, checks and
/// ends.
pub(crate) fn script(guidance: usize, granted: &[Granted], criteria: usize) -> Script {
    let reading = match guidance {
        0 => "Reading the objective.".to_owned(),
        1 => "Reading the objective and a line of guidance.".to_owned(),
        more => format!("Reading the objective and {more} lines of guidance."),
    };
    let names: Vec<&str> = granted.iter().map(|action| action.name.as_str()).collect();
    let planning = match text::names(&names) {
        Some(names) => format!("Planning the work. It may use {names}."),
        None => "Planning the work. No capability is granted, so it can only be thought through.".to_owned(),
    };
    let checking = match criteria {
        0 => "Checking the result against the objective.".to_owned(),
        1 => "Checking the result against the success criterion.".to_owned(),
        more => format!("Checking the result against {more} success criteria."),
    };
    let mut script = Script::from([Step::Work { summary: reading }, Step::Work { summary: planning }]);
    script.extend(actions(granted));
    script.extend([Step::Work { summary: checking }, Step::Finish]);
    script
}

/// Adds the actions that an amendment has granted, before the result is checked.
pub(crate) fn extend(script: &mut Script, granted: &[Granted]) {
    // Behind the last check there is only the end.
    let at = script.len().saturating_sub(2);
    let rest = script.split_off(at);
    script.extend(actions(granted));
    script.extend(rest);
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
        let act = |action: &Granted| Step::Act { capability: action.name.clone() };
        let writes: Vec<_> = of(name, false).map(act).collect();
        let reads: Vec<_> = of(name, true).map(act).collect();
        let waits = of(name, false)
            .filter(|action| awaits_reply(&action.name))
            .map(|action| Step::Await { capability: action.name.clone() });
        // Whether an email arrived is known before it is answered; a call or a thread has to go on first.
        if name == "email" {
            steps.extend(writes.into_iter().chain(reads).chain(waits));
        } else {
            steps.extend(writes.into_iter().chain(waits).chain(reads));
        }
    }
    steps
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
            Step::Act { capability } => capability,
            Step::Await { capability } => format!("reply to {capability}"),
            Step::Finish => "end".to_owned(),
        };
        script(0, &granted(names), 2).into_iter().map(shown).collect()
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
                "reply to email.send",
                "phone.call",
                "reply to phone.call",
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
        assert_eq!(plan[2..4], ["email.send", "reply to email.send"]);
        assert_eq!(plan[4..9], ["my.a", "my.b", "my.c", "my.d", "my.e"]);
    }

    #[test]
    fn what_an_amendment_grants_comes_before_the_check() {
        let mut script = script(1, &granted(&[]), 0);
        extend(&mut script, &granted(&["browser.run"]));
        assert_eq!(script[2], Step::Act { capability: "browser.run".to_owned() });
        assert_eq!(script.len(), 5);
        let mut nearly_over = Script::from([Step::Finish]);
        extend(&mut nearly_over, &granted(&["browser.run"]));
        assert_eq!(nearly_over.back(), Some(&Step::Finish));
    }
}
