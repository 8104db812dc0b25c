//! An answer that ends after each of its bytes: the call is made again, and its change isn't.

use super::calls::Row;
use super::cell::{Wires, check, describe, is_as, timed};
use super::world::{Effect, World};
use crate::support::raw::{Plan, Raw, RawServer};

/// Of these every byte; of the others every so many, each from another one on, and the last.
const WHOLE: [&str; 4] =
    ["Agents::get", "Mandates::create", "Approvals::approve", "WebhookEndpoints::delete"];
const STEP: usize = 23;
/// Where the first answer to a wait ends.
const FIRST_ANSWER: usize = 1_200;
/// The same change each time, which the server gives the first answer to.
const KEY: &str = "the-same-each-time";

/// How many runs it were.
pub(crate) async fn of_call(row: &Row, number: usize, wires: &Wires) -> Result<usize, String> {
    let world = World::with(row.need).await;
    let before = world.count(row.effect.clone()).await;
    let server = RawServer::start(world.server.service());
    let client = wires.client(&server.url).build().unwrap();
    let key = || Some(KEY.to_owned());
    let (whole, _) = timed((row.make)(&client, &world.things, key())).await?;
    check(whole.is_ok(), || describe(&whole))?;
    // A walk over a list has more than one answer, all alike.
    let length = server.sent() / if row.reads_first() { 1 } else { row.requests as usize };
    let step = if WHOLE.contains(&row.name) { 1 } else { STEP };
    let bytes: Vec<_> = (number % step..length - 1).step_by(step).chain([length - 1]).collect();
    for after in &bytes {
        let raw = Raw::Cut { after: *after, reset: after % 2 == 0 };
        server.plan(Plan { raw, method: None, times: 1 });
        let (ended, _) = timed((row.make)(&client, &world.things, key())).await?;
        let outcome = describe(&ended);
        check(is_as(&outcome, "ok ×2"), || format!("after {after} of {length} bytes: {outcome}"))?;
    }
    check(server.cuts() == bytes.len(), || format!("{} answers were cut", server.cuts()))?;
    if !matches!(row.effect, Effect::None) {
        let made = world.count(row.effect.clone()).await - before;
        check(made == 1, || format!("it was done {made} times"))?;
    }
    Ok(bytes.len())
}

/// The same of the first thing that a wait asks for.
pub(crate) async fn of_wait(row: &Row, wires: &Wires) -> Result<usize, String> {
    let bytes: Vec<_> = (0..FIRST_ANSWER).step_by(4 * STEP + 1).collect();
    for after in &bytes {
        let world = World::with(row.need).await;
        let server = RawServer::start(world.server.service());
        let client = wires.client(&server.url).build().unwrap();
        server.plan(Plan { raw: Raw::Cut { after: *after, reset: after % 2 == 0 }, method: None, times: 1 });
        let (ended, _) = timed((row.make)(&client, &world.things, None)).await?;
        let outcome = describe(&ended);
        check(is_as(&outcome, "ok"), || format!("after {after} bytes: {outcome}"))?;
    }
    Ok(bytes.len())
}
