//! What the page gets to see, in JSON.

use jiff::Timestamp;
use serde::Serialize;
use shadway::approvals::{Approval, ApprovalField, ApprovalStatus};
use shadway::events::{Event, EventData};
use shadway::mandates::{Mandate, MandateStatus};
use shadway::types::{ApprovalId, MandateId};

use super::limits::{Limit, Used};

/// How many of a mandate's events are shown: the latest.
const SHOWN_EVENTS: usize = 30;

/// An approval in the list.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Row {
    id: ApprovalId,
    pub(crate) mandate: MandateId,
    objective: Option<String>,
    status: ApprovalStatus,
    question: String,
    capability: String,
    created_at: Option<Timestamp>,
    expires_at: Option<Timestamp>,
    resolved_at: Option<Timestamp>,
}

impl Row {
    pub(crate) fn new(approval: &Approval, objective: Option<String>) -> Self {
        Self {
            id: approval.id.clone(),
            mandate: approval.mandate.clone(),
            objective,
            status: approval.status.clone(),
            question: approval.question.clone(),
            capability: approval.action.capability.clone(),
            created_at: approval.created_at,
            expires_at: approval.expires_at,
            resolved_at: approval.resolved_at,
        }
    }
}

/// An approval as it is decided on: all of it, in no other words.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Whole {
    #[serde(flatten)]
    row: Row,
    consequence: String,
    /// JSON as text: a browser that decoded it would round numbers.
    arguments: String,
    /// What else the service says of the action, JSON as text, if it says more than this version knows.
    more: Option<String>,
    fields: Vec<Field>,
    is_input_request: bool,
    reason: Option<String>,
    may_decide: bool,
}

#[derive(Debug, Serialize)]
struct Field {
    name: String,
    label: String,
    secret: bool,
    required: bool,
}

impl Whole {
    pub(crate) fn new(approval: Approval, may_decide: bool) -> Self {
        let row = Row::new(&approval, None);
        let action = approval.action;
        let is_input_request = action.is_input_request();
        let mut fields: Vec<Field> = action.fields.into_iter().map(Field::from).collect();
        if is_input_request && fields.is_empty() {
            // A question without fields has one answer; the name is assumed.
            fields.push(Field {
                name: "answer".into(),
                label: "Answer".into(),
                secret: true,
                required: true,
            });
        }
        Self {
            row,
            consequence: action.consequence,
            arguments: action.arguments.get().to_owned(),
            more: (!action.extra.is_empty())
                .then(|| serde_json::to_string(&action.extra).unwrap_or_default()),
            fields,
            is_input_request,
            reason: approval.reason,
            may_decide,
        }
    }
}

impl From<ApprovalField> for Field {
    fn from(field: ApprovalField) -> Self {
        let secret = field.is_secret();
        let label = field.label.unwrap_or_else(|| field.name.clone());
        Self { name: field.name, label, secret, required: field.required.unwrap_or(false) }
    }
}

/// What an approval is about: the mandate, its limits, and what it did.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Context {
    id: MandateId,
    objective: String,
    guidance: Vec<String>,
    status: MandateStatus,
    summary: String,
    waiting_on: Option<String>,
    expires_at: Option<Timestamp>,
    authority_version: u64,
    limits: Vec<Limit>,
    /// The latest first.
    events: Vec<Happened>,
}

#[derive(Debug, Serialize)]
struct Happened {
    at: Option<Timestamp>,
    kind: String,
    text: String,
}

impl Context {
    pub(crate) fn new(mandate: Mandate, events: &[Event], used: &Used) -> Self {
        Self {
            limits: Limit::all(&mandate.authority, used),
            events: events.iter().rev().take(SHOWN_EVENTS).map(Happened::from).collect(),
            id: mandate.id,
            objective: mandate.objective,
            guidance: mandate.guidance,
            status: mandate.status,
            summary: mandate.current_state.summary,
            waiting_on: mandate.current_state.waiting_on,
            expires_at: mandate.expires_at,
            authority_version: mandate.authority_version,
        }
    }
}

impl From<&Event> for Happened {
    fn from(event: &Event) -> Self {
        let text = match &event.data {
            EventData::MandateStatusChanged(change) => {
                format!("{}: {}", change.mandate.status, change.mandate.current_state.summary)
            }
            EventData::ApprovalRequested(asked) | EventData::ApprovalResolved(asked) => {
                let reason = asked.approval.reason.as_ref().map(|reason| format!(" ({reason})"));
                format!(
                    "{}: {}{}",
                    asked.approval.status,
                    asked.approval.question,
                    reason.unwrap_or_default()
                )
            }
            EventData::ExecutionFailed(run) => match &run.execution.error {
                Some(error) => format!("{}: {}", run.execution.capability, error.message),
                None => run.execution.capability.clone(),
            },
            EventData::ExecutionBlocked(run) => match &run.reason {
                Some(reason) => format!("{}: {reason}", run.execution.capability),
                None => run.execution.capability.clone(),
            },
            EventData::Unknown(data) => data.get().to_owned(),
            _ => event.execution().map(|run| run.capability.clone()).unwrap_or_default(),
        };
        Self { at: event.created_at, kind: event.event_type.to_string(), text }
    }
}
