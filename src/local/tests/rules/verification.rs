//! What is known, how it is known, and when a mandate is done.

use super::*;
use crate::mandates::SuccessCriterion;
use crate::record::{CommitmentDirection, IssueState};

fn delivered() -> Authority {
    Authority::new().success_criteria([SuccessCriterion::new("delivered").equals(true)])
}

fn cheap() -> Authority {
    Authority::new().success_criteria([SuccessCriterion::new("amount_minor").max(799_999)])
}

/// How a mandate ends whose agent knows this and says that it is done.
async fn ends(limits: Authority, script: Script) -> (MandateStatus, String, Vec<String>) {
    let (_scene, work, done) = run(limits, script.complete("All is well.")).await;
    (done.status, done.current_state.summary, issues(&work).await)
}

#[tokio::test(start_paused = true)]
async fn every_fact_has_a_source() {
    // Verification: "No fact appears without a source."
    let script = Script::any()
        .fact("first", 1, FactStatus::Derived)
        .act("email.send", email())
        .fact("second", 2, FactStatus::Observed)
        .wait_external("a reply", minutes(1))
        .fact("third", 3, FactStatus::Asserted)
        .evidence("Contract", "Signed by both.\nDelivery by Friday.", "Delivery by Friday.")
        .fact("fourth", 4, FactStatus::Verified)
        .complete("Done.");
    let (_scene, work, _) = run(Authority::new(), script).await;
    let facts = work.facts().list().await.unwrap().data;
    let source = |key: &str| {
        let fact = facts.iter().find(|fact| fact.key == key).unwrap();
        let source = fact.source.as_ref().unwrap();
        assert!(source.id.is_some());
        source.source_type.to_string()
    };
    let sources = ["first", "emails_sent", "second", "third", "fourth"].map(source);
    assert_eq!(sources, ["evidence", "action", "action", "evidence", "evidence"]);
    let evidence = work.evidence().list().await.unwrap().data;
    let contract = evidence.iter().find(|piece| piece.title == "Contract").unwrap();
    assert_eq!(contract.excerpt, "Delivery by Friday.");
}

#[tokio::test(start_paused = true)]
async fn nobody_writes_a_fact_through_the_api() {
    // Verification: "There is no way to write a fact through the API"
    let scene = Scene::new().await;
    let work = scene.give(Authority::new(), Script::any().complete("Done.")).await;
    let path = format!("/v1/mandates/{}/facts", work.id());
    for method in [Method::POST, Method::PUT, Method::PATCH] {
        let change = Raw::change(method, &path, "k", r#"{"key":"delivered","value":true}"#);
        assert_eq!(change.send(&scene.server.service()).await.status, 405);
    }
}

#[tokio::test(start_paused = true)]
async fn a_fact_that_exists_is_confirmed_and_within_range_satisfies_its_criterion() {
    // Verification: "A criterion passes only on a fact that exists, is confirmed, and is within range."
    for status in [FactStatus::Verified, FactStatus::Derived] {
        let script = Script::any().fact("amount_minor", 799_999, status);
        let (status, summary, _) = ends(cheap(), script).await;
        assert_eq!((status, summary.as_str()), (MandateStatus::Completed, "All is well."));
    }
    let (status, summary, _) =
        ends(cheap(), Script::any().fact("amount_minor", 800_000, FactStatus::Verified)).await;
    let why = "Failed: amount_minor is 800000, above 799999.";
    assert_eq!((status, summary.as_str()), (MandateStatus::Failed, why));
}

#[tokio::test(start_paused = true)]
async fn a_missing_fact_fails_its_criterion() {
    // Verification: "A missing fact fails it."
    let (status, _, issues) = ends(delivered(), Script::any().act("email.send", email())).await;
    assert_eq!(status, MandateStatus::Failed);
    assert_eq!(issues, ["What about delivered? It is not known."]);
}

#[tokio::test(start_paused = true)]
async fn a_fact_that_is_not_confirmed_fails_its_criterion() {
    // Verification: "A reported-but-unconfirmed fact fails it."
    let unconfirmed = [
        FactStatus::Observed,
        FactStatus::Asserted,
        FactStatus::Stale,
        FactStatus::Conflicted,
        FactStatus::Contradicted,
        FactStatus::Gap,
    ];
    for status in unconfirmed {
        let why = format!("Failed: delivered is {status}, not confirmed.");
        let (ended, summary, _) = ends(delivered(), Script::any().fact("delivered", true, status)).await;
        assert_eq!((ended, summary), (MandateStatus::Failed, why));
    }
}

#[tokio::test(start_paused = true)]
async fn a_mandate_that_fails_records_what_did_not_match() {
    // Verification: "the mandate ends failed and records what didn't match"
    let limits = Authority::new().success_criteria([
        SuccessCriterion::new("amount_minor").max(799_999),
        SuccessCriterion::new("delivered").equals(true),
    ]);
    let (status, summary, issues) = ends(limits, Script::any()).await;
    assert_eq!(
        (status, summary.as_str()),
        (MandateStatus::Failed, "Failed: amount_minor is not known, and 1 more.")
    );
    assert_eq!(
        issues,
        ["What about amount_minor? It is not known.", "What about delivered? It is not known."]
    );
}

#[tokio::test(start_paused = true)]
async fn an_agent_that_says_so_completes_nothing() {
    // Verification: "A mandate never completes just because the agent said so."
    let script = Script::any().assertion("carrier", "It was delivered.").work("Delivered, I am sure.");
    assert_eq!(ends(delivered(), script).await.0, MandateStatus::Failed);
}

#[tokio::test(start_paused = true)]
async fn an_issue_only_moves_forward() {
    // Verification: "Issue states only move forward"
    const QUESTION: &str = "Will the supplier honor the quoted price?";
    let script = Script::any()
        .issue(QUESTION, IssueState::Open)
        .issue(QUESTION, IssueState::Answered)
        .issue(QUESTION, IssueState::Acknowledged)
        .complete("Done.");
    let (_scene, work, _) = run(Authority::new(), script).await;
    let issues = work.issues().list().await.unwrap().data;
    assert_eq!((issues.len(), &issues[0].state), (1, &IssueState::Answered));
}

#[tokio::test(start_paused = true)]
async fn who_said_something_stands_apart_from_how_well_it_holds() {
    // Verification: "tracks who said something separately from how well it holds up"
    let script = Script::any()
        .issue("When will it ship?", IssueState::Open)
        .assertion("sales@atlas.example", "It ships on Friday.")
        .commitment(CommitmentDirection::Received, "sales@atlas.example", "To ship on Friday.")
        .information_need("The tracking number.")
        .complete("Done.");
    let (_scene, work, _) = run(Authority::new(), script).await;
    let assertion = work.assertions().list().await.unwrap().data.remove(0);
    assert_eq!(assertion.issue, work.issues().list().await.unwrap().data[0].id);
    assert_eq!(assertion.source.unwrap().get(), "\"sales@atlas.example\"");
    assert_eq!(assertion.support.unwrap().get(), "\"said so, and nothing confirms it yet\"");
    let promise = work.commitments().list().await.unwrap().data.remove(0);
    assert_eq!((promise.text.as_str(), promise.due_at), ("To ship on Friday.", None));
    assert_eq!(work.information_needs().list().await.unwrap().data[0].question, "The tracking number.");
}

#[tokio::test(start_paused = true)]
async fn an_artifact_is_kept_as_it_is_and_fetched_by_a_link_that_ends() {
    // Verification: "saved exactly as they arrived"
    // Verification: "Downloads use short-lived signed links"
    const TEXT: &str = "Signed by both.\r\nDelivery by Friday.\r\n";
    let script = Script::any().evidence("Contract", TEXT, "Delivery by Friday.").complete("Done.");
    let (scene, work, _) = run(Authority::new(), script).await;
    let artifact = work.artifacts().list().await.unwrap().data.remove(0);
    assert_eq!(artifact.size, Some(TEXT.len() as u64));
    let download = scene.client.artifacts().download(&artifact.id).await.unwrap();
    let path = download.url.expose().strip_prefix(scene.server.url()).unwrap().to_owned();
    let request = http::Request::get(format!("http://127.0.0.1{path}")).body(Bytes::new()).unwrap();
    let answer = scene.server.service().call(request).await.unwrap();
    assert_eq!(answer.into_body().collect().await.unwrap().to_bytes(), TEXT);
    let lasts = download.expires_at.unwrap().duration_since(artifact.created_at.unwrap());
    assert!(lasts.unsigned_abs() <= days(4) + hours(1), "{lasts}");
    let record = serde_json::to_string(&work.evidence().list().await.unwrap().data).unwrap();
    assert!(!record.contains("signature"), "{record}");
}
