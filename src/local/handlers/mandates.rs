//! `/v1/mandates`

use crate::local::answer::{Refusal, Reply, Result};
use crate::local::clock::Moment;
use crate::local::incoming::{Incoming, Query};
use crate::local::workspace::{MandateFilter, Workspace};
use crate::model::errors::ErrorCode;
use crate::model::mandates::{MandateCommandParams, MandateStatus};

pub(crate) fn create(workspace: &mut Workspace, request: Incoming, now: Moment) -> Result<Reply> {
    Query::from(request.query).finish()?;
    // Limits of the wrong shape, such as a negative count, are limits that are not valid.
    let params = request.body.decode().map_err(|refusal| match refusal.named() {
        Some(path) if path.starts_with("authority") => refusal.code(ErrorCode::InvalidAuthority),
        _ => refusal,
    })?;
    Reply::created(&workspace.create_mandate(params, now)?)
}

pub(crate) fn get(workspace: &mut Workspace, request: Incoming, _: Moment) -> Result<Reply> {
    Query::from(request.query).finish()?;
    Reply::ok(&workspace.mandate(&request.id)?)
}

pub(crate) fn list(workspace: &mut Workspace, request: Incoming, _: Moment) -> Result<Reply> {
    let mut query = Query::from(request.query);
    let window = query.window()?;
    let statuses = query.many("status").into_iter().map(status).collect::<Result<_>>()?;
    let filter = MandateFilter { statuses, agent: query.one("agent")?.map(Into::into) };
    query.finish()?;
    Reply::ok(&workspace.list_mandates(&window, &filter)?)
}

pub(crate) fn pause(workspace: &mut Workspace, request: Incoming, _: Moment) -> Result<Reply> {
    let reason = reason(&request)?;
    Reply::ok(&workspace.pause(&request.id, reason)?)
}

pub(crate) fn resume(workspace: &mut Workspace, request: Incoming, now: Moment) -> Result<Reply> {
    reason(&request)?;
    Reply::ok(&workspace.resume(&request.id, now)?)
}

pub(crate) fn cancel(workspace: &mut Workspace, request: Incoming, now: Moment) -> Result<Reply> {
    let reason = reason(&request)?;
    Reply::ok(&workspace.cancel(&request.id, reason, now)?)
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
