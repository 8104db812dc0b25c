//! `/v1/webhooks/endpoints`

use super::none;
use crate::local::answer::{Reply, Result};
use crate::local::clock::Moment;
use crate::local::incoming::{Incoming, Query};
use crate::local::workspace::Workspace;

pub(crate) fn create(workspace: &mut Workspace, request: Incoming, now: Moment) -> Result<Reply> {
    none(request.query)?;
    Reply::created(&workspace.create_endpoint(request.body.decode()?, now)?)
}

pub(crate) fn list(workspace: &mut Workspace, request: Incoming, _: Moment) -> Result<Reply> {
    let mut query = Query::from(request.query);
    let window = query.window()?;
    query.finish()?;
    Reply::ok(&workspace.list_endpoints(&window)?)
}

pub(crate) fn get(workspace: &mut Workspace, request: Incoming, _: Moment) -> Result<Reply> {
    none(request.query)?;
    Reply::ok(&workspace.endpoint(&request.id)?)
}

pub(crate) fn update(workspace: &mut Workspace, request: Incoming, now: Moment) -> Result<Reply> {
    none(request.query)?;
    request.body.no_null_but(&[])?;
    Reply::ok(&workspace.update_endpoint(&request.id, request.body.decode()?, now)?)
}

pub(crate) fn delete(workspace: &mut Workspace, request: Incoming, _: Moment) -> Result<Reply> {
    none(request.query)?;
    workspace.delete_endpoint(&request.id)?;
    Ok(Reply::no_content())
}

pub(crate) fn rotate_secret(workspace: &mut Workspace, request: Incoming, now: Moment) -> Result<Reply> {
    none(request.query)?;
    Reply::ok(&workspace.rotate_secret(&request.id, now)?)
}
