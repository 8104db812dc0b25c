//! Delegates a mandate and shows live what it is doing until it has ended.
//!
//!     cargo run --example quickstart
//!
//! Without `SHADWAY_API_KEY` it runs on a local server. With a key it talks to the service, at
//! `SHADWAY_BASE_URL` if that is set, and takes the agent's model from `SHADWAY_MODEL`.
//!
//! Exit status: 0 when the mandate completed, 1 on any other end or error, 2 on bad configuration.

use std::fmt;
use std::io::IsTerminal as _;
use std::pin::pin;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use shadway::agents::{Agent, AgentCreateParams};
use shadway::events::{Event, EventData, MemoryCheckpoint};
use shadway::mandates::{Authority, Mandate, MandateCreateParams, MandateStatus};
use shadway::{Client, Error};

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
    let agent = create_agent(client, &setup.model).await?;
    say(format!("agent    {}", agent.id)); // Save this id in your application.
    let mandate = create_mandate(client, &agent).await?;
    say(format!("mandate  {}", mandate.id));

    let done = watch(client, &mandate).await;
    if done.as_ref().is_err_and(Error::is_timeout) {
        say(format!("Still working. Reconnect later with mandate id: {}", mandate.id));
    }
    let done = done?;
    say(format!("{}: {}", done.status, done.current_state.summary));
    setup.close().await;
    Ok(if done.status == MandateStatus::Completed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// An agent is reusable: create it once, and start many mandates with it.
pub(crate) async fn create_agent(client: &Client, model: &str) -> shadway::Result<Agent> {
    client
        .agents()
        .create(
            AgentCreateParams::new("Assistant", model)
                .instructions("Be concise. Report missing information instead of guessing.")
                .capabilities(["email.send", "email.get_delivery"]),
        )
        .await
}

/// Replace the address with a real contact before you run this with a key.
pub(crate) async fn create_mandate(client: &Client, agent: &Agent) -> shadway::Result<Mandate> {
    client
        .mandates()
        .create(
            MandateCreateParams::new(
                &agent.id,
                "Email sales@atlas.example and ask for a quote on 200 units of part #48-221, including \
                 shipping cost and delivery date. Report the quoted price and delivery date.",
            )
            .authority(
                Authority::new().capabilities(["email.send", "email.get_delivery"]).maximum_actions(5),
            ),
        )
        .await
}

/// Waits for the end. A timeout ends only this wait, and the mandate goes on.
pub(crate) async fn wait(client: &Client, mandate: &Mandate) -> shadway::Result<Mandate> {
    client.mandate(&mandate.id).wait().timeout(Duration::from_secs(15 * 60)).await
}

/// Shows what happens as it happens, beside the wait, which alone says how the mandate ended.
async fn watch(client: &Client, mandate: &Mandate) -> shadway::Result<Mandate> {
    let view = View::new();
    view.status(mandate);
    let live = async {
        // With a checkpoint it begins at the first event, also at one that comes before the stream is open.
        let events = client.mandate(&mandate.id).events().stream().checkpoint(MemoryCheckpoint::new());
        let mut events = events.until_terminal();
        // If there are no events to be had, the wait goes on without.
        while let Ok(Some(event)) = events.try_next().await {
            view.event(&event);
        }
    };
    let mut wait = pin!(wait(client, mandate));
    let done = tokio::select! {
        biased; // Events first, so that all that have come are shown.
        () = live => wait.await,
        done = &mut wait => done,
    };
    view.close();
    done
}

/// On a terminal a spinner with the status below what has been done, elsewhere a line for each.
struct View {
    started: Instant,
    spinner: Option<ProgressBar>,
}

impl View {
    #[expect(clippy::disallowed_methods, reason = "what a person sees is real time")]
    fn new() -> Self {
        let spinner = std::io::stdout().is_terminal().then(|| {
            let spinner = ProgressBar::with_draw_target(None, ProgressDrawTarget::stdout());
            if let Ok(style) = ProgressStyle::with_template("{spinner} {seconds} s  {wide_msg}") {
                spinner.set_style(style.with_key(
                    "seconds",
                    |state: &ProgressState, out: &mut dyn fmt::Write| {
                        let _ = write!(out, "{:6.1}", state.elapsed().as_secs_f64());
                    },
                ));
            }
            spinner.enable_steady_tick(Duration::from_millis(80));
            spinner
        });
        Self { started: Instant::now(), spinner }
    }

    fn event(&self, event: &Event) {
        match &event.data {
            EventData::MandateStatusChanged(change) => self.status(&change.mandate),
            EventData::ExecutionStarted(run) => self.line(format!("{} started", run.execution.capability)),
            EventData::ExecutionCompleted(run) => self.line(format!("{} done", run.execution.capability)),
            EventData::ExecutionFailed(run) => self.line(format!("{} failed", run.execution.capability)),
            EventData::ExecutionBlocked(run) => self.line(format!("{} blocked", run.execution.capability)),
            _ => {} // Types this version does not know arrive here, never as an error.
        }
    }

    fn status(&self, mandate: &Mandate) {
        let line = format!("{}: {}", mandate.status, mandate.current_state.summary);
        match &self.spinner {
            Some(spinner) => spinner.set_message(line),
            None => self.line(line),
        }
    }

    fn line(&self, line: String) {
        let line = format!("{:6.1} s  {line}", self.started.elapsed().as_secs_f64());
        match &self.spinner {
            Some(spinner) => spinner.println(line),
            None => say(line),
        }
    }

    fn close(&self) {
        if let Some(spinner) = &self.spinner {
            spinner.finish_and_clear();
        }
    }
}
