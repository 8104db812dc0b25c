//! One cell: a call under a fault, what came of it, and what has to hold whatever came of it.

use std::collections::BTreeSet;
use std::error::Error as _;
use std::time::Duration;

use shadway::{Client, ClientBuilder, Error};
use tokio::time::Instant;

use super::calls::{Ended, LAST_READ, Making, Row, WAIT};
use super::faults::{Column, Trouble};
use super::table::Class;
use super::world::{ANSWER, Effect, World};
use crate::support::flights::{Flights, Noted};
use crate::support::raw::{Plan, RawServer};

/// The timeout of every call: longer than three attempts and their delays.
const DEADLINE: Duration = Duration::from_secs(120);
/// And in a run of its own one that strikes in the middle.
const SHORT_DEADLINE: Duration = Duration::from_secs(2);
/// How much later than its deadline a call may end.
const LATE: Duration = Duration::from_millis(50);
/// What a client keeps of an answer, and a stream of an event unless it is told otherwise; and what may be on its way
/// besides: in the buffers of two sockets and of hyper.
const MAX_RESPONSE_BYTES: usize = 64 * 1024;
pub(crate) const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;
const ON_THE_WAY: usize = 1024 * 1024;

/// The local server's.
const KEY: &str = "sk_test_local";

/// How often a fault happens, and how long a call has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    Once,
    Always,
    /// Always, and with little time.
    ShortOfTime,
}

pub(crate) const MODES: [Mode; 3] = [Mode::Once, Mode::Always, Mode::ShortOfTime];

/// A call, and what is done to it.
#[derive(Clone, Copy)]
pub(crate) struct Cell<'a> {
    pub(crate) row: &'a Row,
    pub(crate) class: Class,
    pub(crate) column: &'a Column,
    pub(crate) mode: Mode,
}

/// Where clients come from: the connections of one reqwest client, since to build one takes longer than a cell does.
#[derive(Clone)]
pub(crate) struct Wires(reqwest::Client);

impl Wires {
    pub(crate) fn new() -> Self {
        let builder = reqwest::Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none());
        Self(builder.retry(reqwest::retry::never()).build().unwrap())
    }

    pub(crate) fn client(&self, url: &str) -> ClientBuilder {
        let builder = Client::builder().api_key(KEY).max_response_bytes(MAX_RESPONSE_BYTES);
        builder.base_url(url).reqwest_client(self.0.clone())
    }
}

impl Cell<'_> {
    /// How long it may take, when it began then. A wait has its time, and what its last read took, if there was one.
    fn limit(&self, began: Instant, flights: &Flights) -> Duration {
        match (self.class, self.mode) {
            (class, _) if class.waits() => {
                let read = flights.over_of_those_from(began + WAIT).map(|over| over - (began + WAIT));
                WAIT + read.unwrap_or_default().min(LAST_READ)
            }
            (_, Mode::ShortOfTime) => SHORT_DEADLINE * self.row.requests,
            _ => DEADLINE * self.row.requests,
        }
    }

    /// Runs it, and says what came of it, or what did not hold.
    pub(crate) async fn run(&self, world: &World, wires: &Wires) -> Result<String, String> {
        let before = Before {
            requests: if self.class.changes() { world.server.requests().len() } else { 0 },
            done: world.count(self.row.effect.clone()).await,
        };
        let flights = Flights::default();
        let (client, raw) = self.with_trouble(world, wires, &flights).await;
        let began = Instant::now();
        let (ended, took) = timed((self.row.make)(&client, &world.things, None)).await?;
        world.server.clear_faults();
        let limit = self.limit(began, raw.as_ref().map_or(&flights, RawServer::flights));
        check(took <= limit + LATE, || format!("it took {took:?}, and had {limit:?}"))?;
        if let Err(error) = &ended {
            no_secrets(error)?;
        }
        if let Some(raw) = &raw {
            // The streams that waits open take larger events.
            let event = if self.class.waits() { MAX_EVENT_BYTES } else { 0 };
            let allowed = raw.met().max(1) * (MAX_RESPONSE_BYTES + event + ON_THE_WAY);
            check(raw.sent() <= allowed, || format!("{} bytes were taken", raw.sent()))?;
        }
        self.done_once(world, &ended, &before).await?;
        Ok(describe(&ended))
    }

    /// A client that meets the fault, and what does it unless it is the world's server.
    async fn with_trouble(
        &self,
        world: &World,
        wires: &Wires,
        flights: &Flights,
    ) -> (Client, Option<RawServer>) {
        let limit = if self.mode == Mode::ShortOfTime { SHORT_DEADLINE } else { DEADLINE };
        let times = if self.mode == Mode::Once { 1 } else { u32::MAX };
        let (raw, kept_alive) = match self.column.trouble {
            Trouble::Local(fault) => {
                let fault = fault(self.row.field).times(times);
                world.server.fault(match self.class {
                    class if class.waits() => fault,
                    _ => fault.on(self.row.method.clone(), self.row.route),
                });
                let service = Noted { inner: world.server.service(), flights: flights.clone() };
                let builder = Client::builder().api_key(KEY).http_service(service);
                return (builder.timeout(limit).build().unwrap(), None);
            }
            Trouble::Raw(raw) => (raw, false),
            Trouble::KeptAlive(raw) => (raw, true),
            Trouble::EveryByte => unreachable!("it has runs of its own"),
        };
        let server = RawServer::start(world.server.service());
        let client = wires.client(&server.url).timeout(limit).build().unwrap();
        if kept_alive {
            client.agents().get(&world.things.agent).await.unwrap();
        }
        // Of a call that reads first, what it reads is another row's.
        let method = Some(self.row.method.clone()).filter(|_| !self.class.waits());
        server.plan(Plan { raw, method, times: times as usize });
        (client, Some(server))
    }

    /// A change was made once, or can be made once with the key that the error names; and each attempt of it was the
    /// same request.
    async fn done_once(&self, world: &World, ended: &Ended, before: &Before) -> Result<(), String> {
        if !self.class.changes() {
            return Ok(());
        }
        let requests = world.server.requests();
        let attempts = requests[before.requests..].iter().filter(|request| request.method == self.row.method);
        let sent: BTreeSet<_> = attempts
            .map(|request| (&request.idempotency_key, request.body.as_ref().map(ToString::to_string)))
            .collect();
        check(sent.len() <= 1, || format!("its attempts differ: {sent:?}"))?;
        if let Err(error) = ended {
            let made = world.count(self.row.effect.clone()).await - before.done;
            let Some(key) = error.idempotency_key() else {
                // What it reads first is what failed.
                return check(self.row.reads_first() && made == 0, || "the error has no key".to_owned());
            };
            check(made <= 1, || format!("it was done {made} times"))?;
            let again = (self.row.make)(&world.healthy, &world.things, Some(key.to_owned())).await;
            check(again.is_ok(), || format!("with the key of the error it can't be repeated: {again:?}"))?;
        }
        if !matches!(self.row.effect, Effect::None) {
            let made = world.count(self.row.effect.clone()).await - before.done;
            check(made == 1, || format!("it was done {made} times"))?;
        }
        Ok(())
    }
}

/// How things stood before the call.
struct Before {
    requests: usize,
    done: usize,
}

/// Does it in a task of its own, so that a panic is seen.
pub(crate) async fn timed(making: Making) -> Result<(Ended, Duration), String> {
    let started = Instant::now();
    match tokio::spawn(making).await {
        Ok(ended) => Ok((ended, started.elapsed())),
        Err(panic) => Err(format!("it panicked: {panic}")),
    }
}

/// Whether an outcome is the one of the table.
pub(crate) fn is_as(outcome: &str, expected: &str) -> bool {
    outcome == expected || (outcome == UNCOUNTED && expected.starts_with("ok"))
}

/// It went well, and doesn't say after how many attempts.
const UNCOUNTED: &str = "ok ×_";

/// An outcome in the words of the table.
pub(crate) fn describe(ended: &Ended) -> String {
    match ended {
        Ok(None) => UNCOUNTED.to_owned(),
        Ok(Some(1)) => "ok".to_owned(),
        Ok(Some(attempts)) => format!("ok ×{attempts}"),
        Err(error) => told(error),
    }
}

pub(crate) fn told(error: &Error) -> String {
    let attempts = if error.attempts() > 1 { format!(" ×{}", error.attempts()) } else { String::new() };
    let again = if error.is_retryable() { " ↻" } else { "" };
    let unsure = if error.is_ambiguous() { " ?" } else { "" };
    format!("{:?}{attempts}{again}{unsure}", error.kind())
}

pub(crate) fn check(holds: bool, why: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(why()) }
}

/// Nothing that an error says, on any layer, is anybody's business but the caller's.
pub(crate) fn no_secrets(error: &Error) -> Result<(), String> {
    let mut said = format!("{error} {error:?}");
    let mut layer = error.source();
    while let Some(source) = layer {
        said += &format!(" {source} {source:?}");
        layer = source.source();
    }
    for secret in ["sk_test_", "whsec_", ANSWER, "signature="] {
        check(!said.contains(secret), || format!("the error shows {secret}: {said}"))?;
    }
    Ok(())
}
