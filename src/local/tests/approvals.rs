use std::time::Duration;

use super::*;
use crate::agents::AgentCreateParams;
use crate::approvals::{Approval, ApprovalApproveParams, ApprovalListParams, ApprovalStatus};
use crate::events::{Event, EventData};
use crate::mandates::{Authority, MandateCreateParams, MandateHandle, MandateStatus};
use crate::types::ErrorCode;

const DAY: Duration = Duration::from_secs(24 * 60 * 60);

/// A mandate that has just asked whether it may send an email.
async fn asking(client: &Client) -> (MandateHandle, Approval) {
    let params = AgentCreateParams::new("A", "m/m").capabilities(["email.send"]);
    let agent = client.agents().create(params).await.unwrap();
    let params = MandateCreateParams::new(&agent.id, "Email sales@atlas.example and ask for a quote.")
        .authority(Authority::new().require_approval_for(["email.send"]));
    let work = client.mandate(client.mandates().create(params).await.unwrap().id);
    tokio::time::sleep(Duration::from_secs(1)).await;
    let approval = last(client, &work).await;
    (work, approval)
}

async fn last(client: &Client, work: &MandateHandle) -> Approval {
    let params = ApprovalListParams::new().mandate(work.id());
    client.approvals().list(params).await.unwrap().data.pop().unwrap()
}

async fn events(work: &MandateHandle) -> Vec<Event> {
    work.events().list().items().try_collect().await.unwrap()
}

async fn status(work: &MandateHandle) -> MandateStatus {
    work.get().await.unwrap().status
}

#[tokio::test(start_paused = true)]
async fn an_approval_says_what_would_happen_and_the_mandate_waits() {
    let (_server, client) = server().await;
    let (work, approval) = asking(&client).await;
    assert_eq!(approval.status, ApprovalStatus::Pending);
    assert_eq!(approval.question, "May the agent run email.send?");
    assert_eq!(
        approval.action.consequence,
        "Sends an email to sales@atlas.example with the subject \
         “Email sales@atlas.example and ask for a quote”."
    );
    let arguments = approval.action.arguments.to_value().unwrap();
    assert_eq!(arguments["to"], "sales@atlas.example");
    let time = approval.expires_at.unwrap().duration_since(approval.created_at.unwrap());
    assert_eq!(time.as_secs(), 7 * 24 * 60 * 60);
    tokio::time::sleep(6 * DAY).await;
    let waiting = work.get().await.unwrap();
    assert_eq!(waiting.status, MandateStatus::NeedsApproval);
    let waiting_on = waiting.current_state.waiting_on.unwrap();
    assert!(waiting_on.starts_with("A person's decision on email.send, until 20"), "{waiting_on}");
}

#[tokio::test(start_paused = true)]
async fn an_approved_action_runs_as_it_was_shown_and_once() {
    let (_server, client) = server().await;
    let (work, approval) = asking(&client).await;
    let params = || ApprovalApproveParams::new().reason("Go on.").input("otp", "483921");
    let approved = client.approvals().approve(&approval.id, params()).await.unwrap();
    assert_eq!((&approved.status, approved.reason.as_deref()), (&ApprovalStatus::Approved, Some("Go on.")));
    let again = client.approvals().approve(&approval.id, "Another reason.").await.unwrap();
    assert_eq!(again, approved);
    let opposite = client.approvals().reject(&approval.id, "No.").await.unwrap_err();
    assert_eq!(opposite.code(), Some(&ErrorCode::AlreadyResolved));
    assert_eq!(work.wait().await.unwrap().status, MandateStatus::Completed);
    // A decision stands also when all is over.
    assert_eq!(client.approvals().approve(&approval.id, "Go on.").await.unwrap(), approved);

    let events = events(&work).await;
    let started = events.iter().filter(|event| matches!(event.data, EventData::ExecutionStarted(_))).count();
    assert_eq!(started, 1);
    assert!(!serde_json::to_string(&events).unwrap().contains("483921"));
    let sent = work.evidence().list().await.unwrap().data;
    assert_eq!(sent[0].excerpt, "To: sales@atlas.example");
}

#[tokio::test(start_paused = true)]
async fn a_refused_approval_does_not_repeat_what_was_given() {
    let (server, client) = server().await;
    let (_work, approval) = asking(&client).await;
    let path = format!("/v1/approvals/{}/approve", approval.id);
    let bodies = [
        (r#"{"inputs":{"otp":483921}}"#, "inputs.otp"),
        (r#"{"inputs":"483921"}"#, "inputs"),
        (r#"{"reason":483921}"#, "reason"),
    ];
    for (body, param) in bodies {
        let answer = Raw::change(Method::POST, &path, param, body).send(&server.service()).await;
        assert_eq!(answer.refusal(), (422, "invalid_request", Some(param)));
        assert!(!answer.body.to_string().contains("483921"), "{}", answer.body);
    }
}

#[tokio::test(start_paused = true)]
async fn a_rejection_refuses_the_action_and_not_the_mandate() {
    let (server, client) = server().await;
    let (work, approval) = asking(&client).await;
    let path = format!("/v1/approvals/{}/reject", approval.id);
    let inputs = Raw::change(Method::POST, &path, "k", r#"{"inputs":{"otp":"483921"}}"#);
    let refusal = inputs.send(&server.service()).await;
    assert_eq!(refusal.refusal(), (422, "invalid_request", Some("inputs")));
    assert!(!refusal.body.to_string().contains("483921"));

    let rejected = client.approvals().reject(&approval.id, "Not them.").await.unwrap();
    assert_eq!((&rejected.status, rejected.resolved_at.is_some()), (&ApprovalStatus::Rejected, true));
    assert_eq!(client.approvals().reject(&approval.id, "Twice.").await.unwrap(), rejected);
    let done = work.wait().await.unwrap();
    assert_eq!(done.status, MandateStatus::Completed);
    assert!(done.current_state.summary.contains("Refused: email.send."), "{}", done.current_state.summary);
    assert!(!events(&work).await.iter().any(|event| matches!(event.data, EventData::ExecutionStarted(_))));
}

#[tokio::test(start_paused = true)]
async fn an_approval_that_expires_pauses_the_mandate_which_then_asks_again() {
    let (_server, client) = server().await;
    let (work, approval) = asking(&client).await;
    tokio::time::sleep(7 * DAY).await;
    assert_eq!(status(&work).await, MandateStatus::Paused);
    let late = client.approvals().approve(&approval.id, "Go on.").await.unwrap_err();
    assert_eq!(late.code(), Some(&ErrorCode::ApprovalExpired));
    let expired = client.approvals().get(&approval.id).await.unwrap();
    assert_eq!((expired.status, expired.resolved_at), (ApprovalStatus::Expired, approval.expires_at));
    let resolved = events(&work).await.into_iter().rev().nth(1).unwrap();
    assert_eq!(resolved.approval().unwrap().status, ApprovalStatus::Expired);

    assert_eq!(work.resume("Now.").await.unwrap().status, MandateStatus::NeedsApproval);
    let second = last(&client, &work).await;
    assert_ne!(second.id, approval.id);
    assert_eq!(second.action, approval.action);
    client.approvals().approve(&second.id, "Go on.").await.unwrap();
    assert_eq!(work.wait().await.unwrap().status, MandateStatus::Completed);
}

#[tokio::test(start_paused = true)]
async fn an_approval_expires_no_later_than_its_mandate() {
    let (_server, client) = server().await;
    let params = AgentCreateParams::new("A", "m/m").capabilities(["email.send"]);
    let agent = client.agents().create(params).await.unwrap();
    let start = agent.created_at.unwrap();
    let ask = async |lasts: Duration| {
        let params = MandateCreateParams::new(&agent.id, "Ask for a quote.")
            .authority(Authority::new().require_approval_for(["email.send"]))
            .expires_at(start + lasts);
        let work = client.mandate(client.mandates().create(params).await.unwrap().id);
        tokio::time::sleep(Duration::from_secs(1)).await;
        let approval = last(&client, &work).await;
        (work, approval)
    };
    let (_long, approval) = ask(8 * DAY).await;
    let time = approval.expires_at.unwrap().duration_since(approval.created_at.unwrap());
    assert_eq!(time.unsigned_abs(), 7 * DAY);

    let (short, approval) = ask(2 * DAY).await;
    assert_eq!(approval.expires_at, Some(start + 2 * DAY));
    let day = (start + 2 * DAY).to_string();
    let waiting_on = short.get().await.unwrap().current_state.waiting_on.unwrap();
    assert!(waiting_on.ends_with(&format!("until {}", &day[..10])), "{waiting_on}");
    let ended = short.wait().await.unwrap();
    assert_eq!((ended.status, ended.updated_at), (MandateStatus::Expired, approval.expires_at));
    let expired = client.approvals().get(&approval.id).await.unwrap();
    assert_eq!((expired.status, expired.resolved_at), (ApprovalStatus::Expired, approval.expires_at));
    let late = client.approvals().approve(&approval.id, "Go on.").await.unwrap_err();
    assert_eq!(late.code(), Some(&ErrorCode::ApprovalExpired));
}

#[tokio::test(start_paused = true)]
async fn a_mandate_paused_while_it_asks_keeps_to_the_decision() {
    let (_server, client) = server().await;
    for (decide, after) in [(true, MandateStatus::Running), (false, MandateStatus::NeedsApproval)] {
        let (work, approval) = asking(&client).await;
        assert_eq!(work.pause("Wait.").await.unwrap().status, MandateStatus::Paused);
        if decide {
            client.approvals().approve(&approval.id, "Go on.").await.unwrap();
        }
        tokio::time::sleep(DAY).await;
        assert_eq!(status(&work).await, MandateStatus::Paused);
        assert_eq!(work.resume("Now.").await.unwrap().status, after);
        assert_eq!(last(&client, &work).await.id, approval.id);
    }
    let (work, approval) = asking(&client).await;
    work.pause("Wait.").await.unwrap();
    tokio::time::sleep(8 * DAY).await;
    assert_eq!(client.approvals().get(&approval.id).await.unwrap().status, ApprovalStatus::Expired);
    assert_eq!(work.resume("Now.").await.unwrap().status, MandateStatus::NeedsApproval);
    assert_ne!(last(&client, &work).await.id, approval.id);
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_clears_what_is_pending() {
    let (_server, client) = server().await;
    let (work, approval) = asking(&client).await;
    assert_eq!(work.cancel("Enough.").await.unwrap().status, MandateStatus::Canceled);
    let canceled = client.approvals().get(&approval.id).await.unwrap();
    assert_eq!(canceled.status, ApprovalStatus::Canceled);
    let refused = client.approvals().approve(&approval.id, "Go on.").await.unwrap_err();
    assert_eq!(refused.code(), Some(&ErrorCode::MandateEnded));
    let issues = work.issues().list().await.unwrap().data;
    assert_eq!(issues[0].question, "Is this to be taken up again? Canceled: Enough.");
}

#[tokio::test(start_paused = true)]
async fn limits_are_checked_again_right_before_an_approved_action_runs() {
    let (_server, client) = server().await;
    let (work, approval) = asking(&client).await;
    let amended = work.amend_with("Stop it.", |authority| authority.prohibited_actions(["email.send"])).await;
    assert_eq!(amended.unwrap().version, 2);
    client.approvals().approve(&approval.id, "Go on.").await.unwrap();
    assert_eq!(work.wait().await.unwrap().status, MandateStatus::Failed);
    let events = events(&work).await;
    let blocked = events.iter().find(|event| matches!(event.data, EventData::ExecutionBlocked(_))).unwrap();
    assert_eq!(blocked.execution().unwrap().authority_version, Some(2));
}

#[tokio::test(start_paused = true)]
async fn lists_of_approvals_keep_to_their_filters() {
    let (server, client) = server().await;
    let (one, first) = asking(&client).await;
    let (_two, second) = asking(&client).await;
    client.approvals().reject(&first.id, "No.").await.unwrap();
    let list = async |params: ApprovalListParams| {
        let found: Vec<Approval> =
            client.approvals().list(params.limit(1)).items().try_collect().await.unwrap();
        found.into_iter().map(|approval| approval.id).collect::<Vec<_>>()
    };
    let new = ApprovalListParams::new;
    let (first, second) = (first.id, second.id);
    assert_eq!(list(new()).await, [first.clone(), second.clone()]);
    assert_eq!(list(new().status([ApprovalStatus::Pending])).await, std::slice::from_ref(&second));
    assert!(list(new().status([ApprovalStatus::Pending]).mandate(one.id())).await.is_empty());
    let both = [ApprovalStatus::Pending, ApprovalStatus::Rejected];
    assert_eq!(list(new().status(both)).await, [first, second]);
    let odd = Raw::get("/v1/approvals?status=tired").send(&server.service()).await;
    assert_eq!(odd.refusal(), (400, "invalid_request", Some("status")));
}
