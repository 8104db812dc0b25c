//! The rows: every call that sends a request, as it is made.

use std::pin::Pin;
use std::time::Duration;

use futures_util::FutureExt as _;
use http::Method;
use shadway::call::Call;
use shadway::page::Page;
use shadway::{Client, Error};

use super::world::{Effect, Need, Things};

mod agents;
mod mandates;
mod workspace;

/// How a call ended: how many requests it took, if it says so.
pub(crate) type Ended = Result<Option<u32>, Error>;
pub(crate) type Making = Pin<Box<dyn Future<Output = Ended> + Send>>;

/// How long a wait may take; at its end comes one more read.
pub(crate) const WAIT: Duration = Duration::from_secs(60);
pub(crate) const LAST_READ: Duration = Duration::from_secs(5);

pub(crate) struct Row {
    /// As it is in the sources, `Type::method`.
    pub(crate) name: &'static str,
    /// The request that meets the faults.
    pub(crate) method: Method,
    pub(crate) route: &'static str,
    pub(crate) need: Need,
    pub(crate) effect: Effect,
    /// How many requests one after the other it makes when all is well: each has the client's timeout.
    pub(crate) requests: u32,
    /// A field of the answer that can't be missing.
    pub(crate) field: &'static str,
    pub(crate) make: fn(&Client, &Things, Option<String>) -> Making,
}

impl Row {
    fn new(
        name: &'static str,
        method: Method,
        route: &'static str,
        need: Need,
        make: fn(&Client, &Things, Option<String>) -> Making,
    ) -> Self {
        Self { name, method, route, need, make, effect: Effect::None, requests: 1, field: "id" }
    }

    /// Whether it reads before it changes something.
    pub(crate) fn reads_first(&self) -> bool {
        self.requests > 1 && self.method != Method::GET
    }

    fn read(
        name: &'static str,
        route: &'static str,
        need: Need,
        make: fn(&Client, &Things, Option<String>) -> Making,
    ) -> Self {
        Self::new(name, Method::GET, route, need, make)
    }

    fn post(
        name: &'static str,
        route: &'static str,
        need: Need,
        effect: Effect,
        make: fn(&Client, &Things, Option<String>) -> Making,
    ) -> Self {
        Self { effect, ..Self::new(name, Method::POST, route, need, make) }
    }
}

/// Sends a call, under this key if there is one.
fn send<T: Send + 'static>(call: Call<T>, key: Option<String>) -> Making {
    let call = match key {
        Some(key) => call.idempotency_key(key),
        None => call,
    };
    call.with_response().map(|answer| answer.map(|answer| Some(answer.attempts))).boxed()
}

/// Sends what is more than one call.
fn follow<T>(work: impl Future<Output = Result<T, Error>> + Send + 'static) -> Making {
    work.map(|done| done.map(|_| None)).boxed()
}

/// With an answer that has one item at least: an empty list would hide what happens to its items.
fn some<T: Send + 'static>(call: Call<Page<T>>) -> Making {
    async move {
        let answer = call.with_response().await?;
        assert!(!answer.value.data.is_empty(), "an empty list shows nothing");
        Ok(Some(answer.attempts))
    }
    .boxed()
}

pub(crate) fn rows() -> Vec<Row> {
    let groups = [
        agents::rows(),
        mandates::commands(),
        mandates::record(),
        mandates::waits(),
        workspace::approvals(),
        workspace::capabilities(),
        workspace::events(),
        workspace::webhook_endpoints(),
    ];
    groups.into_iter().flatten().collect()
}
