//! Guards over a raw document. Each gives the places that break it.

use std::collections::BTreeSet;

use serde_json::Value;

/// Every reference leads to a place in the document.
pub(crate) fn unresolved_references(document: &Value) -> Vec<String> {
    let leads_nowhere = |target: &&str| match target.strip_prefix('#') {
        Some(pointer) => document.pointer(pointer).is_none(),
        None => true,
    };
    objects(document)
        .into_iter()
        .filter_map(|(_, object)| object.get("$ref")?.as_str())
        .filter(leads_nowhere)
        .map(str::to_owned)
        .collect()
}

/// Every operation has an id of its own, in camel case.
pub(crate) fn repeated_operation_ids(document: &Value) -> Vec<String> {
    let mut seen = BTreeSet::new();
    operations(document)
        .into_iter()
        .filter(|(_, operation)| {
            let id = operation["operationId"].as_str().unwrap_or_default();
            let camel = id.starts_with(|c: char| c.is_ascii_lowercase())
                && id.chars().all(|c| c.is_ascii_alphanumeric());
            !camel || !seen.insert(id)
        })
        .map(|(place, _)| place)
        .collect()
}

/// Operations, schemas, parameters, headers and responses must say where they are from; whatever
/// else says it must use one of the two words.
pub(crate) fn missing_sources(document: &Value) -> Vec<String> {
    let due: Vec<String> = operations(document)
        .into_iter()
        .map(|(place, _)| place)
        .chain(["schemas", "parameters", "headers", "responses"].into_iter().flat_map(|kind| {
            members(&document["components"][kind]).map(move |(name, _)| format!("/components/{kind}/{name}"))
        }))
        .collect();
    objects(document)
        .into_iter()
        .filter(|(place, object)| match object.get("x-source") {
            Some(source) => source != "documented" && source != "assumed",
            None => due.contains(place),
        })
        .map(|(place, _)| place)
        .collect()
}

/// The path parameters are those of the template, and required.
pub(crate) fn undeclared_path_parameters(document: &Value) -> Vec<String> {
    let mut findings = Vec::new();
    for (path, item) in members(&document["paths"]) {
        for (_, operation) in members(item).filter(|(_, value)| value.is_object()) {
            let both = [&item["parameters"], &operation["parameters"]];
            let declared: BTreeSet<&str> = both
                .into_iter()
                .filter_map(Value::as_array)
                .flatten()
                .map(|parameter| follow(document, parameter))
                .filter(|parameter| parameter["in"] == "path" && parameter["required"] == true)
                .filter_map(|parameter| parameter["name"].as_str())
                .collect();
            let due: BTreeSet<&str> =
                path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
            if declared != due {
                findings.push(path.clone());
            }
        }
    }
    findings.dedup();
    findings
}

/// A required name is one of the properties.
pub(crate) fn unknown_required_names(document: &Value) -> Vec<String> {
    let mut findings = Vec::new();
    for (place, object) in objects(document) {
        let (Some(required), Some(properties)) =
            (object.get("required").and_then(Value::as_array), object.get("properties"))
        else {
            continue;
        };
        for name in required.iter().filter_map(Value::as_str) {
            if properties.get(name).is_none() {
                findings.push(format!("{place}: {name}"));
            }
        }
    }
    findings
}

/// Each operation has one success, a default, and a schema in all of them but a 204.
pub(crate) fn responses_without_schema(document: &Value) -> Vec<String> {
    let mut findings = Vec::new();
    for (place, operation) in operations(document) {
        let responses = &operation["responses"];
        let successes = members(responses).filter(|(status, _)| status.starts_with('2')).count();
        if successes != 1 || !responses["default"].is_object() {
            findings.push(place);
            continue;
        }
        for (status, response) in members(responses) {
            let content = &follow(document, response)["content"];
            let json = content["application/json"]["schema"].is_object();
            let stream = content["text/event-stream"]["x-item-schema"].is_object();
            if (status == "204") == (json || stream) {
                findings.push(format!("{place} {status}"));
            }
        }
    }
    findings
}

/// A link is named after the operation that it leads to.
pub(crate) fn links_that_lead_nowhere(document: &Value) -> Vec<String> {
    let all = operations(document);
    let ids: BTreeSet<&str> =
        all.iter().filter_map(|(_, operation)| operation["operationId"].as_str()).collect();
    let mut findings = Vec::new();
    for (place, object) in objects(document) {
        let Some(links) = object.get("links") else { continue };
        for (name, link) in members(links) {
            let to = link["operationId"].as_str().unwrap_or_default();
            if !ids.contains(to) || name != to {
                findings.push(format!("{place}: {name}"));
            }
        }
    }
    findings
}

/// What is marked as assumed is a value of the enum.
pub(crate) fn assumed_values_outside_the_enum(document: &Value) -> Vec<String> {
    let mut findings = Vec::new();
    for (place, object) in objects(document) {
        let assumed = object.get("x-assumed-values").and_then(Value::as_array);
        let listed = object.get("enum").and_then(Value::as_array);
        for value in assumed.into_iter().flatten() {
            if !listed.is_some_and(|listed| listed.contains(value)) {
                findings.push(format!("{place}: {value}"));
            }
        }
    }
    findings
}

/// An operation lists only codes that a schema names, and every named code is listed somewhere.
pub(crate) fn codes_out_of_step(document: &Value) -> Vec<String> {
    let named: BTreeSet<&str> = ["ConflictCode", "RefusalCode"]
        .into_iter()
        .filter_map(|name| document["components"]["schemas"][name]["enum"].as_array())
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let listed: BTreeSet<&str> = operations(document)
        .into_iter()
        .filter_map(|(_, operation)| operation["x-codes"].as_array())
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    named.symmetric_difference(&listed).map(|code| (*code).to_owned()).collect()
}

/// The operations under `paths`, with the pointers to them.
pub(crate) fn operations(document: &Value) -> Vec<(String, &Value)> {
    let mut operations = Vec::new();
    for (path, item) in members(&document["paths"]) {
        for (method, operation) in members(item) {
            if method != "parameters" {
                operations.push((format!("/paths/{}/{method}", path.replace('/', "~1")), operation));
            }
        }
    }
    operations
}

/// The members of an object; nothing for anything else.
fn members(value: &Value) -> impl Iterator<Item = (&String, &Value)> {
    value.as_object().into_iter().flatten()
}

fn follow<'d>(document: &'d Value, value: &'d Value) -> &'d Value {
    let target = value["$ref"].as_str().and_then(|target| document.pointer(target.strip_prefix('#')?));
    target.unwrap_or(value)
}

/// Every object of the document, with the pointer to it.
fn objects(document: &Value) -> Vec<(String, &serde_json::Map<String, Value>)> {
    let mut found = Vec::new();
    let mut open = vec![(String::new(), document)];
    while let Some((place, value)) = open.pop() {
        match value {
            Value::Object(object) => {
                for (key, value) in object {
                    let key = key.replace('~', "~0").replace('/', "~1");
                    open.push((format!("{place}/{key}"), value));
                }
                found.push((place, object));
            }
            Value::Array(items) => {
                open.extend(
                    items.iter().enumerate().map(|(index, value)| (format!("{place}/{index}"), value)),
                );
            }
            _ => {}
        }
    }
    found
}
