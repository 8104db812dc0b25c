//! `/v1/agents`

use crate::local::answer::{Reply, Result};
use crate::local::clock::Moment;
use crate::local::incoming::{Incoming, Query};
use crate::local::workspace::Workspace;

pub(crate) fn create(workspace: &mut Workspace, request: Incoming, now: Moment) -> Result<Reply> {
    Query::from(request.query).finish()?;
    Reply::created(&workspace.create_agent(request.body.decode()?, now)?)
}

pub(crate) fn get(workspace: &mut Workspace, request: Incoming, now: Moment) -> Result<Reply> {
    Query::from(request.query).finish()?;
    Reply::ok(&workspace.agent(&request.id, now)?)
}

pub(crate) fn list(workspace: &mut Workspace, request: Incoming, now: Moment) -> Result<Reply> {
    let mut query = Query::from(request.query);
    let window = query.window()?;
    query.finish()?;
    Reply::ok(&workspace.list_agents(&window, now)?)
}

pub(crate) fn update(workspace: &mut Workspace, request: Incoming, now: Moment) -> Result<Reply> {
    Query::from(request.query).finish()?;
    request.body.no_null_but(&["instructions"])?;
    Reply::ok(&workspace.update_agent(&request.id, request.body.decode()?, now)?)
}
