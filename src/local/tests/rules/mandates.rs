//! What a mandate keeps to from its beginning to its end.

use super::*;
use crate::mandates::MandateAmendmentCreateParams;

#[tokio::test(start_paused = true)]
async fn a_mandate_ends_expired_once_its_time_has_passed() {
    // Mandates: "once it passes, no action runs and the mandate ends `expired`"
    let scene = Scene::new().await;
    scene.server.script(Script::any().wait(hours(3)).act("email.send", email()).complete("Done."));
    let end = scene.agent.created_at.unwrap() + hours(2);
    let work = scene.create(MandateCreateParams::new(&scene.agent.id, "Ask.").expires_at(end)).await;
    let ended = work.wait().await.unwrap();
    assert_eq!((ended.status, ended.updated_at), (MandateStatus::Expired, Some(end)));
    assert!(actions(&work).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_deadline_ends_nothing() {
    // Mandates: "affects how it plans, not what it's allowed to do"
    let scene = Scene::new().await;
    scene.server.script(Script::any().wait(hours(3)).act("email.send", email()).complete("Done."));
    let due = scene.agent.created_at.unwrap() + hours(2);
    let work = scene.create(MandateCreateParams::new(&scene.agent.id, "Ask.").deadline(due)).await;
    assert_eq!(work.wait().await.unwrap().status, MandateStatus::Completed);
    assert_eq!(actions(&work).await[1], "email.send done");
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_a_person_that_runs_out_pauses_the_mandate_which_keeps_what_it_learned() {
    // Mandates: "ends up `paused`, not `failed`. You can resume it, and it keeps everything it learned"
    let scene = Scene::new().await;
    let script = Script::any()
        .act("email.send", email())
        .wait_external("a reply from Atlas", hours(1))
        .reply("$7,499.00 in all.")
        .fact("quoted_minor", 749_900, FactStatus::Verified)
        .act(ORDER, json!({"quantity": 200}))
        .complete("Done.")
        .nobody_answers();
    let work = scene.give(Authority::new().require_approval_for([ORDER]), script).await;
    later(days(8)).await;
    let paused = until(&work, MandateStatus::Paused).await;
    assert!(paused.current_state.summary.contains("nobody decided"), "{}", paused.current_state.summary);
    let learned = facts(&work).await;
    work.resume("Somebody is there.").await.unwrap();
    let second = asked(&work).await;
    scene.client.approvals().approve(&second.id, "Go on.").await.unwrap();
    assert_eq!(work.wait().await.unwrap().status, MandateStatus::Completed);
    assert_eq!(facts(&work).await, learned);
    assert_eq!(learned[1].0, "quoted_minor");
    // Nothing was done again, and what it had been told is still there.
    assert_eq!(actions(&work).await.iter().filter(|words| *words == "email.send done").count(), 1);
    assert_eq!(work.assertions().list().await.unwrap().data[0].claim, "$7,499.00 in all.");
}

#[tokio::test(start_paused = true)]
async fn a_command_that_does_not_apply_is_a_conflict() {
    // Mandates: "Send one that doesn't apply and you get a conflict error instead of it being ignored."
    let scene = Scene::new().await;
    let script = Script::any().ask("What is the code?", ["otp"]).complete("Done.").nobody_answers();
    let work = scene.give(Authority::new(), script).await;
    until(&work, MandateStatus::NeedsApproval).await;
    let code = |error: crate::Error| error.code().cloned();
    let conflict = Some(ErrorCode::InvalidStatusTransition);
    assert_eq!(code(work.resume("Go on.").await.unwrap_err()), conflict);
    work.cancel("Enough.").await.unwrap();
    assert_eq!(code(work.pause("Wait.").await.unwrap_err()), conflict);
    assert_eq!(code(work.cancel("Enough.").await.unwrap_err()), conflict);
}

#[tokio::test(start_paused = true)]
async fn a_pause_takes_effect_when_the_work_stops() {
    // Mandates: "The status changes once the work actually stops, not the moment you call it"
    let scene = Scene::new().await;
    let script = Script::any().act("email.send", email()).takes(minutes(5)).complete("Done.");
    let work = scene.give(Authority::new(), script).await;
    until(&work, MandateStatus::Running).await;
    assert_eq!(work.pause("Wait.").await.unwrap().status, MandateStatus::Running);
    until(&work, MandateStatus::Paused).await;
    assert_eq!(story(&work).await, ["running", "email.send started", "email.send done", "paused"]);
    work.resume("Go on.").await.unwrap();
    assert_eq!(work.wait().await.unwrap().status, MandateStatus::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_works_from_any_status_and_undoes_nothing() {
    // Mandates: "it doesn't undo an email already sent"
    let scene = Scene::new().await;
    let script = Script::any().act("email.send", email()).wait(days(1)).complete("Done.");
    let work = scene.give(Authority::new(), script).await;
    until(&work, MandateStatus::WaitingExternal).await;
    assert_eq!(work.cancel("Enough.").await.unwrap().status, MandateStatus::Canceled);
    assert_eq!(actions(&work).await, ["email.send started", "email.send done"]);
    assert_eq!(facts(&work).await[0].0, "emails_sent");
}

#[tokio::test(start_paused = true)]
async fn an_amendment_replaces_all_limits_and_every_version_is_kept() {
    // Mandates: "An amendment replaces the whole set of limits, and every version is kept."
    let scene = Scene::new().await;
    let first = Authority::new().maximum_actions(1).spend_maximum(Money::usd(5));
    let script = Script::any().wait(hours(1)).complete("Done.");
    let work = scene.give(first, script).await;
    let only = Authority::new().maximum_read_actions(2);
    for (version, authority) in [(1, only.clone()), (2, Authority::new().maximum_actions(9))] {
        let params = MandateAmendmentCreateParams::new(authority, "Another budget.", version);
        assert_eq!(work.amend(params).await.unwrap().version, version + 1);
    }
    let kept = work.amendments().list().await.unwrap().data;
    assert_eq!((kept[0].version, &kept[0].authority, kept[1].version), (2, &only, 3));
    assert!(kept.iter().all(|kept| kept.reason == "Another budget." && kept.actor.is_some()));
    assert_eq!(work.get().await.unwrap().authority, Authority::new().maximum_actions(9));
}

#[tokio::test(start_paused = true)]
async fn a_second_edit_of_the_same_version_is_a_conflict() {
    // Mandates: "yours is rejected with a conflict instead of quietly overwriting theirs"
    let scene = Scene::new().await;
    let work = scene.give(Authority::new(), Script::any().wait(hours(1)).complete("Done.")).await;
    let amend = || work.amend(MandateAmendmentCreateParams::new(Authority::new(), "Mine.", 1));
    amend().await.unwrap();
    assert_eq!(amend().await.unwrap_err().code(), Some(&ErrorCode::VersionMismatch));
}

#[tokio::test(start_paused = true)]
async fn an_amendment_takes_effect_at_the_next_step_and_each_action_says_under_which_it_ran() {
    // Mandates: "takes effect at the mandate's next step, even if it's in the middle of running"
    // Mandates: "every action records which version of the limits it ran under"
    let scene = Scene::new().await;
    let script = Script::any()
        .act("email.send", email())
        .takes(minutes(5))
        .act("email.send", email())
        .act("phone.call", json!({"to": "+13025550123"}))
        .complete("Done.");
    let work = scene.give(Authority::new(), script).await;
    until(&work, MandateStatus::Running).await;
    work.amend_with("No more mail.", |limits| limits.prohibited_actions(["email.send"])).await.unwrap();
    work.wait().await.unwrap();
    let events = events(&work).await;
    let ran =
        events.iter().filter_map(|event| Some((in_words(event), event.execution()?.authority_version?)));
    let ran: Vec<_> = ran.filter(|(words, _)| !words.contains("started")).collect();
    assert_eq!(
        ran,
        [
            ("email.send done".to_owned(), 1),
            ("email.send blocked: email.send is prohibited under this mandate".to_owned(), 2),
            ("phone.call done".to_owned(), 2),
        ]
    );
}
