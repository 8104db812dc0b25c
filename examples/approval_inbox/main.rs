//! The approval screen: a page on which a person reviews what an agent asks for, and decides.
//!
//!     cargo run --example approval_inbox -- [--addr 127.0.0.1:8080]
//!
//! It prints a link to open in a browser. With `SHADWAY_API_KEY` it shows your workspace; without a key it starts a
//! local server in its own process and gives it something to ask about. Run it as it is, or copy it: the place for
//! your own sign-in and access check is marked in `guard.rs`.
//!
//! The key stays in this process. The page listens on this machine only unless told otherwise; it speaks plain HTTP,
//! so put something that does TLS in front of it before others reach it.
//!
//! Exit status: 0 when it is stopped with Ctrl-C, 1 when the service can't be reached, 2 on bad arguments or
//! configuration.

use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::process::ExitCode;
use std::sync::Arc;

use shadway::approvals::ApprovalListParams;
use tokio::net::TcpListener;

use demo::Demo;
use server::Inbox;
use support::{Failure, say};

mod api;
mod demo;
mod errands;
mod feed;
mod guard;
mod limits;
mod server;
#[expect(dead_code, reason = "no agent is created at the service, so no model is needed")]
#[path = "../support/mod.rs"]
mod support;
mod views;

const USAGE: &str = "usage: approval_inbox [--addr ADDRESS:PORT]";

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
    let refuse = |error: io::Error| Failure::configuration(format!("can't listen: {error}"));
    let listener = TcpListener::bind(options.address).await.map_err(refuse)?;
    let address = listener.local_addr().map_err(refuse)?;

    let (client, demo) = match support::service()? {
        Some(client) => (client, None),
        None => {
            let demo = Demo::start().await?;
            (demo.client()?, Some(demo))
        }
    };
    // A wrong key or address is told now, and not on the page.
    client.approvals().list(ApprovalListParams::new().limit(1)).await?;

    let inbox = Arc::new(Inbox::new(client, address));
    let following = tokio::spawn(Arc::clone(&inbox).follow());
    if !address.ip().is_loopback() {
        say("others can reach this: put TLS in front of it, and your own sign-in into guard.rs");
    }
    let what =
        if demo.is_some() { "a local server, since there is no SHADWAY_API_KEY" } else { "your workspace" };
    say(format!("the approvals of {what}: {}", inbox.guard.link()));
    let _ = io::stdout().flush();
    let working = demo.map(|demo| tokio::spawn(demo.work()));

    // A page that is open keeps its connection for ever, so there is nothing to wait for at the end.
    tokio::select! {
        served = axum::serve(listener, server::router(inbox)) => served.map_err(refuse)?,
        () = stopped() => {}
    }
    following.abort();
    if let Some(working) = working {
        working.abort();
    }
    Ok(ExitCode::SUCCESS)
}

async fn stopped() {
    // Without signals there is no end to it but that of the process.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}

struct Options {
    address: SocketAddr,
    help: bool,
}

impl Options {
    fn parse() -> Result<Self, lexopt::Error> {
        use lexopt::prelude::{Long, ValueExt as _};

        let mut options = Self { address: (Ipv4Addr::LOCALHOST, 0).into(), help: false };
        let mut arguments = lexopt::Parser::from_env();
        while let Some(argument) = arguments.next()? {
            match argument {
                Long("addr") => options.address = arguments.value()?.parse()?,
                Long("help") => options.help = true,
                other => return Err(other.unexpected()),
            }
        }
        Ok(options)
    }
}
