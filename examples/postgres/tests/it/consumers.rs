//! The consumer, several at once, some of which are killed or freeze. What is asserted of time is by the clock of
//! the database.

use std::time::Duration;

use shadway::events::Event;

use crate::support::{Process, Service, TestDatabase, until};

/// How soon another has to take over.
const SOON: &str = "interval '5 seconds'";

/// The process that holds the reader's lock: the database shows a lock's number in two halves.
const READER: &str = "
    SELECT application_name FROM pg_stat_activity JOIN pg_locks USING (pid)
    WHERE locktype = 'advisory' AND granted AND datname = current_database()
    AND classid::bigint << 32 | objid::bigint = hashtextextended('shadway stream workspace', 0)";

/// What a process has in hand: the rows that its transactions have locked and not yet noted as done.
fn in_hand(process: &Process) -> String {
    format!(
        "SELECT id FROM shadway_events AS event JOIN pg_stat_activity AS activity ON event.xmax = backend_xid
         WHERE application_name = '{}' AND done_at IS NULL ORDER BY number",
        process.name("consumer")
    )
}

struct Consumers(Vec<Process>);

impl Consumers {
    fn start(number: usize, database: &TestDatabase, service: &Service) -> Self {
        let start = |_| Process::consumer(&database.url, service.url(), service.key());
        Self((0..number).map(start).collect())
    }

    async fn reader(&mut self, database: &TestDatabase) -> Process {
        until("a reader", async || !database.texts(READER).await.is_empty()).await;
        let name = database.texts(READER).await.remove(0);
        let at = self.0.iter().position(|process| process.name("consumer") == name).unwrap();
        self.0.swap_remove(at)
    }
}

/// Freezes the process again and again, until that hits a moment in which the query finds something, and kills it
/// then. Says when, and what it had in hand.
async fn kill_when(database: &TestDatabase, mut process: Process, moment: &str) -> (String, Vec<String>) {
    until("the moment", async || {
        process.freeze();
        let met = !database.texts(moment).await.is_empty();
        if !met {
            process.thaw();
        }
        met
    })
    .await;
    let answer = (database.now().await, database.texts(&in_hand(&process)).await);
    process.kill();
    answer
}

/// The second reader was elected, and had also read an event, soon after that. Mandates have to be made meanwhile.
async fn assert_taken_over_in_time(database: &TestDatabase, since: &str) {
    let read = "SELECT count(*) > 0 FROM shadway_events WHERE epoch = 2";
    until("an event of the second reader", async || database.is(read).await).await;
    for (what, at) in [
        ("elected", "SELECT elected_at FROM shadway_streams WHERE epoch = 2"),
        ("reading", "SELECT min(read_at) FROM shadway_events WHERE epoch = 2"),
    ] {
        let soon = format!("SELECT ({at}) < timestamptz '{since}' + {SOON}");
        assert!(database.is(&soon).await, "{what} in time");
    }
}

/// Each event is there once, as the service has it, and was handled once, those of a mandate in their order.
async fn assert_all_handled_once(database: &TestDatabase, events: &[Event]) {
    let sorted = |mut ids: Vec<String>| {
        ids.sort();
        ids
    };
    let expected = || sorted(events.iter().map(|event| event.id.to_string()).collect());
    assert_eq!(
        sorted(database.texts("SELECT event FROM ledger").await),
        expected(),
        "none twice, none missing"
    );
    assert_eq!(sorted(database.texts("SELECT id FROM shadway_events").await), expected());
    for event in database.texts("SELECT event::text FROM shadway_events").await {
        let event: Event = serde_json::from_str(&event).unwrap();
        assert!(events.contains(&event), "{event:?}");
    }
    let out_of_order = database
        .number(
            "SELECT count(*) FROM shadway_events AS event JOIN shadway_events AS later USING (mandate)
             WHERE later.number > event.number AND later.done_at <= event.done_at",
        )
        .await;
    assert_eq!(out_of_order, 0, "one after the other");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_reader_and_a_worker_are_killed_and_every_event_is_handled_once() {
    let (database, service) = (TestDatabase::create().await, Service::start().await);
    // Work takes a while, so that there is some in hand.
    database
        .execute(
            "CREATE FUNCTION work() RETURNS trigger LANGUAGE plpgsql AS
                 'BEGIN PERFORM pg_sleep(0.02); RETURN NEW; END';
             CREATE TRIGGER work BEFORE INSERT ON ledger FOR EACH ROW EXECUTE FUNCTION work()",
        )
        .await;
    let mut consumers = Consumers::start(3, &database, &service);
    let handled = async || database.number("SELECT count(*) FROM ledger").await;
    let work = service.mandates(100, Duration::from_millis(50));
    let kills = async {
        let reader = consumers.reader(&database).await;
        until("a quarter", async || handled().await >= 250).await;
        // In the middle of the transaction with an event and the position.
        let writes = format!("{READER} AND backend_xid IS NOT NULL");
        let (killed_at, _) = kill_when(&database, reader, &writes).await;
        assert_taken_over_in_time(&database, &killed_at).await;

        let reader = consumers.reader(&database).await;
        let worker = consumers.0.pop().unwrap();
        until("the half", async || handled().await >= 500).await;
        let has_work = in_hand(&worker);
        let (killed_at, in_hand) = kill_when(&database, worker, &has_work).await;
        assert!(!in_hand.is_empty());
        let done = format!(
            "SELECT * FROM shadway_events WHERE id = ANY('{{{}}}') AND done_at IS NOT NULL",
            in_hand.join(",")
        );
        let count = format!("SELECT count(*) FROM ({done}) AS done");
        until("its work", async || database.number(&count).await == in_hand.len() as i64).await;
        let late = format!(
            "{count} WHERE done_at > timestamptz '{killed_at}' + {SOON} OR done_by <> '{}'",
            reader.name("consumer")
        );
        assert_eq!(database.number(&late).await, 0, "done by another in time: {in_hand:?}");
        reader
    };
    let ((), mut survivor) = tokio::join!(work, kills);
    let events = service.events().await;
    assert!(events.len() >= 1_000, "{}", events.len());
    until("all", async || handled().await >= events.len() as i64).await;
    assert_all_handled_once(&database, &events).await;
    assert!(survivor.is_running());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_freezes_is_replaced_and_writes_nothing_afterwards() {
    let (database, service) = (TestDatabase::create().await, Service::start().await);
    let mut consumers = Consumers::start(2, &database, &service);
    let frozen = consumers.reader(&database).await;
    service.mandates(3, Duration::ZERO).await;
    let all_handled = async || {
        let events = service.events().await.len() as i64;
        events > 0 && database.number("SELECT count(*) FROM ledger").await == events
    };
    // At rest, or what it has in hand would be for nobody else until it is taken from it, which takes longer.
    until("three mandates", all_handled).await;

    frozen.freeze();
    let frozen_at = database.now().await;
    tokio::join!(service.mandates(3, Duration::ZERO), assert_taken_over_in_time(&database, &frozen_at));
    frozen.thaw();
    until("that it notices", async || frozen.said("not the reader: ").is_some()).await;
    until("six mandates", all_handled).await;
    let stale = "SELECT count(*) FROM shadway_events AS event, shadway_streams AS stream
                 WHERE event.epoch <> stream.epoch AND event.read_at > stream.elected_at";
    assert_eq!(database.number(stale).await, 0);
    assert_all_handled_once(&database, &service.events().await).await;

    // And it stands again.
    consumers.reader(&database).await.kill();
    until("the third reader", async || database.is("SELECT epoch = 3 FROM shadway_streams").await).await;
    assert_eq!(database.texts(READER).await, [frozen.name("consumer")]);
}
