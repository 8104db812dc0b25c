//! What the simulated agent does, as data. Whoever runs it reads one step after the other.

use std::collections::VecDeque;
use std::time::Duration;

/// How long a mandate is queued before its first step.
pub(crate) const QUEUED: Duration = Duration::from_millis(50);
/// How long a step takes: long enough to be seen in a live view, short enough not to be waited for.
const STEP: Duration = Duration::from_millis(100);
/// How much of an objective is repeated in a summary.
const SHOWN: usize = 200;

/// One step. Between two steps is the safe point at which a pause or a cancellation takes effect.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Step {
    /// Is at work for a while, and says what on.
    Work { summary: String, takes: Duration },
    /// Ends the mandate as completed.
    Complete { summary: String },
}

/// What is left to do.
pub(crate) type Script = VecDeque<Step>;

/// The script of every mandate that has no other: it reads, plans, works, checks and completes, and is done in
/// half a second. It says that it is a simulation, lest anyone take the summary for a fact.
pub(crate) fn script(objective: &str, capabilities: &[String], criteria: usize) -> Script {
    let objective = shortened(objective);
    let plan = match names(capabilities) {
        Some(names) => format!("Planning the work. It may use {names}."),
        None => "Planning the work. No capability is granted, so it can only be thought through.".to_owned(),
    };
    let check = match criteria {
        0 => "Checking the result against the objective.".to_owned(),
        1 => "Checking the result against the objective and the success criterion.".to_owned(),
        more => format!("Checking the result against the objective and {more} success criteria."),
    };
    let work = |summary| Step::Work { summary, takes: STEP };
    VecDeque::from([
        work(format!("Reading the objective: {objective}")),
        work(plan),
        work(format!("Working on it: {objective}")),
        work(check),
        Step::Complete { summary: format!("Done, in simulation (nothing left this machine): {objective}") },
    ])
}

/// The start of a long objective, in one line.
pub(crate) fn shortened(objective: &str) -> String {
    let line = objective.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        None => line,
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
    }
}

/// "a", "a and b", "a, b and 3 more".
fn names(capabilities: &[String]) -> Option<String> {
    match capabilities {
        [] => None,
        [one] => Some(one.clone()),
        [one, two] => Some(format!("{one} and {two}")),
        [one, two, rest @ ..] => Some(format!("{one}, {two} and {} more", rest.len())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn summaries(script: &Script) -> Vec<&str> {
        script
            .iter()
            .map(|step| match step {
                Step::Work { summary, .. } | Step::Complete { summary } => summary.as_str(),
            })
            .collect()
    }

    #[test]
    fn the_usual_script_reads_well() {
        let names = ["email.send".to_owned(), "email.get_delivery".to_owned()];
        let script = script("Ask for a quote.", &names, 2);
        assert_eq!(
            summaries(&script),
            [
                "Reading the objective: Ask for a quote.",
                "Planning the work. It may use email.send and email.get_delivery.",
                "Working on it: Ask for a quote.",
                "Checking the result against the objective and 2 success criteria.",
                "Done, in simulation (nothing left this machine): Ask for a quote.",
            ]
        );
    }

    #[test]
    fn a_long_objective_is_cut_between_characters_and_put_in_one_line() {
        let shown = shortened(&format!("ä\n {}", "ö".repeat(500)));
        assert!(shown.starts_with("ä öö") && shown.ends_with('…'), "{shown}");
        assert_eq!(shown.chars().count(), SHOWN + 1);
    }

    #[test]
    fn many_names_are_counted() {
        let capabilities: Vec<_> = (1..=5).map(|number| format!("a.{number}")).collect();
        assert_eq!(names(&capabilities).unwrap(), "a.1, a.2 and 3 more");
        assert_eq!(names(&[]), None);
    }
}
