//! Faults of calls. Whatever becomes of a creation, the same one again makes no second mandate.

use http::Method;

use super::*;
use crate::ErrorKind;
use crate::local::Fault;
use crate::mandates::MandateStatus;
use crate::types::ListParams;

both_ways! {
    a_fault_that_passes_is_retried_and_makes_one_mandate
    a_fault_that_stays_is_an_error_that_says_what_is_known
    an_answer_of_tomorrow_is_understood_or_an_error_that_names_the_field
    a_longer_wait_than_a_client_keeps_is_told_and_not_kept
    a_list_is_whole_whatever_its_calls_meet
    a_revoked_key_is_refused_until_it_is_restored
}

const SECOND: Duration = Duration::from_secs(1);
/// Longer than a client gives one attempt.
const TOO_LONG: Duration = Duration::from_secs(40);

fn mandates(fault: Fault) -> Fault {
    fault.on(Method::POST, "/v1/mandates")
}

/// What was created, and how often; in the end once.
async fn ends_with_one(world: &World, made: usize, what: &Fault) {
    assert_eq!(world.server.mandates().len(), made, "{what:?}");
    world.server.clear_faults();
    let mandate = world.creation().await.unwrap();
    let all: Vec<_> = world.server.mandates().into_iter().map(|mandate| mandate.id).collect();
    assert_eq!(all, [mandate.id], "{what:?}");
}

async fn a_fault_that_passes_is_retried_and_makes_one_mandate(way: Way) {
    let mut cases = vec![
        (Fault::status(503).times(2), 3),
        (Fault::status(500).after_commit().times(1), 2),
        (Fault::status(429).retry_after(2 * SECOND).times(1), 2),
        (Fault::status(409).code("idempotency_in_progress").times(2), 3),
        (Fault::bad_gateway().times(1), 2),
        (Fault::bad_gateway().after_commit().times(2), 3),
        (Fault::delay(SECOND / 50), 1),
        (Fault::delay(TOO_LONG).after_commit().times(1), 2),
        (Fault::hang().times(1), 2),
        (Fault::close().times(2), 3),
        (Fault::close().after(1), 1),
        (Fault::drop_answer().times(1), 2),
        (Fault::drop_answer().times(2), 3),
        (Fault::truncate().times(2), 3),
        (Fault::split(), 1),
        (Fault::drip(SECOND / 5).times(1), 2),
    ];
    if way == Way::Memory {
        // Over sockets a client's time is short, and really passes.
        cases.extend([
            (Fault::delay(TOO_LONG).times(1), 2),
            (Fault::hang().after_commit().times(1), 2),
            (Fault::drip(SECOND / 1_000), 1),
        ]);
    }
    for (fault, attempts) in cases {
        let world = World::new(way).await;
        world.server.fault(mandates(fault.clone()));
        let made =
            world.creation().with_response().await.unwrap_or_else(|error| panic!("{fault:?}: {error}"));
        assert_eq!((made.status.as_u16(), made.attempts), (201, attempts), "{fault:?}");
        assert_eq!(world.requests("/v1/mandates").0, attempts as usize, "{fault:?}");
        ends_with_one(&world, 1, &fault).await;
    }
}

async fn a_fault_that_stays_is_an_error_that_says_what_is_known(way: Way) {
    // The kind, the attempts, whether the service may have acted, and whether it did.
    let mut cases = vec![
        (Fault::status(503), ErrorKind::Server, 3, true, 0),
        (Fault::status(503).after_commit(), ErrorKind::Server, 3, true, 1),
        (Fault::status(400), ErrorKind::InvalidRequest, 1, false, 0),
        (Fault::status(7), ErrorKind::Server, 3, true, 0),
        (Fault::bad_gateway(), ErrorKind::Server, 3, true, 0),
        (Fault::close(), ErrorKind::Connection, 3, true, 0),
        (Fault::drop_answer(), ErrorKind::Connection, 3, true, 1),
        (Fault::truncate(), ErrorKind::Connection, 3, true, 1),
        (Fault::bad_json(), ErrorKind::Decode, 1, true, 1),
    ];
    if way == Way::Memory {
        cases.extend([
            (Fault::hang(), ErrorKind::Timeout, 3, true, 0),
            (Fault::hang().after_commit(), ErrorKind::Timeout, 3, true, 1),
        ]);
    }
    for (fault, kind, attempts, ambiguous, made) in cases {
        let world = World::new(way).await;
        world.server.fault(mandates(fault.clone()));
        let error = world.creation().await.unwrap_err();
        let known = (error.kind(), error.attempts(), error.is_ambiguous(), error.idempotency_key());
        assert_eq!(known, (kind, attempts, ambiguous, Some("quote")), "{fault:?}: {error}");
        assert_eq!(world.requests("/v1/mandates"), (attempts as usize, attempts as usize), "{fault:?}");
        if fault == Fault::bad_gateway() {
            assert!(error.to_string().contains("502 Bad Gateway") && error.request_id().is_none(), "{error}");
        } else if kind == ErrorKind::Server {
            assert!(error.request_id().is_some() && error.code().is_some(), "{error}");
        }
        ends_with_one(&world, made, &fault).await;
    }
}

async fn an_answer_of_tomorrow_is_understood_or_an_error_that_names_the_field(way: Way) {
    for (fault, refused) in [
        (Fault::unknown_value("status"), None),
        (Fault::extra_field(), None),
        (Fault::null_field("deadline"), None),
        (Fault::missing_field("/currentState/summary"), None),
        (Fault::set_field("/metadata/new", "x"), None),
        (Fault::missing_field("no_such_field"), None),
        (Fault::null_field("/objective"), Some("objective")),
        (Fault::missing_field("id"), Some("id")),
        (Fault::set_field("/guidance", 1), Some("guidance")),
    ] {
        let world = World::new(way).await;
        world.server.fault(mandates(fault.clone()));
        match (world.creation().await, refused) {
            (Ok(mandate), None) => {
                let unknown = matches!(mandate.status, MandateStatus::Unknown(_));
                assert_eq!(unknown, fault == Fault::unknown_value("status"), "{fault:?}");
                let extra = mandate.extra.contains_key("fieldOfTomorrow");
                assert_eq!(extra, fault == Fault::extra_field(), "{fault:?}");
            }
            (Err(error), Some(field)) => {
                assert_eq!((error.kind(), error.attempts()), (ErrorKind::Decode, 1), "{fault:?}: {error}");
                assert!(error.to_string().contains(field), "{fault:?}: {error}");
            }
            (other, _) => panic!("{fault:?}: {other:?}"),
        }
        ends_with_one(&world, 1, &fault).await;
    }
}

async fn a_longer_wait_than_a_client_keeps_is_told_and_not_kept(way: Way) {
    let world = World::new(way).await;
    world.server.fault(Fault::status(429).retry_after(Duration::from_millis(119_500)));
    let error = world.creation().await.unwrap_err();
    assert_eq!((error.kind(), error.attempts()), (ErrorKind::RateLimit, 1));
    assert_eq!(error.retry_after(), Some(120 * SECOND), "in whole seconds");
    assert!(world.server.mandates().is_empty());
}

async fn a_list_is_whole_whatever_its_calls_meet(way: Way) {
    let world = World::new(way).await;
    for number in 0..25 {
        let params = MandateCreateParams::new(&world.agent, format!("{number}"));
        world.client.mandates().create(params).await.unwrap();
    }
    for fault in [Fault::close(), Fault::status(503), Fault::truncate(), Fault::split(), Fault::extra_field()]
    {
        world.server.clear_faults();
        world.server.fault(fault.clone().on(Method::GET, "/v1/mandates").probability(0.4));
        let list = world.client.mandates().list(crate::mandates::MandateListParams::new().limit(3));
        let all: Vec<_> = list.max_retries(20).items().try_collect().await.unwrap();
        let objectives: Vec<_> = all.iter().map(|mandate| mandate.objective.clone()).collect();
        let expected: Vec<_> = (0..25).map(|number| number.to_string()).collect();
        assert_eq!(objectives, expected, "{fault:?}");
    }
    let (all, met) = world.requests("/v1/mandates");
    assert!(met > 10 && met < all - 25, "{met} of {all}");
}

async fn a_revoked_key_is_refused_until_it_is_restored(way: Way) {
    let world = World::new(way).await;
    world.server.revoke_key();
    let error = world.creation().await.unwrap_err();
    assert_eq!((error.kind(), error.attempts()), (ErrorKind::Authentication, 1));
    assert_eq!(world.requests("/v1/mandates"), (1, 0));
    world.server.restore_key();
    world.creation().await.unwrap();
    world.client.agents().list(ListParams::new()).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_nothing_ends_with_the_server() {
    for fault in [Fault::hang(), Fault::delay(1_000 * SECOND), Fault::drip(1_000 * SECOND)] {
        let world = World::new(Way::Memory).await;
        world.server.fault(fault.clone());
        let call = world.client.agents().list(ListParams::new()).max_retries(0);
        let began = Instant::now();
        let (answer, ()) = tokio::join!(call.send(), async {
            tokio::time::sleep(SECOND).await;
            world.server.shutdown().await;
        });
        assert_eq!(answer.unwrap_err().kind(), ErrorKind::Connection, "{fault:?}");
        assert!(began.elapsed() < 2 * SECOND, "{fault:?}: {:?}", began.elapsed());
    }
}
