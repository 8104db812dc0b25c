//! `/v1/mandates`

use serde::de::DeserializeOwned;

use crate::local::answer::{Refusal, Reply, Result};
use crate::local::clock::Moment;
use crate::local::incoming::{Incoming, Query};
use crate::local::workspace::{MandateFilter, Workspace};
use crate::model::errors::ErrorCode;
use crate::model::mandates::{MandateCommandParams, MandateStatus};

pub(crate) fn create(workspace: &mut Workspace, request: Incoming, now: Moment) -> Result<Reply> {
    Query::from(request.query.clone()).finish()?;
    Reply::created(&workspace.create_mandate(with_authority(&request)?, now)?)
}

pub(crate) fn amend(workspace: &mut Workspace, request: Incoming, now: Moment) -> Result<Reply> {
    Query::from(request.query.clone()).finish()?;
    Reply::created(&workspace.amend(&request.id, with_authority(&request)?, now)?)
}

pub(crate) fn get(workspace: &mut Workspace, request: Incoming, _: Moment) -> Result<Reply> {
    Query::from(request.query).finish()?;
    workspace.polled(&request.id);
    Reply::ok(&workspace.mandate(&request.id)?)
}

pub(crate) fn list(workspace: &mut Workspace, request: Incoming, _: Moment) -> Result<Reply> {
    let mut query = Query::from(request.query);
    let window = query.window()?;
    let statuses = query.many("status").into_iter().map(status).collect::<Result<_>>()?;
    let filter = MandateFilter { statuses, agent: query.id("agent")?.map(Into::into) };
    query.finish()?;
    workspace.polled_all();
    Reply::ok(&workspace.list_mandates(&window, &filter)?)
}

pub(crate) fn pause(workspace: &mut Workspace, request: Incoming, now: Moment) -> Result<Reply> {
    let reason = reason(&request)?;
    Reply::ok(&workspace.pause(&request.id, reason, now)?)
}

pub(crate) fn resume(workspace: &mut Workspace, request: Incoming, now: Moment) -> Result<Reply> {
    reason(&request)?;
    Reply::ok(&workspace.resume(&request.id, now)?)
}

pub(crate) fn cancel(workspace: &mut Workspace, request: Incoming, now: Moment) -> Result<Reply> {
    let reason = reason(&request)?;
    Reply::ok(&workspace.cancel(&request.id, reason, now)?)
}

/// Limits of the wrong shape, such as a negative count, are limits that are not valid.
fn with_authority<T: DeserializeOwned>(request: &Incoming) -> Result<T> {
    request.body.decode().map_err(|refusal| match refusal.named() {
        Some(path) if path.starts_with("authority") => refusal.code(ErrorCode::InvalidAuthority),
        _ => refusal,
    })
}

fn reason(request: &Incoming) -> Result<Option<String>> {
    Query::from(request.query.clone()).finish()?;
    Ok(request.body.decode::<MandateCommandParams>()?.reason)
}

fn status(text: String) -> Result<MandateStatus> {
    match MandateStatus::from(text) {
        MandateStatus::Unknown(text) => {
            Err(Refusal::bad_request(format!("{text:?} is no status of a mandate")).param("status"))
        }
        known => Ok(known),
    }
}
