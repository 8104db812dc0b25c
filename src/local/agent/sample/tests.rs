use serde_json::json;

use super::*;
use crate::model::authority::{AuthorityRule, SuccessCriterion};

fn sampled(schema: &Value, authority: &Authority, left_to_spend: Option<i64>) -> Value {
    let context = Context {
        capability: "procurement.create_po",
        objective: "Buy 200 units of part #48-221 for less than $8,000 total.",
        guidance: &["Ask sales@atlas.example, then sales@beacon.example.".to_owned()],
        deadline: None,
        authority,
        left_to_spend,
        reference: "exe_1",
        now: "2026-01-05T09:00:00Z".parse().unwrap(),
    };
    arguments(schema, &context)
}

#[test]
fn names_say_what_belongs_in_a_field() {
    let schema = json!({"type": "object", "properties": {
        "supplier": {"type": "string"}, "to": {"type": "string"}, "part": {"type": "string"},
        "quantity": {"type": "integer"}, "amount_minor": {"type": "integer", "format": "uint64", "minimum": 0},
        "currency": {"type": ["null", "string"]}, "needed_by": {"type": "string", "format": "date"},
        "express": {"type": "boolean"}, "note": {"type": "string", "maxLength": 10}, "otp": {"type": "string"},
    }});
    assert_eq!(
        sampled(&schema, &Authority::new(), Some(799_999)),
        json!({
            "supplier": "Atlas", "to": "sales@atlas.example", "part": "48-221", "quantity": 200,
            "amount_minor": 719_991, "currency": "usd", "needed_by": "2026-01-12", "express": true,
            "note": "Buy 200 un", "otp": "000000",
        })
    );
    assert_eq!(sampled(&schema, &Authority::new(), None)["amount_minor"], AMOUNT);
}

#[test]
fn schemas_of_types_are_followed() {
    let schema = json!({
        "type": "object",
        "properties": {
            "line": {"$ref": "#/$defs/Line"},
            "lines": {"type": "array", "items": {"$ref": "#/$defs/Line"}, "minItems": 2},
            "mode": {"anyOf": [{"type": "null"}, {"enum": ["sea", "air"]}]},
            "kind": {"oneOf": [{"type": "object", "properties": {"type": {"const": "a"}}}]},
        },
        "$defs": {"Line": {"type": "object", "properties": {
            "sku": {"type": "string"}, "next": {"anyOf": [{"$ref": "#/$defs/Line"}, {"type": "null"}]},
        }}},
    });
    let sampled = sampled(&schema, &Authority::new(), None);
    assert_eq!(sampled["line"]["sku"], "48-221");
    assert_eq!(sampled["lines"].as_array().map(Vec::len), Some(2));
    assert_eq!((&sampled["mode"], &sampled["kind"]), (&json!("sea"), &json!({"type": "a"})));
    assert!(sampled["line"]["next"]["next"].is_object());
}

#[test]
fn rules_and_criteria_bound_what_is_chosen() {
    let schema = json!({"type": "object", "properties": {
        "quantity": {"type": "integer"}, "amount_minor": {"type": "integer"}, "mode": {"type": "string"},
        "incoterm": {"type": "string"}, "least": {"type": "integer", "exclusiveMinimum": 6},
    }});
    let rule = |field: &str| AuthorityRule::new("procurement.create_po", field);
    let authority = Authority::new()
        .rules([
            rule("quantity").max(150),
            rule("mode").equals("air"),
            rule("incoterm").one_of(["DAP", "EXW"]),
        ])
        .success_criteria([SuccessCriterion::new("amount_minor").max(500_000)]);
    let sampled = sampled(&schema, &authority, Some(799_999));
    assert_eq!(
        sampled,
        json!({"quantity": 150, "amount_minor": 500_000, "mode": "air", "incoterm": "DAP", "least": 7})
    );
}

#[test]
fn amounts_and_secrets_are_known_by_their_names() {
    assert_eq!(amount(&json!({"quantity": 3, "amountMinor": 7})), Some(Some(7)));
    assert_eq!(amount(&json!({"total_price": {"amount": 9, "currency": "usd"}})), Some(Some(9)));
    assert_eq!(amount(&json!({"amount": "many", "costume": 1})), None);
    assert_eq!(amount(&json!({"amount": -7})), Some(None));
    assert_eq!(amount(&json!({"amount": 7.5})), Some(None));
    assert_eq!(amount(&json!({"amount": 7.5, "cost": 8})), Some(Some(8)));
    for name in ["password", "otp", "apiKey", "access_token", "PIN"] {
        assert!(is_secret(name), "{name}");
    }
    for name in ["pinned", "shipping", "tokens_used", "spin"] {
        assert!(!is_secret(name), "{name}");
    }
}

#[test]
fn an_amount_goes_where_it_is_looked_for() {
    let schema = json!({
        "properties": {"supplier": {}, "amount_minor": {"type": "integer"}, "price": {"$ref": "#/$defs/Money"}},
        "$defs": {"Money": {"type": "object"}},
    });
    let set = |mut arguments: Value, schema: &Value| {
        set_amount(&mut arguments, schema, &Money::usd(7));
        arguments
    };
    assert_eq!(set(json!({"supplier": "A"}), &schema), json!({"supplier": "A", "amount_minor": 7}));
    let nested = json!({"price": {"amount": 7, "currency": "usd"}});
    assert_eq!(set(json!({"price": null}), &schema), nested);
    assert_eq!(set(json!({"total": {"amount": 1}}), &json!({})), json!({"total": nested["price"]}));
    assert_eq!(set(json!({"to": "a@b.example"}), &json!(true)), json!({"to": "a@b.example"}));
}

#[test]
fn odd_schemas_give_an_object_all_the_same() {
    for schema in
        [json!(true), json!({}), json!({"type": "object", "properties": 7}), json!({"type": "array"})]
    {
        assert!(sampled(&schema, &Authority::new(), None).is_object(), "{schema}");
    }
    let endless = json!({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#"}}});
    assert!(sampled(&endless, &Authority::new(), None)["a"]["a"].is_object());
}
