//! No window in which a change is missed: it is driven into every gap, and a wait returns within a second of it.

use std::time::Duration;

use futures_util::FutureExt as _;
use shadway::mandates::MandateStatus;
use tokio::time::timeout;

use crate::support::world::{Change, Link, World};

mod hanging;
mod lagging;

const SECOND: Duration = Duration::from_secs(1);

fn millis(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// Every kind of way to a stream, and when a change comes into a gap of it.
fn gaps() -> Vec<(&'static str, Vec<Link>, Vec<Duration>)> {
    vec![
        ("before the wait", vec![Link::open()], vec![Duration::ZERO]),
        ("before the wait, headers held back", vec![Link::open().held_back(SECOND)], vec![Duration::ZERO]),
        ("before the stream opens", vec![Link::open().held_back(millis(900))], vec![millis(1), millis(899)]),
        (
            "headers held back",
            vec![Link::open().held_back(25 * SECOND)],
            vec![SECOND, 2 * SECOND, 3 * SECOND, 20 * SECOND, millis(24_900)],
        ),
        (
            "headers held back for ever",
            vec![Link::open().held_back(10_000 * SECOND)],
            vec![SECOND, 20 * SECOND, 100 * SECOND, 119 * SECOND],
        ),
        (
            "an open stream",
            vec![Link::open()],
            vec![millis(1), SECOND, 29 * SECOND, 31 * SECOND, 7_000 * SECOND],
        ),
        (
            "an open stream that names no position",
            vec![Link::open().nameless()],
            vec![millis(1), 3_600 * SECOND],
        ),
        (
            "a reconnect before any event, resumed",
            vec![Link::open().cut(60 * SECOND), Link::open().held_back(millis(800))],
            vec![millis(60_001), millis(60_300), millis(60_900)],
        ),
        (
            "a reconnect before any event, not resumed",
            vec![Link::open().nameless().cut(60 * SECOND), Link::open().nameless().held_back(millis(800))],
            vec![millis(60_001), millis(60_300), millis(60_900)],
        ),
        (
            "a reconnect that is refused at first",
            vec![Link::open().cut(60 * SECOND), Link::refused(503), Link::refused(503), Link::open()],
            vec![millis(60_001), millis(60_400), millis(61_000)],
        ),
        (
            "a reconnect whose cursor is refused",
            vec![Link::open().cut(60 * SECOND), Link::refused(410), Link::open()],
            vec![millis(60_001), millis(60_100), millis(61_000), 90 * SECOND],
        ),
        (
            "a reconnect that is refused with 503 for ever",
            vec![Link::open().cut(300 * SECOND), Link::refused(503)],
            vec![301 * SECOND, 320 * SECOND, 400 * SECOND, 419 * SECOND],
        ),
        (
            "a reconnect that is refused with 404 for ever",
            vec![Link::open().cut(300 * SECOND), Link::refused(404)],
            vec![301 * SECOND, 320 * SECOND, 400 * SECOND, 419 * SECOND],
        ),
        (
            "a reconnect whose headers are held back for ever",
            vec![Link::open().cut(300 * SECOND), Link::open().held_back(10_000 * SECOND)],
            vec![301 * SECOND, 320 * SECOND, 400 * SECOND, 419 * SECOND],
        ),
        ("refused with 503", vec![Link::refused(503)], early()),
        (
            "refused with 503, then open",
            vec![Link::refused(503), Link::open()],
            vec![millis(200), 20 * SECOND, 40 * SECOND, 100 * SECOND],
        ),
        ("refused with 404", vec![Link::refused(404)], early()),
        (
            "refused with 404, then open",
            vec![Link::refused(404), Link::open()],
            vec![20 * SECOND, 100 * SECOND, 1_000 * SECOND],
        ),
        (
            "refused with 403 twice, then open",
            vec![Link::refused(403), Link::refused(403), Link::open()],
            vec![150 * SECOND, 1_000 * SECOND],
        ),
        ("an event that is too large", vec![Link::flooded(60 * SECOND), Link::open()], vec![millis(61_500)]),
        ("refused with 410 from the start", vec![Link::refused(410)], early()),
    ]
}

/// Times within two minutes, for which nothing but reads finds a change within a second.
fn early() -> Vec<Duration> {
    let mut times = vec![millis(1), SECOND, millis(2_500)];
    times.extend([20, 50, 100, 119].map(Duration::from_secs));
    times
}

/// What is waited with, and for.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    Wait,
    Updates,
    Approval,
    Watched,
    WatchedApproval,
}

impl Way {
    const ALL: [Self; 5] = [Self::Wait, Self::Updates, Self::Approval, Self::Watched, Self::WatchedApproval];

    fn asks(self) -> bool {
        matches!(self, Self::Approval | Self::WatchedApproval)
    }

    async fn wait(self, world: &World) {
        let watcher = world.client().watcher();
        let (ended, asked) = match self {
            Self::Wait => (Some(world.work().wait().await.unwrap()), None),
            Self::Updates => {
                let mut updates = world.work().wait().updates();
                let mut last = None;
                while let Some(state) = updates.try_next().await.unwrap() {
                    last = Some(state);
                }
                (last, None)
            }
            Self::Approval => (None, world.work().wait_for_approval().await.unwrap()),
            Self::Watched => (Some(watcher.wait("mnd_1").await.unwrap()), None),
            Self::WatchedApproval => (None, watcher.wait_for_approval("mnd_1").await.unwrap()),
        };
        match self.asks() {
            true => assert_eq!(asked.expect("it asked").id, "apr_1"),
            false => assert_eq!(ended.expect("it ended").status, MandateStatus::Completed),
        }
    }
}

/// How late the wait for a mandate that changes at that time returns.
async fn lateness(at: Duration, world: &World, way: Way) -> Duration {
    timeout(at + 3_600 * SECOND, way.wait(world)).await.expect("an end within an hour");
    world.elapsed().checked_sub(at).expect("not before it happened")
}

fn change(way: Way) -> Change {
    if way.asks() { Change::Asks } else { Change::Status("completed") }
}

#[tokio::test(start_paused = true)]
async fn a_change_in_any_gap_ends_the_wait_within_a_second() {
    for (gap, links, times) in gaps() {
        for (at, way) in times.into_iter().flat_map(|at| Way::ALL.map(|way| (at, way))) {
            for lag in [Duration::ZERO, millis(300), 2 * SECOND] {
                let world = World::new([(at, change(way))], links.clone()).lagging(lag);
                let late = lateness(at + lag, &world, way).await;
                assert!(late <= SECOND, "{gap}, at {at:?}, lag {lag:?}, {way:?}: {late:?} late");
                assert_eq!(world.open(), 0, "{gap}");
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn without_a_stream_for_longer_than_two_minutes_a_wait_is_late_by_a_quarter_of_the_time_beyond() {
    for link in [Link::refused(404), Link::refused(503), Link::open().held_back(10_000 * SECOND)] {
        for at in [121, 130, 200, 250, 1_000].map(Duration::from_secs) {
            for way in Way::ALL {
                let world = World::new([(at, change(way))], [link.clone()]);
                let late = lateness(at, &world, way).await;
                let most = ((at - 120 * SECOND) / 4).clamp(SECOND, 30 * SECOND);
                assert!(late <= most, "at {at:?}, {way:?}: {late:?} late");
            }
        }
        let world = World::new([(3_600 * SECOND, change(Way::Wait))], [link]);
        lateness(3_600 * SECOND, &world, Way::Wait).await;
        assert!((220..320).contains(&world.reads()), "the cost of an hour: {}", world.reads());
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_open_again_calls_for_a_read_at_once() {
    for way in [Way::Wait, Way::Updates, Way::Watched] {
        // While there is no stream, and no read was due by then; it resumes, but no event tells of this.
        let links = [Link::open().cut(60 * SECOND), Link::open()];
        let world = World::new([(60 * SECOND, Change::Unsaid("completed"))], links);
        let late = lateness(60 * SECOND, &world, way).await;
        assert!(late <= SECOND, "{way:?}: {late:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_change_while_a_read_is_under_way_ends_the_wait_within_a_second() {
    for takes in [millis(100), millis(400)] {
        for at in (0..1_500).step_by(50).map(millis) {
            for link in [Link::open(), Link::open().held_back(millis(70)), Link::open().nameless()] {
                for way in Way::ALL {
                    let world = World::new([(at, change(way))], [link.clone()]).reads_take(takes);
                    let late = lateness(at, &world, way).await;
                    // A look at the approvals that finds none takes two reads.
                    let most = if way.asks() { 3 * takes } else { 2 * takes };
                    assert!(late <= most + millis(5), "at {at:?}, {way:?}: {late:?} late");
                }
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_cut_again_and_again_puts_off_no_read() {
    for every in [millis(900), 7 * SECOND] {
        for interval in [None, Some(20 * SECOND)] {
            let at = 300 * SECOND;
            let world = World::new([(at, Change::Unsaid("completed"))], [Link::open().cut(every)]);
            let wait = world.work().wait();
            let wait = match interval {
                Some(interval) => wait.poll_interval(interval),
                None => wait,
            };
            assert_eq!(wait.await.unwrap().status, MandateStatus::Completed);
            let late = world.elapsed() - at;
            assert!(late <= interval.unwrap_or(30 * SECOND) + millis(10), "cut every {every:?}: {late:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_on_an_open_stream_reads_about_twice_a_minute() {
    let world = World::new([(Duration::from_secs(3_600), change(Way::Wait))], [Link::open()]);
    world.work().wait().await.unwrap();
    assert!((120..165).contains(&world.reads()), "{}", world.reads());
    assert_eq!(world.streams(), 1);
}

#[tokio::test(start_paused = true)]
async fn events_that_mean_nothing_to_a_wait_cost_it_nothing() {
    let end = (20 * SECOND, change(Way::Wait));
    let mut reads = Vec::new();
    for noisy in 1..=20 {
        let noise = (1..noisy).map(|second| (second * SECOND, Change::Asks));
        let world = World::new(noise.chain([end]), [Link::open()]);
        world.work().wait().await.unwrap();
        reads.push(world.reads());
    }
    assert!(reads.iter().all(|count| *count == reads[0]), "{reads:?}");
    assert!(
        reads[0] <= 17,
        "at once, at the opening and for ten seconds after it, and at the end: {reads:?}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_mandate_that_ends_without_asking_is_none() {
    for links in [vec![Link::open()], vec![Link::refused(404)]] {
        for at in [Duration::ZERO, SECOND] {
            let world = World::new([(at, change(Way::Wait))], links.clone());
            assert!(world.work().wait_for_approval().await.unwrap().is_none());
            assert!(world.elapsed() <= at + SECOND);
        }
    }
}

#[tokio::test(start_paused = true)]
async fn an_approval_that_was_pending_is_found_at_once() {
    let world = World::new([(Duration::ZERO, Change::Asks)], [Link::open().held_back(60 * SECOND)]);
    world.work().wait_for_approval().await.unwrap().unwrap();
    assert_eq!((world.elapsed(), world.reads()), (Duration::ZERO, 1));
}

#[tokio::test(start_paused = true)]
async fn an_approval_wait_that_runs_out_carries_the_mandate() {
    let world = World::new([], [Link::open()]);
    let error = world.work().wait_for_approval().timeout(60 * SECOND).await.unwrap_err();
    assert!(error.is_wait_timeout() && error.is_timeout());
    assert_eq!(error.last_mandate().unwrap().status, MandateStatus::Running);
    assert!(world.elapsed() < 60 * SECOND + millis(5));
    // What the last look finds counts.
    let world = World::new([(5 * SECOND, Change::Asks)], [Link::refused(404)]);
    let wait = world.work().wait_for_approval().poll_interval(3_600 * SECOND).timeout(5 * SECOND);
    assert!(wait.await.unwrap().is_some());
}

#[tokio::test(start_paused = true)]
async fn a_transport_of_one_request_at_a_time_is_no_deadlock() {
    for way in Way::ALL {
        let at = 100 * SECOND;
        let world = World::new([(at, change(way))], [Link::open()]);
        let world = world.reads_take(millis(50)).one_request_at_a_time();
        assert!(lateness(at, &world, way).await <= SECOND);
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_that_is_dropped_closes_its_stream() {
    let world = World::new([], [Link::open()]);
    for wait in [true, false] {
        let waiting = async {
            if wait {
                world.work().wait().await.unwrap();
            } else {
                world.work().wait_for_approval().await.unwrap();
            }
        };
        assert!(timeout(60 * SECOND, waiting).await.is_err());
        assert_eq!(world.open(), 0);
    }
    let mut updates = world.work().wait().updates();
    updates.next().await.unwrap().unwrap();
    assert!(timeout(SECOND, updates.next()).await.is_err());
    assert_eq!(world.open(), 1);
    assert!(updates.next().now_or_never().is_none());
    drop(updates);
    assert_eq!(world.open(), 0);
}

#[tokio::test(start_paused = true)]
async fn updates_that_are_over_hold_no_stream() {
    let world = World::new([(SECOND, change(Way::Wait))], [Link::open()]);
    let mut updates = world.work().wait().updates();
    let mut statuses = Vec::new();
    while let Some(state) = updates.try_next().await.unwrap() {
        statuses.push(state.status.to_string());
    }
    assert_eq!(statuses, ["running", "completed"]);
    assert_eq!(world.open(), 0);
}
