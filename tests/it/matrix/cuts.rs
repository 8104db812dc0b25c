//! An answer that ends after each of its bytes: the call is made again, and its change isn't.

use super::Tally;
use super::calls::Row;
use super::cell::{Wires, check, describe, is_as, timed};
use super::world::{Effect, World};
use crate::support::raw::{Plan, Raw, RawServer};

/// Of these every byte; of the others every so many, each from another one on, and the last: all bytes of all of them would
/// take minutes, and whatever the call, an answer is read by the same code.
const WHOLE: [&str; 4] =
    ["Agents::get", "Mandates::create", "Approvals::approve", "WebhookEndpoints::delete"];
const STEP: usize = 23;
/// Where the first answer to a wait ends.
const FIRST_ANSWER: usize = 1_200;
/// The same change each time, which the server gives the first answer to.
const KEY: &str = "the-same-each-time";

pub(crate) struct Cuts<'a> {
    pub(crate) row: &'a Row,
    pub(crate) wires: &'a Wires,
    pub(crate) tally: &'a Tally,
}

impl Cuts<'_> {
    /// The cuts of a call's own answer.
    pub(crate) async fn of_call(&self, number: usize) {
        let world = World::with(self.row.need).await;
        let before = world.count(self.row.effect.clone()).await;
        let server = RawServer::start(world.server.service());
        let client = self.wires.client(&server.url).build().unwrap();
        let make = || timed((self.row.make)(&client, &world.things, Some(KEY.to_owned())));
        let whole = make().await.map(|(ended, _)| describe(&ended));
        self.add("whole", whole, "ok");
        // A walk over a list has more than one answer, all alike.
        let length = server.sent() / if self.row.reads_first() { 1 } else { self.row.requests as usize };
        let step = if WHOLE.contains(&self.row.name) { 1 } else { STEP };
        for after in (number % step..length - 1).step_by(step).chain([length - 1]) {
            server.plan(cut(after));
            let cuts = server.cuts();
            let outcome = make().await.map(|(ended, _)| describe(&ended));
            // A link to an artifact is another each time, and not always as long.
            let expected = if server.cuts() > cuts { "ok ×2" } else { "ok" };
            self.add(&format!("{after} of {length}"), outcome, expected);
        }
        if !matches!(self.row.effect, Effect::None) {
            let made = world.count(self.row.effect.clone()).await - before;
            self.tally.add(self.row.name, check(made == 1, || format!("it was done {made} times")));
        }
    }

    /// Those of the first thing that a wait asks for.
    pub(crate) async fn of_wait(&self) {
        let mut world = World::with(self.row.need).await;
        for after in (0..FIRST_ANSWER).step_by(4 * STEP + 1) {
            let server = RawServer::start(world.server.service());
            let client = self.wires.client(&server.url).build().unwrap();
            server.plan(cut(after));
            let ended = timed((self.row.make)(&client, &world.things, None)).await;
            self.add(&after.to_string(), ended.map(|(ended, _)| describe(&ended)), "ok");
            world.renew(self.row.need).await;
        }
    }

    fn add(&self, after: &str, outcome: Result<String, String>, expected: &str) {
        let checked = outcome
            .and_then(|outcome| check(is_as(&outcome, expected), || format!("{outcome}, not {expected}")));
        self.tally.add(&format!("cut after {after} | {}", self.row.name), checked);
    }
}

/// The next answer ends after so many bytes, one way or the other.
pub(crate) fn cut(after: usize) -> Plan {
    Plan { raw: Raw::Cut { after, reset: after % 2 == 0 }, method: None, times: 1 }
}
