//! Webhook endpoints: have the same events pushed to your server.
//!
//!     cargo run --example webhooks

use std::process::ExitCode;

use http::{Request, StatusCode};
use shadway::Client;
use shadway::events::EventType;
use shadway::types::WebhookEndpointId;
use shadway::webhooks::{
    Begun, Dedupe, MemoryDedupe, Signer, Verifier, WebhookEndpointCreateParams, WebhookEndpointCreated,
    WebhookEndpointSecretRotated, WebhookSecret,
};

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
    receive(&created.secret).await?;
    rotate(client, &created.endpoint.id).await?;
    client.webhooks().endpoints().delete(&created.endpoint.id).await?;
    setup.close().await;
    Ok(ExitCode::SUCCESS)
}

/// Lets the handler have a delivery twice, and one that was altered on the way.
async fn receive(secret: &WebhookSecret) -> Result<(), Failure> {
    let refuse = |error: &dyn std::error::Error| Failure::configuration(error.to_string());
    let verifier = Verifier::new(secret).map_err(|error| refuse(&error))?;
    let signer = Signer::new(secret).map_err(|error| refuse(&error))?;
    let seen = MemoryDedupe::new(1_000);
    let body = include_bytes!("../fixtures/events/mandate.status_changed.json");
    let signed = signer.sign("whd_1", body).map_err(|error| refuse(&error))?;
    for body in [body.to_vec(), body.to_vec(), [&body[..], b" "].concat()] {
        let mut request = Request::builder();
        for (name, value) in signed.pairs() {
            request = request.header(name, value);
        }
        let request = request.body(body).map_err(|error| refuse(&error))?;
        let answer = handler(&verifier, &seen, &request).await.map_err(|error| refuse(&error))?;
        say(format!("answered {answer}"));
    }
    Ok(())
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

/// Answers a delivery; any server will do that gives the headers and the body's exact bytes.
///
/// Deliveries come again and out of order: tell them apart by their id. Real work belongs after the answer, or on a
/// queue.
pub(crate) async fn handler<D: Dedupe>(
    verifier: &Verifier,
    seen: &D,
    request: &Request<Vec<u8>>,
) -> Result<StatusCode, D::Error> {
    let delivery = match verifier.verify(request.headers(), request.body()) {
        Ok(delivery) => delivery,
        Err(reason) => {
            say(reason);
            return Ok(StatusCode::BAD_REQUEST);
        }
    };
    let Ok(event) = delivery.event() else { return Ok(StatusCode::BAD_REQUEST) };
    match seen.begin(delivery.id()).await? {
        Begun::New => {
            say(format!("{} {}", delivery.id(), event.event_type));
            seen.finish(delivery.id()).await?;
            Ok(StatusCode::NO_CONTENT)
        }
        Begun::Done => Ok(StatusCode::NO_CONTENT),
        // Somebody is at it; a refusal makes the service ask again later.
        Begun::InFlight => Ok(StatusCode::SERVICE_UNAVAILABLE),
    }
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
