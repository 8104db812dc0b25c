//! The JSON Schema of a type, every object in it closed.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

use crate::model::json::RawJson;

/// Keywords whose schemas describe the same value as the schema they stand in.
pub(super) const IN_PLACE: [&str; 3] = ["allOf", "anyOf", "oneOf"];
/// Keywords that hold a schema of a part of the value, a list of them, or schemas by name.
const PARTS: [&str; 7] =
    ["$defs", "additionalProperties", "contains", "items", "patternProperties", "prefixItems", "properties"];

/// What the service has to send for the type to be read.
pub(super) fn of_input<T: JsonSchema>() -> RawJson {
    of::<T>(SchemaSettings::draft2020_12().for_deserialize())
}

/// What the type is written as.
pub(super) fn of_output<T: JsonSchema>() -> RawJson {
    of::<T>(SchemaSettings::draft2020_12().for_serialize())
}

/// Types are written out where they stand, recursive ones aside: a type can then be closed by itself where it
/// stands alone, and left open where a tag is put beside its fields.
fn of<T: JsonSchema>(settings: SchemaSettings) -> RawJson {
    let settings = settings.with(|settings| settings.inline_subschemas = true);
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    close(&mut schema, false);
    name_type(&mut schema);
    schema.into()
}

/// Says of an enum all of whose variants are objects that it is one, which alone a capability takes.
fn name_type(schema: &mut Value) {
    let is_object = |schema: &Value| schema.get("type").is_some_and(|kind| kind == "object");
    let variants = ["oneOf", "anyOf"].iter().find_map(|keyword| schema.get(*keyword)?.as_array());
    if schema.get("type").is_none() && variants.is_some_and(|variants| variants.iter().all(is_object)) {
        schema["type"] = "object".into();
    }
}

/// Closes every object that names its properties, unless it is only a part of one that is closed as a whole.
fn close(schema: &mut Value, part: bool) {
    let Value::Object(schema) = schema else { return };
    let composed =
        IN_PLACE.iter().any(|keyword| schema.contains_key(*keyword)) || schema.contains_key("$ref");
    let whole = !part && schema.contains_key("properties");
    if whole && !is_settled(schema) {
        // Only the latter sees the properties that the parts name.
        let keyword = if composed { "unevaluatedProperties" } else { "additionalProperties" };
        schema.insert(keyword.to_owned(), false.into());
    }
    for (keyword, inner) in schema {
        if IN_PLACE.contains(&keyword.as_str()) {
            each(inner, |inner| close(inner, part || whole));
        } else if matches!(keyword.as_str(), "$defs" | "patternProperties" | "properties") {
            inner.as_object_mut().into_iter().flatten().for_each(|(_, inner)| close(inner, false));
        } else if PARTS.contains(&keyword.as_str()) {
            each(inner, |inner| close(inner, false));
        }
    }
}

/// Whether the type itself says what becomes of other properties.
fn is_settled(schema: &Map<String, Value>) -> bool {
    schema.contains_key("additionalProperties") || schema.contains_key("unevaluatedProperties")
}

fn each(schemas: &mut Value, change: impl Fn(&mut Value)) {
    match schemas {
        Value::Array(schemas) => schemas.iter_mut().for_each(change),
        schema => change(schema),
    }
}
