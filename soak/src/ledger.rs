//! The history of the server, and how far everybody got in it.

use std::collections::{HashMap, VecDeque};

use shadway::events::EventType;
use shadway::types::EventId;

/// How many events are kept at least behind the slowest, so that what is repeated is found to be that.
const KEPT: usize = 2_000;

/// How many events or deliveries may be under way to somebody. The server forgets deliveries that nobody takes, beyond
/// 10,000.
const BEHIND: u64 = 6_000;

/// Which events somebody is to get.
pub(crate) type Wanted = fn(&EventType) -> bool;

pub(crate) fn all(_: &EventType) -> bool {
    true
}

pub(crate) fn decisions(event_type: &EventType) -> bool {
    matches!(event_type, EventType::MandateApprovalRequested | EventType::ApprovalResolved)
}

pub(crate) fn begun(event_type: &EventType) -> bool {
    *event_type == EventType::CapabilityExecutionStarted
}

pub(crate) fn done(event_type: &EventType) -> bool {
    *event_type == EventType::CapabilityExecutionCompleted
}

/// The events that happened, in their order, and who was given which.
#[derive(Debug, Default)]
pub(crate) struct Ledger {
    entries: VecDeque<Entry>,
    /// The number of the first entry; all before it are settled.
    first: u64,
    numbers: HashMap<EventId, u64>,
    readers: Vec<Reader>,
    receivers: Vec<Receiver>,
}

#[derive(Debug)]
struct Entry {
    id: EventId,
    event_type: EventType,
    /// How often each receiver handled it.
    handled: Vec<u32>,
}

/// Is given each event once, in order.
#[derive(Debug)]
struct Reader {
    name: &'static str,
    wanted: Wanted,
    /// The number of the first event that it was not given.
    next: u64,
    /// What it was given before the ledger had it.
    early: VecDeque<Read>,
    counts: Counts,
}

#[derive(Debug, Clone, PartialEq)]
enum Read {
    Event(EventId),
    /// It began again where its checkpoint was, so the last event may come once more.
    Restart,
}

/// Handles each event once, in whatever order.
#[derive(Debug)]
struct Receiver {
    name: &'static str,
    wanted: Wanted,
    /// How many events it is still to handle.
    open: u64,
    early: HashMap<EventId, u32>,
    counts: Counts,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub(crate) events: u64,
    pub(crate) lost: u64,
    pub(crate) repeated: u64,
    /// Given again after a restart, as is documented.
    pub(crate) after_restart: u64,
    /// Nobody knows of such an event.
    pub(crate) unknown: u64,
    restarted: bool,
}

impl Ledger {
    pub(crate) fn reader(&mut self, name: &'static str, wanted: Wanted) -> usize {
        self.readers.push(Reader {
            name,
            wanted,
            next: 0,
            early: VecDeque::new(),
            counts: Counts::default(),
        });
        self.readers.len() - 1
    }

    pub(crate) fn receiver(&mut self, name: &'static str, wanted: Wanted) -> usize {
        let (early, counts) = (HashMap::new(), Counts::default());
        self.receivers.push(Receiver { name, wanted, open: 0, early, counts });
        self.receivers.len() - 1
    }

    /// How many events happened.
    pub(crate) fn events(&self) -> u64 {
        self.first + self.entries.len() as u64
    }

    /// Whether somebody is far behind: not by a single delivery that failed several times in a row, and takes minutes.
    pub(crate) fn lags(&self) -> bool {
        let read = self.readers.iter().map(|reader| self.events() - reader.next);
        read.chain(self.receivers.iter().map(|receiver| receiver.open)).any(|behind| behind > BEHIND)
    }

    /// The next event of the history.
    pub(crate) fn happened(&mut self, id: EventId, event_type: EventType) {
        self.numbers.insert(id.clone(), self.events());
        let early = self.receivers.iter_mut().map(|receiver| {
            let handled = receiver.early.remove(&id).unwrap_or_default();
            receiver.open += u64::from(handled == 0 && (receiver.wanted)(&event_type));
            handled
        });
        let handled = early.collect();
        self.entries.push_back(Entry { id, event_type, handled });
        for reader in 0..self.readers.len() {
            self.catch_up(reader);
        }
        self.forget();
    }

    /// A reader was given an event.
    pub(crate) fn read(&mut self, reader: usize, id: &EventId) {
        self.readers[reader].early.push_back(Read::Event(id.clone()));
        self.catch_up(reader);
    }

    /// A reader began again at its checkpoint.
    pub(crate) fn restarted(&mut self, reader: usize) {
        self.readers[reader].early.push_back(Read::Restart);
        self.catch_up(reader);
    }

    /// A receiver handled an event.
    pub(crate) fn handled(&mut self, receiver: usize, id: &EventId) {
        let to = &mut self.receivers[receiver];
        to.counts.events += 1;
        let entry =
            self.numbers.get(id).and_then(|number| self.entries.get_mut((number - self.first) as usize));
        match entry {
            Some(entry) => {
                entry.handled[receiver] += 1;
                to.counts.repeated += u64::from(entry.handled[receiver] > 1);
                to.open -= u64::from(entry.handled[receiver] == 1 && (to.wanted)(&entry.event_type));
            }
            None => *to.early.entry(id.clone()).or_default() += 1,
        }
    }

    /// Goes on with a reader as far as the history is known.
    fn catch_up(&mut self, number: usize) {
        let Self { entries, first, numbers, readers, .. } = self;
        let reader = &mut readers[number];
        let wanted = |at: u64| {
            let index = usize::try_from(at.checked_sub(*first)?).ok()?;
            entries.get(index).map(|entry| (reader.wanted)(&entry.event_type))
        };
        while let Some(read) = reader.early.front() {
            let id = match read {
                Read::Restart => {
                    reader.counts.restarted = true;
                    reader.early.pop_front();
                    continue;
                }
                Read::Event(id) => id,
            };
            let Some(&at) = numbers.get(id) else { break };
            let restarted = std::mem::take(&mut reader.counts.restarted);
            if at >= reader.next {
                reader.counts.events += 1;
                reader.counts.lost += (reader.next..at).filter(|at| wanted(*at) == Some(true)).count() as u64;
                reader.next = at + 1;
            } else if restarted && (at + 1..reader.next).all(|at| wanted(at) != Some(true)) {
                reader.counts.after_restart += 1;
            } else {
                reader.counts.repeated += 1;
            }
            reader.early.pop_front();
        }
    }

    /// Forgets what everybody had long ago.
    fn forget(&mut self) {
        while self.entries.len() > KEPT {
            // Not the last ones that somebody was given: those may come again after a restart.
            let read = self.readers.iter().all(|reader| reader.next > self.first + KEPT as u64);
            let settled = |entry: &Entry| {
                let pairs = self.receivers.iter().zip(&entry.handled);
                pairs
                    .into_iter()
                    .all(|(receiver, handled)| *handled > 0 || !(receiver.wanted)(&entry.event_type))
            };
            if !read || !self.entries.front().is_some_and(settled) {
                return;
            }
            if let Some(entry) = self.entries.pop_front() {
                self.numbers.remove(&entry.id);
                self.first += 1;
            }
        }
    }

    /// Whether everybody was given all there is.
    pub(crate) fn is_settled(&self) -> bool {
        self.result().iter().all(|(_, counts)| counts.lost == 0 && counts.unknown == 0)
    }

    /// What came of everybody, with what has not come yet as lost.
    pub(crate) fn result(&self) -> Vec<(&'static str, Counts)> {
        let readers = self.readers.iter().map(|reader| {
            let from = usize::try_from(reader.next.saturating_sub(self.first)).unwrap_or(usize::MAX);
            let missing = self.entries.iter().skip(from).filter(|entry| (reader.wanted)(&entry.event_type));
            let unknown = reader.early.iter().filter(|read| **read != Read::Restart).count();
            let mut counts = reader.counts;
            counts.lost += missing.count() as u64;
            counts.unknown = unknown as u64;
            (reader.name, counts)
        });
        let receivers = self.receivers.iter().enumerate().map(|(number, receiver)| {
            let missing = self
                .entries
                .iter()
                .filter(|entry| entry.handled[number] == 0 && (receiver.wanted)(&entry.event_type));
            let mut counts = receiver.counts;
            counts.lost += missing.count() as u64;
            counts.unknown = receiver.early.values().map(|times| u64::from(*times)).sum();
            (receiver.name, counts)
        });
        readers.chain(receivers).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: usize) -> EventId {
        EventId::from(format!("evt_{number}"))
    }

    fn ledger(events: usize) -> Ledger {
        let mut ledger = Ledger::default();
        ledger.reader("all", |_| true);
        ledger.receiver("all", |_| true);
        (0..events).for_each(|number| ledger.happened(id(number), EventType::ApprovalResolved));
        ledger
    }

    fn counts(ledger: &Ledger, of: usize) -> [u64; 5] {
        let counts = ledger.result()[of].1;
        [counts.events, counts.lost, counts.repeated, counts.after_restart, counts.unknown]
    }

    #[test]
    fn what_is_lost_repeated_or_unknown_is_told() {
        let mut ledger = ledger(4);
        for number in [0, 2, 2, 1] {
            ledger.read(0, &id(number));
        }
        assert_eq!(counts(&ledger, 0), [2, 2, 2, 0, 0], "1 and 3 are lost, 2 came twice and 1 too late");
        ledger.read(0, &id(9));
        assert_eq!(counts(&ledger, 0), [2, 2, 2, 0, 1]);
        for number in [3, 0, 0, 9] {
            ledger.handled(0, &id(number));
        }
        assert_eq!(counts(&ledger, 1), [4, 2, 1, 0, 1]);
    }

    #[test]
    fn who_is_ahead_of_the_history_is_not_wrong() {
        let mut ledger = ledger(0);
        ledger.read(0, &id(0));
        ledger.handled(0, &id(0));
        assert!(!ledger.is_settled());
        ledger.happened(id(0), EventType::ApprovalResolved);
        assert!(ledger.is_settled());
        assert_eq!(counts(&ledger, 0), [1, 0, 0, 0, 0]);
        ledger.handled(0, &id(0));
        assert_eq!(counts(&ledger, 1), [2, 0, 1, 0, 0]);
    }

    #[test]
    fn only_the_last_may_come_again_and_only_after_a_restart() {
        let mut ledger = ledger(3);
        let all: [&[usize]; 3] = [&[0, 1], &[1, 2], &[1]];
        for run in all {
            run.iter().for_each(|number| ledger.read(0, &id(*number)));
            ledger.restarted(0);
        }
        assert_eq!(counts(&ledger, 0), [3, 0, 1, 1, 0]);
    }

    #[test]
    fn who_is_slow_may_restart_too() {
        let mut ledger = ledger(1);
        ledger.read(0, &id(0));
        ledger.handled(0, &id(0));
        for number in 1..5 * KEPT {
            ledger.happened(id(number), EventType::ApprovalResolved);
            ledger.handled(0, &id(number));
        }
        assert!(ledger.lags());
        ledger.restarted(0);
        (0..5 * KEPT).for_each(|number| ledger.read(0, &id(number)));
        assert_eq!(counts(&ledger, 0), [5 * KEPT as u64, 0, 0, 1, 0]);
        assert!(ledger.is_settled() && !ledger.lags());
    }

    #[test]
    fn what_all_have_is_forgotten_and_still_known_to_be_repeated() {
        let mut ledger = ledger(0);
        for number in 0..3 * KEPT {
            ledger.happened(id(number), EventType::ApprovalResolved);
            ledger.read(0, &id(number));
            ledger.handled(0, &id(number));
        }
        assert!(ledger.entries.len() <= KEPT + 1 && ledger.is_settled());
        ledger.handled(0, &id(0));
        ledger.read(0, &id(0));
        assert!(!ledger.is_settled());
    }
}
