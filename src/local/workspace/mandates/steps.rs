//! How a mandate moves on: from one safe point to the next.

use super::{Doing, MandateStatus, Pending, summary, waiting};
use crate::local::agent::text::because;
use crate::local::agent::{STEP, Step, outcome};
use crate::local::clock::Moment;
use crate::local::workspace::Workspace;
use crate::local::workspace::store::Serial;
use crate::model::approvals::ApprovalStatus;
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
            Doing::Action(run) => self.simulate(serial, *run, at),
            Doing::Reply(capability, party) => self.answered(serial, &capability, &party, at),
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
            match record.script.pop_front() {
                Some(Step::Work { summary: text }) => return self.work(serial, text, at),
                Some(Step::Act { capability }) => return self.act(serial, &capability, at),
                Some(Step::Await { capability }) => {
                    // What never went out can't be answered: such a wait is refused (documented).
                    let sent = record.tally.sent.iter().find(|(name, _)| *name == capability);
                    if let Some((_, party)) = sent.cloned() {
                        return self.await_reply(serial, capability, party, at);
                    }
                }
                Some(Step::Finish) | None => return self.finish(serial, at),
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

    fn await_reply(&mut self, serial: Serial, capability: String, party: String, at: Moment) {
        let (done, awaited) = match capability.as_str() {
            "phone.call" => (format!("Called {party}."), format!("The end of the call with {party}")),
            _ => (format!("Wrote to {party}."), format!("A reply from {party}")),
        };
        if let Some(mut scribe) = self.scribe(serial, at) {
            scribe.need(format!("What does {party} answer?"));
        }
        if let Some(record) = self.mandates.get_mut(serial) {
            record.doing = Doing::Reply(capability, party);
            record.next_step = Some(at.after(STEP));
        }
        self.transition(serial, MandateStatus::WaitingExternal, waiting(done, awaited), at);
    }

    fn answered(&mut self, serial: Serial, capability: &str, party: &str, at: Moment) {
        let Some(mut scribe) = self.scribe(serial, at) else { return };
        let day = scribe.promised_day();
        scribe.reply(outcome::reply(capability, party, &day));
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
        record.script.clear();
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
            let decision = match &record.doing {
                Doing::Decision(asked) => asked.expires,
                _ => None,
            };
            [record.next_step, record.expires, decision].into_iter().flatten().min()
        });
        self.agenda.set(serial, due);
    }
}
