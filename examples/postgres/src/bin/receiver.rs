//! Receives webhooks: `DATABASE_URL=… SHADWAY_WEBHOOK_SECRET=… cargo run -p shadway-example-postgres --bin receiver`

use std::process::ExitCode;

use postgres::database::Database;
use postgres::{Failure, receiver, say, variable};
use shadway::webhooks::Verifier;
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> ExitCode {
    postgres::exit(run().await)
}

async fn run() -> Result<(), Failure> {
    let verifier = Verifier::new(variable("SHADWAY_WEBHOOK_SECRET")?)?;
    let name = format!("receiver {}", std::process::id());
    let database = Database::connect(&variable("DATABASE_URL")?, &name).await?;
    let address = variable("LISTEN").unwrap_or_else(|_| "127.0.0.1:3000".into());
    let listener = TcpListener::bind(address).await?;
    say(format!("listening on http://{}", listener.local_addr()?));
    Ok(axum::serve(listener, receiver::router(verifier, database.pool().clone())).await?)
}
