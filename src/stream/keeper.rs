//! Loads a stream's position when it begins, and saves it as the stream moves on.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use super::checkpoint::{Checkpoint, CheckpointFuture};
use crate::error::{CallFacts, Cause, Error, Result};
use crate::model::types::EventId;

type Loading = Pin<Box<dyn Future<Output = Result<Option<EventId>>> + Send>>;
type Saving = Pin<Box<dyn Future<Output = Result<()>> + Send>>;

/// A caller's store, and what it is at.
pub(super) struct Keeper {
    store: Arc<dyn Checkpoint>,
    /// The name of the stream.
    stream: Arc<str>,
    loading: Option<Loading>,
    saving: Option<Saving>,
    /// What the store holds once the present save is through.
    saved: Option<EventId>,
}

impl Keeper {
    pub(super) fn new(store: Arc<dyn Checkpoint>, stream: Arc<str>) -> Self {
        let (from, name) = (Arc::clone(&store), Arc::clone(&stream));
        let loading: Loading =
            Box::pin(async move { told(from.load(&name), "loaded").await.map(|id| id.filter(is_some_id)) });
        Self { store, stream, loading: Some(loading), saving: None, saved: None }
    }

    /// Ready at once when it has been loaded before; gives the position if this call loaded one.
    pub(super) fn poll_loaded(&mut self, context: &mut Context<'_>) -> Poll<Result<Option<EventId>>> {
        let Some(loading) = &mut self.loading else { return Poll::Ready(Ok(None)) };
        let loaded = ready!(loading.as_mut().poll(context));
        self.loading = None;
        if let Ok(position) = &loaded {
            self.saved.clone_from(position);
        }
        Poll::Ready(loaded)
    }

    /// Begins to save a position, unless the store has it; says whether it did. An id that the service took back
    /// changes nothing: the last one is still the place to go on from.
    pub(super) fn keep(&mut self, position: Option<&EventId>) -> bool {
        // Not before it is known what the store holds.
        let new = self.loading.is_none() && self.saved.as_ref() != position;
        let Some(position) = position.filter(|_| new) else { return false };
        self.saved = Some(position.clone());
        let (store, stream, position) = (Arc::clone(&self.store), Arc::clone(&self.stream), position.clone());
        self.saving = Some(Box::pin(async move { told(store.save(&stream, &position), "saved").await }));
        true
    }

    /// Ready when nothing is left to be saved.
    pub(super) fn poll_saved(&mut self, context: &mut Context<'_>) -> Poll<Result<()>> {
        let Some(saving) = &mut self.saving else { return Poll::Ready(Ok(())) };
        let saved = ready!(saving.as_mut().poll(context));
        self.saving = None;
        Poll::Ready(saved)
    }
}

async fn told<T>(what: CheckpointFuture<'_, T>, done: &'static str) -> Result<T> {
    what.await.map_err(|source| Error::new(Cause::Checkpoint(done, source), CallFacts::default()))
}

fn is_some_id(id: &EventId) -> bool {
    !id.as_str().is_empty()
}
