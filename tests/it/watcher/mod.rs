//! Many waits over one stream.

use std::future::IntoFuture as _;
use std::time::Duration;

use shadway::mandates::{Mandate, MandateStatus, WatchedEvents, Watcher};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use crate::support::fleet::{Fleet, id};

mod driving;
mod readers;
mod reads;
mod stream;

const SECOND: Duration = Duration::from_secs(1);

fn millis(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn spawn(watcher: &Watcher, number: usize) -> JoinHandle<shadway::Result<Mandate>> {
    tokio::spawn(watcher.wait(id(number)).into_future())
}

/// What comes within a minute.
async fn soon<T>(future: impl Future<Output = T>) -> T {
    timeout(60 * SECOND, future).await.expect("it came within a minute")
}

async fn sequences(events: &mut WatchedEvents, count: usize) -> Vec<u64> {
    let mut sequences = Vec::new();
    for _ in 0..count {
        sequences.push(soon(events.next()).await.unwrap().unwrap().sequence);
    }
    sequences
}

#[tokio::test(start_paused = true)]
async fn ten_thousand_waits_take_one_stream_and_all_return() {
    const WAITS: usize = 10_000;
    let fleet = Fleet::new(WAITS, millis(5));
    let watcher = fleet.client().watcher();
    let waits: Vec<_> = (0..WAITS).map(|number| spawn(&watcher, number)).collect();
    sleep(10 * SECOND).await;
    let counts = fleet.counts();
    assert_eq!((counts.streams, counts.open), (1, 1));
    assert!(counts.at_a_time <= 8, "{counts:?}");
    assert!(counts.gets + counts.lists < 500, "read by lists: {counts:?}");
    let (before, started) = (counts, Instant::now());
    for number in 0..WAITS {
        fleet.set(number, "completed");
    }
    for wait in waits {
        assert_eq!(soon(wait).await.unwrap().unwrap().status, MandateStatus::Completed);
    }
    let counts = fleet.counts();
    assert_eq!((counts.streams, counts.open), (1, 0));
    // Each ended, and so each is read, which 8 at a time would take more than 6 s.
    assert_eq!((counts.gets - before.gets, counts.lists), (WAITS, before.lists));
    assert!(started.elapsed() <= millis(1_200), "{:?}", started.elapsed());
    assert!(counts.at_a_time <= 64, "{counts:?}");
}

#[tokio::test(start_paused = true)]
async fn what_ends_at_once_is_read_8_at_a_time_unless_it_is_many() {
    for (ends, at_a_time) in [(200, 8), (1_500, 64)] {
        let fleet = Fleet::new(ends, millis(5));
        let watcher = fleet.client().watcher();
        let waits: Vec<_> = (0..ends).map(|number| spawn(&watcher, number)).collect();
        sleep(SECOND).await;
        (0..ends).for_each(|number| fleet.set(number, "completed"));
        for wait in waits {
            soon(wait).await.unwrap().unwrap();
        }
        assert_eq!(fleet.counts().at_a_time, at_a_time);
    }
}

#[tokio::test(start_paused = true)]
async fn a_service_that_refuses_reads_now_and_then_is_not_rushed() {
    let fleet = Fleet::new(1_500, millis(5));
    let watcher = fleet.client().watcher();
    let waits: Vec<_> = (0..1_500).map(|number| spawn(&watcher, number)).collect();
    sleep(SECOND).await;
    fleet.refuse_every_nth(100);
    (0..1_500).for_each(|number| fleet.set(number, "completed"));
    for wait in waits {
        soon(wait).await.unwrap().unwrap();
    }
    assert!((9..=21).contains(&fleet.counts().at_a_time), "{:?}", fleet.counts());
}

#[tokio::test(start_paused = true)]
async fn a_wait_is_small() {
    let watcher = Fleet::new(1, SECOND).client().watcher();
    let wait = watcher.wait("mnd_0").timeout(SECOND).into_future();
    assert!(size_of_val(&*wait) <= 112, "{} bytes", size_of_val(&*wait));
}

#[tokio::test(start_paused = true)]
async fn the_stream_is_opened_with_the_first_and_closed_with_the_last() {
    let fleet = Fleet::new(3, millis(5));
    let watcher = fleet.client().watcher();
    let (first, second) = (watcher.wait("mnd_0").into_future(), watcher.clone().events("mnd_1"));
    sleep(SECOND).await;
    assert_eq!(fleet.counts().streams, 0, "nothing before it is polled");
    let (first, mut second) = (tokio::spawn(first), second);
    assert!(timeout(SECOND, second.next()).await.is_err());
    assert_eq!((fleet.counts().streams, fleet.counts().open), (1, 1));
    first.abort();
    sleep(SECOND).await;
    assert_eq!(fleet.counts().open, 1);
    drop(second);
    assert_eq!(fleet.counts().open, 0);
    // And again.
    let wait = spawn(&watcher, 2);
    sleep(SECOND).await;
    fleet.set(2, "failed");
    assert_eq!(soon(wait).await.unwrap().unwrap().status, MandateStatus::Failed);
    assert_eq!((fleet.counts().streams, fleet.counts().open), (2, 0));
}

#[tokio::test(start_paused = true)]
async fn a_mandate_that_had_ended_before_is_found_by_a_read() {
    let fleet = Fleet::new(200, millis(5));
    for number in (0..200).step_by(2) {
        fleet.set_silently(number, "canceled");
    }
    let watcher = fleet.client().watcher();
    let started = Instant::now();
    let waits: Vec<_> = (0..200).map(|number| spawn(&watcher, number)).collect();
    for (number, wait) in waits.into_iter().enumerate() {
        if number % 2 == 0 {
            assert_eq!(soon(wait).await.unwrap().unwrap().status, MandateStatus::Canceled);
        } else {
            assert!(!wait.is_finished());
        }
    }
    assert!(started.elapsed() <= SECOND);
    // Also one that is watched while the stream has long been open.
    let late = Instant::now();
    soon(watcher.wait("mnd_0").into_future()).await.unwrap();
    assert!(late.elapsed() < millis(100), "{:?}", late.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_change_that_no_event_tells_of_is_found_by_the_next_poll() {
    let fleet = Fleet::new(100, millis(5));
    let watcher = fleet.client().watcher();
    let waits: Vec<_> = (0..100).map(|number| spawn(&watcher, number)).collect();
    sleep(SECOND).await;
    let before = fleet.counts();
    for number in 0..10 {
        fleet.set_silently(number, "expired");
    }
    for wait in waits.into_iter().take(10) {
        assert_eq!(soon(wait).await.unwrap().unwrap().status, MandateStatus::Expired);
    }
    let counts = fleet.counts();
    assert!(counts.gets - before.gets <= 10 && counts.lists - before.lists <= 4, "{before:?} {counts:?}");
}

#[tokio::test(start_paused = true)]
async fn approvals_are_waited_for_and_none_is_an_end_without_one() {
    let fleet = Fleet::new(100, millis(5));
    fleet.ask(0);
    let watcher = fleet.client().watcher();
    let waits: Vec<_> =
        (0..100).map(|number| tokio::spawn(watcher.wait_for_approval(id(number)).into_future())).collect();
    let started = Instant::now();
    sleep(SECOND).await;
    fleet.ask(1);
    fleet.set(2, "completed");
    for (number, wait) in waits.into_iter().enumerate().take(3) {
        let approval = soon(wait).await.unwrap().unwrap();
        assert_eq!(
            approval.map(|approval| approval.id.to_string()),
            (number < 2).then(|| format!("apr_{number}"))
        );
    }
    assert!(started.elapsed() <= SECOND + millis(100), "{:?}", started.elapsed());
    assert_eq!(fleet.counts().streams, 1);
}

#[test]
fn a_watcher_is_shared_between_threads() {
    fn shared<T: Clone + Send + Sync + 'static>() {}
    fn sent<T: Send + Unpin + 'static>() {}
    shared::<Watcher>();
    sent::<WatchedEvents>();
}
