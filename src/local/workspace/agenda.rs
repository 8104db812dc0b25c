//! When something is due next, and for whom.

use std::collections::{BTreeSet, HashMap};

use super::store::Serial;
use crate::local::clock::Moment;

/// At most one moment for each mandate.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    moments: BTreeSet<(Moment, Serial)>,
    by_serial: HashMap<Serial, Moment>,
}

impl Agenda {
    /// Replaces the mandate's moment; `None` means that it waits for nothing.
    pub(crate) fn set(&mut self, serial: Serial, due: Option<Moment>) {
        let before = match due {
            Some(moment) => self.by_serial.insert(serial, moment),
            None => self.by_serial.remove(&serial),
        };
        if let Some(before) = before {
            self.moments.remove(&(before, serial));
        }
        self.moments.extend(due.map(|moment| (moment, serial)));
    }

    /// All moments, the earliest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Moment, Serial)> {
        self.moments.iter().copied()
    }

    /// The earliest moment of all.
    pub(crate) fn first(&self) -> Option<(Moment, Serial)> {
        self.moments.first().copied()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_earliest_comes_first_and_each_has_one_moment() {
        let at = |milliseconds| Moment::default().after(Duration::from_millis(milliseconds));
        let mut agenda = Agenda::default();
        agenda.set(1, Some(at(20)));
        agenda.set(2, Some(at(10)));
        assert_eq!(agenda.first(), Some((at(10), 2)));
        agenda.set(2, Some(at(30)));
        assert_eq!(agenda.first(), Some((at(20), 1)));
        agenda.set(1, None);
        agenda.set(2, Some(at(30)));
        assert_eq!(agenda.first(), Some((at(30), 2)));
        agenda.set(2, None);
        assert_eq!(agenda.first(), None);
    }
}
