//! Runs a local server for programs in any language, until it is stopped with Ctrl-C.
//!
//!     cargo run --example local_server -- [--addr 127.0.0.1:8080] [--clock real|auto] [--speed TIMES]
//!                                         [--scenario FILE] [--webhook URL]
//!
//! The first lines it prints set the environment of a client. The server listens on a free port of this machine
//! unless told otherwise; its key is no secret, so think before you let others reach it.
//!
//! `--scenario` gives it capabilities, agents, scripts, faults, webhook endpoints and mandates from a TOML file, as
//! `examples/support/scenario.toml` is one. `--webhook` has every event delivered to a URL, and its secret printed
//! with the rest, as are those of a scenario's endpoints. What else can be done to it is under `/_local/`, with the same
//! key: `state`, `clock`, `faults`, `scenario`, `requests`, `deliveries`, and `reset`, which forgets all of this.
//!
//! `--clock real` (the default) runs as this machine's clock, `--speed 60` so many times as fast. `--clock auto` jumps
//! to what is due next while a client waits for it.
//!
//! Exit status: 0 when it is stopped, 2 on bad arguments or an address that can't be had.

use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use shadway::local::{LocalClock, LocalServer, Scenario};
use shadway::webhooks::WebhookEndpointCreateParams;

use support::{Failure, say};

#[expect(dead_code, reason = "this is the server, which needs no place to run")]
#[path = "support/mod.rs"]
mod support;

const USAGE: &str = "usage: local_server [--addr ADDRESS:PORT] [--clock real|auto] [--speed TIMES] \
     [--scenario FILE] [--webhook URL]";

#[tokio::main]
async fn main() -> ExitCode {
    support::exit(run().await)
}

async fn run() -> Result<ExitCode, Failure> {
    let options = Options::parse().map_err(|why| Failure::configuration(format!("{why}; {USAGE}")))?;
    if options.help {
        say(USAGE);
        return Ok(ExitCode::SUCCESS);
    }
    let server = LocalServer::builder().address(options.address).clock(options.clock).start().await?;
    say(format!("export SHADWAY_BASE_URL={}", server.url()));
    say(format!("export SHADWAY_API_KEY={}", server.api_key()));
    if let Some(url) = options.webhook {
        let webhooks = server.client()?.webhooks();
        let created = webhooks.endpoints().create(WebhookEndpointCreateParams::new(url, ["*"])).await?;
        say(format!("export SHADWAY_WEBHOOK_SECRET={}", created.secret.expose()));
    }
    if let Some(scenario) = options.scenario {
        let loaded = server.load(scenario).await?;
        for created in loaded.endpoints {
            say(format!("# {} {}", created.secret.expose(), created.endpoint.url));
        }
        for mandate in loaded.mandates {
            say(format!("# {} {}", mandate.id, mandate.objective));
        }
    }
    let _ = io::stdout().flush();
    // Without signals there is no end to it but that of the process.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
    server.shutdown().await;
    Ok(ExitCode::SUCCESS)
}

struct Options {
    address: SocketAddr,
    clock: LocalClock,
    scenario: Option<Scenario>,
    webhook: Option<String>,
    help: bool,
}

impl Options {
    fn parse() -> Result<Self, lexopt::Error> {
        use lexopt::prelude::{Long, ValueExt as _};

        let (mut address, mut speed, mut automatic, mut help) =
            (SocketAddr::from((Ipv4Addr::LOCALHOST, 0)), 1, false, false);
        let (mut scenario, mut webhook) = (None, None);
        let mut arguments = lexopt::Parser::from_env();
        while let Some(argument) = arguments.next()? {
            match argument {
                Long("addr") => address = arguments.value()?.parse()?,
                Long("clock") => automatic = arguments.value()?.parse_with(is_automatic)?,
                Long("speed") => speed = arguments.value()?.parse()?,
                Long("scenario") => scenario = Some(read(&PathBuf::from(arguments.value()?))?),
                Long("webhook") => webhook = Some(arguments.value()?.string()?),
                Long("help") => help = true,
                other => return Err(other.unexpected()),
            }
        }
        let clock = match (automatic, speed) {
            (_, 0) => return Err("--speed is at least 1".into()),
            (true, 1) => LocalClock::Automatic,
            (true, _) => return Err("--speed is for --clock real".into()),
            (false, 1) => LocalClock::Real,
            (false, times) => LocalClock::Faster(times),
        };
        Ok(Self { address, clock, scenario, webhook, help })
    }
}

fn read(file: &Path) -> Result<Scenario, String> {
    let text = std::fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    toml::from_str(&text).map_err(|error| format!("{}: {error}", file.display()))
}

fn is_automatic(clock: &str) -> Result<bool, &'static str> {
    match clock {
        "auto" => Ok(true),
        "real" => Ok(false),
        _ => Err("it is real or auto"),
    }
}
