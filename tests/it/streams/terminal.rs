//! Following a mandate to its end.

use shadway::ErrorKind;
use shadway::events::EventType;
use tokio::time::Instant;

use super::{SECOND, ended, item, millis, nothing_for, take};
use crate::support::streams::{End, Play, Player, event, open, status_event};

#[tokio::test(start_paused = true)]
async fn it_ends_with_the_event_by_which_the_mandate_ends() {
    for status in ["completed", "failed", "canceled", "expired"] {
        let sent = open().send(status_event(1, "running")).send(status_event(2, status)).send(event(3));
        let player = Player::new([sent]);
        let mut events = player.stream().until_terminal();
        assert_eq!(take(&mut events, 2).await, ["evt_1", "evt_2"]);
        ended(&mut events).await;
        assert_eq!((player.count(), player.open()), (1, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn without_it_the_stream_goes_on() {
    let player =
        Player::new([open().send(status_event(1, "completed")).send(event(2))]).statuses(["completed"]);
    let mut events = player.stream();
    assert_eq!(take(&mut events, 2).await, ["evt_1", "evt_2"]);
    nothing_for(30 * SECOND, &mut events).await;
    assert_eq!(player.reads(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_final_event_counts_also_when_its_type_is_left_out() {
    let player = Player::new([open().send(event(1)).send(status_event(2, "failed"))]);
    let mut events = player.stream().event_types(["test.happened"]).until_terminal();
    assert_eq!(take(&mut events, 1).await, ["evt_1"]);
    ended(&mut events).await;
    assert_eq!(events.cursor().unwrap(), "evt_2");
}

#[tokio::test(start_paused = true)]
async fn a_mandate_that_had_ended_before_ends_the_stream() {
    let beats = (1..100).fold(open(), |play, beat| play.at(beat * SECOND, ":\n\n"));
    let player = Player::new([beats]).statuses(["completed"]);
    let started = Instant::now();
    ended(&mut player.stream().until_terminal()).await;
    assert!(started.elapsed() < millis(2_100), "{:?}", started.elapsed());
    assert_eq!((player.count(), player.reads(), player.open()), (1, 1, 0));
}

#[tokio::test(start_paused = true)]
async fn what_is_replayed_after_the_cursor_still_comes() {
    let replay = (1..=6).fold(open(), |play, number| play.at(millis(1_500 * number), event(number)));
    let replay = replay.at(millis(10_000), status_event(7, "completed")).at(millis(10_000), event(8));
    let player = Player::new([replay]).statuses(["completed"]);
    let mut events = player.stream().resume_after("evt_0").until_terminal();
    assert_eq!(take(&mut events, 7).await.last().unwrap(), "evt_7");
    ended(&mut events).await;
    assert_eq!(player.reads(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_end_missed_between_two_connections_without_a_cursor_is_found() {
    let player = Player::new([open().at(SECOND, ":\n\n").then(End::Cut), open()]);
    let player = player.statuses(["running", "completed"]);
    ended(&mut player.stream().until_terminal()).await;
    assert_eq!((player.count(), player.reads()), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_resumed_misses_nothing_so_the_mandate_is_not_read_again() {
    let player = Player::new([
        open().send(event(1)).at(SECOND, ":\n\n").then(End::Cut),
        Play::Refused,
        open().at(SECOND, status_event(2, "completed")),
    ]);
    let mut events = player.stream().until_terminal();
    assert_eq!(take(&mut events, 2).await, ["evt_1", "evt_2"]);
    ended(&mut events).await;
    assert_eq!(player.reads(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_read_that_fails_for_a_while_is_made_again() {
    let beats = (1..100).fold(open(), |play, beat| play.at(beat * SECOND, ":\n\n"));
    let statuses = std::iter::repeat_n("503", 7).chain(["completed"]);
    let player = Player::new([beats]).statuses(statuses);
    ended(&mut player.stream().until_terminal()).await;
    assert_eq!((player.count(), player.reads()), (1, 8));
}

#[tokio::test(start_paused = true)]
async fn a_mandate_that_can_not_be_read_is_an_error() {
    for (status, kind) in
        [("401", ErrorKind::Authentication), ("403", ErrorKind::Permission), ("404", ErrorKind::NotFound)]
    {
        let player = Player::new([open()]).statuses([status]);
        let mut events = player.stream().until_terminal();
        assert_eq!(item(&mut events).await.unwrap_err().kind(), kind);
        ended(&mut events).await;
        assert_eq!(player.open(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_workspace_has_no_end() {
    let player = Player::new([open()]);
    let client = player.builder().build().unwrap();
    let mut events = client.events().stream().until_terminal().event_types([EventType::All]);
    assert_eq!(item(&mut events).await.unwrap_err().kind(), ErrorKind::InvalidInput);
    ended(&mut events).await;
    assert_eq!(player.count(), 0);
}
