//! Shows events as they happen, a line for each, through lost connections and, with a checkpoint, through restarts.
//!
//!     cargo run --example tail_events -- [--mandate ID] [--after EVENT_ID] [--checkpoint FILE]
//!                                        [--until-terminal] [--json]
//!
//! With `SHADWAY_API_KEY` it follows the service, at `SHADWAY_BASE_URL` if that is set. Without it runs on a local
//! server with two small mandates, from their first event until both have ended; none of them can be named beforehand,
//! so `--mandate` needs a key.
//!
//! Events go to standard output, with `--json` as JSON lines; all else goes to standard error.
//!
//! Exit status: 0 at the end, 1 on an error or, with `--until-terminal`, if the mandate did not complete, 2 on bad
//! arguments or configuration.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use shadway::agents::AgentCreateParams;
use shadway::events::{Event, EventData, EventStream, FileCheckpoint, MemoryCheckpoint, StreamState};
use shadway::local::LocalServer;
use shadway::mandates::{MandateCreateParams, MandateStatus};
use shadway::types::{EventId, MandateId};
use shadway::{Client, Error};

use support::Failure;

#[expect(dead_code, reason = "no agent is created at the service, so no model is needed")]
#[path = "support/mod.rs"]
mod support;

const USAGE: &str =
    "usage: tail_events [--mandate ID] [--after EVENT_ID] [--checkpoint FILE] [--until-terminal] [--json]";
/// How many mandates the local server is given.
const WORKLOAD: usize = 2;

#[tokio::main]
async fn main() -> ExitCode {
    support::exit(run().await)
}

async fn run() -> Result<ExitCode, Failure> {
    let options = Options::parse().map_err(|why| Failure::configuration(format!("{why}; {USAGE}")))?;
    if options.help {
        let _ = writeln!(io::stdout(), "{USAGE}");
        return Ok(ExitCode::SUCCESS);
    }
    if let Some(client) = support::service()? {
        tail(options.stream(&client), &options, usize::MAX).await?;
        return outcome(&client, &options).await;
    }
    if options.mandate.is_some() {
        return Err(Failure::configuration(format!(
            "--mandate needs SHADWAY_API_KEY: without it this runs on a local server with mandates of its own; {USAGE}"
        )));
    }
    let server = LocalServer::start().await?;
    let client = server.client()?;
    note(format!(
        "no SHADWAY_API_KEY, so this shows {WORKLOAD} mandates on a local server at {}",
        server.url()
    ));
    give_work(&client).await?;
    let mut events = options.stream(&client);
    if options.after.is_none() && options.checkpoint.is_none() {
        events = events.checkpoint(MemoryCheckpoint::new()); // from the very first event on
    }
    tail(events, &options, WORKLOAD).await?;
    server.shutdown().await;
    Ok(ExitCode::SUCCESS)
}

/// Shows events until the stream ends, so many mandates have ended, or nobody reads on.
async fn tail(mut events: EventStream, options: &Options, mandates: usize) -> Result<(), Error> {
    let mut ended = 0;
    while let Some(event) = events.try_next().await? {
        let line = if options.json { json(&event) } else { line(&event) };
        if writeln!(io::stdout(), "{line}").is_err() {
            return Ok(());
        }
        ended += usize::from(event.mandate_status().is_some_and(MandateStatus::is_terminal));
        if ended == mandates {
            return Ok(());
        }
    }
    Ok(())
}

/// Says on standard error what becomes of the connection.
fn observe(state: &StreamState) {
    match state {
        StreamState::Waiting { cause, delay, .. } => {
            note(format!("{cause}; connecting again in {delay:.1?}"))
        }
        StreamState::Missed => note("no position was known to resume after: events may have been missed"),
        StreamState::EndMissing => {
            note("the event by which the mandate ended is missing: others may be, too")
        }
        StreamState::Skipped { cause, .. } => note(format!("left out what is no event: {cause}")),
        _ => {}
    }
}

async fn outcome(client: &Client, options: &Options) -> Result<ExitCode, Failure> {
    let Some(mandate) = options.mandate.as_ref().filter(|_| options.until_terminal) else {
        return Ok(ExitCode::SUCCESS);
    };
    let mandate = client.mandates().get(mandate).await?;
    Ok(if mandate.status == MandateStatus::Completed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What a person wants to see of an event.
fn line(event: &Event) -> String {
    let detail = match &event.data {
        EventData::MandateStatusChanged(change) => {
            format!("{}: {}", change.mandate.status, change.mandate.current_state.summary)
        }
        EventData::ApprovalRequested(asked) | EventData::ApprovalResolved(asked) => {
            format!("{}: {}", asked.approval.status, asked.approval.question)
        }
        EventData::Unknown(data) => data.get().to_owned(),
        _ => event.execution().map(|run| run.capability.clone()).unwrap_or_default(),
    };
    let line = format!("{}  {} {}  {}  {detail}", event.id, event.mandate, event.sequence, event.event_type);
    // It comes from outside, and a terminal obeys control characters.
    line.chars().map(|character| if character.is_control() { ' ' } else { character }).collect()
}

/// The event with its data as they came, and not as this version knows them. Raw text may have line breaks, which in
/// JSON are as good as blanks.
fn json(event: &Event) -> String {
    let mut event = event.clone();
    if let Some(sent) = event.raw_data().cloned() {
        event.data = EventData::Unknown(sent);
    }
    serde_json::to_string(&event).unwrap_or_default().replace(['\n', '\r'], " ")
}

fn note(line: impl std::fmt::Display) {
    let _ = writeln!(io::stderr(), "{line}");
}

async fn give_work(client: &Client) -> Result<(), Error> {
    let agent = AgentCreateParams::new("Assistant", "local/simulated").capabilities(["email.send"]);
    let agent = client.agents().create(agent).await?;
    for place in ["Atlas", "Boreas"].iter().cycle().take(WORKLOAD) {
        let objective = format!("Email sales@{}.example and ask for a quote.", place.to_lowercase());
        client.mandates().create(MandateCreateParams::new(&agent.id, objective)).await?;
    }
    Ok(())
}

#[derive(Default)]
struct Options {
    mandate: Option<MandateId>,
    after: Option<EventId>,
    checkpoint: Option<PathBuf>,
    until_terminal: bool,
    json: bool,
    help: bool,
}

impl Options {
    fn parse() -> Result<Self, lexopt::Error> {
        use lexopt::prelude::{Long, ValueExt as _};

        let mut options = Self::default();
        let mut arguments = lexopt::Parser::from_env();
        while let Some(argument) = arguments.next()? {
            match argument {
                Long("mandate") => options.mandate = Some(arguments.value()?.string()?.into()),
                Long("after") => options.after = Some(arguments.value()?.string()?.into()),
                Long("checkpoint") => options.checkpoint = Some(arguments.value()?.into()),
                Long("until-terminal") => options.until_terminal = true,
                Long("json") => options.json = true,
                Long("help") => options.help = true,
                other => return Err(other.unexpected()),
            }
        }
        if options.until_terminal && options.mandate.is_none() {
            return Err("--until-terminal needs --mandate".into());
        }
        Ok(options)
    }

    fn stream(&self, client: &Client) -> EventStream {
        let mut events = match &self.mandate {
            Some(id) => client.mandate(id).events().stream(),
            None => client.events().stream(),
        };
        if let Some(id) = &self.after {
            events = events.resume_after(id);
        }
        if let Some(file) = &self.checkpoint {
            events = events.checkpoint(FileCheckpoint::new(file));
        }
        if self.until_terminal {
            events = events.until_terminal();
        }
        events.observer(observe)
    }
}
