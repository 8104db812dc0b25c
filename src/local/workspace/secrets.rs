//! What must not be seen: values of secret fields, and what a person gave for one action.

use std::ops::Range;

use serde_json::Value;

use crate::local::agent::sample::{is_amount, is_secret};
use crate::model::approvals::{ApprovalField, ApprovalInputs};
use crate::model::capabilities::Capability;
use crate::model::json::RawJson;
use crate::model::types::Extra;

const HIDDEN: &str = "[hidden]";
/// A value of fewer characters is hidden only where it stands alone, or it would be found in everything.
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
    names.filter(|name| is_secret(name)).map(|name| field(name, true, false)).collect()
}

/// A value for a person to give.
pub(super) fn field(name: &str, secret: bool, required: bool) -> ApprovalField {
    ApprovalField {
        name: name.to_owned(),
        label: Some(name.replace('_', " ")),
        secret: Some(secret),
        required: Some(required),
        extra: Extra::new(),
    }
}

/// The arguments with the given values in those fields that the input has. What a person has been shown stays as it
/// was (documented), and no amount comes in behind the limits.
pub(super) fn with_inputs(capability: &Capability, arguments: &Value, inputs: &ApprovalInputs) -> Value {
    let schema =
        capability.input_schema.as_ref().and_then(|schema| schema.to_value().ok()).unwrap_or_default();
    let mut arguments = arguments.clone();
    for name in inputs.names() {
        let open = is_secret(name) || (arguments.get(name).is_none() && !is_amount(name));
        if let (true, Some(_), Some(value)) = (open, schema["properties"].get(name), inputs.expose(name)) {
            arguments[name] = Value::from(value);
        }
    }
    arguments
}

/// An outcome without the values that a person gave, should it repeat them.
///
/// It goes through the JSON text, so that nothing else in it changes, and no value is too large or too deep.
pub(crate) fn scrub(output: &RawJson, hidden: &ApprovalInputs) -> RawJson {
    if hidden.is_empty() {
        return output.clone();
    }
    let mut rest = output.get();
    let mut shown = String::with_capacity(rest.len());
    while let Some(first) = rest.chars().next() {
        let length = match first {
            '"' => string_length(rest),
            _ if is_bare(first) => rest.find(|next| !is_bare(next)).unwrap_or(rest.len()),
            _ => first.len_utf8(),
        };
        let (token, following) = rest.split_at(length);
        match (first, is_bare(first)) {
            ('"', _) => shown.push_str(&scrub_string(token, hidden)),
            (_, true) => shown.push_str(&scrub_bare(token, hidden)),
            _ => shown.push_str(token),
        }
        rest = following;
    }
    // What takes the place of a string or a number is a string, so this is JSON again.
    shown.parse().unwrap_or_else(|_| RawJson::from(HIDDEN))
}

/// What numbers, `true`, `false` and `null` are made of.
fn is_bare(character: char) -> bool {
    character.is_ascii_alphanumeric() || matches!(character, '-' | '+' | '.')
}

/// The length of the JSON string that the text begins with, quotes included.
fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (index, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            b'"' if !escaped => return index + 1,
            _ => escaped = byte == b'\\' && !escaped,
        }
    }
    text.len()
}

fn scrub_string(token: &str, hidden: &ApprovalInputs) -> String {
    let Ok(text) = serde_json::from_str::<String>(token) else {
        // Half of a surrogate pair, which is JSON and no text: what can't be read is not shown.
        return quoted(HIDDEN);
    };
    let shown = scrub_text(text.clone(), hidden);
    if shown == text { token.to_owned() } else { quoted(&shown) }
}

/// Here a short value is hidden only if it is the whole: 48 is no part of 48.5.
fn scrub_bare(token: &str, hidden: &ApprovalInputs) -> String {
    let repeats = |value: &str| value == token || (!is_short(value) && token.contains(value));
    if values(hidden).any(repeats) { quoted(HIDDEN) } else { token.to_owned() }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// A text without the values that a person gave, also as Rust and JSON write them between quotes.
pub(crate) fn scrub_text(text: String, hidden: &ApprovalInputs) -> String {
    let mut found: Vec<Range<usize>> = Vec::new();
    for value in values(hidden) {
        find(&text, value, &mut found);
        for written in [format!("{value:?}"), quoted(value)] {
            let inner = &written[1..written.len() - 1];
            if inner != value {
                find(&text, inner, &mut found);
            }
        }
    }
    found.sort_unstable_by_key(|range| range.start);
    let mut shown = String::new();
    let mut end = 0;
    for range in found {
        // One that begins inside another only makes that longer.
        if range.start >= end {
            shown.push_str(&text[end..range.start]);
            shown.push_str(HIDDEN);
        }
        end = end.max(range.end);
    }
    shown.push_str(&text[end..]);
    shown
}

/// Where a value stands in a text; a short one only as a word of its own.
fn find(text: &str, value: &str, found: &mut Vec<Range<usize>>) {
    let step = value.chars().next().map_or(1, char::len_utf8);
    let mut from = 0;
    while let Some(at) = text.get(from..).and_then(|rest| rest.find(value)) {
        let range = from + at..from + at + value.len();
        from = range.start + step;
        let before = text[..range.start].chars().next_back();
        let after = text[range.end..].chars().next();
        let stands_alone =
            !before.is_some_and(char::is_alphanumeric) && !after.is_some_and(char::is_alphanumeric);
        if stands_alone || !is_short(value) {
            found.push(range);
        }
    }
}

fn is_short(value: &str) -> bool {
    value.chars().count() < SHORTEST
}

/// What a person gave; nothing at all can't be hidden.
fn values(hidden: &ApprovalInputs) -> impl Iterator<Item = &str> {
    hidden.names().filter_map(|name| hidden.expose(name)).filter(|value| !value.is_empty())
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

    fn given(values: &[&str]) -> ApprovalInputs {
        let mut inputs = ApprovalInputs::default();
        for (index, value) in values.iter().enumerate() {
            inputs.insert(index.to_string(), *value);
        }
        inputs
    }

    #[test]
    fn an_outcome_is_scrubbed_whatever_its_json_and_otherwise_stays_as_it_came() {
        let inputs = given(&["123", "483921", "true"]);
        let deep = |inner: &str| format!("{}{inner}{}", "[".repeat(200), "]".repeat(200));
        let (deep_one, deep_shown) = (deep(r#""483921""#), deep(r#""[hidden]""#));
        let cases = [
            (
                r#"{"note":"paid with 123 and 483921","n":1e999}"#,
                r#"{"note":"paid with [hidden] and [hidden]","n":1e999}"#,
            ),
            (r#"{ "b": 1.50, "a": 1234, "c": 123 }"#, r#"{ "b": 1.50, "a": 1234, "c": "[hidden]" }"#),
            (r#"[48392100000000000000000000, -483921e9, 123.0]"#, r#"["[hidden]", "[hidden]", 123.0]"#),
            (r#"["\u0031\u00323", "a\"b\\", "\"123\\"]"#, r#"["[hidden]", "a\"b\\", "\"[hidden]\\"]"#),
            (r#"["\ud800 483921", "é"]"#, r#"["[hidden]", "é"]"#),
            (r#"{"483921":true,"x":false}"#, r#"{"[hidden]":"[hidden]","x":false}"#),
            (deep_one.as_str(), deep_shown.as_str()),
        ];
        for (output, shown) in cases {
            assert_eq!(scrub(&output.parse().unwrap(), &inputs).get(), shown);
        }
    }

    #[test]
    fn a_short_value_is_hidden_as_a_word_and_a_longer_one_everywhere() {
        let scrub = |text: &str, values: &[&str]| scrub_text(text.to_owned(), &given(values));
        assert_eq!(
            scrub("123: (123), 1234, a123, 123é, pin_123", &["123"]),
            "[hidden]: ([hidden]), 1234, a123, 123é, pin_[hidden]"
        );
        assert_eq!(scrub("a48392199", &["483921"]), "a[hidden]99");
        // Values that overlap, in themselves or each other, leave nothing of any.
        assert_eq!(
            scrub("12345678 abcdefghi", &["1234", "12345678", "abcdef", "defghi"]),
            "[hidden] [hidden]"
        );
        assert_eq!(scrub("aaaaaa [hidden]", &["aaaa", "hidden"]), "[hidden] [[hidden]]");
        assert_eq!(scrub(r#"invalid string "a\"b\\c\n""#, &["a\"b\\c\n"]), r#"invalid string "[hidden]""#);
        assert_eq!(scrub("nothing", &[""]), "nothing");
    }
}
