//! Which mandates are to be read next, and in which order.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use crate::model::types::MandateId;

/// Why a mandate is to be read; the most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Urgency {
    /// As `Alone` and `Due`, and somebody's time is over: this read decides, and is made also while reads fail.
    LastAlone,
    LastDue,
    /// An event told of it, or a list told nothing of it.
    Alone,
    /// It was read alone, and didn't tell yet what an event did.
    Again,
    /// A list does as well.
    Due,
    /// The last read of it failed: any other shows sooner whether reads are answered.
    Failing,
}

impl Urgency {
    /// The most urgent first.
    pub(super) const ALL: [Self; 6] =
        [Self::LastAlone, Self::LastDue, Self::Alone, Self::Again, Self::Due, Self::Failing];

    /// When it is the turn of those that are due.
    pub(super) const DUE_FIRST: [Self; 6] =
        [Self::LastAlone, Self::LastDue, Self::Due, Self::Alone, Self::Again, Self::Failing];

    /// When it is the turn of those whose last read failed.
    pub(super) const FAILING_FIRST: [Self; 6] =
        [Self::LastAlone, Self::LastDue, Self::Failing, Self::Alone, Self::Again, Self::Due];

    pub(super) fn is_last(self) -> bool {
        matches!(self, Self::LastAlone | Self::LastDue)
    }

    pub(super) fn is_alone(self) -> bool {
        matches!(self, Self::LastAlone | Self::Alone | Self::Again)
    }

    /// The same when somebody's time is over.
    pub(super) fn last(self) -> Self {
        if self.is_alone() { Self::LastAlone } else { Self::LastDue }
    }
}

/// Where a mandate stands in the line.
pub(super) type Place = (Urgency, u64);

/// Each mandate stands in the line once at most, and once among those for later.
#[derive(Debug, Default)]
pub(super) struct Agenda {
    line: BTreeMap<Place, MandateId>,
    arrived: u64,
    later: BTreeSet<(Instant, MandateId)>,
}

impl Agenda {
    pub(super) fn add(&mut self, id: MandateId, urgency: Urgency) -> Place {
        self.arrived += 1;
        self.line.insert((urgency, self.arrived), id);
        (urgency, self.arrived)
    }

    pub(super) fn remove(&mut self, place: Place) {
        self.line.remove(&place);
    }

    /// How many there are, counted up to `most`.
    pub(super) fn count(&self, urgency: Urgency, most: usize) -> usize {
        self.line.range((urgency, 0)..=(urgency, u64::MAX)).take(most).count()
    }

    /// How many there are that no list does for, counted up to `most`.
    pub(super) fn count_alone(&self, most: usize) -> usize {
        let alone = Urgency::ALL.into_iter().filter(|urgency| urgency.is_alone());
        alone.fold(0, |count, urgency| most.min(count + self.count(urgency, most - count)))
    }

    /// Takes out those that came first.
    pub(super) fn take(&mut self, urgency: Urgency, most: usize) -> Vec<MandateId> {
        let places = self.line.range((urgency, 0)..=(urgency, u64::MAX)).take(most);
        let places: Vec<Place> = places.map(|(place, _)| *place).collect();
        places.iter().filter_map(|place| self.line.remove(place)).collect()
    }

    /// To be added at that time, and no longer at the one before.
    pub(super) fn put_off(&mut self, id: &MandateId, before: Option<Instant>, to: Option<Instant>) {
        if let Some(before) = before {
            self.later.remove(&(before, id.clone()));
        }
        if let Some(to) = to {
            self.later.insert((to, id.clone()));
        }
    }

    pub(super) fn first_later(&self) -> Option<Instant> {
        self.later.first().map(|(at, _)| *at)
    }

    /// Takes out what was put off the least.
    pub(super) fn take_later(&mut self) -> Option<MandateId> {
        self.later.pop_first().map(|(_, id)| id)
    }
}
