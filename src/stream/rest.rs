//! What a stream that follows a mandate to its end did not bring, once the mandate has ended: it is listed.

use std::task::{Context, Poll, ready};

use super::ending::Ending;
use super::{EventStream, History, Phase, StreamState};
use crate::error::Result;
use crate::model::events::Event;
use crate::model::mandates::MandateStatus;
use crate::model::types::EventId;

pub(super) struct Rest {
    events: History,
    skips: Skips,
    /// The event by which the mandate ended is given out in any case.
    gives_end: bool,
    /// The mandate ended before what is given out.
    ended_before: bool,
}

/// What is listed and not given out.
enum Skips {
    Nothing,
    /// What is before the event of this id, and that one.
    To(EventId),
    All,
}

impl Rest {
    fn new(events: History, skips: Skips, gives_end: bool) -> Self {
        Self { events, skips, gives_end, ended_before: false }
    }

    /// The next event to give out.
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Option<Result<Event>>> {
        loop {
            match ready!(self.events.as_mut().poll_next(context)) {
                Some(Ok(event)) if !matches!(self.skips, Skips::Nothing) => {
                    let ends = event.mandate_status().is_some_and(MandateStatus::is_terminal);
                    if ends && self.gives_end {
                        return Poll::Ready(Some(Ok(event)));
                    }
                    self.ended_before |= ends;
                    if matches!(&self.skips, Skips::To(id) if *id == event.id) {
                        self.skips = Skips::Nothing;
                    }
                }
                item => return Poll::Ready(item),
            }
        }
    }
}

impl EventStream {
    /// The mandate has ended and the connection brings nothing more. What follows the last event is listed, or, with
    /// none so far, what follows the position; without one the stream began with what happens next, and nothing did, as far
    /// as is known. Where a connection couldn't resume, the end may have been before the position.
    pub(super) fn finish(&mut self) {
        let highest = self.ending.as_ref().and_then(Ending::highest);
        let position = self.cursor.id().filter(|_| highest.is_none()).cloned();
        let missed = self.missed && highest.is_none();
        let skips = match position {
            Some(position) => Skips::To(position),
            None if highest.is_some() => Skips::Nothing,
            None if missed => Skips::All,
            None => {
                self.phase = Phase::Over;
                return;
            }
        };
        self.phase = Phase::Rest(Box::new(Rest::new((self.list)(highest), skips, missed)));
    }

    /// No event has been given out, and no position is known.
    pub(super) fn has_nothing(&self) -> bool {
        self.cursor.id().is_none() && self.ending.as_ref().is_none_or(|ending| ending.highest().is_none())
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
            Some(Err(error)) if error.passes() => self.wait(error).map(|()| None),
            Some(Err(error)) => Err(error),
            None => {
                let (found, ended_before) = (matches!(rest.skips, Skips::Nothing), rest.ended_before);
                // A list without the event by which the mandate ended is not yet whole.
                if !ended_before && self.ending.as_mut().is_some_and(Ending::goes_on) {
                    self.replace_connection();
                    self.phase = Phase::Start;
                } else if !found && self.cursor.is_given() {
                    // The caller's position is no event: it is before all of them. The one at which the service began
                    // is after them, since nothing has come.
                    self.phase = Phase::Rest(Box::new(Rest::new((self.list)(None), Skips::Nothing, false)));
                } else {
                    if !ended_before {
                        self.observer.see(&StreamState::EndMissing);
                    }
                    self.phase = Phase::Over;
                }
                Ok(None)
            }
        })
    }
}
