//! Event streams: one connection after another, and no event twice.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use http::{Response, StatusCode};

use crate::call::Call;
use crate::clock::{Sleep, Timer};
use crate::error::{CallFacts, Cause, Error, ErrorKind, Result};
use crate::model::events::{Event, EventType};
use crate::model::mandates::{Mandate, MandateStatus};
use crate::model::types::EventId;
use crate::transport::{Body, request_id};

mod backoff;
mod checkpoint;
mod connection;
mod cursor;
mod decoder;
mod ending;
mod keeper;
mod lines;
mod options;
mod seen;
mod state;
#[cfg(test)]
mod tests;

use backoff::Backoff;
pub use checkpoint::{
    Checkpoint, CheckpointFileError, CheckpointFuture, CheckpointViolation, FileCheckpoint, MemoryCheckpoint,
    checkpoint_conformance,
};
use connection::{Break, Connection};
use cursor::Cursor;
use decoder::Block;
use ending::Ending;
use keeper::Keeper;
use seen::Seen;
use state::Observer;
pub use state::StreamState;

/// Three heartbeats, of which the service sends one every 15 s (assumed).
const IDLE_TIMEOUT: Duration = Duration::from_secs(45);
const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;

/// Events as they happen, from [`MandateEvents::stream`](crate::events::MandateEvents::stream) or
/// [`Events::stream`](crate::events::Events::stream).
///
/// It connects when it is first polled, and again whenever the connection is lost: refused, broken, ended by
/// the service, silent, or answered with 408, 425, 429 or 5xx. Each time it resumes after the last event, with
/// growing delays (250 ms to 30 s, all jitter; `retry:` and `Retry-After` of the service are kept to), and none of
/// that shows among the events. Delivery is at least once (documented); events that come again are left out, as
/// far as the last 4,096 go.
///
/// What another connection would not help is an error and the last item: any other refusal, a redirect, an answer
/// that is no event stream, an event larger than the limit. [`ErrorKind::CursorTooOld`] says that the event
/// to resume after is no longer kept. The service itself ends a stream with 204 (assumed), and not when the
/// mandate ends (documented): see [`until_terminal`](Self::until_terminal).
///
/// Dropping it closes the connection at once and never affects the mandate.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> shadway::Result<()> {
/// # let server = shadway::local::LocalServer::start().await?;
/// # let client = server.client()?;
/// # use shadway::{agents::AgentCreateParams, mandates::MandateCreateParams};
/// # let agent = client.agents().create(AgentCreateParams::new("A", "your-provider/your-model")).await?;
/// # let id = client.mandates().create(MandateCreateParams::new(&agent.id, "Say hello.")).await?.id;
/// # let stored = "evt_start"; // before the first
/// use shadway::events::EventData;
///
/// let mut events = client.mandate(&id).events().stream().resume_after(stored);
/// while let Some(event) = events.try_next().await? {
///     match event.data {
///         EventData::MandateStatusChanged(change) if change.mandate.status.is_terminal() => break,
///         EventData::ExecutionFailed(run) => println!("failed: {}", run.execution.capability),
///         _ => {} // unknown types arrive here, never as an error
///     }
/// }
/// println!("resume after {:?}", events.cursor()); // once the event has been handled
/// # Ok(())
/// # }
/// ```
#[must_use = "a stream does nothing until it is polled"]
pub struct EventStream {
    /// The request of the next connection.
    call: Option<Call<Event>>,
    timer: Arc<dyn Timer>,
    /// Its name in a checkpoint.
    name: Arc<str>,
    list: Box<dyn Fn() -> History + Send + Sync>,
    keeper: Option<Keeper>,
    cursor: Cursor,
    event_types: Vec<EventType>,
    idle_timeout: Duration,
    max_reconnects: Option<u32>,
    max_event_bytes: usize,
    observer: Observer,
    /// The reads of the mandate, if there is one to follow.
    ending: Option<Ending>,
    until_terminal: bool,
    phase: Phase,
    backoff: Backoff,
    seen: Seen,
    /// Connections in a row, from the last one that brought an event on.
    attempts: u32,
}

/// All events so far, as they are listed.
type History = Pin<Box<dyn Stream<Item = Result<Event>> + Send>>;

enum Phase {
    Start,
    /// A connection without a cursor is open: what happened before it comes first.
    History {
        events: History,
        next: Box<Self>,
    },
    Opening {
        opening: Pin<Box<dyn Future<Output = Result<Response<Body>>> + Send>>,
        resumes: bool,
    },
    Open(Box<Connection>),
    Waiting(Sleep),
    Over,
}

impl EventStream {
    /// The stream that a call opens, of this name, and the list of its events so far.
    pub(crate) fn new(
        call: Call<Event>,
        name: impl Into<Arc<str>>,
        list: impl Fn() -> History + Send + Sync + 'static,
    ) -> Self {
        Self {
            timer: Arc::clone(&call.transport().timer),
            name: name.into(),
            list: Box::new(list),
            keeper: None,
            call: Some(call),
            cursor: Cursor::default(),
            event_types: Vec::new(),
            idle_timeout: IDLE_TIMEOUT,
            max_reconnects: None,
            max_event_bytes: MAX_EVENT_BYTES,
            observer: Observer::default(),
            ending: None,
            until_terminal: false,
            phase: Phase::Start,
            backoff: Backoff::new(),
            seen: Seen::default(),
            attempts: 0,
        }
    }

    /// The same of one mandate, which this call reads.
    pub(crate) fn of_mandate(self, mandate: Call<Mandate>) -> Self {
        Self { ending: Some(Ending::new(mandate, Arc::clone(&self.timer))), ..self }
    }

    /// The position to resume after, at any time: the id of the last event given out, or of what came since and
    /// isn't given out. `None` while no id is known.
    #[must_use]
    pub fn cursor(&self) -> Option<&EventId> {
        self.cursor.id()
    }

    /// The next event; `None` at the end. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Result<Event>> {
        poll_fn(|context| Pin::new(&mut *self).poll_next(context)).await
    }

    /// The next event, or the error; `None` at the end. Dropping the future loses nothing.
    ///
    /// # Errors
    /// What another connection would not help; it is the last item.
    pub async fn try_next(&mut self) -> Result<Option<Event>> {
        self.next().await.transpose()
    }

    fn connect(&mut self) -> Result<()> {
        if self.until_terminal && self.ending.is_none() {
            return Err(Error::invalid_input("until_terminal needs the stream of one mandate"));
        }
        let last_event_id = self.cursor.header()?;
        let Some(call) = self.call.take() else {
            self.phase = Phase::Over;
            return Ok(());
        };
        self.call = call.again();
        self.attempts = self.attempts.saturating_add(1);
        let resumes = last_event_id.is_some();
        let opening = Box::pin(call.open(last_event_id, self.attempts));
        self.phase = Phase::Opening { opening, resumes };
        self.observer.see(&StreamState::Connecting { after: self.cursor().cloned() });
        Ok(())
    }

    fn opened(&mut self, answer: Result<Response<Body>>, resumes: bool) -> Result<()> {
        let response = match answer {
            Ok(response) => response,
            Err(error) if passes(&error) => return self.wait(error),
            Err(error) if error.status() == Some(StatusCode::GONE) && resumes => {
                return Err(error.cursor_too_old());
            }
            Err(error) => return Err(error),
        };
        if response.status() == StatusCode::NO_CONTENT {
            self.follow(Phase::Over, resumes);
            return Ok(());
        }
        let request_id = request_id(response.headers());
        if let Err(what) = connection::check_type(response.headers()) {
            let status = Some(response.status());
            let call = CallFacts { status, request_id, attempts: self.attempts, ..CallFacts::default() };
            return Err(Error::new(Cause::Decode(what, None), call));
        }
        let connection =
            Connection::new(response.into_body(), request_id, self.max_event_bytes, self.idle_timeout);
        self.follow(Phase::Open(Box::new(connection)), resumes);
        if let Some(ending) = self.ending.as_mut().filter(|_| self.until_terminal) {
            ending.opened(resumes);
        }
        self.observer.see(&StreamState::Open);
        Ok(())
    }

    /// Goes on with a connection. With a checkpoint and no cursor all that happened before it comes first.
    fn follow(&mut self, next: Phase, resumes: bool) {
        self.phase = match &self.keeper {
            Some(_) if !resumes => Phase::History { events: (self.list)(), next: Box::new(next) },
            _ => next,
        };
    }

    /// The next step of the history, beside a connection that is open but not read.
    fn listed(&mut self, item: Option<Result<Event>>) -> Result<Option<Event>> {
        let Phase::History { next, .. } = &mut self.phase else { return Ok(None) };
        match item {
            Some(Ok(event)) => {
                // The connection may repeat what is listed, or miss the end of it: the next one resumes after the
                // last that was listed, and does neither.
                if matches!(**next, Phase::Open(_)) {
                    **next = Phase::Start;
                }
                self.cursor.follow(Some(event.id.clone()));
                Ok(self.give(event))
            }
            Some(Err(error)) if passes(&error) => self.wait(error).map(|()| None),
            Some(Err(error)) => Err(error),
            None => {
                let next = std::mem::replace(&mut **next, Phase::Over);
                if matches!(next, Phase::Start) {
                    // It replaces a connection that was no failure.
                    self.attempts = self.attempts.saturating_sub(1);
                }
                self.phase = next;
                Ok(None)
            }
        }
    }

    fn take(&mut self, block: Block) -> Option<Event> {
        self.cursor.follow(block.id);
        let frame = block.frame?;
        let event: Event = match serde_json::from_str(&frame.data) {
            Ok(event) => event,
            Err(error) => {
                let what = error.to_string();
                let cause = Error::new(Cause::Decode(what, Some(error.into())), CallFacts::default());
                self.observer.see(&StreamState::Skipped { event_type: frame.event, cause });
                return None;
            }
        };
        self.give(event)
    }

    /// The event, if it is to be given out.
    fn give(&mut self, event: Event) -> Option<Event> {
        if let Some(ending) = &mut self.ending {
            ending.heard();
        }
        // A connection that brings only what was there before is no better than one that brings nothing.
        if !self.seen.is_new(&event) {
            return None;
        }
        self.backoff.reset();
        self.attempts = 1;
        if self.until_terminal && event.mandate_status().is_some_and(MandateStatus::is_terminal) {
            self.phase = Phase::Over;
        }
        let all = self.event_types.is_empty() || self.event_types.contains(&EventType::All);
        (all || self.event_types.contains(&event.event_type)).then_some(event)
    }

    fn broken(&mut self, why: Break, request_id: Option<String>) -> Result<()> {
        let call = CallFacts { request_id, attempts: self.attempts, ..CallFacts::default() };
        match why {
            Break::Passing(cause) => self.wait(Error::new(cause, call)),
            Break::Final(cause) => Err(Error::new(cause, call)),
        }
    }

    /// The way to the next connection, if there is to be one.
    fn wait(&mut self, cause: Error) -> Result<()> {
        if self.max_reconnects.is_some_and(|most| self.attempts > most) {
            return Err(cause);
        }
        let delay = self.backoff.next(fastrand::f64(), cause.retry_after());
        self.phase = Phase::Waiting(self.timer.sleep(delay));
        self.observer.see(&StreamState::Waiting { cause, delay });
        Ok(())
    }

    /// Begins to save the position, if there is a checkpoint that doesn't have it; says whether it did.
    fn keep(&mut self) -> bool {
        self.keeper.as_mut().is_some_and(|keeper| keeper.keep(self.cursor.id()))
    }

    /// One step; an event, if it came to one.
    fn poll_step(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Event>>> {
        if let Some(keeper) = &mut self.keeper {
            if let Some(position) = ready!(keeper.poll_loaded(context))? {
                self.cursor = Cursor::given(position);
            }
            ready!(keeper.poll_saved(context))?;
        }
        let done = match &mut self.phase {
            Phase::Start => self.connect(),
            Phase::Opening { opening, resumes } => {
                let resumes = *resumes;
                let answer = ready!(opening.as_mut().poll(context));
                self.opened(answer, resumes)
            }
            Phase::History { events, .. } => {
                let item = ready!(events.as_mut().poll_next(context));
                return Poll::Ready(self.listed(item));
            }
            Phase::Open(connection) => {
                let polled = connection.poll_block(context, &*self.timer);
                if let Some(milliseconds) = connection.take_retry() {
                    self.backoff.set_base(milliseconds);
                }
                match polled {
                    Poll::Ready(Ok(block)) => return Poll::Ready(Ok(self.take(block))),
                    Poll::Ready(Err(why)) => {
                        let request_id = connection.request_id();
                        self.broken(why, request_id)
                    }
                    Poll::Pending => {
                        let Some(ending) = self.ending.as_mut().filter(|_| self.until_terminal) else {
                            return Poll::Pending;
                        };
                        let ended = ready!(ending.poll(context));
                        self.phase = Phase::Over;
                        ended
                    }
                }
            }
            Phase::Waiting(sleep) => {
                ready!(sleep.as_mut().poll(context));
                self.phase = Phase::Start;
                Ok(())
            }
            Phase::Over => Ok(()),
        };
        Poll::Ready(done.map(|()| None))
    }
}

/// Whether another connection may do better.
fn passes(error: &Error) -> bool {
    let passing = matches!(
        error.kind(),
        ErrorKind::Connection | ErrorKind::Timeout | ErrorKind::RateLimit | ErrorKind::Server
    );
    passing || error.status() == Some(StatusCode::TOO_EARLY)
}

impl Stream for EventStream {
    type Item = Result<Event>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Event>>> {
        let stream = self.get_mut();
        // The event given out before has been handled, since another is asked for.
        stream.keep();
        loop {
            let Poll::Ready(step) = stream.poll_step(context) else {
                // What was left out is kept once nothing more is at hand: a save for each would take its time.
                if stream.keep() {
                    continue;
                }
                return Poll::Pending;
            };
            match step {
                Ok(Some(event)) => return Poll::Ready(Some(Ok(event))),
                Ok(None) if !matches!(stream.phase, Phase::Over) || stream.keep() => {}
                Ok(None) => return Poll::Ready(None),
                Err(error) => {
                    stream.phase = Phase::Over;
                    stream.keeper = None;
                    return Poll::Ready(Some(Err(error)));
                }
            }
        }
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phase = match self.phase {
            Phase::Start => "start",
            Phase::History { .. } => "history",
            Phase::Opening { .. } => "opening",
            Phase::Open(_) => "open",
            Phase::Waiting(_) => "waiting",
            Phase::Over => "over",
        };
        f.debug_struct("EventStream")
            .field("call", &self.call)
            .field("cursor", &self.cursor())
            .field("phase", &phase)
            .finish_non_exhaustive()
    }
}
