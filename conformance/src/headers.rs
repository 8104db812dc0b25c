//! Headers: the declared ones, and the content type.

use http::{HeaderMap, header};
use serde_json::Value;

use crate::findings::Findings;
use crate::operation::Parameter;

/// Checks the headers that are declared; others are nobody's concern.
pub(crate) fn check<'p>(
    declared: impl IntoIterator<Item = &'p Parameter>,
    headers: &HeaderMap,
    findings: &mut Findings<'_>,
) {
    for parameter in declared {
        let place = format!("header {}", parameter.name);
        match values(headers, &parameter.name).as_slice() {
            [] => {
                if parameter.required {
                    findings.add(&place, "the header is required");
                }
            }
            [Some(value)] => {
                let value = Value::String((*value).to_owned());
                findings.extend(&place, parameter.check.reasons(&value));
            }
            [None] => findings.add(&place, "the value is not UTF-8"),
            _ => findings.add(&place, "the header is given more than once"),
        }
    }
}

/// Checks that the content type is the one that is due.
pub(crate) fn check_content_type(due: &str, headers: &HeaderMap, findings: &mut Findings<'_>) {
    let fits = match values(headers, header::CONTENT_TYPE.as_str()).as_slice() {
        [Some(value)] => essence(value).eq_ignore_ascii_case(due),
        _ => false,
    };
    if !fits {
        findings.add("header content-type", format!("{due} is due, once"));
    }
}

/// Whether an `Accept` header names the media type itself.
pub(crate) fn accepts(media_type: &str, headers: &HeaderMap) -> bool {
    values(headers, header::ACCEPT.as_str())
        .into_iter()
        .flatten()
        .flat_map(|value| value.split(','))
        .any(|range| essence(range).eq_ignore_ascii_case(media_type))
}

/// The values of a header; none for one that is not UTF-8.
pub(crate) fn values<'h>(headers: &'h HeaderMap, name: &str) -> Vec<Option<&'h str>> {
    headers.get_all(name).iter().map(|value| std::str::from_utf8(value.as_bytes()).ok()).collect()
}

fn essence(media_type: &str) -> &str {
    media_type.split(';').next().unwrap_or_default().trim()
}
