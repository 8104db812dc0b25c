//! Actions that a person decides on: asked for, waited for, and taken up again.

use super::actions::Action;
use super::{Doing, MandateStatus, summary, waiting};
use crate::local::clock::Moment;
use crate::local::workspace::Workspace;
use crate::local::workspace::approvals;
use crate::local::workspace::limits::cost;
use crate::local::workspace::store::Serial;
use crate::model::approvals::{ApprovalInputs, ApprovalStatus};

/// An action that waits for a person.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) approval: Serial,
    pub(super) action: Action,
    /// When the time to decide is over; `None` once that is settled.
    pub(super) expires: Option<Moment>,
}

impl Workspace {
    /// Puts the action before a person, and waits.
    pub(super) fn ask(&mut self, serial: Serial, action: Action, at: Moment) {
        let (Some(capability), Some(record)) =
            (self.capabilities.latest(&action.capability), self.mandates.get(serial))
        else {
            return;
        };
        let price = cost(capability, &action.arguments, &record.mandate.authority);
        let shown = approvals::shown(capability, &action.arguments, price.as_ref());
        // After the mandate's own end a decision would be about nothing.
        let longest = at.after(approvals::TIME_TO_DECIDE);
        let expires = record.expires.map_or(longest, |end| end.min(longest));
        let Some(approval) = self.request_approval(serial, shown, price.as_ref(), expires, at) else {
            return;
        };
        let expires = Some(expires);
        self.wait_for_decision(serial, Asked { approval, action, expires }, at);
        self.announce(approval, at);
    }

    /// The decision on an action, where there is one by now.
    pub(super) fn take_up(&mut self, serial: Serial, asked: Asked, at: Moment) {
        let status = self.approvals.get(asked.approval).map(|record| record.approval.status.clone());
        let name = asked.action.capability.clone();
        match status {
            Some(ApprovalStatus::Pending) => self.wait_for_decision(serial, asked, at),
            // The limits are checked again right before it runs (documented).
            Some(ApprovalStatus::Approved) => match self.forbidden(serial, &asked.action, at) {
                Some(why) => self.block(serial, &name, why, at),
                None => self.start(serial, asked.action, at),
            },
            Some(ApprovalStatus::Rejected) => {
                let Some(record) = self.mandates.get_mut(serial) else { return };
                record.tally.refused.push(name.clone());
                self.work(serial, format!("A person refused {name}. Going on without it."), at);
            }
            _ => self.consider(serial, asked.action, at),
        }
    }

    pub(super) fn wait_for_decision(&mut self, serial: Serial, asked: Asked, at: Moment) {
        let name = asked.action.capability.clone();
        let until = asked.expires.map(|expires| self.epoch.timestamp(expires).to_string());
        let day =
            until.and_then(|time| time.get(..10).map(|day| format!(", until {day}"))).unwrap_or_default();
        let Some(record) = self.mandates.get_mut(serial) else { return };
        record.doing = Doing::Decision(Box::new(asked));
        record.next_step = None;
        let state =
            waiting(format!("Asked whether {name} may run."), format!("A person's decision on {name}{day}"));
        self.transition(serial, MandateStatus::NeedsApproval, state, at);
    }

    /// What a person decided on the action of a mandate.
    pub(in crate::local::workspace) fn decided(
        &mut self,
        serial: Serial,
        inputs: ApprovalInputs,
        at: Moment,
    ) {
        let Some(record) = self.mandates.get_mut(serial) else { return };
        let Doing::Decision(asked) = &mut record.doing else { return };
        asked.expires = None;
        asked.action.inputs = inputs;
        if record.mandate.status == MandateStatus::NeedsApproval {
            if let Doing::Decision(asked) = std::mem::take(&mut record.doing) {
                self.take_up(serial, *asked, at);
            }
        } else {
            self.reschedule(serial);
        }
    }

    /// The time for a decision is over: the mandate stops until it is resumed (documented), and then asks again.
    pub(in crate::local::workspace) fn nobody_decided(&mut self, serial: Serial, at: Moment) {
        let Some(record) = self.mandates.get_mut(serial) else { return };
        let Doing::Decision(asked) = &mut record.doing else { return };
        asked.expires = None;
        let (approval, name) = (asked.approval, asked.action.capability.clone());
        let waits = record.mandate.status == MandateStatus::NeedsApproval;
        self.resolve(approval, ApprovalStatus::Expired, None, at);
        if waits {
            let state =
                summary(format!("Paused: nobody decided on {name} in time. Once resumed it asks again."));
            self.transition(serial, MandateStatus::Paused, state, at);
        } else {
            self.reschedule(serial);
        }
    }
}
