//! Events that can't be handled, and what they hold up.

use postgres::worker::handle_next;

use crate::support::TestDatabase;

/// Two mandates with two events each; the first event of the first can't be handled.
async fn filled() -> TestDatabase {
    let database = TestDatabase::create().await;
    for (id, mandate) in [("evt_1", "mnd_1"), ("evt_2", "mnd_1"), ("evt_3", "mnd_2"), ("evt_4", "mnd_2")] {
        let insert = format!(
            r#"INSERT INTO shadway_events (id, mandate, event, epoch) VALUES ('{id}', '{mandate}',
               '{{"id":"{id}","type":"agent.retired","sequence":1,"mandate":"{mandate}"}}', 1)"#
        );
        database.execute(&insert).await;
    }
    database.execute("ALTER TABLE ledger ADD CONSTRAINT unfit CHECK (event <> 'evt_1')").await;
    database
}

async fn handle_all(database: &TestDatabase) {
    while handle_next(database.pool()).await.unwrap() {}
}

#[tokio::test]
async fn an_event_that_fails_holds_up_its_mandate_and_no_other() {
    let database = filled().await;
    handle_all(&database).await;
    assert_eq!(database.texts("SELECT event FROM ledger ORDER BY event").await, ["evt_3", "evt_4"]);
    let noted =
        "SELECT id FROM shadway_events WHERE failures = 1 AND failure LIKE '%unfit%' AND done_at IS NULL";
    assert_eq!(database.texts(noted).await, ["evt_1"]);

    database.execute("ALTER TABLE ledger DROP CONSTRAINT unfit").await;
    handle_all(&database).await;
    assert_eq!(database.number("SELECT count(*) FROM ledger").await, 2, "not yet");
    database.execute("UPDATE shadway_events SET try_at = now()").await;
    handle_all(&database).await;
    let order = "SELECT event FROM ledger ORDER BY written_at";
    assert_eq!(database.texts(order).await, ["evt_3", "evt_4", "evt_1", "evt_2"]);
}

#[tokio::test]
async fn it_is_tried_again_ever_later_up_to_an_hour() {
    let database = filled().await;
    let mut waits = Vec::new();
    for _ in 0..15 {
        database.execute("UPDATE shadway_events SET try_at = now()").await;
        handle_all(&database).await;
        let wait = "SELECT round(extract(epoch FROM try_at - clock_timestamp()))::bigint FROM shadway_events
                    WHERE id = 'evt_1'";
        waits.push(database.number(wait).await);
    }
    assert_eq!(waits[..5], [1, 2, 4, 8, 16]);
    assert_eq!(waits[12..], [3_600; 3]);
}

#[tokio::test]
async fn what_is_no_event_is_noted_like_any_failure() {
    let database = TestDatabase::create().await;
    database
        .execute("INSERT INTO shadway_events (id, mandate, event, epoch) VALUES ('x', 'mnd_1', '{}', 1)")
        .await;
    handle_all(&database).await;
    assert_eq!(database.texts("SELECT failure FROM shadway_events").await.len(), 1);
}
