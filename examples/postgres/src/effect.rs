//! What an event leads to. Your own work goes here.

use shadway::events::Event;
use sqlx::PgConnection;

/// Writes a line for the event, in the transaction that also notes that it was handled: both are there, or neither.
///
/// That holds for this database only. For what goes elsewhere, such as an e-mail or a payment, give the event's id
/// along as its idempotency key, since it can be asked for again.
///
/// # Errors
/// When it can't be done now. It is undone, and tried again later.
pub async fn apply(connection: &mut PgConnection, event: &Event) -> sqlx::Result<()> {
    sqlx::query("INSERT INTO ledger (event, mandate, type) VALUES ($1, $2, $3)")
        .bind(event.id.as_str())
        .bind(event.mandate.as_str())
        .bind(event.event_type.as_str())
        .execute(connection)
        .await?;
    Ok(())
}
