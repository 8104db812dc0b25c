//! When a stream that follows a mandate to its end is over.

use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use crate::call::{Call, CallFuture};
use crate::clock::{Sleep, Timer};
use crate::error::Result;
use crate::model::events::Event;
use crate::model::mandates::Mandate;

/// How long to listen on once the mandate is known to have ended, from the last event on: what is being replayed,
/// and what was sent while the mandate was read, is still to come.
const LINGER: Duration = Duration::from_secs(2);
/// Until the next read, when one failed after its retries.
const PAUSE: Duration = Duration::from_secs(10);
/// How often to listen on when the list, too, has no event by which the mandate ended. It may lag behind the mandate.
const MOST_ROUNDS: u32 = 3;

/// Reads the mandate beside the stream: of one that ended before, no event may ever come.
pub(super) struct Ending {
    mandate: Call<Mandate>,
    timer: Arc<dyn Timer>,
    reading: Option<CallFuture<Mandate>>,
    /// It is to be read once more after that.
    again: bool,
    /// It was read beside a connection from which on nothing is missed.
    read: bool,
    ended: bool,
    linger: Option<Sleep>,
    rounds: u32,
    /// The highest sequence of the events so far.
    highest: Option<u64>,
}

impl Ending {
    pub(super) fn new(mandate: Call<Mandate>, timer: Arc<dyn Timer>) -> Self {
        Self {
            mandate,
            timer,
            reading: None,
            again: false,
            read: false,
            ended: false,
            linger: None,
            rounds: 0,
            highest: None,
        }
    }

    /// A connection is open. One that didn't resume may have missed the end, so the mandate is read again.
    pub(super) fn opened(&mut self, resumed: bool) {
        if self.ended || (self.read && resumed) {
            return;
        }
        if self.reading.is_some() {
            self.again |= !resumed;
        } else {
            self.reading = self.read_after(Duration::ZERO);
        }
    }

    /// A new event came, so more may.
    pub(super) fn heard(&mut self, event: &Event) {
        self.linger = None;
        // An event without a number has the sequence zero.
        self.highest = Some(event.sequence).filter(|sequence| *sequence != 0).max(self.highest);
    }

    pub(super) fn highest(&self) -> Option<u64> {
        self.highest
    }

    /// Ready when the stream brings nothing more of a mandate that has ended, or when the mandate can't be read.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        while let Some(reading) = &mut self.reading {
            match ready!(reading.as_mut().poll(context)) {
                Ok(mandate) => {
                    self.ended = mandate.status.is_terminal();
                    self.read = !self.again;
                    let again = std::mem::take(&mut self.again) && !self.ended;
                    self.reading = if again { self.read_after(Duration::ZERO) } else { None };
                }
                Err(error) if error.is_retryable() => self.reading = self.read_after(PAUSE),
                Err(error) => return Poll::Ready(Err(error)),
            }
        }
        if !self.ended {
            return Poll::Pending;
        }
        let linger = self.linger.get_or_insert_with(|| self.timer.sleep(LINGER));
        ready!(linger.as_mut().poll(context));
        self.linger = None;
        Poll::Ready(Ok(()))
    }

    /// The list has nothing more either; whether to listen on all the same.
    pub(super) fn goes_on(&mut self) -> bool {
        self.rounds += 1;
        self.rounds < MOST_ROUNDS
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
