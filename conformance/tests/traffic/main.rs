//! Every request the crate sends and every answer the local server gives, held to the document.

mod refusals;
mod tour;
mod witness;

use std::collections::BTreeSet;

use http::Method;
use witness::Stage;

/// What the document has and this server never answers: it deals with one request at a time.
const NEVER_REFUSED: &[&str] = &["idempotency_in_progress"];

#[tokio::test(start_paused = true)]
async fn every_call_and_every_answer_is_as_the_document_says() {
    let stage = Stage::new().await;
    tour::everything(&stage).await;
    let (covered, _) = stage.exchanged();
    let all: BTreeSet<String> =
        stage.witness.document.operations().map(|operation| operation.id().to_owned()).collect();
    let missing: Vec<_> = all.difference(&covered).collect();
    assert!(missing.is_empty(), "never exchanged: {missing:?}");
}

#[tokio::test(start_paused = true)]
async fn every_refusal_is_as_the_document_says() {
    let stage = Stage::new().await;
    refusals::everything(&stage).await;
    let (_, given) = stage.exchanged();
    let known = stage.witness.document.codes();
    let missing: Vec<_> = known.difference(&given).map(String::as_str).collect();
    assert_eq!(missing, NEVER_REFUSED, "never refused with");
}

#[tokio::test]
async fn the_witness_notices_a_request_that_is_not_in_the_document() {
    let stage = Stage::new().await;
    let odd = [
        stage.client.request(Method::GET, "/v1/agents").query("surprise", 1),
        stage.client.request(Method::GET, "/v1/nowhere"),
        stage.client.request(Method::POST, "/v1/agents").json(&serde_json::json!({"name": 7})),
    ];
    for call in odd {
        let before = stage.findings();
        call.await.unwrap_err();
        assert!(stage.findings() > before);
    }
}
