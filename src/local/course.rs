//! The course of events: what is due happens when its time comes, or when time is moved to it.

use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use tokio::time::{Instant, timeout, timeout_at};

use super::shared::Shared;

/// How long nothing may have stirred before an automatic clock is moved: long enough for a client that has just
/// been told something to ask for more.
const QUIET: Duration = Duration::from_millis(1);
/// How long is waited for what was connected before time is moved on without it.
const PATIENCE: Duration = Duration::from_secs(5);

/// Moves everything on when it is due, whether or not anyone asks.
pub(crate) async fn keep_moving(shared: Arc<Shared>) {
    loop {
        let stirred = shared.traffic.stirred();
        let (next, skips) = shared.with(|workspace, _| (workspace.next_due(), shared.may_skip(workspace)));
        let due = next.and_then(|moment| shared.clock.instant(moment));
        let quiet = skips.then(|| Instant::now() + QUIET);
        // Whichever comes first, the next round looks at what is due.
        match due.into_iter().chain(quiet).min() {
            Some(instant) => {
                if timeout_at(instant, shared.traffic.changed()).await.is_err() && skips {
                    shared.skip(stirred);
                }
            }
            None => shared.traffic.changed().await,
        }
    }
}

impl Shared {
    /// Moves time on by so much, and lets all happen that is due until then, each at its time.
    pub(crate) async fn advance(&self, by: Duration) {
        let target = self.with(|_, now| now.after(by));
        loop {
            self.settled().await;
            let arrived = self.move_time(|workspace| match workspace.next_due() {
                Some(due) if due < target => (Some(due), false),
                _ => (Some(target), true),
            });
            if arrived {
                return self.settled().await;
            }
        }
    }

    /// Moves time on to what is due next, and says when that was; `None` when nothing is due.
    pub(crate) async fn skip_to_next(&self) -> Option<Timestamp> {
        self.settled().await;
        let due = self.move_time(|workspace| {
            let due = workspace.next_due();
            (due, due)
        })?;
        self.settled().await;
        Some(self.clock.epoch.timestamp(due))
    }

    async fn settled(&self) {
        // Later than that it is the executor's own time limit that counts.
        let _ = timeout(PATIENCE, self.traffic.without_jobs()).await;
    }

    /// Moves an automatic clock to what is due next, if nothing has stirred since.
    fn skip(&self, stirred: u64) {
        self.move_time(|workspace| {
            let still = self.traffic.stirred() == stirred && self.may_skip(workspace);
            (workspace.next_due().filter(|_| still), ())
        });
    }
}
