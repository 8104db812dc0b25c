//! Finding a field that a closed schema does not name. Serde ignores such a field unless the type forbids it,
//! while the service, which knows the schema only, refuses it.

use serde_json::{Map, Value};

use super::schema::IN_PLACE;

/// The path of the first field of the value that the schema does not allow.
pub(super) fn unknown_field(schema: &Value, value: &Value) -> Option<String> {
    Check { root: schema }.find(schema, value).map(|path| path.trim_start_matches('.').to_owned())
}

struct Check<'a> {
    root: &'a Value,
}

impl<'a> Check<'a> {
    fn find(&self, schema: &'a Value, value: &Value) -> Option<String> {
        let schema = self.resolve(schema)?;
        let inside = match value {
            Value::Object(fields) => self.find_in_object(schema, fields),
            Value::Array(items) => find_in_items(items, |index, item| {
                let listed = schema.get("prefixItems").and_then(|listed| listed.get(index));
                self.find(listed.or_else(|| schema.get("items"))?, item)
            }),
            _ => None,
        };
        inside.or_else(|| self.find_in_place(schema, value))
    }

    fn find_in_object(&self, schema: &'a Map<String, Value>, fields: &Map<String, Value>) -> Option<String> {
        let closed = |keyword: &str| schema.get(keyword) == Some(&Value::Bool(false));
        let closed = closed("additionalProperties") || closed("unevaluatedProperties");
        fields.iter().find_map(|(name, value)| {
            if closed && !self.names(schema, name) {
                return Some(format!(".{name}"));
            }
            let named = schema.get("properties").and_then(|properties| properties.get(name));
            let inner = self.find(named.or_else(|| schema.get("additionalProperties"))?, value)?;
            Some(format!(".{name}{inner}"))
        })
    }

    /// In alternatives a field is unknown only if it is so in all that the value can be one of.
    fn find_in_place(&self, schema: &'a Map<String, Value>, value: &Value) -> Option<String> {
        IN_PLACE.iter().find_map(|keyword| {
            let branches = schema.get(*keyword)?.as_array()?;
            let mut found = branches
                .iter()
                .filter(|branch| self.fits(branch, value))
                .map(|branch| self.find(branch, value));
            if *keyword == "allOf" {
                return found.find_map(|path| path);
            }
            let first = found.next()??;
            found.all(|path| path.is_some()).then_some(first)
        })
    }

    /// Whether the schema, or one that stands in its place, names the property.
    fn names(&self, schema: &'a Map<String, Value>, name: &str) -> bool {
        schema.get("properties").is_some_and(|properties| properties.get(name).is_some())
            || IN_PLACE
                .iter()
                .filter_map(|keyword| schema.get(*keyword)?.as_array())
                .flatten()
                .any(|branch| self.resolve(branch).is_some_and(|branch| self.names(branch, name)))
    }

    /// Whether a value can be meant by a branch: its type fits, and so does its tag.
    fn fits(&self, schema: &'a Value, value: &Value) -> bool {
        let Some(schema) = self.resolve(schema) else { return true };
        let kind = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        let is_kind = |given: &Value| given == kind || (given == "integer" && kind == "number");
        let type_fits = schema.get("type").is_none_or(|given| match given {
            Value::Array(given) => given.iter().any(is_kind),
            given => is_kind(given),
        });
        let tag_fits = schema.get("properties").and_then(Value::as_object).is_none_or(|properties| {
            properties.iter().all(|(name, property)| match (property.get("const"), value.get(name)) {
                (Some(tag), Some(given)) => tag == given,
                _ => true,
            })
        });
        type_fits && tag_fits
    }

    /// The schema itself, or the one it refers to.
    fn resolve(&self, schema: &'a Value) -> Option<&'a Map<String, Value>> {
        match schema.get("$ref").and_then(Value::as_str) {
            Some("#") => self.root.as_object(),
            Some(reference) => self.root.pointer(reference.strip_prefix('#')?)?.as_object(),
            None => schema.as_object(),
        }
    }
}

fn find_in_items(items: &[Value], find: impl Fn(usize, &Value) -> Option<String>) -> Option<String> {
    items.iter().enumerate().find_map(|(index, item)| Some(format!("[{index}]{}", find(index, item)?)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_field_is_unknown_only_where_the_schema_is_closed() {
        let part = json!({"properties": {"a": {}, "again": {"$ref": "#/$defs/part"}}, "additionalProperties": false});
        let schema = json!({
            "properties": {
                "open": {"properties": {"a": {}}},
                "map": {"additionalProperties": {"$ref": "#/$defs/part"}},
                "pair": {"prefixItems": [{}, {"$ref": "#/$defs/part"}]},
                "maybe": {"anyOf": [{"$ref": "#/$defs/part", "type": "object"}, {"type": "null"}]},
                "all": {"properties": {"a": {}}, "allOf": [{"properties": {"b": {}}}], "unevaluatedProperties": false},
            },
            "additionalProperties": false,
            "$defs": {"part": part},
        });
        for (value, unknown) in [
            (json!({"open": {"b": 1}, "maybe": null, "all": {"a": 1, "b": 2}}), None),
            (json!({"b": 1}), Some("b")),
            (json!({"map": {"x": {"again": {"again": {"b": 1}}}}}), Some("map.x.again.again.b")),
            (json!({"pair": [{"b": 1}, {"b": 1}]}), Some("pair[1].b")),
            (json!({"maybe": {"b": 1}}), Some("maybe.b")),
            (json!({"all": {"c": 1}}), Some("all.c")),
            (json!([{"b": 1}]), None),
        ] {
            assert_eq!(unknown_field(&schema, &value).as_deref(), unknown, "{value}");
        }
    }
}
