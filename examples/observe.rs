//! What calls and streams tell `tracing`: a span for each call, an event for each retry and each reconnect. Their names
//! are OpenTelemetry's, so that a layer which exports spans needs nothing more.
//!
//!     cargo run --example observe
//!
//! Without a key the local server stands behind a line that loses the first call and the first stream.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use shadway::Client;
use shadway::agents::AgentCreateParams;
use shadway::local::LocalService;
use shadway::mandates::MandateCreateParams;
use shadway::transport::{HttpError, HttpFuture, HttpService, LongLived};
use tracing_subscriber::Layer as _;
use tracing_subscriber::filter::{LevelFilter, Targets};
use tracing_subscriber::fmt::format::FmtSpan;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use support::{Failure, Setup, say};

#[path = "support/mod.rs"]
mod support;

#[tokio::main]
async fn main() -> ExitCode {
    // A span is shown when it is over, since only then all is known of the call. This crate's target is its name.
    let shown = tracing_subscriber::fmt::layer().with_span_events(FmtSpan::CLOSE);
    let own = Targets::new().with_target("shadway", LevelFilter::DEBUG);
    tracing_subscriber::registry().with(shown.with_filter(own)).init();
    support::exit(run().await)
}

async fn run() -> Result<ExitCode, Failure> {
    let setup = Setup::from_env().await?;
    let client = match &setup.server {
        Some(server) => {
            let service = Unsteady::new(server.service());
            Client::builder()
                .api_key(server.api_key())
                .base_url(server.url())
                .http_service(service)
                .build()?
        }
        None => setup.client.clone(),
    };
    let agent = AgentCreateParams::new("Assistant", &setup.model).capabilities(["email.send"]);
    let agent = client.agents().create(agent).await?;
    let objective = "Email sales@atlas.example and ask for a quote.";
    let mandate = client.mandates().create(MandateCreateParams::new(&agent.id, objective)).await?;
    let done = client.mandate(&mandate.id).wait().await?;
    say(format!("{}: {}", done.status, done.current_state.summary));
    setup.close().await;
    Ok(ExitCode::SUCCESS)
}

/// A line that loses the first request of either sort.
#[derive(Debug)]
struct Unsteady {
    service: LocalService,
    call_lost: AtomicBool,
    stream_lost: AtomicBool,
}

impl Unsteady {
    fn new(service: LocalService) -> Self {
        Self { service, call_lost: AtomicBool::new(false), stream_lost: AtomicBool::new(false) }
    }
}

impl HttpService for Unsteady {
    fn call(&self, request: http::Request<bytes::Bytes>) -> HttpFuture<'_> {
        let lasts = request.extensions().get::<LongLived>().is_some();
        let lost = if lasts { &self.stream_lost } else { &self.call_lost };
        match lost.swap(true, Ordering::Relaxed) {
            false => Box::pin(async { Err(HttpError::other("the connection was reset")) }),
            true => self.service.call(request),
        }
    }
}
