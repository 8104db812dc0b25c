//! The events of one mandate, out of those of all.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream as _;

use super::hub::{Hub, Kind, Membership, Next};
use super::queue::Queue;
use crate::error::Result;
use crate::model::events::Event;
use crate::model::types::{EventId, MandateId};
use crate::page::Items;
use crate::resources::poll::PollOptions;
use crate::stream::EventStream;

/// The events of one mandate, from [`Watcher::events`](super::Watcher::events). An error is the last item.
///
/// A reader that is slow holds up nobody: up to 256 events wait for it. Those that come then are not kept; once it has
/// taken what waits, the mandate's events are listed from there on (`afterSequence`, assumed), so that none is lost.
/// The same is done when the service no longer knows where the shared stream was; of a mandate of which there was no
/// event yet, all are listed then.
///
/// When the service refuses the stream of the workspace, the mandate's own is opened instead.
#[must_use = "a stream does nothing until it is polled"]
pub struct WatchedEvents {
    hub: Arc<Hub>,
    mandate: MandateId,
    source: Source,
    /// The last event given out, and the highest sequence so far.
    last: Option<(EventId, u64)>,
    /// Events up to this sequence have been listed.
    listed: u64,
}

enum Source {
    /// It joins when it is first polled.
    New,
    Shared(Membership),
    /// The queue is filled meanwhile.
    Listing(Membership, Items<Event>),
    Own(Box<EventStream>),
    Over,
}

impl WatchedEvents {
    pub(super) fn new(hub: Arc<Hub>, mandate: MandateId) -> Self {
        Self { hub, mandate, source: Source::New, last: None, listed: 0 }
    }

    /// The next event; `None` at the end. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Result<Event>> {
        poll_fn(|context| self.poll(context)).await
    }

    /// The next event, or the error; `None` at the end. Dropping the future loses nothing.
    ///
    /// # Errors
    /// A list of what was left out that can't be read; or, of the mandate's own stream, as
    /// [`EventStream::try_next`].
    pub async fn try_next(&mut self) -> Result<Option<Event>> {
        self.next().await.transpose()
    }

    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Event>>> {
        loop {
            let item = match &mut self.source {
                Source::New => {
                    let kind = Kind::Events(Queue::default());
                    let member = self.hub.join(self.mandate.clone(), kind, PollOptions::default());
                    self.source = Source::Shared(member);
                    continue;
                }
                Source::Shared(member) => match ready!(member.poll_next(context)) {
                    Next::Event(event) => Some(Ok(*event)),
                    Next::Gap => {
                        self.list();
                        continue;
                    }
                    Next::Refused => {
                        self.source = Source::Own(Box::new(self.own()));
                        continue;
                    }
                },
                Source::Listing(_, events) => match ready!(Pin::new(events).poll_next(context)) {
                    Some(item) => Some(item),
                    None => {
                        if let Source::Listing(member, _) = std::mem::replace(&mut self.source, Source::Over)
                        {
                            self.source = Source::Shared(member);
                        }
                        self.listed = self.last.as_ref().map_or(0, |(_, highest)| *highest);
                        continue;
                    }
                },
                Source::Own(stream) => ready!(Pin::new(&mut **stream).poll_next(context)),
                Source::Over => None,
            };
            match item {
                Some(Ok(event)) => {
                    // What was listed may be in the queue as well.
                    if event.sequence <= self.listed {
                        continue;
                    }
                    let highest = self.last.as_ref().map_or(0, |(_, highest)| *highest);
                    self.last = Some((event.id.clone(), event.sequence.max(highest)));
                    return Poll::Ready(Some(Ok(event)));
                }
                Some(Err(error)) => {
                    self.source = Source::Over;
                    return Poll::Ready(Some(Err(error)));
                }
                None => {
                    self.source = Source::Over;
                    return Poll::Ready(None);
                }
            }
        }
    }

    /// Goes on with the list of what was left out.
    fn list(&mut self) {
        let events = self.hub.client.mandate(&self.mandate).events();
        let after = self.last.as_ref().map_or(0, |(_, sequence)| *sequence);
        if let Source::Shared(member) = std::mem::replace(&mut self.source, Source::Over) {
            self.source = Source::Listing(member, events.list_after(after).limit(100).unbudgeted().items());
        }
    }

    fn own(&self) -> EventStream {
        let stream = self.hub.client.mandate(&self.mandate).events().stream();
        match &self.last {
            Some((id, _)) => stream.resume_after(id),
            None => stream,
        }
    }
}

impl fmt::Debug for WatchedEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchedEvents").field("mandate", &self.mandate).finish_non_exhaustive()
    }
}
