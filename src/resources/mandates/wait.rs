//! Waiting for a mandate to end.

use std::fmt;
use std::future::IntoFuture;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use futures_util::stream::{BoxStream, StreamExt as _};

use super::MandateHandle;
use super::watch::{Hint, Subject, Watch};
use crate::call::CallFuture;
use crate::error::{Error, Result};
use crate::model::events::{Event, EventType};
use crate::model::mandates::Mandate;
use crate::resources::poll::{self, PollOptions};

/// A wait for a mandate to end: completed, failed, canceled or expired. From
/// [`MandateHandle::wait`](super::MandateHandle::wait).
///
/// Awaited, it gives the mandate as it ended, also one that had ended before.
///
/// It reads the mandate at once and follows its events, and each event that may matter makes it read again, as does
/// each opening of the stream; what the read says counts. One that lags behind the event is made again after 250 ms,
/// and then after a quarter of the time since the event, for two minutes. After an opening that may have missed
/// something, as the first one may, it is made again in the same way for ten seconds, so that one that lags by less is
/// no harm there either; of a stream that misses something again and again within a minute, later each time. Should no
/// event come, it reads all the same: about every 30 s while the stream is open, and while there is none each second
/// for two minutes, then after a quarter of the time beyond that, up to 30 s.
///
/// So it returns within a second of the change while the stream is open, and as long as it has not been away for longer
/// than two minutes, in whatever way: refused, cut, or with headers held back. After that it may be late by a quarter of
/// the time beyond, by 30 s at most. A stream that is refused costs time and never the result; it is asked for again
/// about once a minute.
///
/// A connection that fails, a rate limit or a service in trouble does not end a wait; a mandate that can't be read
/// (401, 403, 404, or an answer that is no mandate) does. A read that hangs costs half a second: then another is made
/// beside it, and others in the place of that one after a second, two seconds, and so on up to 16 s, of which the first
/// answer counts. A status this version does not know counts as not ended. Dropping it closes the stream and never
/// affects the mandate.
#[derive(Debug, Clone)]
#[must_use = "a wait does nothing until it is awaited"]
pub struct Wait {
    handle: MandateHandle,
    options: PollOptions,
}

impl Wait {
    pub(super) fn new(handle: MandateHandle) -> Self {
        Self { handle, options: PollOptions::default() }
    }

    /// How long to wait; without end unless it is set.
    ///
    /// When it runs out the mandate is read once more, which may take 5 s, and one that has ended by then
    /// counts. Otherwise the error [is a wait's timeout](Error::is_wait_timeout) and carries the
    /// [mandate as it was last seen](Error::last_mandate); the mandate itself goes on.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = Some(timeout);
        self
    }

    /// How often to read when no event calls for it, 10 ms at least; it then holds whether there is a stream or not.
    pub fn poll_interval(mut self, interval: Duration) -> Self {
        self.options.interval = Some(interval);
        self
    }

    /// The same wait as a stream: every state that is seen, each once, the final one last. Here every event of the
    /// mandate makes it read, since each may come with a new [`current_state`](Mandate::current_state); one that tells of
    /// a status does so until a read says the same, or another event something else. A state that lasts for less time
    /// than a read lags behind may not be seen.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::{agents::AgentCreateParams, mandates::MandateCreateParams};
    /// # let agent = client.agents().create(AgentCreateParams::new("A", "your-provider/your-model")).await?;
    /// # let id = client.mandates().create(MandateCreateParams::new(&agent.id, "Say hello.")).await?.id;
    /// let mut updates = client.mandate(id).wait().updates();
    /// while let Some(mandate) = updates.try_next().await? {
    ///     println!("{}: {}", mandate.status, mandate.current_state.summary);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn updates(self) -> Updates {
        Updates(self.watch(any_event).boxed())
    }

    fn watch(self, hint: fn(&Event) -> Hint) -> Watch<Mandate> {
        let timer = Arc::clone(&self.handle.client.transport().timer);
        let events = self.handle.events();
        let subject = Subject {
            read: Box::new(move || Box::pin(self.handle.get().max_retries(0).send())),
            done: |mandate: &Mandate| mandate.status.is_terminal(),
            status: |mandate| Some(&mandate.status),
            hint,
            timed_out: Error::wait_timeout,
        };
        Watch::new(timer, self.options, subject, Box::new(move || events.stream()))
    }
}

/// An event by which the status changes.
pub(super) fn status_event(event: &Event) -> Hint {
    match event.mandate_status() {
        Some(status) if status.is_terminal() => Hint::Over,
        Some(_) => Hint::Changed,
        // Its data doesn't fit, so it may be the end.
        None if event.event_type == EventType::MandateStatusChanged => Hint::Over,
        None => Hint::Nothing,
    }
}

fn any_event(event: &Event) -> Hint {
    match event.mandate_status() {
        Some(status) if !status.is_terminal() => Hint::Status(status.clone()),
        None if event.event_type != EventType::MandateStatusChanged => Hint::Changed,
        _ => Hint::Over,
    }
}

impl IntoFuture for Wait {
    type Output = Result<Mandate>;
    type IntoFuture = CallFuture<Mandate>;

    fn into_future(self) -> CallFuture<Mandate> {
        Box::pin(poll::last(self.watch(status_event).boxed()))
    }
}

/// The states of a mandate on its way to the end, from [`Wait::updates`]. An error is the last item.
#[must_use = "a stream does nothing until it is polled"]
pub struct Updates(BoxStream<'static, Result<Mandate>>);

impl Updates {
    /// The next state; `None` after the last.
    pub async fn next(&mut self) -> Option<Result<Mandate>> {
        self.0.next().await
    }

    /// The next state, or the error; `None` after the last.
    ///
    /// # Errors
    /// As the wait itself: its timeout, or a mandate that can't be read.
    pub async fn try_next(&mut self) -> Result<Option<Mandate>> {
        self.next().await.transpose()
    }
}

impl Stream for Updates {
    type Item = Result<Mandate>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.0.as_mut().poll_next(context)
    }
}

impl fmt::Debug for Updates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Updates").finish_non_exhaustive()
    }
}
