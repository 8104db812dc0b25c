//! Whoever is polled drives for all.

use std::future::IntoFuture as _;
use std::time::Duration;

use serde_json::json;
use shadway::mandates::{Mandate, MandateStatus};
use tokio::task::unconstrained;
use tokio::time::{Instant, sleep, timeout};

use super::{SECOND, millis, sequences, soon, spawn};
use crate::support::fleet::{Fleet, id};

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_dropped_while_it_drives_hands_over_to_another() {
    let fleet = Fleet::new(4, millis(5));
    let watcher = fleet.client().watcher();
    let kept = spawn(&watcher, 0);
    let dropped: Vec<_> = (1..4).map(|number| spawn(&watcher, number)).collect();
    sleep(SECOND).await;
    for wait in &dropped {
        fleet.set(0, "running");
        wait.abort();
    }
    fleet.set(0, "completed");
    let started = Instant::now();
    soon(kept).await.unwrap().unwrap();
    assert!(started.elapsed() <= millis(50), "{:?}", started.elapsed());
    assert_eq!(fleet.counts().streams, 1);
}

#[tokio::test(start_paused = true)]
async fn those_who_are_not_polled_hold_up_nobody() {
    let fleet = Fleet::new(50, millis(5));
    let watcher = fleet.client().watcher();
    // They wait, and are then never polled again.
    let mut busy: Vec<_> = (0..20).map(|number| watcher.wait(id(number)).into_future()).collect();
    let mut readers: Vec<_> = (20..40).map(|number| watcher.events(id(number))).collect();
    let polled = spawn(&watcher, 49);
    for wait in &mut busy {
        assert!(timeout(millis(1), wait).await.is_err());
    }
    let mut asking: Vec<_> = readers.iter_mut().map(|reader| Box::pin(reader.next())).collect();
    for next in &mut asking {
        assert!(timeout(millis(1), next).await.is_err());
    }
    sleep(SECOND).await;
    for round in 0..10 {
        fleet.set(round, "running");
        sleep(millis(100)).await;
    }
    let started = Instant::now();
    fleet.set(49, "completed");
    soon(polled).await.unwrap().unwrap();
    assert!(started.elapsed() <= millis(255), "{:?}", started.elapsed());
    assert_eq!(fleet.counts().streams, 1);
}

#[tokio::test(start_paused = true)]
async fn those_who_are_not_polled_any_more_hold_up_others_by_a_quarter_second_at_most_and_one_not_at_all() {
    for (abandoned, most) in [(1, 5), (2, 255), (100, 255)] {
        for waited in (0..1_000).step_by(37).map(millis) {
            let fleet = Fleet::new(200, millis(5));
            let watcher = fleet.client().watcher();
            let polled = spawn(&watcher, 0);
            sleep(2 * SECOND).await;
            // The newest are the first to be woken.
            let mut busy: Vec<_> =
                (1..=abandoned).map(|number| watcher.wait(id(number)).into_future()).collect();
            for wait in &mut busy {
                assert!(futures_util::poll!(wait).is_pending());
            }
            sleep(waited).await;
            fleet.set(0, "completed");
            let started = Instant::now();
            soon(polled).await.unwrap().unwrap();
            let late = started.elapsed();
            assert!(late <= millis(5 + most), "{abandoned}, after {waited:?}: {late:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn readers_that_are_streams_and_are_asked_no_more_hold_up_others_by_a_quarter_second_at_most() {
    for (abandoned, most) in [(1, 1), (10, 251)] {
        for waited in (0..1_000).step_by(37).map(millis) {
            let fleet = Fleet::new(20, millis(5));
            let watcher = fleet.client().watcher();
            let mut events = watcher.events(id(0));
            let polled = tokio::spawn(async move { sequences(&mut events, 1).await });
            sleep(2 * SECOND).await;
            let mut readers: Vec<_> = (1..=abandoned).map(|number| watcher.events(id(number))).collect();
            for reader in &mut readers {
                let asked = futures_util::StreamExt::next(reader);
                assert!(futures_util::FutureExt::now_or_never(asked).is_none());
            }
            sleep(waited).await;
            fleet.tell(0, "test.happened", json!({}));
            let started = Instant::now();
            assert_eq!(soon(polled).await.unwrap(), [1]);
            let late = started.elapsed();
            assert!(late <= millis(most), "{abandoned}, after {waited:?}: {late:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_watcher_to_which_nothing_happens_is_woken_a_few_times_a_second_however_many_wait() {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    let fleet = Fleet::new(100, millis(5));
    let watcher = fleet.client().watcher();
    let polls = Arc::new(AtomicUsize::new(0));
    let _waits: Vec<_> = (0..100)
        .map(|number| {
            let (mut wait, polls) = (watcher.wait(id(number)).into_future(), Arc::clone(&polls));
            tokio::spawn(std::future::poll_fn(move |context| {
                polls.fetch_add(1, Ordering::Relaxed);
                wait.as_mut().poll(context)
            }))
        })
        .collect();
    // After the first looks, and before the first heartbeat.
    sleep(11 * SECOND).await;
    let before = polls.load(Ordering::Relaxed);
    sleep(3 * SECOND).await;
    let polled = polls.load(Ordering::Relaxed) - before;
    assert!(polled <= 15, "{polled} times in three seconds");
}

#[tokio::test(start_paused = true)]
async fn a_transport_that_panics_is_the_end_of_one_wait_and_of_no_other() {
    for in_stream in [false, true] {
        let fleet = Fleet::new(10, millis(5));
        let watcher = fleet.client().watcher();
        let mut events = watcher.events("mnd_9");
        assert!(timeout(SECOND, events.next()).await.is_err());
        fleet.tell(9, "test.happened", json!({}));
        assert_eq!(sequences(&mut events, 1).await, [1]);
        let waits: Vec<_> = (0..9).map(|number| spawn(&watcher, number)).collect();
        sleep(SECOND).await;
        if in_stream {
            fleet.panic_in_stream()
        } else {
            fleet.panic_in_read()
        }
        fleet.set(0, "completed");
        sleep(millis(1)).await;
        fleet.tell(9, "test.happened", json!({}));
        (1..9).for_each(|number| fleet.set(number, "completed"));
        let started = Instant::now();
        let mut panicked = 0;
        for wait in waits {
            match soon(wait).await {
                Ok(mandate) => assert_eq!(mandate.unwrap().status, MandateStatus::Completed),
                Err(error) => panicked += usize::from(error.is_panic()),
            }
        }
        assert_eq!(panicked, 1);
        assert!(started.elapsed() <= millis(100), "{:?}", started.elapsed());
        assert_eq!(sequences(&mut events, 1).await, [2]);
        assert_eq!(fleet.counts().open, 1);
    }
}

/// The waker of a task that, when it is woken, polls another wait then and there.
struct Inline(std::sync::Mutex<Option<shadway::call::CallFuture<Mandate>>>);

impl std::task::Wake for Inline {
    fn wake(self: std::sync::Arc<Self>) {
        let other = self.0.lock().unwrap().take();
        if let Some(mut other) = other {
            let _ = other.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop()));
        }
    }
}

#[test]
fn whoever_is_woken_may_drive_then_and_there() {
    let (sender, done) = std::sync::mpsc::channel();
    // In a thread of its own, since what goes wrong here never ends.
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
        // Unconstrained, so that all events are at hand at once.
        runtime.unwrap().block_on(unconstrained(async {
            let fleet = Fleet::new(3, millis(5));
            let watcher = fleet.client().watcher();
            let mut events = watcher.events("mnd_2");
            assert!(timeout(SECOND, events.next()).await.is_err());
            // More than are taken at once, so that whoever drives calls for another: itself, since nobody else waits.
            for _ in 0..300 {
                fleet.tell(2, "test.happened", json!({}));
            }
            let inline = Inline(std::sync::Mutex::new(Some(watcher.wait("mnd_1").into_future())));
            let waker = std::task::Waker::from(std::sync::Arc::new(inline));
            let mut wait = watcher.wait("mnd_0").into_future();
            assert!(wait.as_mut().poll(&mut std::task::Context::from_waker(&waker)).is_pending());
            assert_eq!(sequences(&mut events, 300).await.len(), 300);
        }));
        sender.send(()).unwrap();
    });
    done.recv_timeout(20 * SECOND).expect("no deadlock");
}

#[tokio::test(start_paused = true)]
async fn the_first_of_many_that_end_at_once_returns_first() {
    let fleet = Fleet::new(2_000, Duration::ZERO);
    let watcher = fleet.client().watcher();
    let returned = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let waits: Vec<_> = (0..2_000)
        .map(|number| {
            let (wait, returned, fleet) =
                (watcher.wait(id(number)).into_future(), returned.clone(), fleet.clone());
            tokio::spawn(unconstrained(async move {
                wait.await.unwrap();
                // How many mandates were read before somebody returned.
                returned.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                fleet.counts().gets
            }))
        })
        .collect();
    sleep(SECOND).await;
    let before = fleet.counts().gets;
    (0..2_000).for_each(|number| fleet.set(number, "completed"));
    let mut first = usize::MAX;
    for wait in waits {
        first = first.min(soon(wait).await.unwrap() - before);
    }
    // Two rounds: whoever was woken beside the first to come may have its turn before those that were found.
    assert!(first <= 150, "{first} were read before the first returned");
}
