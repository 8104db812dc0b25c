//! How actions run, and what becomes of one whose outcome is unclear.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::capabilities::Executor;
use crate::types::RawJson;

/// A mandate whose order gets no answer, of a capability that is so safe to repeat.
async fn unclear(idempotency: CapabilityIdempotency, check: Check) -> (Scene, MandateHandle, Mandate) {
    let scene = Scene::with(order().idempotency(idempotency)).await;
    let script = Script::any()
        .act(ORDER, json!({"quantity": 200}))
        .spending(Money::usd(700))
        .takes(minutes(1))
        .unclear(check)
        .act(ORDER, json!({"quantity": 1}))
        .spending(Money::usd(400))
        .returns(json!({"second": true}));
    let limits = Authority::new().spend_maximum(Money::usd(1_000));
    let work = scene.give(limits, script.complete("Done.")).await;
    let done = work.wait().await.unwrap();
    (scene, work, done)
}

fn reference() -> Check {
    Check::Done(json!({"purchase_reference": "PO-2041"}))
}

const TOO_MUCH: &str = "procurement.create_po blocked: it would spend $4.00, and $3.00 is left";

#[tokio::test(start_paused = true)]
async fn a_blocked_action_is_recorded_as_blocked() {
    // Execution: "a blocked action is recorded as blocked, never as done"
    let limits = Authority::new().prohibited_actions(["email.send"]);
    let (_scene, work, _) = run(limits, Script::any().act("email.send", email()).complete("Done.")).await;
    let story = story(&work).await;
    assert_eq!(story[1], "email.send blocked: email.send is prohibited under this mandate");
    assert!(facts(&work).await.is_empty() && work.evidence().list().await.unwrap().data.is_empty());
}

#[tokio::test(start_paused = true)]
async fn each_action_is_told_with_its_name_its_time_and_its_error() {
    // Execution: "with the capability name, how long it took, and any error"
    let script = Script::any()
        .act("email.send", email())
        .takes(minutes(2))
        .act("phone.call", json!({"to": "+13025550123"}))
        .fails("busy", "The line is busy.")
        .complete("Done.");
    let (_scene, work, _) = run(Authority::new(), script).await;
    let runs: Vec<_> =
        events(&work).await.into_iter().filter_map(|event| event.execution().cloned()).collect();
    assert_eq!((runs[1].capability.as_str(), runs[1].duration()), ("email.send", Some(minutes(2))));
    let error = runs[3].error.as_ref().unwrap();
    assert_eq!((error.code.as_deref(), error.message.as_str()), (Some("busy"), "The line is busy."));
    assert_eq!(actions(&work).await[3], "phone.call failed");
}

#[tokio::test(start_paused = true)]
async fn what_is_safe_to_repeat_is_and_lands_on_the_same_result() {
    // Execution: "gives each action an idempotency key, so a safe retry lands on the same result"
    for idempotency in [CapabilityIdempotency::Native, CapabilityIdempotency::Keyed] {
        let (_scene, work, done) = unclear(idempotency, reference()).await;
        assert_eq!(done.status, MandateStatus::Completed);
        let ran = actions(&work).await;
        let order = |what: &str| format!("procurement.create_po {what}");
        assert_eq!(ran, [order("started"), order("started"), order("done"), TOO_MUCH.to_owned()]);
        let events = events(&work).await;
        let ids: Vec<_> = events.iter().filter_map(|event| event.execution()?.id.clone()).collect();
        assert!(ids[0] == ids[1] && ids[1] == ids[2], "{ids:?}");
        let reference = ("purchase_reference".to_owned(), "\"PO-2041\"".to_owned(), FactStatus::Verified);
        assert_eq!(facts(&work).await, [reference]);
    }
}

#[tokio::test(start_paused = true)]
async fn what_can_be_checked_is_checked_and_both_the_attempt_and_the_answer_are_recorded() {
    // Verification: "it looks up what actually happened and records both the timed-out attempt and the answer"
    let (_scene, work, done) = unclear(CapabilityIdempotency::Reconcilable, reference()).await;
    assert_eq!(done.status, MandateStatus::Completed);
    let ran = actions(&work).await;
    assert_eq!(ran, ["procurement.create_po started", "procurement.create_po done", TOO_MUCH]);
    let evidence = work.evidence().list().await.unwrap().data;
    let titles: Vec<_> = evidence.iter().map(|piece| piece.title.as_str()).collect();
    assert_eq!(titles[0], "Timed-out attempt of procurement.create_po");
    assert_eq!(titles[1], "Check of procurement.create_po");
    let fact = work.facts().list().await.unwrap().data.remove(0);
    let source = fact.source.unwrap();
    assert_eq!(
        (source.source_type.as_str(), source.id),
        ("check", evidence[1].id.as_ref().map(ToString::to_string))
    );
}

#[tokio::test(start_paused = true)]
async fn what_a_check_finds_undone_has_failed_and_spent_nothing() {
    // Execution: "Shadway asks the integration what actually happened instead of blindly trying again"
    let (_scene, work, _) = unclear(CapabilityIdempotency::Reconcilable, Check::NotDone).await;
    let ran = actions(&work).await;
    assert_eq!(ran[1], "procurement.create_po failed");
    assert_eq!(ran[3], "procurement.create_po done");
}

#[tokio::test(start_paused = true)]
async fn an_outcome_that_no_check_settles_stays_unknown() {
    // Execution: "In the last case, Shadway won't repeat it at all."
    // Execution: "If Shadway can't confirm what happened, it leaves the result unknown."
    let cases = [
        (CapabilityIdempotency::Reconcilable, Check::Unknown, 1),
        (CapabilityIdempotency::None, reference(), 1),
        (CapabilityIdempotency::Native, Check::Unknown, 2),
    ];
    for (idempotency, check, attempts) in cases {
        let (_scene, work, done) = unclear(idempotency, check).await;
        let ran = actions(&work).await;
        assert_eq!(ran.iter().filter(|words| words.contains("started")).count(), attempts, "{ran:?}");
        // It is no failure, and what it may have spent is spent.
        assert_eq!(ran[attempts..], ["procurement.create_po unknown", TOO_MUCH]);
        assert_eq!(done.current_state.summary, "Done.");
        assert!(facts(&work).await.is_empty());
        assert!(issues(&work).await[0].starts_with("What became of procurement.create_po?"));
    }
}

#[tokio::test(start_paused = true)]
async fn what_may_have_happened_is_not_taken_for_safe_to_repeat() {
    // Verification: "it never assumes it's safe to try the action again"
    let again = |script: Script, quantity: u32| script.act(ORDER, json!({"quantity": quantity}));
    let script = again(again(again(Script::any(), 200).unclear(Check::Unknown), 200), 100);
    let (_scene, work, _) = run(Authority::new(), script.complete("Done.")).await;
    let why =
        "procurement.create_po blocked: nobody knows whether procurement.create_po has happened already";
    assert_eq!(actions(&work).await[1..3], ["procurement.create_po unknown", why]);
    assert_eq!(actions(&work).await.last().unwrap(), "procurement.create_po done");
}

#[tokio::test(start_paused = true)]
async fn a_mandate_that_only_did_what_nobody_knows_of_is_no_success() {
    // Execution: "It never quietly turns that into a success or a reason to try again."
    let script = Script::any().act(ORDER, json!({"quantity": 200})).unclear(Check::Unknown);
    let (_scene, _, done) = run(Authority::new(), script).await;
    assert_eq!(done.status, MandateStatus::Failed);
    assert_eq!(done.current_state.summary, "Failed: what became of procurement.create_po is unknown.");
}

#[tokio::test(start_paused = true)]
async fn something_connected_that_never_answers_has_an_unclear_outcome() {
    // Execution: "the request went out but timed out before the reply"
    let cases = [(CapabilityIdempotency::Reconcilable, 1), (CapabilityIdempotency::Keyed, 2)];
    for (idempotency, attempts) in cases {
        let scene = Scene::with(order().idempotency(idempotency)).await;
        let called = Arc::new(AtomicU32::new(0));
        let count = Arc::clone(&called);
        scene.server.connect(Executor::new(ORDER, move |input: RawJson| {
            let nth = count.fetch_add(1, Ordering::Relaxed);
            async move {
                if nth == 0 {
                    std::future::pending::<()>().await;
                }
                Ok::<_, std::io::Error>(input)
            }
        }));
        let work = scene.give(Authority::new(), buy(1)).await;
        work.wait().await.unwrap();
        let last = if attempts == 1 { "unknown" } else { "done" };
        assert_eq!(actions(&work).await.last().unwrap(), &format!("procurement.create_po {last}"));
        assert_eq!(called.load(Ordering::Relaxed), attempts);
        let unclear = seconds_until(&work, &format!("procurement.create_po {last}")).await;
        assert!((600..610).contains(&unclear), "{unclear}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_first_attempt_may_still_answer_while_the_second_runs() {
    // Execution: "so a safe retry lands on the same result"
    let scene = Scene::with(order().idempotency(CapabilityIdempotency::Keyed)).await;
    let called = AtomicU32::new(0);
    scene.server.connect(Executor::new(ORDER, move |input: RawJson| {
        let takes = if called.fetch_add(1, Ordering::Relaxed) == 0 { minutes(11) } else { minutes(5) };
        async move {
            tokio::time::sleep(takes).await;
            Ok::<_, std::io::Error>(input)
        }
    }));
    let work = scene.give(Authority::new(), buy(1)).await;
    work.wait().await.unwrap();
    let order = |what: &str| format!("procurement.create_po {what}");
    assert_eq!(actions(&work).await, [order("started"), order("started"), order("done")]);
    assert_eq!(seconds_until(&work, "procurement.create_po done").await, 11 * 60);
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_takes_effect_at_the_next_safe_point_and_ends_what_would_be_repeated() {
    // Execution: "A cancellation takes effect at the next safe point."
    let scene = Scene::with(order().idempotency(CapabilityIdempotency::Native)).await;
    let script = Script::any().act(ORDER, json!({"quantity": 1})).takes(minutes(1)).unclear(reference());
    let work = scene.give(Authority::new(), script.complete("Done.")).await;
    until(&work, MandateStatus::Running).await;
    assert_eq!(work.cancel("Enough.").await.unwrap().status, MandateStatus::Running);
    assert_eq!(work.wait().await.unwrap().status, MandateStatus::Canceled);
    assert_eq!(actions(&work).await, ["procurement.create_po started", "procurement.create_po unknown"]);
}

#[tokio::test(start_paused = true)]
async fn a_key_gives_the_first_result_and_no_second_request() {
    // Execution: "The same key with the same request returns the first result."
    // Execution: "The same key with a different request is rejected"
    let scene = Scene::new().await;
    let create = |objective: &str| {
        let params = MandateCreateParams::new(&scene.agent.id, objective)
            .authority(Authority::new().capabilities(["email.send"]));
        scene.client.mandates().create(params).idempotency_key("renewal-2026-q3")
    };
    let first = create("Renew it.").await.unwrap();
    assert_eq!(create("Renew it.").await.unwrap().id, first.id);
    let other = create("Sell it.").await.unwrap_err();
    assert_eq!(other.code(), Some(&ErrorCode::IdempotencyKeyReused));
}
