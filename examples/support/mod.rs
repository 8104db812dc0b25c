//! What every example begins and ends with: where to run, and how to say what came of it.

use std::io::Write as _;
use std::process::ExitCode;

use shadway::local::{LocalClock, LocalServer};
use shadway::{Client, Error, ErrorKind};

/// Where to run, and with which model.
pub(crate) struct Setup {
    pub(crate) client: Client,
    pub(crate) model: String,
    /// Runs as long as it is kept; `None` when a key says to use the service.
    pub(crate) server: Option<LocalServer>,
}

impl Setup {
    /// With `SHADWAY_API_KEY` the service, with neither key nor base URL a local server.
    pub(crate) async fn from_env() -> Result<Self, Failure> {
        let model = variable("SHADWAY_MODEL");
        if let Some(client) = service()? {
            let model = model.ok_or_else(|| {
                Failure::configuration(
                    "SHADWAY_MODEL is not set; set it to a provider-qualified model of your deployment",
                )
            })?;
            return Ok(Self { client, model, server: None });
        }
        // In its own time, for whoever watches.
        let server = LocalServer::builder().clock(LocalClock::Real).start().await?;
        say(format!("no SHADWAY_API_KEY, so this runs on a local server at {}", server.url()));
        let model = model.unwrap_or_else(|| "local/simulated".into());
        Ok(Self { client: server.client()?, model, server: Some(server) })
    }

    /// Stops the local server, if this ran on one.
    pub(crate) async fn close(self) {
        if let Some(server) = self.server {
            server.shutdown().await;
        }
    }
}

/// A client of the service with `SHADWAY_API_KEY`, `None` with neither key nor base URL.
pub(crate) fn service() -> Result<Option<Client>, Failure> {
    match (variable("SHADWAY_API_KEY"), variable("SHADWAY_BASE_URL")) {
        (Some(_), _) => Ok(Some(Client::from_env()?)),
        (None, None) => Ok(None),
        (None, Some(_)) => Err(Failure::configuration(
            "SHADWAY_BASE_URL is set and SHADWAY_API_KEY is not; set both, or neither for a local server",
        )),
    }
}

/// A variable that is set, and not to nothing.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}

/// Why a program ended early.
pub(crate) enum Failure {
    Configuration(String),
    Call(Error),
}

impl Failure {
    pub(crate) fn configuration(message: impl Into<String>) -> Self {
        Self::Configuration(message.into())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error.kind() {
            ErrorKind::Config => Self::Configuration(error.to_string()),
            _ => Self::Call(error),
        }
    }
}

/// The exit status: what the program says, 1 for an error, 2 for bad configuration.
pub(crate) fn exit(result: Result<ExitCode, Failure>) -> ExitCode {
    let (message, code) = match result {
        Ok(code) => return code,
        Err(Failure::Configuration(message)) => (message, 2),
        Err(Failure::Call(error)) => (with_causes(&error), 1),
    };
    let _ = writeln!(std::io::stderr(), "{message}");
    ExitCode::from(code)
}

/// An error tells its own part; what it comes from tells the rest.
pub(crate) fn with_causes(error: &Error) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(below) = cause {
        let said = below.to_string();
        if !text.ends_with(&said) {
            text = format!("{text}: {said}");
        }
        cause = below.source();
    }
    text
}

/// A reader that has gone, as `head` does, is no reason to panic.
pub(crate) fn say(line: impl std::fmt::Display) {
    let _ = writeln!(std::io::stdout(), "{line}");
}
