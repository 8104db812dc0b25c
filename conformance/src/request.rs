//! Checks of requests.

use http::{HeaderMap, Uri, header};
use serde_json::Value;

use crate::findings::Findings;
use crate::operation::{Content, EVENTS, Operation, Parameter, Place};
use crate::{headers, query};

/// Checks everything about a request but that its operation exists.
pub(crate) fn check(
    operation: &Operation,
    uri: &Uri,
    headers: &HeaderMap,
    body: &[u8],
    findings: &mut Findings<'_>,
) {
    check_path(operation, uri.path(), findings);
    let declared: Vec<&Parameter> = operation.parameters(Place::Query).collect();
    query::check(&declared, uri.query().unwrap_or_default(), findings);
    headers::check(operation.parameters(Place::Header), headers, findings);
    if operation.secured {
        check_authorization(headers, findings);
    }
    // OpenAPI leaves `Accept` to the media types of the responses.
    if is_stream(operation) && !headers::accepts(EVENTS, headers) {
        findings.add("header accept", format!("{EVENTS} is due"));
    }
    check_body(operation, headers, body, findings);
}

fn check_path(operation: &Operation, path: &str, findings: &mut Findings<'_>) {
    for (name, raw) in operation.path.matches(path).unwrap_or_default() {
        let place = format!("path {name}");
        let declared = operation.parameters(Place::Path).find(|parameter| parameter.name == name);
        match (declared, query::decode(raw)) {
            (Some(parameter), Some(text)) => {
                findings.extend(&place, parameter.check.reasons(&Value::String(text)));
            }
            (None, _) => findings.add(&place, "the parameter is not declared"),
            (_, None) => findings.add(&place, "the segment is not UTF-8"),
        }
    }
}

fn check_authorization(headers: &HeaderMap, findings: &mut Findings<'_>) {
    let fits = match headers::values(headers, header::AUTHORIZATION.as_str()).as_slice() {
        [Some(value)] => value
            .strip_prefix("Bearer ")
            .is_some_and(|key| !key.is_empty() && key.bytes().all(|byte| byte.is_ascii_graphic())),
        _ => false,
    };
    if !fits {
        findings.add("header authorization", "one bearer token is due");
    }
}

fn is_stream(operation: &Operation) -> bool {
    let mut contents = operation.responses.values().filter_map(|response| response.content.as_ref());
    contents.any(|content| matches!(content, Content::Events(_)))
}

fn check_body(operation: &Operation, headers: &HeaderMap, body: &[u8], findings: &mut Findings<'_>) {
    let Some(declared) = &operation.body else {
        if !body.is_empty() {
            findings.add("body", "no body is declared");
        }
        return;
    };
    if body.is_empty() {
        if declared.required {
            findings.add("body", "a body is required");
        }
        return;
    }
    headers::check_content_type(declared.content.media_type(), headers, findings);
    match &declared.content {
        Content::Json(check) => {
            if let Some(value) = findings.parse("body", body) {
                findings.extend("body", check.reasons(&value));
            }
        }
        Content::Events(_) => findings.add("body", "a request cannot be an event stream"),
    }
}
