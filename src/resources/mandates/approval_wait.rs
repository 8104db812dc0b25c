//! Waiting for a mandate to ask a person.

use std::future::IntoFuture;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::StreamExt as _;

use super::MandateHandle;
use super::watch::{Hint, Subject, Watch};
use crate::call::CallFuture;
use crate::error::{Error, Result};
use crate::model::approvals::{Approval, ApprovalListParams, ApprovalStatus};
use crate::model::events::{Event, EventType};
use crate::model::mandates::{Mandate, MandateStatus};
use crate::model::types::MandateId;
use crate::resources::poll::{self, PollOptions};

/// A wait for a mandate to ask a person, from
/// [`MandateHandle::wait_for_approval`](super::MandateHandle::wait_for_approval).
///
/// Awaited, it gives the approval that is pending, the oldest one if there are several; also one that was pending
/// before. It gives `None` when the mandate ends, or had ended, without asking.
///
/// It looks at once and follows the mandate's events, as a [`Wait`](super::Wait) does: what doesn't end that one
/// doesn't end this one, it is as late at most, and dropping it never affects the mandate. An approval may be decided
/// elsewhere at any time, so by the time it arrives it may no longer be pending.
#[derive(Debug, Clone)]
#[must_use = "a wait does nothing until it is awaited"]
pub struct ApprovalWait {
    handle: MandateHandle,
    options: PollOptions,
}

impl ApprovalWait {
    pub(super) fn new(handle: MandateHandle) -> Self {
        Self { handle, options: PollOptions::default() }
    }

    /// How long to wait; without end unless it is set.
    ///
    /// When it runs out there is one more look, which may take 5 s, and what it finds counts. Otherwise the error
    /// [is a wait's timeout](Error::is_wait_timeout) and carries the
    /// [mandate as it was last seen](Error::last_mandate); the mandate itself goes on.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = Some(timeout);
        self
    }

    /// How often to look when no event calls for it, 10 ms at least. Without it about every 30 s while the stream
    /// is open, and while there is none each second for two minutes and then less and less often, up to 30 s.
    pub fn poll_interval(mut self, interval: Duration) -> Self {
        self.options.interval = Some(interval);
        self
    }
}

/// What one look finds.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Look {
    Asked(Box<Approval>),
    Not(Box<Mandate>),
}

/// The approvals come first: of a mandate that has ended by then, none is pending.
pub(super) async fn look(handle: MandateHandle) -> Result<Look> {
    let pending = ApprovalListParams::new().status([ApprovalStatus::Pending]).mandate(&handle.id);
    let pending = handle.client.approvals().list(pending).max_retries(0);
    let pending: Vec<Approval> = pending.items().try_collect().await?;
    match oldest(pending, &handle.id) {
        Some(oldest) => Ok(Look::Asked(Box::new(oldest))),
        None => Ok(Look::Not(Box::new(handle.get().max_retries(0).send().await?))),
    }
}

/// The one that was asked first. That the list is filtered, and in which order it is, is assumed.
pub(super) fn oldest(approvals: Vec<Approval>, mandate: &MandateId) -> Option<Approval> {
    let pending =
        approvals.into_iter().filter(|approval| approval.is_pending() && approval.mandate == *mandate);
    pending.min_by_key(|approval| approval.created_at)
}

pub(super) fn hint(event: &Event) -> Hint {
    match &event.event_type {
        EventType::MandateApprovalRequested => Hint::Over,
        EventType::MandateStatusChanged => match event.mandate_status() {
            Some(MandateStatus::NeedsApproval) => Hint::Over,
            Some(status) if !status.is_terminal() => Hint::Changed,
            // Also one whose data doesn't fit: it may be either.
            _ => Hint::Over,
        },
        _ => Hint::Nothing,
    }
}

impl IntoFuture for ApprovalWait {
    type Output = Result<Option<Approval>>;
    type IntoFuture = CallFuture<Option<Approval>>;

    fn into_future(self) -> CallFuture<Option<Approval>> {
        let timer = Arc::clone(&self.handle.client.transport().timer);
        let events = self.handle.events();
        let subject = Subject {
            read: Box::new(move || Box::pin(look(self.handle.clone()))),
            done: |look: &Look| match look {
                Look::Asked(_) => true,
                Look::Not(mandate) => mandate.status.is_terminal(),
            },
            status: |_| None,
            hint,
            timed_out: |limit, last| {
                let last = last.and_then(|look| match look {
                    Look::Asked(_) => None,
                    Look::Not(mandate) => Some(*mandate),
                });
                Error::wait_timeout(limit, last)
            },
        };
        let watch = Watch::new(timer, self.options, subject, Box::new(move || events.stream()));
        Box::pin(async move {
            Ok(match poll::last(watch.boxed()).await? {
                Look::Asked(approval) => Some(*approval),
                Look::Not(_) => None,
            })
        })
    }
}
