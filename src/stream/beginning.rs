//! What a stream with a checkpoint and no position begins with: the list of all that happened before. One that is empty
//! may be right, or lag behind the stream.

use std::task::{Context, Poll};
use std::time::Duration;

use super::connection::Connection;
use super::{EventStream, Phase};
use crate::clock::{Sleep, Timer};
use crate::error::{CallFacts, Cause, Error, Result};
use crate::model::events::Event;
use crate::model::types::EventId;

/// Until the list is asked for again; it doubles each time.
const FIRST_PAUSE: Duration = Duration::from_millis(250);
/// How often that is done, which takes about a minute.
const MOST_TIMES: u32 = 8;

/// While it is in doubt no position is kept: to resume after one would leave out what no list has shown yet.
#[derive(Default)]
pub(super) struct Beginning {
    doubtful: bool,
    /// How often the list was asked for again, since it was first empty or an event came.
    times: u32,
    pause: Option<Sleep>,
    /// Something has happened, so that it should be listed.
    happened: Option<Happened>,
}

/// The event that a connection brought; none if all that is known is that the mandate has ended.
type Happened = Option<EventId>;

impl Beginning {
    pub(super) fn is_doubtful(&self) -> bool {
        self.doubtful
    }

    /// That without which the list can't be whole.
    pub(super) fn happened(&self) -> Option<&Happened> {
        self.happened.as_ref()
    }

    /// The connection brought an event, or the mandate has ended: the list is given the same time once more to show it.
    pub(super) fn hear(&mut self, id: Happened) {
        if self.happened.is_none() {
            *self = Self { doubtful: true, happened: Some(id), ..Self::default() };
        }
    }

    /// The list was empty; when to ask again, if that is still to be done.
    pub(super) fn doubt(&mut self) -> Option<Duration> {
        self.doubtful = true;
        self.pause = None;
        if self.times == MOST_TIMES {
            return None;
        }
        self.times += 1;
        Some(FIRST_PAUSE * 2_u32.pow(self.times - 1))
    }

    pub(super) fn ask_after(&mut self, delay: Option<Duration>, timer: &dyn Timer) {
        self.pause = delay.map(|delay| timer.sleep(delay));
    }

    /// Whether the list is to be asked for again now.
    pub(super) fn poll(&mut self, context: &mut Context<'_>) -> Poll<()> {
        match &mut self.pause {
            Some(pause) => pause.as_mut().poll(context),
            None => Poll::Pending,
        }
    }
}

impl EventStream {
    /// Goes on with a connection. With a checkpoint and no cursor all that happened before it comes first.
    pub(super) fn follow(&mut self, next: Phase, resumes: bool) {
        if resumes {
            self.beginning = Beginning::default();
        }
        self.phase = match &self.keeper {
            Some(_) if !resumes => Phase::History { events: (self.list)(None), next: Box::new(next) },
            _ => next,
        };
    }

    /// The next step of the history, beside a connection that is open but not read.
    pub(super) fn listed(&mut self, item: Option<Result<Event>>) -> Result<Option<Event>> {
        let Phase::History { next, .. } = &mut self.phase else { return Ok(None) };
        match item {
            Some(Ok(event)) => {
                // The connection may repeat what is listed, or miss the end of it: the next one resumes after the
                // last that was listed, and does neither.
                if !matches!(**next, Phase::Over) {
                    **next = Phase::Start;
                }
                self.beginning = Beginning::default();
                self.cursor.follow(Some(event.id.clone()));
                Ok(self.give(event))
            }
            Some(Err(error)) if error.passes() => self.wait(error).map(|()| None),
            Some(Err(error)) => Err(error),
            None => {
                match std::mem::replace(&mut **next, Phase::Over) {
                    Phase::Open(connection) => self.none_listed(connection)?,
                    next => {
                        if matches!(next, Phase::Start) {
                            self.replace_connection();
                        }
                        self.phase = next;
                    }
                }
                Ok(None)
            }
        }
    }

    /// The list is empty, beside an open connection. It is asked for again in a while, at once when an event comes, and
    /// until it shows one no event is given out: the first ones are not to be left out.
    fn none_listed(&mut self, connection: Box<Connection>) -> Result<()> {
        let delay = self.beginning.doubt();
        match (self.beginning.happened(), delay) {
            (None, delay) => {
                self.beginning.ask_after(delay, &*self.transport.timer);
                self.phase = Phase::Open(connection);
            }
            (Some(_), Some(delay)) => {
                // What it brings is of no use before that.
                self.replace_connection();
                self.phase = Phase::Waiting(self.transport.timer.sleep(delay));
            }
            (Some(id), None) => {
                let call = CallFacts { request_id: connection.request_id(), ..CallFacts::default() };
                return Err(Error::new(Cause::HistoryMissing(id.clone()), call));
            }
        }
        Ok(())
    }

    /// The mandate has ended, and nothing has been listed: that is given its time, as for an event of the connection's.
    pub(super) fn list_the_beginning(&mut self) -> Poll<()> {
        // One connection after another has it listed; one that doesn't come must not hold that up.
        if self.beginning.happened().is_some() && !matches!(self.phase, Phase::Opening { .. }) {
            return Poll::Pending;
        }
        self.beginning.hear(None);
        self.list_again();
        Poll::Ready(())
    }

    /// The next connection takes the place of one that was no failure.
    pub(super) fn replace_connection(&mut self) {
        self.attempts = self.attempts.saturating_sub(1);
    }

    pub(super) fn list_again(&mut self) {
        let next = Box::new(std::mem::replace(&mut self.phase, Phase::Over));
        self.phase = Phase::History { events: (self.list)(None), next };
    }
}
