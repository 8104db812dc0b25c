//! How work runs: created once however often it is sent, and watched through its events.
//!
//!     cargo run --example execution

use std::process::ExitCode;

use shadway::Client;
use shadway::agents::AgentCreateParams;
use shadway::events::EventData;
use shadway::mandates::{Mandate, MandateCreateParams};
use shadway::types::{AgentId, MandateId};

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
    let agent =
        client.agents().create(AgentCreateParams::new("Assistant", &setup.model).capabilities(capabilities));
    let agent = agent.await?;
    idempotent_create(client, &agent.id).await?;
    // As after a restart: the same creation once more makes no second mandate.
    let mandate = idempotent_create(client, &agent.id).await?;
    watch_executions(client, &mandate.id).await?;
    setup.close().await;
    Ok(ExitCode::SUCCESS)
}

/// A key of your own makes a creation safe to repeat across restarts. Every other change has one too, made for
/// the call and its retries.
pub(crate) async fn idempotent_create(client: &Client, agent: &AgentId) -> shadway::Result<Mandate> {
    let mandate = client
        .mandates()
        .create(MandateCreateParams::new(agent, "Renew the domain registration before it lapses."))
        .idempotency_key("renewal-2026-q3")
        .await?;
    say(&mandate.id); // The same id on every retry of this creation.
    Ok(mandate)
}

/// Each action is an event, with the capability's name, how long it took, and any error.
pub(crate) async fn watch_executions(client: &Client, mandate: &MandateId) -> shadway::Result<Vec<String>> {
    let mut lines = Vec::new();
    let mut events = client.mandate(mandate).events().stream().until_terminal();
    while let Some(event) = events.try_next().await? {
        let line = match &event.data {
            EventData::ExecutionCompleted(run) => {
                let took = run.execution.duration_ms.map_or("?".into(), |took| took.to_string());
                format!("{} {took} ms", run.execution.capability)
            }
            EventData::ExecutionFailed(run) => {
                let message = run.execution.error.as_ref().map(|error| error.message.as_str());
                format!("failed: {}", message.unwrap_or_default())
            }
            _ => continue,
        };
        say(&line);
        lines.push(line);
    }
    Ok(lines)
}
