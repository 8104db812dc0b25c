//! Webhook endpoints: have the same events pushed to your server.
//!
//!     cargo run --example webhooks

use std::process::ExitCode;

use shadway::Client;
use shadway::events::EventType;
use shadway::types::WebhookEndpointId;
use shadway::webhooks::{WebhookEndpointCreateParams, WebhookEndpointCreated, WebhookEndpointSecretRotated};

use support::{Failure, Setup, say};

#[expect(dead_code, reason = "an endpoint needs no model")]
#[path = "support/mod.rs"]
mod support;

#[tokio::main]
async fn main() -> ExitCode {
    support::exit(run().await)
}

async fn run() -> Result<ExitCode, Failure> {
    let setup = Setup::from_env().await?;
    let client = &setup.client;
    let created = create_endpoint(client).await?;
    rotate(client, &created.endpoint.id).await?;
    client.webhooks().endpoints().delete(&created.endpoint.id).await?;
    setup.close().await;
    Ok(ExitCode::SUCCESS)
}

/// The secret is in this answer and in no other: put it into your secrets manager.
pub(crate) async fn create_endpoint(client: &Client) -> shadway::Result<WebhookEndpointCreated> {
    let created = client
        .webhooks()
        .endpoints()
        .create(WebhookEndpointCreateParams::new(
            "https://example.com/shadway/webhooks",
            [EventType::MandateStatusChanged, EventType::MandateApprovalRequested],
        ))
        .await?;
    say(&created.endpoint.id);
    say(format!("a secret of {} characters; store it now", created.secret.expose().len()));
    Ok(created)
}

/// Deliveries signed with the old secret keep verifying for a short while: deploy the new one within it.
pub(crate) async fn rotate(
    client: &Client,
    endpoint: &WebhookEndpointId,
) -> shadway::Result<WebhookEndpointSecretRotated> {
    let rotated = client.webhooks().endpoints().rotate_secret(endpoint).await?;
    say(format!("a new secret of {} characters; deploy it now", rotated.secret.expose().len()));
    Ok(rotated)
}
