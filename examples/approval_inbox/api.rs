//! What the page asks for, and what it sends.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::convert::Infallible;
use std::sync::Arc;

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::sse::{Event as Message, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Json};
use futures_util::{Stream, StreamExt as _, stream};
use serde::{Deserialize, Serialize};
use shadway::approvals::{
    Approval, ApprovalApproveParams, ApprovalInputs, ApprovalListParams, ApprovalRejectParams,
};
use shadway::call::Call;
use shadway::capabilities::CapabilityEffect;
use shadway::page::Page;
use shadway::types::{ApprovalId, MandateId};
use shadway::{Error, ErrorKind};
use tokio::sync::broadcast::error::RecvError;

use super::guard::{Person, may_decide, may_see};
use super::limits::Used;
use super::server::Inbox;
use super::views::{Context, Row, Whole};

/// What stands in a message in place of a value that a person gave.
const HIDDEN: &str = "[hidden]";
/// What a page of a list may hold at most (assumed).
const LARGEST_PAGE: u32 = 100;
/// How much of a mandate's record is read to count what it used.
const MOST_READ: usize = 10_000;

#[derive(Serialize)]
pub(crate) struct Listed {
    approvals: Vec<Row>,
    live: bool,
}

pub(crate) async fn list(
    State(inbox): State<Arc<Inbox>>,
    Extension(person): Extension<Person>,
) -> Json<Listed> {
    let (mut approvals, live) = inbox.feed.rows();
    approvals.retain(|row| may_see(&person, &row.mandate));
    Json(Listed { approvals, live })
}

/// Read anew: what a person decides on is never a copy.
pub(crate) async fn approval(
    State(inbox): State<Arc<Inbox>>,
    Extension(person): Extension<Person>,
    Path(id): Path<ApprovalId>,
) -> Result<Json<Whole>, Refusal> {
    let approval = inbox.client.approvals().get(id).await?;
    check_sees(&person, &approval.mandate)?;
    inbox.feed.put(approval.clone());
    let may_decide = may_decide(&person, &approval);
    Ok(Json(Whole::new(approval, may_decide)))
}

/// What an approval is about.
pub(crate) async fn mandate(
    State(inbox): State<Arc<Inbox>>,
    Extension(person): Extension<Person>,
    Path(id): Path<MandateId>,
) -> Result<Json<Context>, Refusal> {
    check_sees(&person, &id)?;
    let client = &inbox.client;
    let work = client.mandate(&id);
    let (mandate, events, approvals, capabilities) = tokio::try_join!(
        work.get().send(),
        all(work.events().list()),
        all(client.approvals().list(ApprovalListParams::new().mandate(&id))),
        all(client.capabilities().list(Default::default())),
    )?;
    inbox.feed.learn(&mandate);
    let reads = capabilities.into_iter().filter(|capability| capability.effect == CapabilityEffect::Read);
    let reads: HashSet<String> = reads.map(|capability| capability.name).collect();
    let used = Used::count(&events, &approvals, &reads);
    Ok(Json(Context::new(mandate, &events, &used)))
}

fn check_sees(person: &Person, mandate: &MandateId) -> Result<(), Refusal> {
    let refusal = || Refusal::new(StatusCode::NOT_FOUND, "There is nothing of that name.");
    may_see(person, mandate).then_some(()).ok_or_else(refusal)
}

/// Everything of a list, up to a number that no screen has to show.
async fn all<T: Send + 'static>(list: Call<Page<T>>) -> Result<Vec<T>, Error> {
    let mut items = list.limit(LARGEST_PAGE).items();
    let mut found = Vec::new();
    while let Some(item) = items.try_next().await? {
        found.push(item);
        if found.len() == MOST_READ {
            break;
        }
    }
    Ok(found)
}

/// What changes, as it does. A page reads everything again whenever it has connected.
pub(crate) async fn live(
    State(inbox): State<Arc<Inbox>>,
    Extension(person): Extension<Person>,
) -> Sse<impl Stream<Item = Result<Message, Infallible>>> {
    let until = person.until;
    let messages = stream::unfold((inbox.feed.subscribe(), person), |(mut changes, person)| async {
        let message = loop {
            match changes.recv().await {
                Ok(change) if change.mandate.as_ref().is_some_and(|of| !may_see(&person, of)) => {}
                Ok(change) => break Message::default().event(change.kind).data(change.data),
                Err(RecvError::Lagged(_)) => break Message::default().event("behind").data("null"),
                Err(RecvError::Closed) => return None,
            }
        };
        Some((Ok(message), (changes, person)))
    });
    Sse::new(messages.take_until(tokio::time::sleep_until(until))).keep_alive(KeepAlive::default())
}

#[derive(Deserialize)]
pub(crate) struct Decision {
    #[serde(default)]
    reason: String,
    /// Never logged, printed or kept: they go to the service, and this copy is wiped.
    #[serde(default)]
    inputs: ApprovalInputs,
}

pub(crate) async fn approve(
    State(inbox): State<Arc<Inbox>>,
    Extension(person): Extension<Person>,
    Path(id): Path<ApprovalId>,
    Json(decision): Json<Decision>,
) -> Result<Response, Refusal> {
    let mut params = ApprovalApproveParams::new();
    params.reason = Some(decision.reason).filter(|reason| !reason.trim().is_empty());
    params.inputs = decision.inputs.clone();
    let call = inbox.client.approvals().approve(&id, params);
    decide(&inbox, &person, id, call, &decision.inputs).await
}

pub(crate) async fn reject(
    State(inbox): State<Arc<Inbox>>,
    Extension(person): Extension<Person>,
    Path(id): Path<ApprovalId>,
    Json(decision): Json<Decision>,
) -> Result<Response, Refusal> {
    if decision.reason.trim().is_empty() {
        return Err(Refusal::new(StatusCode::BAD_REQUEST, "Say why: the reason goes into the record."));
    }
    let call = inbox.client.approvals().reject(&id, ApprovalRejectParams::new().reason(decision.reason));
    decide(&inbox, &person, id, call, &decision.inputs).await
}

#[derive(Serialize)]
struct Decided {
    approval: Whole,
    /// Whether it had been decided before. If it was the same decision, that is no failure.
    already: bool,
    /// Why this decision does not stand, if another does.
    conflict: Option<String>,
}

/// Records a decision once. A conflict means that something else stands, which is read and shown.
async fn decide(
    inbox: &Inbox,
    person: &Person,
    id: ApprovalId,
    call: Call<Approval>,
    given: &ApprovalInputs,
) -> Result<Response, Refusal> {
    let approvals = inbox.client.approvals();
    let before = approvals.get(&id).await?;
    check_sees(person, &before.mandate)?;
    if !may_decide(person, &before) {
        return Err(Refusal::new(StatusCode::FORBIDDEN, "You may not decide on this."));
    }
    let (approval, conflict) = match call.await {
        Err(error) if error.is_conflict() => {
            (approvals.get(&id).await?, Some(without(given, message(&error))))
        }
        Err(error) => {
            let refusal = Refusal::from(error);
            return Err(Refusal { message: without(given, refusal.message), ..refusal });
        }
        Ok(approval) => (approval, None),
    };
    inbox.feed.put(approval.clone());
    let status = if conflict.is_some() { StatusCode::CONFLICT } else { StatusCode::OK };
    let decided = Decided { approval: Whole::new(approval, true), already: !before.is_pending(), conflict };
    Ok((status, Json(decided)).into_response())
}

/// Why a request was not served, for the person who made it.
#[derive(Debug, Serialize)]
pub(crate) struct Refusal {
    #[serde(skip)]
    status: StatusCode,
    message: String,
    /// Whether what was asked for may have been done all the same.
    unclear: bool,
}

impl Refusal {
    pub(crate) fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), unclear: false }
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        let status = match error.kind() {
            ErrorKind::NotFound => StatusCode::NOT_FOUND,
            ErrorKind::InvalidRequest => StatusCode::BAD_REQUEST,
            _ => StatusCode::BAD_GATEWAY,
        };
        Self { status, message: message(&error), unclear: error.is_ambiguous() }
    }
}

/// What the service said, or what kept it from saying anything. It holds no key; what was sent, the service may repeat.
fn message(error: &Error) -> String {
    error.api().map_or_else(|| error.to_string(), |api| api.message.clone())
}

/// A message without the values that a person gave: the page has wiped them, and they may be secrets.
fn without(given: &ApprovalInputs, message: String) -> String {
    let values = given.names().filter_map(|name| given.expose(name)).map(str::trim);
    let mut values: Vec<&str> = values.filter(|value| !value.is_empty()).collect();
    // One may be a part of another.
    values.sort_unstable_by_key(|value| Reverse(value.len()));
    values.into_iter().fold(message, |message, value| message.replace(value, HIDDEN))
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        (self.status, Json(&self)).into_response()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_that_a_person_gave_is_not_repeated_to_the_page() {
        let mut given = ApprovalInputs::default();
        for (name, value) in [("pin", "4711"), ("card", "4711 0815 "), ("note", " "), ("none", "")] {
            given.insert(name, value);
        }
        let said = "\"4711 0815\" is no card, and 4711 no pin (422)";
        assert_eq!(without(&given, said.to_owned()), "\"[hidden]\" is no card, and [hidden] no pin (422)");
    }
}
