//! Approvals: what a person is asked, and what becomes of the answer.

use std::time::Duration;

use super::Workspace;
use super::secrets;
use super::store::{Serial, Window};
use crate::local::agent::sample::is_secret;
use crate::local::agent::text::{consequence, money};
use crate::local::answer::{Refusal, Result};
use crate::local::clock::Moment;
use crate::model::approvals::{Approval, ApprovalAction, ApprovalInputs, ApprovalStatus};
use crate::model::capabilities::{Capability, CapabilityEffect};
use crate::model::errors::ErrorCode;
use crate::model::events::{ApprovalEventData, EventData};
use crate::model::json::RawJson;
use crate::model::page::Page;
use crate::model::types::{ApprovalId, Extra, MandateId, Money};

/// How long a person has to decide: the most there is (documented).
pub(super) const TIME_TO_DECIDE: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The action that asks for information rather than permission (documented).
pub(super) const INPUT: &str = "input.provide";

/// An approval, and the mandate that waits for it.
#[derive(Debug)]
pub(crate) struct ApprovalRecord {
    pub(super) approval: Approval,
    mandate: Serial,
}

/// What a person decides.
#[derive(Debug)]
pub(crate) enum Decision {
    Approve(ApprovalInputs),
    Reject,
}

/// Which approvals a list is of.
#[derive(Debug)]
pub(crate) struct ApprovalFilter {
    /// In any of these; empty means any at all.
    pub(crate) statuses: Vec<ApprovalStatus>,
    pub(crate) mandate: Option<MandateId>,
}

impl Workspace {
    /// Puts something before a person.
    pub(super) fn request_approval(
        &mut self,
        mandate: Serial,
        question: String,
        action: ApprovalAction,
        expires: Moment,
        at: Moment,
    ) -> Option<Serial> {
        let id = self.new_id("apr_");
        let created_at = Some(self.epoch.timestamp(at));
        let approval = Approval {
            id: ApprovalId::from(id.as_str()),
            mandate: self.mandates.get(mandate)?.mandate.id.clone(),
            status: ApprovalStatus::Pending,
            question,
            action,
            expires_at: Some(self.epoch.timestamp(expires)),
            reason: None,
            resolved_at: None,
            created_at,
            updated_at: created_at,
            extra: Extra::new(),
        };
        Some(self.approvals.insert(&id, ApprovalRecord { approval, mandate }))
    }

    /// Tells that a person is asked.
    pub(super) fn announce(&mut self, approval: Serial, at: Moment) {
        let Some(record) = self.approvals.get(approval) else { return };
        let (mandate, data) = (record.mandate, event_data(&record.approval));
        self.emit(mandate, EventData::ApprovalRequested(data), at);
    }

    /// Settles a pending approval, one way or another.
    pub(super) fn resolve(
        &mut self,
        approval: Serial,
        status: ApprovalStatus,
        reason: Option<String>,
        at: Moment,
    ) {
        let resolved_at = Some(self.epoch.timestamp(at));
        let Some(record) = self.approvals.get_mut(approval) else { return };
        if record.approval.status != ApprovalStatus::Pending {
            return;
        }
        record.approval.status = status;
        record.approval.reason = reason;
        record.approval.resolved_at = resolved_at;
        record.approval.updated_at = resolved_at;
        let (mandate, data) = (record.mandate, event_data(&record.approval));
        self.emit(mandate, EventData::ApprovalResolved(data), at);
    }

    pub(crate) fn approval(&self, id: &str) -> Result<Approval> {
        self.approvals.find(id).map(|record| record.approval.clone()).ok_or_else(|| unknown(id))
    }

    pub(crate) fn list_approvals(&self, window: &Window, filter: &ApprovalFilter) -> Result<Page<Approval>> {
        let keep = |record: &ApprovalRecord| {
            let approval = &record.approval;
            (filter.statuses.is_empty() || filter.statuses.contains(&approval.status))
                && filter.mandate.as_ref().is_none_or(|mandate| *mandate == approval.mandate)
        };
        self.approvals.page(window, keep, |record| record.approval.clone())
    }

    /// The first one after another that waits for a decision.
    pub(crate) fn next_pending(&self, after: Serial) -> Option<(Serial, Approval)> {
        let mut pending = self.approvals.after(after).filter(|(_, record)| record.approval.is_pending());
        pending.next().map(|(serial, record)| (serial, record.approval.clone()))
    }

    /// All that wait for a decision, oldest first.
    pub(crate) fn pending_approvals(&self) -> Vec<Approval> {
        let all = self.approvals.after(0).map(|(_, record)| &record.approval);
        all.filter(|approval| approval.is_pending()).cloned().collect()
    }

    /// The first decision wins, and the same one again gives its result (documented). One after its time runs
    /// nothing: by then the approval has expired.
    pub(crate) fn decide(
        &mut self,
        id: &str,
        decision: Decision,
        reason: Option<String>,
        now: Moment,
    ) -> Result<Approval> {
        let serial = self.approvals.serial(id).ok_or_else(|| unknown(id))?;
        let record = self.approvals.get(serial).ok_or_else(|| unknown(id))?;
        let refuse = |code, why: &str| Err(Refusal::conflict(code, format!("the approval {why}")));
        let (status, inputs) = match decision {
            Decision::Approve(inputs) => (ApprovalStatus::Approved, inputs),
            Decision::Reject => (ApprovalStatus::Rejected, ApprovalInputs::default()),
        };
        match &record.approval.status {
            ApprovalStatus::Pending => {}
            decided if *decided == status => return Ok(record.approval.clone()),
            ApprovalStatus::Expired => return refuse(ErrorCode::ApprovalExpired, "has expired"),
            ApprovalStatus::Canceled => {
                return refuse(ErrorCode::MandateEnded, "was canceled with its mandate");
            }
            decided => {
                return refuse(ErrorCode::AlreadyResolved, &format!("was decided the other way: {decided}"));
            }
        }
        if status == ApprovalStatus::Approved {
            complete(&record.approval, &inputs)?;
            unchanged(&record.approval, &inputs)?;
        }
        let mandate = record.mandate;
        self.resolve(serial, status, reason, now);
        let decided = self.approval(id)?;
        self.decided(mandate, inputs, now);
        Ok(decided)
    }
}

/// What is asked about an action.
pub(super) fn permission(capability: &str, price: Option<&Money>) -> String {
    match price {
        Some(price) => format!("May the agent spend {} with {capability}?", money(price)),
        None => format!("May the agent run {capability}?"),
    }
}

/// A question as a person sees it: an action that only asks for input (documented).
pub(super) fn request(question: &str, fields: &[String]) -> ApprovalAction {
    ApprovalAction {
        capability: INPUT.to_owned(),
        consequence: question.to_owned(),
        arguments: RawJson::from(serde_json::json!({})),
        fields: fields.iter().map(|name| secrets::field(name, is_secret(name), true)).collect(),
        extra: Extra::new(),
    }
}

/// Whether all is given that has to be (assumed).
fn complete(approval: &Approval, inputs: &ApprovalInputs) -> Result<()> {
    let required = approval.action.fields.iter().filter(|field| field.required == Some(true));
    match required.map(|field| &field.name).find(|name| inputs.expose(name).is_none()) {
        None => Ok(()),
        Some(name) => {
            Err(Refusal::invalid(format!("{name:?} is asked for and not given"))
                .param(format!("inputs.{name}")))
        }
    }
}

/// An approval allows exactly the action that was shown (documented), so no input takes the place of a value that
/// was (the refusal is assumed).
fn unchanged(approval: &Approval, inputs: &ApprovalInputs) -> Result<()> {
    let shown = approval.action.arguments.to_value().unwrap_or_default();
    match inputs.names().find(|name| shown.get(name).is_some() && !is_secret(name)) {
        None => Ok(()),
        Some(name) => Err(Refusal::invalid(format!("{name:?} was shown, and is approved as it was"))
            .param(format!("inputs.{name}"))),
    }
}

/// An action as a person sees it.
pub(super) fn shown(
    capability: &Capability,
    arguments: &serde_json::Value,
    price: Option<&Money>,
) -> ApprovalAction {
    let shown = secrets::hide(arguments);
    let irreversible = capability.effect == CapabilityEffect::Irreversible;
    ApprovalAction {
        capability: capability.name.clone(),
        consequence: consequence(&capability.name, &capability.description, &shown, price, irreversible),
        arguments: RawJson::from(shown),
        fields: secrets::asked_for(arguments),
        extra: Extra::new(),
    }
}

fn event_data(approval: &Approval) -> Box<ApprovalEventData> {
    Box::new(ApprovalEventData { approval: approval.clone(), extra: Extra::new() })
}

fn unknown(id: &str) -> Refusal {
    Refusal::not_found("approval", id)
}
