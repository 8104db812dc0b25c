//! One open connection: its bytes, decoded as they come, and the timer of its silence.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::{Duration, Instant};

use bytes::Bytes;
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use http_body::Body as _;

use super::decoder::{Block, Decoder};
use crate::clock::{Sleep, Timer};
use crate::error::{Cause, one_line};
use crate::transport::Body;

/// Why a connection gives no more blocks.
#[derive(Debug)]
pub(super) enum Break {
    /// Another connection may do better.
    Passing(Cause),
    /// It would come to the same again.
    Final(Cause),
}

/// How many pieces of a body without a complete block are taken before others get their turn.
const PIECES_AT_ONCE: u32 = 64;

pub(super) struct Connection {
    body: Body,
    decoder: Decoder,
    silence: Silence,
    max_event_bytes: usize,
    request_id: Option<String>,
}

impl Connection {
    pub(super) fn new(
        body: Body,
        request_id: Option<String>,
        max_event_bytes: usize,
        idle_timeout: Duration,
    ) -> Self {
        let silence = Silence { limit: idle_timeout, since: None, sleep: None };
        Self { body, decoder: Decoder::new(max_event_bytes), silence, max_event_bytes, request_id }
    }

    /// The id under which the service knows the request.
    pub(super) fn request_id(&self) -> Option<String> {
        self.request_id.clone()
    }

    /// The reconnection time the service asked for since this was last called, in milliseconds.
    pub(super) fn take_retry(&mut self) -> Option<u64> {
        self.decoder.take_retry()
    }

    pub(super) fn poll_block(
        &mut self,
        context: &mut Context<'_>,
        timer: &dyn Timer,
    ) -> Poll<Result<Block, Break>> {
        for _ in 0..PIECES_AT_ONCE {
            match self.decoder.next() {
                Ok(Some(block)) => return Poll::Ready(Ok(block)),
                Ok(None) => {}
                Err(_) => return broken(Break::Final(Cause::EventTooLarge(self.max_event_bytes))),
            }
            // The timer comes after the data: however late this is polled, what has come is no silence.
            let frame = match Pin::new(&mut self.body).poll_frame(context) {
                Poll::Ready(frame) => frame,
                Poll::Pending => {
                    ready!(self.silence.poll(context, timer));
                    return broken(Break::Passing(Cause::StreamIdle(self.silence.limit)));
                }
            };
            match frame {
                Some(Ok(frame)) => {
                    let data = frame.into_data().unwrap_or_else(|_| Bytes::new());
                    if !data.is_empty() {
                        self.silence.over();
                        self.decoder.push(data);
                    }
                }
                Some(Err(source)) => return broken(Break::Passing(Cause::Connection(source))),
                None => return broken(Break::Passing(Cause::StreamEnd)),
            }
        }
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

/// Whether the answer is an event stream; if not, what it is instead.
pub(super) fn check_type(headers: &HeaderMap) -> Result<(), String> {
    let value = headers.get(CONTENT_TYPE).map(|value| value.to_str().unwrap_or_default());
    match value.map(|value| value.split(';').next().unwrap_or_default().trim()) {
        Some(kind) if kind.eq_ignore_ascii_case("text/event-stream") => Ok(()),
        Some(kind) => Err(format!("it is {}, no event stream", one_line(&format!("{kind:?}")))),
        None => Err("it has no content type, and so is no event stream".to_owned()),
    }
}

fn broken(why: Break) -> Poll<Result<Block, Break>> {
    Poll::Ready(Err(why))
}

/// How long nothing has come. Time that the caller spends on what it was given doesn't count.
struct Silence {
    limit: Duration,
    since: Option<Instant>,
    /// Kept when the silence is over, since the next one is sure to come: it is asked whether its time is right
    /// when it ends.
    sleep: Option<Sleep>,
}

impl Silence {
    fn over(&mut self) {
        self.since = None;
    }

    /// Ready when it has lasted for the limit.
    fn poll(&mut self, context: &mut Context<'_>, timer: &dyn Timer) -> Poll<()> {
        let since = *self.since.get_or_insert_with(|| timer.now());
        loop {
            let sleep = self.sleep.get_or_insert_with(|| timer.sleep(self.limit));
            ready!(sleep.as_mut().poll(context));
            let lasted = timer.now().saturating_duration_since(since);
            if lasted >= self.limit {
                return Poll::Ready(());
            }
            self.sleep = Some(timer.sleep(self.limit - lasted));
        }
    }
}
