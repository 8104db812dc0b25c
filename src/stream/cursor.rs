//! Where a stream stands, and how that is said to the service.

use http::header::HeaderValue;

use crate::error::{CallFacts, Cause, Error, Result, one_line};
use crate::model::types::EventId;

/// The id to resume after.
#[derive(Debug, Default)]
pub(super) struct Cursor {
    id: Option<EventId>,
    /// It is the caller's, not the service's.
    given: bool,
}

impl Cursor {
    pub(super) fn given(id: EventId) -> Self {
        Self { id: Some(id).filter(is_some_id), given: true }
    }

    /// Moves to the id at the end of a block, if the connection had one yet; an empty one takes it back.
    pub(super) fn follow(&mut self, id: Option<EventId>) {
        if let Some(id) = id {
            *self = Self { id: Some(id).filter(is_some_id), given: false };
        }
    }

    /// Whether it is the caller's still.
    pub(super) fn is_given(&self) -> bool {
        self.given
    }

    pub(super) fn id(&self) -> Option<&EventId> {
        self.id.as_ref()
    }

    /// The value of the header, if one is to be sent.
    pub(super) fn header(&self) -> Result<Option<HeaderValue>> {
        let Some(id) = &self.id else { return Ok(None) };
        let text = id.as_str();
        // Blanks at the ends are lost on the way, and another event would be meant.
        let blank = text.starts_with([' ', '\t']) || text.ends_with([' ', '\t']);
        match HeaderValue::from_bytes(text.as_bytes()) {
            Ok(value) if !blank => Ok(Some(value)),
            _ => {
                let what =
                    format!("the event id {} can't be sent in a header", one_line(&format!("{text:?}")));
                let cause = if self.given { Cause::InvalidInput(what) } else { Cause::Decode(what, None) };
                Err(Error::new(cause, CallFacts::default()))
            }
        }
    }
}

fn is_some_id(id: &EventId) -> bool {
    !id.as_str().is_empty()
}
