//! The events of one mandate, out of those of all.

use std::fmt;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use futures_core::Stream as _;

use super::doubt::{self, Doubt};
use super::hub::{Hub, Membership};
use super::listing::Listing;
use super::queue::{Gap, Next};
use super::state::Kind;
use crate::error::Result;
use crate::model::events::Event;
use crate::model::types::{EventId, MandateId};
use crate::resources::poll::PollOptions;
use crate::stream::{EventStream, MemoryCheckpoint, Seen};

/// The events of one mandate, from [`Watcher::events`](super::Watcher::events). An error is the last item.
///
/// A reader that is slow holds up nobody: up to 256 events wait for it, or up to 1 MiB of them. Those that come then are
/// not kept; once it has taken what waits, the mandate's events are listed from there on (`afterSequence`, assumed), so
/// that none is lost; one that is both listed and streamed is given out once, as far as the last 4,096 go. The same is
/// done when the service no longer knows where the shared stream was; of a mandate of which there was no event yet, all
/// are listed then. Since nobody knows then how much was missed, and a list may lag, it is asked for a few times more, and
/// once more before the next event.
///
/// When the service refuses the stream of the workspace, the mandate's own is opened instead, and stays with this
/// reader. What it repeats is left out, as far as the last 256 go.
///
/// Prefer [`next`](Self::next) to the `Stream` it also is: when you drop that future before an event came, the others no
/// longer count on this reader. A `Stream` isn't told that nobody asks any more, so the others may have to wait for it
/// once, 250 ms at most.
#[must_use = "a stream does nothing until it is polled"]
pub struct WatchedEvents {
    hub: Arc<Hub>,
    mandate: MandateId,
    source: Source,
    /// The last event given out, and the highest sequence so far.
    last: Option<(EventId, u64)>,
    /// What was given out last: the reader's own stream may repeat it and, once events were listed, the queue.
    seen: Seen,
    /// More may have been missed than was listed.
    doubt: Option<Doubt>,
}

enum Source {
    /// It joins when it is first polled.
    New,
    Shared(Membership),
    /// The queue is filled meanwhile.
    Listing(Membership, Box<Listing>),
    Own(Box<EventStream>),
    Over,
}

impl WatchedEvents {
    pub(super) fn new(hub: Arc<Hub>, mandate: MandateId) -> Self {
        Self { hub, mandate, source: Source::New, last: None, seen: Seen::of_few(), doubt: None }
    }

    /// The next event; `None` at the end. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Result<Event>> {
        let next = Asking(self);
        poll_fn(|context| next.0.poll(context)).await
    }

    /// The next event, or the error; `None` at the end. Dropping the future loses nothing.
    ///
    /// # Errors
    /// A list of what was left out that is refused (one that fails for a while is asked for again); or, of the
    /// mandate's own stream, as [`EventStream::try_next`].
    pub async fn try_next(&mut self) -> Result<Option<Event>> {
        self.next().await.transpose()
    }

    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Event>>> {
        loop {
            let highest = self.highest();
            let item = match &mut self.source {
                Source::New => {
                    let kind = Kind::Events(Box::default());
                    let member = self.hub.join(self.mandate.clone(), kind, PollOptions::default());
                    self.source = Source::Shared(member);
                    continue;
                }
                Source::Shared(member) => match member.poll_next(context) {
                    Poll::Ready(Next::Event(event)) if doubt::is_before(&mut self.doubt, &event, highest) => {
                        self.list(Gap::before(&event), Some(event));
                        continue;
                    }
                    Poll::Ready(Next::Event(event)) => Some(Ok(*event)),
                    Poll::Ready(Next::Gap(gap)) => {
                        self.doubt = None;
                        self.list(gap, None);
                        continue;
                    }
                    Poll::Ready(Next::Refused { missed }) => {
                        self.source = Source::Own(Box::new(self.own(missed)));
                        continue;
                    }
                    Poll::Pending => {
                        let Some(doubt) = &mut self.doubt else { return Poll::Pending };
                        ready!(doubt.poll(context));
                        member.rest();
                        self.list(Gap::unknown(), None);
                        continue;
                    }
                },
                Source::Listing(_, listing) => match ready!(listing.poll(context)) {
                    Some(item) => Some(item),
                    None => match self.share() {
                        Some(event) => Some(Ok(*event)),
                        None => continue,
                    },
                },
                Source::Own(stream) => ready!(Pin::new(&mut **stream).poll_next(context)),
                Source::Over => None,
            };
            match item {
                Some(Ok(event)) => {
                    if !self.seen.is_new(&event) {
                        continue;
                    }
                    let highest = highest.unwrap_or_default().max(event.sequence);
                    self.last = Some((event.id.clone(), highest));
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

    fn highest(&self) -> Option<u64> {
        self.last.as_ref().map(|(_, highest)| *highest)
    }

    /// Goes on with the list of what was left out, and then with the event.
    fn list(&mut self, gap: Gap, held: Option<Box<Event>>) {
        self.seen.remember_more();
        let events = self.hub.client.mandate(&self.mandate).events();
        let timer = Arc::clone(&self.hub.client.transport().timer);
        let listing = Listing::new(events, timer, gap, self.highest(), held);
        if let Source::Shared(member) = std::mem::replace(&mut self.source, Source::Over) {
            self.source = Source::Listing(member, Box::new(listing));
        }
    }

    /// Goes on with an event that was held back, if there is one, and with what was queued meanwhile.
    fn share(&mut self) -> Option<Box<Event>> {
        let Source::Listing(member, listing) = std::mem::replace(&mut self.source, Source::Over) else {
            return None;
        };
        self.source = Source::Shared(member);
        let (doubtful, held) = listing.end();
        if doubtful {
            self.doubt.get_or_insert_default().listed(&self.hub.client.transport().timer);
        } else {
            self.doubt = None;
        }
        held
    }

    fn own(&self, missed: bool) -> EventStream {
        let stream = self.hub.client.mandate(&self.mandate).events().stream();
        match &self.last {
            Some((id, _)) => stream.resume_after(id),
            // All that there is, and then what comes.
            None if missed || self.doubt.is_some() => stream.checkpoint(MemoryCheckpoint::new()),
            None => stream,
        }
    }
}

/// Whoever asks for the next event, until it has one or no longer wants any.
struct Asking<'a>(&'a mut WatchedEvents);

impl Drop for Asking<'_> {
    fn drop(&mut self) {
        if let Source::Shared(member) = &self.0.source {
            member.rest();
        }
    }
}

impl fmt::Debug for WatchedEvents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WatchedEvents").field("mandate", &self.mandate).finish_non_exhaustive()
    }
}
