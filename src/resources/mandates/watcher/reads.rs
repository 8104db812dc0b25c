//! The reads of a watcher: one mandate, or all that are due by lists.

use std::collections::{HashMap, HashSet};

use crate::client::Client;
use crate::error::Result;
use crate::model::approvals::{Approval, ApprovalListParams, ApprovalStatus};
use crate::model::mandates::{Mandate, MandateListParams, MandateStatus};
use crate::model::types::MandateId;
use crate::resources::mandates::approval_wait::oldest;

/// The largest page the service gives (assumed).
const PAGE: u32 = 100;

/// What is wanted of a mandate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Wanted {
    pub(super) end: bool,
    pub(super) approval: bool,
}

impl Wanted {
    pub(super) fn or(self, other: Self) -> Self {
        Self { end: self.end || other.end, approval: self.approval || other.approval }
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self { end: self.end && other.end, approval: self.approval && other.approval }
    }

    pub(super) fn is_none(self) -> bool {
        self == Self::default()
    }
}

/// What a read found.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) approval: Option<Box<Approval>>,
    pub(super) mandate: Option<Box<Mandate>>,
}

pub(super) async fn single(client: Client, id: MandateId, wanted: Wanted) -> Result<Found> {
    let mut found = Found::default();
    if wanted.approval {
        // First: of a mandate that has ended by then, none is pending.
        let params = pending().mandate(&id);
        let approvals: Vec<_> = client.approvals().list(params).max_retries(0).items().try_collect().await?;
        found.approval = oldest(approvals, &id).map(Box::new);
    }
    if wanted.end || found.approval.is_none() {
        found.mandate = Some(Box::new(client.mandates().get(&id).max_retries(0).send().await?));
    }
    Ok(found)
}

/// Looks for many mandates in the lists of those that are under way, which tells nothing of those that aren't.
///
/// No more pages are read than there are mandates to look for: in a large workspace reading each costs less.
pub(super) async fn batch(
    client: Client,
    due: Vec<(MandateId, Wanted)>,
) -> Result<HashMap<MandateId, Found>> {
    let mut found: HashMap<MandateId, Found> = HashMap::new();
    let asking: HashSet<&MandateId> =
        due.iter().filter(|(_, wanted)| wanted.approval).map(|(id, _)| id).collect();
    let mut left: HashSet<&MandateId> = due.iter().map(|(id, _)| id).collect();
    if !asking.is_empty() {
        let mut pages = client.approvals().list(pending()).limit(PAGE).max_retries(0).pages();
        let mut by_mandate: HashMap<MandateId, Vec<Approval>> = HashMap::new();
        let mut whole = false;
        for _ in 0..due.len() {
            let Some(page) = pages.try_next().await? else {
                whole = true;
                break;
            };
            for approval in page.into_iter().filter(|approval| asking.contains(&approval.mandate)) {
                by_mandate.entry(approval.mandate.clone()).or_default().push(approval);
            }
        }
        if !whole {
            // What was not found may be in the rest.
            left.retain(|id| !asking.contains(*id));
        }
        for (id, approvals) in by_mandate {
            if let Some(approval) = oldest(approvals, &id) {
                found.insert(id, Found { approval: Some(Box::new(approval)), mandate: None });
            }
        }
    }
    let ending: HashSet<&MandateId> = due.iter().filter(|(_, wanted)| wanted.end).map(|(id, _)| id).collect();
    left.retain(|id| ending.contains(*id) || !found.contains_key(*id));
    let mut pages = client.mandates().list(under_way()).limit(PAGE).max_retries(0).pages();
    for _ in 0..due.len() {
        if left.is_empty() {
            break;
        }
        let Some(page) = pages.try_next().await? else { break };
        for mandate in page {
            // That the list is filtered is assumed.
            if !mandate.status.is_terminal() && left.remove(&mandate.id) {
                let entry = found.entry(mandate.id.clone()).or_default();
                entry.mandate = Some(Box::new(mandate));
            }
        }
    }
    // A mandate that has ended may still have a pending approval: it is not found until it is read.
    found.retain(|id, found| found.mandate.is_some() || !ending.contains(id));
    Ok(found)
}

fn pending() -> ApprovalListParams {
    ApprovalListParams::new().status([ApprovalStatus::Pending])
}

fn under_way() -> MandateListParams {
    use MandateStatus::{NeedsApproval, Paused, Queued, Running, WaitingExternal};
    MandateListParams::new().status([Queued, Running, WaitingExternal, NeedsApproval, Paused])
}
