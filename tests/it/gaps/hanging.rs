//! Reads that are never answered.

use std::time::Duration;

use tokio::time::timeout;

use super::{SECOND, Way, change, gaps, lateness, millis};
use crate::support::world::{Change, Link, World};

/// How long a read may take before another is made beside it.
const PATIENCE: Duration = Duration::from_millis(500);
const WAYS: [Way; 3] = [Way::Wait, Way::Updates, Way::Approval];

#[tokio::test(start_paused = true)]
async fn a_read_that_hangs_costs_half_a_second_in_any_gap() {
    for (gap, links, times) in gaps() {
        for (at, way) in times.into_iter().flat_map(|at| WAYS.map(|way| (at, way))) {
            for lag in [Duration::ZERO, millis(300), 2 * SECOND] {
                let world = World::new([(at, change(way))], links.clone()).lagging(lag).hanging(1);
                let late = lateness(at + lag, &world, way).await;
                // What is seen without a stream is seen by the second.
                assert!(late <= SECOND + PATIENCE, "{gap}, at {at:?}, lag {lag:?}, {way:?}: {late:?} late");
            }
        }
    }
    for way in WAYS {
        let world = World::new([(100 * SECOND, change(way))], [Link::open()]).hanging(1);
        assert!(lateness(100 * SECOND, &world, way).await <= PATIENCE + millis(5), "{way:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_service_that_hangs_for_good_gets_eight_requests_in_a_minute() {
    for way in WAYS {
        let world = World::new([(Duration::ZERO, change(way))], [Link::open()]).hanging(usize::MAX);
        // After 0, 0.5, 1.5, 3.5, 7.5, 15.5, 31.5 and 47.5 seconds.
        assert!(timeout(60 * SECOND, way.wait(&world)).await.is_err());
        assert_eq!(world.reads(), 8, "{way:?}");
        assert_eq!(world.open(), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_service_that_is_slow_gets_no_more_requests_after_a_while() {
    let reads = async |takes| {
        let end = (3_600 * SECOND, Change::Status("completed"));
        let world = World::new([end], [Link::open()]).reads_take(takes);
        world.work().wait().await.unwrap();
        world.reads()
    };
    let (quick, slow) = (reads(millis(10)).await, reads(3 * SECOND).await);
    assert!(slow <= quick + 3, "{slow}, where a quick one gets {quick}");
}

#[tokio::test(start_paused = true)]
async fn the_timeout_of_a_wait_whose_reads_hang_is_exact() {
    for limit in [millis(400), millis(500), SECOND, 45 * SECOND] {
        let world = World::new([(Duration::ZERO, change(Way::Wait))], [Link::open()]).hanging(usize::MAX);
        assert!(world.work().wait().timeout(limit).await.unwrap_err().is_wait_timeout());
        // The last read takes five seconds.
        let over = world.elapsed() - limit - 5 * SECOND;
        assert!(over <= millis(5), "{limit:?}: {over:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_hanging_read_holds_up_what_queues_behind_it_and_is_no_deadlock() {
    for way in WAYS {
        let at = 100 * SECOND;
        let world = World::new([(at, change(way))], [Link::open()]).hanging(1).one_request_at_a_time();
        // The transport has room again once the client gives the first one up.
        assert!(lateness(at, &world, way).await <= 31 * SECOND, "{way:?}");
    }
}
