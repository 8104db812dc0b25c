//! What the purchasing examples take for granted: two capabilities of your own, hooked up to something that runs
//! them.

use std::convert::Infallible;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shadway::capabilities::{Capability, CapabilityEffect, CapabilityRisk, CapabilityVerify};

use super::support::{Failure, Setup};

/// All that the purchasing agent can do.
pub(crate) const CAPABILITIES: [&str; 6] = [
    "email.send",
    "email.get_delivery",
    "mailbox.read_thread",
    "mailbox.reply",
    "procurement.create_po",
    "shipping.get_status",
];

/// An order to place.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct PurchaseOrder {
    #[expect(dead_code, reason = "a real integration would use it")]
    supplier: String,
    #[expect(dead_code, reason = "a real integration would use it")]
    quantity: u32,
    /// In the smallest unit of the currency.
    amount_minor: u64,
}

/// An order that was placed.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Placed {
    purchase_reference: String,
    amount_minor: u64,
}

/// A shipment to look up.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Shipment {
    #[expect(dead_code, reason = "a real integration would use it")]
    purchase_reference: String,
}

/// Where a shipment is.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ShipmentStatus {
    delivered: bool,
}

/// On a local server: registers both capabilities and connects what runs them. With a key it expects that your
/// workspace has them.
pub(crate) async fn connect(setup: &Setup) -> Result<(), Failure> {
    let Some(server) = &setup.server else { return Ok(()) };
    let create_po = Capability::define("procurement.create_po", "Create a purchase order in the ERP system.")
        .risk(CapabilityRisk::Financial)
        .effect(CapabilityEffect::Irreversible)
        .verify(CapabilityVerify::AuthoritativeSource)
        .execute(|order: PurchaseOrder| async move {
            let amount_minor = order.amount_minor;
            Ok::<_, Infallible>(Placed { purchase_reference: "PO-2041".into(), amount_minor })
        });
    let get_status = Capability::define("shipping.get_status", "Look up where a shipment is.")
        .effect(CapabilityEffect::Read)
        .execute(|_: Shipment| async { Ok::<_, Infallible>(ShipmentStatus { delivered: true }) });
    setup.client.capabilities().register(&create_po).await?;
    setup.client.capabilities().register(&get_status).await?;
    server.connect(&create_po);
    server.connect(&get_status);
    Ok(())
}
