use serde_json::json;

use super::*;

#[test]
fn what_is_said_of_a_step_it_can_not_be_about_ends_the_mandate() {
    let scripts = [
        Script::any().work("a").takes(minutes(1)),
        Script::any().act("a.b", json!({})).limit(minutes(1)),
        Script::any().wait(minutes(1)).on_rejected(|then| then),
        Script::any().act("a.b", json!("text")),
    ];
    for script in scripts {
        let Some(Step::Finish(Ending::Fail(why))) = script.steps.last() else { panic!("{script:?}") };
        assert!(why.starts_with("The script makes no sense: "), "{why}");
    }
}

#[test]
fn all_its_actions_are_known_also_those_in_branches() {
    let script = Script::any()
        .act("a.b", json!({}))
        .on_rejected(|then| then.act("c.d", json!({})))
        .ask("What?", ["code"])
        .on_approved(|then| then.act("e.f", json!({})))
        .wait_external("it", hours(1))
        .otherwise(|then| then.act("g.h", json!({})).nobody_answers());
    let mut names = script.capabilities();
    names.sort_unstable();
    assert_eq!(names, ["a.b", "c.d", "e.f", "g.h"]);
    assert!(script.is_unanswered());
}

#[test]
fn it_can_be_shared_and_shows_its_steps() {
    fn shared<T: Send + Sync + 'static>(_: &T) {}
    let script = Script::when(|mandate| mandate.objective.is_empty()).work("Reading.");
    shared(&script);
    let shown = format!("{script:?}");
    assert!(shown.contains("Reading.") && shown.contains('…'), "{shown}");
}

#[test]
fn times_are_told_in_units_of_their_own() {
    assert_eq!((minutes(2), hours(2), days(2)), (Duration::from_secs(120), minutes(120), hours(48)));
    assert_eq!(days(u64::MAX), Duration::from_secs(u64::MAX));
}
