//! Following a mandate to its end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use shadway::ErrorKind;
use shadway::events::{Checkpoint as _, EventType, MemoryCheckpoint, StreamState};
use tokio::time::{Instant, timeout};

use super::{SECOND, ended, item, millis, nothing_for, take};
use crate::support::streams::{End, Play, Player, event, open, refusal, status_event};

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

/// What there is of a mandate that has ended: six events, and the one by which it ended.
fn whole() -> Vec<String> {
    (1..=6).map(event).chain([status_event(7, "completed")]).collect()
}

fn ids(numbers: std::ops::RangeInclusive<u64>) -> Vec<String> {
    numbers.map(|number| format!("evt_{number}")).collect()
}

#[tokio::test(start_paused = true)]
async fn a_replay_that_is_slow_to_start_is_listed_instead() {
    // A position before all that is listed, one that is listed, and the last event there was.
    for (after, first) in [("evt_start", 1), ("evt_2", 3), ("evt_6", 7)] {
        let replay = (first..=6).fold(open(), |play, number| play.at(9 * SECOND, event(number)));
        let player = Player::new([replay.at(9 * SECOND, status_event(7, "completed"))]);
        let player = player.statuses(["completed"]).lists([Ok(whole())]);
        let started = Instant::now();
        let mut events = player.stream().resume_after(after).until_terminal();
        assert_eq!(take(&mut events, 8 - first as usize).await, ids(first..=7), "{after}");
        ended(&mut events).await;
        assert_eq!(events.cursor().unwrap(), "evt_7");
        assert!(started.elapsed() < millis(2_100), "{:?}", started.elapsed());
        assert_eq!((player.reads(), player.open()), (1, 0));
    }
}

#[tokio::test(start_paused = true)]
async fn a_replay_that_stops_on_the_way_is_listed_from_there() {
    let player = Player::new([open().send(event(1)).send(event(2)).send(event(3))]);
    let player = player.statuses(["completed"]).lists([Ok(whole())]);
    let mut events = player.stream().resume_after("evt_0").until_terminal();
    assert_eq!(take(&mut events, 7).await, ids(1..=7));
    ended(&mut events).await;
    assert_eq!(player.list_calls(), 1);
}

#[tokio::test(start_paused = true)]
async fn what_was_read_to_its_end_before_ends_at_once_and_gives_nothing() {
    for after in ["evt_7", "evt_8"] {
        let all = whole().into_iter().chain([event(8)]).collect();
        let player = Player::new([open()]).statuses(["completed"]).lists([Ok(all)]);
        let started = Instant::now();
        let mut events = player.stream().resume_after(after).event_types(["x"]).until_terminal();
        ended(&mut events).await;
        assert!(started.elapsed() < millis(2_100), "{:?}", started.elapsed());
        assert_eq!((player.count(), player.list_calls()), (1, 1));
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_began_after_the_end_gives_nothing() {
    let player = Player::new([open().send("id: 4711\n\n")]).statuses(["completed"]).lists([Ok(whole())]);
    let started = Instant::now();
    ended(&mut player.stream().until_terminal()).await;
    assert!(started.elapsed() < millis(2_100), "{:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn connections_that_are_cut_again_and_again_hold_up_no_end() {
    for sent in [open(), open().send(event(1)), open().send("id: evt_1\n\n").send(":\n\n")] {
        let first = open().send(event(1)).at(SECOND / 2, ":\n\n").then(End::Cut);
        let cut = sent.at(SECOND / 10, ":\n\n").then(End::Cut);
        for reads_take in [Duration::ZERO, SECOND] {
            let player = Player::new([first.clone(), cut.clone()]).statuses(["completed"]);
            let player = player.lists([Ok(whole())]).reads_take(reads_take);
            let started = Instant::now();
            let mut events = player.stream().until_terminal();
            assert_eq!(take(&mut events, 7).await, ids(1..=7));
            ended(&mut events).await;
            assert!(started.elapsed() < reads_take + millis(2_100), "{:?}", started.elapsed());
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_of_the_rest_that_fails_for_a_while_or_lags_is_asked_for_again() {
    let start = whole()[..4].to_vec();
    for lists in [
        vec![Err(503), Err(503), Err(503), Err(429), Err(500), Err(503), Ok(whole())],
        vec![Ok(start.clone()), Ok(start), Ok(whole())],
        vec![Ok(Vec::new()), Ok(whole())],
    ] {
        let player = Player::new([open()]).statuses(["completed"]).lists(lists);
        let mut events = player.stream().resume_after("evt_2").until_terminal();
        assert_eq!(take(&mut events, 5).await, ids(3..=7));
        ended(&mut events).await;
    }
    // What is never listed is not waited for without end.
    let player = Player::new([open()]).statuses(["completed"]).lists([Ok(whole()[..4].to_vec())]);
    let started = Instant::now();
    let mut events = player.stream().resume_after("evt_2").max_reconnects(0).until_terminal();
    assert_eq!(take(&mut events, 2).await, ids(3..=4));
    ended(&mut events).await;
    assert!(started.elapsed() < 7 * SECOND, "{:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn the_observer_is_told_of_an_end_whose_event_is_never_listed_and_of_no_other() {
    let all: Vec<String> = whole().into_iter().chain([event(8)]).collect();
    let start = whole()[..4].to_vec();
    for (after, lists, missing) in [
        ("evt_2", vec![start.clone()], 1),
        // A position that is not listed.
        ("evt_start", vec![start.clone()], 1),
        ("evt_2", vec![Vec::new()], 1),
        ("evt_2", vec![start.clone(), start, whole()], 0),
        ("evt_start", vec![whole()], 0),
        ("evt_7", vec![whole()], 0),
        ("evt_8", vec![all], 0),
    ] {
        let player = Player::new([open()]).statuses(["completed"]).lists(lists.into_iter().map(Ok));
        let told = Arc::new(AtomicUsize::new(0));
        let seen = Arc::clone(&told);
        let observer = move |state: &StreamState| {
            seen.fetch_add(usize::from(matches!(state, StreamState::EndMissing)), Ordering::Relaxed);
        };
        let mut events = player.stream().resume_after(after).observer(observer).until_terminal();
        while let Some(event) = events.next().await {
            event.unwrap();
        }
        assert_eq!(told.load(Ordering::Relaxed), missing, "after {after}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_history_that_stays_empty_is_given_a_minute_and_is_an_error_then() {
    // What the connection brings is no position, nor is where it stands, before something is listed.
    for sent in [open(), open().send("id: evt_7\n\n"), open().send(status_event(7, "completed"))] {
        for empty in [1, 3, 6, usize::MAX] {
            let store = MemoryCheckpoint::new();
            let lists = std::iter::repeat_n(Ok(Vec::new()), empty.min(1_000)).chain([Ok(whole())]);
            let player = Player::new([sent.clone()]).statuses(["completed"]).lists(lists);
            let started = Instant::now();
            let mut events = player.stream().checkpoint(store.clone()).until_terminal();
            if empty < usize::MAX {
                assert_eq!(take(&mut events, 7).await, ids(1..=7));
            } else {
                assert_eq!(item(&mut events).await.unwrap_err().kind(), ErrorKind::HistoryMissing);
                let took = started.elapsed();
                assert!((50 * SECOND..100 * SECOND).contains(&took), "{took:?}");
                assert_eq!(store.load("mandate:mnd_1").await.unwrap(), None);
                assert!(player.list_calls() <= 30, "{}", player.list_calls());
            }
            ended(&mut events).await;
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_of_the_rest_that_is_refused_is_an_error() {
    let player = Player::new([open()]).statuses(["completed"]).lists([Err(403)]);
    let mut events = player.stream().resume_after("evt_2").until_terminal();
    assert_eq!(item(&mut events).await.unwrap_err().kind(), ErrorKind::Permission);
    ended(&mut events).await;
}

#[tokio::test(start_paused = true)]
async fn with_a_checkpoint_without_a_position_all_of_it_is_listed() {
    let lists = [Err(503), Err(503), Err(503), Ok(whole())];
    let player = Player::new([open(), Play::Hang]).statuses(["completed"]).lists(lists);
    let mut events = player.stream().checkpoint(MemoryCheckpoint::new()).until_terminal();
    let started = Instant::now();
    assert_eq!(take(&mut events, 7).await, ids(1..=7));
    ended(&mut events).await;
    assert!(started.elapsed() < 20 * SECOND, "{:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn an_end_missed_between_two_connections_without_a_cursor_is_found_and_given_out() {
    // The second says nothing of where it is, or names the last event, or is cut as well; the list may lag.
    for second in [open(), open().send("id: evt_7\n\n"), open().at(millis(100), ":\n\n").then(End::Cut)] {
        for lists in [vec![Ok(whole())], vec![Ok(Vec::new()), Ok(whole())]] {
            let first = open().at(SECOND / 2, ":\n\n").then(End::Cut);
            let player = Player::new([first, second.clone()]).statuses(["running", "completed"]).lists(lists);
            let started = Instant::now();
            let mut events = player.stream().until_terminal();
            assert_eq!(take(&mut events, 1).await, ["evt_7"]);
            ended(&mut events).await;
            assert!(started.elapsed() < 6 * SECOND, "{:?}", started.elapsed());
            assert_eq!(player.reads(), 2);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn what_a_lost_connection_without_a_cursor_missed_is_listed_from_the_last_event_on() {
    // The service names no positions at all.
    let nameless = event(2).replace("id: evt_2\n", "");
    let player = Player::new([open().send(nameless).at(SECOND / 2, ":\n\n").then(End::Cut), open()]);
    let player = player.statuses(["running", "completed"]).lists([Ok(whole())]);
    let mut events = player.stream().until_terminal();
    assert_eq!(take(&mut events, 6).await, ids(2..=7));
    ended(&mut events).await;
}

#[tokio::test(start_paused = true)]
async fn an_end_that_the_first_read_lags_behind_is_found_by_the_next() {
    let player = Player::new([open()]).statuses(["running", "completed"]);
    let started = Instant::now();
    ended(&mut player.stream().until_terminal()).await;
    assert!(started.elapsed() < millis(3_100), "{:?}", started.elapsed());
    assert_eq!((player.count(), player.reads(), player.open()), (1, 2, 0));
}

#[tokio::test(start_paused = true)]
async fn a_mandate_that_goes_on_is_read_less_and_less_often() {
    let beats = (1..100).fold(open(), |play, beat| play.at(10 * beat * SECOND, ":\n\n"));
    let player = Player::new([beats]);
    let mut events = player.stream().until_terminal();
    // At 0, 1, 3, 7, 15, 31, 61, 91, ... s.
    for (seconds, reads) in [(32, 6), (60, 8), (300, 18)] {
        nothing_for(seconds * SECOND, &mut events).await;
        assert_eq!(player.reads(), reads);
    }
    assert_eq!(player.count(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_resumed_misses_nothing_so_the_mandate_is_not_read_again() {
    let player = Player::new([
        open().send(event(1)).at(millis(100), ":\n\n").then(End::Cut),
        Play::Refused,
        open().at(millis(50), status_event(2, "completed")),
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
async fn what_ends_no_stream_and_no_wait_ends_none_that_follows_a_mandate_either() {
    for status in ["425", "501"] {
        let player = Player::new([refusal(status.parse().unwrap()), open()]).statuses([status, "completed"]);
        ended(&mut player.stream().until_terminal()).await;
        assert_eq!((player.count(), player.reads()), (2, 2), "{status}");
    }
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
async fn a_read_that_nobody_polls_holds_up_no_other_request() {
    let sent = open().at(millis(10), event(1)).at(5 * SECOND, status_event(2, "completed"));
    let player = Player::new([sent]).reads_take(millis(50)).one_at_a_time();
    let client = player.builder().build().unwrap();
    let mut events = client.mandate("mnd_1").events().stream().until_terminal();
    for id in ["evt_1", "evt_2"] {
        assert_eq!(take(&mut events, 1).await, [id]);
        timeout(SECOND, client.mandates().get("mnd_1")).await.expect("a free place").unwrap();
    }
    ended(&mut events).await;

    // Nor the list of what happened before a connection that resumes nothing.
    let player = Player::new([open().send("retry: 1\n\n").at(millis(10), ":\n\n").then(End::Cut), open()]);
    let player = player.reads_take(millis(50)).one_at_a_time().lists([Ok(Vec::new()), Ok(whole())]);
    let mut events = player.stream().checkpoint(MemoryCheckpoint::new()).until_terminal();
    let started = Instant::now();
    assert_eq!(take(&mut events, 7).await, ids(1..=7));
    assert!(started.elapsed() < SECOND, "{:?}", started.elapsed());
}

#[tokio::test(start_paused = true)]
async fn a_read_that_was_under_way_at_the_end_holds_up_no_other_request() {
    let over = || open().at(millis(10), status_event(1, "completed"));
    let player = || Player::new([over()]).reads_take(millis(50)).one_at_a_time();
    for fails in [false, true] {
        let client = player().builder().build().unwrap();
        let mut events =
            client.mandate("mnd_1").events().stream().until_terminal().event_types(["never.happened"]);
        if fails {
            events = events.max_event_bytes(20);
            assert_eq!(item(&mut events).await.unwrap_err().kind(), ErrorKind::ResponseTooLarge);
        } else {
            assert!(item(&mut events).await.unwrap().is_none());
        }
        // The stream is still there, and polled no more.
        timeout(SECOND, client.mandates().get("mnd_1")).await.expect("a free place").unwrap();
    }
}

#[tokio::test(start_paused = true)]
async fn a_connection_that_resumed_nothing_has_reads_soon_again() {
    let beats = (1..10).fold(open(), |play, beat| play.at(10 * beat * SECOND, ":\n\n"));
    let player = Player::new([beats.at(95 * SECOND, ":\n\n").then(End::Cut), open()]);
    // Those at 0, 1, 3, 7, 15, 31, 61 and 91 s, and one that lags after the new opening.
    let player = player.statuses(std::iter::repeat_n("running", 9).chain(["completed"])).lists([Ok(whole())]);
    let started = Instant::now();
    assert_eq!(take(&mut player.stream().until_terminal(), 1).await, ["evt_7"]);
    assert!(started.elapsed() < millis(98_500), "{:?}", started.elapsed());
    assert_eq!((player.count(), player.reads()), (2, 10));
}

#[tokio::test(start_paused = true)]
async fn events_in_quick_succession_cost_a_read_a_second() {
    let sent = (1..=100).fold(open(), |play, number| play.at(millis(100 * number), event(number)));
    let player = Player::new([sent.at(11 * SECOND, status_event(101, "completed"))]);
    let player = player.reads_take(millis(150));
    let mut events = player.stream().until_terminal();
    take(&mut events, 101).await;
    ended(&mut events).await;
    assert!((2..=12).contains(&player.reads_begun()), "{}", player.reads_begun());
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
