//! What the requests and the course of events share: the workspace behind its lock, and the clock.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use super::clock::{Clock, Moment};
use super::workspace::Workspace;

/// What the requests and the course of events share.
pub(crate) struct Shared {
    clock: Clock,
    pub(crate) workspace: Mutex<Workspace>,
    /// Told when what is due next may have changed.
    changed: Notify,
    pub(crate) stopped: AtomicBool,
}

impl Shared {
    pub(crate) fn start() -> Self {
        let clock = Clock::start();
        let workspace = Mutex::new(Workspace::new(clock.epoch, fastrand::Rng::new()));
        Self { clock, workspace, changed: Notify::new(), stopped: AtomicBool::new(false) }
    }

    /// Does something with the workspace as it is now: after all that was due.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut Workspace, Moment) -> T) -> T {
        let mut workspace = self.workspace.lock().unwrap_or_else(PoisonError::into_inner);
        // Read under the lock, so that no request sees an earlier time than the one before it.
        let now = self.clock.now();
        workspace.advance(now);
        let before = workspace.next_due();
        let result = work(&mut workspace, now);
        if workspace.next_due() != before {
            self.changed.notify_one();
        }
        result
    }
}

/// Moves everything on when it is due, whether or not anyone asks.
pub(crate) async fn keep_moving(shared: Arc<Shared>) {
    loop {
        let next = shared.with(|workspace, _| workspace.next_due());
        match next.and_then(|moment| shared.clock.instant(moment)) {
            Some(instant) => {
                // Whichever comes first, the next round looks at what is due.
                let _ = tokio::time::timeout_at(instant, shared.changed.notified()).await;
            }
            None => shared.changed.notified().await,
        }
    }
}
