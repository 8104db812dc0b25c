//! Reads that lag behind the events.

use std::time::Duration;

use tokio::time::timeout;

use super::{SECOND, Way, change, lateness, millis};
use crate::support::world::{Change, Link, World};

#[tokio::test(start_paused = true)]
async fn a_read_that_lags_behind_the_event_is_made_again() {
    for lag in [millis(10), millis(300), SECOND, millis(3_900)] {
        for at in [SECOND, 100 * SECOND] {
            for way in Way::ALL {
                let world = World::new([(at, change(way))], [Link::open()]).lagging(lag);
                let late = lateness(at + lag, &world, way).await;
                assert!(late <= SECOND, "lag {lag:?}, at {at:?}, {way:?}: {late:?} late");
            }
        }
    }
    let world = World::new([(SECOND, change(Way::Wait))], [Link::open()]).lagging(Duration::from_secs(3_600));
    let error = world.work().wait().timeout(Duration::from_secs(1_800)).await.unwrap_err();
    assert!(error.is_wait_timeout(), "an event alone ends no wait");
    assert!(world.reads() < 110, "and the service is not pressed: {}", world.reads());
}

#[tokio::test(start_paused = true)]
async fn a_read_that_lags_is_made_again_as_soon_after_the_third_hint_as_after_the_first() {
    for lag in [millis(10), millis(300), SECOND, millis(3_900)] {
        for (way, rumor) in Way::ALL.into_iter().flat_map(|way| match way.asks() {
            false => [(way, "completed"), (way, "failed")],
            true => [(way, "needs_approval"), (way, "failed")],
        }) {
            let at = 100 * SECOND;
            let rumors = [10, 50, 99].map(|second| (second * SECOND, Change::Rumor(rumor)));
            let changes = rumors.into_iter().chain([(at, change(way))]);
            let world = World::new(changes, [Link::open()]).lagging(lag);
            let late = lateness(at + lag, &world, way).await;
            assert!(late <= SECOND, "lag {lag:?}, {rumor}, {way:?}: {late:?} late");
        }
    }
}

/// When each state is seen, by its status.
async fn seen(world: &World) -> Vec<(Duration, String)> {
    let mut updates = world.work().wait().updates();
    let mut seen = Vec::new();
    while let Some(state) = timeout(3_600 * SECOND, updates.try_next()).await.expect("soon").unwrap() {
        seen.push((world.elapsed(), state.status.to_string()));
    }
    seen
}

#[tokio::test(start_paused = true)]
async fn updates_show_each_status_within_a_second_also_when_reads_lag() {
    for lag in [Duration::ZERO, millis(10), millis(300), SECOND, millis(3_900)] {
        let statuses =
            ["waiting_external", "running", "needs_approval", "paused", "not_known_yet", "completed"];
        let times = [1, 10, 50, 57, 99, 200].map(Duration::from_secs);
        let changes = times.into_iter().zip(statuses.map(Change::Status));
        let world = World::new(changes, [Link::open()]).lagging(lag);
        let seen = seen(&world).await;
        assert_eq!(seen[0].1, "running");
        assert_eq!(seen.len(), 7, "lag {lag:?}: {seen:?}");
        for ((at, status), (seen_at, seen)) in times.into_iter().zip(statuses).zip(&seen[1..]) {
            assert_eq!(status, seen, "lag {lag:?}");
            let late = seen_at.checked_sub(at + lag).expect("not before it can be seen");
            assert!(late <= SECOND, "lag {lag:?}, {status}: {late:?} late");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn updates_read_no_more_once_a_read_agrees_and_not_for_ever_when_none_does() {
    let end = (600 * SECOND, Change::Status("completed"));
    let agrees = World::new([(100 * SECOND, Change::Status("waiting_external")), end], [Link::open()]);
    seen(&agrees).await;
    let never = World::new([(100 * SECOND, Change::Rumor("waiting_external")), end], [Link::open()]);
    seen(&never).await;
    assert!((30..=45).contains(&agrees.reads()), "{}", agrees.reads());
    assert!(never.reads() <= agrees.reads() + 30, "{} and {}", never.reads(), agrees.reads());
}

#[tokio::test(start_paused = true)]
async fn an_event_by_which_the_status_changes_may_be_the_end_also_when_its_data_do_not_fit() {
    let at = 100 * SECOND;
    for way in [Way::Wait, Way::Updates, Way::Watched] {
        let world = World::new([(at, Change::Garbled("completed"))], [Link::open()]).lagging(SECOND);
        let late = lateness(at + SECOND, &world, way).await;
        assert!(late <= SECOND, "{way:?}: {late:?} late");
    }
    let world = World::new([(at, Change::Garbled("completed"))], [Link::open()]).lagging(SECOND);
    assert!(world.work().wait_for_approval().await.unwrap().is_none());
    assert!(world.elapsed() <= at + 2 * SECOND, "{:?}", world.elapsed());
}

#[tokio::test(start_paused = true)]
async fn what_happened_just_before_the_wait_is_seen_within_a_second_also_when_reads_lag() {
    for lag in [millis(300), SECOND, 3 * SECOND] {
        for way in Way::ALL {
            let at = millis(900);
            let world = World::new([(at, change(way))], [Link::open()]).lagging(lag);
            tokio::time::sleep(SECOND).await;
            let late = lateness(at + lag, &world, way).await;
            assert!(late <= SECOND, "lag {lag:?}, {way:?}: {late:?} late");
        }
    }
}
