//! The rows that are streams: no event lost or repeated, whatever becomes of their connections.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::time::Duration;

use futures_core::Stream;
use futures_util::StreamExt as _;
use shadway::events::Event;
use shadway::{Client, Error};
use tokio::time::timeout;

use super::cell::{Mode, Wires, check, no_secrets, told};
use super::faults::{Column, Trouble};
use super::world::{Need, Things, World};
use crate::support::raw::{Plan, Raw, RawServer};

type Events = Pin<Box<dyn Stream<Item = Result<Event, Error>> + Send>>;

/// Longer than a stream goes on without an item, whatever befalls it, unless none comes any more.
const QUIET: Duration = Duration::from_secs(900);
/// So many connections in a row may bring nothing.
const RECONNECTS: u32 = 3;
/// The largest event that these streams take.
const MAX_EVENT_BYTES: usize = 64 * 1024;
/// Of the watcher's stream nobody says it.
const MAX_WATCHED_BYTES: usize = 16 * 1024 * 1024;
const ON_THE_WAY: usize = 1024 * 1024;
/// Before the first event.
const START: &str = "evt_start";

pub(crate) struct StreamRow {
    pub(crate) name: &'static str,
    /// Whether it has one mandate's events only.
    of_mandate: bool,
    /// Whether it begins with the first event, not with what happens next.
    from_start: bool,
    /// Of its bytes every so many are tried as the last one.
    step: usize,
    open: fn(&Client, &Things) -> Events,
}

pub(crate) const ROWS: [StreamRow; 3] = [
    StreamRow {
        name: "MandateEvents::stream",
        of_mandate: true,
        from_start: true,
        step: 1,
        open: |client, things| {
            let events = client.mandate(&things.mandate).events().stream().resume_after(START);
            events.max_reconnects(RECONNECTS).max_event_bytes(MAX_EVENT_BYTES).boxed()
        },
    },
    StreamRow {
        name: "Events::stream",
        of_mandate: false,
        from_start: true,
        step: 7,
        open: |client, _| {
            let events = client.events().stream().resume_after(START);
            events.max_reconnects(RECONNECTS).max_event_bytes(MAX_EVENT_BYTES).boxed()
        },
    },
    StreamRow {
        name: "Watcher::events",
        of_mandate: true,
        from_start: false,
        step: 97,
        open: |client, things| client.watcher().events(&things.mandate).boxed(),
    },
];

/// Runs a cell, and says what came of it, or what did not hold.
pub(crate) async fn run(
    row: &StreamRow,
    column: &Column,
    mode: Mode,
    wires: &Wires,
) -> Result<String, String> {
    let times = if mode == Mode::Once { 1 } else { u32::MAX };
    let scene = Scene::set(row).await;
    let (raw, kept_alive) = match column.trouble {
        Trouble::Local(fault) => {
            let server = &scene.world.server;
            server.fault(fault("id").on_streams().times(times));
            let builder = Client::builder().api_key(server.api_key()).http_service(server.service());
            return scene.play(row, &builder.build().unwrap()).await;
        }
        Trouble::Raw(raw) => (raw, false),
        Trouble::KeptAlive(raw) => (raw, true),
        Trouble::EveryByte => unreachable!("it has runs of its own"),
    };
    let server = RawServer::start(scene.world.server.service());
    let client = wires.client(&server.url).build().unwrap();
    if kept_alive {
        client.agents().get(&scene.world.things.agent).await.unwrap();
    }
    server.plan(Plan { raw, method: None, times: times as usize });
    let outcome = scene.play(row, &client).await?;
    let largest = if row.from_start { MAX_EVENT_BYTES } else { MAX_WATCHED_BYTES };
    let allowed = server.met().max(1) * (largest + ON_THE_WAY);
    check(server.sent() <= allowed, || format!("{} bytes were taken", server.sent()))?;
    Ok(outcome)
}

/// A world in which something is about to happen.
struct Scene {
    world: World,
    /// What happened before a stream begins that does not tell of it.
    skipped: usize,
}

impl Scene {
    async fn set(row: &StreamRow) -> Self {
        let world = World::with(if row.from_start { Need::Working } else { Need::Later }).await;
        let skipped = if row.from_start { 0 } else { happened(row, &world).await.len() };
        Self { world, skipped }
    }

    async fn play(&self, row: &StreamRow, client: &Client) -> Result<String, String> {
        let events = (row.open)(client, &self.world.things);
        let followed = tokio::spawn(follow(events, QUIET, usize::MAX)).await;
        let followed = followed.map_err(|panic| format!("it panicked: {panic}"))?;
        self.world.server.clear_faults();
        judge(&happened(row, &self.world).await[self.skipped..], &followed)
    }
}

/// The stream when its connection ends after each number of bytes in turn, up to the end of what the first sends; how
/// many runs that were.
pub(crate) async fn cut_at_every_byte(row: &StreamRow, wires: &Wires) -> Result<usize, String> {
    if !row.from_start {
        return cut_before_all(row, wires).await;
    }
    let world = World::with(Need::Ended).await;
    let happened = happened(row, &world).await;
    let mut runs = 0;
    for after in (0..).step_by(row.step) {
        let server = RawServer::start(world.server.service());
        let client = wires.client(&server.url).build().unwrap();
        server.plan(Plan { raw: Raw::Cut { after, reset: after % 2 == 0 }, method: None, times: 1 });
        let events = (row.open)(&client, &world.things);
        let followed = follow(events, Duration::from_secs(1), happened.len()).await;
        let outcome = judge(&happened, &followed)?;
        check(outcome == "whole", || format!("cut after {after} bytes: {outcome}"))?;
        runs += 1;
        if server.cuts() == 0 {
            return Ok(runs);
        }
    }
    unreachable!("an answer has an end")
}

/// The same of one that begins with what happens next, before anything does.
async fn cut_before_all(row: &StreamRow, wires: &Wires) -> Result<usize, String> {
    let mut runs = 0;
    for after in (0..).step_by(row.step) {
        let scene = Scene::set(row).await;
        let server = RawServer::start(scene.world.server.service());
        let client = wires.client(&server.url).build().unwrap();
        server.plan(Plan { raw: Raw::Cut { after, reset: after % 2 == 0 }, method: None, times: 1 });
        let outcome = scene.play(row, &client).await?;
        check(outcome.starts_with("whole"), || format!("cut after {after} bytes: {outcome}"))?;
        runs += 1;
        if server.cuts() == 0 {
            return Ok(runs);
        }
    }
    unreachable!("an answer has an end")
}

struct Followed {
    events: Vec<Event>,
    error: Option<Error>,
    ended: bool,
}

/// Takes events until there is none for a while, and after so many of them sooner.
async fn follow(mut events: Events, quiet: Duration, enough: usize) -> Followed {
    let mut followed = Followed { events: Vec::new(), error: None, ended: false };
    loop {
        let patience = if followed.events.len() < enough { QUIET } else { quiet };
        match timeout(patience, events.next()).await {
            Ok(Some(Ok(event))) => followed.events.push(event),
            Ok(Some(Err(error))) => followed.error = Some(error),
            Ok(None) => return Followed { ended: true, ..followed },
            Err(_) => return followed,
        }
    }
}

/// The ids of what happened, in their order.
async fn happened(row: &StreamRow, world: &World) -> Vec<String> {
    let all = world.events().await;
    let wanted = all.iter().filter(|event| !row.of_mandate || event.mandate == world.things.mandate);
    wanted.map(|event| event.id.to_string()).collect()
}

/// What came of what happened; that none came twice holds always.
fn judge(happened: &[String], followed: &Followed) -> Result<String, String> {
    let came: Vec<_> = followed.events.iter().map(|event| event.id.to_string()).collect();
    let once: BTreeSet<_> = came.iter().collect();
    check(once.len() == came.len(), || format!("an event was repeated: {came:?}"))?;
    if let Some(error) = &followed.error {
        check(followed.ended, || "it went on after its error".to_owned())?;
        no_secrets(error)?;
        return Ok(told(error));
    }
    let known: Vec<_> = came.iter().filter(|id| happened.contains(id)).cloned().collect();
    let what = match known.len() {
        _ if followed.ended => "the end",
        0 => "nothing",
        _ if known == happened => "whole",
        count if count == happened.len() => "whole, swapped",
        _ => return Err(format!("events were lost: of {happened:?} came {known:?}")),
    };
    Ok(if known.len() < came.len() { format!("{what}, and more") } else { what.to_owned() })
}
