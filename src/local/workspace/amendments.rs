//! Amendments: the limits of a mandate, replaced as a whole.

use super::agents::not_empty;
use super::mandates::unknown;
use super::store::{Window, page_of};
use super::{Workspace, authority};
use crate::local::answer::{Refusal, Result};
use crate::local::clock::Moment;
use crate::model::amendments::{MandateAmendment, MandateAmendmentCreateParams};
use crate::model::errors::ErrorCode;
use crate::model::page::Page;
use crate::model::types::{AmendmentId, Extra};

/// Who amends: there is but one key here.
const ACTOR: &str = "the local server's API key";

impl Workspace {
    /// Takes effect at the mandate's next step, also in the middle of its work (documented).
    pub(crate) fn amend(
        &mut self,
        id: &str,
        params: MandateAmendmentCreateParams,
        now: Moment,
    ) -> Result<MandateAmendment> {
        not_empty("reason", &params.reason)?;
        let amendment_id = AmendmentId::from(self.new_id("amd_"));
        let created_at = self.epoch.timestamp(now);
        let record = self.recorded(id)?;
        let refuse = |code, message: String| Err(Refusal::conflict(code, message));
        if record.mandate.status.is_terminal() {
            let message = format!("the mandate has ended: it is {}", record.mandate.status);
            return refuse(ErrorCode::MandateEnded, message);
        }
        if params.expected_version != record.mandate.authority_version {
            let message = format!(
                "the limits are at version {}, not {}",
                record.mandate.authority_version, params.expected_version
            );
            return refuse(ErrorCode::VersionMismatch, message);
        }
        let granted = authority::check(&params.authority, &record.agent_capabilities, &self.capabilities)?;
        let new: Vec<String> =
            granted.iter().filter(|name| !record.granted.contains(name)).cloned().collect();
        let new = self.granted(&new);
        let record = self.mandates.find_mut(id).ok_or_else(|| unknown(id))?;
        record.plan.extend(&new);
        record.granted = granted;
        record.mandate.authority = params.authority.clone();
        record.mandate.authority_version += 1;
        record.mandate.updated_at = Some(created_at);
        let amendment = MandateAmendment {
            version: record.mandate.authority_version,
            authority: params.authority,
            reason: params.reason,
            id: Some(amendment_id),
            mandate: Some(record.mandate.id.clone()),
            actor: Some(ACTOR.to_owned()),
            created_at: Some(created_at),
            extra: Extra::new(),
        };
        record.amendments.push(amendment.clone());
        Ok(amendment)
    }

    pub(crate) fn list_amendments(&self, id: &str, window: &Window) -> Result<Page<MandateAmendment>> {
        page_of(&self.recorded(id)?.amendments, window)
    }
}
