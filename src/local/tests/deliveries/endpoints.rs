//! What becomes of deliveries when their endpoint changes.

use super::*;

#[tokio::test(start_paused = true)]
async fn after_a_rotation_both_secrets_verify_for_a_day() {
    let stage = Stage::new().await;
    let endpoint = stage.endpoint("/", &[EventType::All]).await;
    stage.always(Takes::With(500));
    let kept = stage.one().await.id;
    stage.always(None);
    let new = stage.rotate(&endpoint).await;
    let old = &endpoint.secret;
    stage.one().await;
    // What was waiting is signed like everything else.
    tokio::time::sleep(Duration::from_secs(60)).await;
    let got = stage.got();
    assert!(got[0].verifies_with(old) && !got[0].verifies_with(&new), "from before");
    assert_eq!(got[2].id, kept);
    for got in &got[1..] {
        assert_eq!(got.signatures(), 2);
        assert!(got.verifies_with(&new) && got.verifies_with(old));
    }

    let newer = stage.rotate(&endpoint).await;
    tokio::time::sleep(HOUR * 24 - Duration::from_secs(61)).await;
    stage.one().await;
    assert_eq!(stage.got()[0].signatures(), 3);
    tokio::time::sleep(Duration::from_secs(1)).await;
    stage.one().await;
    let got = &stage.got()[0];
    assert_eq!(got.signatures(), 2);
    assert!(got.verifies_with(&newer) && got.verifies_with(&new) && !got.verifies_with(old));
    tokio::time::sleep(Duration::from_secs(60)).await;
    stage.one().await;
    let got = &stage.got()[0];
    assert_eq!((got.signatures(), got.verifies_with(&newer)), (1, true));
}

#[tokio::test(start_paused = true)]
async fn many_rotations_leave_a_header_that_can_be_read() {
    let stage = Stage::new().await;
    let endpoint = stage.endpoint("/", &[EventType::All]).await;
    let mut secrets = vec![endpoint.secret.clone()];
    for _ in 0..40 {
        secrets.push(stage.rotate(&endpoint).await);
    }
    stage.one().await;
    let got = &stage.got()[0];
    let verifying: Vec<_> = secrets.iter().map(|secret| got.verifies_with(secret)).collect();
    assert_eq!(verifying, [vec![false; 25], vec![true; 16]].concat(), "the newest");
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_that_is_disabled_gets_nothing_more_and_later_only_what_is_new() {
    let stage = Stage::new().await;
    let endpoint = stage.endpoint("/", &[EventType::All]).await;
    stage.always(Takes::With(500));
    let waiting = stage.one().await.id;
    stage.always(Takes::Silently);
    let under_way = stage.one().await;
    assert_eq!((under_way.state, under_way.next_attempt_at), (DeliveryState::Pending, None));
    stage.got();

    stage.set(&endpoint, WebhookEndpointStatus::Disabled).await;
    stage.always(None);
    assert_eq!(stage.record(&waiting).state, DeliveryState::Failed);
    assert_eq!(stage.record(&under_way.id).state, DeliveryState::Pending, "it may still come through");
    assert_eq!(stage.server.redeliver(&waiting), Err(RedeliverError::InactiveEndpoint));
    let before = stage.server.deliveries().len();
    stage.mandate().await;
    tokio::time::sleep(LONG).await;
    assert_eq!(stage.record(&under_way.id).state, DeliveryState::Failed);
    assert_eq!((stage.got().len(), stage.server.deliveries().len()), (0, before));

    stage.set(&endpoint, WebhookEndpointStatus::Active).await;
    let events = stage.mandate().await;
    tokio::time::sleep(LONG).await;
    let got: Vec<_> = stage.got().iter().map(|got| got.event.id.clone()).collect();
    assert_eq!(got, events.iter().map(|event| event.id.clone()).collect::<Vec<_>>());
}

#[tokio::test(start_paused = true)]
async fn an_endpoint_that_is_deleted_gets_nothing_more() {
    let stage = Stage::new().await;
    let endpoint = stage.endpoint("/", &[EventType::All]).await;
    stage.always(Takes::With(500));
    let waiting = stage.one().await.id;
    stage.always(Takes::Silently);
    let under_way = stage.one().await.id;
    stage.got();
    stage.client.webhooks().endpoints().delete(&endpoint.endpoint.id).await.unwrap();
    stage.mandate().await;
    tokio::time::sleep(LONG).await;
    assert_eq!(stage.got().len(), 0);
    for id in [waiting, under_way] {
        assert_eq!(stage.record(&id).state, DeliveryState::Failed);
        assert_eq!(stage.server.redeliver(&id), Err(RedeliverError::InactiveEndpoint));
    }
}

#[tokio::test(start_paused = true)]
async fn a_retry_goes_to_where_the_endpoint_is_now() {
    let stage = Stage::new().await;
    let endpoint = stage.endpoint("/old", &[EventType::All]).await;
    stage.tell([Takes::With(500)]);
    stage.one().await;
    let params = WebhookEndpointUpdateParams::new().url("https://hooks.example/new");
    stage.client.webhooks().endpoints().update(&endpoint.endpoint.id, params).await.unwrap();
    tokio::time::sleep(HOUR).await;
    assert_eq!(stage.got().iter().map(|got| got.path.as_str()).collect::<Vec<_>>(), ["/old", "/new"]);
}
