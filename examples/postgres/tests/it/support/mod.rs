//! A database for each test, processes that can be stopped and killed, and a service that makes events.

mod database;
mod process;
mod server;
mod service;

pub(crate) use database::TestDatabase;
pub(crate) use process::Process;
pub(crate) use service::Service;

use std::time::Duration;

/// Asks until it is so. What takes this long never comes; how long it may take is asserted by the database's clock.
pub(crate) async fn until(what: &str, mut so: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !so().await {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    if tokio::time::timeout(Duration::from_secs(60), waiting).await.is_err() {
        panic!("waited in vain: {what}");
    }
}
