//! A connection that says nothing is given up; one that says anything isn't.

use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::{SECOND, millis, nothing_for, take};
use crate::support::streams::{End, Player, event, open};

#[tokio::test(start_paused = true)]
async fn a_silent_connection_is_replaced_after_45_s() {
    let player = Player::new([open().send(event(1)), open().send(event(2))]);
    let mut events = player.stream();
    assert_eq!(take(&mut events, 2).await, ["evt_1", "evt_2"]);
    let gap = player.gaps()[0];
    assert!(gap >= 45 * SECOND && gap <= millis(45_260), "{gap:?}");
    assert_eq!(player.cursors()[1].as_deref(), Some("evt_1"));
    assert_eq!(player.open(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_never_says_anything_is_replaced_too() {
    let player = Player::new([open(), open().send(event(1))]);
    let mut events = player.stream().idle_timeout(3 * SECOND);
    assert_eq!(take(&mut events, 1).await, ["evt_1"]);
    assert!(player.gaps()[0] >= 3 * SECOND && player.gaps()[0] <= millis(3_260));
}

#[tokio::test(start_paused = true)]
async fn a_comment_now_and_then_keeps_it_open_for_as_long_as_it_lasts() {
    let comments = (1..=600).fold(open(), |play, beat| play.at(beat * millis(100), ":"));
    let player = Player::new([comments.at(60 * SECOND, "\n\n").at(60 * SECOND, event(1))]);
    let mut events = player.stream().idle_timeout(millis(150));
    assert_eq!(take(&mut events, 1).await, ["evt_1"]);
    assert_eq!(player.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn the_silence_counts_from_the_last_byte() {
    let player = Player::new([open().at(30 * SECOND, ":"), open().send(event(1))]);
    take(&mut player.stream(), 1).await;
    let gap = player.gaps()[0];
    assert!(gap >= 75 * SECOND && gap <= millis(75_260), "{gap:?}");
}

#[tokio::test(start_paused = true)]
async fn an_empty_piece_is_no_sign_of_life() {
    let player = Player::new([(1..=100).fold(open(), |play, beat| play.at(beat * SECOND, ""))]);
    let mut events = player.stream().idle_timeout(10 * SECOND);
    nothing_for(15 * SECOND, &mut events).await;
    assert_eq!(player.count(), 2);
}

#[tokio::test(start_paused = true)]
async fn a_slow_reader_is_no_silent_service() {
    // An event each 100 ms, and a second spent on each.
    let sent = (1..=100).fold(open(), |play, number| play.at(millis(100 * number), event(number)));
    let player = Player::new([sent.then(End::Never)]);
    let mut events = player.stream().idle_timeout(millis(500));
    for number in 1..=100 {
        assert_eq!(take(&mut events, 1).await, [format!("evt_{number}")]);
        sleep(SECOND).await;
    }
    assert_eq!(player.count(), 1);
    // All has been read, and a minute spent since: the silence begins now.
    sleep(60 * SECOND).await;
    let started = Instant::now();
    nothing_for(millis(490), &mut events).await;
    assert_eq!(player.count(), 1);
    nothing_for(SECOND, &mut events).await;
    assert_eq!(player.count(), 2);
    assert!(started.elapsed() < 2 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn the_silence_is_measured_over_many_short_polls() {
    let player = Player::new([open()]);
    let mut events = player.stream().idle_timeout(2 * SECOND);
    for _ in 0..100 {
        let _ = tokio::time::timeout(millis(30), events.next()).await;
    }
    assert_eq!(player.count(), 2);
    assert!(player.gaps()[0] < Duration::from_millis(2_400), "{:?}", player.gaps());
}
