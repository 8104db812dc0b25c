//! Any number of waits and event streams over one stream.

use std::fmt;
use std::future::{IntoFuture, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use futures_core::Stream;
use futures_util::future::FutureExt as _;

use crate::call::CallFuture;
use crate::client::Client;
use crate::error::{Error, Result};
use crate::model::approvals::Approval;
use crate::model::mandates::Mandate;
use crate::model::types::MandateId;
use crate::resources::poll::{LAST_READ, PollOptions};

mod agenda;
mod doubt;
mod events;
mod hub;
mod listing;
mod queue;
mod reads;
mod run;
mod state;
mod wakers;
mod watchdogs;

pub use events::WatchedEvents;
use hub::Hub;
use state::{Kind, Outcome};

/// Waits for many mandates at once, from [`Client::watcher`].
///
/// All waits and event streams of a watcher and its clones share one stream of the workspace's events, which is opened
/// with the first and closed with the last. A stream that is refused is asked for again about once a minute. What ends a
/// wait is what ends a [`MandateHandle::wait`](super::MandateHandle::wait): a read, and nothing else; and it is as late
/// as that one at most ([`Wait`](super::Wait) says how late), beside the time that reads take for so many. In its first
/// ten seconds a mandate is read again as after an opening, less often if it is one of more than 500 in a list.
///
/// Reads are shared too. At most 8 are under way at a time, and when 32 or more mandates are due, lists of those under
/// way are read instead of each of them. One that has ended is read by itself all the same, since nothing is documented
/// of lists of mandates; when more than 200 have to wait for that, up to 64 are read at a time, and 8 again once a read
/// fails. Unlike in a wait of its own no second read is made beside one that hangs: it is given up with the client's
/// attempt timeout, 30 s unless set otherwise, and keeps its place for so long. A mandate whose read failed is read again
/// after all others that are due, but for one read of sixteen.
///
/// Nothing is spawned: whichever of its futures is polled does the work for all, and when that one is dropped, another
/// takes over. Those that are kept and no longer polled hold up others by 250 ms at most, and mostly not at all: two are
/// woken for each piece of work, and the first to come does it.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> shadway::Result<()> {
/// # let server = shadway::local::LocalServer::start().await?;
/// # let client = server.client()?;
/// # use shadway::{agents::AgentCreateParams, mandates::MandateCreateParams};
/// # let agent = client.agents().create(AgentCreateParams::new("A", "your-provider/your-model")).await?;
/// # let mut ids = Vec::new();
/// # for _ in 0..3 {
/// #     ids.push(client.mandates().create(MandateCreateParams::new(&agent.id, "Say hello.")).await?.id);
/// # }
/// use std::future::IntoFuture as _;
///
/// let watcher = client.watcher();
/// let waits: Vec<_> = ids.iter().map(|id| tokio::spawn(watcher.wait(id).into_future())).collect();
/// for wait in waits {
///     let done = wait.await.unwrap()?;
///     println!("{} {}", done.id, done.status);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Watcher(Arc<Hub>);

impl Client {
    /// A watcher, which waits for any number of mandates over one connection. Making it sends nothing.
    ///
    /// Clone it and share it: each call of this makes another one, with a connection of its own.
    #[must_use]
    pub fn watcher(&self) -> Watcher {
        Watcher(Arc::new(Hub::new(self.clone())))
    }
}

impl Watcher {
    /// Waits until a mandate has ended, also one that had ended before.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::{agents::AgentCreateParams, mandates::MandateCreateParams};
    /// # let agent = client.agents().create(AgentCreateParams::new("A", "your-provider/your-model")).await?;
    /// # let id = client.mandates().create(MandateCreateParams::new(&agent.id, "Say hello.")).await?.id;
    /// use std::time::Duration;
    ///
    /// let watcher = client.watcher();
    /// let done = watcher.wait(id).timeout(Duration::from_secs(15 * 60)).await?;
    /// println!("{} {}", done.status, done.current_state.summary);
    /// # Ok(())
    /// # }
    /// ```
    pub fn wait(&self, mandate: impl Into<MandateId>) -> WatchedWait {
        WatchedWait(Watched { hub: Arc::clone(&self.0), mandate: mandate.into(), timeout: None })
    }

    /// Waits until a mandate asks a person, or ends without asking: then there is `None`. An approval that was
    /// already pending is found at once.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::{agents::AgentCreateParams, mandates::MandateCreateParams};
    /// # let agent = client.agents().create(AgentCreateParams::new("A", "your-provider/your-model")).await?;
    /// # let id = client.mandates().create(MandateCreateParams::new(&agent.id, "Say hello.")).await?.id;
    /// match client.watcher().wait_for_approval(&id).await? {
    ///     Some(approval) => println!("{}: {}", approval.question, approval.action.arguments),
    ///     None => println!("{id} ended without asking"),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn wait_for_approval(&self, mandate: impl Into<MandateId>) -> WatchedApproval {
        WatchedApproval(Watched { hub: Arc::clone(&self.0), mandate: mandate.into(), timeout: None })
    }

    /// Follows the events of one mandate, from what happens next on, once it is polled. It doesn't end by itself. What
    /// happens before the shared stream is open, which the first of a watcher's futures opens, is not among them.
    ///
    /// See [`WatchedEvents`] for what becomes of a reader that is slow.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::{agents::AgentCreateParams, mandates::MandateCreateParams};
    /// # let agent = client.agents().create(AgentCreateParams::new("A", "your-provider/your-model")).await?;
    /// # let id = client.mandates().create(MandateCreateParams::new(&agent.id, "Say hello.")).await?.id;
    /// let mut events = client.watcher().events(id);
    /// while let Some(event) = events.try_next().await? {
    ///     println!("{} {}", event.sequence, event.event_type);
    ///     if event.mandate_status().is_some_and(|status| status.is_terminal()) {
    ///         break;
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn events(&self, mandate: impl Into<MandateId>) -> WatchedEvents {
        WatchedEvents::new(Arc::clone(&self.0), mandate.into())
    }
}

impl fmt::Debug for Watcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watcher").finish_non_exhaustive()
    }
}

/// A wait for a mandate to end, from [`Watcher::wait`].
#[derive(Debug, Clone)]
#[must_use = "a wait does nothing until it is awaited"]
pub struct WatchedWait(Watched);

impl WatchedWait {
    /// How long to wait; without end unless it is set. When it runs out there is one more read, as with
    /// [`Wait::timeout`](super::Wait::timeout).
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.0.timeout = Some(timeout);
        self
    }
}

impl IntoFuture for WatchedWait {
    type Output = Result<Mandate>;
    type IntoFuture = CallFuture<Mandate>;

    fn into_future(self) -> CallFuture<Mandate> {
        Box::pin(self.0.outcome(|| Kind::End).map(|outcome| match outcome? {
            Outcome::Ended(mandate) => Ok(*mandate),
            _ => Err(Error::invalid_input("the wait was over before it began")),
        }))
    }
}

/// A wait for a mandate to ask a person, from [`Watcher::wait_for_approval`].
#[derive(Debug, Clone)]
#[must_use = "a wait does nothing until it is awaited"]
pub struct WatchedApproval(Watched);

impl WatchedApproval {
    /// How long to wait; without end unless it is set. When it runs out there is one more look, as with
    /// [`ApprovalWait::timeout`](super::ApprovalWait::timeout).
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.0.timeout = Some(timeout);
        self
    }
}

impl IntoFuture for WatchedApproval {
    type Output = Result<Option<Approval>>;
    type IntoFuture = CallFuture<Option<Approval>>;

    fn into_future(self) -> CallFuture<Option<Approval>> {
        Box::pin(self.0.outcome(|| Kind::Approval).map(|outcome| match outcome? {
            Outcome::Asked(approval) => Ok(Some(*approval)),
            _ => Ok(None),
        }))
    }
}

/// One wait, not begun.
#[derive(Clone)]
struct Watched {
    hub: Arc<Hub>,
    mandate: MandateId,
    timeout: Option<Duration>,
}

impl Watched {
    /// How it ends well, or the error. Written out, since there are many: an `async fn` would be twice as large.
    fn outcome(self, kind: fn() -> Kind) -> impl Future<Output = Result<Outcome>> {
        let mut begun = None;
        let mut last_read = false;
        poll_fn(move |context| {
            let timer = &self.hub.client.transport().timer;
            let (member, deadline) = begun.get_or_insert_with(|| {
                let options = PollOptions { timeout: self.timeout, interval: None };
                let deadline = hub::deadline(&self.hub, self.timeout);
                (self.hub.join(self.mandate.clone(), kind(), options), deadline)
            });
            loop {
                if let Poll::Ready(outcome) = member.poll_outcome(context) {
                    return Poll::Ready(self.result(outcome));
                }
                let Some(sleep) = deadline else { return Poll::Pending };
                ready!(sleep.as_mut().poll(context));
                if last_read {
                    return Poll::Ready(self.result(Outcome::OutOfTime(member.last())));
                }
                last_read = true;
                *deadline = Some(timer.sleep(LAST_READ));
                member.read_once_more();
            }
        })
    }

    fn result(&self, outcome: Outcome) -> Result<Outcome> {
        match outcome {
            Outcome::Failed(error) => Err(error),
            Outcome::OutOfTime(last) => {
                Err(Error::wait_timeout(self.timeout.unwrap_or_default(), last.map(|last| *last)))
            }
            outcome => Ok(outcome),
        }
    }
}

impl fmt::Debug for Watched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watched")
            .field("mandate", &self.mandate)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}

impl Stream for WatchedEvents {
    type Item = Result<crate::model::events::Event>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        self.get_mut().poll(context)
    }
}
