//! Every fixture decodes, and is written again as it came.

use std::fmt::Debug;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use shadway::agents::Agent;
use shadway::approvals::Approval;
use shadway::capabilities::Capability;
use shadway::events::Event;
use shadway::mandates::{Mandate, MandateAmendment};
use shadway::record::{
    Artifact, ArtifactDownload, Assertion, Commitment, Evidence, Fact, InformationNeed, Issue,
};
use shadway::types::ErrorCode;
use shadway::webhooks::{WebhookEndpoint, WebhookEndpointCreated, WebhookEndpointSecretRotated};

use crate::exact::Exact;
use crate::support::{Script, Step};

/// The JSON files of a folder, by name.
fn cases(folder: &str) -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(folder);
    let mut cases: Vec<_> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            (path.file_stem().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(&path).unwrap())
        })
        .collect();
    cases.sort();
    assert!(!cases.is_empty());
    cases
}

fn same_again<T: DeserializeOwned + Serialize + Debug + PartialEq>(folder: &str) {
    for (name, json) in cases(folder) {
        let decoded = serde_json::from_str::<T>(&json);
        let value = decoded.map_err(|error| format!("{folder}/{name}: {error}")).unwrap();
        let written = serde_json::to_string(&value).unwrap();
        assert_eq!(Exact::of(&written), Exact::of(&json), "{folder}/{name}");
        assert_eq!(serde_json::from_str::<T>(&written).unwrap(), value, "{folder}/{name}");
        let unknown = format!("{value:?}").contains("Unknown(");
        let new = name.starts_with("never_seen");
        assert!(new || !unknown, "{folder}/{name} has a value the crate does not know");
    }
}

#[test]
fn every_fixture_decodes_and_is_written_as_it_came() {
    same_again::<Agent>("agents");
    same_again::<Mandate>("mandates");
    same_again::<MandateAmendment>("amendments");
    same_again::<Approval>("approvals");
    same_again::<Capability>("capabilities");
    same_again::<Fact>("facts");
    same_again::<Evidence>("evidence");
    same_again::<Issue>("issues");
    same_again::<Assertion>("assertions");
    same_again::<InformationNeed>("information-needs");
    same_again::<Commitment>("commitments");
    same_again::<Artifact>("artifacts");
    same_again::<ArtifactDownload>("artifact-downloads");
    same_again::<WebhookEndpoint>("webhook-endpoints");
    same_again::<WebhookEndpointCreated>("webhook-endpoints-created");
    same_again::<WebhookEndpointSecretRotated>("webhook-endpoint-secrets-rotated");
    same_again::<Event>("events");
}

#[test]
fn the_events_of_the_fixtures_are_known_but_for_the_new_ones() {
    for (name, json) in cases("events") {
        let event: Event = serde_json::from_str(&json).unwrap();
        assert_eq!(event.is_known(), !name.starts_with("never_seen"), "{name}");
        assert!(name.starts_with("never_seen") || name == event.event_type.as_str(), "{name}");
    }
}

#[tokio::test]
async fn every_error_code_comes_out_as_itself() {
    for (name, json) in cases("errors") {
        let script = Script::new([Step::text(422, json.clone())]);
        let error = script.client().mandates().get("mnd_1").await.unwrap_err();
        let code = error.code().unwrap();
        if let Some(family) = name.strip_prefix("family_") {
            // Where the contract has no code, the family's name stands in for one.
            assert_eq!((code.as_str(), error.api().unwrap().error_type.as_deref()), (family, Some(family)));
        } else if name == "never_seen" {
            assert_eq!(code, &ErrorCode::Unknown("short_and_stout".to_owned()));
        } else {
            assert_eq!(code.as_str(), name);
            assert!(!matches!(code, ErrorCode::Unknown(_)), "{name}");
        }
        assert_eq!(Exact::written(error.api().unwrap()), *Exact::of(&json).field("error"), "{name}");
        assert!(error.to_string().contains(code.as_str()), "{error}");
    }
}
