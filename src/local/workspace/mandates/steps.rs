//! How a mandate moves on: from one safe point to the next.

use super::{Doing, MandateStatus, Pending, summary};
use crate::local::agent::text::because;
use crate::local::agent::{Ending, STEP, Step};
use crate::local::clock::Moment;
use crate::local::workspace::Workspace;
use crate::local::workspace::store::Serial;
use crate::model::approvals::{ApprovalInputs, ApprovalStatus};
use crate::model::events::{EventData, MandateStatusChangedData};
use crate::model::mandates::MandateState;
use crate::model::types::Extra;

impl Workspace {
    /// What the agenda has for a mandate: its end by `expires_at`, the end of an approval's time, or the end of
    /// its present step.
    pub(in crate::local::workspace) fn wake_mandate(&mut self, serial: Serial, at: Moment) {
        match self.mandates.get(serial) {
            Some(record) if record.expires.is_some_and(|expires| expires <= at) => {
                let state = summary("Expired: the time for this was over before it was done.".to_owned());
                self.transition(serial, MandateStatus::Expired, state, at);
            }
            Some(record) if matches!(record.doing, Doing::Decision(_)) => self.nobody_decided(serial, at),
            Some(_) => self.go_on(serial, at),
            None => self.agenda.set(serial, None),
        }
    }

    /// Finishes what was under way, and comes to a safe point.
    pub(super) fn go_on(&mut self, serial: Serial, at: Moment) {
        let Some(record) = self.mandates.get_mut(serial) else { return };
        match std::mem::take(&mut record.doing) {
            Doing::Nothing => {}
            Doing::Action(underway) => return self.come_out(serial, *underway, at),
            Doing::Waiting(wait) => {
                if self.wake(serial, *wait, at) {
                    return;
                }
            }
            asked @ Doing::Decision(_) => {
                record.doing = asked;
                return;
            }
        }
        self.step(serial, at);
    }

    /// A safe point: does what is pending, and otherwise what the script has next.
    pub(super) fn step(&mut self, serial: Serial, at: Moment) {
        let Some(record) = self.mandates.get_mut(serial) else { return };
        record.next_step = None;
        match record.pending.take() {
            Some(Pending::Cancel(reason)) => {
                let state = summary(because("Canceled", reason.as_deref()));
                return self.transition(serial, MandateStatus::Canceled, state, at);
            }
            Some(Pending::Pause(reason)) => {
                let state = summary(because("Paused", reason.as_deref()));
                return self.transition(serial, MandateStatus::Paused, state, at);
            }
            None => {}
        }
        loop {
            let Some(record) = self.mandates.get_mut(serial) else { return };
            match record.plan.next() {
                Some(Step::Work { summary: text }) => return self.work(serial, text, at),
                Some(Step::Act(act)) => return self.act(serial, *act, at),
                Some(Step::Await(wait)) => {
                    if self.await_reply(serial, *wait, at) {
                        return;
                    }
                }
                Some(Step::Sleep { duration, what }) => return self.sleep(serial, duration, what, at),
                Some(Step::Ask(ask)) => return self.question(serial, *ask, at),
                Some(Step::Note(note)) => self.note(serial, note, at),
                Some(Step::Finish(ending)) => return self.finish(serial, ending, at),
                None => return self.finish(serial, Ending::Usual, at),
            }
        }
    }

    /// Is at work for the time of a step.
    pub(super) fn work(&mut self, serial: Serial, text: String, at: Moment) {
        if let Some(record) = self.mandates.get_mut(serial) {
            record.next_step = Some(at.after(STEP));
        }
        self.transition(serial, MandateStatus::Running, summary(text), at);
    }

    /// The one place where a mandate changes, so that what every change brings about is done for each.
    pub(in crate::local::workspace) fn transition(
        &mut self,
        serial: Serial,
        status: MandateStatus,
        state: MandateState,
        at: Moment,
    ) {
        if status.is_terminal() {
            self.clear(serial, &status, &state, at);
        }
        let updated_at = self.epoch.timestamp(at);
        let Some(record) = self.mandates.get_mut(serial) else { return };
        let previous = std::mem::replace(&mut record.mandate.status, status);
        record.mandate.current_state = state;
        record.mandate.updated_at = Some(updated_at);
        if previous != record.mandate.status {
            let change = MandateStatusChangedData {
                mandate: record.mandate.clone(),
                previous_status: Some(previous),
                extra: Extra::new(),
            };
            self.emit(serial, EventData::MandateStatusChanged(Box::new(change)), at);
        }
        self.reschedule(serial);
    }

    /// What ends with a mandate: nothing is due any more, nobody is asked any more.
    fn clear(&mut self, serial: Serial, status: &MandateStatus, state: &MandateState, at: Moment) {
        let Some(record) = self.mandates.get_mut(serial) else { return };
        record.plan.clear();
        record.mail.clear();
        record.given = ApprovalInputs::default();
        record.next_step = None;
        record.expires = None;
        record.pending = None;
        if let Doing::Decision(asked) = std::mem::take(&mut record.doing) {
            let resolved = match status {
                MandateStatus::Canceled => ApprovalStatus::Canceled,
                _ => ApprovalStatus::Expired,
            };
            self.resolve(asked.approval, resolved, None, at);
        }
        let question = match status {
            MandateStatus::Canceled => format!("Is this to be taken up again? {}", state.summary),
            MandateStatus::Expired => {
                "Is there more time for this? It expired before it was done.".to_owned()
            }
            _ => return,
        };
        if let Some(mut scribe) = self.scribe(serial, at) {
            scribe.issue(question);
        }
    }

    pub(super) fn reschedule(&mut self, serial: Serial) {
        let due = self.mandates.get(serial).and_then(|record| {
            let doing = match &record.doing {
                Doing::Decision(asked) => asked.expires,
                // A paused mandate sleeps through what it waits for.
                Doing::Waiting(wait) if record.mandate.status != MandateStatus::Paused => Some(wait.due()),
                _ => None,
            };
            [record.next_step, record.expires, doing].into_iter().flatten().min()
        });
        self.agenda.set(serial, due);
    }
}
