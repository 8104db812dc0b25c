//! The document is sound, and each guard that says so is seen to fail.

mod soundness;

use std::path::Path;

use conformance::{Document, Source};
use http::{HeaderMap, HeaderValue, Method, Uri};
use serde_json::{Value, json};
use soundness::{
    assumed_values_outside_the_enum, codes_out_of_step, links_that_lead_nowhere, missing_sources, operations,
    repeated_operation_ids, responses_without_schema, undeclared_path_parameters, unknown_required_names,
    unresolved_references,
};

type Guard = fn(&Value) -> Vec<String>;

const GUARDS: [(&str, Guard); 9] = [
    ("references", unresolved_references),
    ("operation ids", repeated_operation_ids),
    ("sources", missing_sources),
    ("path parameters", undeclared_path_parameters),
    ("required names", unknown_required_names),
    ("responses", responses_without_schema),
    ("links", links_that_lead_nowhere),
    ("assumed values", assumed_values_outside_the_enum),
    ("codes", codes_out_of_step),
];

#[test]
fn the_document_is_sound() {
    let document = raw();
    for (name, guard) in GUARDS {
        assert_eq!(guard(&document), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn each_guard_fails_on_a_document_that_is_broken_its_way() {
    let get = "/paths/~1v1~1agents~1{id}/get";
    let breaks: [(Guard, String, Value); 15] = [
        (unresolved_references, format!("{get}/responses/401"), json!({"$ref": "#/components/responses/No"})),
        (
            unresolved_references,
            "/components/schemas/AgentPage".to_owned(),
            json!({"x-source": "assumed", "$ref": "other.json"}),
        ),
        (repeated_operation_ids, format!("{get}/operationId"), json!("createAgent")),
        (repeated_operation_ids, format!("{get}/operationId"), json!(null)),
        (repeated_operation_ids, format!("{get}/operationId"), json!("GetAgent")),
        (missing_sources, format!("{get}/x-source"), json!("guessed")),
        (missing_sources, "/components/schemas/Agent/x-source".to_owned(), json!(null)),
        (missing_sources, "/components/schemas/Agent/properties/revision/x-source".to_owned(), json!("")),
        (undeclared_path_parameters, "/paths/~1v1~1agents~1{id}/parameters".to_owned(), json!([])),
        (unknown_required_names, "/components/schemas/Agent/required/0".to_owned(), json!("identifier")),
        (
            links_that_lead_nowhere,
            "/paths/~1v1~1agents/post/responses/201/links/getAgent/operationId".to_owned(),
            json!("readAgent"),
        ),
        (responses_without_schema, format!("{get}/responses/200/content"), json!(null)),
        (responses_without_schema, format!("{get}/responses/default"), json!(null)),
        (
            assumed_values_outside_the_enum,
            "/components/schemas/MandateStatus/x-assumed-values/0".to_owned(),
            json!("waiting"),
        ),
        (codes_out_of_step, "/paths/~1v1~1agents/post/x-codes/0".to_owned(), json!("no_such_code")),
    ];
    for (guard, place, value) in breaks {
        let mut document = raw();
        *document.pointer_mut(&place).expect(&place) = value;
        assert_eq!(guard(&document).len(), 1, "{place}: {:?}", guard(&document));
    }
}

#[test]
fn a_broken_document_does_not_load() {
    for (place, value, reason) in [
        ("/paths/~1v1~1agents/get/x-source", json!("guessed"), "`x-source` is `guessed`"),
        ("/paths/~1v1~1agents/get/responses/401", json!({"$ref": "#/no"}), "leads nowhere"),
        ("/components/schemas/Agent/type", json!("thing"), "/components/schemas/Agent"),
        ("/components/responses/Error", json!({"$ref": "#/components/responses/Error"}), "circle"),
    ] {
        let mut document = raw();
        *document.pointer_mut(place).expect(place) = value;
        let error = Document::from_value(&document).expect_err(place).to_string();
        assert!(error.contains(reason), "{error}");
    }
}

#[test]
fn operations_are_listed_and_found_by_concrete_paths() {
    let document = Document::load().expect("the document loads");
    assert_eq!(document.operations().count(), 38);
    assert_eq!(operations(&raw()).len(), 38);
    for operation in document.operations() {
        let path = operation.template().replace("{id}", "x_1").replace("{name}", "a.b");
        let found = document.operation(operation.method(), &path).expect("it is found");
        assert_eq!(found.id(), operation.id());
        assert_eq!(found.source(), Source::Assumed, "every path is assumed");
    }
    for (method, path) in
        [("GET", "/v1/agents/"), ("DELETE", "/v1/agents/a"), ("GET", "/v1"), ("GET", "/v1/agents/a/b")]
    {
        let method = method.parse().expect(method);
        assert!(document.operation(&method, path).is_none(), "{method} {path}");
    }
}

#[test]
fn a_literal_path_wins_over_a_placeholder_whatever_its_methods() {
    let mut raw = raw();
    raw["paths"]["/v1/agents/~archive"] = json!({"post": {"operationId": "archive", "x-source": "assumed"}});
    let document = Document::from_value(&raw).expect("the document loads");
    let id =
        |method: Method, path| document.operation(&method, path).map(|operation| operation.id().to_owned());
    assert_eq!(id(Method::POST, "/v1/agents/~archive").as_deref(), Some("archive"));
    assert_eq!(id(Method::GET, "/v1/agents/~archive"), None);
    assert_eq!(id(Method::GET, "/v1/agents/other").as_deref(), Some("getAgent"));
}

#[test]
fn what_stands_beside_a_reference_counts_and_so_does_a_required_parameter() {
    let mut raw = raw();
    let cursor = &mut raw["components"]["parameters"]["Cursor"];
    cursor["required"] = json!(true);
    cursor["schema"] = json!({"$ref": "#/components/schemas/Id", "maxLength": 3});
    let document = Document::from_value(&raw).expect("the document loads");
    let mut headers = HeaderMap::new();
    headers.insert("authorization", HeaderValue::from_static("Bearer sk_test_1"));
    let check = |uri| document.check_request(&Method::GET, &Uri::from_static(uri), &headers, b"");
    assert_eq!(check("/v1/agents?cursor=abc"), Ok(()));
    for (uri, reason) in [
        ("/v1/agents", "the parameter is required"),
        ("/v1/agents?cursor=abcd", "longer than 3 characters"),
        ("/v1/agents?cursor=", "shorter than 1 character"),
    ] {
        let found = check(uri).expect_err(uri);
        assert!(found.len() == 1 && found[0].ends_with(reason), "{found:?}");
    }
}

#[expect(clippy::expect_used, reason = "without the document there is nothing to test")]
fn raw() -> Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/openapi.json");
    let text = std::fs::read_to_string(path).expect("the document is there");
    serde_json::from_str(&text).expect("the document is JSON")
}
