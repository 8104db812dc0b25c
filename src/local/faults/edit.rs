//! Changes to one field of an answer, by which no other changes: not a digit of a number.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Value, json};

use crate::model::json::RawJson;

/// How deep a field is looked for by its name: deeper than anything the contract has.
const DEEPEST: usize = 64;
const NEW_FIELD: &str = "fieldOfTomorrow";

/// A change to an answer.
#[derive(Debug)]
pub(super) enum Edit<'a> {
    /// Another value for a field, or none.
    Field { field: &'a str, value: Option<RawJson> },
    /// A field that nobody knows.
    Extend,
}

impl<'a> Edit<'a> {
    pub(super) fn set(field: &'a str, value: impl Into<Value>) -> Self {
        Self::Field { field, value: Some(value.into().into()) }
    }

    pub(super) fn remove(field: &'a str) -> Self {
        Self::Field { field, value: None }
    }

    /// The text with the change; as it is, if it is no JSON.
    pub(super) fn apply(&self, text: &[u8]) -> Vec<u8> {
        let Ok(json) = serde_json::from_slice::<RawJson>(text) else { return text.to_vec() };
        let edited = match self {
            Self::Extend => extended(&json),
            Self::Field { field, value } => match field.strip_prefix('/') {
                Some(pointer) => {
                    let tokens: Vec<_> =
                        pointer.split('/').map(|token| token.replace("~1", "/").replace("~0", "~")).collect();
                    at(&json, &tokens, value.as_ref())
                }
                None => everywhere(&json, field, value.as_ref(), DEEPEST),
            },
        };
        edited.get().as_bytes().to_vec()
    }
}

/// The parts of a JSON value, each as its text.
enum Parts {
    Object(BTreeMap<String, RawJson>),
    Array(Vec<RawJson>),
    Single,
}

impl Parts {
    fn of(json: &RawJson) -> Self {
        match json.get().as_bytes().first() {
            Some(b'{') => serde_json::from_str(json.get()).map_or(Self::Single, Self::Object),
            Some(b'[') => serde_json::from_str(json.get()).map_or(Self::Single, Self::Array),
            _ => Self::Single,
        }
    }
}

/// With the field that a pointer's parts lead to.
fn at(json: &RawJson, tokens: &[String], value: Option<&RawJson>) -> RawJson {
    let [token, rest @ ..] = tokens else { return json.clone() };
    match Parts::of(json) {
        Parts::Object(mut fields) => {
            match (fields.get_mut(token), value) {
                (Some(field), _) if !rest.is_empty() => *field = at(field, rest, value),
                (_, Some(value)) if rest.is_empty() => drop(fields.insert(token.clone(), value.clone())),
                (_, None) if rest.is_empty() => drop(fields.remove(token)),
                _ => {}
            }
            raw(&fields)
        }
        Parts::Array(mut items) => {
            let index = token.parse().ok().filter(|index| *index < items.len());
            match (index, value) {
                (Some(index), _) if !rest.is_empty() => items[index] = at(&items[index], rest, value),
                (Some(index), Some(value)) => items[index] = value.clone(),
                (Some(index), None) => drop(items.remove(index)),
                (None, _) => {}
            }
            raw(&items)
        }
        Parts::Single => json.clone(),
    }
}

/// With each field of this name.
fn everywhere(json: &RawJson, name: &str, value: Option<&RawJson>, depth: usize) -> RawJson {
    if depth == 0 {
        return json.clone();
    }
    match Parts::of(json) {
        Parts::Object(mut fields) => {
            if value.is_none() {
                fields.remove(name);
            }
            for (field, held) in &mut fields {
                *held = match value {
                    Some(value) if field == name => value.clone(),
                    _ => everywhere(held, name, value, depth - 1),
                };
            }
            raw(&fields)
        }
        Parts::Array(items) => {
            let items: Vec<_> = items.iter().map(|item| everywhere(item, name, value, depth - 1)).collect();
            raw(&items)
        }
        Parts::Single => json.clone(),
    }
}

/// With a new field, on top and in each item of a list.
fn extended(json: &RawJson) -> RawJson {
    let Parts::Object(mut fields) = Parts::of(json) else { return json.clone() };
    if let Some(Parts::Array(items)) = fields.get("data").map(Parts::of) {
        let items: Vec<_> = items.iter().map(extended).collect();
        fields.insert("data".to_owned(), raw(&items));
    }
    fields.insert(NEW_FIELD.to_owned(), json!({"any": ["thing", 1, null]}).into());
    raw(&fields)
}

fn raw(value: &impl Serialize) -> RawJson {
    // Texts that are JSON make one that is.
    serde_json::value::to_raw_value(value).map(RawJson::from).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str =
        r#"{"data":[{"a/b":{"status":"x"},"n":0.10000000000000000000001,"status":"y"}],"nextCursor":null}"#;

    fn edited(edit: &Edit<'_>, text: &str) -> String {
        String::from_utf8(edit.apply(text.as_bytes())).unwrap()
    }

    #[test]
    fn a_field_is_changed_by_name_or_pointer_and_nothing_else_is() {
        for (edit, expected) in [
            (
                Edit::set("status", "new"),
                LIST.replace(r#""status":"x""#, r#""status":"new""#).replace(r#""y""#, r#""new""#),
            ),
            (Edit::set("/data/0/status", Value::Null), LIST.replace(r#""y""#, "null")),
            (Edit::remove("status"), LIST.replace(r#""status":"x""#, "").replace(r#","status":"y""#, "")),
            (Edit::remove("/data/0/a~1b"), LIST.replace(r#""a/b":{"status":"x"},"#, "")),
            (
                Edit::set("/data/0/a~1b/more", 1),
                LIST.replace(r#"{"status":"x"}"#, r#"{"more":1,"status":"x"}"#),
            ),
            (Edit::remove("/data/0"), r#"{"data":[],"nextCursor":null}"#.to_owned()),
        ] {
            assert_eq!(edited(&edit, LIST), expected, "{edit:?}");
        }
        for edit in [
            Edit::set("none", 1),
            Edit::remove("/data/1"),
            Edit::remove("/data/x/status"),
            Edit::set("/none/at/all", 1),
            Edit::set("/data/0/n/x", 1),
        ] {
            assert_eq!(edited(&edit, LIST), LIST, "{edit:?}");
        }
    }

    #[test]
    fn a_new_field_is_added_to_what_is_answered_and_to_each_item() {
        let new = r#""fieldOfTomorrow":{"any":["thing",1,null]}"#;
        assert_eq!(
            edited(&Edit::Extend, r#"{"data":[{"id":"a"}]}"#),
            format!(r#"{{"data":[{{{new},"id":"a"}}],{new}}}"#)
        );
        assert_eq!(edited(&Edit::Extend, r#"{"data":{}}"#), format!(r#"{{"data":{{}},{new}}}"#));
        assert_eq!(edited(&Edit::Extend, "[1]"), "[1]");
    }

    #[test]
    fn what_is_no_json_or_too_deep_stays_as_it_is() {
        assert_eq!(edited(&Edit::remove("a"), "<html>"), "<html>");
        let deep = format!(r#"{}{{"a":1}}{}"#, "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(edited(&Edit::remove("a"), &deep), deep);
    }
}
