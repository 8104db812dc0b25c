//! The reader's checkpoint, and that it takes nothing from a process that is no longer the reader.

use std::sync::Arc;

use postgres::inbox::Inbox;
use shadway::events::{Checkpoint as _, Event, checkpoint_conformance};
use shadway::types::EventId;

use crate::support::{TestDatabase, until};

/// The connections that hold a lock of a stream.
const HOLDERS: &str = "
    SELECT pid FROM pg_locks JOIN pg_database ON pg_database.oid = database
    WHERE locktype = 'advisory' AND granted AND datname = current_database()";

fn event(id: &str) -> Event {
    let text = format!(
        r#"{{"id":"{id}","type":"agent.retired","sequence":1,"mandate":"mnd_1","data":{{"a":1.10}}}}"#
    );
    serde_json::from_str(&text).unwrap()
}

async fn save(inbox: &Inbox, id: &str) -> Result<(), String> {
    inbox.take(event(id)).await;
    inbox.save("workspace", &EventId::from(id)).await.map_err(|error| error.to_string())
}

#[tokio::test]
async fn it_is_a_checkpoint() {
    let database = TestDatabase::create().await;
    let inbox = Inbox::elected(&database.database, "mandate:mnd_conformance").await.unwrap();
    let inbox = Arc::new(inbox);
    checkpoint_conformance(|| Arc::clone(&inbox)).await.unwrap();
}

#[tokio::test]
async fn events_and_position_are_written_together_or_not_at_all() {
    let database = TestDatabase::create().await;
    let inbox = Inbox::elected(&database.database, "workspace").await.unwrap();
    assert_eq!(inbox.load("workspace").await.unwrap(), None);
    save(&inbox, "evt_1").await.unwrap();
    // An event that comes twice is there once, as it came.
    save(&inbox, "evt_1").await.unwrap();
    let stored = "SELECT event::text FROM shadway_events";
    assert_eq!(database.texts(stored).await, [serde_json::to_string(&event("evt_1")).unwrap()]);

    database.execute("ALTER TABLE shadway_events ADD CHECK (id <> 'evt_2')").await;
    save(&inbox, "evt_2").await.unwrap_err();
    assert_eq!(inbox.load("workspace").await.unwrap(), Some("evt_1".into()));
}

#[tokio::test]
async fn whoever_loses_the_lock_can_t_write() {
    let database = TestDatabase::create().await;
    let first = Inbox::elected(&database.database, "workspace").await.unwrap();
    save(&first, "evt_1").await.unwrap();
    assert!(database.is(&format!("SELECT pg_terminate_backend(pid) FROM ({HOLDERS}) AS held")).await);
    let second = Inbox::elected(&database.database, "workspace").await.unwrap();
    assert_eq!((first.epoch(), second.epoch()), (1, 2));
    save(&first, "evt_2").await.unwrap_err();
    save(&second, "evt_3").await.unwrap();
    first.lost().await;
    assert_eq!(database.texts("SELECT id FROM shadway_events ORDER BY number").await, ["evt_1", "evt_3"]);
}

/// Behind a pooler, two may believe that they hold it.
#[tokio::test]
async fn an_earlier_epoch_can_t_write_even_on_a_living_connection() {
    let database = TestDatabase::create().await;
    let inbox = Inbox::elected(&database.database, "workspace").await.unwrap();
    database.execute("UPDATE shadway_streams SET epoch = 2").await;
    assert_eq!(save(&inbox, "evt_1").await, Err("another process is the reader".into()));
    assert_eq!(database.number("SELECT count(*) FROM shadway_events").await, 0);
    assert!(database.is("SELECT position IS NULL FROM shadway_streams").await);
}

#[tokio::test]
async fn one_that_is_silent_loses_the_lock() {
    let database = TestDatabase::create().await;
    let silent = Inbox::elected(&database.database, "workspace").await.unwrap();
    let heard = Inbox::elected(&database.database, "mandate:mnd_1").await.unwrap();
    let listening = tokio::spawn(async move { heard.lost().await });
    until("the end of the lease", async || {
        database.number(&format!("SELECT count(*) FROM ({HOLDERS}) AS held")).await == 1
    })
    .await;
    save(&silent, "evt_1").await.unwrap_err();
    assert!(!listening.is_finished(), "a ping is enough");
}
