//! Reads and handles the workspace's events, together with any number of others:
//! `DATABASE_URL=… SHADWAY_API_KEY=… cargo run -p shadway-example-postgres --bin consumer`

use std::process::ExitCode;

use postgres::database::Database;
use postgres::{Failure, reader, variable, worker};
use shadway::Client;

/// How many events one process handles at once.
const WORKERS: usize = 4;

#[tokio::main]
async fn main() -> ExitCode {
    postgres::exit(run().await)
}

/// Nothing is to be done when it stops: it may be killed at any time.
async fn run() -> Result<(), Failure> {
    let client = Client::from_env()?;
    let name = format!("consumer {}", std::process::id());
    let database = Database::connect(&variable("DATABASE_URL")?, &name).await?;
    for _ in 0..WORKERS {
        let pool = database.pool().clone();
        tokio::spawn(async move { worker::run(&pool).await });
    }
    Ok(reader::run(&client, &database).await?)
}
