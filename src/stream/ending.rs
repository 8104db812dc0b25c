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
/// Until the next read, after one that says the mandate goes on: that may lag behind, and no event need come. It doubles
/// from the first to the longest.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// Until the next read, when one failed after its retries.
const FAILED_PAUSE: Duration = Duration::from_secs(10);
/// How often to listen on when the list, too, has no event by which the mandate ended. It may lag behind the mandate.
const MOST_ROUNDS: u32 = 3;

/// Reads the mandate beside the stream: of one that ended before, no event may ever come.
pub(super) struct Ending {
    mandate: Call<Mandate>,
    timer: Arc<dyn Timer>,
    read: Read,
    /// How long after an answer the next read begins.
    pause: Duration,
    /// A connection that may have missed the end was opened while the read was under way.
    again: bool,
    /// It was read beside a connection from which on nothing is missed.
    informed: bool,
    ended: bool,
    linger: Option<Sleep>,
    rounds: u32,
    /// The highest sequence of the events so far.
    highest: Option<u64>,
}

enum Read {
    /// Before the first connection, or when there is no more to learn.
    None,
    /// At once, or after a pause.
    Due(Option<Sleep>),
    UnderWay(CallFuture<Mandate>),
}

impl Ending {
    pub(super) fn new(mandate: Call<Mandate>, timer: Arc<dyn Timer>) -> Self {
        Self {
            mandate,
            timer,
            read: Read::None,
            pause: FIRST_PAUSE,
            again: false,
            informed: false,
            ended: false,
            linger: None,
            rounds: 0,
            highest: None,
        }
    }

    /// A connection is open. One that didn't resume may have missed the end, so the mandate is read again.
    pub(super) fn opened(&mut self, resumed: bool) {
        if self.ended || (self.informed && resumed) {
            return;
        }
        match self.read {
            Read::UnderWay(_) => self.again |= !resumed,
            // One that failed keeps its pause.
            Read::Due(_) if !self.informed => {}
            Read::Due(_) | Read::None => self.read = Read::Due(None),
        }
        self.informed = false;
        self.pause = FIRST_PAUSE;
    }

    /// Nobody polls this for a while: a read under way would hold its place in the transport, and is made again later.
    pub(super) fn let_go(&mut self) {
        if let Read::UnderWay(_) = self.read {
            self.again = false;
            self.read = self.due_after(FIRST_PAUSE);
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
        loop {
            match &mut self.read {
                Read::None => break,
                Read::Due(pause) => {
                    if let Some(pause) = pause {
                        ready!(pause.as_mut().poll(context));
                    }
                    let call = self.mandate.again();
                    self.read = call.map_or(Read::None, |call| Read::UnderWay(Box::pin(call.send())));
                }
                Read::UnderWay(reading) => match ready!(reading.as_mut().poll(context)) {
                    Ok(mandate) => self.answered(mandate.status.is_terminal()),
                    Err(error) if error.passes() => self.read = self.due_after(FAILED_PAUSE),
                    Err(error) => return Poll::Ready(Err(error)),
                },
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

    fn answered(&mut self, ended: bool) {
        self.ended = ended;
        let again = std::mem::take(&mut self.again);
        self.informed = !again;
        self.read = match (ended, again) {
            (true, _) => Read::None,
            (false, true) => Read::Due(None),
            (false, false) => self.due_after(self.pause),
        };
        if !again {
            self.pause = LONGEST_PAUSE.min(2 * self.pause);
        }
    }

    fn due_after(&self, pause: Duration) -> Read {
        Read::Due(Some(self.timer.sleep(pause)))
    }
}
