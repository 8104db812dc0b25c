//! All that the server knows. No I/O and no clock: whoever calls says what time it is.

use crate::local::clock::{Epoch, Moment};
use crate::local::idempotency::Ledger;

mod agenda;
mod agents;
mod authority;
mod mandates;
pub(crate) mod store;

use agenda::Agenda;
use agents::AgentRecord;
pub(crate) use mandates::Filter as MandateFilter;
use mandates::MandateRecord;
use store::Store;

/// The state of the server.
#[derive(Debug)]
pub(crate) struct Workspace {
    epoch: Epoch,
    random: fastrand::Rng,
    agents: Store<AgentRecord>,
    mandates: Store<MandateRecord>,
    agenda: Agenda,
    pub(crate) ledger: Ledger,
}

impl Workspace {
    pub(crate) fn new(epoch: Epoch, random: fastrand::Rng) -> Self {
        Self {
            epoch,
            random,
            agents: Store::default(),
            mandates: Store::default(),
            agenda: Agenda::default(),
            ledger: Ledger::default(),
        }
    }

    /// Lets happen whatever is due by now, in the order and with the time at which it was due.
    pub(crate) fn advance(&mut self, now: Moment) {
        while let Some((at, serial)) = self.agenda.first().filter(|(at, _)| *at <= now) {
            self.wake_mandate(serial, at);
        }
    }

    /// When something happens next by itself.
    pub(crate) fn next_due(&self) -> Option<Moment> {
        self.agenda.first().map(|(at, _)| at)
    }

    fn new_id(&mut self, prefix: &str) -> String {
        new_id(prefix, &mut self.random)
    }
}

/// An id that no other server gave either, so that one kept from an earlier run finds nothing rather than
/// something else.
pub(crate) fn new_id(prefix: &str, random: &mut fastrand::Rng) -> String {
    const LENGTH: usize = 16;
    let mut id = String::with_capacity(prefix.len() + LENGTH);
    id.push_str(prefix);
    id.extend(std::iter::repeat_with(|| random.digit(36)).take(LENGTH));
    id
}
