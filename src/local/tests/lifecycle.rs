//! The documented example of a purchase, from the agent to the evidence.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::purchase::{NAMES, authority};
use super::*;
use crate::agents::AgentCreateParams;
use crate::approvals::{ApprovalListParams, ApprovalStatus};
use crate::capabilities::{Capability, CapabilityEffect, CapabilityRisk, CapabilityVerify};
use crate::mandates::{MandateCreateParams, MandateStatus};

#[derive(Deserialize, JsonSchema)]
struct PurchaseOrder {
    supplier: String,
    quantity: u32,
    amount_minor: u64,
}

#[derive(Serialize, JsonSchema)]
struct Ordered {
    purchase_reference: String,
    amount_minor: u64,
}

#[derive(Deserialize, JsonSchema)]
struct Shipment {
    #[serde(default)]
    purchase_reference: Option<String>,
}

#[derive(Serialize, JsonSchema)]
struct Status {
    delivered: bool,
}

async fn create_order(order: PurchaseOrder) -> Result<Ordered, std::io::Error> {
    assert_eq!((order.supplier.as_str(), order.quantity), ("Atlas", 200));
    Ok(Ordered { purchase_reference: "PO-1".to_owned(), amount_minor: order.amount_minor })
}

async fn look_up(shipment: Shipment) -> Result<Status, std::io::Error> {
    Ok(Status { delivered: shipment.purchase_reference.is_some() })
}

#[tokio::test(start_paused = true)]
async fn a_purchase_is_approved_made_and_confirmed() {
    let (server, client) = server().await;
    let create_po = Capability::define("procurement.create_po", "Create a purchase order in the ERP system.")
        .risk(CapabilityRisk::Financial)
        .effect(CapabilityEffect::Write)
        .verify(CapabilityVerify::AuthoritativeSource)
        .execute(create_order);
    let get_status = Capability::define("shipping.get_status", "Look up a shipment.")
        .effect(CapabilityEffect::Read)
        .execute(look_up);
    server.connect(&create_po);
    server.connect(&get_status);
    client.capabilities().register(&create_po).await.unwrap();
    client.capabilities().register(&get_status).await.unwrap();

    let params = AgentCreateParams::new("Operations", "m/m").capabilities(NAMES);
    let agent = client.agents().create(params).await.unwrap();
    assert_eq!(agent.not_ready().count(), 0);
    let objective = "Buy 200 units of part #48-221 for less than $8,000 total, including shipping.";
    let params = MandateCreateParams::new(&agent.id, objective)
        .guidance(["Request quotes from sales@atlas.example, sales@beacon.example, and sales@cedar.example."])
        .authority(authority());
    let work = client.mandate(client.mandates().create(params).await.unwrap().id);

    tokio::time::sleep(Duration::from_secs(2)).await;
    let pending = ApprovalListParams::new().status([ApprovalStatus::Pending]).mandate(work.id());
    let asked = client.approvals().list(pending).await.unwrap().data;
    assert_eq!(asked[0].action.capability, "procurement.create_po");
    client.approvals().approve(&asked[0].id, "Within the budget.").await.unwrap();
    let done = work.wait().await.unwrap();
    assert_eq!(done.status, MandateStatus::Completed, "{}", done.current_state.summary);

    let facts = work.facts().list().await.unwrap().data;
    let known: Vec<_> = facts.iter().map(|fact| (fact.key.as_str(), fact.value.get())).collect();
    assert_eq!(
        known,
        [
            ("emails_sent", "1"),
            ("messages_sent", "1"),
            ("amount_minor", "719991"),
            ("purchase_reference", "\"PO-1\""),
            ("delivered", "true"),
        ]
    );
    assert!(work.evidence().list().await.unwrap().data.len() >= facts.len());
    assert!(work.issues().list().await.unwrap().data.is_empty());
}
