//! The purchase of the documented agent lifecycle: a week from the first request to the delivery.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use serde_json::json;

use super::*;
use crate::agents::AgentCreateParams;
use crate::capabilities::{
    CapabilityEffect, CapabilityIdempotency, CapabilityRegisterParams, CapabilityRisk, Executor,
};
use crate::local::{Check, Script, days, hours, minutes};
use crate::mandates::{
    Authority, CapabilityLimit, Mandate, MandateCreateParams, MandateHandle, MandateStatus, SuccessCriterion,
};
use crate::record::FactStatus;
use crate::types::{Money, RawJson};

pub(super) const NAMES: [&str; 6] = [
    "email.send",
    "email.get_delivery",
    "mailbox.read_thread",
    "mailbox.reply",
    "procurement.create_po",
    "shipping.get_status",
];
const SUPPLIERS: [&str; 3] = ["sales@atlas.example", "sales@beacon.example", "sales@cedar.example"];

fn request(supplier: &str, subject: &str) -> Value {
    json!({"to": supplier, "subject": subject, "body": "200 units of part #48-221, with shipping, please."})
}

/// From Monday to Monday.
fn purchase() -> Script {
    let [atlas, beacon, cedar] = SUPPLIERS;
    let shipment = || json!({"purchase_reference": "PO-2041"});
    let script = Script::when(|mandate: &Mandate| mandate.metadata.contains_key("purchaseRequest"))
        .work("Asking three suppliers.");
    SUPPLIERS
        .into_iter()
        .fold(script, |script, supplier| script.act("email.send", request(supplier, "A quote")))
        .wait_external("a quote from Atlas", hours(3))
        .from(atlas)
        .reply("200 units for $7,720.00, with shipping, by Friday.")
        .wait_external("a quote from Beacon", hours(17))
        .from(beacon)
        .reply("200 units for $8,450.00.")
        .wait_external("a quote from Cedar", hours(30))
        .from(cedar)
        .limit(hours(4))
        .otherwise(|then| {
            then.act("email.send", request(cedar, "Your quote"))
                .wait_external("an answer from Cedar", hours(6))
                .from(cedar)
                .reply("We can't deliver in time.")
        })
        .act("mailbox.reply", json!({"thread": "thr_atlas", "body": "Beacon asks for less. $7,499.00?"}))
        .wait_external("the last offer of Atlas", hours(18))
        .from(atlas)
        .reply("We confirm 200 units for $7,499.00, with shipping.")
        .fact("quoted_minor", 749_900, FactStatus::Asserted)
        .act("procurement.create_po", json!({"supplier": "Atlas", "part": "48-221", "quantity": 200}))
        .spending(Money::usd(749_900))
        .takes(minutes(1))
        .unclear(Check::Done(json!({"purchase_reference": "PO-2041", "amount_minor": 749_900})))
        .on_rejected(|then| then.fail("Nobody wants the order."))
        .wait(days(3))
        .act("shipping.get_status", shipment())
        .act("email.send", request(atlas, "Where is PO-2041?"))
        .wait_external("an answer from Atlas", hours(20))
        .reply("It arrives tomorrow.")
        .wait(hours(28))
        .act("shipping.get_status", shipment())
        .complete("Ordered 200 units for $7,499.00, and they are here.")
}

pub(super) fn authority() -> Authority {
    Authority::new()
        .capabilities(NAMES)
        .spend_maximum(Money::usd(799_999))
        .maximum_actions(40)
        .maximum_read_actions(100)
        .capability_limit(CapabilityLimit::new("procurement.create_po").maximum_actions(1))
        .require_approval_for(["procurement.create_po"])
        .success_criteria([
            SuccessCriterion::new("amount_minor").max(799_999),
            SuccessCriterion::new("delivered").equals(true),
        ])
}

/// The mandate, on a server that knows what it takes.
async fn begin(server: &LocalServer, client: &Client) -> MandateHandle {
    let object = |fields: Value| json!({"type": "object", "properties": fields});
    let create_po = CapabilityRegisterParams::new(
        "procurement.create_po",
        "Create a purchase order in the ERP system.",
        object(json!({"supplier": {"type": "string"}, "part": {"type": "string"},
            "quantity": {"type": "integer"}, "amount_minor": {"type": "integer"}})),
        object(json!({"purchase_reference": {"type": "string"}})),
    )
    .risk(CapabilityRisk::Financial)
    .effect(CapabilityEffect::Irreversible)
    .idempotency(CapabilityIdempotency::Reconcilable);
    let shipment = object(json!({"purchase_reference": {"type": "string"}}));
    let status = object(json!({"delivered": {"type": "boolean"}}));
    let get_status =
        CapabilityRegisterParams::new("shipping.get_status", "Look up a shipment.", shipment, status)
            .effect(CapabilityEffect::Read);
    for params in [create_po, get_status] {
        client.capabilities().register(params).await.unwrap();
    }
    // One of the two really runs, and says that the order is there when it is asked for the second time.
    let asked = Arc::new(AtomicU32::new(0));
    server.connect(Executor::new("shipping.get_status", move |input: RawJson| {
        assert_eq!(input.get(), r#"{"purchase_reference":"PO-2041"}"#);
        let delivered = asked.fetch_add(1, Ordering::Relaxed) > 0;
        async move { Ok::<_, std::io::Error>(RawJson::from(json!({"delivered": delivered}))) }
    }));
    server.script(purchase());

    let agent = AgentCreateParams::new("Operations", "m/m").capabilities(NAMES);
    let agent = client.agents().create(agent).await.unwrap();
    let objective = "Buy 200 units of part #48-221 for less than $8,000 total, including shipping.";
    let params = MandateCreateParams::new(&agent.id, objective)
        .authority(authority())
        .metadata("purchaseRequest", "PR-1042");
    client.mandate(client.mandates().create(params).await.unwrap().id)
}

#[tokio::test(start_paused = true)]
async fn a_week_of_work_ends_with_the_delivery() {
    let (server, client) = server().await;
    let work = begin(&server, &client).await;

    // Time passes at once, which is quicker than to wait through it.
    tokio::time::sleep(days(3)).await;
    let approval = work.wait_for_approval().await.unwrap().unwrap();
    assert_eq!(approval.question, "May the agent spend $7,499.00 with procurement.create_po?");
    let exact = json!({"supplier": "Atlas", "part": "48-221", "quantity": 200, "amount_minor": 749_900});
    assert_eq!(approval.action.arguments.to_value().unwrap(), exact);
    client.approvals().approve(&approval.id, "Within the budget.").await.unwrap();
    tokio::time::sleep(days(6)).await;
    let done = work.wait().await.unwrap();
    assert_eq!(done.status, MandateStatus::Completed, "{}", done.current_state.summary);
    assert!(took(&done) >= days(7));

    let facts = work.facts().list().await.unwrap().data;
    let value = |key: &str| {
        let fact = facts.iter().find(|fact| fact.key == key).unwrap();
        (fact.value.get(), fact.status.clone())
    };
    assert_eq!(value("amount_minor"), ("749900", FactStatus::Verified));
    assert_eq!(value("delivered"), ("true", FactStatus::Verified));
    assert_eq!(value("emails_sent"), ("5", FactStatus::Verified));
    let evidence = work.evidence().list().await.unwrap().data;
    for title in ["Timed-out attempt of procurement.create_po", "Check of procurement.create_po"] {
        assert!(evidence.iter().any(|piece| piece.title == title), "{title}");
    }
    let claims: Vec<_> =
        work.assertions().list().await.unwrap().data.into_iter().map(|said| said.claim).collect();
    assert_eq!(claims.len(), 5);
    assert_eq!(claims[2], "We can't deliver in time.");
    assert!(work.issues().list().await.unwrap().data.is_empty());
}

#[tokio::test]
async fn a_client_over_sockets_need_not_wait_a_week_for_it() {
    let server = LocalServer::builder().clock(LocalClock::Automatic).start().await.unwrap();
    let client = server.client().unwrap();
    let began = server.now();
    let work = begin(&server, &client).await;
    let approval = work.wait_for_approval().await.unwrap().unwrap();
    client.approvals().approve(&approval.id, "Within the budget.").await.unwrap();
    let done = work.wait().await.unwrap();
    assert_eq!(done.status, MandateStatus::Completed, "{}", done.current_state.summary);
    assert!(took(&done) > days(7));
    assert!(server.now().duration_since(began).unsigned_abs() > days(7));
}

/// How long it took, in the server's time.
fn took(done: &Mandate) -> Duration {
    done.updated_at.unwrap().duration_since(done.created_at.unwrap()).unsigned_abs()
}
