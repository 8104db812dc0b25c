//! Faults of event streams: no event is lost, and none comes twice.

use std::collections::HashSet;

use tokio::time::timeout;

use super::*;
use crate::ErrorKind;
use crate::events::{Event, EventData, EventStream, StreamState};
use crate::local::Fault;
use crate::mandates::MandateStatus;

both_ways! {
    no_event_is_lost_or_repeated_and_none_is_out_of_order
    events_out_of_order_all_come
    events_of_tomorrow_come_beside_all_others
    a_wait_ends_whatever_its_stream_meets
    a_position_too_old_is_the_end_of_a_stream
    a_revoked_key_is_the_end_of_a_stream_and_of_a_wait
}

const SECOND: Duration = Duration::from_secs(1);

/// All that a stream gives, from before the first event on, while two mandates run; and all that there is.
async fn followed(world: &World) -> (Vec<Event>, Vec<Event>) {
    // In memory that is no time at all, over sockets far more than it takes.
    let limit = if world.way == Way::Memory { 10_000 } else { 60 };
    timeout(limit * SECOND, follow(world)).await.expect("all events")
}

async fn follow(world: &World) -> (Vec<Event>, Vec<Event>) {
    let mut stream = world.client.events().stream().resume_after("evt_start");
    let params = || MandateCreateParams::new(&world.agent, "Ask for a quote.");
    for _ in 0..2 {
        world.client.mandates().create(params()).await.unwrap();
    }
    let mut given = Vec::new();
    let mut ended = 0;
    while ended < 2 {
        let event = stream.try_next().await.unwrap().unwrap();
        ended += usize::from(event.mandate_status().is_some_and(MandateStatus::is_terminal));
        given.push(event);
    }
    // Nothing happens any more: what comes now was late, or comes again.
    let all: Vec<_> = world.client.events().list().items().try_collect().await.unwrap();
    while given.len() < all.len() {
        given.push(stream.try_next().await.unwrap().unwrap());
    }
    given.extend(rest(&mut stream).await);
    (given, all)
}

/// All that comes until nothing does.
async fn rest(stream: &mut EventStream) -> Vec<Event> {
    let mut rest = Vec::new();
    while let Ok(Some(event)) = timeout(SECOND / 20, stream.next()).await {
        rest.push(event.unwrap());
    }
    rest
}

fn ids(events: &[Event]) -> Vec<String> {
    events.iter().map(|event| event.id.to_string()).collect()
}

async fn no_event_is_lost_or_repeated_and_none_is_out_of_order(way: Way) {
    let mut cases = vec![
        Fault::cut_after(0).times(3),
        Fault::cut_after(1),
        Fault::cut_after(3),
        Fault::cut_after(2).probability(0.9),
        Fault::end_after(0).times(3),
        Fault::end_after(1),
        Fault::silence_after(2).times(1),
        Fault::duplicate(),
        Fault::split(),
        Fault::extra_field(),
        Fault::unknown_value("capability"),
        Fault::status(503).times(2),
        Fault::status(429).retry_after(SECOND).times(1),
        Fault::bad_gateway().times(1),
        Fault::close().times(2),
        Fault::drop_answer().times(1),
        Fault::delay(SECOND / 50),
        Fault::hang().times(1),
    ];
    if way == Way::Memory {
        // Without end, these take their time.
        cases.extend([Fault::silence_after(0).times(1), Fault::silence_after(1), Fault::drip(SECOND / 100)]);
    }
    for fault in cases {
        let world = World::new(way).await;
        world.server.fault(fault.clone().on_streams());
        let (given, all) = followed(&world).await;
        assert!(all.len() > 10, "{fault:?}");
        assert_eq!(ids(&given), ids(&all), "{fault:?}");
        let (connections, met) = world.requests("/v1/events/stream");
        assert!(met > 0 && connections >= met, "{fault:?}: {met} of {connections}");
        if fault == Fault::cut_after(1) || fault == Fault::end_after(1) {
            assert!(connections >= all.len(), "{fault:?}: {connections}");
        }
    }
}

async fn events_out_of_order_all_come(way: Way) {
    let world = World::new(way).await;
    world.server.fault(Fault::reorder());
    let (given, all) = followed(&world).await;
    let (given, all) = (ids(&given), ids(&all));
    assert_ne!(given, all);
    assert_eq!(given.len(), all.len());
    assert_eq!(given.iter().collect::<HashSet<_>>(), all.iter().collect());
}

async fn events_of_tomorrow_come_beside_all_others(way: Way) {
    let world = World::new(way).await;
    world.server.fault(Fault::unknown_event());
    let (given, all) = followed(&world).await;
    let (unknown, known): (Vec<_>, Vec<_>) =
        given.into_iter().partition(|event| matches!(event.data, EventData::Unknown(_)));
    assert_eq!(ids(&known), ids(&all));
    assert!(unknown.len() >= 4, "before the first, and in the gap, of two mandates: {unknown:#?}");
    assert!(unknown.iter().all(|event| event.event_type.as_str() == "mandate.of_tomorrow"));
    for mandate in world.server.mandates() {
        let of_mandate = |event: &&Event| event.mandate == mandate.id;
        let mut sequences: Vec<_> = unknown.iter().chain(&known).filter(of_mandate).collect();
        sequences.sort_by_key(|event| event.sequence);
        assert!(sequences.windows(2).all(|pair| pair[0].sequence < pair[1].sequence), "no number twice");
    }

    world.server.clear_faults();
    world.server.fault(Fault::unknown_value("/type").on_streams());
    let mut stream = world.client.events().stream().resume_after("evt_start");
    let given = rest(&mut stream).await;
    assert_eq!(ids(&given), ids(&all));
    assert!(given.iter().all(|event| matches!(event.data, EventData::Unknown(_))));
}

async fn a_wait_ends_whatever_its_stream_meets(way: Way) {
    for fault in [
        Fault::cut_after(0),
        Fault::end_after(0),
        Fault::silence_after(0),
        Fault::hang(),
        Fault::close(),
        Fault::status(503),
        Fault::status(404),
        Fault::bad_gateway(),
        Fault::unknown_value("status"),
        Fault::missing_field("data"),
    ] {
        let world = World::new(way).await;
        world.server.fault(fault.clone().on_streams());
        let mandate = world.creation().await.unwrap();
        let done = world.client.mandate(&mandate.id).wait().poll_interval(2 * SECOND).await.unwrap();
        assert_eq!(done.status, MandateStatus::Completed, "{fault:?}");
    }
}

async fn a_position_too_old_is_the_end_of_a_stream(way: Way) {
    let world = World::new(way).await;
    world.server.fault(Fault::cursor_too_old());
    let mut fresh = world.client.events().stream();
    world.creation().await.unwrap();
    assert!(fresh.next().await.unwrap().is_ok(), "it has no position to resume after");

    let mut stream = world.client.events().stream().resume_after("evt_start");
    assert_eq!(stream.next().await.unwrap().unwrap_err().kind(), ErrorKind::CursorTooOld);
    assert!(stream.next().await.is_none());
}

async fn a_revoked_key_is_the_end_of_a_stream_and_of_a_wait(way: Way) {
    let world = World::new(way).await;
    let mandate = world.creation().await.unwrap();
    let (opened, mut is_open) = tokio::sync::mpsc::unbounded_channel();
    let mut stream = world.client.events().stream().observer(move |state| {
        if matches!(state, StreamState::Open) {
            let _ = opened.send(());
        }
    });
    // Nobody decides about it, so the wait goes on.
    let pause = world.client.mandate(&mandate.id).pause("later");
    pause.await.unwrap();
    let revoke = async {
        is_open.recv().await.unwrap();
        world.server.revoke_key();
    };
    let read = async {
        loop {
            if let Err(error) = stream.try_next().await {
                return error;
            }
        }
    };
    let (error, ()) = timeout(10 * SECOND, async { tokio::join!(read, revoke) }).await.expect("an end");
    assert_eq!(error.kind(), ErrorKind::Authentication);
    let error = world.client.mandate(&mandate.id).wait().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Authentication);
}
