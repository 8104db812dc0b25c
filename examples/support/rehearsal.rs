//! What a webhook receiver has to get right, played through with real deliveries of a local server.

use std::process::ExitCode;
use std::time::Duration;

use shadway::Client;
use shadway::agents::AgentCreateParams;
use shadway::events::{Event, EventType};
use shadway::local::LocalServer;
use shadway::mandates::MandateCreateParams;
use shadway::types::AgentId;
use shadway::webhooks::{Verifier, WebhookEndpointCreateParams};
use tokio::net::TcpListener;
use tokio::time::timeout;

use super::support::{Failure, say};
use super::{PATH, Receiver, Tally, note, refuse};

/// Longer than any of it takes.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) async fn run(listener: TcpListener) -> Result<ExitCode, Failure> {
    let server = LocalServer::start().await?;
    let client = server.client()?;
    say(format!("no SHADWAY_WEBHOOK_SECRET, so what comes is sent by a local server at {}", server.url()));

    let url = format!("http://{}{PATH}", listener.local_addr().map_err(refuse)?);
    let webhooks = client.webhooks();
    let params = WebhookEndpointCreateParams::new(url, [EventType::All]);
    let created = webhooks.endpoints().create(params).await?;
    let receiver = Receiver::start(listener, Verifier::new(created.secret).map_err(refuse)?);
    let agent = AgentCreateParams::new("Assistant", "local/simulated").capabilities(["email.send"]);
    let agent = client.agents().create(agent).await?.id;

    say("\na mandate, from its first event to its last:");
    let events = mandate(&client, &agent).await?;
    let mut came = comes(&receiver, |tally| tally.handled == events).await;

    say("\nits first delivery once more:");
    let first = server.deliveries().first().map(|delivery| delivery.id.clone()).unwrap_or_default();
    server.redeliver(&first).map_err(refuse)?;
    came &= comes(&receiver, |tally| tally.repeated == 1).await;

    say("\nthe secret is rotated; here only the old one is known, and everything still verifies:");
    let rotated = webhooks.endpoints().rotate_secret(&created.endpoint.id).await?;
    let more = mandate(&client, &agent).await?;
    came &= comes(&receiver, |tally| tally.handled == events + more).await;

    say("\nnow only the new one is known, and the first delivery comes a third time, signed anew:");
    receiver.deploy(Verifier::new(rotated.secret).map_err(refuse)?);
    server.redeliver(&first).map_err(refuse)?;
    came &= comes(&receiver, |tally| tally.repeated == 2).await;

    let tally = receiver.end().await;
    server.shutdown().await;
    say(format!("\n{tally}"));
    if came && tally.refused == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    note("not everything came as it should");
    Ok(ExitCode::FAILURE)
}

/// Lets an agent do a mandate; how many events it had.
async fn mandate(client: &Client, agent: &AgentId) -> shadway::Result<usize> {
    let params = MandateCreateParams::new(agent, "Email sales@atlas.example and ask for a quote.");
    let work = client.mandate(client.mandates().create(params).await?.id);
    work.wait().timeout(PATIENCE).await?;
    let events: Vec<Event> = work.events().list().items().try_collect().await?;
    Ok(events.len())
}

/// Whether what is waited for comes.
async fn comes(receiver: &Receiver, wanted: impl Fn(&Tally) -> bool) -> bool {
    let mut tally = receiver.app.tally.subscribe();
    matches!(timeout(PATIENCE, tally.wait_for(wanted)).await, Ok(Ok(_)))
}
