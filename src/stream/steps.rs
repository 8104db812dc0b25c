//! What a stream does next: connect, read, wait, and when it is over.

use std::task::{Context, Poll, ready};

use http::{Response, StatusCode};

use super::connection::{self, Break, Connection};
use super::cursor::Cursor;
use super::decoder::Block;
use super::{EventStream, Phase, StreamState};
use crate::error::{CallFacts, Cause, Error, Result};
use crate::model::events::{Event, EventType};
use crate::model::mandates::MandateStatus;
use crate::transport::{Body, request_id, unfit};

impl EventStream {
    /// One step; an event, if it came to one.
    pub(super) fn poll_step(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Event>>> {
        if let Some(keeper) = &mut self.keeper {
            if let Some(position) = ready!(keeper.poll_loaded(context))? {
                self.cursor = Cursor::given(position);
            }
            ready!(keeper.poll_saved(context))?;
        }
        let step = match self.poll_phase(context) {
            Poll::Pending => self.poll_ending(context).map_ok(|()| None),
            step => step,
        };
        // From here on nobody may poll the read for long: the caller, or a list, has its turn.
        let turns_away = matches!(step, Poll::Ready(Ok(Some(_)) | Err(_)))
            || matches!(self.phase, Phase::History { .. } | Phase::Over);
        if let Some(ending) = self.ending.as_mut().filter(|_| turns_away) {
            ending.let_go();
        }
        step
    }

    fn poll_phase(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<Event>>> {
        let done = match &mut self.phase {
            Phase::Start => self.connect(),
            Phase::Opening { opening, resumes } => {
                let resumes = *resumes;
                let answer = ready!(opening.as_mut().poll(context));
                self.opened(answer, resumes)
            }
            Phase::History { events, .. } => {
                let item = ready!(events.as_mut().poll_next(context));
                return Poll::Ready(self.listed(item));
            }
            Phase::Rest(_) => return self.poll_rest(context),
            Phase::Open(connection) => {
                let polled = connection.poll_block(context, &*self.transport.timer);
                if let Some(milliseconds) = connection.take_retry() {
                    self.backoff.set_base(milliseconds);
                }
                match polled {
                    Poll::Ready(Ok(block)) => return Poll::Ready(Ok(self.take(block))),
                    Poll::Ready(Err(why)) => {
                        let request_id = connection.request_id();
                        self.broken(why, request_id)
                    }
                    Poll::Pending => {
                        ready!(self.beginning.poll(context));
                        self.list_again();
                        Ok(())
                    }
                }
            }
            Phase::Waiting(sleep) => {
                ready!(sleep.as_mut().poll(context));
                self.phase = Phase::Start;
                Ok(())
            }
            Phase::Over => Ok(()),
        };
        Poll::Ready(done.map(|()| None))
    }

    /// Looks, while a connection has nothing or there is none, whether the mandate has ended.
    fn poll_ending(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        let connects = matches!(self.phase, Phase::Opening { .. } | Phase::Open(_) | Phase::Waiting(_));
        let ending = self.ending.as_mut().filter(|_| self.until_terminal && connects);
        let Some(ending) = ending else { return Poll::Pending };
        let ended = ready!(ending.poll(context));
        if ended.is_ok() && self.keeper.is_some() && self.has_nothing() {
            return self.list_the_beginning().map(Ok);
        }
        self.finish();
        Poll::Ready(ended)
    }

    fn connect(&mut self) -> Result<()> {
        if self.until_terminal && self.ending.is_none() {
            return Err(Error::invalid_input("until_terminal needs the stream of one mandate"));
        }
        let last_event_id = self.cursor.header()?;
        let Some(call) = self.call.take() else {
            self.phase = Phase::Over;
            return Ok(());
        };
        self.call = call.again();
        self.attempts = self.attempts.saturating_add(1);
        let resumes = last_event_id.is_some();
        let opening = Box::pin(call.open(last_event_id, self.attempts));
        self.phase = Phase::Opening { opening, resumes };
        self.observer.see(&StreamState::Connecting { after: self.cursor().cloned() });
        Ok(())
    }

    fn opened(&mut self, answer: Result<Response<Body>>, resumes: bool) -> Result<()> {
        let response = match answer {
            Ok(response) => response,
            Err(error) if error.passes() => return self.wait(error),
            Err(error) if error.status() == Some(StatusCode::GONE) && resumes => {
                return Err(error.cursor_too_old());
            }
            Err(error) => return Err(error),
        };
        if response.status() == StatusCode::NO_CONTENT {
            self.follow(Phase::Over, resumes);
            return Ok(());
        }
        let request_id = request_id(response.headers());
        if let Err(what) = connection::check_type(response.headers()) {
            let status = Some(response.status());
            let call = CallFacts { status, request_id, attempts: self.attempts, ..CallFacts::default() };
            return Err(Error::new(Cause::Decode(what, None), call));
        }
        let connection =
            Connection::new(response.into_body(), request_id, self.max_event_bytes, self.idle_timeout);
        self.follow(Phase::Open(Box::new(connection)), resumes);
        if let Some(ending) = self.ending.as_mut().filter(|_| self.until_terminal) {
            ending.opened(resumes);
        }
        self.observer.see(&StreamState::Open);
        // With a checkpoint what happened before is listed.
        if std::mem::replace(&mut self.was_open, true) && !resumes && self.keeper.is_none() {
            self.missed = true;
            self.observer.see(&StreamState::Missed);
        }
        Ok(())
    }

    fn take(&mut self, block: Block) -> Option<Event> {
        if !self.beginning.is_doubtful() {
            self.cursor.follow(block.id);
        }
        let frame = block.frame?;
        self.event_bytes = frame.data.len();
        let event: Event = match serde_json::from_str(&frame.data) {
            Ok(event) => event,
            Err(error) => {
                let key = &self.transport.api_key;
                let cause = Error::new(unfit(&error.to_string(), error, key), CallFacts::default());
                let event_type = key.redact_text(&frame.event).unwrap_or(frame.event);
                self.observer.see(&StreamState::Skipped { event_type, cause });
                return None;
            }
        };
        if self.beginning.is_doubtful() {
            self.beginning.hear(Some(event.id));
            self.list_again();
            return None;
        }
        self.give(event)
    }

    /// The event, if it is to be given out.
    pub(super) fn give(&mut self, event: Event) -> Option<Event> {
        // A connection that brings only what was there before is no better than one that brings nothing.
        if !self.seen.is_new(&event) {
            return None;
        }
        if let Some(ending) = &mut self.ending {
            ending.heard(&event);
        }
        self.backoff.reset();
        self.attempts = 1;
        if self.until_terminal && event.mandate_status().is_some_and(MandateStatus::is_terminal) {
            self.phase = Phase::Over;
        }
        let all = self.event_types.is_empty() || self.event_types.contains(&EventType::All);
        (all || self.event_types.contains(&event.event_type)).then_some(event)
    }

    fn broken(&mut self, why: Break, request_id: Option<String>) -> Result<()> {
        let call = CallFacts { request_id, attempts: self.attempts, ..CallFacts::default() };
        match why {
            Break::Passing(cause) => self.wait(Error::new(cause, call)),
            Break::Final(cause) => Err(Error::new(cause, call)),
        }
    }

    /// Begins to save the position, if there is a checkpoint that doesn't have it; says whether it did.
    pub(super) fn keep(&mut self) -> bool {
        self.keeper.as_mut().is_some_and(|keeper| keeper.keep(self.cursor.id()))
    }

    /// The way to the next connection, if there is to be one.
    pub(super) fn wait(&mut self, cause: Error) -> Result<()> {
        if self.max_reconnects.is_some_and(|most| self.attempts > most) {
            return Err(cause);
        }
        let delay = self.backoff.next(fastrand::f64(), cause.retry_after());
        self.call.iter().for_each(|call| call.trace_reconnect(&cause, delay));
        self.phase = Phase::Waiting(self.transport.timer.sleep(delay));
        self.observer.see(&StreamState::Waiting { cause, delay });
        Ok(())
    }
}
