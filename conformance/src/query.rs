//! Query strings: taken apart, and given the types that their schemas ask for.

use percent_encoding::percent_decode_str;
use serde_json::{Number, Value};

use crate::findings::Findings;
use crate::operation::Parameter;
use crate::schema::Kind;

/// Checks a query string against the parameters that are declared for it.
pub(crate) fn check(declared: &[&Parameter], query: &str, findings: &mut Findings<'_>) {
    let pairs = pairs(query, findings);
    for (name, _) in &pairs {
        if !declared.iter().any(|parameter| parameter.name == *name) {
            findings.add(&format!("query {name}"), "the parameter is not declared");
        }
    }
    for parameter in declared {
        let place = format!("query {}", parameter.name);
        let values: Vec<&str> = pairs
            .iter()
            .filter(|(name, _)| *name == parameter.name)
            .map(|(_, value)| value.as_str())
            .collect();
        match (values.as_slice(), &parameter.kind) {
            ([], _) => {
                if parameter.required {
                    findings.add(&place, "the parameter is required");
                }
            }
            (many, Kind::Array(item)) => {
                let items = many.iter().map(|text| coerce(text, item)).collect();
                findings.extend(&place, parameter.check.reasons(&Value::Array(items)));
            }
            ([one], kind) => findings.extend(&place, parameter.check.reasons(&coerce(one, kind))),
            _ => findings.add(&place, "the parameter is given more than once"),
        }
    }
}

/// Reads a text as the kind its schema asks for. What cannot be read stays a text, which the schema
/// then refuses with its own words.
fn coerce(text: &str, kind: &Kind) -> Value {
    let read = match kind {
        Kind::Integer | Kind::Number => text.parse::<Number>().ok().map(Value::Number),
        Kind::Boolean => text.parse::<bool>().ok().map(Value::Bool),
        Kind::Text | Kind::Array(_) => None,
    };
    read.unwrap_or_else(|| Value::String(text.to_owned()))
}

/// Percent-decodes one component.
pub(crate) fn decode(text: &str) -> Option<String> {
    let decoded = percent_decode_str(text).decode_utf8().ok()?;
    Some(decoded.into_owned())
}

fn pairs(query: &str, findings: &mut Findings<'_>) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    for part in query.split('&').filter(|part| !part.is_empty()) {
        let (name, value) = part.split_once('=').unwrap_or((part, ""));
        // A form writes a blank as a plus sign, and a plus sign percent-encoded.
        match (decode(&name.replace('+', " ")), decode(&value.replace('+', " "))) {
            (Some(name), Some(value)) => pairs.push((name, value)),
            _ => findings.add("query", "a component is not UTF-8"),
        }
    }
    pairs
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{coerce, pairs};
    use crate::findings::Findings;
    use crate::schema::Kind;

    #[test]
    fn components_are_decoded_as_a_form_writes_them() {
        let mut findings = Findings::new("list");
        let found = pairs("a=b+c&&d%2B=%2b&e&f=g=h", &mut findings);
        let due = [("a", "b c"), ("d+", "+"), ("e", ""), ("f", "g=h")];
        assert_eq!(found, due.map(|(name, value)| (name.to_owned(), value.to_owned())));
        assert_eq!(findings.into_result(), Ok(()));
    }

    #[test]
    fn a_text_is_read_as_its_schema_asks_or_stays_a_text() {
        for (text, kind, due) in [
            ("20", Kind::Integer, json!(20)),
            ("1e400", Kind::Text, json!("1e400")),
            ("0.5", Kind::Number, json!(0.5)),
            (" 1", Kind::Integer, json!(" 1")),
            ("true", Kind::Boolean, json!(true)),
            ("yes", Kind::Boolean, json!("yes")),
            ("1", Kind::Text, json!("1")),
        ] {
            assert_eq!(coerce(text, &kind), due, "{text:?}");
        }
    }
}
