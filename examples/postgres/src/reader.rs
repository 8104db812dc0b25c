//! The reader: of all processes one, which puts the events of the workspace into the inbox.

use std::sync::Arc;
use std::time::Duration;

use shadway::events::StreamState;
use shadway::{Client, Error, ErrorKind};

use crate::database::Database;
use crate::inbox::Inbox;
use crate::{Failure, causes, say};

/// The name of the workspace's stream.
const STREAM: &str = "workspace";
/// Before it is a candidate again: so that another one has the first go.
const PAUSE: Duration = Duration::from_secs(1);

/// Is a candidate, and reads whenever it is elected, until the service ends the stream.
///
/// # Errors
/// What neither another connection nor another process would help: a key that is refused, or a position that is too
/// old for the service, so that events are missing for good.
pub async fn run(client: &Client, database: &Database) -> shadway::Result<()> {
    loop {
        match read(client, database).await {
            Ok(()) => return Ok(()),
            Err(Stopped::Lost(why)) => say(format!("not the reader: {}", causes(&*why))),
            Err(Stopped::Stream(error)) => return Err(error),
        }
        tokio::time::sleep(PAUSE).await;
    }
}

enum Stopped {
    /// The lock, or the database.
    Lost(Failure),
    Stream(Error),
}

impl From<sqlx::Error> for Stopped {
    fn from(error: sqlx::Error) -> Self {
        Self::Lost(error.into())
    }
}

impl From<Error> for Stopped {
    fn from(error: Error) -> Self {
        match error.kind() {
            ErrorKind::Checkpoint => Self::Lost(error.into()),
            _ => Self::Stream(error),
        }
    }
}

/// Whichever ends first ends the other: without the lock nothing is read, and without the stream the connection is
/// closed, which frees the lock.
async fn read(client: &Client, database: &Database) -> Result<(), Stopped> {
    let inbox = Arc::new(Inbox::elected(database, STREAM).await?);
    say(format!("reading, epoch {}", inbox.epoch()));
    tokio::select! {
        ended = follow(client, &inbox) => Ok(ended?),
        lost = inbox.lost() => Err(lost.into()),
    }
}

async fn follow(client: &Client, inbox: &Arc<Inbox>) -> shadway::Result<()> {
    let mut events = client.events().stream().checkpoint(Arc::clone(inbox)).observer(observe);
    while let Some(event) = events.try_next().await? {
        inbox.take(event).await;
    }
    Ok(())
}

fn observe(state: &StreamState) {
    match state {
        StreamState::Waiting { cause, delay, .. } => say(format!("{cause}; connecting again in {delay:.1?}")),
        StreamState::Skipped { cause, .. } => say(format!("left out what is no event: {cause}")),
        _ => {}
    }
}
