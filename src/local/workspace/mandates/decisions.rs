//! What a person decides on: an action, or a question. Asked for, waited for, and taken up again.

use super::actions::Action;
use super::{Doing, MandateStatus, summary, waiting};
use crate::local::agent::{Ask, Branches};
use crate::local::clock::Moment;
use crate::local::workspace::Workspace;
use crate::local::workspace::approvals;
use crate::local::workspace::limits::unconfirmed;
use crate::local::workspace::store::Serial;
use crate::model::approvals::{ApprovalAction, ApprovalInputs, ApprovalStatus};

/// What waits for a person.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) approval: Serial,
    subject: Subject,
    /// When the time to decide is over; `None` once that is settled.
    pub(super) expires: Option<Moment>,
    /// What the person gave with the decision.
    inputs: ApprovalInputs,
}

#[derive(Debug)]
enum Subject {
    /// Whether an action may run.
    Action(Box<Action>),
    /// Something that only a person knows.
    Question(Ask),
}

impl Workspace {
    /// Puts an action before a person, and waits.
    pub(super) fn ask(&mut self, serial: Serial, action: Action, at: Moment) {
        let (Some(proposal), Some(record)) = (self.proposal(&action), self.mandates.get(serial)) else {
            return;
        };
        let price = proposal.cost(&record.mandate.authority);
        let mut shown = approvals::shown(proposal.capability, proposal.arguments, price.as_ref());
        if let Some(fact) = unconfirmed(&proposal, &record.record.facts) {
            shown.consequence.push_str(&format!(" It rests on {}, which is {}.", fact.key, fact.status));
        }
        let question = approvals::permission(&shown.capability, price.as_ref());
        self.put(serial, Subject::Action(Box::new(action)), question, shown, at);
    }

    /// Asks a person for something that only they know, and waits.
    pub(super) fn question(&mut self, serial: Serial, ask: Ask, at: Moment) {
        let (question, shown) = (ask.question.clone(), approvals::request(&ask.question, &ask.fields));
        self.put(serial, Subject::Question(ask), question, shown, at);
    }

    fn put(&mut self, serial: Serial, subject: Subject, question: String, shown: ApprovalAction, at: Moment) {
        let Some(record) = self.mandates.get(serial) else { return };
        // After the mandate's own end a decision would be about nothing.
        let longest = at.after(approvals::TIME_TO_DECIDE);
        let expires = record.expires.map_or(longest, |end| end.min(longest));
        let Some(approval) = self.request_approval(serial, question, shown, expires, at) else { return };
        let inputs = ApprovalInputs::default();
        self.wait_for_decision(serial, Asked { approval, subject, expires: Some(expires), inputs }, at);
        self.announce(approval, at);
    }

    /// The decision on an action or a question, where there is one by now.
    pub(super) fn take_up(&mut self, serial: Serial, asked: Asked, at: Moment) {
        let status = self.approvals.get(asked.approval).map(|record| record.approval.status.clone());
        match (status, asked.subject) {
            (Some(ApprovalStatus::Pending), subject) => {
                self.wait_for_decision(serial, Asked { subject, ..asked }, at);
            }
            (Some(ApprovalStatus::Approved), Subject::Action(mut action)) => {
                action.inputs = asked.inputs;
                self.run_approved(serial, *action, at);
            }
            (Some(ApprovalStatus::Approved), Subject::Question(ask)) => {
                let Some(record) = self.mandates.get_mut(serial) else { return };
                record.given = asked.inputs;
                record.plan.first(ask.decided.approved);
                self.work(serial, format!("Answered: {}", ask.question), at);
            }
            (Some(ApprovalStatus::Rejected), subject) => self.refused(serial, subject, at),
            (_, Subject::Action(action)) => self.consider(serial, *action, at),
            (_, Subject::Question(ask)) => self.question(serial, ask, at),
        }
    }

    /// The limits are checked again right before it runs (documented).
    fn run_approved(&mut self, serial: Serial, mut action: Action, at: Moment) {
        if let Some(blocked) = self.forbidden(serial, &action, at) {
            return self.block(serial, &action, blocked, at);
        }
        if let Some(record) = self.mandates.get_mut(serial) {
            record.plan.first(std::mem::take(&mut action.act.decided.approved));
        }
        self.start(serial, action, at);
    }

    /// A rejection refuses the action, not the mandate (documented).
    fn refused(&mut self, serial: Serial, subject: Subject, at: Moment) {
        let name = subject.name().to_owned();
        let text = match &subject {
            Subject::Action(_) => format!("A person refused {name}. Going on without it."),
            Subject::Question(ask) => {
                format!("A person gave no answer to: {} Going on without it.", ask.question)
            }
        };
        if let Subject::Action(action) = &subject {
            self.attempted(serial, &name, &action.arguments, false);
        }
        let Some(record) = self.mandates.get_mut(serial) else { return };
        record.tally.refused.push(name);
        record.plan.first(subject.into_branches().rejected);
        self.work(serial, text, at);
    }

    fn wait_for_decision(&mut self, serial: Serial, asked: Asked, at: Moment) {
        let until = asked.expires.map(|expires| self.epoch.timestamp(expires).to_string());
        let day =
            until.and_then(|time| time.get(..10).map(|day| format!(", until {day}"))).unwrap_or_default();
        let state = match &asked.subject {
            Subject::Action(action) => {
                let name = &action.act.capability;
                waiting(
                    format!("Asked whether {name} may run."),
                    format!("A person's decision on {name}{day}"),
                )
            }
            Subject::Question(ask) => {
                waiting(format!("Asked: {}", ask.question), format!("A person's answer{day}"))
            }
        };
        let Some(record) = self.mandates.get_mut(serial) else { return };
        record.doing = Doing::Decision(Box::new(asked));
        record.next_step = None;
        self.transition(serial, MandateStatus::NeedsApproval, state, at);
    }

    /// What a person decided.
    pub(in crate::local::workspace) fn decided(
        &mut self,
        serial: Serial,
        inputs: ApprovalInputs,
        at: Moment,
    ) {
        let Some(record) = self.mandates.get_mut(serial) else { return };
        let Doing::Decision(asked) = &mut record.doing else { return };
        asked.expires = None;
        asked.inputs = inputs;
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
        let approval = asked.approval;
        let what = match &asked.subject {
            Subject::Action(action) => format!("decided on {}", action.act.capability),
            Subject::Question(_) => "answered".to_owned(),
        };
        let waits = record.mandate.status == MandateStatus::NeedsApproval;
        self.resolve(approval, ApprovalStatus::Expired, None, at);
        if waits {
            let state = summary(format!("Paused: nobody {what} in time. Once resumed it asks again."));
            self.transition(serial, MandateStatus::Paused, state, at);
        } else {
            self.reschedule(serial);
        }
    }
}

impl Subject {
    fn name(&self) -> &str {
        match self {
            Self::Action(action) => &action.act.capability,
            Self::Question(_) => approvals::INPUT,
        }
    }

    fn into_branches(self) -> Branches {
        match self {
            Self::Action(action) => action.act.decided,
            Self::Question(ask) => ask.decided,
        }
    }
}
