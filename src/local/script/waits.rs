//! What can be said of a wait for a reply: from whom, what it says, how long it is waited for, and what then.

use std::time::Duration;

use super::Script;
use crate::local::agent::{Await, Sent, Step};

impl Script {
    /// Who replies: it answers the last action that went to them (`to`), or the last one that does not say to whom it
    /// went. Without this it is whoever the last action went to.
    #[must_use]
    pub fn from(self, party: impl Into<String>) -> Self {
        let party = party.into();
        self.of_wait("from", |wait| wait.to = Sent::To(party))
    }

    /// What the reply says. Without this it thanks, and promises what was asked for.
    #[must_use]
    pub fn reply(self, text: impl Into<String>) -> Self {
        let text = text.into();
        self.of_wait("reply", |wait| wait.text = Some(text))
    }

    /// How long the reply is waited for: 24 hours unless this says another time (documented). Then the agent wakes
    /// without it.
    #[must_use]
    pub fn limit(self, limit: Duration) -> Self {
        self.of_wait("limit", |wait| wait.limit = limit)
    }

    /// What else is done when the reply does not come in time.
    #[must_use]
    pub fn otherwise(mut self, steps: impl FnOnce(Self) -> Self) -> Self {
        let steps = self.branch(steps);
        self.of_wait("otherwise", |wait| wait.otherwise = steps)
    }

    fn of_wait(self, what: &str, change: impl FnOnce(&mut Await)) -> Self {
        self.of_last(what, "no wait for a reply", change, |step| match step {
            Step::Await(wait) => Some(wait),
            _ => None,
        })
    }
}
