//! The database: its connections, and its tables.

use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions as _, Connection as _, PgConnection, PgPool};

/// How long a connection that holds the reader's lock may be silent: then its process has frozen or can't be
/// reached, and the server ends it. The reader is heard of three times as often.
pub const LEASE: Duration = Duration::from_secs(3);
/// How long a transaction of a worker or of the receiver may wait for its own program.
const LONGEST_PAUSE: &str = "60s";
/// How long a statement may wait for what another transaction holds.
const LONGEST_WAIT: &str = "5s";
/// How many connections a process has, besides the reader's.
const CONNECTIONS: u32 = 8;

/// A database with the tables of both programs.
#[derive(Debug, Clone)]
pub struct Database {
    options: PgConnectOptions,
    pool: PgPool,
}

impl Database {
    /// Connects, and makes the tables that aren't there. The database knows the process by its name.
    ///
    /// # Errors
    /// When the URL is none, the database can't be reached, or the tables can't be made.
    pub async fn connect(url: &str, process: &str) -> sqlx::Result<Self> {
        let options: PgConnectOptions = url.parse()?;
        let options = options.application_name(process);
        let patient = options.clone().options([
            ("idle_in_transaction_session_timeout", LONGEST_PAUSE),
            ("lock_timeout", LONGEST_WAIT),
        ]);
        let pool = PgPoolOptions::new().max_connections(CONNECTIONS).acquire_timeout(Duration::from_secs(5));
        let database = Self { options, pool: pool.connect_with(patient).await? };
        database.make_tables().await?;
        Ok(database)
    }

    /// Connections for short transactions.
    #[must_use]
    pub fn pool(&self) -> &PgPool {
        &self.pool
    }

    /// A connection of its own, which the server ends when it hears nothing for the length of a [`LEASE`].
    pub(crate) async fn leased(&self) -> sqlx::Result<PgConnection> {
        let lease = format!("{}ms", LEASE.as_millis());
        let limits = ["idle_session_timeout", "idle_in_transaction_session_timeout", "statement_timeout"];
        self.options.clone().options(limits.map(|limit| (limit, &lease))).connect().await
    }

    async fn make_tables(&self) -> sqlx::Result<()> {
        let mut connection = self.pool.acquire().await?;
        let mut transaction = connection.begin().await?;
        // Two who make a table at the same time are in each other's way, even with IF NOT EXISTS.
        sqlx::query("SELECT pg_advisory_xact_lock(hashtextextended('shadway tables', 0))")
            .execute(&mut *transaction)
            .await?;
        sqlx::raw_sql(include_str!("schema.sql")).execute(&mut *transaction).await?;
        transaction.commit().await
    }
}
