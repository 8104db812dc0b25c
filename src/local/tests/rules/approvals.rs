//! Where approvals come from, and what a decision means.

use super::*;
use crate::approvals::{ApprovalApproveParams, ApprovalStatus};
use crate::capabilities::Executor;
use crate::types::RawJson;

/// A mandate that asks whether it may order, and has just done so.
async fn asking(scene: &Scene, script: Script) -> (MandateHandle, Approval) {
    let work = scene.give(Authority::new().require_approval_for([ORDER]), script).await;
    let approval = asked(&work).await;
    (work, approval)
}

#[tokio::test(start_paused = true)]
async fn what_is_risky_and_hard_to_undo_is_asked_for_by_itself() {
    // Approvals: "Shadway pauses an action on its own when it's risky and hard to undo"
    for (risk, asks) in [(CapabilityRisk::Legal, true), (CapabilityRisk::None, false)] {
        let scene = Scene::with(order().effect(CapabilityEffect::Irreversible).risk(risk)).await;
        let script = Script::any().act(ORDER, json!({"quantity": 1})).complete("Done.");
        let work = scene.give(Authority::new(), script).await;
        let approval = work.wait_for_approval().await.unwrap();
        assert_eq!(approval.map(|approval| approval.action.capability), asks.then(|| ORDER.to_owned()));
    }
}

#[tokio::test(start_paused = true)]
async fn a_costly_action_that_rests_on_what_is_not_confirmed_is_asked_for_by_itself() {
    // Approvals: "when a costly action is based on outside data it hasn't confirmed"
    let quote = |status: FactStatus| {
        Script::any()
            .act("email.send", email())
            .wait_external("a quote from Atlas", hours(1))
            .fact("quoted_minor", 749_900, status)
            .act(ORDER, json!({"quantity": 200}))
            .spending(Money::usd(749_900))
            .complete("Done.")
    };
    let (_scene, confirmed, _) = run(Authority::new(), quote(FactStatus::Verified)).await;
    assert!(!story(&confirmed).await.iter().any(|words| words.contains("asked for")));
    let scene = Scene::new().await;
    let work = scene.give(Authority::new(), quote(FactStatus::Asserted)).await;
    let consequence = asked(&work).await.action.consequence;
    assert!(consequence.ends_with("It rests on quoted_minor, which is asserted."), "{consequence}");
}

#[tokio::test(start_paused = true)]
async fn a_person_sees_the_exact_action_and_no_secret() {
    // Approvals: "The action's arguments are shown with secrets hidden."
    let scene = Scene::new().await;
    let script = Script::any().act(ORDER, json!({"quantity": 200, "otp": "483921"})).complete("Done.");
    let (_, approval) = asking(&scene, script).await;
    let shown = approval.action.arguments.to_value().unwrap();
    assert_eq!(shown, json!({"quantity": 200, "otp": "[hidden]"}));
    assert!(approval.expires_at.is_some() && !approval.question.is_empty());
}

#[tokio::test(start_paused = true)]
async fn an_approval_allows_one_action_inside_the_limits() {
    // Approvals: "It doesn't raise the spending limit, and it doesn't allow a second order."
    let scene = Scene::new().await;
    let order = |script: Script| script.act(ORDER, json!({"quantity": 1})).spending(Money::usd(700));
    let script = order(order(Script::any())).complete("Done.");
    let limits = Authority::new().require_approval_for([ORDER]).spend_maximum(Money::usd(1_000));
    let work = scene.give(limits, script).await;
    let approval = asked(&work).await;
    scene.client.approvals().approve(&approval.id, "Go on.").await.unwrap();
    work.wait().await.unwrap();
    let why = "procurement.create_po blocked: it would spend $7.00, and $3.00 is left";
    assert_eq!(actions(&work).await[1..], ["procurement.create_po done", why]);
}

#[tokio::test(start_paused = true)]
async fn the_first_decision_wins() {
    // Approvals: "Sending the same decision again returns the original result"
    // Approvals: "Sending the opposite decision is rejected, so it can't overwrite the first one."
    let scene = Scene::new().await;
    let (_, approval) = asking(&scene, buy(1)).await;
    let approvals = scene.client.approvals();
    let first = approvals.approve(&approval.id, "Go on.").await.unwrap();
    assert_eq!(approvals.approve(&approval.id, "Again.").await.unwrap(), first);
    let opposite = approvals.reject(&approval.id, "No.").await.unwrap_err();
    assert_eq!(opposite.code(), Some(&ErrorCode::AlreadyResolved));
}

#[tokio::test(start_paused = true)]
async fn an_approval_expires_after_seven_days_at_most_and_then_runs_nothing() {
    // Approvals: "Every approval expires, at most seven days after it's requested."
    // Approvals: "A late approval never runs."
    let scene = Scene::new().await;
    let (work, approval) = asking(&scene, buy(1).nobody_answers()).await;
    let time = approval.expires_at.unwrap().duration_since(approval.created_at.unwrap());
    assert_eq!(time.unsigned_abs(), days(7));
    later(days(8)).await;
    until(&work, MandateStatus::Paused).await;
    let late = scene.client.approvals().approve(&approval.id, "Go on.").await.unwrap_err();
    assert_eq!(late.code(), Some(&ErrorCode::ApprovalExpired));
    let approval = scene.client.approvals().get(&approval.id).await.unwrap();
    assert_eq!(approval.status, ApprovalStatus::Expired);
    assert!(actions(&work).await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_rejection_refuses_one_action() {
    // Approvals: "Rejecting refuses one action, not the whole job."
    let scene = Scene::new().await;
    let script = Script::any()
        .act(ORDER, json!({"quantity": 200}))
        .on_approved(|then| then.complete("Ordered."))
        .on_rejected(|then| then.act("email.send", email()))
        .complete("Declined.");
    let (work, approval) = asking(&scene, script).await;
    scene.client.approvals().reject(&approval.id, "Not them.").await.unwrap();
    let done = work.wait().await.unwrap();
    assert_eq!((done.status, done.current_state.summary.as_str()), (MandateStatus::Completed, "Declined."));
    assert_eq!(actions(&work).await, ["email.send started", "email.send done"]);
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_clears_what_waits_for_a_decision() {
    // Approvals: "Canceling a mandate also clears its pending approvals."
    let scene = Scene::new().await;
    let (work, approval) = asking(&scene, buy(1)).await;
    work.cancel("Enough.").await.unwrap();
    let cleared = scene.client.approvals().get(&approval.id).await.unwrap();
    assert_eq!(cleared.status, ApprovalStatus::Canceled);
    let order = |what: &str| format!("procurement.create_po {what}");
    let told = ["needs_approval".to_owned(), order("asked for"), order("canceled"), "canceled".to_owned()];
    assert_eq!(story(&work).await, told);
}

#[tokio::test(start_paused = true)]
async fn inputs_go_to_the_one_action_and_are_shown_nowhere() {
    // Approvals: "These inputs are only for running this one action."
    // Approvals: "never shows them to the model, the event stream, logs, or API responses"
    let scene = Scene::new().await;
    let (sender, seen) = std::sync::mpsc::channel();
    scene.server.connect(Executor::new(ORDER, move |input: RawJson| {
        sender.send(input.get().to_owned()).unwrap();
        async move { Ok::<_, std::io::Error>(RawJson::from(json!({"echo": input.get()}))) }
    }));
    let script = Script::any().act(ORDER, json!({"quantity": 200})).act(ORDER, json!({"quantity": 1}));
    let (work, approval) = asking(&scene, script.complete("Done.")).await;
    let given = ApprovalApproveParams::new().input("otp", "483921");
    let approved = scene.client.approvals().approve(&approval.id, given).await.unwrap();
    let second = asked(&work).await;
    scene.client.approvals().approve(&second.id, "Go on.").await.unwrap();
    work.wait().await.unwrap();
    assert_eq!(
        seen.try_iter().collect::<Vec<_>>(),
        [r#"{"otp":"483921","quantity":200}"#, r#"{"quantity":1}"#]
    );
    let texts = [
        serde_json::to_string(&approved).unwrap(),
        serde_json::to_string(&events(&work).await).unwrap(),
        serde_json::to_string(&work.facts().list().await.unwrap().data).unwrap(),
    ];
    assert!(texts.iter().all(|text| !text.contains("483921")), "{texts:?}");
}

#[tokio::test(start_paused = true)]
async fn no_input_takes_the_place_of_what_was_shown() {
    // Approvals: "Approving allows only the exact action shown, and the mandate's existing limits"
    let scene = Scene::new().await;
    let (sender, seen) = std::sync::mpsc::channel();
    scene.server.connect(Executor::new(ORDER, move |input: RawJson| {
        sender.send(input.get().to_owned()).unwrap();
        async move { Ok::<_, std::io::Error>(RawJson::from(json!({}))) }
    }));
    let script = Script::any().act(ORDER, json!({"quantity": 200})).complete("Done.");
    let (work, approval) = asking(&scene, script).await;
    let other = ApprovalApproveParams::new().input("quantity", "999999");
    let refused = scene.client.approvals().approve(&approval.id, other).await.unwrap_err();
    assert_eq!(refused.api().unwrap().param.as_deref(), Some("inputs.quantity"));
    // No amount either, which the limits were never held against.
    let more = ApprovalApproveParams::new().input("amount_minor", "999999");
    scene.client.approvals().approve(&approval.id, more).await.unwrap();
    work.wait().await.unwrap();
    assert_eq!(seen.try_iter().collect::<Vec<_>>(), [r#"{"quantity":200}"#]);
}

#[tokio::test(start_paused = true)]
async fn no_inputs_go_with_a_rejection() {
    // Approvals: "You can't pass inputs when you reject."
    let scene = Scene::new().await;
    let (_, approval) = asking(&scene, buy(1)).await;
    let path = format!("/v1/approvals/{}/reject", approval.id);
    let answer = Raw::change(Method::POST, &path, "k", r#"{"inputs":{"otp":"483921"}}"#);
    let answer = answer.send(&scene.server.service()).await;
    assert_eq!(answer.refusal(), (422, "invalid_request", Some("inputs")));
}

#[tokio::test(start_paused = true)]
async fn a_question_comes_as_an_approval_and_its_answer_goes_to_the_next_action() {
    // Approvals: "The `action.capability` is `input.provide` and the question is in `action.consequence`."
    let scene = Scene::new().await;
    let (sender, seen) = std::sync::mpsc::channel();
    scene.server.connect(Executor::new(ORDER, move |input: RawJson| {
        sender.send(input.get().to_owned()).unwrap();
        async { Ok::<_, std::io::Error>(RawJson::from(json!({}))) }
    }));
    let script = Script::any()
        .ask("What is the code on your phone?", ["otp", "supplier"])
        .on_approved(|then| then.work("Ordering."))
        .act(ORDER, json!({"quantity": 200}))
        .act(ORDER, json!({"quantity": 1}))
        .complete("Done.");
    let work = scene.give(Authority::new(), script).await;
    let question = asked(&work).await;
    assert!(question.action.is_input_request());
    assert_eq!(question.action.consequence, "What is the code on your phone?");
    let fields = question.action.fields.iter();
    let fields: Vec<_> = fields.map(|field| (field.name.as_str(), field.is_secret())).collect();
    assert_eq!(fields, [("otp", true), ("supplier", false)]);

    let half = ApprovalApproveParams::new().input("otp", "483921");
    let refused = scene.client.approvals().approve(&question.id, half.clone()).await.unwrap_err();
    assert_eq!(refused.api().unwrap().param.as_deref(), Some("inputs.supplier"));
    scene.client.approvals().approve(&question.id, half.input("supplier", "Atlas")).await.unwrap();
    work.wait().await.unwrap();
    assert_eq!(
        seen.try_iter().collect::<Vec<_>>(),
        [r#"{"otp":"483921","quantity":200,"supplier":"Atlas"}"#, r#"{"quantity":1}"#]
    );
    let told = serde_json::to_string(&events(&work).await).unwrap();
    assert!(!told.contains("483921"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn a_question_can_be_refused_or_left_alone() {
    // Approvals: "it comes through as an approval too"
    let scene = Scene::new().await;
    let script = || {
        Script::any()
            .ask("What is the code?", ["otp"])
            .on_rejected(|then| then.fail("Nobody has the code."))
            .complete("Done.")
    };
    let work = scene.give(Authority::new(), script()).await;
    scene.client.approvals().reject(&asked(&work).await.id, "I won't tell.").await.unwrap();
    let failed = work.wait().await.unwrap();
    assert_eq!(
        (failed.status, failed.current_state.summary.as_str()),
        (MandateStatus::Failed, "Nobody has the code.")
    );

    let work = scene.give(Authority::new(), script().nobody_answers()).await;
    later(days(8)).await;
    let paused = until(&work, MandateStatus::Paused).await;
    assert_eq!(paused.current_state.summary, "Paused: nobody answered in time. Once resumed it asks again.");
    assert_eq!(work.resume("Now.").await.unwrap().status, MandateStatus::NeedsApproval);
    assert!(asked(&work).await.action.is_input_request());
}
