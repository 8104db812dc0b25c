//! The rows that are streams: no event lost or repeated, whatever becomes of their connections.

use std::collections::BTreeSet;
use std::pin::Pin;
use std::time::Duration;

use futures_core::Stream;
use futures_util::StreamExt as _;
use shadway::events::Event;
use shadway::{Client, Error};
use tokio::time::timeout;

use super::cell::{MAX_EVENT_BYTES, Mode, Wires, check, no_secrets, told};
use super::faults::{Column, Trouble};
use super::world::{Need, Things, World};
use super::{Tally, cuts};
use crate::support::raw::{Plan, RawServer};

type Events = Pin<Box<dyn Stream<Item = Result<Event, Error>> + Send>>;

/// Longer than a stream goes on without an item, whatever befalls it, unless none comes any more.
const QUIET: Duration = Duration::from_secs(900);
/// The same of a watched one, longer than it takes until something happens: a watcher looks after itself four times
/// a second, which is most of what its cells cost.
const WATCHED_QUIET: Duration = Duration::from_secs(200);
/// So many connections in a row may bring nothing.
const RECONNECTS: u32 = 3;
/// The largest event that these streams take.
const SMALL_EVENT: usize = 64 * 1024;
const ON_THE_WAY: usize = 1024 * 1024;
/// The head and the first events; what follows is more of the same, and cut more rarely.
const FIRST_BYTES: usize = 1_000;
const MORE_BYTES: usize = 61;
/// Before the first event.
const START: &str = "evt_start";

pub(crate) struct StreamRow {
    pub(crate) name: &'static str,
    /// Whether it has one mandate's events only.
    of_mandate: bool,
    /// Whether it begins with the first event, not with what happens next.
    from_start: bool,
    /// Of its first bytes every so many are tried as the last one.
    step: usize,
    open: fn(&Client, &Things) -> Events,
}

impl StreamRow {
    /// Of the watcher's stream nobody says how large an event may be.
    pub(crate) fn takes_large_events(&self) -> bool {
        !self.from_start
    }

    fn quiet(&self) -> Duration {
        if self.from_start { QUIET } else { WATCHED_QUIET }
    }

    fn need(&self) -> Need {
        if self.from_start { Need::Working } else { Need::Later }
    }
}

pub(crate) static ROWS: [StreamRow; 3] = [
    StreamRow {
        name: "MandateEvents::stream",
        of_mandate: true,
        from_start: true,
        step: 1,
        open: |client, things| {
            let events = client.mandate(&things.mandate).events().stream().resume_after(START);
            events.max_reconnects(RECONNECTS).max_event_bytes(SMALL_EVENT).boxed()
        },
    },
    StreamRow {
        name: "Events::stream",
        of_mandate: false,
        from_start: true,
        step: 7,
        open: |client, _| {
            let events = client.events().stream().resume_after(START);
            events.max_reconnects(RECONNECTS).max_event_bytes(SMALL_EVENT).boxed()
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

/// A world in which something is about to happen, and who follows it.
pub(crate) struct Scene {
    row: &'static StreamRow,
    world: World,
    /// What happened before a stream begins that does not tell of it.
    skipped: usize,
}

impl Scene {
    pub(crate) async fn set(row: &'static StreamRow) -> Self {
        let world = World::with(row.need()).await;
        let mut scene = Self { row, world, skipped: 0 };
        scene.begin().await;
        scene
    }

    pub(crate) async fn renew(&mut self) {
        self.world.renew(self.row.need()).await;
        self.begin().await;
    }

    async fn begin(&mut self) {
        self.skipped = if self.row.from_start { 0 } else { happened(self.row, &self.world).await.len() };
    }

    /// Runs a cell, and says what came of it, or what did not hold.
    pub(crate) async fn run(&self, column: &Column, mode: Mode, wires: &Wires) -> Result<String, String> {
        let times = if mode == Mode::Once { 1 } else { u32::MAX };
        let (raw, kept_alive) = match column.trouble {
            Trouble::Local(fault) => {
                let server = &self.world.server;
                server.fault(fault("id").on_streams().times(times));
                let builder = Client::builder().api_key(server.api_key()).http_service(server.service());
                return self.play(&builder.build().unwrap()).await;
            }
            Trouble::Raw(raw) => (raw, false),
            Trouble::KeptAlive(raw) => (raw, true),
            Trouble::EveryByte => unreachable!("it has runs of its own"),
        };
        let server = RawServer::start(self.world.server.service());
        let client = wires.client(&server.url).build().unwrap();
        if kept_alive {
            client.agents().get(&self.world.things.agent).await.unwrap();
        }
        server.plan(Plan { raw, method: None, times: times as usize });
        let outcome = self.play(&client).await?;
        let largest = if self.row.takes_large_events() { MAX_EVENT_BYTES } else { SMALL_EVENT };
        let allowed = server.met().max(1) * (largest + ON_THE_WAY);
        check(server.sent() <= allowed, || format!("{} bytes were taken", server.sent()))?;
        Ok(outcome)
    }

    async fn play(&self, client: &Client) -> Result<String, String> {
        let events = (self.row.open)(client, &self.world.things);
        let followed = tokio::spawn(follow(events, self.row.quiet(), usize::MAX, Duration::ZERO)).await;
        let followed = followed.map_err(|panic| format!("it panicked: {panic}"))?;
        self.world.server.clear_faults();
        judge(&happened(self.row, &self.world).await[self.skipped..], &followed)
    }
}

/// The stream when its connection ends after each number of bytes in turn, up to the end of what the first sends.
pub(crate) async fn cut(row: &'static StreamRow, wires: &Wires, tally: &Tally) {
    let mut scene = Scene::set(row).await;
    if row.from_start {
        scene.world.renew(Need::Ended).await;
    }
    let happened = happened(row, &scene.world).await;
    let every = (0..FIRST_BYTES).step_by(row.step);
    for after in every.chain((FIRST_BYTES..).step_by(MORE_BYTES)) {
        let server = RawServer::start(scene.world.server.service());
        let client = wires.client(&server.url).build().unwrap();
        server.plan(cuts::from(after, 1));
        let outcome = if row.from_start {
            let events = (row.open)(&client, &scene.world.things);
            judge(&happened, &follow(events, QUIET, happened.len(), Duration::from_secs(1)).await)
        } else {
            let outcome = scene.play(&client).await;
            scene.renew().await;
            outcome
        };
        let checked = outcome.and_then(|outcome| check(outcome.starts_with("whole"), || outcome));
        tally.add(&format!("cut after {after} | {}", row.name), checked);
        if server.cuts() == 0 {
            return;
        }
    }
}

struct Followed {
    events: Vec<Event>,
    error: Option<Error>,
    ended: bool,
}

/// Takes events until there is none for so long, and after enough of them for a shorter time.
async fn follow(mut events: Events, quiet: Duration, enough: usize, then: Duration) -> Followed {
    let mut followed = Followed { events: Vec::new(), error: None, ended: false };
    loop {
        let patience = if followed.events.len() < enough { quiet } else { then };
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
    let known: Vec<_> = came.iter().filter(|id| happened.contains(id)).cloned().collect();
    let lost = || format!("events were lost: of {happened:?} came {known:?}");
    if let Some(error) = &followed.error {
        check(followed.ended, || "it went on after its error".to_owned())?;
        no_secrets(error)?;
        // What came before it came in order, and none was left out in between.
        check(happened.starts_with(&known), lost)?;
        return Ok(told(error));
    }
    let what = match known.len() {
        _ if followed.ended && happened.starts_with(&known) => "the end",
        0 => "nothing",
        _ if known == happened => "whole",
        count if count == happened.len() && !followed.ended => "whole, swapped",
        _ => return Err(lost()),
    };
    Ok(if known.len() < came.len() { format!("{what}, and more") } else { what.to_owned() })
}
