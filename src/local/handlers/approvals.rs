//! `/v1/approvals`

use super::none;
use crate::local::answer::{Refusal, Reply, Result};
use crate::local::clock::Moment;
use crate::local::incoming::{Incoming, Query};
use crate::local::workspace::{ApprovalFilter, Decision, Workspace};
use crate::model::approvals::{ApprovalApproveParams, ApprovalRejectParams, ApprovalStatus};

pub(crate) fn list(workspace: &mut Workspace, request: Incoming, _: Moment) -> Result<Reply> {
    let mut query = Query::from(request.query);
    let window = query.window()?;
    let statuses = query.many("status").into_iter().map(status).collect::<Result<_>>()?;
    let filter = ApprovalFilter { statuses, mandate: query.id("mandate")?.map(Into::into) };
    query.finish()?;
    match &filter.mandate {
        Some(mandate) => workspace.polled(mandate.as_str()),
        None => workspace.polled_all(),
    }
    Reply::ok(&workspace.list_approvals(&window, &filter)?)
}

pub(crate) fn get(workspace: &mut Workspace, request: Incoming, _: Moment) -> Result<Reply> {
    none(request.query)?;
    Reply::ok(&workspace.approval(&request.id)?)
}

pub(crate) fn approve(workspace: &mut Workspace, request: Incoming, now: Moment) -> Result<Reply> {
    none(request.query)?;
    let params: ApprovalApproveParams = request.body.decode().map_err(|refusal| {
        // Not in the words of the decoder, which quote what does not fit: it may be a secret.
        refusal.message("the body does not fit: the reason and each input have to be texts")
    })?;
    Reply::ok(&workspace.decide(&request.id, Decision::Approve(params.inputs), params.reason, now)?)
}

pub(crate) fn reject(workspace: &mut Workspace, request: Incoming, now: Moment) -> Result<Reply> {
    none(request.query)?;
    // Not passed over in silence, as other fields are: whoever sends them means them to be used.
    if request.body.value.get("inputs").is_some() {
        return Err(Refusal::invalid("a rejection takes no inputs").param("inputs"));
    }
    let params: ApprovalRejectParams = request.body.decode()?;
    Reply::ok(&workspace.decide(&request.id, Decision::Reject, params.reason, now)?)
}

fn status(text: String) -> Result<ApprovalStatus> {
    match ApprovalStatus::from(text) {
        ApprovalStatus::Unknown(text) => {
            Err(Refusal::bad_request(format!("{text:?} is no status of an approval")).param("status"))
        }
        known => Ok(known),
    }
}
