//! A local server that speaks the contract of the service, for building and testing without a key, a network
//! or a wait.
//!
//! [`LocalServer::start`] runs a real HTTP server on a free port of this machine, inside your runtime, with
//! its state in memory. Everything is kept and checked as the service does it; what an agent *does* is
//! simulated. A mandate is queued, takes each of its granted actions once inside its limits, asks a person where
//! it has to, waits a moment for a reply, checks its success criteria, and is done. Nothing is ever sent to
//! anyone, but what you [connect](LocalServer::connect) really runs.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> shadway::Result<()> {
//! use shadway::agents::AgentCreateParams;
//! use shadway::local::LocalServer;
//! use shadway::mandates::{MandateCreateParams, MandateStatus};
//!
//! let server = LocalServer::start().await?;
//! let client = server.client()?;
//!
//! let agent = client
//!     .agents()
//!     .create(AgentCreateParams::new("Assistant", "your-provider/your-model").capabilities(["email.send"]))
//!     .await?;
//! let mandate = client.mandates().create(MandateCreateParams::new(&agent.id, "Ask for a quote.")).await?;
//!
//! let done = client.mandate(&mandate.id).wait().await?;
//! assert_eq!(done.status, MandateStatus::Completed);
//! println!("{}", done.current_state.summary);
//!
//! server.shutdown().await;
//! # Ok(())
//! # }
//! ```
//!
//! # Time
//!
//! A server has one clock, which says when things happen and what time it is in all that it answers. By default
//! it is [automatic](LocalClock::Automatic): it jumps to what is due next while a client waits for it, so that a
//! week of work is over in milliseconds, but never past the time a person has to decide.
//! [`LocalServer::builder`] takes others: one that [you move](LocalClock::Manual), one that runs
//! [as this machine's](LocalClock::Real), or [faster](LocalClock::Faster).
//!
//! # Without sockets
//!
//! [`LocalServer::service`] is the same server as a transport in memory. Its time passes with tokio's, so that it
//! can be used in a test with a paused clock, if client and server run in one current-thread runtime.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> shadway::Result<()> {
//! use shadway::Client;
//! use shadway::local::LocalServer;
//!
//! let server = LocalServer::start().await?;
//! let client = Client::builder().api_key(server.api_key()).http_service(server.service()).build()?;
//! assert!(client.agents().list(Default::default()).await?.data.is_empty());
//! # Ok(())
//! # }
//! ```
//!
//! # What holds here
//!
//! Documented by the service, and enforced:
//!
//! - A change under an idempotency key that came before gets the first answer; another request under that
//!   key is refused.
//! - A change to an agent's name, model, instructions, capabilities or settings makes a new revision; a
//!   mandate keeps the one it began with. A disabled agent takes no new mandates.
//! - A mandate can be given only actions that its agent has, that the workspace knows and that can run.
//!   `mailbox.search` and `mailbox.get_attachment` can't, and one of your own only once it is registered and
//!   connected.
//! - What is prohibited never runs. `maximum_actions`, `maximum_read_actions`, the limits and rates of
//!   capabilities, the spending limit and the rules block an action, which is recorded as blocked.
//! - An action named in `require_approval_for`, above `spend_approval_threshold` or irreversible waits for a
//!   person, seven days at most and not past the mandate's `expires_at`. The first decision wins, the same one again gives its result, the opposite one
//!   is a conflict. An approved action runs once and as it was shown, if the limits still allow it; a rejection
//!   refuses the action, not the mandate. Nobody's decision pauses the mandate, and resumed it asks again.
//!   The inputs given with an approval go to that one run, and the server puts them into no answer, event or
//!   record. Where a name or a single value in the result of a function of your own, or its error, repeats one
//!   as it was given, `[hidden]` takes its place; one of fewer than four characters is hidden where it is a
//!   whole value or a word of its own. What a function makes of an input, such as a part of it or another
//!   spelling, is kept as it returns it.
//! - An amendment replaces all limits at the next step. A stale version is a conflict.
//! - A pause takes effect when the work stops, a cancellation at the next safe point: the end of the present
//!   step. A command that does not apply to the status is a conflict. A mandate past its `expires_at` ends
//!   expired. Canceling clears what waits for approval.
//! - A mandate with success criteria completes only if confirmed facts satisfy all of them; otherwise it has
//!   failed, with an issue for each that does not hold. Each fact has a source, and evidence that quotes an
//!   artifact.
//! - Events have a sequence that rises within their mandate, with gaps. The last of a mandate is its final
//!   status: what still runs when a mandate expires runs to its end, and its outcome is not recorded.
//! - A phone takes a moment to be set up, then shows its number; everything else is ready at once.
//! - A webhook endpoint's secret is shown once.
//!
//! Simulated, so not to be relied on:
//!
//! - Which actions are taken, with which arguments, who answers and what. The arguments fit the input's schema
//!   as far as a sample can, and the words of the objective.
//! - A fact that a success criterion names and that no capability of your own reports is made up so as to satisfy
//!   it, as long as at least one action was done. What your own function returns counts as confirmed, whatever
//!   its `verify` says; the service confirms it by its own check.
//!
//! Not here: deliveries to webhook endpoints (they are kept and none is sent to), quiet hours, requests for
//! information, and outcomes that stay unknown. No key is ever in progress, since one request is dealt with at a
//! time. The last 100,000 events are kept, all else as long as the server lives, and none of it is
//! wiped from memory: give it no real secret.
//!
//! Assumed, since the service publishes no reference: the paths, every status and code of a refusal, the
//! envelope of lists and errors, and the statuses a command applies to. Lists are in the order of creation. A
//! mandate's first event is the first change of its status, not its creation. Whether an unknown field in a body
//! is refused is not known; here it is ignored, but for the fixed fields of a capability and the inputs of a
//! rejection.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use bytes::Bytes;
use http_body_util::Full;
use jiff::Timestamp;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tower_service::Service as _;

use crate::client::Client;
use crate::error::Result;
use crate::resources::capabilities::Executor;
use crate::transport::{Body, HttpError, HttpFuture, HttpService};

mod agent;
mod answer;
mod builder;
mod capabilities;
mod clock;
mod course;
mod handlers;
mod idempotency;
mod incoming;
mod router;
mod shared;
mod stream;
mod traffic;
mod workspace;

pub use builder::LocalServerBuilder;
pub use clock::LocalClock;
use shared::Shared;

/// The one key a local server accepts: a constant, and no secret.
const API_KEY: &str = "sk_test_local";
/// How long a shutdown waits for requests that are under way.
const GRACE: Duration = Duration::from_secs(5);

/// A running local server. Dropping it stops it.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> shadway::Result<()> {
/// use shadway::local::LocalServer;
///
/// let server = LocalServer::start().await?;
/// // What a program needs to use it instead of the service:
/// println!("SHADWAY_BASE_URL={} SHADWAY_API_KEY={}", server.url(), server.api_key());
/// # Ok(())
/// # }
/// ```
pub struct LocalServer {
    url: String,
    router: Router,
    shared: Arc<Shared>,
    /// Dropped to tell the server that it is over.
    stop: Option<oneshot::Sender<()>>,
    serving: JoinHandle<()>,
    moving: JoinHandle<()>,
}

impl LocalServer {
    /// Starts a server on a free port of this machine, as [`builder`](Self::builder) does by default.
    ///
    /// # Errors
    /// As [`LocalServerBuilder::start`].
    pub async fn start() -> Result<Self> {
        Self::builder().start().await
    }

    /// A server with another clock, at an address of your choice, or with the same ids in each run.
    pub fn builder() -> LocalServerBuilder {
        LocalServerBuilder::new()
    }

    /// Where it listens, such as `http://127.0.0.1:49152`.
    #[must_use]
    pub fn url(&self) -> &str {
        &self.url
    }

    /// The one key it accepts.
    #[must_use]
    pub fn api_key(&self) -> &str {
        API_KEY
    }

    /// A client of this server, over HTTP.
    ///
    /// # Errors
    /// As [`ClientBuilder::build`](crate::ClientBuilder::build).
    pub fn client(&self) -> Result<Client> {
        Client::builder().api_key(API_KEY).base_url(&self.url).build()
    }

    /// The same server as a transport in memory, for
    /// [`ClientBuilder::http_service`](crate::ClientBuilder::http_service): the same state, no socket.
    #[must_use]
    pub fn service(&self) -> LocalService {
        LocalService { router: self.router.clone(), shared: Arc::clone(&self.shared) }
    }

    /// Gives a capability of your own something that runs it: a defined one, or an [`Executor`].
    ///
    /// Once it is also [registered](crate::capabilities::Capabilities::register), before or after, it is
    /// available: mandates can use it, and its function is really called, in this process and in the server's
    /// runtime, with arguments made up to fit its input. What it returns becomes facts. Connected under the name
    /// of a capability that comes with the workspace, it takes the place of the simulation.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// use serde_json::json;
    /// use shadway::agents::AgentCreateParams;
    /// use shadway::capabilities::{CapabilityRegisterParams, Executor};
    /// use shadway::local::LocalServer;
    /// use shadway::mandates::{MandateCreateParams, MandateStatus};
    /// use shadway::types::RawJson;
    ///
    /// let server = LocalServer::start().await?;
    /// let client = server.client()?;
    /// let track = CapabilityRegisterParams::new(
    ///     "shipping.get_status",
    ///     "Look up a shipment.",
    ///     json!({"type": "object", "properties": {"reference": {"type": "string"}}}),
    ///     json!({"type": "object", "properties": {"delivered": {"type": "boolean"}}}),
    /// );
    /// client.capabilities().register(track).await?;
    /// server.connect(Executor::new("shipping.get_status", |_input: RawJson| async {
    ///     Ok::<_, std::io::Error>(RawJson::from(json!({"delivered": true})))
    /// }));
    ///
    /// let params = AgentCreateParams::new("Tracker", "your-provider/your-model");
    /// let agent = client.agents().create(params.capabilities(["shipping.get_status"])).await?;
    /// let mandate = client.mandates().create(MandateCreateParams::new(&agent.id, "Is it there?")).await?;
    /// let work = client.mandate(&mandate.id);
    /// assert_eq!(work.wait().await?.status, MandateStatus::Completed);
    /// let facts = work.facts().list().await?;
    /// assert_eq!(facts.data[0].value.get(), "true");
    /// # Ok(())
    /// # }
    /// ```
    pub fn connect(&self, executor: impl Into<Executor>) {
        let executor = executor.into();
        self.shared.with(|workspace, _| workspace.connect(executor));
    }

    /// What time it is on the server: the time of all that it says.
    #[must_use]
    pub fn now(&self) -> Timestamp {
        self.shared.now()
    }

    /// Moves the server's time on, whatever its clock, and lets all happen that is due until then: each thing at
    /// its own time, one after the other. What was connected is waited for, 5 s of this machine's time at most.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// use std::time::Duration;
    ///
    /// use shadway::agents::AgentCreateParams;
    /// use shadway::local::{LocalClock, LocalServer};
    /// use shadway::mandates::{MandateCreateParams, MandateStatus};
    ///
    /// let server = LocalServer::builder().clock(LocalClock::Manual).start().await?;
    /// let client = server.client()?;
    /// let agent = client.agents().create(AgentCreateParams::new("Assistant", "your-provider/your-model")).await?;
    /// let mandate = client.mandates().create(MandateCreateParams::new(&agent.id, "Think.")).await?;
    ///
    /// // Nothing happens until time goes on.
    /// let work = client.mandate(&mandate.id);
    /// assert_eq!(work.get().await?.status, MandateStatus::Queued);
    /// server.advance(Duration::from_secs(60)).await;
    /// assert_eq!(work.get().await?.status, MandateStatus::Completed);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn advance(&self, by: Duration) {
        self.shared.advance(by).await;
    }

    /// Moves the server's time on to what is due next, and says when that was; `None` when nothing is due. The
    /// end of the time a person was given counts too.
    pub async fn skip_to_next(&self) -> Option<Timestamp> {
        self.shared.skip_to_next().await
    }

    /// Stops the server: answers the requests that are under way, and returns when the port is closed.
    ///
    /// A request that takes longer than 5 s to come in is not waited for.
    pub async fn shutdown(mut self) {
        self.stop();
        // Either way it has stopped listening: the port is the first thing it gives up.
        let _ = tokio::time::timeout(GRACE, &mut self.serving).await;
    }

    fn stop(&mut self) {
        self.shared.stop();
        self.stop = None;
        self.moving.abort();
    }
}

impl Drop for LocalServer {
    fn drop(&mut self) {
        self.stop();
    }
}

impl fmt::Debug for LocalServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalServer").field("url", &self.url).finish_non_exhaustive()
    }
}

/// A [`LocalServer`] as a transport in memory, from [`LocalServer::service`].
///
/// It does not keep the server alive: once that is stopped or dropped, no connection can be made.
#[derive(Clone)]
pub struct LocalService {
    router: Router,
    shared: Arc<Shared>,
}

impl HttpService for LocalService {
    fn call(&self, request: http::Request<Bytes>) -> HttpFuture<'_> {
        let mut router = self.router.clone();
        Box::pin(async move {
            if self.shared.stopped.load(Ordering::Relaxed) {
                return Err(HttpError::connect("the local server has been stopped"));
            }
            match router.call(request.map(Full::new)).await {
                Ok(response) => Ok(response.map(Body::new)),
                Err(never) => match never {},
            }
        })
    }
}

impl fmt::Debug for LocalService {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalService").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
