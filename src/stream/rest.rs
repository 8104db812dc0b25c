//! What a stream that follows a mandate to its end did not bring, once the mandate has ended: it is listed.

use std::task::{Context, Poll, ready};

use super::ending::Ending;
use super::steps::passes;
use super::{EventStream, History, Phase};
use crate::error::Result;
use crate::model::events::Event;
use crate::model::mandates::MandateStatus;
use crate::model::types::EventId;

pub(super) struct Rest {
    events: History,
    /// Where to begin: after the event of this id, which hasn't come yet.
    skips_to: Option<EventId>,
    /// The mandate ended before that.
    ended_before: bool,
}

impl Rest {
    fn new(events: History, skips_to: Option<EventId>) -> Self {
        Self { events, skips_to, ended_before: false }
    }

    /// The next event to give out.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Event>>> {
        loop {
            match ready!(self.events.as_mut().poll_next(context)) {
                Some(Ok(event)) if self.skips_to.is_some() => {
                    self.ended_before |= event.mandate_status().is_some_and(MandateStatus::is_terminal);
                    self.skips_to = self.skips_to.take().filter(|id| *id != event.id);
                }
                item => return Poll::Ready(item),
            }
        }
    }
}

impl EventStream {
    /// The mandate has ended and the connection brings nothing more. What follows the last event is listed, or, with
    /// none so far, what follows the position; without one the stream began with what happens next, and nothing did.
    pub(super) fn finish(&mut self) {
        let highest = self.ending.as_ref().and_then(Ending::highest);
        let position = self.cursor.id().filter(|_| highest.is_none()).cloned();
        let from_somewhere = highest.is_some() || position.is_some() || self.keeper.is_some();
        self.phase = match from_somewhere {
            true => Phase::Rest(Box::new(Rest::new((self.list)(highest), position))),
            false => Phase::Over,
        };
    }

    /// The next step on the list.
    pub(super) fn poll_rest(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Event>>> {
        let Phase::Rest(rest) = &mut self.phase else { return Poll::Ready(Ok(None)) };
        let item = ready!(rest.poll(context));
        Poll::Ready(match item {
            Some(Ok(event)) => {
                self.cursor.follow(Some(event.id.clone()));
                Ok(self.give(event))
            }
            Some(Err(error)) if passes(&error) => self.wait(error).map(|()| None),
            Some(Err(error)) => Err(error),
            None => {
                let (found, ended_before) = (rest.skips_to.is_none(), rest.ended_before);
                // A list without the event by which the mandate ended is not yet whole.
                if !ended_before && self.ending.as_mut().is_some_and(Ending::goes_on) {
                    self.replace_connection();
                    self.phase = Phase::Start;
                } else if !found && self.cursor.is_given() {
                    // The caller's position is no event: it is before all of them. The one at which the service began
                    // is after them, since nothing has come.
                    self.phase = Phase::Rest(Box::new(Rest::new((self.list)(None), None)));
                } else {
                    self.phase = Phase::Over;
                }
                Ok(None)
            }
        })
    }
}
