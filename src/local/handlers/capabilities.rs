//! `/v1/capabilities`

use super::none;
use crate::local::answer::{Refusal, Reply, Result};
use crate::local::clock::Moment;
use crate::local::incoming::{Incoming, Query};
use crate::local::workspace::Workspace;

/// All that can be changed of a capability (documented).
const CHANGEABLE: [&str; 3] = ["description", "status", "metadata"];
/// All else that a capability has.
const FIXED: [&str; 9] = [
    "name",
    "version",
    "risk",
    "effect",
    "verify",
    "idempotency",
    "executionMode",
    "inputSchema",
    "outputSchema",
];

pub(crate) fn list(workspace: &mut Workspace, request: Incoming, _: Moment) -> Result<Reply> {
    let mut query = Query::from(request.query);
    let window = query.window()?;
    query.finish()?;
    Reply::ok(&workspace.list_capabilities(&window)?)
}

pub(crate) fn register(workspace: &mut Workspace, request: Incoming, now: Moment) -> Result<Reply> {
    none(request.query)?;
    Reply::created(&workspace.register(request.body.decode()?, now)?)
}

pub(crate) fn get(workspace: &mut Workspace, request: Incoming, _: Moment) -> Result<Reply> {
    let version = version(request.query)?;
    Reply::ok(&workspace.capability(&request.id, version.as_deref())?)
}

pub(crate) fn update(workspace: &mut Workspace, request: Incoming, now: Moment) -> Result<Reply> {
    let version = version(request.query)?;
    request.body.no_null_but(&[])?;
    if let Some(field) = FIXED.iter().find(|field| request.body.value.get(**field).is_some()) {
        let message =
            format!("{field} can't be changed, only {}; register a new version", CHANGEABLE.join(", "));
        return Err(Refusal::invalid(message).param(*field));
    }
    let params = request.body.decode()?;
    Reply::ok(&workspace.update_capability(&request.id, version.as_deref(), params, now)?)
}

fn version(query: Vec<(String, String)>) -> Result<Option<String>> {
    let mut query = Query::from(query);
    let version = query.one("version")?;
    query.finish()?;
    Ok(version)
}
