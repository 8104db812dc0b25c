//! A connection that is lost is made again, and what was missed comes first.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use shadway::events::{MemoryCheckpoint, StreamState};
use tokio::time::Instant;

use super::{SECOND, millis, next, nothing_for, take};
use crate::support::FixedDate;
use crate::support::streams::{End, Play, Player, event, open, refusal};

#[tokio::test(start_paused = true)]
async fn however_a_connection_is_lost_the_next_one_resumes_after_the_last_event() {
    let first = || open().send(event(1)).send(event(2));
    for lost in
        [first().then(End::Clean), first().then(End::Cut), first().send("id: evt_9\nda").then(End::Cut)]
    {
        for between in [None, Some(Play::Reset), Some(Play::Refused), Some(refusal(503)), Some(Play::Hang)] {
            let lost = [lost.clone()].into_iter().chain(between);
            let player = Player::new(lost.chain([open().send(event(3))]));
            let mut events = player.stream();
            assert_eq!(take(&mut events, 3).await, ["evt_1", "evt_2", "evt_3"]);
            let cursors = player.cursors();
            assert_eq!(cursors[0], None);
            assert!(cursors[1..].iter().all(|cursor| cursor.as_deref() == Some("evt_2")), "{cursors:?}");
            assert_eq!(player.open(), 1, "no connection is left open behind the last one");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn each_connection_is_asked_for_like_the_first() {
    let player = Player::new([open().send(event(1)).then(End::Cut), open().send(event(2))]);
    let client = player.builder().default_header("X-Team", "a").build().unwrap();
    let mut events = client.events().stream();
    take(&mut events, 2).await;
    for seen in player.seen() {
        assert_eq!(seen.method, http::Method::GET);
        assert_eq!(seen.path(), "/v1/events/stream");
        assert_eq!(seen.header("accept"), Some("text/event-stream"));
        assert_eq!(seen.header("authorization"), Some("Bearer sk_test_1"));
        assert_eq!(seen.header("x-team"), Some("a"));
        assert_eq!(seen.headers.get_all("accept").iter().count(), 1);
        assert!(seen.header("idempotency-key").is_none() && seen.body.is_empty());
    }
    assert_eq!(player.seen()[1].headers.get_all("last-event-id").iter().count(), 1);
    assert_eq!(player.stream().resume_after("evt_7").cursor().unwrap(), "evt_7");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_sent_before_the_stream_is_polled() {
    let player = Player::new([open()]);
    let mut events = player.stream().resume_after("evt_7");
    assert_eq!(player.count(), 0);
    nothing_for(SECOND, &mut events).await;
    assert_eq!(player.cursors(), [Some("evt_7".to_owned())]);
    assert_eq!(player.seen()[0].path(), "/v1/mandates/mnd_1/events/stream");
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_ends_at_once_is_asked_for_ever_more_rarely() {
    fastrand::seed(7);
    let player = Player::new([open().then(End::Clean)]);
    let mut events = player.stream();
    nothing_for(3 * SECOND, &mut events).await;
    assert!((2..=8).contains(&player.count()), "{} connections in 3 s", player.count());
    nothing_for(Duration::from_secs(3_600), &mut events).await;
    let gaps = player.gaps();
    // From the eighth on the delays are drawn from 0 to 30 s.
    let late = gaps[8..].iter().sum::<Duration>() / u32::try_from(gaps.len() - 8).unwrap();
    assert!(late > 10 * SECOND && late < 20 * SECOND, "{late:?}");
    assert!(gaps.iter().all(|gap| *gap <= millis(30_010)), "{gaps:?}");
}

#[tokio::test(start_paused = true)]
async fn heartbeats_and_repeats_do_not_make_a_connection_a_good_one() {
    fastrand::seed(7);
    let player = Player::new([open().send(event(1)).send(":\n\n").then(End::Clean)]);
    let mut events = player.stream();
    take(&mut events, 1).await;
    nothing_for(Duration::from_secs(600), &mut events).await;
    assert!(player.count() < 80, "{} connections in 10 minutes", player.count());
}

#[tokio::test(start_paused = true)]
async fn the_delays_grow_also_after_a_good_connection() {
    fastrand::seed(7);
    let good = open().send(event(1)).at(5 * SECOND, event(2)).then(End::Cut);
    let player = Player::new([good, Play::Refused]);
    let mut events = player.stream();
    take(&mut events, 2).await;
    nothing_for(2 * SECOND, &mut events).await;
    assert!((2..=7).contains(&player.count()), "{} connections", player.count());
    nothing_for(600 * SECOND, &mut events).await;
    assert!(player.count() < 60, "{} connections in 10 minutes", player.count());
}

#[tokio::test(start_paused = true)]
async fn an_event_makes_the_delays_short_again() {
    let failing = || std::iter::repeat_n(Play::Refused, 12);
    let player = Player::new(
        failing()
            .chain([open().send(event(1)).then(End::Cut)])
            .chain(failing())
            .chain([open().send(event(2))]),
    );
    let mut events = player.stream();
    take(&mut events, 2).await;
    let gaps = player.gaps();
    assert!(gaps[12] <= millis(260) && gaps[13] <= millis(510), "{gaps:?}");
}

#[tokio::test(start_paused = true)]
async fn resumed_and_cut_before_any_event_it_resumes_there_again() {
    let player = Player::new([
        open().send(event(1)).then(End::Cut),
        open().send(":\n\nretry: 300\n").then(End::Cut),
        open().send("id: evt_2\ndata: {").then(End::Clean),
        open().send(event(2)),
    ]);
    let mut events = player.stream();
    assert_eq!(take(&mut events, 2).await, ["evt_1", "evt_2"]);
    assert_eq!(player.cursors()[1..], [(); 3].map(|()| Some("evt_1".to_owned())));
}

#[tokio::test(start_paused = true)]
async fn the_position_sent_on_opening_is_where_it_resumes() {
    let player = Player::new([open().send("id: evt_40\n\n").then(End::Cut), open().send(event(41))]);
    let mut events = player.stream();
    assert_eq!(events.cursor(), None);
    assert_eq!(take(&mut events, 1).await, ["evt_41"]);
    assert_eq!(player.cursors()[1].as_deref(), Some("evt_40"));
}

#[tokio::test(start_paused = true)]
async fn an_empty_id_takes_the_cursor_back() {
    let player = Player::new([open().send(event(1)).send("id\n\n").then(End::Cut), open().send(event(2))]);
    let mut events = player.stream();
    assert_eq!(take(&mut events, 1).await, ["evt_1"]);
    assert_eq!(events.cursor().unwrap(), "evt_1");
    assert_eq!(take(&mut events, 1).await, ["evt_2"]);
    assert_eq!(player.cursors(), [None, None]);
    assert_eq!(events.resume_after("").cursor(), None, "and so it does when it is given");
}

#[tokio::test(start_paused = true)]
async fn a_retry_of_zero_does_not_spin() {
    fastrand::seed(7);
    let player = Player::new([open().send("retry: 0\n\n").then(End::Clean)]);
    let mut events = player.stream();
    nothing_for(10 * SECOND, &mut events).await;
    assert!(player.count() < 12, "{} connections in 10 s", player.count());
}

#[tokio::test(start_paused = true)]
async fn the_services_retry_is_where_the_delays_begin() {
    let mut sum = Duration::ZERO;
    for _ in 0..50 {
        // Without the blank line: it counts as soon as its line is there.
        let player = Player::new([open().send("retry: 20000\n").then(End::Cut), open().send(event(1))]);
        let started = Instant::now();
        take(&mut player.stream(), 1).await;
        sum += started.elapsed();
        assert!(started.elapsed() <= millis(20_010));
    }
    assert!(sum / 50 > 5 * SECOND, "{:?} on average", sum / 50);
}

#[tokio::test(start_paused = true)]
async fn retry_after_is_kept_to() {
    let now = SystemTime::UNIX_EPOCH + Duration::from_secs(784_111_777);
    for (value, least) in [("7", 7), ("100", 100), ("Sun, 06 Nov 1994 08:49:57 GMT", 20)] {
        for status in [429, 503] {
            let player = Player::new([refusal(status).header("Retry-After", value), open().send(event(1))]);
            let client = player.builder().timer(FixedDate(now)).build().unwrap();
            let mut events = client.mandate("mnd_1").events().stream();
            take(&mut events, 1).await;
            let gap = player.gaps()[0];
            assert!(gap >= least * SECOND && gap <= least * SECOND + millis(10), "{value}: {gap:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_service_in_trouble_is_asked_again() {
    for status in [408, 425, 429, 500, 501, 502, 503, 504, 599] {
        let player = Player::new([refusal(status), open().send(event(1))]);
        assert_eq!(take(&mut player.stream(), 1).await, ["evt_1"], "{status}");
        assert_eq!(player.count(), 2);
    }
}

#[tokio::test(start_paused = true)]
async fn headers_that_do_not_come_are_not_waited_for_beyond_the_attempt_timeout() {
    let player = Player::new([Play::Hang, open().send(event(1))]);
    let client = player.builder().attempt_timeout(4 * SECOND).timeout(SECOND).build().unwrap();
    take(&mut client.mandate("mnd_1").events().stream(), 1).await;
    let gap = player.gaps()[0];
    assert!(gap >= 4 * SECOND && gap <= millis(4_260), "{gap:?}");
}

#[tokio::test(start_paused = true)]
async fn a_stream_has_no_total_timeout() {
    let hours = |hours: u32| hours * Duration::from_secs(3_600);
    let beats = (1..60 * 4).fold(open(), |play, minute| play.at(minute * 30 * SECOND, ":\n\n"));
    let player = Player::new([beats.at(hours(2), event(1))]);
    let client = player.builder().timeout(SECOND).build().unwrap();
    let mut events = client.mandate("mnd_1").events().stream();
    assert_eq!(take(&mut events, 1).await, ["evt_1"]);
    assert_eq!(player.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn dropping_the_future_of_an_event_loses_nothing() {
    let cut = (1..=40).fold(open(), |play, number| {
        let event = event(number);
        let (start, end) = event.split_at(event.len() / 2);
        let at = |milliseconds| millis(100 * number + milliseconds);
        play.at(at(0), start.to_owned()).at(at(50), end.to_owned())
    });
    let player = Player::new([Play::Refused, cut.then(End::Cut), open().send(event(41))]);
    let mut events = player.stream();
    let mut ids = Vec::new();
    while ids.len() < 41 {
        // Far more often than there are events.
        if let Ok(event) = tokio::time::timeout(millis(7), events.try_next()).await {
            ids.push(event.unwrap().unwrap().id.to_string());
        }
    }
    assert_eq!(ids, (1..=41).map(|number| format!("evt_{number}")).collect::<Vec<_>>());
    assert_eq!(player.count(), 3);
}

#[tokio::test(start_paused = true)]
async fn dropping_the_stream_closes_the_connection() {
    let player = Player::new([open().send(event(1))]);
    let mut events = player.stream();
    next(&mut events).await;
    assert_eq!(player.open(), 1);
    drop(events);
    assert_eq!(player.open(), 0);
    tokio::time::sleep(600 * SECOND).await;
    assert_eq!(player.count(), 1, "nothing goes on behind the caller's back");
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_can_not_resume_is_told_of() {
    let lost = |sent: &'static str| open().send(sent).at(SECOND, ":\n\n").then(End::Cut);
    for (plays, missed) in [
        (vec![lost(":\n\n"), open().send(event(2))], 1),
        (vec![lost(":\n\n"), Play::Refused, lost(":\n\n"), open().send(event(2))], 2),
        // The service took the position back.
        (vec![lost("id: evt_1\n\nid: \n\n"), open().send(event(2))], 1),
        (vec![lost("id: evt_1\n\n"), open().send(event(2))], 0),
        // No connection had been made before.
        (vec![Play::Refused, refusal(503), open().send(event(2))], 0),
    ] {
        let player = Player::new(plays);
        let told = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&told);
        let mut events = player.stream().observer(move |state| {
            seen.fetch_add(usize::from(matches!(state, StreamState::Missed)), Ordering::Relaxed);
        });
        assert_eq!(take(&mut events, 1).await, ["evt_2"]);
        assert_eq!(told.load(Ordering::Relaxed), missed, "{:?}", player.cursors());
    }
    // With a checkpoint what happened in between is listed.
    let player = Player::new([lost(":\n\n"), open()]).lists([Ok(Vec::new()), Ok(vec![event(1)])]);
    let mut events = player
        .stream()
        .checkpoint(MemoryCheckpoint::new())
        .observer(|state| assert!(!matches!(state, StreamState::Missed)));
    assert_eq!(take(&mut events, 1).await, ["evt_1"]);
}
