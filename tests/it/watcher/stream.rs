//! The one stream: cut, forgotten, refused.

use serde_json::json;
use shadway::mandates::{Mandate, WatchedEvents};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use super::{SECOND, millis, sequences, soon, spawn};
use crate::support::fleet::Fleet;

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_cut_again_and_again_puts_off_no_read() {
    for trouble in [false, true] {
        let fleet = Fleet::new(1, millis(5));
        let watcher = fleet.client().watcher();
        let wait = spawn(&watcher, 0);
        let cutting = fleet.clone();
        let cuts = tokio::spawn(async move {
            loop {
                sleep(6 * SECOND).await;
                // With an event, so that it is soon open again.
                cutting.tell(0, "test.happened", json!({}));
                sleep(millis(1)).await;
                cutting.cut();
            }
        });
        if trouble {
            sleep(120 * SECOND).await;
            fleet.refuse_reads(Some(503));
        }
        sleep(120 * SECOND).await;
        fleet.set_silently(0, "completed");
        fleet.refuse_reads(None);
        let started = Instant::now();
        soon(wait).await.unwrap().unwrap();
        assert!(started.elapsed() <= 30 * SECOND + millis(20), "{:?}", started.elapsed());
        cuts.abort();
    }
}

/// A wait for the first mandate, and the events of the second after the first of them, on one watcher.
async fn wait_and_events(fleet: &Fleet) -> (JoinHandle<shadway::Result<Mandate>>, WatchedEvents) {
    let watcher = fleet.client().watcher();
    let wait = spawn(&watcher, 0);
    let mut events = watcher.events("mnd_1");
    assert!(timeout(SECOND, events.next()).await.is_err());
    fleet.tell(1, "test.happened", json!({}));
    assert_eq!(sequences(&mut events, 1).await, [1]);
    (wait, events)
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_cut_is_resumed_for_all() {
    let fleet = Fleet::new(2, millis(5));
    let (wait, mut events) = wait_and_events(&fleet).await;
    fleet.cut();
    fleet.tell(1, "test.happened", json!({}));
    fleet.set(0, "completed");
    let started = Instant::now();
    soon(wait).await.unwrap().unwrap();
    assert!(started.elapsed() <= SECOND + millis(10), "{:?}", started.elapsed());
    assert_eq!(sequences(&mut events, 1).await, [2]);
    assert_eq!(fleet.counts().streams, 2);
}

#[tokio::test(start_paused = true)]
async fn what_happened_while_the_service_forgot_where_the_stream_was_is_read_and_listed() {
    let fleet = Fleet::new(100, millis(5));
    let watcher = fleet.client().watcher();
    let waits: Vec<_> = (1..100).map(|number| spawn(&watcher, number)).collect();
    let mut events = watcher.events("mnd_0");
    assert!(timeout(SECOND, events.next()).await.is_err());
    fleet.tell(0, "test.happened", json!({}));
    assert_eq!(sequences(&mut events, 1).await, [1]);
    fleet.forget();
    fleet.cut();
    let started = Instant::now();
    for number in 1..100 {
        fleet.set(number, "completed");
    }
    fleet.tell(0, "test.happened", json!({}));
    for wait in waits {
        soon(wait).await.unwrap().unwrap();
    }
    assert_eq!(sequences(&mut events, 1).await, [2]);
    assert!(started.elapsed() <= SECOND, "{:?}", started.elapsed());
    fleet.tell(0, "test.happened", json!({}));
    assert_eq!(sequences(&mut events, 1).await, [3]);
}

#[tokio::test(start_paused = true)]
async fn where_the_stream_is_refused_waits_read_and_readers_open_their_own() {
    let fleet = Fleet::new(2, millis(5));
    fleet.refuse_streams(Some(404));
    let watcher = fleet.client().watcher();
    let wait = spawn(&watcher, 0);
    let mut events = watcher.events("mnd_1");
    assert!(timeout(millis(1_500), events.next()).await.is_err());
    assert_eq!(fleet.counts().own_streams, 1);
    fleet.set(0, "completed");
    let started = Instant::now();
    soon(wait).await.unwrap().unwrap();
    assert!(started.elapsed() <= SECOND + millis(10), "{:?}", started.elapsed());
    fleet.tell(1, "test.happened", json!({}));
    while soon(events.next()).await.unwrap().unwrap().mandate != "mnd_1" {}
}

#[tokio::test(start_paused = true)]
async fn an_event_between_the_shared_stream_and_the_readers_own_is_not_lost() {
    let fleet = Fleet::new(2, millis(5));
    let watcher = fleet.client().watcher();
    let mut events = [watcher.events("mnd_0"), watcher.events("mnd_1")];
    for reader in &mut events {
        assert!(timeout(SECOND, reader.next()).await.is_err());
    }
    fleet.tell(0, "test.happened", json!({}));
    assert_eq!(sequences(&mut events[0], 1).await, [1]);
    fleet.refuse_streams(Some(403));
    fleet.cut();
    fleet.tell(0, "test.happened", json!({}));
    fleet.tell(1, "test.happened", json!({}));
    assert_eq!(sequences(&mut events[0], 1).await, [2]);
    assert_eq!(sequences(&mut events[1], 1).await, [1]);
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_was_refused_is_asked_for_again() {
    let fleet = Fleet::new(2, millis(5));
    fleet.refuse_streams(Some(403));
    let watcher = fleet.client().watcher();
    let waits = [spawn(&watcher, 0), spawn(&watcher, 1)];
    sleep(300 * SECOND).await;
    let streams = fleet.counts().streams;
    assert!((5..=8).contains(&streams), "about once a minute: {streams}");
    fleet.refuse_streams(None);
    sleep(61 * SECOND).await;
    for (number, wait) in waits.into_iter().enumerate() {
        fleet.set(number, "completed");
        let started = Instant::now();
        soon(wait).await.unwrap().unwrap();
        assert!(started.elapsed() <= millis(10), "{:?}", started.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_that_is_too_large_costs_no_other() {
    let fleet = Fleet::new(2, millis(5));
    let (wait, mut events) = wait_and_events(&fleet).await;
    fleet.send_to_all(vec![b'x'; 17 << 20]);
    fleet.tell(1, "test.happened", json!({}));
    fleet.set(0, "completed");
    let started = Instant::now();
    soon(wait).await.unwrap().unwrap();
    assert!(started.elapsed() <= SECOND, "{:?}", started.elapsed());
    assert_eq!(sequences(&mut events, 1).await, [2]);
    fleet.tell(1, "test.happened", json!({}));
    assert_eq!(sequences(&mut events, 1).await, [3]);
    // One after the other is no loop without a pause.
    for _ in 0..200 {
        fleet.send_to_all(vec![b'x'; 17 << 20]);
        let _ = timeout(millis(50), events.next()).await;
    }
    assert!(fleet.counts().streams <= 8, "{:?}", fleet.counts());
}
