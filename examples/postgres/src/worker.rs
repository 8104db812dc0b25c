//! The workers: as many as there are in all processes, each takes the next event that nobody is at.

use std::time::Duration;

use shadway::events::Event;
use sqlx::{Acquire as _, PgConnection, PgPool};

use crate::{Failure, effect, say};

/// How often a worker looks whether there is something to do, when there was nothing.
const IDLE: Duration = Duration::from_millis(250);
/// Before the next try, when the database can't be reached.
const PAUSE: Duration = Duration::from_secs(1);

/// The next one: not of a mandate of which an earlier event is still to be handled, so that those of one mandate come
/// one after the other. The row stays locked until the transaction ends, and others pass over it.
const TAKE: &str = "
    SELECT id, event::text FROM shadway_events AS next
    WHERE done_at IS NULL AND try_at <= now() AND NOT EXISTS (
        SELECT FROM shadway_events AS earlier
        WHERE earlier.mandate = next.mandate AND earlier.number < next.number AND earlier.done_at IS NULL
    )
    ORDER BY number LIMIT 1 FOR UPDATE SKIP LOCKED";

/// The first failures are tried again after seconds, later ones after an hour at most.
const FAILED: &str = "
    UPDATE shadway_events
    SET failures = failures + 1, failure = $2,
        try_at = now() + least(interval '1 hour', interval '1 second' * 2 ^ least(failures, 12))
    WHERE id = $1";

/// Handles events for as long as the process runs.
pub async fn run(database: &PgPool) {
    loop {
        match handle_next(database).await {
            Ok(true) => {}
            Ok(false) => tokio::time::sleep(IDLE).await,
            Err(error) => {
                say(format!("no event was handled: {error}"));
                tokio::time::sleep(PAUSE).await;
            }
        }
    }
}

/// Handles one event; says whether there was one. If this process dies, the database undoes what it began, and the
/// event is the next one's.
///
/// # Errors
/// When the database can't be reached.
pub async fn handle_next(database: &PgPool) -> sqlx::Result<bool> {
    let mut transaction = database.begin().await?;
    let taken: Option<(String, String)> = sqlx::query_as(TAKE).fetch_optional(&mut *transaction).await?;
    let Some((id, event)) = taken else { return Ok(false) };
    if let Err(failure) = attempt(&mut transaction, &event).await {
        say(format!("{id} failed: {failure}"));
        sqlx::query(FAILED).bind(&id).bind(failure.to_string()).execute(&mut *transaction).await?;
    } else {
        sqlx::query(
            "UPDATE shadway_events SET done_at = clock_timestamp(), done_by = current_setting('application_name')
             WHERE id = $1",
        )
        .bind(&id)
        .execute(&mut *transaction)
        .await?;
    }
    transaction.commit().await?;
    Ok(true)
}

/// In a savepoint: an effect that fails is undone, and the row stays locked until that is noted.
async fn attempt(connection: &mut PgConnection, event: &str) -> Result<(), Failure> {
    let event: Event = serde_json::from_str(event)?;
    let mut savepoint = connection.begin().await?;
    effect::apply(&mut savepoint, &event).await?;
    savepoint.commit().await?;
    Ok(())
}
