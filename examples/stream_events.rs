//! The running record of a mandate, live, after a restart, and complete.
//!
//!     cargo run --example stream_events

use std::process::ExitCode;

use shadway::Client;
use shadway::agents::AgentCreateParams;
use shadway::events::{Event, EventData};
use shadway::mandates::MandateCreateParams;
use shadway::types::{EventId, MandateId};

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
    let create =
        || client.mandates().create(MandateCreateParams::new(&agent.id, "Email sales@atlas.example."));
    stream(client, &create().await?.id).await?;
    narrow(client, &create().await?.id).await?;
    let mandate = create().await?.id;
    resume(client, &mandate, &mut Checkpoints::default()).await?;
    backfill(client, &mandate).await?;
    setup.close().await;
    Ok(ExitCode::SUCCESS)
}

/// Follows a mandate to its end, also when that came before the stream was open. The stream reconnects and drops
/// repeats by itself.
pub(crate) async fn stream(client: &Client, mandate: &MandateId) -> shadway::Result<Vec<Event>> {
    let mut seen = Vec::new();
    let mut events = client.mandate(mandate).events().stream().until_terminal();
    while let Some(event) = events.try_next().await? {
        if !event.is_known() {
            continue; // A type this version does not know yet.
        }
        say(format!("{} {}", event.sequence, event.event_type));
        seen.push(event);
    }
    Ok(seen)
}

/// Each type carries data of its own. Unknown types end up in the last arm, never as an error.
pub(crate) async fn narrow(client: &Client, mandate: &MandateId) -> shadway::Result<Vec<String>> {
    let mut lines = Vec::new();
    let mut events = client.mandate(mandate).events().stream().until_terminal();
    while let Some(event) = events.try_next().await? {
        let line = match &event.data {
            EventData::MandateStatusChanged(change) => {
                let before = change.previous_status.as_ref().map(ToString::to_string).unwrap_or_default();
                format!("{before} -> {}", change.mandate.status)
            }
            EventData::ApprovalRequested(asked) => format!("needs a decision: {}", asked.approval.question),
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

/// Your storage: a row for each mandate is enough.
#[derive(Default)]
pub(crate) struct Checkpoints(std::collections::HashMap<MandateId, EventId>);

/// Goes on after the last event that was handled, so nothing that happened in between is skipped. Delivery is at
/// least once: handle an event before you save its id, and be ready to see it again.
pub(crate) async fn resume(
    client: &Client,
    mandate: &MandateId,
    checkpoints: &mut Checkpoints,
) -> shadway::Result<Vec<Event>> {
    let mut handled = Vec::new();
    let mut events = client.mandate(mandate).events().stream().until_terminal();
    if let Some(last) = checkpoints.0.get(mandate) {
        events = events.resume_after(last);
    }
    while let Some(event) = events.try_next().await? {
        let id = event.id.clone();
        if event.is_known() {
            handled.push(event); // Handle it before it is saved.
        }
        checkpoints.0.insert(mandate.clone(), id);
    }
    Ok(handled)
}

/// The whole picture, in ascending order of the sequence. A number left out is no sign of a loss.
pub(crate) async fn backfill(client: &Client, mandate: &MandateId) -> shadway::Result<Vec<Event>> {
    let mut seen = Vec::new();
    let mut events = client.mandate(mandate).events().list().items();
    while let Some(event) = events.try_next().await? {
        say(format!("{} {}", event.sequence, event.event_type));
        seen.push(event);
    }
    Ok(seen)
}
