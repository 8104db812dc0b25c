//! Who asked about work that goes on, and was told that it does: as good as waiting for it.

use std::collections::HashSet;

use super::Workspace;
use super::store::Serial;
use crate::model::events::EventData;

/// What has been asked about since it last changed in a way that whoever asks would see.
#[derive(Debug, Default)]
pub(crate) struct Polls {
    mandates: HashSet<Serial>,
    any: bool,
}

impl Polls {
    /// A mandate has another status, or asks a person: whoever waits for it gets on with its next question.
    pub(super) fn answered(&mut self, mandate: Serial, data: &EventData) {
        if matches!(data, EventData::MandateStatusChanged(_) | EventData::ApprovalRequested(_)) {
            self.mandates.remove(&mandate);
            self.any = false;
        }
    }
}

impl Workspace {
    /// Whether somebody waits by asking, for something other than a person.
    pub(crate) fn is_polled(&self) -> bool {
        self.polls.any || self.polls.mandates.iter().any(|mandate| self.awaits(*mandate).is_none())
    }

    /// Somebody asked about this mandate.
    pub(crate) fn polled(&mut self, mandate: &str) {
        let serial = self.mandates.serial(mandate);
        let runs = |serial: &Serial| {
            self.mandates.get(*serial).is_some_and(|record| !record.mandate.status.is_terminal())
        };
        self.polls.mandates.extend(serial.filter(runs));
    }

    /// Somebody asked about more than one mandate.
    pub(crate) fn polled_all(&mut self) {
        self.polls.any = true;
    }
}
