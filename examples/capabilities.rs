//! What an agent can do: list it, configure it, define your own, check whether it is ready.
//!
//!     cargo run --example capabilities

use std::convert::Infallible;
use std::num::{NonZeroU32, NonZeroU64};
use std::process::ExitCode;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use shadway::Client;
use shadway::agents::{Agent, AgentCapabilityConfig, AgentCreateParams, AgentUpdateParams};
use shadway::capabilities::{Capability, CapabilityEffect, CapabilityRisk, DefinedCapability};
use shadway::types::AgentId;
use shadway::types::ListParams;

use support::{Failure, Setup, say};

#[path = "support/mod.rs"]
mod support;

#[tokio::main]
async fn main() -> ExitCode {
    support::exit(run().await)
}

async fn run() -> Result<ExitCode, Failure> {
    let setup = Setup::from_env().await?;
    let client = &setup.client;
    list_capabilities(client).await?;

    let agent = client.agents().create(AgentCreateParams::new("Assistant", &setup.model)).await?;
    let agent = configure(client, &agent.id).await?;
    check_readiness(client, &agent.id).await?;
    client.agents().wait_until_ready(&agent.id).await?;
    say("Every capability is ready.");

    let registered = register_capability(client).await?;
    say(format!("{} is registered and {}", registered.name, registered.execution_mode));
    // Defining it does not make it run, but its function can be called here, and so tested.
    let order =
        serde_json::json!({"supplier": "Atlas", "part": "48-221", "quantity": 200, "amount_minor": 749_900});
    let ordered = purchase_order().invoke(order).await?;
    say(format!("Its function ordered {}", ordered.purchase_reference));
    setup.close().await;
    Ok(ExitCode::SUCCESS)
}

/// The names of all capabilities that can run.
pub(crate) async fn list_capabilities(client: &Client) -> shadway::Result<Vec<String>> {
    let mut names = Vec::new();
    let mut capabilities = client.capabilities().list(ListParams::new()).items();
    while let Some(capability) = capabilities.try_next().await? {
        if capability.is_runnable() {
            say(format!("{} - {}", capability.name, capability.description));
            names.push(capability.name);
        }
    }
    Ok(names)
}

/// Settings say how, the list of capabilities says whether: an entry without the grant does nothing.
pub(crate) async fn configure(client: &Client, agent: &AgentId) -> shadway::Result<Agent> {
    let updated = client
        .agents()
        .update(
            agent,
            AgentUpdateParams::new()
                .capabilities(["email.send", "email.get_delivery", "phone.call", "phone.get_call", "phone"])
                .capability_config([("phone", AgentCapabilityConfig::new().country("US").area_code("302"))]),
        )
        .await?;
    say(&updated.id); // The same agent, a new revision of its configuration.
    Ok(updated)
}

/// What an order needs.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct PurchaseOrderInput {
    supplier: String,
    part: String,
    quantity: NonZeroU32,
    /// In the smallest unit of the currency.
    amount_minor: NonZeroU64,
}

/// What an order gives.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PurchaseOrderOutput {
    pub(crate) purchase_reference: String,
}

/// Registers a capability of your own. In the present preview the service does not run it.
pub(crate) async fn register_capability(client: &Client) -> shadway::Result<Capability> {
    client.capabilities().register(purchase_order()).await
}

pub(crate) fn purchase_order() -> DefinedCapability<PurchaseOrderInput, PurchaseOrderOutput> {
    Capability::define("procurement.create_po", "Create a purchase order in the ERP system.")
        .risk(CapabilityRisk::Financial)
        .effect(CapabilityEffect::Irreversible)
        .execute(create_purchase_order)
}

async fn create_purchase_order(order: PurchaseOrderInput) -> Result<PurchaseOrderOutput, Infallible> {
    // Call your ERP system here.
    say(format!(
        "Ordering {} of {} from {} for {}",
        order.quantity, order.part, order.supplier, order.amount_minor
    ));
    Ok(PurchaseOrderOutput { purchase_reference: "PO-2041".into() })
}

/// What is not ready yet. A capability without a status is not in here, and not known to be ready either.
pub(crate) async fn check_readiness(client: &Client, agent: &AgentId) -> shadway::Result<Vec<String>> {
    let saved = client.agents().get(agent).await?;
    let waiting = saved.not_ready().map(|(name, readiness)| {
        let detail = readiness.detail.as_deref().unwrap_or_default();
        format!("{name} {} {detail}", readiness.status)
    });
    Ok(waiting.inspect(|line| say(line)).collect())
}
