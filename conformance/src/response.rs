//! Checks of responses.

use std::collections::BTreeSet;

use http::{HeaderMap, StatusCode};
use serde_json::Value;

use crate::findings::Findings;
use crate::operation::{Content, Operation, Response};
use crate::{frames, headers};

/// Checks everything about a response. `known` are the codes that have to be listed where they
/// appear.
pub(crate) fn check(
    operation: &Operation,
    known: &BTreeSet<String>,
    status: StatusCode,
    headers: &HeaderMap,
    body: &[u8],
    findings: &mut Findings<'_>,
) {
    let Some(response) = declared(operation, status) else {
        findings.add("status", format!("{} is not declared", status.as_u16()));
        return;
    };
    let place = format!("{} body", status.as_u16());
    headers::check(&response.headers, headers, findings);
    let Some(content) = &response.content else {
        if !body.is_empty() {
            findings.add(&place, "no body is declared");
        }
        return;
    };
    headers::check_content_type(content.media_type(), headers, findings);
    match content {
        Content::Json(check) => {
            if let Some(value) = findings.parse(&place, body) {
                findings.extend(&place, check.reasons(&value));
                check_code(operation, known, &place, &value, findings);
            }
        }
        Content::Events(item) => frames::check(item, body, findings),
    }
}

/// The response for a status. `default` is for errors: a success that is not declared is none.
fn declared(operation: &Operation, status: StatusCode) -> Option<&Response> {
    let is_error = status.is_client_error() || status.is_server_error();
    operation
        .responses
        .get(status.as_str())
        .or_else(|| operation.responses.get("default").filter(|_| is_error))
}

fn check_code(
    operation: &Operation,
    known: &BTreeSet<String>,
    place: &str,
    body: &Value,
    findings: &mut Findings<'_>,
) {
    if let Some(code) = body.pointer("/error/code").and_then(Value::as_str) {
        // Only a code of the document is quoted; anything else could be any text.
        if known.contains(code) && !operation.codes.iter().any(|listed| listed == code) {
            let reason = format!("`{code}` is not among the codes of the operation");
            findings.add(&format!("{place} at /error/code"), reason);
        }
    }
}
