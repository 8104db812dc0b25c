//! What is set on a stream before it begins.

use std::sync::Arc;
use std::time::Duration;

use super::EventStream;
use super::checkpoint::Checkpoint;
use super::cursor::Cursor;
use super::keeper::Keeper;
use super::state::{Observer, StreamState};
use crate::model::events::EventType;
use crate::model::types::EventId;

impl EventStream {
    /// Resumes after an event: what happened since comes first (documented). Without it the stream starts with
    /// what happens next (assumed). An empty id means the same as none.
    ///
    /// Store the id of each event once you have handled it, or [`cursor`](Self::cursor), and give it here after a
    /// restart; [`checkpoint`](Self::checkpoint) does that by itself. An id that can't be sent in a header is an error before anything is sent.
    pub fn resume_after(mut self, id: impl Into<EventId>) -> Self {
        self.cursor = Cursor::given(id.into());
        self
    }

    /// Keeps the position in a store, so that a restart goes on where the last run was, and loses nothing.
    ///
    /// It is loaded when the stream is first polled. With an empty store all events so far are listed first, as
    /// far as the service keeps them, and then followed, with none missing or repeated in between; with
    /// [`resume_after`](Self::resume_after) an empty store starts there instead.
    ///
    /// A list that is empty may lag behind the stream. It is asked for again for about a minute, and anew when an event
    /// comes; until it shows something no position is saved and no event given out. If it stays empty for about a
    /// minute after an event has come, or after the end of the mandate that the stream goes on
    /// [until](Self::until_terminal), that is an error of the kind
    /// [`HistoryMissing`](crate::ErrorKind::HistoryMissing).
    ///
    /// An event counts as handled when the next one is asked for, and then its position is saved, before anything
    /// else is read. So after a crash the event that was in hand comes again, and no other: make handling it twice
    /// harmless. Of events that are not given out the position is saved when nothing more is at hand. A program
    /// that stops without asking again has the last event once more when it starts.
    ///
    /// The list has to be in the order of the stream: of one mandate that is documented, of the workspace assumed. An
    /// adaptor that reads ahead, such as `peekable` or `buffered`, asks for an event before you have handled the one
    /// before, and so has it saved too early.
    ///
    /// A store that fails is an error of the kind [`Checkpoint`](crate::ErrorKind::Checkpoint), and the end. So is a
    /// position too old for the service ([`CursorTooOld`](crate::ErrorKind::CursorTooOld)); it is never replaced by
    /// a new start.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::{agents::AgentCreateParams, mandates::MandateCreateParams};
    /// # let agent = client.agents().create(AgentCreateParams::new("A", "your-provider/your-model")).await?;
    /// # let mandate = client.mandates().create(MandateCreateParams::new(&agent.id, "Say hello.")).await?;
    /// use shadway::events::MemoryCheckpoint; // or `FileCheckpoint`, or your own
    ///
    /// let store = MemoryCheckpoint::new();
    /// let work = client.mandate(&mandate.id);
    /// let mut events = work.events().stream().checkpoint(store.clone());
    /// let first = events.try_next().await?.expect("an event");
    /// events.try_next().await?; // The first has been handled, and this one is in hand
    /// drop(events); // when the program stops.
    ///
    /// let mut events = work.events().stream().checkpoint(store).until_terminal();
    /// while let Some(event) = events.try_next().await? {
    ///     assert!(event.sequence > first.sequence);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn checkpoint(mut self, store: impl Checkpoint) -> Self {
        self.keeper = Some(Keeper::new(Arc::new(store), Arc::clone(&self.name)));
        self
    }

    /// Only events of these types; with an empty list all, which is the default. The others still move the
    /// [`cursor`](Self::cursor).
    pub fn event_types(mut self, types: impl IntoIterator<Item = impl Into<EventType>>) -> Self {
        self.event_types = types.into_iter().map(Into::into).collect();
        self
    }

    /// How long a connection may be silent before another takes its place: 45 s by default, three heartbeats.
    /// Any byte counts; the time you spend between two polls doesn't.
    pub fn idle_timeout(mut self, timeout: Duration) -> Self {
        self.idle_timeout = timeout;
        self
    }

    /// How often to connect again in a row without an event; then the last failure is an error, and the end. An
    /// event starts the count anew. Unlimited by default; with 3, a service that gives nothing sees 4 connections.
    pub fn max_reconnects(mut self, reconnects: u32) -> Self {
        self.max_reconnects = Some(reconnects);
        self
    }

    /// The largest event accepted, in bytes as it is sent: 16 MiB by default. A larger one is an error, and the
    /// end.
    pub fn max_event_bytes(mut self, bytes: usize) -> Self {
        self.max_event_bytes = bytes;
        self
    }

    /// A function that is told of connections, and of what was left out because it is no event. It is called
    /// while the stream is polled, so it should be quick.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// use shadway::events::StreamState;
    ///
    /// let mut events = client.mandate("mnd_1").events().stream().observer(|state| {
    ///     if let StreamState::Waiting { cause, delay, .. } = state {
    ///         eprintln!("connecting again in {delay:?}: {cause}");
    ///     }
    /// });
    /// # assert!(events.next().await.unwrap().is_err());
    /// # Ok(())
    /// # }
    /// ```
    pub fn observer(mut self, observer: impl Fn(&StreamState) + Send + Sync + 'static) -> Self {
        self.observer = Observer::new(observer);
        self
    }

    /// Ends after the event by which the mandate ends, which is the last item unless
    /// [`event_types`](Self::event_types) leaves it out.
    ///
    /// The mandate is read once the stream is open, and again while it goes on: after 1 s, and then at intervals that grow
    /// to 30 s. So one that had ended before ends the stream too, also when a read lags: when there has been no new
    /// event for 2 s. Then what follows the last event, or the one to resume after, is listed, so that
    /// nothing is lost that a connection didn't bring. Where a connection was lost of which no position is known
    /// ([`StreamState::Missed`]), only the event by which the mandate ended is certain to be given out, also if
    /// it ended before. A list that lags is asked for three times in six seconds, and the observer is told if that event
    /// is still missing then ([`StreamState::EndMissing`]). A mandate or a list that can't be read (401, 403, 404) is
    /// an error. On the stream of a whole workspace this is an error before anything is sent.
    pub fn until_terminal(mut self) -> Self {
        self.until_terminal = true;
        self
    }
}
