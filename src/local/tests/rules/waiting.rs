//! What a mandate waits for, and what wakes it.

use super::*;
use crate::capabilities::Executor;
use crate::types::RawJson;

/// Who writes.
const ATLAS: &str = "sales@atlas.example";

fn wrote() -> Script {
    Script::any().act("email.send", email())
}

#[tokio::test(start_paused = true)]
async fn a_reply_wakes_the_mandate_when_it_comes() {
    // Waiting: "If it sent an email, it can wait for the reply."
    let script = wrote()
        .wait_external("a reply from Atlas", hours(20))
        .reply("We sell 200 units for $7,499.00.\nRegards, Atlas")
        .fact("quoted_minor", 749_900, FactStatus::Asserted)
        .complete("Done.");
    let (_scene, work, done) = run(Authority::new(), script).await;
    assert_eq!(done.status, MandateStatus::Completed);
    assert_eq!(statuses(&work).await, ["running", "waiting_external", "completed"]);
    let claim = work.assertions().list().await.unwrap().data.remove(0);
    assert_eq!(claim.claim, "We sell 200 units for $7,499.00.");
    assert_eq!(claim.source.unwrap().get(), "\"sales@atlas.example\"");
    assert_eq!(work.information_needs().list().await.unwrap().data[0].state, "answered");
    // What it says is a fact from the evidence, and nothing that is confirmed.
    let fact = work.facts().list().await.unwrap().data.pop().unwrap();
    let evidence = work.evidence().list().await.unwrap().data;
    let reply = evidence.iter().find(|piece| piece.title == "Answer of sales@atlas.example").unwrap();
    assert_eq!(fact.source.unwrap().id, reply.id.as_ref().map(ToString::to_string));
    assert_eq!(seconds_until(&work, "completed").await, 20 * 60 * 60);
}

#[tokio::test(start_paused = true)]
async fn what_it_waits_for_is_said_in_plain_words() {
    // Waiting: "`currentState.waitingOn` describes the current wait in plain words."
    let scene = Scene::new().await;
    let script = wrote().wait_external("a reply from Atlas", hours(20)).wait(hours(1)).complete("Done.");
    let work = scene.give(Authority::new(), script).await;
    let waiting = until(&work, MandateStatus::WaitingExternal).await;
    assert_eq!(waiting.current_state.waiting_on.as_deref(), Some("A reply from Atlas"));
    assert_eq!(waiting.current_state.summary, "Wrote to sales@atlas.example.");
    scene.server.reply(work.id(), ATLAS, "Yes.");
    let timer = work.get().await.unwrap();
    let waiting_on = timer.current_state.waiting_on.unwrap();
    assert!(waiting_on.starts_with("A set time, 20"), "{waiting_on}");
}

#[tokio::test(start_paused = true)]
async fn a_reply_is_waited_for_for_24_hours_and_then_the_agent_decides() {
    // Waiting: "the agent wakes up without the reply and decides what to do next"
    // Waiting: "The default limit for a reply is 24 hours."
    let script = wrote()
        .wait_external("a reply from Atlas", hours(30))
        .otherwise(|then| then.act("phone.call", json!({"to": "+13025550123"})))
        .complete("Done.");
    let (_scene, work, _) = run(Authority::new(), script).await;
    assert_eq!(actions(&work).await[2..], ["phone.call started", "phone.call done"]);
    assert_eq!(seconds_until(&work, "phone.call started").await, 24 * 60 * 60);
    assert!(work.assertions().list().await.unwrap().data.is_empty());
    assert_eq!(work.information_needs().list().await.unwrap().data[0].state, "open");

    let script = wrote().wait_external("a reply", hours(2)).limit(hours(1)).complete("Done.");
    let (_scene, work, _) = run(Authority::new(), script).await;
    assert_eq!(seconds_until(&work, "completed").await, 60 * 60);
}

#[tokio::test(start_paused = true)]
async fn only_the_matching_reply_wakes_the_mandate() {
    // Waiting: "Only the matching reply wakes the mandate."
    let scene = Scene::new().await;
    let script = wrote().wait_external("a reply from Atlas", hours(30)).complete("Done.");
    let work = scene.give(Authority::new(), script).await;
    assert_eq!(scene.server.reply(work.id(), ATLAS, "Too early."), Replied::Refused);
    until(&work, MandateStatus::WaitingExternal).await;
    assert_eq!(scene.server.reply(work.id(), "sales@beacon.example", "Hello."), Replied::Refused);
    assert_eq!(work.get().await.unwrap().status, MandateStatus::WaitingExternal);
    assert_eq!(scene.server.reply(work.id(), ATLAS, "$37 each."), Replied::Woke);
    assert_eq!(work.get().await.unwrap().status, MandateStatus::Completed);
    assert_eq!(work.assertions().list().await.unwrap().data[0].claim, "$37 each.");
    assert_eq!(scene.server.reply(work.id(), ATLAS, "Too late."), Replied::Refused);
}

#[tokio::test(start_paused = true)]
async fn an_approval_stands_in_for_no_reply() {
    // Agents: "an approval about something else can't stand in for a supplier's reply"
    let scene = Scene::new().await;
    let script = wrote()
        .ask("Which supplier?", ["name"])
        .wait_external("a reply from Atlas", hours(20))
        .complete("Done.");
    let work = scene.give(Authority::new(), script).await;
    let question = asked(&work).await;
    assert_eq!(scene.server.reply(work.id(), ATLAS, "Atlas, of course."), Replied::Kept);
    assert_eq!(work.get().await.unwrap().status, MandateStatus::NeedsApproval);
    let params = crate::approvals::ApprovalApproveParams::new().input("name", "Atlas");
    scene.client.approvals().approve(&question.id, params).await.unwrap();
    assert_eq!(work.wait().await.unwrap().status, MandateStatus::Completed);
}

#[tokio::test(start_paused = true)]
async fn a_wait_for_a_reply_to_what_never_went_out_is_refused() {
    // Waiting: "Shadway refuses the wait and the agent has to plan again"
    // Waiting: "A mandate can never sit waiting for a reply that can't come."
    let scripts = [
        (Authority::new().prohibited_actions(["email.send"]), wrote(), "email.send never went out"),
        (Authority::new(), wrote().fails("bounced", "No such address."), "email.send never went out"),
        (Authority::new(), Script::any().act("email.get_delivery", json!({})), "nothing was sent"),
        (Authority::new(), Script::any(), "nothing was sent"),
    ];
    for (limits, script, why) in scripts {
        let script = script
            .wait_external("a reply from Atlas", hours(1))
            .act("phone.call", json!({"to": "+13025550123"}))
            .complete("Done.");
        let (_scene, work, _) = run(limits, script).await;
        assert!(!statuses(&work).await.contains(&"waiting_external".to_owned()));
        assert_eq!(actions(&work).await.last().unwrap(), "phone.call done");
        let refused = format!("How is a reply from Atlas to come? The wait for it was refused: {why}.");
        assert_eq!(issues(&work).await, [refused]);
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_can_be_for_one_of_several() {
    // Waiting: "The agent can only wait for a reply to something it actually did."
    let to = |party: &str| json!({"to": party, "subject": "A quote", "body": "Please."});
    let script = Script::any()
        .act("email.send", to(ATLAS))
        .act("email.send", to("sales@beacon.example"))
        .wait_external("a reply from Atlas", minutes(10))
        .from(ATLAS)
        .wait_external("a reply from Cedar", minutes(10))
        .from("sales@cedar.example")
        .complete("Done.");
    let (_scene, work, _) = run(Authority::new(), script).await;
    let said = work.assertions().list().await.unwrap().data;
    assert_eq!(said.len(), 1);
    assert_eq!(said[0].source.as_ref().unwrap().get(), "\"sales@atlas.example\"");
    assert!(issues(&work).await[0].ends_with("refused: nothing was sent to sales@cedar.example."));
}

#[tokio::test(start_paused = true)]
async fn an_early_reply_is_kept_and_the_wait_ends_right_away() {
    // Waiting: "Shadway holds onto it and delivers it. The wait ends right away"
    let scene = Scene::new().await;
    let (running, is_running) = tokio::sync::oneshot::channel();
    let (finish, finished) = tokio::sync::oneshot::channel::<()>();
    let ends = std::sync::Mutex::new(Some((running, finished)));
    scene.server.connect(Executor::new("email.send", move |_: RawJson| {
        let (running, finished) = ends.lock().unwrap().take().unwrap();
        async move {
            running.send(()).unwrap();
            finished.await.map(|()| RawJson::from(json!({"message": "1"})))
        }
    }));
    let script = wrote().wait_external("a reply from Atlas", hours(20)).complete("Done.");
    let work = scene.give(Authority::new(), script).await;
    is_running.await.unwrap();
    assert_eq!(scene.server.reply(work.id(), ATLAS, "$37 each."), Replied::Kept);
    finish.send(()).unwrap();
    work.wait().await.unwrap();
    assert_eq!(work.assertions().list().await.unwrap().data[0].claim, "$37 each.");
    assert_eq!(statuses(&work).await, ["running", "waiting_external", "completed"]);
    assert_eq!(seconds_until(&work, "completed").await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_paused_mandate_needs_a_command_to_start_again_and_finds_its_reply() {
    // Waiting: "A mandate with the status `paused` needs a command to start again."
    let scene = Scene::new().await;
    let script = wrote().wait_external("a reply from Atlas", hours(20)).wait_external("another", hours(20));
    let work = scene.give(Authority::new(), script.complete("Done.")).await;
    until(&work, MandateStatus::WaitingExternal).await;
    work.pause("Wait.").await.unwrap();
    let resumed = work.resume("Go on.").await.unwrap();
    assert_eq!(resumed.status, MandateStatus::WaitingExternal);
    assert_eq!(resumed.current_state.waiting_on.as_deref(), Some("A reply from Atlas"));
    work.pause("Wait again.").await.unwrap();
    assert_eq!(scene.server.reply(work.id(), ATLAS, "$37 each."), Replied::Kept);
    assert_eq!(scene.server.reply(work.id(), ATLAS, "$38 each."), Replied::Kept);
    assert_eq!(work.get().await.unwrap().status, MandateStatus::Paused);
    work.resume("Go on.").await.unwrap();
    assert_eq!(work.wait().await.unwrap().status, MandateStatus::Completed);
    // Both were kept, the one that came later for the next wait.
    let said = work.assertions().list().await.unwrap().data;
    assert_eq!((said[0].claim.as_str(), said[1].claim.as_str()), ("$37 each.", "$38 each."));
    assert_eq!(seconds_until(&work, "completed").await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_timer_wakes_the_mandate() {
    // Waiting: "for a reply, for a scheduled time, or for a person to decide"
    let (_scene, work, _) = run(Authority::new(), Script::any().wait(days(3)).complete("Done.")).await;
    assert_eq!(statuses(&work).await, ["waiting_external", "completed"]);
    assert_eq!(seconds_until(&work, "completed").await, 3 * 24 * 60 * 60);
}
