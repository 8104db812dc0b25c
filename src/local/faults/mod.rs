//! Faults on demand: what goes wrong, with which requests and deliveries, how often.

use std::time::Duration;

use http::Method;
use serde::Deserialize;
use serde_json::Value;

use super::LocalServer;
use crate::model::errors::ErrorCode;
use crate::model::events::EventType;

mod apply;
mod blocks;
mod body;
mod deliveries;
mod edit;
mod plan;
mod rules;

pub(crate) use apply::apply;
pub(crate) use deliveries::Dispatch;
pub(crate) use plan::Kind;
use plan::{Plan, Scope};
pub(crate) use rules::{Faults, Target};

impl LocalServer {
    /// Lets something go wrong from now on, for the requests or deliveries that the [`Fault`] is about.
    ///
    /// A request, or an attempt of a delivery, meets one fault at most: the first of those given that applies to it.
    /// One that has been applied as often as it may is gone.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> shadway::Result<()> {
    /// use std::time::Duration;
    ///
    /// use http::Method;
    /// use shadway::Client;
    /// use shadway::agents::AgentCreateParams;
    /// use shadway::local::{Fault, LocalServer};
    /// use shadway::mandates::MandateCreateParams;
    ///
    /// let server = LocalServer::start().await?;
    /// let client = Client::builder().api_key(server.api_key()).http_service(server.service()).build()?;
    /// let agent = client.agents().create(AgentCreateParams::new("Assistant", "your-provider/your-model")).await?;
    ///
    /// let busy = Fault::status(503).retry_after(Duration::from_secs(2));
    /// server.fault(busy.on(Method::POST, "/v1/mandates").times(2));
    /// let call = client.mandates().create(MandateCreateParams::new(&agent.id, "Ask for a quote."));
    /// assert_eq!(call.with_response().await?.attempts, 3);
    ///
    /// // Every connection of a stream is cut after one event, and none is lost.
    /// server.fault(Fault::cut_after(1).on_streams());
    /// let mandate = client.mandates().list(Default::default()).await?.data.remove(0);
    /// let mut events = client.mandate(&mandate.id).events().stream().resume_after("evt_start").until_terminal();
    /// let mut sequences = Vec::new();
    /// while let Some(event) = events.try_next().await? {
    ///     sequences.push(event.sequence);
    /// }
    /// assert!(sequences.len() > 1 && sequences.is_sorted());
    /// server.clear_faults();
    /// # Ok(())
    /// # }
    /// ```
    pub fn fault(&self, fault: Fault) {
        self.shared.faults().add(fault);
    }

    /// Lets nothing go wrong any more. What a request or a delivery has met already goes on.
    pub fn clear_faults(&self) {
        self.shared.faults().clear();
    }

    /// Takes the key back: from now on every request is refused with 401, and open streams end (assumed).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// use shadway::ErrorKind;
    /// use shadway::local::LocalServer;
    ///
    /// let server = LocalServer::start().await?;
    /// let client = server.client()?;
    /// server.revoke_key();
    /// let refused = client.agents().list(Default::default()).await.unwrap_err();
    /// assert_eq!(refused.kind(), ErrorKind::Authentication);
    /// server.restore_key();
    /// client.agents().list(Default::default()).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn revoke_key(&self) {
        self.shared.revoke_key();
    }

    /// Accepts the key again.
    pub fn restore_key(&self) {
        self.shared.restore_key();
    }
}

/// Something that goes wrong with requests or with webhook deliveries, for [`LocalServer::fault`].
///
/// Without more it happens to every request or delivery that it can happen to, each time. [`on`](Self::on),
/// [`on_streams`](Self::on_streams) and [`on_deliveries`](Self::on_deliveries) say which, [`after`](Self::after),
/// [`times`](Self::times) and [`probability`](Self::probability) how often; set twice, the last counts.
///
/// A fault that takes an answer's place ([`status`](Self::status), [`bad_gateway`](Self::bad_gateway),
/// [`hang`](Self::hang), [`close`](Self::close)) comes before anything is done: a change leaves no trace, not under
/// its idempotency key either. With [`after_commit`](Self::after_commit) the change is made first.
///
/// Over a socket a closed connection is a real one. To a client in memory it is an error of the transport that does
/// not say "never sent", and a body cut short is an error of the body.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(transparent)]
#[must_use = "a fault happens once it is given to a server"]
pub struct Fault(Plan);

/// What goes wrong.
impl Fault {
    fn new(kind: Kind) -> Self {
        Self(Plan::from(kind))
    }

    pub(crate) fn kind(&self) -> &Kind {
        &self.0.kind
    }

    /// A refusal with this status, in the service's envelope. What is no status of an answer (below 200, above
    /// 999) counts as 500.
    pub fn status(status: u16) -> Self {
        Self::new(Kind::Status(status))
    }

    /// A 502 with a page of HTML, as a proxy in between answers.
    pub fn bad_gateway() -> Self {
        Self::new(Kind::BadGateway)
    }

    /// The request is dealt with so much later, in the time of this machine, whatever the server's clock. With
    /// [`after_commit`](Self::after_commit) it is dealt with at once, and the answer comes later.
    pub fn delay(time: Duration) -> Self {
        Self::new(Kind::Delay(time))
    }

    /// No answer ever comes; the connection stays open until the client gives up or the server stops.
    pub fn hang() -> Self {
        Self::new(Kind::Hang)
    }

    /// The connection is closed without a byte of an answer.
    pub fn close() -> Self {
        Self::new(Kind::Close)
    }

    /// The change is made, and then the connection is closed without a byte of an answer: the same as
    /// [`close`](Self::close) [`after_commit`](Self::after_commit).
    pub fn drop_answer() -> Self {
        Self::close().after_commit()
    }

    /// Half of the answer comes, its length declared in full, and then the connection is closed. An answer without
    /// a body is dropped. Does not happen to streams.
    pub fn truncate() -> Self {
        Self::new(Kind::Truncate)
    }

    /// The answer comes whole, with its status and with half of its JSON. Does not happen to streams.
    pub fn bad_json() -> Self {
        Self::new(Kind::BadJson)
    }

    /// Has a value that nobody knows for this field, as a new version of the service may: a text for a status, or
    /// for a type.
    ///
    /// Here and below, `field` is a JSON pointer into the answer, such as `/status` or `/data/0/status`, or a name
    /// without a slash at the start: then it is each field of this name, at whatever depth. On a stream it is about
    /// each event. An answer that has no such field comes as it is.
    pub fn unknown_value(field: impl Into<String>) -> Self {
        Self::new(Kind::UnknownValue(field.into()))
    }

    /// Adds a field that nobody knows, `fieldOfTomorrow`, to what is answered, to each item of a list, and to each
    /// event of a stream.
    pub fn extra_field() -> Self {
        Self::new(Kind::ExtraField)
    }

    /// Has `null` for this [field](Self::unknown_value).
    pub fn null_field(field: impl Into<String>) -> Self {
        Self::new(Kind::NullField(field.into()))
    }

    /// Leaves this [field](Self::unknown_value) out.
    pub fn missing_field(field: impl Into<String>) -> Self {
        Self::new(Kind::MissingField(field.into()))
    }

    /// Has this value for this [field](Self::unknown_value). With a pointer to a field that an object does not have,
    /// it gets it.
    pub fn set_field(field: impl Into<String>, value: impl Into<Value>) -> Self {
        Self::new(Kind::SetField { field: field.into(), value: value.into() })
    }

    /// Each byte of the body comes on its own.
    pub fn split() -> Self {
        Self::new(Kind::Split)
    }

    /// Each byte of the body comes so much after the one before, in the time of this machine.
    pub fn drip(pause: Duration) -> Self {
        Self::new(Kind::Drip(pause))
    }

    /// A stream's connection breaks after so many events; with 0 after the headers of the answer.
    ///
    /// This and all below up to [`cursor_too_old`](Self::cursor_too_old) happen to event streams only.
    pub fn cut_after(events: u32) -> Self {
        Self::new(Kind::CutAfter(events))
    }

    /// A stream ends after so many events, as if there were no more; with 0 at once.
    pub fn end_after(events: u32) -> Self {
        Self::new(Kind::EndAfter(events))
    }

    /// Nothing comes on a stream after so many events, no heartbeat either, until the client gives up or the
    /// server stops; with 0 not even the present position.
    pub fn silence_after(events: u32) -> Self {
        Self::new(Kind::SilenceAfter(events))
    }

    /// Each event comes twice.
    pub fn duplicate() -> Self {
        Self::new(Kind::Duplicate)
    }

    /// Each event changes places with the next. It is kept back for that, 1 s of this machine's time at most.
    pub fn reorder() -> Self {
        Self::new(Kind::Reorder)
    }

    /// Events of a type that nobody knows come in between: in the gaps that a mandate's sequence has, and before
    /// its first event. Their frames have no id, so a client can't resume after them.
    pub fn unknown_event() -> Self {
        Self::new(Kind::UnknownEvent)
    }

    /// A stream that is to resume is refused with 410: the event is older than what is kept.
    pub fn cursor_too_old() -> Self {
        Self::new(Kind::CursorTooOld)
    }

    /// A webhook delivery's signatures don't fit it, as if its body had been changed on the way.
    ///
    /// This and all below happen to deliveries only, to each attempt of one.
    pub fn bad_signature() -> Self {
        Self::new(Kind::BadSignature)
    }

    /// A delivery was rightly signed so long ago, in the time of day; at the earliest in 1970.
    pub fn old_signature(ago: Duration) -> Self {
        Self::new(Kind::OldSignature(ago))
    }

    /// A delivery comes with its signature header twice, both alike, as from a proxy that repeats headers.
    pub fn doubled_signature() -> Self {
        Self::new(Kind::DoubledSignature)
    }

    /// A delivery comes twice with the same id: once more at once after the first was answered, and as if that answer
    /// had been lost. What the second is answered counts, and [the log](LocalServer::deliveries) has one attempt.
    pub fn duplicate_delivery() -> Self {
        Self::new(Kind::DuplicateDelivery)
    }

    /// A delivery changes places with the next to its endpoint: it is sent when that one has been answered, and
    /// rightly signed then. It is kept back for that, 1 s of this machine's time at most; an automatic clock can be
    /// moved meanwhile.
    pub fn reorder_deliveries() -> Self {
        Self::new(Kind::ReorderDeliveries)
    }
}

/// More of what goes wrong.
impl Fault {
    /// What a [`status`](Self::status) or a [`bad_gateway`](Self::bad_gateway) says of when to come again:
    /// `Retry-After` in seconds, rounded up.
    pub fn retry_after(mut self, time: Duration) -> Self {
        self.0.retry_after = Some(time);
        self
    }

    /// The code of a [`status`](Self::status), instead of the usual one.
    pub fn code(mut self, code: impl Into<ErrorCode>) -> Self {
        self.0.code = Some(code.into());
        self
    }

    /// The change is made before this happens, and kept under its idempotency key: what the client hears of it is
    /// not what happened.
    pub fn after_commit(mut self) -> Self {
        self.0.after_commit = true;
        self
    }
}

/// Which requests or deliveries it happens to.
impl Fault {
    /// Only requests with this method and path: one of the contract's paths with what it fills in, such as
    /// `/v1/mandates/{id}`, or a path as it is sent. A `*` as its last part stands for all below, as in
    /// `/v1/mandates/*`.
    pub fn on(mut self, method: Method, path: impl Into<String>) -> Self {
        self.0.on = Scope::Call { method, path: path.into() };
        self
    }

    /// Only requests for an event stream, of a mandate or of the workspace.
    pub fn on_streams(mut self) -> Self {
        self.0.on = Scope::Streams;
        self
    }

    /// Only webhook deliveries of events of this type; with [`EventType::All`] of all.
    pub fn on_deliveries(mut self, event_type: impl Into<EventType>) -> Self {
        self.0.on = Scope::Deliveries(event_type.into());
        self
    }

    /// Not before so many requests, or attempts of deliveries, that it would have happened to.
    pub fn after(mut self, requests: u32) -> Self {
        self.0.after = requests;
        self
    }

    /// So many times, and then no more. Without it there is no end.
    pub fn times(mut self, times: u32) -> Self {
        self.0.times = Some(times);
        self
    }

    /// To each request or attempt with this probability, from 0 to 1. What is drawn follows from the
    /// [seed](super::LocalServerBuilder::seed), if there is one: for the same requests in the same order, the same.
    pub fn probability(mut self, probability: f64) -> Self {
        self.0.probability = Some(probability);
        self
    }
}
