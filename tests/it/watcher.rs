//! Many waits over one stream.

use std::future::IntoFuture as _;
use std::time::Duration;

use serde_json::json;
use shadway::ErrorKind;
use shadway::mandates::{Mandate, MandateStatus, WatchedEvents, Watcher};
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, unconstrained};
use tokio::time::{Instant, sleep, timeout};

use crate::support::fleet::{Fleet, id};

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
    for number in 0..WAITS {
        fleet.set(number, "completed");
    }
    for wait in waits {
        assert_eq!(soon(wait).await.unwrap().unwrap().status, MandateStatus::Completed);
    }
    let counts = fleet.counts();
    assert_eq!((counts.streams, counts.open), (1, 0));
    assert!(counts.at_a_time <= 8, "{counts:?}");
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
    assert!(started.elapsed() <= millis(2_050), "{:?}", started.elapsed());
    assert_eq!(fleet.counts().streams, 1);
}

/// Hears of the events of the first mandate in a task of its own, and says when.
fn hear(watcher: &Watcher) -> mpsc::UnboundedReceiver<Instant> {
    let (sender, heard) = mpsc::unbounded_channel();
    let mut events = watcher.events("mnd_0");
    tokio::spawn(async move {
        while let Some(event) = events.next().await {
            event.unwrap();
            sender.send(Instant::now()).unwrap();
        }
    });
    heard
}

#[tokio::test(start_paused = true)]
async fn a_reader_that_is_busy_delays_no_other() {
    // With an event it was given, with something else meanwhile, or with a list of what it was too slow for.
    for way in 0..3 {
        let fleet = Fleet::new(4, if way == 2 { 10 * SECOND } else { millis(5) });
        let watcher = fleet.client().watcher();
        let mut heard = hear(&watcher);
        for number in 1..4 {
            let mut busy = watcher.events(id(number));
            tokio::spawn(async move {
                for taken in 0.. {
                    if way == 1 {
                        let _ = timeout(millis(1), busy.next()).await;
                    } else {
                        busy.next().await.unwrap().unwrap();
                    }
                    if way != 2 || taken == 0 {
                        sleep(10 * SECOND).await;
                    }
                }
            });
        }
        sleep(SECOND).await;
        for round in 0..30 {
            for _ in 0..if way == 2 && round == 0 { 300 } else { 1 } {
                (1..4).for_each(|number| fleet.tell(number, "test.happened", json!({})));
            }
            sleep(millis(700)).await;
            let told = Instant::now();
            fleet.tell(0, "test.happened", json!({}));
            let late = soon(heard.recv()).await.unwrap() - told;
            assert!(late <= millis(10), "way {way}, round {round}: {late:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_loses_nothing_and_holds_up_nobody() {
    let fleet = Fleet::new(3, millis(5));
    let watcher = fleet.client().watcher();
    let mut slow = watcher.events("mnd_0");
    let mut quick = watcher.events("mnd_1");
    assert!(timeout(SECOND, slow.next()).await.is_err());
    for round in 1..=1_000 {
        fleet.tell(0, "test.happened", json!({}));
        fleet.tell(1, "test.happened", json!({}));
        assert_eq!(sequences(&mut quick, 1).await, [round]);
    }
    // What waited, what was left out, what comes while that is listed, and what comes after.
    let telling = fleet.clone();
    tokio::spawn(async move {
        for _ in 0..50 {
            sleep(millis(1)).await;
            telling.tell(0, "test.happened", json!({}));
        }
    });
    assert_eq!(sequences(&mut slow, 1_050).await, (1..=1_050).collect::<Vec<_>>());
    fleet.tell(0, "test.happened", json!({}));
    assert_eq!(sequences(&mut slow, 1).await, [1_051]);
    assert!(timeout(SECOND, slow.next()).await.is_err());
    assert_eq!(fleet.counts().streams, 1);
}

#[tokio::test(start_paused = true)]
async fn large_events_that_wait_for_a_slow_reader_are_bounded_in_bytes() {
    let fleet = Fleet::new(2, millis(5));
    let watcher = fleet.client().watcher();
    let (mut slow, mut other) = (watcher.events("mnd_0"), watcher.events("mnd_1"));
    assert!(timeout(SECOND, slow.next()).await.is_err());
    for _ in 0..30 {
        fleet.tell(0, "test.happened", json!({"text": "x".repeat(100_000)}));
    }
    assert!(timeout(SECOND, other.next()).await.is_err());
    assert_eq!(sequences(&mut slow, 10).await, (1..=10).collect::<Vec<_>>());
    assert_eq!(fleet.counts().lists, 0);
    assert_eq!(sequences(&mut slow, 20).await, (11..=30).collect::<Vec<_>>());
    assert_eq!(fleet.counts().lists, 1);
}

/// A reader who was too slow by some events, of which the last has the sequence 300, and has taken those that waited.
async fn overtaken(fleet: &Fleet) -> WatchedEvents {
    let watcher = fleet.client().watcher();
    let mut slow = watcher.events("mnd_0");
    assert!(timeout(SECOND, slow.next()).await.is_err());
    let mut other = watcher.events("mnd_1");
    assert!(timeout(SECOND, other.next()).await.is_err());
    for _ in 0..300 {
        fleet.tell(0, "test.happened", json!({}));
        fleet.tell(1, "test.happened", json!({}));
        sequences(&mut other, 1).await;
    }
    assert_eq!(sequences(&mut slow, 256).await, (1..=256).collect::<Vec<_>>());
    slow
}

#[tokio::test(start_paused = true)]
async fn a_list_of_what_was_missed_that_fails_for_a_while_is_asked_for_again() {
    for status in [429, 500, 503] {
        let fleet = Fleet::new(2, millis(5));
        let mut slow = overtaken(&fleet).await;
        fleet.refuse_reads(Some(status));
        let before = fleet.counts().lists;
        assert!(timeout(60 * SECOND, slow.next()).await.is_err());
        assert!((6..80).contains(&(fleet.counts().lists - before)), "{:?}", fleet.counts());
        fleet.refuse_reads(None);
        fleet.tell(0, "test.happened", json!({}));
        assert_eq!(sequences(&mut slow, 45).await, (257..=301).collect::<Vec<_>>());
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_of_what_was_missed_that_is_refused_is_an_error() {
    let fleet = Fleet::new(2, millis(5));
    let mut slow = overtaken(&fleet).await;
    fleet.refuse_reads(Some(403));
    assert_eq!(soon(slow.next()).await.unwrap().unwrap_err().kind(), ErrorKind::Permission);
    assert!(soon(slow.next()).await.is_none());
}

#[tokio::test(start_paused = true)]
async fn a_list_that_lags_behind_what_was_missed_is_asked_for_again() {
    let fleet = Fleet::new(2, millis(5));
    let mut slow = overtaken(&fleet).await;
    fleet.lists_lag(20);
    assert_eq!(sequences(&mut slow, 34).await, (257..=290).collect::<Vec<_>>());
    assert!(timeout(3 * SECOND, slow.next()).await.is_err());
    fleet.lists_lag(0);
    assert_eq!(sequences(&mut slow, 10).await, (291..=300).collect::<Vec<_>>());
    // What the service never lists holds up nothing for ever.
    let fleet = Fleet::new(2, millis(5));
    let mut slow = overtaken(&fleet).await;
    fleet.lists_lag(20);
    sequences(&mut slow, 34).await;
    fleet.tell(0, "test.happened", json!({}));
    let mut last = 0;
    while last != 301 {
        last = timeout(150 * SECOND, slow.next()).await.unwrap().unwrap().unwrap().sequence;
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_of_the_sequence_zero_is_given_out_too() {
    let fleet = Fleet::new(3, millis(5));
    fleet.count_from_zero();
    let watcher = fleet.client().watcher();
    let mut quick = watcher.events("mnd_0");
    let mut slow = watcher.events("mnd_1");
    let mut forgotten = watcher.events("mnd_2");
    for reader in [&mut quick, &mut slow, &mut forgotten] {
        assert!(timeout(SECOND, reader.next()).await.is_err());
    }
    for number in 0..300 {
        fleet.tell(0, "test.happened", json!({}));
        fleet.tell(1, "test.happened", json!({}));
        assert_eq!(sequences(&mut quick, 1).await, [number]);
    }
    assert_eq!(sequences(&mut slow, 300).await, (0..300).collect::<Vec<_>>());
    fleet.forget();
    fleet.cut();
    fleet.tell(2, "test.happened", json!({}));
    fleet.tell(2, "test.happened", json!({}));
    assert_eq!(sequences(&mut forgotten, 2).await, [0, 1]);
}

#[tokio::test(start_paused = true)]
async fn after_a_list_events_without_a_number_and_of_lower_sequences_are_given_out_too() {
    let fleet = Fleet::new(2, millis(5));
    let mut slow = overtaken(&fleet).await;
    fleet.tell_as(0, Some(400));
    assert_eq!(sequences(&mut slow, 45).await, (257..=300).chain([400]).collect::<Vec<_>>());
    for sequence in [None, Some(350), None, Some(401)] {
        fleet.tell_as(0, sequence);
    }
    assert_eq!(sequences(&mut slow, 4).await, [0, 350, 0, 401]);
    assert!(timeout(SECOND, slow.next()).await.is_err());
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_cut_is_resumed_for_all() {
    let fleet = Fleet::new(2, millis(5));
    let watcher = fleet.client().watcher();
    let wait = spawn(&watcher, 0);
    let mut events = watcher.events("mnd_1");
    assert!(timeout(SECOND, events.next()).await.is_err());
    fleet.tell(1, "test.happened", json!({}));
    assert_eq!(sequences(&mut events, 1).await, [1]);
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
async fn a_read_that_lags_behind_the_event_is_made_again() {
    let fleet = Fleet::new(2, millis(5));
    let watcher = fleet.client().watcher();
    let waits = [spawn(&watcher, 0), spawn(&watcher, 0)];
    let stays = spawn(&watcher, 1);
    sleep(SECOND).await;
    let mandate = json!({"id": "mnd_0", "agent": "agt_1", "objective": "Say hello.", "status": "completed"});
    fleet.tell(0, "mandate.status_changed", json!({"mandate": mandate}));
    sleep(3 * SECOND).await;
    let reads = fleet.counts().gets;
    assert!((8..20).contains(&reads), "{reads}");
    fleet.set_silently(0, "completed");
    let started = Instant::now();
    for wait in waits {
        soon(wait).await.unwrap().unwrap();
    }
    assert!(started.elapsed() <= SECOND, "{:?}", started.elapsed());
    assert!(!stays.is_finished());
}

/// Tells of a status that no read sees.
fn rumor(fleet: &Fleet, number: usize, status: &str) {
    let mandate = json!({"id": id(number), "agent": "agt_1", "objective": "Say hello.", "status": status});
    fleet.tell(number, "mandate.status_changed", json!({"mandate": mandate}));
}

#[tokio::test(start_paused = true)]
async fn a_read_that_lags_is_made_again_as_soon_after_the_third_hint_as_after_the_first() {
    for lag in [millis(10), millis(300), SECOND, millis(3_900)] {
        for asks in [false, true] {
            let fleet = Fleet::new(1, millis(5));
            let watcher = fleet.client().watcher();
            let wait = watcher.clone();
            let wait = tokio::spawn(async move {
                match asks {
                    true => wait.wait_for_approval("mnd_0").await.map(|asked| assert!(asked.is_some())),
                    false => wait.wait("mnd_0").await.map(|_| ()),
                }
            });
            for pause in [SECOND, 40 * SECOND, 50 * SECOND, SECOND] {
                sleep(pause).await;
                rumor(&fleet, 0, if asks { "needs_approval" } else { "completed" });
            }
            sleep(lag).await;
            if asks {
                fleet.ask_silently(0)
            } else {
                fleet.set_silently(0, "completed")
            }
            let started = Instant::now();
            soon(wait).await.unwrap().unwrap();
            assert!(started.elapsed() <= SECOND + millis(10), "{lag:?}, {asks}: {:?}", started.elapsed());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_hint_that_has_come_true_costs_those_who_wait_on_nothing() {
    let fleet = Fleet::new(1, millis(5));
    let watcher = fleet.client().watcher();
    let _stays = spawn(&watcher, 0);
    let asked = tokio::spawn(watcher.wait_for_approval("mnd_0").into_future());
    sleep(SECOND).await;
    fleet.ask(0);
    assert!(soon(asked).await.unwrap().unwrap().is_some());
    let before = fleet.counts();
    sleep(20 * SECOND).await;
    assert_eq!(fleet.counts(), before);
}

#[tokio::test(start_paused = true)]
async fn a_hint_that_comes_to_nothing_is_forgotten() {
    let fleet = Fleet::new(1, millis(5));
    let watcher = fleet.client().watcher();
    let _wait = spawn(&watcher, 0);
    sleep(SECOND).await;
    rumor(&fleet, 0, "completed");
    sleep(300 * SECOND).await;
    let before = fleet.counts().gets;
    sleep(300 * SECOND).await;
    let reads = fleet.counts().gets - before;
    assert!((10..=14).contains(&reads), "{reads}");
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_begins_while_the_read_for_one_that_left_is_under_way_has_its_own() {
    let fleet = Fleet::new(9, 2 * SECOND);
    let watcher = fleet.client().watcher();
    let _long_open = spawn(&watcher, 8);
    sleep(10 * SECOND).await;
    // As many reads as there may be at a time.
    let _others: Vec<_> = (1..8).map(|number| spawn(&watcher, number)).collect();
    let leaves = spawn(&watcher, 0);
    sleep(SECOND).await;
    leaves.abort();
    sleep(millis(1)).await;
    let comes = spawn(&watcher, 0);
    sleep(SECOND).await;
    // The first read is over, and has found nothing.
    fleet.set_silently(0, "completed");
    let started = Instant::now();
    soon(comes).await.unwrap().unwrap();
    assert!(started.elapsed() <= 2 * SECOND, "{:?}", started.elapsed());
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
    let watcher = fleet.client().watcher();
    let wait = spawn(&watcher, 0);
    let mut events = watcher.events("mnd_1");
    assert!(timeout(SECOND, events.next()).await.is_err());
    fleet.tell(1, "test.happened", json!({}));
    assert_eq!(sequences(&mut events, 1).await, [1]);
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

#[tokio::test(start_paused = true)]
async fn one_mandate_can_be_waited_for_by_many() {
    let fleet = Fleet::new(1, millis(5));
    let watcher = fleet.client().watcher();
    let waits: Vec<_> = (0..20).map(|_| spawn(&watcher, 0)).collect();
    sleep(SECOND).await;
    let before = fleet.counts().gets;
    fleet.set(0, "completed");
    for wait in waits {
        soon(wait).await.unwrap().unwrap();
    }
    assert_eq!(fleet.counts().gets, before + 1, "one read for all");
}

#[tokio::test(start_paused = true)]
async fn a_mandate_that_can_not_be_read_ends_its_waits_and_no_other() {
    let fleet = Fleet::new(2, millis(5));
    let watcher = fleet.client().watcher();
    let fine = spawn(&watcher, 0);
    let missing = [spawn(&watcher, 7), spawn(&watcher, 7)];
    let started = Instant::now();
    for wait in missing {
        assert!(soon(wait).await.unwrap().unwrap_err().is_not_found());
    }
    assert!(started.elapsed() <= SECOND, "{:?}", started.elapsed());
    assert!(!fine.is_finished());
    fleet.set(0, "completed");
    soon(fine).await.unwrap().unwrap();
}

#[tokio::test(start_paused = true)]
async fn trouble_that_passes_ends_no_wait() {
    let fleet = Fleet::new(100, millis(5));
    fleet.refuse_reads(Some(503));
    let watcher = fleet.client().watcher();
    let waits: Vec<_> = (0..100).map(|number| spawn(&watcher, number)).collect();
    sleep(SECOND / 2).await;
    for number in 0..100 {
        fleet.set(number, "completed");
    }
    sleep(10 * SECOND).await;
    let counts = fleet.counts();
    assert!(counts.gets + counts.lists < 60, "it is not pressed: {counts:?}");
    fleet.refuse_reads(None);
    for wait in waits {
        soon(wait).await.unwrap().unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_runs_out_carries_the_mandate() {
    let fleet = Fleet::new(2, millis(5));
    let watcher = fleet.client().watcher();
    let started = Instant::now();
    let error = watcher.wait("mnd_0").timeout(20 * SECOND).await.unwrap_err();
    assert!(error.is_wait_timeout() && error.last_mandate().unwrap().id == "mnd_0");
    assert!(started.elapsed() <= 20 * SECOND + millis(20), "{:?}", started.elapsed());
    let error = watcher.wait_for_approval("mnd_0").timeout(SECOND).await.unwrap_err();
    assert_eq!((error.kind(), error.last_mandate().is_some()), (ErrorKind::WaitTimeout, true));
    assert_eq!(fleet.counts().open, 0);
    // What the read at the end finds counts.
    let wait = tokio::spawn(watcher.wait("mnd_1").timeout(20 * SECOND).into_future());
    sleep(19 * SECOND).await;
    fleet.set_silently(1, "completed");
    soon(wait).await.unwrap().unwrap();
    // It may take 5 s.
    fleet.refuse_reads(Some(503));
    let started = Instant::now();
    let error = watcher.wait("mnd_0").timeout(20 * SECOND).await.unwrap_err();
    assert!(error.is_wait_timeout() && started.elapsed() <= 25 * SECOND + millis(20));
}

#[tokio::test(start_paused = true)]
async fn the_last_read_is_made_also_after_others_have_failed() {
    for waits in [1, 100] {
        let fleet = Fleet::new(waits, millis(5));
        let watcher = fleet.client().watcher();
        fleet.refuse_reads(Some(503));
        let waits: Vec<_> = (0..waits)
            .map(|number| tokio::spawn(watcher.wait(id(number)).timeout(60 * SECOND).into_future()))
            .collect();
        // The next read that nothing calls for is seconds away.
        sleep(millis(59_000)).await;
        fleet.refuse_reads(None);
        (0..waits.len()).for_each(|number| fleet.set_silently(number, "completed"));
        let before = fleet.counts();
        for wait in waits {
            assert_eq!(soon(wait).await.unwrap().unwrap().status, MandateStatus::Completed);
        }
        let counts = fleet.counts();
        assert!(counts.at_a_time <= 8, "{before:?} {counts:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_read_is_made_also_while_another_hangs() {
    let fleet = Fleet::new(1, millis(5));
    let watcher = fleet.client().watcher();
    let _long = spawn(&watcher, 0);
    sleep(SECOND).await;
    fleet.hang_reads(true);
    let waits: Vec<_> =
        (0..20).map(|_| tokio::spawn(watcher.wait("mnd_0").timeout(10 * SECOND).into_future())).collect();
    sleep(9 * SECOND).await;
    fleet.hang_reads(false);
    fleet.set_silently(0, "completed");
    let before = fleet.counts().gets;
    for wait in waits {
        assert_eq!(soon(wait).await.unwrap().unwrap().status, MandateStatus::Completed);
    }
    assert!(fleet.counts().gets - before <= 2, "{before} {:?}", fleet.counts());
}

#[tokio::test(start_paused = true)]
async fn a_last_read_that_fails_is_not_made_again() {
    let fleet = Fleet::new(100, millis(5));
    let watcher = fleet.client().watcher();
    let wait = |number| tokio::spawn(watcher.wait(id(number)).timeout(60 * SECOND).into_future());
    let waits: Vec<_> = (0..100).map(wait).collect();
    sleep(59 * SECOND).await;
    fleet.refuse_reads(Some(503));
    let (before, started) = (fleet.counts(), Instant::now());
    for wait in waits {
        let error = soon(wait).await.unwrap().unwrap_err();
        assert!(error.is_wait_timeout() && error.last_mandate().is_some());
    }
    assert!(started.elapsed() <= SECOND + millis(50), "{:?}", started.elapsed());
    let counts = fleet.counts();
    assert!(counts.gets + counts.lists <= before.gets + before.lists + 9, "{before:?} {counts:?}");
}

#[tokio::test(start_paused = true)]
async fn where_lists_are_refused_each_is_read_until_lists_can_be() {
    let fleet = Fleet::new(100, millis(5));
    fleet.refuse_lists(Some(403));
    let watcher = fleet.client().watcher();
    let _waits: Vec<_> = (0..100).map(|number| spawn(&watcher, number)).collect();
    sleep(100 * SECOND).await;
    let counts = fleet.counts();
    assert!(counts.gets > 250 && (2..=4).contains(&counts.lists), "{counts:?}");
    fleet.refuse_lists(None);
    sleep(100 * SECOND).await;
    let before = fleet.counts();
    sleep(300 * SECOND).await;
    let counts = fleet.counts();
    assert!(counts.gets == before.gets && counts.lists - before.lists >= 10, "{before:?} {counts:?}");
}

#[tokio::test(start_paused = true)]
async fn a_mandate_that_ended_with_an_approval_still_pending_is_found_among_many() {
    let fleet = Fleet::new(100, millis(5));
    let watcher = fleet.client().watcher();
    fleet.ask(0);
    fleet.set_silently(0, "failed");
    let _others: Vec<_> = (1..100).map(|number| spawn(&watcher, number)).collect();
    let asked = tokio::spawn(watcher.wait_for_approval("mnd_0").into_future());
    let ended = spawn(&watcher, 0);
    let started = Instant::now();
    assert!(soon(asked).await.unwrap().unwrap().is_some());
    assert_eq!(soon(ended).await.unwrap().unwrap().status, MandateStatus::Failed);
    assert!(started.elapsed() <= millis(100), "{:?}", started.elapsed());
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
    assert!(first <= 100, "{first} were read before the first returned");
}

#[test]
fn a_watcher_is_shared_between_threads() {
    fn shared<T: Clone + Send + Sync + 'static>() {}
    fn sent<T: Send + Unpin + 'static>() {}
    shared::<Watcher>();
    sent::<WatchedEvents>();
}
