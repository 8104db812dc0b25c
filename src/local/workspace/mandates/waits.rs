//! Waits for a reply or for a time: what a mandate sleeps through, and what wakes it.

use std::time::Duration;

use super::{Doing, MandateRecord, MandateStatus, waiting};
use crate::local::agent::text::{sentence, time};
use crate::local::agent::{Await, Sent, Step, outcome};
use crate::local::clock::Moment;
use crate::local::script::Replied;
use crate::local::workspace::Workspace;
use crate::local::workspace::store::Serial;
use crate::model::capabilities::CapabilityEffect;
use crate::model::mandates::MandateState;

/// How many replies are kept for a mandate that does not wait for them.
const MOST_KEPT: usize = 100;
/// Whoever answers when nobody has a name.
const SOMEBODY: &str = "the other side of the conversation";

/// A wait, also one that goes on while the mandate is paused.
#[derive(Debug)]
pub(super) struct Wait {
    until: Moment,
    reply: Option<Expected>,
    state: MandateState,
}

/// A reply that is waited for.
#[derive(Debug)]
struct Expected {
    capability: String,
    /// Who is to answer; `None` when the action does not say to whom it went.
    party: Option<String>,
    /// When it comes; that may be too late.
    arrives: Moment,
    text: Option<String>,
    what: String,
    /// What there is to find out.
    question: String,
    limit: Duration,
    otherwise: Vec<Step>,
}

/// A reply that nobody waits for yet.
#[derive(Debug)]
pub(crate) struct Mail {
    from: String,
    text: String,
}

impl Wait {
    /// When it ends, one way or another.
    pub(super) fn due(&self) -> Moment {
        self.reply.as_ref().map_or(self.until, |reply| reply.arrives.min(self.until))
    }
}

impl Workspace {
    /// Sleeps for a time.
    pub(super) fn sleep(&mut self, serial: Serial, duration: Duration, what: Option<String>, at: Moment) {
        let until = at.after(duration);
        let what = what.unwrap_or_else(|| format!("a set time, {}", self.epoch.timestamp(until)));
        let state = waiting("Waiting for a set time.".to_owned(), sentence(&what));
        self.wait(serial, Wait { until, reply: None, state }, at);
    }

    /// Waits for a reply, if one can come: whatever never went out can't be answered, and a wait for that is refused
    /// (documented). Whether it waits, or plans again.
    pub(super) fn await_reply(&mut self, serial: Serial, wait: Await, at: Moment) -> bool {
        let Some(record) = self.mandates.get_mut(serial) else { return false };
        let (capability, party) = match record.answerable(&wait.to) {
            Ok(sent) => sent,
            // Whoever plans by itself does not even try.
            Err(_) if matches!(wait.to, Sent::By(_)) => return false,
            Err(why) => {
                self.refuse_wait(serial, &wait, &why, at);
                return true;
            }
        };
        let name = party.clone().unwrap_or_else(|| SOMEBODY.to_owned());
        let done = match capability.as_str() {
            "phone.call" => format!("Called {name}."),
            "email.send" | "mailbox.send" | "mailbox.reply" => format!("Wrote to {name}."),
            other => format!("Ran {other}."),
        };
        let what = wait.what.unwrap_or_else(|| match capability.as_str() {
            "phone.call" => format!("the end of the call with {name}"),
            _ => format!("a reply from {name}"),
        });
        let mut expected = Expected {
            capability,
            party,
            arrives: at.after(wait.after),
            text: wait.text,
            what,
            question: format!("What does {name} answer?"),
            limit: wait.limit,
            otherwise: wait.otherwise,
        };
        // One that came while the action was still at work, or since, has been kept (documented).
        if let Some(place) = record.mail.iter().position(|mail| expected.answered_by(&mail.from)) {
            expected.receive(record.mail.remove(place), at);
        }
        let state = waiting(done, sentence(&expected.what));
        if let Some(mut scribe) = self.scribe(serial, at) {
            scribe.need(expected.question.clone());
        }
        self.wait(serial, Wait { until: at.after(wait.limit), reply: Some(expected), state }, at);
        true
    }

    fn refuse_wait(&mut self, serial: Serial, wait: &Await, why: &str, at: Moment) {
        let what = wait.what.as_deref().unwrap_or("a reply");
        if let Some(mut scribe) = self.scribe(serial, at) {
            scribe.issue(format!("How is {what} to come? The wait for it was refused: {why}."));
        }
        self.work(serial, format!("Can't wait for {what}: {why}. Planning again."), at);
    }

    /// Waits, or goes on waiting.
    pub(super) fn wait(&mut self, serial: Serial, wait: Wait, at: Moment) {
        let Some(record) = self.mandates.get_mut(serial) else { return };
        let state = wait.state.clone();
        record.doing = Doing::Waiting(Box::new(wait));
        self.transition(serial, MandateStatus::WaitingExternal, state, at);
    }

    /// What a wait has come to. Without a reply the agent decides what to do next (documented). Whether there is
    /// anything to say about it.
    pub(super) fn wake(&mut self, serial: Serial, wait: Wait, at: Moment) -> bool {
        let Some(expected) = wait.reply else { return false };
        if expected.arrives > wait.until {
            let Some(record) = self.mandates.get_mut(serial) else { return false };
            record.plan.first(expected.otherwise);
            let text = format!("{} did not come in {}.", sentence(&expected.what), time(expected.limit));
            self.work(serial, text, at);
            return true;
        }
        let party = expected.party.as_deref().unwrap_or(SOMEBODY);
        let Some(mut scribe) = self.scribe(serial, at) else { return false };
        let day = scribe.promised_day();
        let reply = outcome::reply(&expected.capability, party, &day, expected.text.as_deref());
        let source = scribe.reply(reply, &expected.question);
        if let Some(record) = self.mandates.get_mut(serial) {
            record.source = Some(source);
        }
        false
    }

    /// Takes in a reply. Only one that matches what the mandate waits for wakes it; one to something that it did, or
    /// is about to have done, is kept until it waits for that (documented).
    pub(crate) fn reply(&mut self, id: &str, mail: Mail, now: Moment) -> Replied {
        let Some(serial) = self.mandates.serial(id) else { return Replied::Refused };
        let Some(record) = self.mandates.get_mut(serial) else { return Replied::Refused };
        if let Doing::Waiting(wait) = &mut record.doing {
            if let Some(expected) = wait.reply.as_mut().filter(|expected| expected.answered_by(&mail.from)) {
                // While the mandate is paused one may be there already, or the wait may be over.
                if now < expected.arrives && now <= wait.until {
                    expected.receive(mail, now);
                    if record.mandate.status != MandateStatus::WaitingExternal {
                        return Replied::Kept;
                    }
                    self.go_on(serial, now);
                    return Replied::Woke;
                }
            }
        }
        let Some(record) = self.mandates.get(serial) else { return Replied::Refused };
        let has_room = !record.mandate.status.is_terminal() && record.mail.len() < MOST_KEPT;
        let kept = has_room && self.may_come(record, &mail);
        match self.mandates.get_mut(serial).filter(|_| kept) {
            Some(record) => {
                record.mail.push(mail);
                Replied::Kept
            }
            None => Replied::Refused,
        }
    }

    /// Whether anything went out, or is going out, that this could answer.
    fn may_come(&self, record: &MandateRecord, mail: &Mail) -> bool {
        let to = |party: Option<&str>| party.is_none_or(|party| party == mail.from);
        let sent = record.tally.attempts.iter().any(|sent| sent.went && to(sent.party.as_deref()));
        let Doing::Action(underway) = &record.doing else { return sent };
        let capability = self.capabilities.latest(&underway.run.capability);
        let writes = capability.is_some_and(|found| found.effect != CapabilityEffect::Read);
        sent || (writes && to(underway.run.arguments["to"].as_str()))
    }
}

impl MandateRecord {
    /// What a reply would answer and who would give it, or why none can come.
    fn answerable(&self, to: &Sent) -> Result<(String, Option<String>), String> {
        let mut attempts = self.tally.attempts.iter().rev();
        let attempt = match to {
            Sent::Last => attempts.next(),
            Sent::To(party) => attempts
                .clone()
                .find(|sent| sent.party.as_ref() == Some(party))
                .or_else(|| attempts.find(|sent| sent.party.is_none())),
            // Of several the first that went out is answered.
            Sent::By(name) => attempts.rev().find(|sent| sent.went && sent.capability == *name),
        };
        let party = match to {
            Sent::To(party) => Some(party.clone()),
            Sent::Last | Sent::By(_) => attempt.and_then(|sent| sent.party.clone()),
        };
        match attempt {
            None => Err(match party {
                Some(party) => format!("nothing was sent to {party}"),
                None => "nothing was sent".to_owned(),
            }),
            Some(sent) if !sent.went => Err(format!("{} never went out", sent.capability)),
            Some(sent) => Ok((sent.capability.clone(), party)),
        }
    }
}

impl Expected {
    fn answered_by(&self, from: &str) -> bool {
        self.party.as_deref().is_none_or(|party| party == from)
    }

    fn receive(&mut self, mail: Mail, at: Moment) {
        self.arrives = at;
        self.text = Some(mail.text);
        self.party = Some(mail.from);
    }
}

impl Mail {
    pub(crate) fn new(from: String, text: String) -> Self {
        Self { from, text }
    }
}
