//! The limits of an authority.

use jiff::tz::TimeZone;

use super::*;
use crate::mandates::{AuthorityRule, CapabilityLimit, QuietHours};
use crate::types::Interval;

#[tokio::test(start_paused = true)]
async fn a_limit_that_is_left_out_does_not_apply() {
    // Mandates: "Leave one out and that limit doesn't apply."
    let script = (0..50).fold(Script::any(), |script, _| script.act("email.send", email()));
    let (_scene, work, done) = run(Authority::new(), script.complete("Done.")).await;
    assert_eq!(done.status, MandateStatus::Completed);
    assert_eq!(actions(&work).await.iter().filter(|words| *words == "email.send done").count(), 50);
}

#[tokio::test(start_paused = true)]
async fn guidance_stops_nothing() {
    // Mandates: "in the guidance doesn't stop anything"
    let scene = Scene::new().await;
    scene.server.script(buy(900_000));
    let params =
        MandateCreateParams::new(&scene.agent.id, "Buy it.").guidance(["Never spend more than $8,000."]);
    let work = scene.create(params).await;
    assert_eq!(work.wait().await.unwrap().status, MandateStatus::Completed);
    assert_eq!(actions(&work).await[1], "procurement.create_po done");
}

#[tokio::test(start_paused = true)]
async fn spending_is_capped_in_total() {
    // Mandates: "`spend.maximum` caps total spending."
    let order = |script: Script, cents: i64| script.act(ORDER, json!({})).spending(Money::usd(cents));
    let script = [500, 500, 401, 400].into_iter().fold(Script::any(), order).complete("Done.");
    let (_scene, work, _) = run(Authority::new().spend_maximum(Money::usd(1_400)), script).await;
    let ran: Vec<_> = actions(&work).await.into_iter().filter(|words| !words.contains("started")).collect();
    let done = "procurement.create_po done";
    let blocked = "procurement.create_po blocked: it would spend $4.01, and $4.00 is left";
    assert_eq!(ran, [done, done, blocked, done]);
}

#[tokio::test(start_paused = true)]
async fn no_other_amount_and_no_other_currency_gets_around_the_maximum() {
    // Mandates: "`spend.maximum` caps total spending."
    let arguments = [
        json!({"price": 100, "total": 1_401}),
        json!({"total": {"amount": 100, "currency": "eur"}}),
        json!({"amount_minor": 100, "currency": "eur"}),
    ];
    let script = arguments.into_iter().fold(Script::any(), |script, arguments| script.act(ORDER, arguments));
    let authority = Authority::new().spend_maximum(Money::usd(1_400));
    let (_scene, work, _) = run(authority, script.complete("Done.")).await;
    let euros = "procurement.create_po blocked: it would spend eur, and the limit is in usd";
    let blocked = "procurement.create_po blocked: it would spend $14.01, and $14.00 is left";
    assert_eq!(actions(&work).await, [blocked, euros, euros]);
}

#[tokio::test(start_paused = true)]
async fn a_currency_is_a_code_in_lower_case() {
    // Mandates: "with a lowercase currency code"
    let scene = Scene::new().await;
    for currency in ["", "dollars"] {
        let limits = Authority::new().spend_maximum(Money::new(5, currency));
        let params = MandateCreateParams::new(&scene.agent.id, "Buy it.").authority(limits);
        let error = scene.client.mandates().create(params).await.unwrap_err();
        assert_eq!(error.code(), Some(&ErrorCode::InvalidAuthority), "{currency}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_action_that_spends_has_to_say_how_much() {
    // Mandates: "if it doesn't, Shadway blocks it rather than treating it as zero"
    let script = Script::any().act(ORDER, json!({"quantity": 200})).complete("Done.");
    let (_scene, work, _) = run(Authority::new().spend_maximum(Money::usd(799_999)), script).await;
    let why = "procurement.create_po blocked: procurement.create_po spends and does not say how much";
    assert_eq!(actions(&work).await, [why]);
}

#[tokio::test(start_paused = true)]
async fn a_threshold_has_to_be_below_the_maximum() {
    // Mandates: "(which has to be below the maximum)"
    let scene = Scene::new().await;
    let limits = Authority::new().spend_maximum(Money::usd(5)).spend_approval_threshold(Money::usd(5));
    let params = MandateCreateParams::new(&scene.agent.id, "Buy it.").authority(limits);
    let error = scene.client.mandates().create(params).await.unwrap_err();
    assert_eq!(error.code(), Some(&ErrorCode::InvalidAuthority));
}

#[tokio::test(start_paused = true)]
async fn an_action_above_the_threshold_waits_for_approval() {
    // Mandates: "makes any single action above that amount wait for approval"
    let limits =
        || Authority::new().spend_maximum(Money::usd(1_000)).spend_approval_threshold(Money::usd(400));
    let (_scene, work, _) = run(limits(), buy(400)).await;
    assert_eq!(actions(&work).await[1], "procurement.create_po done");
    let scene = Scene::new().await;
    let work = scene.give(limits(), buy(401)).await;
    let approval = asked(&work).await;
    assert_eq!(approval.question, "May the agent spend $4.01 with procurement.create_po?");
}

#[tokio::test(start_paused = true)]
async fn reading_does_not_count_against_the_actions() {
    // Mandates: "checking a delivery status doesn't count against it"
    let look = |script: Script| script.act("email.get_delivery", json!({"message": "1"}));
    let send = |script: Script| script.act("email.send", email());
    let script = look(send(look(send(look(Script::any()))))).complete("Done.");
    let limits = Authority::new().maximum_actions(1).maximum_read_actions(2);
    let (_scene, work, _) = run(limits, script).await;
    let ran: Vec<_> = actions(&work).await.into_iter().filter(|words| !words.contains("started")).collect();
    assert_eq!(
        ran,
        [
            "email.get_delivery done",
            "email.send done",
            "email.get_delivery done",
            "email.send blocked: the limit of 1 actions is used up",
            "email.get_delivery blocked: the limit of 2 reading actions is used up",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_capability_has_a_count_and_the_agent_works_around_it() {
    // Mandates: "Shadway blocks the action and the agent works around it"
    let script = Script::any()
        .act("email.send", email())
        .act("email.send", email())
        .act("phone.call", json!({"to": "+13025550123", "purpose": "The quote."}))
        .complete("Done.");
    let limits = Authority::new().capability_limit(CapabilityLimit::new("email.send").maximum_actions(1));
    let (_scene, work, done) = run(limits, script).await;
    let ran = actions(&work).await;
    assert_eq!(ran[2], "email.send blocked: the limit of 1 for email.send is used up");
    assert_eq!((ran[4].as_str(), done.status), ("phone.call done", MandateStatus::Completed));
}

#[tokio::test(start_paused = true)]
async fn a_capability_has_a_rate() {
    // Mandates: "a rate like `{ maximum: 3, interval: "1h" }`"
    let send = |script: Script| script.act("email.send", email());
    let script = (0..4).fold(Script::any(), |script, _| send(script));
    let script = send(script.wait(minutes(60))).complete("Done.");
    let limits =
        Authority::new().capability_limit(CapabilityLimit::new("email.send").rate(3, Interval::hours(1)));
    let (_scene, work, _) = run(limits, script).await;
    let ran: Vec<_> = actions(&work).await.into_iter().filter(|words| !words.contains("started")).collect();
    assert_eq!(ran[2..4], ["email.send done", "email.send blocked: email.send may run 3 times in 1h"]);
    assert_eq!(ran[4], "email.send done");
}

#[tokio::test(start_paused = true)]
async fn what_is_prohibited_is_looked_at_first() {
    // Mandates: "Shadway checks this list first, so no other rule can turn them back on."
    let limits = Authority::new()
        .capabilities(["email.send"])
        .prohibited_actions(["email.send"])
        .maximum_actions(0)
        .require_approval_for(["email.send"]);
    let (_scene, work, _) = run(limits, Script::any().act("email.send", email()).complete("Done.")).await;
    assert_eq!(actions(&work).await, ["email.send blocked: email.send is prohibited under this mandate"]);
}

/// Quiet hours from an hour before the server's time to an hour after it.
fn now(scene: &Scene) -> QuietHours {
    let zone = TimeZone::fixed(jiff::tz::offset(9));
    let time = |minutes: i64| {
        let at = scene.agent.created_at.unwrap() + jiff::SignedDuration::from_mins(minutes);
        zone.to_datetime(at).time().to_string()[..5].to_owned()
    };
    QuietHours::new(time(-60), time(60), "Asia/Tokyo")
}

#[tokio::test(start_paused = true)]
async fn no_action_runs_in_quiet_hours() {
    // Mandates: "`quietHours` blocks actions during set hours in a given timezone."
    let scene = Scene::new().await;
    let script = Script::any().act("email.send", email()).wait(hours(2)).act("email.send", email());
    let work = scene.give(Authority::new().quiet_hours(now(&scene)), script.complete("Done.")).await;
    work.wait().await.unwrap();
    let ran = actions(&work).await;
    assert!(ran[0].starts_with("email.send blocked: these are quiet hours, until "), "{ran:?}");
    assert_eq!(ran[1..], ["email.send started", "email.send done"]);
}

#[tokio::test(start_paused = true)]
async fn an_agent_without_a_script_waits_for_the_end_of_quiet_hours() {
    // Mandates: "`quietHours` blocks actions during set hours in a given timezone."
    let scene = Scene::new().await;
    let limits = Authority::new().capabilities(["email.send"]).quiet_hours(now(&scene));
    let params = MandateCreateParams::new(&scene.agent.id, "Ask for a quote.").authority(limits);
    let work = scene.create(params).await;
    let waiting = until(&work, MandateStatus::WaitingExternal).await;
    let waiting_on = waiting.current_state.waiting_on.unwrap();
    assert!(waiting_on.starts_with("The end of the quiet hours, 20"), "{waiting_on}");
    assert_eq!(work.wait().await.unwrap().status, MandateStatus::Completed);
    assert_eq!(actions(&work).await, ["email.send started", "email.send done"]);
    assert!(seconds_until(&work, "email.send started").await > 58 * 60);
}

#[tokio::test(start_paused = true)]
async fn quiet_hours_are_looked_at_again_right_before_an_approved_action_runs() {
    // Approvals: "Shadway rechecks anything that depends on time"
    let scene = Scene::new().await;
    // They begin in an hour.
    let shifted = QuietHours { start: now(&scene).end, end: now(&scene).start, ..now(&scene) };
    let limits = Authority::new().quiet_hours(shifted).require_approval_for(["email.send"]);
    let work = scene.give(limits, Script::any().act("email.send", email()).complete("Done.")).await;
    let approval = asked(&work).await;
    later(hours(2)).await;
    scene.client.approvals().approve(&approval.id, "Go on.").await.unwrap();
    work.wait().await.unwrap();
    assert!(actions(&work).await[0].starts_with("email.send blocked: these are quiet hours"));
}

#[tokio::test(start_paused = true)]
async fn quiet_hours_that_nobody_could_keep_to_are_refused() {
    // Mandates: "during set hours in a given timezone"
    let scene = Scene::new().await;
    for (hours, field) in [
        (QuietHours::new("22:00", "07:00", "Europe/Atlantis"), "timezone"),
        (QuietHours::new("10 pm", "07:00", "Europe/Paris"), "start"),
        (QuietHours::new("22:00", "24:00", "Europe/Paris"), "end"),
    ] {
        let limits = Authority::new().quiet_hours(hours);
        let params = MandateCreateParams::new(&scene.agent.id, "Buy it.").authority(limits);
        let error = scene.client.mandates().create(params).await.unwrap_err();
        assert_eq!(error.code(), Some(&ErrorCode::InvalidAuthority));
        let param = error.api().unwrap().param.clone();
        assert_eq!(param, Some(format!("authority.quietHours.{field}")));
    }
}

#[tokio::test(start_paused = true)]
async fn a_rule_limits_a_value() {
    // Mandates: "only when `quantity` is 500 or less"
    let order = |script: Script, quantity: u32| script.act(ORDER, json!({"quantity": quantity}));
    let script = order(order(Script::any(), 501), 500).complete("Done.");
    let limits = Authority::new().rules([AuthorityRule::new(ORDER, "quantity").max(500)]);
    let (_scene, work, _) = run(limits, script).await;
    assert_eq!(
        actions(&work).await,
        [
            "procurement.create_po blocked: the value \"quantity\" is 501, above 500",
            "procurement.create_po started",
            "procurement.create_po done",
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn an_action_that_leaves_out_a_limited_value_is_blocked() {
    // Mandates: "an action that leaves out a limited value is blocked"
    let limits = Authority::new().rules([AuthorityRule::new(ORDER, "quantity").max(500)]);
    let script = Script::any().act(ORDER, json!({"supplier": "Atlas"})).complete("Done.");
    let (_scene, work, _) = run(limits, script).await;
    let why = "procurement.create_po blocked: the limited value \"quantity\" is left out";
    assert_eq!(actions(&work).await, [why]);
}

#[tokio::test(start_paused = true)]
async fn a_rule_grants_nothing() {
    // Mandates: "A rule can only tighten a capability the mandate already grants"
    let limits =
        Authority::new().capabilities(["email.send"]).rules([AuthorityRule::new(ORDER, "quantity").max(500)]);
    let (_scene, work, _) = run(limits, buy(1)).await;
    let why = "procurement.create_po blocked: procurement.create_po is not granted";
    assert_eq!(actions(&work).await, [why]);
}

#[tokio::test(start_paused = true)]
async fn what_is_named_needs_sign_off_every_time() {
    // Mandates: "lists actions that need a person to sign off every time, no matter the amount"
    let scene = Scene::new().await;
    let order = |script: Script| script.act(ORDER, json!({"quantity": 1})).spending(Money::usd(1));
    let script = order(order(Script::any())).complete("Done.");
    let work = scene.give(Authority::new().require_approval_for([ORDER]), script).await;
    for _ in 0..2 {
        let approval = asked(&work).await;
        scene.client.approvals().approve(&approval.id, "Go on.").await.unwrap();
    }
    work.wait().await.unwrap();
    let asked = story(&work).await.iter().filter(|words| words.contains("asked for")).count();
    assert_eq!(asked, 2);
}
