//! Delegates a mandate and shows live what it is doing until it has ended.
//!
//!     cargo run --example quickstart
//!
//! Without `SHADWAY_API_KEY` it runs on a local server. With a key it talks to the service, at
//! `SHADWAY_BASE_URL` if that is set, and takes the agent's model from `SHADWAY_MODEL`.
//!
//! Exit status: 0 when the mandate completed, 1 on any other end or error, 2 on bad configuration.

use std::fmt;
use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use shadway::agents::{Agent, AgentCreateParams};
use shadway::local::LocalServer;
use shadway::mandates::{Authority, Mandate, MandateCreateParams, MandateStatus};
use shadway::{Client, Error, ErrorKind};

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(done) => {
            say(&format!("{}: {}", done.status, done.current_state.summary));
            if done.status == MandateStatus::Completed { ExitCode::SUCCESS } else { ExitCode::from(1) }
        }
        Err(Failure::Configuration(message)) => {
            complain(&message);
            ExitCode::from(2)
        }
        Err(Failure::Call(error)) => {
            complain(&error.to_string());
            ExitCode::from(1)
        }
    }
}

async fn run() -> Result<Mandate, Failure> {
    let setup = Setup::from_env().await?;
    let agent = create_agent(&setup.client, &setup.model).await?;
    say(&format!("agent    {}", agent.id));
    let mandate = create_mandate(&setup.client, &agent).await?;
    say(&format!("mandate  {}", mandate.id));
    Ok(wait(&setup, &mandate).await?)
}

async fn create_agent(client: &Client, model: &str) -> shadway::Result<Agent> {
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
async fn create_mandate(client: &Client, agent: &Agent) -> shadway::Result<Mandate> {
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

/// Follows the mandate to its end. A timeout ends only this wait, and the mandate goes on.
async fn wait(setup: &Setup, mandate: &Mandate) -> shadway::Result<Mandate> {
    let work = setup.client.mandate(&mandate.id);
    let mut wait = work.wait().timeout(Duration::from_secs(15 * 60));
    if setup.server.is_some() {
        // Asking often costs nothing here, and its mandates are quick.
        wait = wait.poll_interval(Duration::from_millis(50));
    }
    let mut updates = wait.updates();
    let view = View::new();
    let mut last = mandate.clone();
    while let Some(state) = updates.try_next().await.inspect_err(|_| view.close())? {
        last = state;
        view.show(&last);
    }
    view.close();
    Ok(last)
}

/// Where to run, and with which model.
struct Setup {
    client: Client,
    model: String,
    /// Runs as long as it is kept.
    server: Option<LocalServer>,
}

impl Setup {
    async fn from_env() -> Result<Self, Failure> {
        let variable = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
        let model = variable("SHADWAY_MODEL");
        if variable("SHADWAY_API_KEY").is_some() {
            let client = Client::from_env()?;
            let model = model.ok_or_else(|| {
                Failure::Configuration(
                    "SHADWAY_MODEL is not set; set it to a provider-qualified model of your deployment"
                        .into(),
                )
            })?;
            return Ok(Self { client, model, server: None });
        }
        if variable("SHADWAY_BASE_URL").is_some() {
            return Err(Failure::Configuration(
                "SHADWAY_BASE_URL is set and SHADWAY_API_KEY is not; set both, or neither for a local server"
                    .into(),
            ));
        }
        let server = LocalServer::start().await?;
        say(&format!("no SHADWAY_API_KEY, so this runs on a local server at {}", server.url()));
        let model = model.unwrap_or_else(|| "local/simulated".into());
        Ok(Self { client: server.client()?, model, server: Some(server) })
    }
}

/// A spinner on a terminal, a line for each change elsewhere.
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

    fn show(&self, mandate: &Mandate) {
        let line = format!("{}: {}", mandate.status, mandate.current_state.summary);
        match &self.spinner {
            Some(spinner) => spinner.set_message(line),
            None => say(&format!("{:6.1} s  {line}", self.started.elapsed().as_secs_f64())),
        }
    }

    fn close(&self) {
        if let Some(spinner) = &self.spinner {
            spinner.finish_and_clear();
        }
    }
}

/// A reader that has gone, as `head` does, is no reason to panic.
fn say(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

fn complain(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

enum Failure {
    Configuration(String),
    Call(Error),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error.kind() {
            ErrorKind::Config => Self::Configuration(error.to_string()),
            _ => Self::Call(error),
        }
    }
}
