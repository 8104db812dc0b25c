//! Where a stream keeps its position, so that a restart loses nothing.

use std::collections::HashMap;
use std::error::Error as StdError;
use std::fmt;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

use crate::model::types::EventId;

mod conformance;
mod file;

pub use conformance::{CheckpointViolation, checkpoint_conformance};
pub use file::{CheckpointFileError, FileCheckpoint};

/// What [`Checkpoint::load`] and [`Checkpoint::save`] give. Any error converts with `?`.
pub type CheckpointFuture<'a, T> =
    Pin<Box<dyn Future<Output = Result<T, Box<dyn StdError + Send + Sync>>> + Send + 'a>>;

/// A store of stream positions, for [`EventStream::checkpoint`](super::EventStream::checkpoint).
///
/// A position is the id of the event to resume after. It belongs to one stream, whose name is `workspace` or
/// `mandate:` and the mandate's id: keep it under that name, or refuse any other. The name says nothing of the
/// workspace, so use one store for each.
///
/// An implementation
///
/// - gives the last position saved for the stream, and `None` only if there was never one: a store that can't be
///   read, or whose content makes no sense, is an error, since `None` starts from the beginning;
/// - has stored the position for good when `save` ends;
/// - keeps the old position or the new one, and nothing else, when the future of `save` is dropped or the
///   process dies; what is dropped must not come through after a later `save`.
///
/// [`checkpoint_conformance`] checks most of it. The stream never has two of these futures at once.
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use shadway::events::{Checkpoint, CheckpointFuture, checkpoint_conformance};
/// use shadway::types::EventId;
///
/// /// Your database, with a table of positions by stream.
/// #[derive(Clone, Default)]
/// struct Table(Arc<Mutex<std::collections::HashMap<String, String>>>);
///
/// impl Checkpoint for Table {
///     fn load<'a>(&'a self, stream: &'a str) -> CheckpointFuture<'a, Option<EventId>> {
///         Box::pin(async move {
///             let rows = self.0.lock().map_err(|_| "the table is locked")?;
///             Ok(rows.get(stream).map(|id| EventId::from(id.as_str())))
///         })
///     }
///
///     fn save<'a>(&'a self, stream: &'a str, position: &'a EventId) -> CheckpointFuture<'a, ()> {
///         Box::pin(async move {
///             let mut rows = self.0.lock().map_err(|_| "the table is locked")?;
///             rows.insert(stream.to_owned(), position.to_string());
///             Ok(())
///         })
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let table = Table::default();
/// checkpoint_conformance(|| table.clone()).await?; // in your tests
/// # Ok(())
/// # }
/// ```
pub trait Checkpoint: Send + Sync + 'static {
    /// The position last saved for a stream; `None` if there was never one.
    fn load<'a>(&'a self, stream: &'a str) -> CheckpointFuture<'a, Option<EventId>>;

    /// Stores a position in place of the one before.
    fn save<'a>(&'a self, stream: &'a str, position: &'a EventId) -> CheckpointFuture<'a, ()>;
}

impl<C: Checkpoint + ?Sized> Checkpoint for Arc<C> {
    fn load<'a>(&'a self, stream: &'a str) -> CheckpointFuture<'a, Option<EventId>> {
        (**self).load(stream)
    }

    fn save<'a>(&'a self, stream: &'a str, position: &'a EventId) -> CheckpointFuture<'a, ()> {
        (**self).save(stream, position)
    }
}

impl<C: Checkpoint + ?Sized> Checkpoint for Box<C> {
    fn load<'a>(&'a self, stream: &'a str) -> CheckpointFuture<'a, Option<EventId>> {
        (**self).load(stream)
    }

    fn save<'a>(&'a self, stream: &'a str, position: &'a EventId) -> CheckpointFuture<'a, ()> {
        (**self).save(stream, position)
    }
}

/// Positions of any number of streams, kept as long as the process runs. Clones share them.
///
/// On a stream it means: from the very first event on.
#[derive(Clone, Default)]
pub struct MemoryCheckpoint(Arc<Mutex<HashMap<String, EventId>>>);

impl MemoryCheckpoint {
    /// A store without a position.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Checkpoint for MemoryCheckpoint {
    fn load<'a>(&'a self, stream: &'a str) -> CheckpointFuture<'a, Option<EventId>> {
        Box::pin(async move {
            let positions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Ok(positions.get(stream).cloned())
        })
    }

    fn save<'a>(&'a self, stream: &'a str, position: &'a EventId) -> CheckpointFuture<'a, ()> {
        Box::pin(async move {
            let mut positions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            positions.insert(stream.to_owned(), position.clone());
            Ok(())
        })
    }
}

impl fmt::Debug for MemoryCheckpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let positions = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        f.debug_tuple("MemoryCheckpoint").field(&*positions).finish()
    }
}
