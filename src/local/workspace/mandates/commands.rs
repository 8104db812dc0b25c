//! What a person can tell a mandate: pause, resume, cancel.

use super::{Doing, MandateRecord, Pending, summary, unknown};
use crate::local::agent::text::because;
use crate::local::answer::{Refusal, Result};
use crate::local::clock::Moment;
use crate::local::workspace::Workspace;
use crate::local::workspace::store::Serial;
use crate::model::errors::ErrorCode;
use crate::model::mandates::{Mandate, MandateStatus};

impl Workspace {
    /// Stops new work at the next safe point: the status changes then, not now (documented). What only waits
    /// has no work to stop, so it is paused at once (assumed).
    pub(crate) fn pause(&mut self, id: &str, reason: Option<String>, now: Moment) -> Result<Mandate> {
        let (serial, record) = self.active(id)?;
        match (&record.mandate.status, &record.pending) {
            (_, Some(Pending::Cancel(_))) => return Err(record.does_not_apply("paused")),
            (MandateStatus::Queued | MandateStatus::Running, _) => {
                record.pending = Some(Pending::Pause(reason));
            }
            (MandateStatus::WaitingExternal | MandateStatus::NeedsApproval, _) => {
                let state = summary(because("Paused", reason.as_deref()));
                self.transition(serial, MandateStatus::Paused, state, now);
            }
            _ => return Err(record.does_not_apply("paused")),
        }
        self.seen(serial, id)
    }

    /// Goes on with a paused mandate, or withdraws a pause that is pending (assumed).
    pub(crate) fn resume(&mut self, id: &str, now: Moment) -> Result<Mandate> {
        let (serial, record) = self.active(id)?;
        match (&record.mandate.status, &record.pending) {
            (_, Some(Pending::Pause(_))) => record.pending = None,
            (MandateStatus::Paused, None) => match std::mem::take(&mut record.doing) {
                Doing::Decision(asked) => self.take_up(serial, *asked, now),
                // A reply that came in the meantime has been kept (documented).
                Doing::Waiting(wait) if wait.due() > now => self.wait(serial, *wait, now),
                doing => {
                    record.doing = doing;
                    self.go_on(serial, now);
                }
            },
            _ => return Err(record.does_not_apply("resumed")),
        }
        self.seen(serial, id)
    }

    /// Stops further work, from any status that is not final (documented): a step that is under way first
    /// comes to its end, where none is there is nothing to wait for (assumed).
    pub(crate) fn cancel(&mut self, id: &str, reason: Option<String>, now: Moment) -> Result<Mandate> {
        let (serial, record) = self.active(id)?;
        record.pending = Some(Pending::Cancel(reason));
        if record.mandate.status != MandateStatus::Running {
            self.step(serial, now);
        }
        self.seen(serial, id)
    }

    /// A mandate that has not ended: no command applies to one that has.
    fn active(&mut self, id: &str) -> Result<(Serial, &mut MandateRecord)> {
        let serial = self.mandates.serial(id).ok_or_else(|| unknown(id))?;
        let record = self.mandates.get_mut(serial).ok_or_else(|| unknown(id))?;
        if record.mandate.status.is_terminal() {
            let message = format!("the mandate has ended: it is {}", record.mandate.status);
            return Err(Refusal::conflict(ErrorCode::InvalidStatusTransition, message));
        }
        Ok((serial, record))
    }
}

impl MandateRecord {
    fn does_not_apply(&self, command: &str) -> Refusal {
        let status = &self.mandate.status;
        let message = match &self.pending {
            Some(Pending::Cancel(_)) => format!("a mandate that is being canceled can't be {command}"),
            _ => format!("a mandate that is {status} can't be {command}"),
        };
        Refusal::conflict(ErrorCode::InvalidStatusTransition, message)
    }
}
