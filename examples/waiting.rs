//! What a mandate is waiting for, to show to the people who ask why it takes so long.
//!
//!     cargo run --example waiting

use std::process::ExitCode;

use shadway::Client;
use shadway::agents::AgentCreateParams;
use shadway::mandates::{MandateCreateParams, MandateStatus};
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
    let agent = AgentCreateParams::new("Assistant", &setup.model).capabilities(["email.send"]);
    let agent = client.agents().create(agent).await?;
    let objective = "Email sales@atlas.example and ask for a quote on 200 units of part #48-221.";
    let mandate = client.mandates().create(MandateCreateParams::new(&agent.id, objective)).await?;
    let mut updates =
        client.mandate(&mandate.id).wait().poll_interval(std::time::Duration::from_millis(20)).updates();
    while updates.try_next().await?.is_some() {
        waiting_on(client, &mandate.id).await?;
    }
    setup.close().await;
    Ok(ExitCode::SUCCESS)
}

/// What the mandate is waiting for, in plain words; `None` when it isn't waiting.
pub(crate) async fn waiting_on(client: &Client, mandate: &MandateId) -> shadway::Result<Option<String>> {
    let current = client.mandate(mandate).get().await?;
    if !matches!(current.status, MandateStatus::WaitingExternal | MandateStatus::NeedsApproval) {
        return Ok(None);
    }
    let waiting_on = current.current_state.waiting_on.unwrap_or_else(|| "Waiting".into());
    say(&waiting_on);
    Ok(Some(waiting_on))
}
