//! Every fixture is what the document declares, but for those that show what is still to come.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

/// The folders under `fixtures/`, and the schema of what is in them.
const FOLDERS: &[(&str, &str)] = &[
    ("agents", "Agent"),
    ("amendments", "MandateAmendment"),
    ("approvals", "Approval"),
    ("artifact-downloads", "ArtifactDownload"),
    ("artifacts", "Artifact"),
    ("assertions", "Assertion"),
    ("capabilities", "Capability"),
    ("commitments", "Commitment"),
    ("errors", "ErrorResponse"),
    ("events", "Event"),
    ("evidence", "Evidence"),
    ("facts", "Fact"),
    ("information-needs", "InformationNeed"),
    ("issues", "Issue"),
    ("mandates", "Mandate"),
    ("webhook-endpoint-secrets-rotated", "WebhookEndpointSecretRotated"),
    ("webhook-endpoints", "WebhookEndpoint"),
    ("webhook-endpoints-created", "WebhookEndpointCreated"),
];

/// Folders whose files are no JSON of the service's.
const OTHERS: &[&str] = &["sse", "webhooks"];

#[test]
fn every_fixture_is_what_the_document_declares() {
    let document = read(&root().join("openapi.json"));
    let mut wrong = Vec::new();
    for (folder, schema) in FOLDERS {
        let validator = validator(&document, schema);
        for (name, fixture) in files(folder) {
            let found = validator.iter_errors(&fixture);
            wrong.extend(found.map(|error| format!("{folder}/{name}{}: {error}", error.instance_path())));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn every_folder_has_its_schema() {
    let mut folders: Vec<String> = std::fs::read_dir(root())
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().is_dir())
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| !OTHERS.contains(&name.as_str()))
        .collect();
    folders.sort();
    let known: Vec<_> = FOLDERS.iter().map(|(folder, _)| (*folder).to_owned()).collect();
    assert_eq!(folders, known);
}

#[test]
fn a_fixture_that_is_not_declared_is_found() {
    let document = read(&root().join("openapi.json"));
    let validator = validator(&document, "Agent");
    let agent = files("agents").remove(0).1;
    assert!(validator.is_valid(&agent));
    for change in [json!({"status": "on_holiday"}), json!({"name": 7}), json!({"createdAt": "yesterday"})] {
        let mut broken = agent.clone();
        for (name, value) in change.as_object().unwrap() {
            broken[name] = value.clone();
        }
        assert!(!validator.is_valid(&broken), "{change}");
    }
}

fn validator(document: &Value, schema: &str) -> jsonschema::Validator {
    let schema =
        json!({"$ref": format!("#/components/schemas/{schema}"), "components": document["components"]});
    jsonschema::options().should_validate_formats(true).build(&schema).unwrap()
}

/// All but those with values, fields or numbers that the document doesn't have.
fn files(folder: &str) -> Vec<(String, Value)> {
    let mut files: Vec<_> = std::fs::read_dir(root().join(folder))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), path))
        .filter(|(name, _)| !name.contains("never_seen"))
        .map(|(name, path)| (name, read(&path)))
        .collect();
    files.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(!files.is_empty(), "{folder}");
    files
}

fn read(path: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")
}
