//! What a mandate leaves behind: `/v1/mandates/{id}/…`, `/v1/artifacts` and `/v1/events`

use super::none;
use crate::local::answer::{Refusal, Reply, Result};
use crate::local::clock::Moment;
use crate::local::incoming::{Incoming, Query};
use crate::local::workspace::Workspace;

/// Reads one part of a mandate's record.
macro_rules! lists {
    ($($handler:ident: $list:ident;)*) => {
        $(pub(crate) fn $handler(workspace: &mut Workspace, request: Incoming, _: Moment) -> Result<Reply> {
            let mut query = Query::from(request.query);
            let window = query.window()?;
            query.finish()?;
            Reply::ok(&workspace.$list(&request.id, &window)?)
        })*
    };
}
lists! {
    amendments: list_amendments;
    facts: list_facts;
    evidence: list_evidence;
    issues: list_issues;
    assertions: list_assertions;
    information_needs: list_information_needs;
    commitments: list_commitments;
    artifacts: list_artifacts;
}

pub(crate) fn download(workspace: &mut Workspace, request: Incoming, now: Moment) -> Result<Reply> {
    none(request.query)?;
    Reply::ok(&workspace.download(&request.id, now)?)
}

pub(crate) fn mandate_events(workspace: &mut Workspace, request: Incoming, _: Moment) -> Result<Reply> {
    let mut query = Query::from(request.query);
    let window = query.window()?;
    let after = match query.one("afterSequence")?.map(|text| text.parse()) {
        None => 0,
        Some(Ok(after)) => after,
        Some(Err(_)) => return Err(Refusal::bad_request("it has to be a number").param("afterSequence")),
    };
    query.finish()?;
    Reply::ok(&workspace.list_mandate_events(&request.id, after, &window)?)
}

pub(crate) fn events(workspace: &mut Workspace, request: Incoming, _: Moment) -> Result<Reply> {
    let mut query = Query::from(request.query);
    let window = query.window()?;
    query.finish()?;
    Reply::ok(&workspace.list_events(&window)?)
}
