//! Event streams: one connection after another, and no event twice.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use http::Response;

use crate::call::Call;
use crate::clock::Sleep;
use crate::error::Result;
use crate::model::events::{Event, EventType};
use crate::model::mandates::Mandate;
use crate::model::types::EventId;
use crate::transport::{Body, Transport};

mod backoff;
mod beginning;
mod checkpoint;
mod connection;
mod cursor;
mod decoder;
mod ending;
#[cfg(fuzzing)]
pub(crate) mod fuzzing;
mod keeper;
mod lines;
mod options;
mod rest;
mod seen;
mod state;
mod steps;
#[cfg(test)]
mod tests;

use backoff::Backoff;
use beginning::Beginning;
pub use checkpoint::{
    Checkpoint, CheckpointFileError, CheckpointFuture, CheckpointViolation, FileCheckpoint, MemoryCheckpoint,
    checkpoint_conformance,
};
use connection::Connection;
use cursor::Cursor;
use ending::Ending;
use keeper::Keeper;
use rest::Rest;
pub(crate) use seen::Seen;
use state::Observer;
pub use state::StreamState;

/// Three heartbeats, of which the service sends one every 15 s (assumed).
const IDLE_TIMEOUT: Duration = Duration::from_secs(45);
const MAX_EVENT_BYTES: usize = 16 * 1024 * 1024;
/// How many steps that come to no event are made before others get their turn.
const STEPS_AT_ONCE: u32 = 128;

/// Events as they happen, from [`MandateEvents::stream`](crate::events::MandateEvents::stream) or
/// [`Events::stream`](crate::events::Events::stream).
///
/// It connects when it is first polled, and again whenever the connection is lost: refused, broken, ended by
/// the service, silent, or answered with 408, 425, 429 or 5xx. Each time it resumes after the last event, with
/// growing delays (250 ms to 30 s, all jitter; `retry:` and `Retry-After` of the service are kept to), and none of
/// that shows among the events. Delivery is at least once (documented); events that come again are left out, as
/// far as the last 4,096 go.
///
/// One thing can be missed: what happens after the first opening, if that connection is lost before it brought an event
/// and before the service said where it begins (which it does at once, assumed). The [`observer`](Self::observer) is told
/// ([`StreamState::Missed`]); with a [`checkpoint`](Self::checkpoint) or a position to resume after it can't happen.
///
/// What another connection would not help is an error and the last item: any other refusal, a redirect, an answer
/// that is no event stream, an event larger than the limit.
/// [`ErrorKind::CursorTooOld`](crate::ErrorKind::CursorTooOld) says that the event to resume after is no longer
/// kept. The service itself ends a stream with 204 (assumed), and not when the
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
    /// Whose key nothing that is told may repeat.
    transport: Arc<Transport>,
    /// Its name in a checkpoint.
    name: Arc<str>,
    list: Box<dyn Fn(Option<u64>) -> History + Send + Sync>,
    keeper: Option<Keeper>,
    cursor: Cursor,
    beginning: Beginning,
    event_types: Vec<EventType>,
    idle_timeout: Duration,
    max_reconnects: Option<u32>,
    max_event_bytes: usize,
    observer: Observer,
    /// The reads of the mandate, if there is one to follow.
    ending: Option<Ending>,
    until_terminal: bool,
    /// More is at hand, and others have their turn.
    rests: bool,
    /// A connection has been open before.
    was_open: bool,
    /// And another couldn't resume.
    missed: bool,
    phase: Phase,
    backoff: Backoff,
    seen: Seen,
    /// How much text the event given out last came in.
    event_bytes: usize,
    /// Connections in a row, from the last one that brought an event on.
    attempts: u32,
}

/// All events so far, or those after a sequence, as they are listed.
pub(crate) type History = Pin<Box<dyn Stream<Item = Result<Event>> + Send>>;

enum Phase {
    Start,
    /// A connection without a cursor is open: what happened before it comes first.
    History {
        events: History,
        next: Box<Self>,
    },
    /// The mandate has ended, and what was not streamed by then is listed.
    Rest(Box<Rest>),
    Opening {
        opening: Pin<Box<dyn Future<Output = Result<Response<Body>>> + Send>>,
        resumes: bool,
    },
    Open(Box<Connection>),
    Waiting(Sleep),
    Over,
}

impl EventStream {
    /// The stream that a call opens, of this name, and the list of its events so far; of one mandate also of those after
    /// a sequence.
    pub(crate) fn new(
        call: Call<Event>,
        name: impl Into<Arc<str>>,
        list: impl Fn(Option<u64>) -> History + Send + Sync + 'static,
    ) -> Self {
        Self {
            transport: Arc::clone(call.transport()),
            name: name.into(),
            list: Box::new(list),
            keeper: None,
            call: Some(call),
            cursor: Cursor::default(),
            beginning: Beginning::default(),
            event_types: Vec::new(),
            idle_timeout: IDLE_TIMEOUT,
            max_reconnects: None,
            max_event_bytes: MAX_EVENT_BYTES,
            observer: Observer::default(),
            ending: None,
            until_terminal: false,
            rests: false,
            was_open: false,
            missed: false,
            phase: Phase::Start,
            backoff: Backoff::new(),
            seen: Seen::default(),
            event_bytes: 0,
            attempts: 0,
        }
    }

    /// The same of one mandate, which this call reads.
    pub(crate) fn of_mandate(self, mandate: Call<Mandate>) -> Self {
        Self { ending: Some(Ending::new(mandate, Arc::clone(&self.transport.timer))), ..self }
    }

    /// The position to resume after, at any time: the id of the last event given out, or of what came since and
    /// isn't given out. `None` while no id is known.
    ///
    /// The service says where a stream begins when it opens it (assumed), so that is soon. As long as it doesn't, and no
    /// event has come, a connection that is lost can't be resumed: see [`StreamState::Missed`].
    #[must_use]
    pub fn cursor(&self) -> Option<&EventId> {
        self.cursor.id()
    }

    /// How large the event given out last was, in bytes as it was sent; nothing if it was listed.
    pub(crate) fn event_bytes(&self) -> usize {
        self.event_bytes
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
}

impl Stream for EventStream {
    type Item = Result<Event>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Event>>> {
        let stream = self.get_mut();
        // The event given out before has been handled, since another is asked for.
        if !std::mem::take(&mut stream.rests) {
            stream.keep();
        }
        for _ in 0..STEPS_AT_ONCE {
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
        stream.rests = true;
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

impl fmt::Debug for EventStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let phase = match self.phase {
            Phase::Start => "start",
            Phase::History { .. } => "history",
            Phase::Rest(_) => "rest",
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
