//! Which reads are made, and what they come to.

use std::future::IntoFuture as _;

use serde_json::json;
use shadway::ErrorKind;
use shadway::mandates::MandateStatus;
use tokio::time::{Instant, sleep};

use super::{SECOND, millis, soon, spawn};
use crate::support::fleet::{Fleet, id};

#[tokio::test(start_paused = true)]
async fn a_read_that_lags_behind_the_event_is_made_again() {
    let fleet = Fleet::new(2, millis(5));
    let watcher = fleet.client().watcher();
    let waits = [spawn(&watcher, 0), spawn(&watcher, 0)];
    let stays = spawn(&watcher, 1);
    sleep(11 * SECOND).await;
    let before = fleet.counts().gets;
    let mandate = json!({"id": "mnd_0", "agent": "agt_1", "objective": "Say hello.", "status": "completed"});
    fleet.tell(0, "mandate.status_changed", json!({"mandate": mandate}));
    sleep(3 * SECOND).await;
    let reads = fleet.counts().gets - before;
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
    sleep(11 * SECOND).await;
    fleet.ask(0);
    assert!(soon(asked).await.unwrap().unwrap().is_some());
    let before = fleet.counts();
    sleep(10 * SECOND).await;
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
async fn mandates_whose_reads_fail_hold_up_no_other() {
    for (broken, quiet) in
        [(1, millis(100)), (1, 2 * SECOND), (1, 100 * SECOND), (5, 2 * SECOND), (5, 100 * SECOND)]
    {
        let fleet = Fleet::new(20, millis(5));
        let watcher = fleet.client().watcher();
        let waits: Vec<_> = (0..20).map(|number| spawn(&watcher, number)).collect();
        sleep(11 * SECOND).await;
        (0..broken).for_each(|number| fleet.break_reads_of(number, 500));
        // One alone is no sign of trouble. Of several it takes a while until it is known that others can be read.
        sleep(if broken == 1 { millis(1) } else { 100 * SECOND }).await;
        let (started, before) = (Instant::now(), fleet.counts().gets);
        for (number, wait) in waits.into_iter().enumerate() {
            if number < broken {
                continue;
            }
            sleep(quiet).await;
            fleet.set(number, "completed");
            let told = Instant::now();
            soon(wait).await.unwrap().unwrap();
            let late = told.elapsed();
            assert!(late <= millis(50), "{broken}, after {quiet:?}: {late:?}");
        }
        let (seconds, gets) = (started.elapsed().as_secs() as usize, fleet.counts().gets - before);
        assert!(gets < 80 + 2 * seconds, "it is not pressed: {gets} in {seconds} s");
    }
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
async fn a_wait_that_begins_while_others_are_read_again_and_again_does_not_wait_for_those() {
    for many in [100, 2_000] {
        let fleet = Fleet::new(many + 2, millis(50));
        let watcher = fleet.client().watcher();
        let _waits: Vec<_> = (0..many).map(|number| spawn(&watcher, number)).collect();
        let told = spawn(&watcher, many + 1);
        sleep(30 * SECOND).await;
        (0..many).for_each(|number| rumor(&fleet, number, "completed"));
        sleep(3 * SECOND).await;
        fleet.set_silently(many, "completed");
        let started = Instant::now();
        soon(spawn(&watcher, many)).await.unwrap().unwrap();
        assert!(started.elapsed() <= millis(250), "{many}: {:?}", started.elapsed());
        let started = Instant::now();
        fleet.set(many + 1, "completed");
        soon(told).await.unwrap().unwrap();
        assert!(started.elapsed() <= millis(250), "{many}: {:?}", started.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn what_happened_just_before_a_wait_costs_many_a_few_lists() {
    for waits in [100, 10_000] {
        let fleet = Fleet::new(waits, millis(5));
        let watcher = fleet.client().watcher();
        let _waits: Vec<_> = (0..waits).map(|number| spawn(&watcher, number)).collect();
        sleep(20 * SECOND).await;
        let counts = fleet.counts();
        let pages = waits / 100;
        assert!(counts.gets <= 150 && counts.lists <= 40.max(5 * pages), "{waits}: {counts:?}");
    }
}
