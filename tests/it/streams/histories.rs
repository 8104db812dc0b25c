//! Lists that lag behind the stream when a store is empty: the first events come all the same.

use std::time::Duration;

use shadway::ErrorKind;
use shadway::events::{Checkpoint as _, MemoryCheckpoint};
use tokio::time::Instant;

use super::{SECOND, ended, item, millis, nothing_for, take};
use crate::support::streams::{End, Play, Player, event, open, status_event};

/// What is listed in turn: nothing so many times, and then these.
fn late(times: usize, events: &[u64]) -> impl Iterator<Item = Result<Vec<String>, u16>> {
    let events = events.iter().map(|number| event(*number)).collect();
    std::iter::repeat_n(Ok(Vec::new()), times).chain([Ok(events)])
}

/// A connection that says where it stands, and lasts.
fn opening(position: &str) -> Play {
    beating(open().send(format!("id: {position}\n\n")))
}

fn beating(play: Play) -> Play {
    beating_until(Duration::from_secs(30_000), play)
}

fn beating_until(end: Duration, play: Play) -> Play {
    (1..)
        .map(|beat| 15 * beat * SECOND)
        .take_while(|at| *at < end)
        .fold(play, |play, at| play.at(at, ":\n\n"))
}

#[tokio::test(start_paused = true)]
async fn an_empty_list_beside_a_position_is_asked_for_again_and_the_first_events_are_not_lost() {
    for times in [1, 2, 5, 8] {
        let player =
            Player::new([opening("evt_2"), beating(open().send(event(3)))]).lists(late(times, &[1, 2]));
        let store = MemoryCheckpoint::new();
        let mut events = player.stream().checkpoint(store.clone());
        assert_eq!(take(&mut events, 3).await, ["evt_1", "evt_2", "evt_3"], "{times}");
        assert_eq!(player.cursors(), [None, Some("evt_2".to_owned())]);
        assert_eq!(player.list_calls(), times + 1);
        nothing_for(SECOND, &mut events).await;
        assert_eq!(store.load("mandate:mnd_1").await.unwrap().unwrap(), "evt_3");
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_that_shows_a_part_is_enough_since_the_stream_resumes_after_it() {
    let player = Player::new([opening("evt_3"), open().send(event(2)).send(event(3))]).lists(late(1, &[1]));
    let mut events = player.stream().checkpoint(MemoryCheckpoint::new());
    let started = Instant::now();
    assert_eq!(take(&mut events, 3).await, ["evt_1", "evt_2", "evt_3"]);
    assert_eq!(started.elapsed().as_millis(), 250);
    assert_eq!(player.cursors(), [None, Some("evt_1".to_owned())]);
}

#[tokio::test(start_paused = true)]
async fn a_position_in_doubt_is_not_kept_and_a_program_that_stops_then_loses_nothing() {
    let player = Player::new([opening("evt_2"), opening("evt_2"), open()]).lists(late(3, &[1, 2]));
    let store = MemoryCheckpoint::new();
    nothing_for(millis(500), &mut player.stream().checkpoint(store.clone())).await;
    assert_eq!(store.load("mandate:mnd_1").await.unwrap(), None);
    assert_eq!(take(&mut player.stream().checkpoint(store), 2).await, ["evt_1", "evt_2"]);
}

#[tokio::test(start_paused = true)]
async fn where_nothing_happened_the_list_is_asked_for_about_a_minute_and_again_when_something_does() {
    for quiet in [90 * SECOND, 5_000 * SECOND] {
        // As if the first had happened long before, and had not been listed for an hour.
        let first = beating_until(quiet, open().send("id: evt_1\n\n")).at(quiet, event(2));
        let player = Player::new([first, open().send(event(3))]).lists(late(9, &[1, 2]));
        let mut events = player.stream().checkpoint(MemoryCheckpoint::new());
        nothing_for(quiet - SECOND, &mut events).await;
        assert_eq!((player.list_calls(), player.count()), (9, 1));
        assert_eq!(events.cursor(), None);
        assert_eq!(take(&mut events, 3).await, ["evt_1", "evt_2", "evt_3"]);
        assert_eq!(player.cursors(), [None, Some("evt_2".to_owned())]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_event_that_the_list_never_shows_is_a_typed_error_and_nothing_is_kept() {
    let opened = open().send("id: evt_1\n\n").at(5 * SECOND, event(2));
    let player = Player::new([beating(opened)]).lists(late(0, &[]));
    let store = MemoryCheckpoint::new();
    // A limit of the caller's is not for these connections: none has failed.
    let mut events = player.stream().checkpoint(store.clone()).max_reconnects(0);
    let started = Instant::now();
    let error = item(&mut events).await.unwrap_err();
    assert_eq!((error.kind(), error.is_retryable()), (ErrorKind::HistoryMissing, true));
    assert_eq!(
        error.to_string(),
        "the stream brought the event evt_2, and the list of the events so far stays empty"
    );
    assert!((64..=70).contains(&started.elapsed().as_secs()), "{:?}", started.elapsed());
    assert!(player.list_calls() <= 16, "{}", player.list_calls());
    ended(&mut events).await;
    assert_eq!(store.load("mandate:mnd_1").await.unwrap(), None);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_breaks_in_doubt_is_followed_by_another_list() {
    let broken = || open().send("id: evt_1\n\n").at(millis(100), "").then(End::Cut);
    for cuts in [1, 3, 50] {
        let plays = (0..cuts).map(|_| broken()).chain([opening("evt_1"), open()]);
        let player = Player::new(plays).lists(late(cuts, &[1]));
        assert_eq!(take(&mut player.stream().checkpoint(MemoryCheckpoint::new()), 1).await, ["evt_1"]);
        assert!(player.cursors().iter().all(Option::is_none), "{:?}", player.cursors());
    }
}

#[tokio::test(start_paused = true)]
async fn a_mandate_that_had_ended_ends_a_stream_in_doubt_with_all_its_events() {
    let listed = vec![event(1), status_event(2, "completed")];
    let lists = std::iter::repeat_n(Ok(Vec::new()), 3).chain([Ok(listed)]);
    let player = Player::new([opening("evt_2")]).lists(lists).statuses(["completed"]);
    let mut events = player.stream().checkpoint(MemoryCheckpoint::new()).until_terminal();
    assert_eq!(take(&mut events, 2).await, ["evt_1", "evt_2"]);
    ended(&mut events).await;
    assert_eq!(player.open(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_list_that_is_asked_for_again_waits_for_no_read_that_nobody_polls() {
    let player = Player::new([opening("evt_2"), beating(open())]).lists(late(1, &[1, 2]));
    let player = player.reads_take(millis(300)).one_at_a_time();
    let mut events = player.stream().checkpoint(MemoryCheckpoint::new()).until_terminal();
    let started = Instant::now();
    assert_eq!(take(&mut events, 2).await, ["evt_1", "evt_2"]);
    assert_eq!(started.elapsed().as_millis(), 250);
}
