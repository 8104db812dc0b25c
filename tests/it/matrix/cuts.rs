//! An answer that ends after each of its bytes: the call is made again, and its change isn't.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http::response::Parts;
use http_body_util::{BodyExt as _, Full};
use shadway::local::LocalService;
use shadway::transport::{Body, HttpFuture, HttpService};

use super::Tally;
use super::calls::Row;
use super::cell::{Wires, check, describe, is_as, timed};
use super::world::{Effect, World};
use crate::support::raw::{Plan, Raw, RawServer};

/// So many answers in a row are cut, each a byte later, before one is whole: to see each cut got over on its own would
/// take twice as long. A client's budget has enough for four times as many retries.
const IN_A_ROW: usize = 25;
/// Of the first answer to a wait, up to where it ends, every so many: a wait takes as long as twenty calls, and what it
/// reads is the row of a call.
const WAIT_STEP: usize = 93;
const FIRST_ANSWER: usize = 1_200;
/// The same change each time, which the server gives the first answer to.
const KEY: &str = "the-same-each-time";

pub(crate) struct Cuts<'a> {
    pub(crate) row: &'a Row,
    pub(crate) wires: &'a Wires,
    pub(crate) tally: &'a Tally,
}

impl Cuts<'_> {
    /// The cuts of a call's own answer, at every byte; of a walk over a list, of the first page.
    pub(crate) async fn of_call(&self) {
        let world = World::with(self.row.need).await;
        let before = world.count(self.row.effect.clone()).await;
        let server = RawServer::start(Again::new(world.server.service()));
        let client = self.wires.client(&server.url).max_retries(IN_A_ROW as u32).build().unwrap();
        let make = || timed((self.row.make)(&client, &world.things, Some(KEY.to_owned())));
        let whole = make().await.map(|(ended, _)| describe(&ended));
        self.add(1, "nothing", whole, "ok");
        let length = server.sent();
        loop {
            let cut = server.cuts();
            server.plan(from(cut, IN_A_ROW));
            let outcome = make().await.map(|(ended, _)| describe(&ended));
            let cuts = server.cuts() - cut;
            let expected = if cuts == 0 { "ok".to_owned() } else { format!("ok ×{}", cuts + 1) };
            self.add(cuts, &format!("{cuts} times from {cut} on"), outcome, &expected);
            if cuts < IN_A_ROW {
                break;
            }
        }
        let one_answer = self.row.requests == 1 || self.row.reads_first();
        let all = if one_answer { server.cuts() == length } else { server.cuts() > length / 4 };
        let checked = check(all, || format!("{} cuts of {length} bytes", server.cuts()));
        self.tally.add_all(0, self.row.name, checked);
        if !matches!(self.row.effect, Effect::None) {
            let made = world.count(self.row.effect.clone()).await - before;
            self.tally.add(self.row.name, check(made == 1, || format!("it was done {made} times")));
        }
    }

    /// Those of the first thing that a wait asks for.
    pub(crate) async fn of_wait(&self) {
        let mut world = World::with(self.row.need).await;
        for after in (0..FIRST_ANSWER).step_by(WAIT_STEP) {
            let server = RawServer::start(world.server.service());
            let client = self.wires.client(&server.url).build().unwrap();
            server.plan(from(after, 1));
            let ended = timed((self.row.make)(&client, &world.things, None)).await;
            self.add(1, &after.to_string(), ended.map(|(ended, _)| describe(&ended)), "ok");
            world.renew(self.row.need).await;
        }
    }

    fn add(&self, cells: usize, after: &str, outcome: Result<String, String>, expected: &str) {
        let checked = outcome
            .and_then(|outcome| check(is_as(&outcome, expected), || format!("{outcome}, not {expected}")));
        self.tally.add_all(cells, &format!("cut after {after} | {}", self.row.name), checked);
    }
}

/// Gives the same request the same answer, without asking the server again.
#[derive(Debug)]
struct Again {
    service: LocalService,
    given: Arc<Mutex<BTreeMap<String, (Parts, Bytes)>>>,
}

impl Again {
    fn new(service: LocalService) -> Self {
        Self { service, given: Arc::default() }
    }
}

impl HttpService for Again {
    fn call(&self, request: http::Request<Bytes>) -> HttpFuture<'_> {
        Box::pin(async move {
            let what = format!("{request:?}");
            let known = self.given.lock().unwrap().get(&what).cloned();
            let (parts, body) = match known {
                Some(answer) => answer,
                None => {
                    let (parts, body) = self.service.call(request).await?.into_parts();
                    let answer = (parts, body.collect().await.unwrap().to_bytes());
                    self.given.lock().unwrap().insert(what, answer.clone());
                    answer
                }
            };
            Ok(http::Response::from_parts(parts, Body::new(Full::new(body))))
        })
    }
}

/// So many of the next answers end early, the first after so many bytes.
pub(crate) fn from(after: usize, times: usize) -> Plan {
    Plan { raw: Raw::Cut { after }, method: None, times }
}
