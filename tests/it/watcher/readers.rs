//! Readers of single mandates: none holds up another, and none loses an event.

use bytes::Bytes;
use serde_json::json;
use shadway::mandates::{WatchedEvents, Watcher};
use shadway::transport::{HttpFuture, HttpService};
use shadway::{Client, ErrorKind};
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep, timeout};

use super::{SECOND, millis, sequences, soon};
use crate::support::fleet::{Fleet, id};

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

/// Delivers at least once: a stream that resumes begins so many events earlier than it was asked to.
#[derive(Debug)]
struct Again(Fleet, usize);

impl HttpService for Again {
    fn call(&self, mut request: http::Request<Bytes>) -> HttpFuture<'_> {
        let after = request.headers().get("last-event-id").and_then(|id| id.to_str().ok()?.parse().ok());
        if let Some(after) = after {
            let after: usize = after;
            request.headers_mut().insert("last-event-id", after.saturating_sub(self.1).into());
        }
        self.0.call(request)
    }
}

#[tokio::test(start_paused = true)]
async fn a_readers_own_stream_repeats_nothing_that_the_shared_one_gave() {
    for (told, repeated) in [(2, 1), (100, 80)] {
        let fleet = Fleet::new(1, millis(5));
        let service = Again(fleet.clone(), repeated);
        let client = Client::builder().api_key("sk_test_1").http_service(service).build().unwrap();
        let mut events = client.watcher().events("mnd_0");
        assert!(timeout(SECOND, events.next()).await.is_err());
        (0..told).for_each(|_| fleet.tell(0, "test.happened", json!({})));
        assert_eq!(sequences(&mut events, told).await, (1..=told as u64).collect::<Vec<_>>());
        fleet.refuse_streams(Some(403));
        fleet.cut();
        fleet.tell(0, "test.happened", json!({}));
        assert_eq!(sequences(&mut events, 1).await, [told as u64 + 1]);
        assert!(timeout(SECOND, events.next()).await.is_err());
        assert_eq!(fleet.counts().own_streams, 1);
    }
}

/// A reader who was given one event, and missed another while the service forgot where the stream was; lists lag by it.
async fn uncertain(fleet: &Fleet) -> WatchedEvents {
    let mut events = fleet.client().watcher().events("mnd_0");
    assert!(timeout(SECOND, events.next()).await.is_err());
    fleet.tell(0, "test.happened", json!({}));
    assert_eq!(sequences(&mut events, 1).await, [1]);
    fleet.forget();
    fleet.cut();
    fleet.lists_lag(1);
    fleet.tell(0, "test.happened", json!({}));
    events
}

#[tokio::test(start_paused = true)]
async fn a_list_that_lags_behind_a_gap_of_unknown_size_is_asked_for_again() {
    let fleet = Fleet::new(1, millis(5));
    let mut events = uncertain(&fleet).await;
    assert!(timeout(2 * SECOND, events.next()).await.is_err());
    fleet.lists_lag(0);
    let started = Instant::now();
    assert_eq!(sequences(&mut events, 1).await, [2]);
    assert!(started.elapsed() < 5 * SECOND, "{:?}", started.elapsed());
    // That comes to an end, whether anything was missed or not.
    let before = fleet.counts().lists;
    assert!(timeout(600 * SECOND, events.next()).await.is_err());
    assert!(fleet.counts().lists - before <= 3, "{:?}", fleet.counts());
}

#[tokio::test(start_paused = true)]
async fn what_a_lagging_list_did_not_show_comes_before_the_next_event() {
    // Soon, and when the list is no longer asked for again by itself.
    for silent in [SECOND, 60 * SECOND] {
        let fleet = Fleet::new(1, millis(5));
        let mut events = uncertain(&fleet).await;
        assert!(timeout(silent, events.next()).await.is_err());
        // The list still lags by as much when the next event comes.
        fleet.tell(0, "test.happened", json!({}));
        assert_eq!(sequences(&mut events, 1).await, [2]);
        fleet.lists_lag(0);
        assert_eq!(sequences(&mut events, 1).await, [3]);
        fleet.tell(0, "test.happened", json!({}));
        assert_eq!(sequences(&mut events, 1).await, [4]);
        // From then on nothing is in doubt.
        let before = fleet.counts().lists;
        fleet.tell_as(0, Some(10));
        assert_eq!(sequences(&mut events, 1).await, [10]);
        assert!(timeout(60 * SECOND, events.next()).await.is_err());
        assert_eq!(fleet.counts().lists, before);
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_of_a_lower_sequence_that_was_left_out_is_listed_too() {
    let fleet = Fleet::new(2, millis(5));
    let watcher = fleet.client().watcher();
    let (mut slow, mut other) = (watcher.events("mnd_0"), watcher.events("mnd_1"));
    assert!(timeout(SECOND, slow.next()).await.is_err());
    assert!(timeout(SECOND, other.next()).await.is_err());
    for sequence in (10..=2_560).step_by(10).chain([2_555, 2_570]) {
        fleet.tell_as(0, Some(sequence));
        fleet.tell(1, "test.happened", json!({}));
        sequences(&mut other, 1).await;
    }
    assert_eq!(sequences(&mut slow, 256).await, (10..=2_560).step_by(10).collect::<Vec<_>>());
    let mut rest = sequences(&mut slow, 2).await;
    rest.sort_unstable();
    assert_eq!(rest, [2_555, 2_570]);
    assert!(timeout(SECOND, slow.next()).await.is_err());
    assert_eq!(fleet.counts().lists, 1);
}
