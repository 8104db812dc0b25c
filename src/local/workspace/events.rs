//! Everything that happened, in one line: each event once, at a position that only rises.

use std::collections::{HashMap, VecDeque};

use super::Workspace;
use super::store::{Serial, Window, page};
use crate::local::answer::Result;
use crate::local::clock::Moment;
use crate::local::stream::START;
use crate::model::events::{Event, EventData, Sent};
use crate::model::json::RawFields;
use crate::model::page::Page;
use crate::model::types::EventId;

/// How many events are kept; the oldest go first. In a list they are then missing.
const KEPT: usize = 100_000;
/// Each number that this divides is left out of a mandate's sequence, since the service's has gaps (documented).
const GAP: u64 = 5;

/// The events that are kept, oldest first. Positions begin at 1.
#[derive(Debug)]
pub(crate) struct EventLog {
    events: VecDeque<Event>,
    /// The position of the newest event; 0 before the first.
    last: Serial,
    /// The positions of each mandate's events.
    by_mandate: HashMap<String, VecDeque<Serial>>,
    kept: usize,
}

impl Default for EventLog {
    fn default() -> Self {
        Self { events: VecDeque::new(), last: 0, by_mandate: HashMap::new(), kept: KEPT }
    }
}

impl EventLog {
    /// How far it goes: rises with every event.
    pub(crate) fn position(&self) -> Serial {
        self.last
    }

    /// The position of an event that is kept, or of the start; `None` for any other id.
    pub(crate) fn position_of(&self, id: &str) -> Option<Serial> {
        let first = self.first();
        if id == START {
            return (first == 1).then_some(0);
        }
        // Whoever resumes does so after a recent one.
        let index = self.events.iter().rposition(|event| event.id == *id)?;
        Some(first + index as Serial)
    }

    /// The id of the newest event, or of the start.
    pub(crate) fn last_id(&self) -> &str {
        self.events.back().map_or(START, |event| event.id.as_str())
    }

    /// Some of the events after a position, and the position of the last of them; `None` when they are no longer
    /// kept.
    pub(crate) fn following(&self, after: Serial, most: usize) -> Option<(Serial, Vec<Event>)> {
        if after > self.last {
            return None; // a position of before everything was forgotten
        }
        let skipped = usize::try_from((after + 1).checked_sub(self.first())?).ok()?;
        let events: Vec<_> = self.events.iter().skip(skipped).take(most).cloned().collect();
        Some((after + events.len() as Serial, events))
    }

    /// The position of the oldest event that is kept.
    fn first(&self) -> Serial {
        self.last + 1 - self.events.len() as Serial
    }

    fn append(&mut self, event: Event) {
        self.last += 1;
        self.by_mandate.entry(event.mandate.to_string()).or_default().push_back(self.last);
        self.events.push_back(event);
        if self.events.len() > self.kept {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        let Some(oldest) = self.events.pop_front() else { return };
        if let Some(positions) = self.by_mandate.get_mut(oldest.mandate.as_str()) {
            positions.pop_front();
            if positions.is_empty() {
                self.by_mandate.remove(oldest.mandate.as_str());
            }
        }
    }

    fn get(&self, position: Serial) -> Option<&Event> {
        self.events.get(usize::try_from(position.checked_sub(self.first())?).ok()?)
    }

    fn page(&self, window: &Window) -> Result<Page<Event>> {
        window.within(self.last)?;
        let following =
            (self.first().max(window.after() + 1)..=self.last).filter_map(|at| Some((at, self.get(at)?)));
        Ok(page(window, following, Event::clone))
    }

    fn page_of(&self, mandate: &str, after_sequence: u64, window: &Window) -> Result<Page<Event>> {
        window.within(self.last)?;
        let positions = self.by_mandate.get(mandate).into_iter().flatten();
        let following = positions
            .filter(|position| **position > window.after())
            .filter_map(|position| Some((*position, self.get(*position)?)))
            .filter(|(_, event)| event.sequence > after_sequence);
        Ok(page(window, following, Event::clone))
    }
}

impl Workspace {
    /// The one place where an event comes about.
    pub(super) fn emit(&mut self, mandate: Serial, data: EventData, at: Moment) {
        let id = EventId::from(self.new_id("evt_"));
        let created_at = Some(self.epoch.timestamp(at));
        let (Some(event_type), Some(record)) = (data.event_type(), self.mandates.get_mut(mandate)) else {
            return;
        };
        record.sequence = following(record.sequence);
        self.polls.answered(mandate, &data);
        let (sequence, mandate) = (record.sequence, record.mandate.id.clone());
        let extra = RawFields::default();
        let event =
            Event { id, event_type, sequence, mandate, created_at, data, extra, sent: Sent::default() };
        self.deliver(&event, at);
        self.events.append(event);
    }

    pub(crate) fn list_events(&self, window: &Window) -> Result<Page<Event>> {
        self.events.page(window)
    }

    /// In ascending sequence (documented).
    pub(crate) fn list_mandate_events(
        &self,
        mandate: &str,
        after_sequence: u64,
        window: &Window,
    ) -> Result<Page<Event>> {
        let mandate = &self.recorded(mandate)?.mandate.id;
        self.events.page_of(mandate.as_str(), after_sequence, window)
    }
}

fn following(sequence: u64) -> u64 {
    let next = sequence + 1;
    if is_gap(next) { next + 1 } else { next }
}

/// Whether no event of any mandate has this number.
pub(crate) fn is_gap(sequence: u64) -> bool {
    sequence % GAP == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::json::RawJson;
    use crate::model::types::MandateId;

    fn log(kept: usize, count: u64) -> EventLog {
        let mut log = EventLog { kept, ..EventLog::default() };
        for sequence in 1..=count {
            log.append(Event {
                id: EventId::from(format!("evt_{sequence}")),
                event_type: "a.b".into(),
                sequence,
                mandate: MandateId::from(if sequence % 2 == 0 { "even" } else { "odd" }),
                created_at: None,
                data: EventData::Unknown(RawJson::default()),
                extra: RawFields::default(),
                sent: Sent::default(),
            });
        }
        log
    }

    fn sequences(page: &Page<Event>) -> Vec<u64> {
        page.data.iter().map(|event| event.sequence).collect()
    }

    #[test]
    fn the_oldest_are_forgotten_and_positions_go_on() {
        let log = log(4, 9);
        assert_eq!(log.position(), 9);
        let window = Window::parse(Some("3"), None).unwrap();
        let first = log.page(&window).unwrap();
        assert_eq!(sequences(&first), [6, 7, 8]);
        let rest = log.page(&Window::parse(None, first.next_cursor()).unwrap()).unwrap();
        assert_eq!((sequences(&rest), rest.next_cursor), (vec![9], None));
        assert_eq!(log.by_mandate["odd"], [7, 9]);
    }

    #[test]
    fn a_follower_gets_what_comes_after_or_learns_that_it_is_gone() {
        let ids = |events: &[Event]| events.iter().map(|event| event.sequence).collect::<Vec<_>>();
        let empty = log(4, 0);
        assert_eq!((empty.last_id(), empty.position_of(START)), (START, Some(0)));
        assert_eq!(empty.following(0, 9), Some((0, vec![])));
        let log = log(4, 9);
        assert_eq!(log.last_id(), "evt_9");
        assert_eq!(log.position_of("evt_7"), Some(7));
        let (after, events) = log.following(7, 1).unwrap();
        assert_eq!((after, ids(&events)), (8, vec![8]));
        let (after, events) = log.following(5, 9).unwrap();
        assert_eq!((after, ids(&events)), (9, vec![6, 7, 8, 9]));
        assert_eq!(log.following(9, 9), Some((9, vec![])));
        for gone in ["evt_5", START, "evt_none"] {
            assert_eq!(log.position_of(gone), None, "{gone}");
        }
        assert_eq!(log.following(4, 9), None);
    }

    #[test]
    fn a_mandate_has_its_own_and_those_after_a_number() {
        let log = log(100, 9);
        let window = Window::parse(Some("2"), None).unwrap();
        let page = log.page_of("even", 2, &window).unwrap();
        assert_eq!(sequences(&page), [4, 6]);
        let rest = log.page_of("even", 2, &Window::parse(None, page.next_cursor()).unwrap()).unwrap();
        assert_eq!(sequences(&rest), [8]);
        assert!(log.page_of("none", 0, &window).unwrap().data.is_empty());
    }

    #[test]
    fn a_sequence_rises_and_has_gaps() {
        let numbers: Vec<u64> =
            std::iter::successors(Some(1), |last| Some(following(*last))).take(6).collect();
        assert_eq!(numbers, [1, 2, 3, 4, 6, 7]);
    }
}
