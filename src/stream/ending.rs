//! When a stream that follows a mandate to its end is over.

use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use crate::call::{Call, CallFuture};
use crate::clock::{Sleep, Timer};
use crate::error::Result;
use crate::model::mandates::Mandate;

/// How long to listen on once the mandate is known to have ended, from the last event on: what is being replayed,
/// and what was sent while the mandate was read, is still to come.
const LINGER: Duration = Duration::from_secs(2);
/// Until the next read, when one failed after its retries.
const PAUSE: Duration = Duration::from_secs(10);

/// Reads the mandate beside the open stream: of one that ended before, no event may ever come.
pub(super) struct Ending {
    mandate: Call<Mandate>,
    timer: Arc<dyn Timer>,
    reading: Option<CallFuture<Mandate>>,
    /// It was read beside a connection that misses nothing from there on.
    read: bool,
    ended: bool,
    linger: Option<Sleep>,
}

impl Ending {
    pub(super) fn new(mandate: Call<Mandate>, timer: Arc<dyn Timer>) -> Self {
        Self { mandate, timer, reading: None, read: false, ended: false, linger: None }
    }

    /// A connection is open. One that didn't resume may have missed the end, so the mandate is read again.
    pub(super) fn opened(&mut self, resumed: bool) {
        self.linger = None;
        let missed_nothing = self.read && resumed;
        if !self.ended && !missed_nothing {
            self.read = false;
            self.reading = self.read_after(Duration::ZERO);
        }
    }

    /// An event came, so more may.
    pub(super) fn heard(&mut self) {
        self.linger = None;
    }

    /// Ready when nothing more is to come, or when the mandate can't be read.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        while let Some(reading) = &mut self.reading {
            match ready!(reading.as_mut().poll(context)) {
                Ok(mandate) => {
                    self.read = true;
                    self.ended = mandate.status.is_terminal();
                    self.reading = None;
                }
                Err(error) if error.is_retryable() => self.reading = self.read_after(PAUSE),
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        if !self.ended {
            return Poll::Pending;
        }
        let linger = self.linger.get_or_insert_with(|| self.timer.sleep(LINGER));
        linger.as_mut().poll(context).map(Ok)
    }

    fn read_after(&self, pause: Duration) -> Option<CallFuture<Mandate>> {
        let call = self.mandate.again()?;
        let timer = Arc::clone(&self.timer);
        Some(Box::pin(async move {
            if !pause.is_zero() {
                timer.sleep(pause).await;
            }
            call.send().await
        }))
    }
}
