//! How often a delivery is tried, and when.

use super::*;

#[tokio::test(start_paused = true)]
async fn a_failed_attempt_is_made_again_with_the_same_id_and_body_and_a_new_signature() {
    let stage = Stage::new().await;
    let secret = stage.endpoint("/", &[EventType::All]).await.secret;
    let answers =
        [Takes::With(500), Takes::With(302), Takes::NoConnection, Takes::Silently, Takes::With(199)];
    stage.tell(answers);
    let id = stage.one().await.id;
    let waiting = stage.record(&id);
    assert_eq!(waiting.state, DeliveryState::Pending);
    assert_eq!(after(waiting.attempts[0].at, waiting.next_attempt_at.unwrap()), Duration::from_secs(5));

    tokio::time::sleep(HOUR * 2).await;
    let record = stage.record(&id);
    assert_eq!((record.state, record.attempts.len()), (DeliveryState::Delivered, 6));
    let outcomes: Vec<_> = record.attempts.iter().map(|attempt| attempt.outcome.clone()).collect();
    let answered = |status| DeliveryOutcome::Answered(StatusCode::from_u16(status).unwrap());
    let unanswered = |why: &str| DeliveryOutcome::Unanswered(why.to_owned());
    assert_eq!(
        outcomes,
        [
            answered(500),
            answered(302),
            unanswered("connection refused"),
            unanswered("no answer within 10s"),
            answered(199),
            answered(204)
        ]
    );
    let got = stage.got();
    assert_eq!(got.len(), 6);
    let first = &got[0];
    for got in &got {
        assert_eq!((&got.id, got.request.body()), (&id, first.request.body()));
        assert!(got.verifies_with(&secret));
    }
}

#[tokio::test(start_paused = true)]
async fn attempts_come_ever_later_up_to_an_hour_and_have_an_end() {
    let stage = Stage::new().await;
    stage.endpoint("/", &[EventType::All]).await;
    stage.always(Takes::With(503));
    let id = stage.one().await.id;
    tokio::time::sleep(LONG).await;
    let record = stage.record(&id);
    assert_eq!((record.state, record.next_attempt_at), (DeliveryState::Failed, None));
    let waits: Vec<_> = record.attempts.windows(2).map(|two| after(two[0].at, two[1].at).as_secs()).collect();
    assert_eq!(waits, [5, 20, 80, 320, 1_280, 3_600, 3_600, 3_600, 3_600, 3_600, 3_600]);
    assert_eq!(stage.got().len(), 12);
    tokio::time::sleep(LONG).await;
    assert!(stage.got().is_empty(), "given up");
}

#[tokio::test(start_paused = true)]
async fn a_redelivery_has_the_same_id_and_body_and_is_tried_like_a_new_one() {
    let stage = Stage::new().await;
    let secret = stage.endpoint("/", &[EventType::All]).await.secret;
    let delivered = stage.one().await.id;
    stage.always(Takes::With(500));
    stage.server.redeliver(&delivered).unwrap();
    tokio::time::sleep(LONG).await;
    let record = stage.record(&delivered);
    assert_eq!((record.state, record.attempts.len()), (DeliveryState::Failed, 13));
    stage.server.redeliver(&delivered).unwrap();
    tokio::time::sleep(LONG).await;
    assert_eq!(stage.record(&delivered).attempts.len(), 25, "as often again");
    stage.always(None);
    stage.server.redeliver(&delivered).unwrap();
    assert_eq!(stage.record(&delivered).state, DeliveryState::Pending);
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(stage.record(&delivered).state, DeliveryState::Delivered);
    let got = stage.got();
    assert_eq!(got.len(), 26);
    for repeat in &got[1..] {
        assert_eq!((&repeat.id, repeat.request.body()), (&delivered, got[0].request.body()));
        assert!(repeat.verifies_with(&secret));
    }
    assert_eq!(stage.server.redeliver("whd_none"), Err(RedeliverError::UnknownDelivery));
}

#[tokio::test(start_paused = true)]
async fn a_redelivery_brings_a_waiting_one_forward_and_follows_one_that_is_under_way() {
    let stage = Stage::new().await;
    stage.endpoint("/", &[EventType::All]).await;
    stage.tell([Takes::With(500)]);
    let waiting = stage.one().await.id;
    stage.server.redeliver(&waiting).unwrap();
    tokio::time::sleep(Duration::from_millis(1)).await;
    assert_eq!(stage.record(&waiting).attempts.len(), 2);

    stage.tell([Takes::Silently]);
    let under_way = stage.one().await.id;
    stage.server.redeliver(&under_way).unwrap();
    stage.server.redeliver(&under_way).unwrap();
    tokio::time::sleep(Duration::from_secs(9)).await;
    assert_eq!(stage.got().len(), 3, "not two at a time");
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(stage.got().len(), 1, "without the wait of a retry");
    tokio::time::sleep(LONG).await;
    let record = stage.record(&under_way);
    assert_eq!((record.state, record.attempts.len()), (DeliveryState::Delivered, 2));
}

#[tokio::test(start_paused = true)]
async fn one_endpoint_that_is_slow_has_eight_under_way_and_holds_up_no_other() {
    let stage = Stage::new().await;
    stage.endpoint("/slow", &[EventType::All]).await;
    stage.always(Takes::Silently);
    for _ in 0..20 {
        stage.one().await;
    }
    assert_eq!(stage.got().len(), 8);
    stage.endpoint("/quick", &[EventType::All]).await;
    stage.one().await;
    let got = stage.got();
    assert_eq!(got.iter().map(|got| got.path.as_str()).collect::<Vec<_>>(), ["/quick"]);
    stage.always(None);
    tokio::time::sleep(LONG).await;
    assert_eq!(stage.got().len(), 13 + 8 + 1, "those that waited, and the retries");
    assert!(stage.server.deliveries().iter().all(|record| record.state == DeliveryState::Delivered));
}
