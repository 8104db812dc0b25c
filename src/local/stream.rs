//! Event streams: what happened after a position, and then what happens.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::stream;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, HeaderValue, StatusCode};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use super::answer::{Refusal, Result};
use super::router::id;
use super::shared::Shared;
use super::traffic::Kind;
use crate::model::events::Event;
use crate::model::types::MandateId;

/// How often a stream says that it is still there (assumed).
const HEARTBEAT: Duration = Duration::from_secs(15);
/// What a client is told of how long to wait before it connects again.
const RETRY_MILLISECONDS: u32 = 1_000;
/// The position before the first event, for a stream that is opened before there is any.
pub(crate) const START: &str = "evt_start";
/// How many events are taken at once, so that a long replay doesn't hold the lock.
const BATCH: usize = 100;

/// The events of all mandates, in the order in which they happened (documented).
pub(crate) async fn workspace(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    open(shared, request.headers(), None).unwrap_or_else(Refusal::into_response)
}

/// The events of one mandate.
pub(crate) async fn mandate(State(shared): State<Arc<Shared>>, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    let opened = match id(&mut parts).await {
        Ok(id) => shared
            .with(|workspace, _| workspace.mandate(&id))
            .and_then(|mandate| open(shared, &parts.headers, Some(mandate.id))),
        Err(refusal) => Err(refusal),
    };
    opened.unwrap_or_else(Refusal::into_response)
}

fn open(shared: Arc<Shared>, headers: &HeaderMap, mandate: Option<MandateId>) -> Result<Response> {
    let last = headers.get("last-event-id").and_then(|id| id.to_str().ok()).filter(|id| !id.is_empty());
    let positions = shared.position.subscribe();
    let (after, hello) = shared.with(|workspace, _| match last {
        // What came after it follows at once; its position is known to the client.
        Some(id) => workspace.events.position_of(id).map(|after| (after, String::new())).ok_or_else(too_old),
        // The present position, so that a connection cut before its first event can still resume (assumed).
        None => Ok((workspace.events.position(), format!("id: {}\n", workspace.events.last_id()))),
    })?;
    let follower = Follower { shared, positions, mandate, after, ready: VecDeque::new() };
    let first = Bytes::from(format!("retry: {RETRY_MILLISECONDS}\n{hello}\n"));
    let frames = stream::unfold((Some(first), follower), |(first, mut follower)| async move {
        let frame = match first {
            Some(first) => first,
            None => follower.next().await?,
        };
        Some((Ok::<_, Infallible>(frame), (None, follower)))
    });
    let headers = [(CONTENT_TYPE, "text/event-stream"), (CACHE_CONTROL, "no-store")];
    let headers = headers.map(|(name, value)| (name, HeaderValue::from_static(value)));
    Ok((StatusCode::OK, headers, Body::from_stream(frames)).into_response())
}

pub(crate) fn too_old() -> Refusal {
    Refusal::new(StatusCode::GONE, "the event to resume after is not kept, or never was")
}

/// One open stream.
struct Follower {
    shared: Arc<Shared>,
    positions: watch::Receiver<u64>,
    /// Only events of this mandate; `None` for all.
    mandate: Option<MandateId>,
    after: u64,
    ready: VecDeque<Event>,
}

impl Follower {
    /// The next frame; `None` when the server has stopped, takes the key no more, or has forgotten what comes next.
    async fn next(&mut self) -> Option<Bytes> {
        // Events of others don't put it off: they are no sign of life on this stream.
        let heartbeat = Instant::now() + HEARTBEAT;
        loop {
            if self.shared.stopped.load(Ordering::Relaxed) || self.shared.revoked.load(Ordering::Relaxed) {
                return None;
            }
            if let Some(event) = self.ready.pop_front() {
                return frame(&event);
            }
            // Marked as seen before it is read, so that nothing that comes in between is missed.
            self.positions.borrow_and_update();
            let (after, wanted) =
                self.shared.with(|workspace, _| workspace.events.following(self.after, BATCH))?;
            let moved = after != self.after;
            self.after = after;
            self.ready = wanted.into_iter().filter(|event| self.wants(event)).collect();
            if moved {
                continue;
            }
            let waits = self.shared.traffic.count(Kind::Reader);
            let changed = timeout_at(heartbeat, self.positions.changed()).await;
            drop(waits);
            match changed {
                Ok(Ok(())) => {}
                Ok(Err(_)) => return None,
                Err(_) => return Some(Bytes::from_static(b": still here\n\n")),
            }
        }
    }

    fn wants(&self, event: &Event) -> bool {
        self.mandate.as_ref().is_none_or(|mandate| *mandate == event.mandate)
    }
}

fn frame(event: &Event) -> Option<Bytes> {
    let data = serde_json::to_string(event).ok()?;
    Some(Bytes::from(format!("id: {}\nevent: {}\ndata: {data}\n\n", event.id, event.event_type)))
}
