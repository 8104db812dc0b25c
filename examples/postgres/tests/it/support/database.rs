//! A database of one test's own, and what is asked of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use postgres::database::Database;
use sqlx::{Connection as _, PgConnection, PgPool};

use super::server::Server;

/// Gone after the test.
pub(crate) struct TestDatabase {
    name: String,
    pub(crate) url: String,
    /// A database of the server that is always there.
    admin_url: String,
    /// With the tables.
    pub(crate) database: Database,
    /// Keeps the server running, if it is the tests' own.
    _server: Option<Arc<Server>>,
}

impl TestDatabase {
    pub(crate) async fn create() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let name = format!("shadway_test_{}_{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let (server, admin_url, url) = match std::env::var("SHADWAY_TEST_DATABASE_URL") {
            Ok(given) => (None, given.clone(), with_name(&given, &name)),
            Err(_) => {
                let server = tokio::task::spawn_blocking(Server::shared).await.unwrap();
                let (admin_url, url) = (server.url("postgres"), server.url(&name));
                (Some(server), admin_url, url)
            }
        };
        execute(&admin_url, &format!("CREATE DATABASE {name}")).await;
        let database = Database::connect(&url, "test").await.unwrap();
        Self { name, url, admin_url, database, _server: server }
    }

    pub(crate) fn pool(&self) -> &PgPool {
        self.database.pool()
    }

    pub(crate) async fn execute(&self, statement: &str) {
        sqlx::raw_sql(statement).execute(self.pool()).await.unwrap();
    }

    pub(crate) async fn number(&self, query: &str) -> i64 {
        sqlx::query_scalar(query).fetch_one(self.pool()).await.unwrap()
    }

    pub(crate) async fn texts(&self, query: &str) -> Vec<String> {
        sqlx::query_scalar(query).fetch_all(self.pool()).await.unwrap()
    }

    /// By its own clock.
    pub(crate) async fn now(&self) -> String {
        self.texts("SELECT clock_timestamp()::text").await.remove(0)
    }

    pub(crate) async fn is(&self, query: &str) -> bool {
        sqlx::query_scalar(query).fetch_one(self.pool()).await.unwrap()
    }
}

impl Drop for TestDatabase {
    fn drop(&mut self) {
        let statement = format!("DROP DATABASE {} WITH (FORCE)", self.name);
        let url = self.admin_url.clone();
        // A thread that is no runtime's may wait.
        let dropped = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
            runtime.block_on(execute(&url, &statement));
        });
        let _ = dropped.join();
    }
}

async fn execute(url: &str, statement: &str) {
    let mut connection = PgConnection::connect(url).await.expect("the server can be reached");
    sqlx::raw_sql(statement).execute(&mut connection).await.expect("databases may be made and dropped");
}

/// The URL with another path.
fn with_name(url: &str, name: &str) -> String {
    let (rest, query) = url.split_once('?').unwrap_or((url, ""));
    let (scheme, rest) = rest.split_once("://").expect("a URL");
    let host = rest.split('/').next().unwrap_or_default();
    format!("{scheme}://{host}/{name}?{query}")
}
