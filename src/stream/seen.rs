//! Which events have been given out already.

use std::collections::{HashSet, VecDeque};

use crate::model::events::Event;
use crate::model::types::{EventId, MandateId};

/// How many events are remembered: a service that replays does so from the cursor on, so a few would do.
pub(super) const REMEMBERED: usize = 4_096;
/// How many by one of many readers, which has been given no list.
const FEW: usize = 256;

/// The ids and the places (mandate and sequence) of the last events.
///
/// The highest sequence alone would need less memory, and would lose an event that comes after a later one.
#[derive(Debug)]
pub(crate) struct Seen {
    most: usize,
    ids: HashSet<EventId>,
    places: HashSet<(MandateId, u64)>,
    order: VecDeque<(EventId, Option<(MandateId, u64)>)>,
}

impl Default for Seen {
    fn default() -> Self {
        Self { most: REMEMBERED, ..Self::of_few() }
    }
}

impl Seen {
    /// One that remembers few, until it is told to remember more.
    pub(crate) fn of_few() -> Self {
        let (ids, places, order) = (HashSet::new(), HashSet::new(), VecDeque::new());
        Self { most: FEW, ids, places, order }
    }

    pub(crate) fn remember_more(&mut self) {
        self.most = REMEMBERED;
    }

    /// Whether the event comes for the first time, as far as that is remembered; from now on it is.
    pub(crate) fn is_new(&mut self, event: &Event) -> bool {
        // An event without a mandate or a number has no place.
        let place = Some((event.mandate.clone(), event.sequence))
            .filter(|(mandate, sequence)| !mandate.as_str().is_empty() && *sequence != 0);
        if !self.ids.insert(event.id.clone()) {
            return false;
        }
        if place.clone().is_some_and(|place| !self.places.insert(place)) {
            self.ids.remove(&event.id);
            return false;
        }
        if self.order.len() == self.most {
            if let Some((id, place)) = self.order.pop_front() {
                self.ids.remove(&id);
                if let Some(place) = place {
                    self.places.remove(&place);
                }
            }
        }
        self.order.push_back((event.id.clone(), place));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(id: &str, mandate: &str, sequence: u64) -> Event {
        let text = format!(r#"{{"id":"{id}","type":"x","sequence":{sequence},"mandate":"{mandate}"}}"#);
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn events_of_no_mandate_differ_by_their_id() {
        let event = |id: &str| serde_json::from_str(&format!(r#"{{"id":"{id}","type":"x"}}"#)).unwrap();
        let mut seen = Seen::default();
        assert!(seen.is_new(&event("a")) && seen.is_new(&event("b")) && !seen.is_new(&event("a")));
    }

    #[test]
    fn events_without_a_number_differ_by_their_id() {
        let event =
            |id: &str| serde_json::from_str(&format!(r#"{{"id":"{id}","type":"x","mandate":"m"}}"#)).unwrap();
        let mut seen = Seen::default();
        assert!(seen.is_new(&event("a")) && seen.is_new(&event("b")) && !seen.is_new(&event("b")));
    }

    #[test]
    fn an_id_or_a_place_seen_before_is_a_repeat() {
        let mut seen = Seen::default();
        assert!(seen.is_new(&event("a", "m", 5)));
        assert!(!seen.is_new(&event("a", "m", 5)));
        assert!(!seen.is_new(&event("a", "m", 6)), "the same id");
        assert!(!seen.is_new(&event("b", "m", 5)), "the same place");
        assert!(seen.is_new(&event("b", "n", 5)), "another mandate counts on its own");
        assert!(seen.is_new(&event("c", "m", 2)), "a lower sequence never seen is no repeat");
    }

    #[test]
    fn the_memory_is_bounded() {
        let mut more = Seen::of_few();
        more.remember_more();
        for (mut seen, most) in [(Seen::default(), REMEMBERED), (Seen::of_few(), FEW), (more, REMEMBERED)] {
            for sequence in 0..3 * REMEMBERED as u64 {
                assert!(seen.is_new(&event(&format!("evt_{sequence}"), "m", sequence)));
            }
            for held in [seen.ids.len(), seen.places.len(), seen.order.len()] {
                assert_eq!(held, most);
            }
            let last = 3 * REMEMBERED as u64 - 1;
            assert!(!seen.is_new(&event(&format!("evt_{last}"), "m", last)));
        }
    }
}
