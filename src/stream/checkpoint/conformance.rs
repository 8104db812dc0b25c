//! What every store has to keep to, as a check that users run on their own.

use std::future::poll_fn;
use std::task::Poll;

use super::Checkpoint;
use crate::model::types::EventId;

/// Two names as streams have them.
const ONE: &str = "mandate:mnd_conformance";
const OTHER: &str = "workspace";

/// A rule that a store breaks, found by [`checkpoint_conformance`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{rule}: {found}")]
#[non_exhaustive]
pub struct CheckpointViolation {
    /// The rule.
    pub rule: &'static str,
    /// What the store did instead.
    pub found: String,
}

/// Checks that a store of your own keeps to the rules of [`Checkpoint`], as far as that shows from outside.
///
/// `open` opens the same store each time, as your program does after a restart. The store must be empty before, and
/// is not afterwards, so use a table or a file of its own. There is an example at [`Checkpoint`].
///
/// # Errors
/// The first rule that is broken.
pub async fn checkpoint_conformance<C: Checkpoint>(
    mut open: impl FnMut() -> C + Send,
) -> Result<(), CheckpointViolation> {
    let store = open();
    loads(&store, "a store without a position gives none", None).await?;

    let awkward = EventId::from(format!("evt \"1\"\\{{}}'%;=\u{e4}\u{1f980}{}", "x".repeat(1_000)));
    for position in [EventId::from("evt_1"), EventId::from("evt_2"), EventId::from("EVT_2"), awkward] {
        // Twice, since a save may be made again.
        saves(&store, &position).await?;
        saves(&store, &position).await?;
        loads(&store, "the last position saved is loaded, to the letter", Some(&position)).await?;
        loads(&open(), "a store opened again gives what was saved", Some(&position)).await?;
    }

    let kept = EventId::from("evt_one");
    saves(&store, &kept).await?;
    let rule = "a stream without a position never gets another stream's";
    if let Ok(Some(found)) = store.load(OTHER).await {
        return violation(rule, format!("it gave {found:?}"));
    }
    // It may be refused.
    let other = EventId::from("evt_other");
    let refused = store.save(OTHER, &other).await.is_err();
    loads(&store, "saving for one stream leaves another's position", Some(&kept)).await?;
    match store.load(OTHER).await {
        Ok(Some(found)) if !refused && found == other => {}
        Err(_) if refused => {}
        Ok(found) => return violation("each stream has its own position", format!("it gave {found:?}")),
        Err(error) => return violation("each stream has its own position", format!("it failed: {error}")),
    }

    dropped(&mut open, &store, &kept).await
}

/// A save that is given up after its first step.
async fn dropped<C: Checkpoint>(
    open: &mut (impl FnMut() -> C + Send),
    store: &C,
    old: &EventId,
) -> Result<(), CheckpointViolation> {
    let new = EventId::from("evt_dropped");
    let mut save = store.save(ONE, &new);
    poll_fn(|context| {
        let _ = save.as_mut().poll(context);
        Poll::Ready(())
    })
    .await;
    drop(save);
    let found = match open().load(ONE).await {
        Ok(Some(found)) if found == *old || found == new => None,
        Ok(found) => Some(format!("it gave {found:?}")),
        Err(error) => Some(format!("it failed: {error}")),
    };
    if let Some(found) = found {
        return violation("a save that is dropped leaves the old position or the new one", found);
    }
    let last = EventId::from("evt_last");
    saves(store, &last).await?;
    loads(&open(), "a save that was dropped doesn't come after a later one", Some(&last)).await
}

async fn saves(store: &impl Checkpoint, position: &EventId) -> Result<(), CheckpointViolation> {
    match store.save(ONE, position).await {
        Ok(()) => Ok(()),
        Err(error) => violation("a position is saved", format!("{position:?} failed: {error}")),
    }
}

async fn loads(
    store: &impl Checkpoint,
    rule: &'static str,
    wanted: Option<&EventId>,
) -> Result<(), CheckpointViolation> {
    match store.load(ONE).await {
        Ok(found) if found.as_ref() == wanted => Ok(()),
        Ok(found) => violation(rule, format!("it gave {found:?} for {wanted:?}")),
        Err(error) => violation(rule, format!("it failed: {error}")),
    }
}

fn violation(rule: &'static str, found: String) -> Result<(), CheckpointViolation> {
    Err(CheckpointViolation { rule, found })
}
