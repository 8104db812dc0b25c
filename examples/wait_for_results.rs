//! Wait for the end of a mandate, also after a restart, and read what came of it.
//!
//!     cargo run --example wait_for_results

use std::collections::HashMap;
use std::process::ExitCode;
use std::time::Duration;

use shadway::Client;
use shadway::agents::AgentCreateParams;
use shadway::mandates::{Mandate, MandateCreateParams, MandateStatus};
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
    let agent = AgentCreateParams::new("Assistant", &setup.model).capabilities(capabilities);
    let agent = client.agents().create(agent).await?;
    let done = reconnect(client, &mut Store::default(), &agent.id).await?;
    wait(client, &done.id).await?;
    let lines = outcome(client, &done.id).await?;
    lines.iter().for_each(say);
    setup.close().await;
    Ok(if done.status == MandateStatus::Completed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Returns at once for work that had finished before. Without a timeout it waits until the mandate ends.
pub(crate) async fn wait(client: &Client, mandate: &MandateId) -> shadway::Result<Option<Mandate>> {
    let work = client.mandate(mandate);
    match work.wait().timeout(Duration::from_secs(30 * 60)).await {
        Ok(result) => {
            say(format!("{} - {}", result.status, result.current_state.summary));
            Ok(Some(result))
        }
        Err(error) if error.is_timeout() => {
            say(format!("Still working. Reconnect later with mandate id: {}", work.id()));
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Your database.
#[derive(Default)]
pub(crate) struct Store(pub(crate) HashMap<&'static str, MandateId>);

/// The process that starts the work stores the mandate's id; another one, any time later, waits for the result.
pub(crate) async fn reconnect(
    client: &Client,
    store: &mut Store,
    agent: &AgentId,
) -> shadway::Result<Mandate> {
    const JOB: &str = "job-7";
    // In the request that starts the work:
    let params = MandateCreateParams::new(agent, "Email sales@atlas.example and ask for a quote.");
    let mandate = client.mandates().create(params).await?;
    store.0.insert(JOB, mandate.id);

    // In a worker, any time later. Making a handle starts nothing:
    let mandate = &store.0[JOB];
    client.mandate(mandate).wait().timeout(Duration::from_secs(5 * 60)).await
}

/// What the work found, or, if it did not complete, what was left open.
pub(crate) async fn outcome(client: &Client, mandate: &MandateId) -> shadway::Result<Vec<String>> {
    let work = client.mandate(mandate);
    let result = work.wait().timeout(Duration::from_secs(30 * 60)).await?;
    let mut lines = Vec::new();
    if result.status == MandateStatus::Completed {
        let mut facts = work.facts().list().items();
        while let Some(fact) = facts.try_next().await? {
            lines.push(format!("fact: {} = {} ({})", fact.key, fact.value, fact.status));
        }
        let mut evidence = work.evidence().list().items();
        while let Some(piece) = evidence.try_next().await? {
            lines.push(format!("evidence: {} - {}", piece.title, piece.excerpt));
        }
    } else {
        lines.push(format!("Ended {} - {}", result.status, result.current_state.summary));
        let mut issues = work.issues().list().items();
        while let Some(issue) = issues.try_next().await? {
            lines.push(format!("open question: {} ({})", issue.question, issue.state));
        }
    }
    Ok(lines)
}
