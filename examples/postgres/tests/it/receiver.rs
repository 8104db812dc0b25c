//! The receiver: deliveries that come again, at the same time, or when it was killed over them.

use std::time::Duration;

use reqwest::StatusCode;
use shadway::webhooks::{SignatureHeaders, Signer};

use crate::support::{Process, TestDatabase, until};

const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const BODY: &str = r#"{"id":"evt_1","type":"agent.retired","sequence":7,"mandate":"mnd_1","data":{}}"#;

struct Receiver {
    process: Process,
    sender: Sender,
}

#[derive(Clone)]
struct Sender {
    url: String,
    http: reqwest::Client,
}

impl Receiver {
    async fn start(database: &TestDatabase) -> Self {
        let process = Process::receiver(&database.url, SECRET);
        until("a port", async || process.said("listening on ").is_some()).await;
        let url = format!("{}/shadway/webhooks", process.said("listening on ").unwrap());
        // Nothing here takes as long as that.
        let http = reqwest::Client::builder().timeout(Duration::from_secs(30)).build().unwrap();
        Self { process, sender: Sender { url, http } }
    }
}

impl Sender {
    /// As the service would send it; `None` when there is no answer.
    async fn deliver(&self, id: &str) -> Option<StatusCode> {
        self.send(&Signer::new(SECRET).unwrap().sign(id, BODY).unwrap()).await
    }

    async fn send(&self, headers: &SignatureHeaders) -> Option<StatusCode> {
        let mut request = self.http.post(&self.url).body(BODY);
        for (name, value) in headers.pairs() {
            request = request.header(name, value);
        }
        Some(request.send().await.ok()?.status())
    }
}

async fn effects(database: &TestDatabase) -> (i64, i64) {
    let count = async |table| database.number(&format!("SELECT count(*) FROM {table}")).await;
    (count("shadway_deliveries").await, count("ledger").await)
}

#[tokio::test]
async fn a_delivery_has_its_effect_once_however_often_it_comes() {
    let database = TestDatabase::create().await;
    let receiver = Receiver::start(&database).await;
    for _ in 0..3 {
        assert_eq!(receiver.sender.deliver("dlv_1").await, Some(StatusCode::NO_CONTENT));
    }
    let mut tasks = tokio::task::JoinSet::new();
    for _ in 0..20 {
        let sender = receiver.sender.clone();
        tasks.spawn(async move { sender.deliver("dlv_2").await });
    }
    assert_eq!(tasks.join_all().await, [Some(StatusCode::NO_CONTENT); 20]);
    assert_eq!(effects(&database).await, (2, 2));
}

#[tokio::test]
async fn what_nobody_signed_leaves_nothing() {
    let database = TestDatabase::create().await;
    let receiver = Receiver::start(&database).await;
    let other = Signer::new("whsec_PD8ILPZIo2LaLaSwMfKQ9r8GKYqrTwjU").unwrap().sign("dlv_1", BODY).unwrap();
    assert_eq!(receiver.sender.send(&other).await, Some(StatusCode::BAD_REQUEST));
    assert_eq!(effects(&database).await, (0, 0));
}

#[tokio::test]
async fn a_delivery_that_fails_is_refused_and_can_come_again() {
    let database = TestDatabase::create().await;
    let receiver = Receiver::start(&database).await;
    database.execute("ALTER TABLE ledger ADD CONSTRAINT unfit CHECK (event <> 'evt_1')").await;
    assert_eq!(receiver.sender.deliver("dlv_1").await, Some(StatusCode::SERVICE_UNAVAILABLE));
    assert_eq!(effects(&database).await, (0, 0), "its id isn't kept either");
    database.execute("ALTER TABLE ledger DROP CONSTRAINT unfit").await;
    assert_eq!(receiver.sender.deliver("dlv_1").await, Some(StatusCode::NO_CONTENT));
    assert_eq!(effects(&database).await, (1, 1));
}

#[tokio::test]
async fn a_receiver_killed_over_a_delivery_leaves_it_to_the_next_try() {
    let database = TestDatabase::create().await;
    let mut receiver = Receiver::start(&database).await;
    let sender = receiver.sender.clone();
    // Its effect waits for this.
    let mut lock = database.pool().begin().await.unwrap();
    sqlx::query("LOCK TABLE ledger IN EXCLUSIVE MODE").execute(&mut *lock).await.unwrap();
    let killed = async {
        let waits = "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%INTO ledger%'
                     AND datname = current_database()";
        until("the effect", async || database.number(waits).await == 1).await;
        receiver.process.kill();
    };
    let (answer, ()) = tokio::join!(sender.deliver("dlv_1"), killed);
    assert_eq!(answer, None);
    lock.commit().await.unwrap();

    let again = Receiver::start(&database).await;
    assert_eq!(again.sender.deliver("dlv_1").await, Some(StatusCode::NO_CONTENT));
    assert_eq!(effects(&database).await, (1, 1));
}
