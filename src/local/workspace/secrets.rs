//! What must not be seen: values of secret fields, and what a person gave for one action.

use serde_json::Value;

use crate::local::agent::sample::is_secret;
use crate::model::approvals::{ApprovalField, ApprovalInputs};
use crate::model::capabilities::Capability;
use crate::model::json::RawJson;
use crate::model::types::Extra;

const HIDDEN: &str = "[hidden]";
/// A value shorter than this is hidden only where it stands alone, or it would be found in everything.
const SHORTEST: usize = 4;

/// Arguments fit to be shown.
pub(super) fn hide(arguments: &Value) -> Value {
    match arguments {
        Value::Object(fields) => {
            let shown = |(name, value): (&String, &Value)| {
                let value = if is_secret(name) { Value::from(HIDDEN) } else { hide(value) };
                (name.clone(), value)
            };
            fields.iter().map(shown).collect()
        }
        Value::Array(items) => items.iter().map(hide).collect(),
        other => other.clone(),
    }
}

/// The secret values that an action takes, for a person to give.
pub(super) fn asked_for(arguments: &Value) -> Vec<ApprovalField> {
    let names = arguments.as_object().into_iter().flatten().map(|(name, _)| name);
    names
        .filter(|name| is_secret(name))
        .map(|name| ApprovalField {
            name: name.clone(),
            label: Some(name.replace('_', " ")),
            secret: Some(true),
            required: Some(false),
            extra: Extra::new(),
        })
        .collect()
}

/// The arguments with the given values in those fields that the input has.
pub(super) fn with_inputs(capability: &Capability, arguments: &Value, inputs: &ApprovalInputs) -> Value {
    let schema =
        capability.input_schema.as_ref().and_then(|schema| schema.to_value().ok()).unwrap_or_default();
    let mut arguments = arguments.clone();
    for name in inputs.names() {
        if let (Some(_), Some(value)) = (schema["properties"].get(name), inputs.expose(name)) {
            arguments[name] = Value::from(value);
        }
    }
    arguments
}

/// An outcome without the values that a person gave, should it repeat them.
pub(crate) fn scrub(output: &RawJson, hidden: &ApprovalInputs) -> RawJson {
    if hidden.is_empty() {
        return output.clone();
    }
    match output.to_value() {
        Ok(value) => RawJson::from(scrubbed(value, hidden)),
        Err(_) => output.clone(),
    }
}

fn scrubbed(value: Value, hidden: &ApprovalInputs) -> Value {
    match value {
        Value::String(text) => Value::String(scrub_text(text, hidden)),
        Value::Array(items) => items.into_iter().map(|item| scrubbed(item, hidden)).collect(),
        Value::Object(fields) => fields
            .into_iter()
            .map(|(name, value)| (scrub_text(name, hidden), scrubbed(value, hidden)))
            .collect(),
        Value::Number(number) => match scrub_text(number.to_string(), hidden) {
            text if text == number.to_string() => Value::Number(number),
            text => Value::String(text),
        },
        other => other,
    }
}

pub(crate) fn scrub_text(text: String, hidden: &ApprovalInputs) -> String {
    let mut text = text;
    for value in hidden.names().filter_map(|name| hidden.expose(name)) {
        if value == text {
            return HIDDEN.to_owned();
        }
        if value.len() >= SHORTEST && text.contains(value) {
            text = text.replace(value, HIDDEN);
        }
    }
    text
}

/// The fields of a result that are no secrets, as they came.
pub(super) fn fields(output: &RawJson) -> Vec<(String, RawJson)> {
    let fields: std::collections::BTreeMap<String, RawJson> =
        serde_json::from_str(output.get()).unwrap_or_default();
    fields.into_iter().filter(|(name, _)| !is_secret(name)).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn secret_fields_are_hidden_at_every_level() {
        let arguments = json!({"to": "a", "otp": "1", "login": [{"password": "2", "user": "b"}]});
        let shown = json!({"to": "a", "otp": HIDDEN, "login": [{"password": HIDDEN, "user": "b"}]});
        assert_eq!(hide(&arguments), shown);
        assert_eq!(asked_for(&arguments).len(), 1);
    }

    #[test]
    fn what_a_person_gave_is_found_wherever_it_is_repeated() {
        let mut inputs = ApprovalInputs::default();
        inputs.insert("otp", "483921");
        inputs.insert("pin", "48");
        let output = json!({"note": "used 483921", "483921": [483921, 4839.21], "x": null, "pin": 48}).into();
        let scrubbed = scrub(&output, &inputs);
        assert!(!scrubbed.get().contains("483921"), "{scrubbed}");
        assert!(
            scrubbed.get().contains("4839.21") && scrubbed.get().contains(r#""pin":"[hidden]""#),
            "{scrubbed}"
        );
        assert_eq!(scrub(&output, &ApprovalInputs::default()), output);
    }
}
