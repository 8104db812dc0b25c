//! Event streams on which something goes wrong. Each piece of such a body is one block: an event, a heartbeat, or
//! the position at the start.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use bytes::Bytes;
use futures_util::stream;
use serde_json::json;
use tokio::time::timeout;

use super::body::{frame, sent};
use super::plan::Kind;
use crate::local::entry::Closed;
use crate::local::shared::Shared;
use crate::local::workspace::is_gap;
use crate::model::events::Event;

/// How long an event is kept back for the next one to come first.
const KEPT_BACK: Duration = Duration::from_secs(1);
const DATA: &str = "\ndata: ";

/// The stream as a client gets to see it.
pub(super) fn tampered(body: Body, kind: Kind, shared: Arc<Shared>) -> Body {
    let blocks = Blocks { body, kind, shared, events: 0, ready: VecDeque::new() };
    Body::from_stream(stream::unfold(blocks, |mut blocks| async move {
        let block = blocks.next().await?;
        Some((block, blocks))
    }))
}

struct Blocks {
    body: Body,
    kind: Kind,
    shared: Arc<Shared>,
    /// How many events were given out.
    events: u32,
    ready: VecDeque<Bytes>,
}

impl Blocks {
    async fn next(&mut self) -> Option<Result<Bytes, Closed>> {
        loop {
            if let Some(block) = self.ready.pop_front() {
                return Some(Ok(block));
            }
            match self.kind {
                Kind::CutAfter(events) if self.events >= events => {
                    sent().await;
                    return Some(Err(Closed));
                }
                Kind::EndAfter(events) if self.events >= events => return None,
                Kind::SilenceAfter(events) if self.events >= events => {
                    self.shared.until_stopped().await;
                    return None;
                }
                _ => {}
            }
            let block = frame(&mut self.body).await?;
            match event(&block) {
                Some(event) => self.take(block, &event).await,
                None => self.ready.push_back(block),
            }
        }
    }

    /// Makes of an event what is to be seen of it.
    async fn take(&mut self, block: Bytes, event: &Event) {
        self.events = self.events.saturating_add(1);
        match &self.kind {
            Kind::Duplicate => self.ready.extend([block.clone(), block]),
            Kind::UnknownEvent => {
                self.ready.extend(unknown(event));
                self.ready.push_back(block);
            }
            Kind::Reorder => match timeout(KEPT_BACK, frame(&mut self.body)).await {
                // In one piece: a connection lost in between would lose the second for good.
                Ok(Some(next)) if is_event(&next) => self.ready.push_back([next, block].concat().into()),
                Ok(next) => {
                    self.ready.push_back(block);
                    self.ready.extend(next);
                }
                Err(_) => self.ready.push_back(block),
            },
            kind => self.ready.push_back(match kind.edit() {
                Some(edit) => edited(&block, |data| edit.apply(data)),
                None => block,
            }),
        }
    }
}

fn is_event(block: &[u8]) -> bool {
    event(block).is_some()
}

fn event(block: &[u8]) -> Option<Event> {
    serde_json::from_str(data(block)?.1).ok()
}

/// What stands before the data of a block, and the data: one line, as JSON text has no line breaks here.
fn data(block: &[u8]) -> Option<(&str, &str)> {
    std::str::from_utf8(block).ok()?.trim_end().split_once(DATA)
}

fn edited(block: &Bytes, edit: impl Fn(&[u8]) -> Vec<u8>) -> Bytes {
    let Some((head, data)) = data(block) else { return block.clone() };
    let data = edit(data.as_bytes());
    [head.as_bytes(), DATA.as_bytes(), &data, b"\n\n"].concat().into()
}

/// An event of a new type, where there is room for one in the mandate's sequence.
fn unknown(event: &Event) -> Option<Bytes> {
    let sequence = event.sequence.checked_sub(1).filter(|sequence| is_gap(*sequence))?;
    let data = json!({
        "id": format!("{}_before", event.id),
        "type": "mandate.of_tomorrow",
        "sequence": sequence,
        "mandate": event.mandate,
        "createdAt": event.created_at,
        "data": {"any": ["thing", 1, null]},
    });
    Some(format!("event: mandate.of_tomorrow{DATA}{data}\n\n").into())
}
