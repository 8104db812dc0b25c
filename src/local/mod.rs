//! A local server that speaks the contract of the service, for building and testing without a key, a network
//! or a wait.
//!
//! [`LocalServer::start`] runs a real HTTP server on a free port of this machine, inside your runtime, with
//! its state in memory. Everything is kept and checked as the service does it; what an agent *does* is
//! simulated. Say it with a [`Script`], or leave it to the server: then a mandate is queued, takes each of its granted
//! actions once inside its limits, asks a person where it has to, waits a moment for a reply, checks its success
//! criteria, and is done. No action reaches anyone, but what you [connect](LocalServer::connect) really runs, and
//! webhook endpoints really get their deliveries.
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
//! # Faults
//!
//! Whatever a network or a service in trouble does to a client, it does here on demand: [`LocalServer::fault`] takes
//! a [`Fault`], which says what goes wrong, with which requests or deliveries and how often. Answers are refused, late, cut short,
//! changed or lost after the change was made; streams break, fall silent, repeat themselves. Over sockets and in
//! memory the same happens, and with a [seed](LocalServerBuilder::seed) it happens again in the next run.
//! [`LocalServer::revoke_key`] takes the key back while your program runs.
//!
//! [Deliveries to webhook endpoints](#webhooks) come [badly signed](Fault::bad_signature),
//! [signed long ago](Fault::old_signature), [with the signature twice](Fault::doubled_signature),
//! [twice](Fault::duplicate_delivery), or [in another order](Fault::reorder_deliveries). What a receiver refuses comes
//! again, and rightly signed once the fault has happened as [often](Fault::times) as it may.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> shadway::Result<()> {
//! use std::time::Duration;
//!
//! use http::Method;
//! use shadway::Client;
//! use shadway::agents::AgentCreateParams;
//! use shadway::local::{Fault, LocalServer};
//! use shadway::mandates::{MandateCreateParams, MandateStatus};
//!
//! let server = LocalServer::builder().seed(7).start().await?;
//! let client = Client::builder().api_key(server.api_key()).http_service(server.service()).build()?;
//! server.fault(Fault::status(429).retry_after(Duration::from_secs(1)).on(Method::POST, "/v1/agents").times(1));
//! server.fault(Fault::drop_answer().on(Method::POST, "/v1/mandates").times(1));
//! server.fault(Fault::cut_after(1).on_streams());
//! server.fault(Fault::bad_gateway().on(Method::GET, "/v1/mandates/{id}").probability(0.2));
//!
//! // A program that works, works all the same.
//! let agent = client.agents().create(AgentCreateParams::new("Assistant", "your-provider/your-model")).await?;
//! let mandate = client.mandates().create(MandateCreateParams::new(&agent.id, "Think.")).await?;
//! let done = client.mandate(&mandate.id).wait().await?;
//! assert_eq!(done.status, MandateStatus::Completed);
//! # Ok(())
//! # }
//! ```
//!
//! # Inspection
//!
//! A test can look at what the server got and made of it: [`LocalServer::requests`], [`LocalServer::mandates`], and
//! [`LocalServer::approvals`], where the person in the test waits for what to decide.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread", start_paused = true)]
//! # async fn main() -> shadway::Result<()> {
//! # use shadway::Client;
//! # use shadway::agents::AgentCreateParams;
//! # use shadway::local::{Fault, LocalServer};
//! # use shadway::mandates::MandateCreateParams;
//! # let server = LocalServer::start().await?;
//! # let client = Client::builder().api_key(server.api_key()).http_service(server.service()).build()?;
//! # let agent = client.agents().create(AgentCreateParams::new("Assistant", "your-provider/your-model")).await?;
//! server.fault(Fault::drop_answer().on(http::Method::POST, "/v1/mandates").times(2));
//! client.mandates().create(MandateCreateParams::new(&agent.id, "Ask for a quote.")).await?;
//!
//! let requests = server.requests();
//! assert_eq!(requests.iter().filter(|request| request.route == "/v1/mandates").count(), 3, "three attempts");
//! assert_eq!(server.mandates().len(), 1, "one mandate");
//! # Ok(())
//! # }
//! ```
//!
//! # Webhooks
//!
//! Each event is really sent to the endpoints that want it, by HTTP and signed, so that a receiver can be tried out
//! from its signature check to its retries: an endpoint on this machine may be http.
//! [`deliveries`](LocalServer::deliveries) is the log, [`redeliver`](LocalServer::redeliver) makes a duplicate.
//!
//! Documented by the service: the headers, the event as the body, one id for all attempts of a delivery, a retry
//! after any answer but a 2xx and after none in time, with at most an hour in between, and after a rotation a
//! signature for each active secret. Deliveries can overtake each other.
//!
//! Assumed: an endpoint has 10 s to answer, and redirects are not followed; a delivery is tried 12 times, after 5 s,
//! 20 s, 80 s and so on up to an hour; a replaced secret stays active for 24 hours, but no more than 16 are; an
//! endpoint that is disabled or deleted gets nothing more, not even what it missed. A change of its URL holds for
//! retries too.
//!
//! Here only: at most 8 deliveries to one endpoint are under way at a time. The last 10,000 are kept; those that are
//! over are forgotten first, then the oldest that nobody takes. No proxy is asked. What a shutdown finds under way
//! is broken off. Retries follow the clock of the server, signatures have the time of day. In a test with a paused
//! clock the receiver too runs in the server's current-thread runtime.
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
//!   connected, or a script acts with it.
//! - What is prohibited never runs. `maximum_actions`, `maximum_read_actions`, the limits and rates of
//!   capabilities, the spending limit, the rules and the quiet hours block an action, which is recorded as blocked.
//!   What spends has to say how much. Quiet hours are told by the server's time and a database of time zones that is
//!   built in; an agent without a script waits until they are over.
//! - An action named in `require_approval_for`, above `spend_approval_threshold`, or risky and irreversible waits for
//!   a person, and so does one that spends and rests on a fact that is not confirmed: seven days at most and not past
//!   the mandate's `expires_at`. The first decision wins, the same one again gives its result, the opposite one
//!   is a conflict. An approved action runs once and as it was shown, if the limits still allow it; a rejection
//!   refuses the action, not the mandate. Nobody's decision pauses the mandate, and resumed it asks again.
//! - A question to a person is an approval of `input.provide`. The inputs given with an approval go to that one run,
//!   those given with an answer to the next action, and the server puts them into no answer, event or
//!   record. Where a name or a single value in the result of a function of your own, or its error, repeats one
//!   as it was given, `[hidden]` takes its place; one of fewer than four characters is hidden where it is a
//!   whole value or a word of its own. What a function makes of an input, such as a part of it or another
//!   spelling, is kept as it returns it.
//! - A mandate waits only for a reply to what really went out, and only a matching one wakes it. One that comes early
//!   is kept. After 24 hours, or the limit of the wait, the agent goes on without it.
//! - An action whose answer never comes has neither failed nor been done. What is safe to repeat is repeated once,
//!   what can be checked is checked, and all else stays unknown and is not tried again. What you connect has ten
//!   minutes to answer, and no checker.
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
//! - A webhook endpoint's secret is shown once, and [what happens is delivered to it](#webhooks).
//!
//! Simulated, so not to be relied on:
//!
//! - Without a script: which actions are taken, with which arguments, who answers and what. The arguments fit the
//!   input's schema as far as a sample can, and the words of the objective.
//! - A fact that a success criterion names and that no capability of your own reports is made up so as to satisfy
//!   it, as long as at least one action was done and no script [says that it is complete](Script::complete). What your
//!   own function returns counts as confirmed, whatever its `verify` says; the service confirms it by its own check.
//! - A fact counts as outside data that an action rests on if its value is the amount, or that of the argument of its
//!   name. That this is what the service means is assumed, as is that whatever spends is costly.
//!
//! Not here, with the reason:
//!
//! - Live mode: there is nothing live. A wait for free capacity: there is always some.
//! - Facts that go stale or contradict each other by themselves: nothing here changes outside of a mandate. A script
//!   can [write such a fact](Script::fact).
//! - A checker for what you connect: the docs name none that a client could give. A script
//!   [says what a check finds](Script::unclear).
//! - Events for findings: the docs name no type for them. They are in the record.
//! - A phone that needs a person, or fails to be set up, and a refusal of a mandate that uses one before it is ready:
//!   it is ready after a moment.
//! - A key in progress: one request is dealt with at a time, unless a [fault](Fault::code) says otherwise.
//!
//! The last 100,000 events are kept, all else but deliveries as long as the server lives, and none of it is wiped from
//! memory: give it no real secret.
//!
//! Assumed of limits: without a spending limit an action need not say what it spends; of several amounts in the
//! arguments the largest counts; an action whose `to` is no text can be answered by anybody.
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

use bytes::Bytes;
use jiff::Timestamp;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use crate::client::Client;
use crate::error::Result;
use crate::model::types::MandateId;
use crate::resources::capabilities::Executor;
use crate::transport::{Body, HttpError, HttpFuture, HttpService};

mod agent;
mod answer;
mod builder;
mod capabilities;
mod clock;
mod control;
mod course;
mod deliveries;
mod entry;
mod faults;
mod handlers;
mod idempotency;
mod incoming;
mod inspection;
mod requests;
mod router;
mod scenario;
mod script;
mod sending;
mod shared;
mod sockets;
mod stream;
mod traffic;
mod workspace;

pub use agent::Check;
pub use builder::LocalServerBuilder;
pub use clock::LocalClock;
pub use deliveries::{DeliveryAttempt, DeliveryOutcome, DeliveryRecord, DeliveryState, RedeliverError};
use entry::Entry;
pub use faults::Fault;
pub use inspection::LocalApprovals;
pub use requests::RequestRecord;
pub use scenario::{Loaded, Scenario};
pub use script::{Replied, Script, days, hours, minutes};
use shared::Shared;
use workspace::Mail;

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
    shared: Arc<Shared>,
    entry: Entry,
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
        LocalService { entry: self.entry.clone() }
    }

    /// Gives a capability of your own something that runs it: a defined one, or an [`Executor`].
    ///
    /// Once it is also [registered](crate::capabilities::Capabilities::register), before or after, it is
    /// available: mandates can use it, and its function is really called, in this process and in the server's
    /// runtime, with the arguments of a [`Script`], or some that are made up to fit its input. What it returns becomes
    /// facts. Connected under the name of a capability that comes with the workspace, it takes the place of the
    /// simulation. One that has not answered after ten minutes of the server's time has an unclear outcome.
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

    /// Says what the agent does in all mandates that are created from now on and that the script is for. Of several
    /// that fit the one given last is followed.
    pub fn script(&self, script: Script) {
        self.shared.with(|workspace, _| workspace.script(script));
    }

    /// Lets somebody reply to a mandate now, from outside of its script: whoever an action went to, such as
    /// `sales@atlas.example`. It takes the place of the reply that the script has for the present wait.
    ///
    /// Only a matching reply wakes a mandate, and one that comes early is kept (documented).
    pub fn reply(&self, mandate: &MandateId, from: impl Into<String>, text: impl Into<String>) -> Replied {
        let mail = Mail::new(from.into(), text.into());
        self.shared.with(|workspace, now| workspace.reply(mandate.as_str(), mail, now))
    }

    /// The log of deliveries to webhook endpoints, oldest first: what was sent, how it was taken, and what is still to
    /// come. Which are kept is [said above](self#webhooks).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use axum::{Router, http::StatusCode, routing::post};
    /// use shadway::agents::AgentCreateParams;
    /// use shadway::local::LocalServer;
    /// use shadway::mandates::MandateCreateParams;
    /// use shadway::webhooks::{VerifiedEvent, Verifier, WebhookEndpointCreateParams};
    ///
    /// async fn receive(delivery: VerifiedEvent) -> StatusCode {
    ///     println!("{} {}", delivery.id, delivery.event.event_type);
    ///     StatusCode::NO_CONTENT
    /// }
    ///
    /// let server = LocalServer::start().await?;
    /// let client = server.client()?;
    ///
    /// let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    /// let url = format!("http://{}/webhooks", listener.local_addr()?);
    /// let webhooks = client.webhooks();
    /// let created = webhooks.endpoints().create(WebhookEndpointCreateParams::new(url, ["*"])).await?;
    /// let verifier = Verifier::new(created.secret)?;
    /// let router = Router::new().route("/webhooks", post(receive)).with_state(verifier);
    /// tokio::spawn(async move { axum::serve(listener, router).await });
    ///
    /// let agent = client.agents().create(AgentCreateParams::new("A", "your-provider/your-model")).await?;
    /// let mandate = client.mandates().create(MandateCreateParams::new(&agent.id, "Say hello.")).await?;
    /// client.mandate(&mandate.id).wait().await?;
    ///
    /// let log = server.deliveries();
    /// println!("{}: {:?} after {} attempts", log[0].event_type, log[0].state, log[0].attempts.len());
    /// server.redeliver(&log[0].id)?; // the same id and the same event, once more
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn deliveries(&self) -> Vec<DeliveryRecord> {
        self.shared.with(|workspace, _| workspace.delivery_log())
    }

    /// How many deliveries were given up, and left out of the [log](Self::deliveries), since more than 10,000 had to be
    /// kept and none of them was over. Anything above zero says that an endpoint has taken nothing for long.
    #[must_use]
    pub fn dropped_deliveries(&self) -> u64 {
        self.shared.with(|workspace, _| workspace.dropped_deliveries())
    }

    /// Sends a delivery once more, whatever came of it: with the same id and the same body, and a new signature. If
    /// that fails, it is tried again like a new one.
    ///
    /// One that is under way follows once that is over.
    ///
    /// # Errors
    /// When the log has no delivery with this id, or its endpoint is not active.
    pub fn redeliver(&self, delivery: &str) -> std::result::Result<(), RedeliverError> {
        self.shared.with(|workspace, now| workspace.redeliver(delivery, now))
    }

    /// Forgets everything, as if the server had just been started: only its clock goes on, and what is connected stays
    /// connected. Open streams end.
    pub fn reset(&self) {
        self.shared.reset();
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
    entry: Entry,
}

impl HttpService for LocalService {
    fn call(&self, request: http::Request<Bytes>) -> HttpFuture<'_> {
        let entry = self.entry.clone();
        Box::pin(async move {
            if entry.shared.stopped.load(Ordering::Relaxed) {
                return Err(HttpError::connect("the local server has been stopped"));
            }
            match entry.answer(request.map(Into::into)).await {
                Ok(response) => Ok(response.map(Body::new)),
                Err(closed) => Err(HttpError::other(closed)),
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
