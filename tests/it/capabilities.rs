//! Capabilities: the calls, and capabilities made from types.

use std::collections::BTreeMap;
use std::error::Error as _;

use http::Method;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use shadway::ErrorKind;
use shadway::capabilities::{
    Capability, CapabilityEffect, CapabilityExecutionMode, CapabilityIdempotency, CapabilityRegisterParams,
    CapabilityRisk, CapabilityStatus, CapabilityUpdateParams, CapabilityVerify, DefinedCapability, Executor,
};
use shadway::types::ListParams;
use shadway::types::RawJson;

use crate::support::{Script, Step, page};

fn capability(status: &str, execution_mode: &str) -> Value {
    json!({"name": "procurement.create_po", "description": "Create an order.", "risk": "financial",
        "effect": "irreversible", "verify": "none", "idempotency": "none", "status": status,
        "executionMode": execution_mode})
}

/// An order to a supplier.
#[derive(Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
struct Order {
    /// Who delivers.
    supplier: String,
    quantity: u32,
    #[serde(default)]
    lines: Vec<Line>,
    note: Option<Note>,
    delivery: Option<Delivery>,
    #[serde(default)]
    labels: BTreeMap<String, String>,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
struct Line {
    part: String,
    #[serde(default)]
    bundle: Vec<Self>,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
struct Note {
    text: String,
    #[serde(flatten)]
    place: Place,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
struct Place {
    city: String,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(tag = "by", rename_all = "snake_case")]
enum Delivery {
    Road(Road),
    Air { flight: String },
    Pickup,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
struct Road {
    plate: String,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
struct Ordered {
    reference: String,
}

#[derive(Debug, thiserror::Error)]
#[error("the ERP is closed")]
struct Closed;

fn create_po() -> DefinedCapability<Order, Ordered> {
    Capability::define("procurement.create_po", "Create an order.")
        .risk(CapabilityRisk::Financial)
        .effect(CapabilityEffect::Irreversible)
        .verify(CapabilityVerify::ReadAfterWrite)
        .idempotency(CapabilityIdempotency::Reconcilable)
        .version("2")
        .metadata("team", "procurement")
        .execute(|order: Order| async move {
            if order.quantity == 0 { Err(Closed) } else { Ok(Ordered { reference: order.supplier }) }
        })
}

#[tokio::test]
async fn each_call_says_its_method_path_query_and_body() {
    let script = Script::new([
        Step::json(200, &page(&[capability("active", "available")], &Value::Null)),
        Step::json(200, &capability("active", "available")),
    ]);
    let capabilities = script.client().capabilities();
    let first = capabilities.list(ListParams::new().limit(7)).await.unwrap();
    assert!(first.data[0].is_runnable());
    capabilities.get("procurement.create_po").await.unwrap();
    capabilities.get("a/b.c").await.unwrap();
    capabilities.get_version("procurement.create_po", "2").await.unwrap();
    let change = CapabilityUpdateParams::new()
        .description("Create one.")
        .status(CapabilityStatus::Disabled)
        .metadata([("team", "ops")]);
    capabilities.update("procurement.create_po", change).await.unwrap();
    let written =
        CapabilityRegisterParams::new("a.b", "B.", json!({"type": "object"}), json!({"type": "object"}));
    capabilities.register(written).await.unwrap();
    let seen: Vec<_> = script.seen();
    let lines: Vec<_> = seen.iter().map(|seen| format!("{} {}", seen.method, seen.path())).collect();
    assert_eq!(
        lines,
        [
            "GET /v1/capabilities?limit=7",
            "GET /v1/capabilities/procurement.create_po",
            "GET /v1/capabilities/a%2Fb.c",
            "GET /v1/capabilities/procurement.create_po?version=2",
            "PATCH /v1/capabilities/procurement.create_po",
            "POST /v1/capabilities",
        ]
    );
    let update = json!({"description": "Create one.", "status": "disabled", "metadata": {"team": "ops"}});
    assert_eq!(seen[4].json(), update);
    let register = json!({"name": "a.b", "description": "B.", "inputSchema": {"type": "object"},
        "outputSchema": {"type": "object"}});
    assert_eq!(seen[5].json(), register);
    assert!(seen[5].header("idempotency-key").is_some());
}

#[test]
fn only_an_active_capability_with_something_behind_it_is_runnable() {
    for (status, mode, runnable) in [
        ("active", "available", true),
        ("active", "unavailable", false),
        ("disabled", "available", false),
        ("active", "in_the_cloud", false),
    ] {
        let capability: Capability = serde_json::from_value(capability(status, mode)).unwrap();
        assert_eq!(capability.is_runnable(), runnable, "{status} {mode}");
    }
    assert_eq!(CapabilityExecutionMode::from("in_the_cloud").to_string(), "in_the_cloud");
}

#[tokio::test]
async fn what_the_service_would_refuse_is_not_sent() {
    let script = Script::new([Step::json(201, &capability("active", "unavailable"))]);
    let register = |name: &str, input: Value| {
        let params = CapabilityRegisterParams::new(name, "B.", input, json!({"type": "object"}));
        script.client().capabilities().register(params)
    };
    for name in ["", "email", ".", "email.", ".send", "a..b"] {
        let error = register(name, json!({"type": "object"})).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{name:?}");
        assert!(error.to_string().contains("a dot in it"), "{error}");
    }
    for schema in [json!(true), json!({}), json!({"type": "string"}), json!([]), json!(null)] {
        let error = register("a.b", schema.clone()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{schema}");
        assert!(error.to_string().contains("the input schema of a.b"), "{error}");
    }
    let number = Capability::define::<u32, Ordered>("a.b", "B.");
    let error = script.client().capabilities().register(number).await.unwrap_err();
    assert!(error.to_string().contains("the input schema of a.b is not one of an object"), "{error}");
    assert_eq!(script.count(), 0);
}

#[tokio::test]
async fn an_enum_of_objects_is_an_input_too() {
    let script = Script::new([Step::json(201, &capability("active", "unavailable"))]);
    let ship = Capability::define("shipping.order", "Order a delivery.")
        .execute(|_: Delivery| async { Ok::<_, Closed>(Ordered { reference: "D-1".to_owned() }) });
    script.client().capabilities().register(&ship).await.unwrap();
    ship.invoke(json!({"by": "air", "flight": "F1"})).await.unwrap();
    let error = ship.invoke(json!({"by": "air", "plate": "AB"})).await.unwrap_err();
    assert!(error.to_string().contains("plate: there is no such field"), "{error}");
}

#[tokio::test]
async fn a_defined_capability_registers_what_it_says_with_closed_schemas() {
    let script = Script::new([Step::json(201, &capability("active", "unavailable"))]);
    let create_po = create_po();
    script.client().capabilities().register(&create_po).await.unwrap();
    let body = script.seen()[0].json();
    assert_eq!(script.seen()[0].method, Method::POST);
    for (name, value) in [
        ("name", json!("procurement.create_po")),
        ("description", json!("Create an order.")),
        ("risk", json!("financial")),
        ("effect", json!("irreversible")),
        ("verify", json!("read_after_write")),
        ("idempotency", json!("reconcilable")),
        ("version", json!("2")),
        ("metadata", json!({"team": "procurement"})),
    ] {
        assert_eq!(body[name], value, "{name}");
    }
    let output = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema", "title": "Ordered", "type": "object",
        "properties": {"reference": {"type": "string"}}, "required": ["reference"],
        "additionalProperties": false,
    });
    assert_eq!(body["outputSchema"], output);
    let input = &body["inputSchema"];
    assert_eq!(input["description"], "An order to a supplier.");
    assert_eq!(input["properties"]["supplier"], json!({"type": "string", "description": "Who delivers."}));
    assert_eq!(input["required"], json!(["supplier", "quantity"]));
    assert_eq!(input["properties"]["labels"]["additionalProperties"], json!({"type": "string"}));
    assert_eq!(open_objects(input), Vec::<String>::new(), "{input:#}");
}

/// Where a schema names properties and lets others in.
fn open_objects(schema: &Value) -> Vec<String> {
    match schema {
        Value::Object(fields) => {
            let closed = ["additionalProperties", "unevaluatedProperties"]
                .iter()
                .any(|keyword| fields.get(*keyword) == Some(&json!(false)));
            let names = fields.get("properties").is_some_and(Value::is_object);
            let own = (names && !closed).then(|| schema.to_string());
            own.into_iter().chain(fields.values().flat_map(open_objects)).collect()
        }
        Value::Array(items) => items.iter().flat_map(open_objects).collect(),
        _ => Vec::new(),
    }
}

#[tokio::test]
async fn invoking_runs_the_function_on_typed_input() {
    let order = json!({"supplier": "Atlas", "quantity": 2, "labels": {"any": "name"},
        "lines": [{"part": "48-221", "bundle": [{"part": "48-222"}]}],
        "note": {"text": "Ring twice.", "city": "Paris"}, "delivery": {"by": "road", "plate": "AB"}});
    assert_eq!(create_po().invoke(order).await.unwrap(), Ordered { reference: "Atlas".to_owned() });
    for delivery in [json!({"by": "air", "flight": "F1"}), json!({"by": "pickup"}), json!(null)] {
        let order = json!({"supplier": "Atlas", "quantity": 2, "delivery": delivery});
        create_po().invoke(order).await.unwrap();
    }
    let executor = Executor::from(&create_po());
    assert_eq!(executor.name(), "procurement.create_po");
    let run = async move { executor.run(json!({"supplier": "Atlas", "quantity": 2})).await };
    let output = tokio::spawn(run).await.unwrap().unwrap();
    assert_eq!(output, RawJson::from(json!({"reference": "Atlas"})));
}

#[tokio::test]
async fn an_input_that_does_not_fit_says_which_field_and_runs_nothing() {
    let with = |name: &str, value: Value| {
        let mut order = json!({"supplier": "Atlas", "quantity": 0});
        order[name] = value;
        order
    };
    for (input, path) in [
        (json!({"quantity": 1}), "missing field `supplier`"),
        (json!([]), "does not fit"),
        (with("quantity", json!("two")), "quantity: invalid type"),
        (with("quantity", json!(-1)), "quantity: "),
        (with("quantitty", json!(1)), "quantitty: there is no such field"),
        (with("lines", json!([{"part": "a"}, {"part": 1}])), "lines[1].part: invalid type"),
        (with("lines", json!([{"part": "a", "color": 1}])), "lines[0].color: there is no such field"),
        (
            with("lines", json!([{"part": "a", "bundle": [{"part": "b", "color": 1}]}])),
            "lines[0].bundle[0].color: there is no such field",
        ),
        (with("note", json!({"text": "a", "city": "b", "zip": 1})), "note.zip: there is no such field"),
        (
            with("delivery", json!({"by": "road", "plate": "a", "flight": "b"})),
            "delivery.flight: there is no",
        ),
        (with("delivery", json!({"by": "air", "flight": "b", "plate": "a"})), "delivery.plate: there is no"),
        (with("labels", json!({"a": 1})), "labels.a: invalid type"),
    ] {
        let error = create_po().invoke(input.clone()).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{input}");
        let text = error.to_string();
        assert!(text.starts_with("not run: the input of procurement.create_po does not fit"), "{text}");
        assert!(text.contains(path), "{text}");
    }
}

#[tokio::test]
async fn a_function_that_fails_gives_its_error_as_the_source() {
    let error = create_po().invoke(json!({"supplier": "Atlas", "quantity": 0})).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Execution);
    assert_eq!(error.to_string(), "the function of the capability procurement.create_po failed");
    assert_eq!(error.source().unwrap().to_string(), "the ERP is closed");
    assert!(!error.is_retryable() && !error.is_ambiguous());
}
