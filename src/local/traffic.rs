//! What is under way on the server and who waits for it: what an automatic clock goes by.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use tokio::sync::{Notify, watch};

/// Counts what is under way, and who waits.
#[derive(Debug, Default)]
pub(crate) struct Traffic {
    /// Requests that are being answered.
    requests: AtomicUsize,
    /// Work outside of the workspace that reports to it when it is done.
    jobs: watch::Sender<usize>,
    /// Open streams that have given all there is, and wait for more.
    readers: AtomicUsize,
    /// Rises with each of these changes, so that a look at all of them can be seen to be out of date.
    stirred: AtomicU64,
    /// Told of each of these changes, and when what is due next may have changed.
    changed: Notify,
}

/// Counted for as long as it is kept.
#[derive(Debug)]
pub(crate) struct Counted {
    traffic: Arc<Traffic>,
    kind: Kind,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Request,
    Job,
    Reader,
}

impl Traffic {
    pub(crate) fn count(self: &Arc<Self>, kind: Kind) -> Counted {
        match kind {
            Kind::Request => drop(self.requests.fetch_add(1, Ordering::SeqCst)),
            Kind::Job => self.jobs.send_modify(|jobs| *jobs += 1),
            Kind::Reader => drop(self.readers.fetch_add(1, Ordering::SeqCst)),
        }
        self.stir();
        Counted { traffic: Arc::clone(self), kind }
    }

    /// Whether nothing is under way.
    pub(crate) fn is_quiet(&self) -> bool {
        self.requests.load(Ordering::SeqCst) == 0 && *self.jobs.borrow() == 0
    }

    /// Whether a stream waits for what happens next.
    pub(crate) fn has_readers(&self) -> bool {
        self.readers.load(Ordering::SeqCst) > 0
    }

    pub(crate) fn stirred(&self) -> u64 {
        self.stirred.load(Ordering::SeqCst)
    }

    pub(crate) fn notify(&self) {
        self.changed.notify_one();
    }

    /// Until something changes; at once if it has since the last time.
    pub(crate) async fn changed(&self) {
        self.changed.notified().await;
    }

    /// Until no job is under way.
    pub(crate) async fn without_jobs(&self) {
        // The sender lives as long as this does.
        let _ = self.jobs.subscribe().wait_for(|jobs| *jobs == 0).await;
    }

    fn stir(&self) {
        self.stirred.fetch_add(1, Ordering::SeqCst);
        self.notify();
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        let traffic = &self.traffic;
        match self.kind {
            Kind::Request => drop(traffic.requests.fetch_sub(1, Ordering::SeqCst)),
            Kind::Job => traffic.jobs.send_modify(|jobs| *jobs -= 1),
            Kind::Reader => drop(traffic.readers.fetch_sub(1, Ordering::SeqCst)),
        }
        traffic.stir();
    }
}
