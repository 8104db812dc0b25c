//! What is known of a job, and the proof behind it.
//!
//!     cargo run --example verification

use std::process::ExitCode;

use shadway::Client;
use shadway::agents::AgentCreateParams;
use shadway::mandates::MandateCreateParams;
use shadway::record::{Evidence, Fact};
use shadway::types::MandateId;

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
    let capabilities = ["email.send", "email.get_delivery"];
    let agent = AgentCreateParams::new("Assistant", &setup.model).capabilities(capabilities);
    let agent = client.agents().create(agent).await?;
    let objective = "Email sales@atlas.example and ask for a quote on 200 units of part #48-221.";
    let mandate = client.mandates().create(MandateCreateParams::new(&agent.id, objective)).await?;
    client.mandate(&mandate.id).wait().await?;
    read_facts(client, &mandate.id).await?;
    read_evidence(client, &mandate.id).await?;
    setup.close().await;
    Ok(ExitCode::SUCCESS)
}

/// Only verified and derived facts are confirmed; the others are seen, said, or out of date.
pub(crate) async fn read_facts(client: &Client, mandate: &MandateId) -> shadway::Result<Vec<Fact>> {
    let mut read = Vec::new();
    let mut facts = client.mandate(mandate).facts().list().items();
    while let Some(fact) = facts.try_next().await? {
        say(format!("{} {} {}", fact.key, fact.value, fact.status));
        read.push(fact);
    }
    Ok(read)
}

/// The source itself, not a summary of it.
pub(crate) async fn read_evidence(client: &Client, mandate: &MandateId) -> shadway::Result<Vec<Evidence>> {
    let mut read = Vec::new();
    let mut evidence = client.mandate(mandate).evidence().list().items();
    while let Some(piece) = evidence.try_next().await? {
        say(format!("{} {} {}", piece.title, piece.quality.source_class, piece.excerpt));
        read.push(piece);
    }
    Ok(read)
}
