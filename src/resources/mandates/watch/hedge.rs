//! A read that hangs is overtaken by a second one.

use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::call::CallFuture;
use crate::clock::{Sleep, Timer};
use crate::error::Result;
use crate::resources::poll::LONGEST_WISH;

/// How long a read may take before another is made beside it. It doubles with each of those, to the longest.
const FIRST_PATIENCE: Duration = Duration::from_millis(500);
const LONGEST_PATIENCE: Duration = Duration::from_secs(16);
/// The oldest, which may be slow and yet answer, and one that overtakes it should its connection be lost.
const AT_ONCE: usize = 2;

/// One read, made by as many requests as it takes, [`AT_ONCE`] of them under way at most.
///
/// They spend nothing of the retry budget, which a service that hangs would not empty: it is made for answers that
/// fail. What bounds them is the patience. It outlasts the read, and only a request that was answered in less than the
/// first patience brings that back, so a service that is slow with each gets no more requests for it after a while, and
/// one that hangs for good gets one in 16 s.
pub(crate) struct Hedged<T> {
    /// The oldest first.
    requests: Vec<(Instant, CallFuture<T>)>,
    patience: Duration,
    pause: Option<Sleep>,
}

impl<T> Hedged<T> {
    pub(crate) fn new() -> Self {
        Self { requests: Vec::with_capacity(AT_ONCE), patience: FIRST_PATIENCE, pause: None }
    }

    pub(crate) fn is_under_way(&self) -> bool {
        !self.requests.is_empty()
    }

    pub(crate) fn begin(&mut self, timer: &dyn Timer, request: CallFuture<T>) {
        self.requests.push((timer.now(), request));
        self.pause = Some(timer.sleep(self.patience));
    }

    /// The first answer, whichever request it comes for, a refusal included; or the last failure, if all fail. It drops
    /// those that are still under way. Pending as well while there is no read.
    pub(crate) fn poll(
        &mut self,
        context: &mut Context<'_>,
        timer: &dyn Timer,
        request: impl Fn() -> CallFuture<T>,
    ) -> Poll<Result<T>> {
        loop {
            let mut at = 0;
            while let Some((started, future)) = self.requests.get_mut(at) {
                let Poll::Ready(read) = future.as_mut().poll(context) else {
                    at += 1;
                    continue;
                };
                let took = timer.now().saturating_duration_since(*started);
                drop(self.requests.remove(at));
                match read {
                    // The other decides, and no further one is made before the service wishes it.
                    Err(error) if error.passes() && self.is_under_way() => {
                        if let Some(wish) = error.retry_after() {
                            self.pause = Some(timer.sleep(wish.min(LONGEST_WISH).max(self.patience)));
                        }
                    }
                    read => {
                        if read.is_ok() && took < FIRST_PATIENCE {
                            self.patience = FIRST_PATIENCE;
                        }
                        self.requests.clear();
                        self.pause = None;
                        return Poll::Ready(read);
                    }
                }
            }
            let over = self.pause.as_mut().is_some_and(|pause| pause.as_mut().poll(context).is_ready());
            if !over {
                return Poll::Pending;
            }
            self.patience = LONGEST_PATIENCE.min(2 * self.patience);
            self.requests.truncate(AT_ONCE - 1);
            self.begin(timer, request());
        }
    }
}
