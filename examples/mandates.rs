//! One job with its limits: create it, control it, change its limits.
//!
//!     cargo run --example mandates

use std::process::ExitCode;

use shadway::Client;
use shadway::agents::AgentCreateParams;
use shadway::mandates::{
    Authority, CapabilityLimit, Mandate, MandateAmendment, MandateAmendmentCreateParams, MandateCreateParams,
    SuccessCriterion,
};
use shadway::types::{AgentId, MandateId, Money};

use support::{Failure, Setup, say};

#[path = "support/purchasing.rs"]
mod purchasing;
#[path = "support/mod.rs"]
mod support;

#[tokio::main]
async fn main() -> ExitCode {
    support::exit(run().await)
}

async fn run() -> Result<ExitCode, Failure> {
    let setup = Setup::from_env().await?;
    let client = &setup.client;
    purchasing::connect(&setup).await?;
    let agent = AgentCreateParams::new("Operations", &setup.model).capabilities(purchasing::CAPABILITIES);
    let agent = client.agents().create(agent).await?;
    let mandate = create_mandate(client, &agent.id).await?;
    let amendment = amend(client, &mandate.id).await?;
    say(format!("The limits are at version {}.", amendment.version));
    control(client, &mandate.id).await?;
    let done = client.mandate(&mandate.id).wait().await?;
    say(format!("{}: {}", done.status, done.current_state.summary));
    setup.close().await;
    Ok(ExitCode::SUCCESS)
}

/// The objective and the guidance steer, the authority is enforced on every action.
pub(crate) async fn create_mandate(client: &Client, agent: &AgentId) -> shadway::Result<Mandate> {
    let mandate = client
        .mandates()
        .create(
            MandateCreateParams::new(
                agent,
                "Buy 200 units of part #48-221 for less than $8,000 total, including shipping.",
            )
            .guidance([
                "Compare at least two suppliers before ordering.",
                "Ask for written confirmation of agreed terms.",
            ])
            .authority(
                Authority::new()
                    .capabilities(["email.send", "mailbox.read_thread", "procurement.create_po"])
                    .spend_maximum(Money::usd(799_999)) // the smallest unit: $7,999.99
                    .maximum_actions(40)
                    .capability_limit(CapabilityLimit::new("procurement.create_po").maximum_actions(1))
                    .require_approval_for(["procurement.create_po"])
                    .success_criteria([SuccessCriterion::new("amount_minor").max(799_999)]),
            )
            .metadata("purchaseRequest", "PR-1042"),
        )
        .await?;
    say(format!("{} {}", mandate.id, mandate.status));
    Ok(mandate)
}

/// Three commands, each for a decision of its own; one that does not apply to the status is a conflict.
pub(crate) async fn control(client: &Client, mandate: &MandateId) -> shadway::Result<Mandate> {
    let work = client.mandate(mandate);
    work.pause("Procurement is reviewing the specification.").await?;
    work.resume("The specification is confirmed.").await?;
    work.cancel("The part is no longer needed.").await
}

/// An amendment replaces all limits, so it begins with those that were read. The version that was read keeps two
/// people's changes apart.
pub(crate) async fn amend(client: &Client, mandate: &MandateId) -> shadway::Result<MandateAmendment> {
    let work = client.mandate(mandate);
    let current = work.get().await?;
    let amendment = work
        .amend(MandateAmendmentCreateParams::new(
            current.authority.spend_maximum(Money::usd(899_999)),
            "Approved budget increase for expedited shipping.",
            current.authority_version,
        ))
        .await?;
    say(amendment.version); // The new version of the authority.
    Ok(amendment)
}
