//! The record of a mandate: the lists, and that a value keeps every digit.

use serde_json::{Value, json};
use shadway::record::{ArtifactDownload, Evidence, Fact, FactStatus, IssueState};

use crate::support::{Script, Step, page};

#[tokio::test]
async fn each_part_is_a_list_under_the_mandate() {
    let script = Script::new([Step::json(200, &page(&[], &Value::Null))]);
    let client = script.client();
    let work = client.mandate("mnd/1");
    work.facts().list().limit(5).await.unwrap();
    work.evidence().list().await.unwrap();
    work.issues().list().await.unwrap();
    work.assertions().list().await.unwrap();
    work.information_needs().list().await.unwrap();
    work.commitments().list().await.unwrap();
    work.artifacts().list().await.unwrap();
    work.amendments().list().await.unwrap();
    let lines: Vec<_> = script.seen().iter().map(|seen| format!("{} {}", seen.method, seen.path())).collect();
    assert_eq!(
        lines,
        [
            "GET /v1/mandates/mnd%2F1/facts?limit=5",
            "GET /v1/mandates/mnd%2F1/evidence",
            "GET /v1/mandates/mnd%2F1/issues",
            "GET /v1/mandates/mnd%2F1/assertions",
            "GET /v1/mandates/mnd%2F1/information-needs",
            "GET /v1/mandates/mnd%2F1/commitments",
            "GET /v1/mandates/mnd%2F1/artifacts",
            "GET /v1/mandates/mnd%2F1/amendments",
        ]
    );
}

#[tokio::test]
async fn all_items_of_all_pages_are_walked() {
    let fact = |key: &str| json!({"key": key, "value": 1, "status": "verified"});
    let script = Script::new([
        Step::json(200, &page(&[fact("a"), fact("b")], &json!("c1"))),
        Step::json(200, &page(&[fact("c")], &Value::Null)),
    ]);
    let facts: Vec<Fact> =
        script.client().mandate("mnd_1").facts().list().limit(2).items().try_collect().await.unwrap();
    assert_eq!(facts.iter().map(|fact| fact.key.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
    assert_eq!(script.seen()[1].path(), "/v1/mandates/mnd_1/facts?limit=2&cursor=c1");
}

#[test]
fn verified_and_derived_alone_are_confirmed() {
    for (status, confirmed) in [
        (FactStatus::Verified, true),
        (FactStatus::Derived, true),
        (FactStatus::Observed, false),
        (FactStatus::Asserted, false),
        (FactStatus::Stale, false),
        (FactStatus::Conflicted, false),
        (FactStatus::Contradicted, false),
        (FactStatus::Gap, false),
        (FactStatus::from("blessed"), false),
    ] {
        assert_eq!(status.is_confirmed(), confirmed, "{status}");
    }
    assert_eq!(FactStatus::from("unknown"), FactStatus::Gap, "a documented status, not one never seen");
    assert_eq!(IssueState::from("reopened").to_string(), "reopened");
}

#[test]
fn a_value_is_any_json_to_the_last_digit() {
    for value in ["0.10000000000000000000001", "123456789012345678901234567890", "null", r#"{"a":[1.50]}"#] {
        let text = format!(r#"{{"key":"a","value":{value},"status":"verified"}}"#);
        let fact: Fact = serde_json::from_str(&text).unwrap();
        assert_eq!(fact.value.get(), value);
        assert_eq!(serde_json::to_string(&fact).unwrap(), text);
    }
    let gap: Fact = serde_json::from_str(r#"{"key":"a","status":"unknown"}"#).unwrap();
    assert_eq!(gap.value.get(), "null");
}

#[test]
fn evidence_without_a_quality_is_still_evidence() {
    let evidence: Evidence = serde_json::from_str(r#"{"title":"A mail"}"#).unwrap();
    assert_eq!((evidence.quality.source_class.as_str(), evidence.quality.firsthand), ("", None));
}

#[tokio::test]
async fn a_download_never_prints_the_signature_of_its_link() {
    let link = "https://files.example/art_1?signature=s3cr3t#part";
    let body = json!({"url": link, "expiresAt": "2026-08-01T10:00:00Z"});
    let script = Script::new([Step::json(200, &body)]);
    let download: ArtifactDownload = script.client().artifacts().download("art_1").await.unwrap();
    assert_eq!(script.seen()[0].path(), "/v1/artifacts/art_1/download");
    assert_eq!(download.url.expose(), link);
    let text = format!("{download:?} {download:#?}");
    assert!(text.contains("SignedUrl(…)") && !text.contains("files.example"), "{text}");
}
