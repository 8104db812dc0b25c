//! The webhook receiver: a delivery's id and its effect are one transaction.

use axum::Router;
use axum::extract::{FromRef, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::post;
use shadway::webhooks::{VerifiedEvent, Verifier};
use sqlx::PgPool;

use crate::{effect, say};

/// Receives deliveries at `/shadway/webhooks`.
pub fn router(verifier: Verifier, database: PgPool) -> Router {
    Router::new().route("/shadway/webhooks", post(receive)).with_state(Receiver { verifier, database })
}

#[derive(Clone)]
struct Receiver {
    verifier: Verifier,
    database: PgPool,
}

impl FromRef<Receiver> for Verifier {
    fn from_ref(receiver: &Receiver) -> Self {
        receiver.verifier.clone()
    }
}

/// 204 once the effect is there for good, also of a delivery that came before. Anything else makes the service send
/// it again (documented).
async fn receive(
    State(Receiver { database, .. }): State<Receiver>,
    delivery: VerifiedEvent,
) -> Result<StatusCode, NotHandled> {
    let mut transaction = database.begin().await?;
    // The same delivery at the same time waits here for the first one's end.
    let new = sqlx::query("INSERT INTO shadway_deliveries (id) VALUES ($1) ON CONFLICT DO NOTHING")
        .bind(&delivery.id)
        .execute(&mut *transaction)
        .await?;
    if new.rows_affected() == 1 {
        effect::apply(&mut transaction, &delivery.event).await?;
    }
    transaction.commit().await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The sender learns no more than that.
#[derive(Debug, thiserror::Error)]
#[error("a delivery was not handled: {0}")]
struct NotHandled(#[from] sqlx::Error);

impl IntoResponse for NotHandled {
    fn into_response(self) -> Response {
        say(self);
        (StatusCode::SERVICE_UNAVAILABLE, "not handled, send it again\n").into_response()
    }
}
