use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::json;

use super::*;
use crate::agents::{Agent, AgentCapabilityReadiness, AgentCreateParams};
use crate::approvals::{ApprovalApproveParams, ApprovalListParams};
use crate::capabilities::{CapabilityEffect, CapabilityRegisterParams, CapabilityRisk, Executor};
use crate::events::{Event, EventData};
use crate::mandates::{
    Authority, Mandate, MandateCreateParams, MandateHandle, MandateStatus, SuccessCriterion,
};
use crate::types::{ErrorCode, Money, RawJson};

fn create_po() -> CapabilityRegisterParams {
    let input = json!({"type": "object", "additionalProperties": false, "required": ["supplier", "amount_minor"],
        "properties": {"supplier": {"type": "string"}, "amount_minor": {"type": "integer"}, "otp": {"type": "string"}}});
    let output = json!({"type": "object", "properties": {"amount_minor": {"type": "integer"}}});
    CapabilityRegisterParams::new(
        "procurement.create_po",
        "Create a purchase order in the ERP system.",
        input,
        output,
    )
    .risk(CapabilityRisk::Financial)
    .effect(CapabilityEffect::Irreversible)
}

async fn buyer(client: &Client) -> Agent {
    let params = AgentCreateParams::new("Buyer", "m/m").capabilities(["procurement.create_po"]);
    client.agents().create(params).await.unwrap()
}

async fn order(client: &Client, agent: &Agent) -> MandateHandle {
    let params =
        MandateCreateParams::new(&agent.id, "Buy 200 units of part #48-221 from sales@atlas.example.")
            .authority(
                Authority::new()
                    .spend_maximum(Money::usd(799_999))
                    .success_criteria([SuccessCriterion::new("amount_minor").max(799_999)]),
            );
    client.mandate(client.mandates().create(params).await.unwrap().id)
}

async fn approve(client: &Client, work: &MandateHandle) -> Mandate {
    tokio::time::sleep(Duration::from_secs(1)).await;
    let asked = client.approvals().list(ApprovalListParams::new().mandate(work.id())).await.unwrap().data;
    let params = ApprovalApproveParams::new().input("otp", "483921").input("other", "112233");
    client.approvals().approve(&asked[0].id, params).await.unwrap();
    work.wait().await.unwrap()
}

async fn events(work: &MandateHandle) -> Vec<Event> {
    work.events().list().items().try_collect().await.unwrap()
}

/// Runs what it is given, and keeps every input.
fn recorder(
    answer: impl Fn(&Value) -> Result<Value, &'static str> + Send + Sync + 'static,
) -> (Executor, Arc<Mutex<Vec<Value>>>) {
    let inputs: Arc<Mutex<Vec<Value>>> = Arc::default();
    let seen = Arc::clone(&inputs);
    let executor = Executor::new("procurement.create_po", move |input: RawJson| {
        let input = input.to_value().unwrap();
        let output = answer(&input);
        seen.lock().unwrap().push(input);
        async move {
            tokio::time::sleep(Duration::from_secs(3)).await;
            output.map(RawJson::from)
        }
    });
    (executor, inputs)
}

#[tokio::test(start_paused = true)]
async fn a_registered_capability_can_be_used_once_something_runs_it() {
    let (server, client) = server().await;
    let agent = buyer(&client).await;
    let readiness = async || {
        let agent = client.agents().get(&agent.id).await.unwrap();
        agent.capability_status["procurement.create_po"].clone()
    };
    let create = async || client.mandates().create(MandateCreateParams::new(&agent.id, "Buy it.")).await;
    assert_eq!(readiness().await.status, AgentCapabilityReadiness::Unavailable);
    assert_eq!(create().await.unwrap_err().code(), Some(&ErrorCode::CapabilityNotGranted));
    client.capabilities().register(create_po()).await.unwrap();
    assert!(readiness().await.detail.unwrap().contains("nothing runs it"));
    assert_eq!(create().await.unwrap_err().code(), Some(&ErrorCode::CapabilityUnavailable));
    server.connect(recorder(|_| Ok(json!({}))).0);
    assert_eq!(readiness().await.status, AgentCapabilityReadiness::Ready);
    assert!(client.capabilities().get("procurement.create_po").await.unwrap().is_runnable());
    create().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn its_function_is_called_once_and_its_result_becomes_facts() {
    let (server, client) = server().await;
    let (executor, inputs) = recorder(|input| {
        Ok(json!({"amount_minor": input["amount_minor"], "reference": "PO-1", "echo": input["otp"]}))
    });
    server.connect(executor);
    client.capabilities().register(create_po()).await.unwrap();
    let work = order(&client, &buyer(&client).await).await;
    let done = approve(&client, &work).await;
    assert_eq!(done.status, MandateStatus::Completed, "{}", done.current_state.summary);
    assert!(done.current_state.summary.contains("1 of them really ran"), "{}", done.current_state.summary);
    let expected = json!({"supplier": "Atlas", "amount_minor": 719_991, "otp": "483921"});
    assert_eq!(*inputs.lock().unwrap(), [expected]);

    let facts = work.facts().list().await.unwrap().data;
    let known: Vec<_> = facts.iter().map(|fact| (fact.key.as_str(), fact.value.get())).collect();
    assert_eq!(known, [("amount_minor", "719991"), ("echo", "\"[hidden]\""), ("reference", "\"PO-1\"")]);
    assert!(facts.iter().all(|fact| fact.status.is_confirmed() && fact.source.is_some()));
    let evidence = work.evidence().list().await.unwrap().data;
    assert_eq!((evidence[0].excerpt.as_str(), evidence.len()), ("719991", 3));
    let took: Vec<_> = events(&work)
        .await
        .iter()
        .filter(|event| matches!(event.data, EventData::ExecutionCompleted(_)))
        .map(|event| event.execution().unwrap().duration_ms)
        .collect();
    assert_eq!(took, [Some(3_000)]);
}

#[tokio::test(start_paused = true)]
async fn what_a_person_sees_hides_secrets_and_names_what_to_give() {
    let (server, client) = server().await;
    server.connect(recorder(|_| Ok(json!({}))).0);
    client.capabilities().register(create_po()).await.unwrap();
    let work = order(&client, &buyer(&client).await).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let asked = client.approvals().list(ApprovalListParams::new().mandate(work.id())).await.unwrap();
    let approval = &asked.data[0];
    assert_eq!(approval.question, "May the agent spend $7,199.91 with procurement.create_po?");
    assert_eq!(
        approval.action.consequence,
        "Create a purchase order in the ERP system. It spends $7,199.91. It can't be undone."
    );
    assert_eq!(approval.action.arguments.to_value().unwrap()["otp"], "[hidden]");
    assert_eq!((approval.action.fields[0].name.as_str(), approval.action.fields.len()), ("otp", 1));
}

#[tokio::test(start_paused = true)]
async fn its_errors_and_panics_fail_the_action_and_show_no_input() {
    let (server, client) = server().await;
    client.capabilities().register(create_po()).await.unwrap();
    let agent = buyer(&client).await;
    let panics = Executor::new("procurement.create_po", |input: RawJson| async move {
        assert!(input.get().is_empty(), "it panics");
        Ok::<_, std::io::Error>(input)
    });
    let fails = recorder(|_| Err("SAP is down; the code was 483921")).0;
    let cases = [
        (fails, "execution_failed", "SAP is down; the code was [hidden]"),
        (panics, "panicked", "the function panicked"),
    ];
    for (executor, code, message) in cases {
        server.connect(executor);
        let work = order(&client, &agent).await;
        let done = approve(&client, &work).await;
        assert_eq!(done.status, MandateStatus::Failed, "{}", done.current_state.summary);
        let events = events(&work).await;
        let failed = events.iter().find(|event| matches!(event.data, EventData::ExecutionFailed(_))).unwrap();
        let error = failed.execution().unwrap().error.as_ref().unwrap();
        assert_eq!((error.code.as_deref(), error.message.as_str()), (Some(code), message));
        let all = serde_json::to_string(&events).unwrap();
        assert!(!all.contains("483921") && !all.contains("112233"));
    }
}

#[tokio::test(start_paused = true)]
async fn its_result_shows_no_input_also_when_it_is_no_value() {
    let (server, client) = server().await;
    server.connect(Executor::new("procurement.create_po", |_: RawJson| async move {
        r#"{"note":"paid with 123 and 483921","n":1e999}"#.parse::<RawJson>()
    }));
    client.capabilities().register(create_po()).await.unwrap();
    let work = order(&client, &buyer(&client).await).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let asked = client.approvals().list(ApprovalListParams::new().mandate(work.id())).await.unwrap().data;
    let params = ApprovalApproveParams::new().input("otp", "483921").input("pin", "123");
    client.approvals().approve(&asked[0].id, params).await.unwrap();
    work.wait().await.unwrap();
    let facts = work.facts().list().await.unwrap().data;
    let known: Vec<_> = facts.iter().map(|fact| (fact.key.as_str(), fact.value.get())).collect();
    assert_eq!(known[..2], [("n", "1e999"), ("note", r#""paid with [hidden] and [hidden]""#)]);
    let evidence = serde_json::to_string(&work.evidence().list().await.unwrap().data).unwrap();
    let events = serde_json::to_string(&events(&work).await).unwrap();
    for text in [evidence, events] {
        assert!(!text.contains("483921") && !text.contains(" 123 "), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_result_that_misses_a_criterion_fails_the_mandate_and_says_what() {
    let (server, client) = server().await;
    server.connect(recorder(|_| Ok(json!({"amount_minor": 800_000}))).0);
    client.capabilities().register(create_po()).await.unwrap();
    let work = order(&client, &buyer(&client).await).await;
    let done = approve(&client, &work).await;
    assert_eq!(done.status, MandateStatus::Failed);
    assert_eq!(done.current_state.summary, "Failed: amount_minor is 800000, above 799999.");
    let issues = work.issues().list().await.unwrap().data;
    assert_eq!(issues[0].question, "What about amount_minor? It is 800000, above 799999.");
}

#[tokio::test(start_paused = true)]
async fn a_cancellation_waits_for_it_and_an_end_by_time_does_not() {
    let (server, client) = server().await;
    let ended = Arc::new(Mutex::new(0));
    let count = Arc::clone(&ended);
    let slow = Executor::new("email.send", move |_: RawJson| {
        let count = Arc::clone(&count);
        async move {
            tokio::time::sleep(Duration::from_secs(60)).await;
            let mut count = count.lock().unwrap();
            *count += 1;
            if *count < 3 { Ok(RawJson::from(json!({"done": true}))) } else { Err("too late") }
        }
    });
    server.connect(slow);
    let params = AgentCreateParams::new("A", "m/m").capabilities(["email.send"]);
    let agent = client.agents().create(params).await.unwrap();
    let start = agent.created_at.unwrap();

    let params = || MandateCreateParams::new(&agent.id, "Ask for a quote.");
    let canceled = client.mandate(client.mandates().create(params()).await.unwrap().id);
    let late = params().expires_at(start + Duration::from_secs(30));
    let late_too = client.mandate(client.mandates().create(late.clone()).await.unwrap().id);
    let late = client.mandate(client.mandates().create(late).await.unwrap().id);
    tokio::time::sleep(Duration::from_secs(10)).await;
    assert_eq!(canceled.cancel("Enough.").await.unwrap().status, MandateStatus::Running);
    assert_eq!(late.wait().await.unwrap().status, MandateStatus::Expired);
    assert_eq!(canceled.wait().await.unwrap().status, MandateStatus::Canceled);
    tokio::time::sleep(Duration::from_secs(60)).await;
    // It ran all the same, one time to a result and one to an error, and the record ends with the mandate.
    assert_eq!(*ended.lock().unwrap(), 3);
    for (work, facts, expected) in [(canceled, 1, "canceled"), (late, 0, "expired"), (late_too, 0, "expired")]
    {
        let events = events(&work).await;
        let completed = events.iter().filter(|event| matches!(event.data, EventData::ExecutionCompleted(_)));
        assert_eq!(completed.count(), facts);
        assert!(!events.iter().any(|event| matches!(event.data, EventData::ExecutionFailed(_))));
        let last = events.last().unwrap().mandate_status();
        assert_eq!(last.unwrap().as_str(), expected);
        assert_eq!(work.facts().list().await.unwrap().data.len(), facts);
        assert_eq!(work.evidence().list().await.unwrap().data.len(), facts);
    }
}

#[tokio::test(start_paused = true)]
async fn a_stopped_server_ends_what_it_runs() {
    let (server, client) = server().await;
    let alive = Arc::new(());
    let held = Arc::clone(&alive);
    server.connect(Executor::new("email.send", move |input: RawJson| {
        let held = Arc::clone(&held);
        async move {
            std::future::pending::<()>().await;
            drop(held);
            Ok::<_, std::io::Error>(input)
        }
    }));
    let params = AgentCreateParams::new("A", "m/m").capabilities(["email.send"]);
    let agent = client.agents().create(params).await.unwrap();
    client.mandates().create(MandateCreateParams::new(&agent.id, "Ask for a quote.")).await.unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(Arc::strong_count(&alive), 3);
    server.shutdown().await;
    drop(client);
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(Arc::strong_count(&alive), 1);
}
