//! Where the reader puts events: each in one transaction with the position of the stream.

use std::time::Duration;

use shadway::events::{Checkpoint, CheckpointFuture, Event};
use shadway::types::EventId;
use sqlx::{Connection as _, PgConnection};
use tokio::sync::Mutex;
use tokio::time::{sleep, timeout};

use crate::Failure;
use crate::database::{Database, LEASE};

/// How often a process that is not the reader asks whether it can be.
const CANDIDACY: Duration = Duration::from_millis(500);

/// The checkpoint of the one process that reads a stream.
///
/// It lives on the very connection that holds the lock by which the process was elected, so that whoever loses the
/// lock can't write any more. A pooler that lends a connection to another process between two transactions would
/// undo that; so each write also asks for the epoch of its own election.
#[derive(Debug)]
pub struct Inbox {
    stream: String,
    epoch: i64,
    held: Mutex<Held>,
}

#[derive(Debug)]
struct Held {
    connection: PgConnection,
    /// Given out by the stream, and not written yet.
    events: Vec<Event>,
}

/// Why a position is neither given nor taken.
#[derive(Debug, thiserror::Error)]
enum Refused {
    #[error("another process is the reader")]
    Superseded,
    #[error("it keeps the position of another stream")]
    OtherStream,
}

impl Inbox {
    /// Waits until this process is the reader of the stream.
    ///
    /// # Errors
    /// When the database can't be reached.
    pub async fn elected(database: &Database, stream: &str) -> sqlx::Result<Self> {
        let mut connection = database.leased().await?;
        // The server lets go of it when the connection ends, whatever becomes of this process.
        let lock = "SELECT pg_try_advisory_lock(hashtextextended('shadway stream ' || $1, 0))";
        while !sqlx::query_scalar(lock).bind(stream).fetch_one(&mut connection).await? {
            sleep(CANDIDACY).await;
        }
        let epoch = sqlx::query_scalar(
            "INSERT INTO shadway_streams (stream, epoch) VALUES ($1, 1)
             ON CONFLICT (stream) DO UPDATE
             SET epoch = shadway_streams.epoch + 1, reader = DEFAULT, elected_at = DEFAULT
             RETURNING epoch",
        )
        .bind(stream)
        .fetch_one(&mut connection)
        .await?;
        let held = Mutex::new(Held { connection, events: Vec::new() });
        Ok(Self { stream: stream.to_owned(), epoch, held })
    }

    /// How many elections there were, with the one that made this.
    #[must_use]
    pub fn epoch(&self) -> i64 {
        self.epoch
    }

    /// Takes an event, to be written when the stream saves its position: as the next one is asked for.
    pub async fn take(&self, event: Event) {
        self.held.lock().await.events.push(event);
    }

    /// Ends when the lock is lost, and says how that shows. A process that never asks would read on for nothing,
    /// as long as there is nothing to write.
    pub async fn lost(&self) -> sqlx::Error {
        loop {
            sleep(LEASE / 3).await;
            let ping = async { self.held.lock().await.connection.ping().await };
            match timeout(LEASE, ping).await {
                Ok(Ok(())) => {}
                Ok(Err(error)) => return error,
                Err(_) => return std::io::Error::from(std::io::ErrorKind::TimedOut).into(),
            }
        }
    }

    fn check(&self, stream: &str) -> Result<(), Refused> {
        if self.stream == stream { Ok(()) } else { Err(Refused::OtherStream) }
    }
}

impl Checkpoint for Inbox {
    fn load<'a>(&'a self, stream: &'a str) -> CheckpointFuture<'a, Option<EventId>> {
        Box::pin(async move {
            self.check(stream)?;
            let position: Option<String> =
                sqlx::query_scalar("SELECT position FROM shadway_streams WHERE stream = $1")
                    .bind(stream)
                    .fetch_one(&mut self.held.lock().await.connection)
                    .await?;
            Ok(position.map(EventId::from))
        })
    }

    fn save<'a>(&'a self, stream: &'a str, position: &'a EventId) -> CheckpointFuture<'a, ()> {
        Box::pin(async move {
            self.check(stream)?;
            let Held { connection, events } = &mut *self.held.lock().await;
            let mut transaction = connection.begin().await?;
            let moved =
                sqlx::query("UPDATE shadway_streams SET position = $1 WHERE stream = $2 AND epoch = $3")
                    .bind(position.as_str())
                    .bind(stream)
                    .bind(self.epoch)
                    .execute(&mut *transaction)
                    .await?;
            if moved.rows_affected() == 0 {
                return Err(Refused::Superseded.into());
            }
            for event in events.iter() {
                write(&mut transaction, event, self.epoch).await?;
            }
            transaction.commit().await?;
            events.clear();
            Ok(())
        })
    }
}

/// An event that is there already came twice.
async fn write(connection: &mut PgConnection, event: &Event, epoch: i64) -> Result<(), Failure> {
    sqlx::query(
        "INSERT INTO shadway_events (id, mandate, event, epoch) VALUES ($1, $2, $3::json, $4)
         ON CONFLICT (id) DO NOTHING",
    )
    .bind(event.id.as_str())
    .bind(event.mandate.as_str())
    .bind(serde_json::to_string(event)?)
    .bind(epoch)
    .execute(connection)
    .await?;
    Ok(())
}
