//! Deliveries that go wrong on demand, as a receiver sees them.

use serde_json::json;

use super::*;
use crate::local::{Fault, Script};
use crate::webhooks::{Begun, Dedupe as _, MemoryDedupe, SIGNATURE_HEADER};

/// One delivery that meets this fault once, is refused for it with 400, and comes again; what each attempt was found
/// to be.
async fn refused_once(fault: Fault) -> [Result<(), VerifyError>; 2] {
    let stage = Stage::new().await;
    let secret = stage.endpoint("/", &[EventType::All]).await.secret;
    stage.server.fault(fault.times(1));
    stage.tell([Takes::With(400)]);
    let id = stage.one().await.id;
    tokio::time::sleep(HOUR).await;
    let record = stage.record(&id);
    assert_eq!((record.state, record.attempts.len()), (DeliveryState::Delivered, 2));
    let got = stage.got();
    assert_eq!(got.iter().map(|got| got.id.as_str()).collect::<Vec<_>>(), [id.as_str(); 2]);
    [0, 1].map(|attempt| got[attempt].verified_with(&secret).map(drop))
}

#[tokio::test(start_paused = true)]
async fn a_bad_signature_fits_nothing_and_the_next_attempt_verifies() {
    assert_eq!(refused_once(Fault::bad_signature()).await, [Err(VerifyError::Mismatch), Ok(())]);
}

#[tokio::test(start_paused = true)]
async fn after_a_rotation_no_secret_fits_a_bad_signature() {
    let stage = Stage::new().await;
    let endpoint = stage.endpoint("/", &[EventType::All]).await;
    let new = stage.rotate(&endpoint).await;
    stage.server.fault(Fault::bad_signature());
    stage.one().await;
    let got = &stage.got()[0];
    assert_eq!(got.signatures(), 2);
    for secret in [&new, &endpoint.secret] {
        assert_eq!(got.verified_with(secret), Err(VerifyError::Mismatch));
    }
}

#[tokio::test(start_paused = true)]
async fn an_old_signature_is_as_old_as_was_asked_for() {
    let [first, second] = refused_once(Fault::old_signature(HOUR)).await;
    let Err(VerifyError::TooOld { seconds }) = first else { panic!("{first:?}") };
    // By the time of day, which goes on meanwhile.
    assert!((3_600..3_660).contains(&seconds), "{seconds}");
    assert_eq!(second, Ok(()));
    // It fits all the same: with a tolerance of the age it would be taken.
    assert_eq!(refused_once(Fault::old_signature(HOUR / 60)).await, [Ok(()), Ok(())]);
    let [first, _] = refused_once(Fault::old_signature(Duration::MAX)).await;
    assert!(matches!(first, Err(VerifyError::TooOld { .. })), "{first:?}");
}

#[tokio::test(start_paused = true)]
async fn a_doubled_signature_is_refused_as_a_duplicate() {
    let duplicate = Err(VerifyError::DuplicateHeader(SIGNATURE_HEADER));
    assert_eq!(refused_once(Fault::doubled_signature()).await, [duplicate, Ok(())]);
}

#[tokio::test(start_paused = true)]
async fn a_delivery_that_comes_twice_is_handled_once() {
    let stage = Stage::new().await;
    let secret = stage.endpoint("/", &[EventType::All]).await.secret;
    stage.server.fault(Fault::duplicate_delivery());
    // What the first is answered is lost.
    stage.tell([Takes::With(500)]);
    let record = stage.one().await;
    assert_eq!((record.state, record.attempts.len()), (DeliveryState::Delivered, 1));

    let dedupe = MemoryDedupe::new(10);
    let mut begun = Vec::new();
    for got in stage.got() {
        let id = got.verified_with(&secret).unwrap();
        assert_eq!(id, record.id);
        begun.push(dedupe.begin(&id).await.unwrap());
        dedupe.finish(&id).await.unwrap();
    }
    assert_eq!(begun, [Begun::New, Begun::Done]);
}

#[tokio::test(start_paused = true)]
async fn deliveries_change_places_with_the_next_to_their_endpoint() {
    let stage = Stage::new().await;
    let one = stage.endpoint("/one", &[EventType::All]).await.secret;
    stage.endpoint("/other", &[EventType::All]).await;
    stage.server.fault(Fault::reorder_deliveries().times(2));
    let events = stage.mandate().await;
    assert!(events.len() > 2, "{events:?}");
    tokio::time::sleep(HOUR).await;

    // One at each of the two endpoints.
    let got = stage.got();
    let mut other: Vec<_> = events.iter().map(|event| &event.id).collect();
    other.swap(0, 1);
    for path in ["/one", "/other"] {
        let mine = got.iter().filter(|got| got.path == path);
        assert_eq!(mine.map(|got| &got.event.id).collect::<Vec<_>>(), other, "{path}");
    }
    assert!(got.iter().filter(|got| got.path == "/one").all(|got| got.verifies_with(&one)));
    assert!(stage.server.deliveries().iter().all(|record| record.state == DeliveryState::Delivered));
}

#[tokio::test(start_paused = true)]
async fn every_second_delivery_goes_first_and_waits_to_be_answered() {
    let stage = Stage::new().await;
    stage.endpoint("/", &[EventType::All]).await;
    stage.server.fault(Fault::reorder_deliveries());
    let mut ids = Vec::new();
    for _ in 0..4 {
        ids.push(stage.one().await.id);
    }
    let came: Vec<_> = stage.got().into_iter().map(|got| got.id).collect();
    assert_eq!(came, [1, 0, 3, 2].map(|number: usize| ids[number].clone()));
}

#[tokio::test(start_paused = true)]
async fn a_delivery_without_a_next_is_kept_back_for_a_second() {
    let stage = Stage::new().await;
    stage.endpoint("/", &[EventType::All]).await;
    stage.server.fault(Fault::reorder_deliveries().times(2));
    let first = stage.one().await;
    assert_eq!((first.state, first.attempts.len()), (DeliveryState::Pending, 0));
    tokio::time::sleep(Duration::from_millis(900)).await;
    assert!(stage.got().is_empty());
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(stage.record(&first.id).state, DeliveryState::Delivered);
    assert_eq!(stage.got().len(), 1);

    // That it was once kept back is forgotten: the next has none to go before.
    let second = stage.one().await;
    stage.tell([Takes::Silently]);
    let third = stage.one().await;
    let came = || stage.got().into_iter().map(|got| got.id).collect::<Vec<_>>();
    assert_eq!(came(), [third.id], "the second waits for its answer");
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(came(), [second.id], "which never comes");
}

#[tokio::test(start_paused = true)]
async fn an_automatic_clock_moves_while_a_delivery_is_kept_back() {
    let receiver = Arc::new(Receiver::default());
    let server = LocalServer::builder().seed(7).start_with(receiver.clone()).await.unwrap();
    let client = Client::builder().api_key(server.api_key()).http_service(server.service()).build().unwrap();
    let stage = Stage { server, client, receiver };
    stage.endpoint("/", &[EventType::All]).await;
    stage.server.script(Script::any().act("email.send", json!({})).wait(HOUR).complete("Sent."));
    // The event after which nothing happens for an hour.
    let events = stage.mandate().await;
    let gap = |two: &[Event]| after(two[0].created_at.unwrap(), two[1].created_at.unwrap());
    let last = events.windows(2).position(|two| gap(two) >= HOUR).unwrap();
    stage.got();

    stage.server.fault(Fault::reorder_deliveries().after(u32::try_from(last).unwrap()).times(1));
    let began = tokio::time::Instant::now();
    let events = stage.mandate().await;
    assert!(began.elapsed() < Duration::from_secs(1), "{:?}", began.elapsed());
    let mut order: Vec<_> = events.into_iter().map(|event| event.id).collect();
    order.swap(last, last + 1);
    assert_eq!(stage.got().into_iter().map(|got| got.event.id).collect::<Vec<_>>(), order);
}

#[tokio::test(start_paused = true)]
async fn a_fault_of_deliveries_can_be_about_one_type_of_event() {
    let stage = Stage::new().await;
    let secret = stage.endpoint("/", &[EventType::All]).await.secret;
    stage
        .server
        .fault(Fault::bad_signature().on_deliveries(EventType::CapabilityExecutionCompleted).times(1));
    stage.mandate().await;
    let bad: Vec<_> = stage
        .got()
        .into_iter()
        .filter(|got| !got.verifies_with(&secret))
        .map(|got| got.event.event_type)
        .collect();
    assert_eq!(bad, [EventType::CapabilityExecutionCompleted]);
}
