//! Scripts as whoever tests an application uses them.

use std::time::Duration;

use serde_json::json;

use super::*;
use crate::agents::AgentCreateParams;
use crate::capabilities::{CapabilityRegisterParams, Executor};
use crate::events::{Event, EventData};
use crate::local::{Check, Script, days, minutes};
use crate::mandates::{
    Authority, Mandate, MandateCreateParams, MandateHandle, MandateStatus, SuccessCriterion,
};
use crate::types::{Money, RawJson};

async fn give(client: &Client, objective: &str, authority: Authority) -> MandateHandle {
    let params = AgentCreateParams::new("A", "m/m").capabilities(["email.send", "crm.note"]);
    let agent = client.agents().create(params).await.unwrap();
    let params =
        MandateCreateParams::new(&agent.id, objective).authority(if authority.capabilities.is_empty() {
            authority.capabilities(["email.send"])
        } else {
            authority
        });
    client.mandate(client.mandates().create(params).await.unwrap().id)
}

async fn summary(work: MandateHandle) -> String {
    work.wait().await.unwrap().current_state.summary
}

#[tokio::test(start_paused = true)]
async fn of_the_scripts_that_fit_the_last_one_given_is_followed() {
    let (server, client) = server().await;
    let before = give(&client, "Ask for a quote.", Authority::new()).await;
    server.script(Script::any().complete("Anything."));
    server.script(Script::when(|mandate: &Mandate| mandate.objective.contains("quote")).complete("A quote."));
    server.script(Script::when(|_| false).complete("Nothing."));
    let quote = give(&client, "Ask for a quote.", Authority::new()).await;
    let other = give(&client, "Ask for the time.", Authority::new()).await;
    assert_eq!(summary(quote).await, "A quote.");
    assert_eq!(summary(other).await, "Anything.");
    // One that was there before goes its own way.
    assert!(summary(before).await.starts_with("Done, in simulation, with 1 action"));
}

#[tokio::test(start_paused = true)]
async fn what_is_connected_runs_with_the_arguments_of_the_script_and_its_result_counts() {
    let (server, client) = server().await;
    let input =
        json!({"type": "object", "properties": {"note": {"type": "string"}, "price": {"type": "integer"}}});
    let note = CapabilityRegisterParams::new("crm.note", "Keep a note.", input, json!({"type": "object"}));
    client.capabilities().register(note).await.unwrap();
    let script = Script::any()
        .act("crm.note", json!({"note": "Hello.", "extra": [1]}))
        .spending(Money::usd(7))
        .returns(json!({"kept": "as the script says"}))
        .complete("Done.");
    server.script(script);
    let give = || give(&client, "Note it.", Authority::new().capabilities(["crm.note"]));
    let simulated = give().await;
    simulated.wait().await.unwrap();
    assert_eq!(simulated.facts().list().await.unwrap().data[0].value.get(), r#""as the script says""#);

    server.connect(Executor::new("crm.note", |input: RawJson| async move {
        Ok::<_, std::io::Error>(RawJson::from(json!({"kept": input.get()})))
    }));
    let real = give().await;
    real.wait().await.unwrap();
    let kept: String = serde_json::from_str(real.facts().list().await.unwrap().data[0].value.get()).unwrap();
    let kept: Value = serde_json::from_str(&kept).unwrap();
    assert_eq!(kept, json!({"note": "Hello.", "extra": [1], "price": 7}));
}

#[tokio::test(start_paused = true)]
async fn what_goes_wrong_takes_the_place_of_what_is_connected() {
    let (server, client) = server().await;
    server.connect(Executor::new("email.send", |input: RawJson| async move {
        Ok::<_, std::io::Error>(RawJson::from(json!({"ran": input.get()})))
    }));
    let email = || json!({"to": "a@b.example"});
    let script = Script::any().act("email.send", email()).fails("bounced", "No such address.");
    server.script(script.act("email.send", email()).unclear(Check::NotDone).complete("Done."));
    let work = give(&client, "Say hello.", Authority::new()).await;
    work.wait().await.unwrap();
    let events: Vec<Event> = work.events().list().items().try_collect().await.unwrap();
    let failed = events.iter().filter(|event| matches!(event.data, EventData::ExecutionFailed(_)));
    let codes = failed.map(|event| event.execution().unwrap().error.clone().unwrap().code.unwrap());
    assert_eq!(codes.collect::<Vec<_>>(), ["bounced", "timeout"]);
    assert!(work.facts().list().await.unwrap().data.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_script_without_an_end_ends_as_any_run_does() {
    let (server, client) = server().await;
    let email = json!({"to": "a@b.example", "subject": "Hello", "body": "Hello."});
    server.script(Script::any().act("email.send", email));
    let limits = Authority::new().success_criteria([SuccessCriterion::new("delivered").equals(true)]);
    let work = give(&client, "Say hello.", limits).await;
    let done = work.wait().await.unwrap();
    assert_eq!(done.status, MandateStatus::Completed);
    assert!(done.current_state.summary.starts_with("Done, in simulation"), "{}", done.current_state.summary);
}

#[tokio::test(start_paused = true)]
async fn an_agent_can_give_up() {
    let (server, client) = server().await;
    server.script(Script::any().fail("Nobody sells that."));
    let work = give(&client, "Buy it.", Authority::new()).await;
    let failed = work.wait().await.unwrap();
    assert_eq!(
        (failed.status, failed.current_state.summary.as_str()),
        (MandateStatus::Failed, "Nobody sells that.")
    );
    assert_eq!(
        work.issues().list().await.unwrap().data[0].question,
        "How can this be done? Nobody sells that."
    );
}

#[tokio::test(start_paused = true)]
async fn a_script_that_makes_no_sense_says_so_where_it_is_seen() {
    let (server, client) = server().await;
    server.script(Script::any().work("Reading.").takes(minutes(1)).complete("Done."));
    let why = "The script makes no sense: \"takes\" is behind no action.";
    assert_eq!(summary(give(&client, "Do it.", Authority::new()).await).await, why);
}

#[tokio::test(start_paused = true)]
async fn an_action_that_nobody_knows_is_blocked() {
    let (server, client) = server().await;
    server.script(Script::any().act("fax.send", json!({})).complete("Done."));
    let work = give(&client, "Send it.", Authority::new()).await;
    assert_eq!(summary(work.clone()).await, "Done.");
    let events: Vec<Event> = work.events().list().items().try_collect().await.unwrap();
    let EventData::ExecutionBlocked(blocked) = &events[1].data else { panic!("{events:?}") };
    assert_eq!(blocked.reason.as_deref(), Some("the workspace has no capability fax.send"));
}

#[tokio::test(start_paused = true)]
async fn a_clock_is_told_when_only_a_person_is_awaited() {
    let (server, client) = server().await;
    let awaits = async |script: Script, status: MandateStatus, after: Duration| {
        server.script(script);
        let work = give(&client, "Ask.", Authority::new()).await;
        tokio::time::sleep(after).await;
        let mut states = work.wait().updates();
        while states.try_next().await.unwrap().unwrap().status != status {}
        let mandates = client.mandates().list(Default::default()).await.unwrap().data.len() as u64;
        // Serials are given in the order of creation, from 1.
        server.shared.with(|workspace, _| workspace.awaits(mandates).is_some())
    };
    let question = || Script::any().ask("What is the code?", ["otp"]).complete("Done.");
    assert!(awaits(question(), MandateStatus::NeedsApproval, Duration::ZERO).await);
    assert!(!awaits(question().nobody_answers(), MandateStatus::NeedsApproval, Duration::ZERO).await);
    assert!(!awaits(question().nobody_answers(), MandateStatus::Paused, days(8)).await);
    assert!(
        !awaits(
            Script::any().wait(days(1)).complete("Done."),
            MandateStatus::WaitingExternal,
            Duration::ZERO
        )
        .await
    );
    assert!(!awaits(Script::any().complete("Done."), MandateStatus::Completed, Duration::ZERO).await);
}
