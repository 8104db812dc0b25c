//! Deliveries of events to webhook endpoints: what is due when and for whom, and what came of it.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use backon::BackoffBuilder as _;
use bytes::Bytes;

use super::Workspace;
use super::store::{Serial, Store};
use crate::local::clock::{Epoch, Moment};
use crate::local::deliveries::{
    DeliveryAttempt, DeliveryOutcome, DeliveryRecord, DeliveryState, RedeliverError,
};
use crate::model::events::{Event, EventType};
use crate::model::types::{EventId, WebhookEndpointId};
use crate::model::webhooks::WebhookSecret;

/// How long it is until the next attempt: at first (assumed), and at most (documented). Each time it is so many
/// times as long (assumed).
const FIRST_DELAY: Duration = Duration::from_secs(5);
const LONGEST_DELAY: Duration = Duration::from_secs(60 * 60);
const FACTOR: f32 = 4.0;
/// How often a delivery is tried, which takes some six and a half hours (assumed).
const ATTEMPTS: usize = 12;
/// How many attempts to one endpoint are under way at most; other deliveries to it wait.
const IN_FLIGHT: usize = 8;
/// How many deliveries are kept. Those that are over are forgotten first, then the oldest that are not: nobody has
/// taken them for long.
const KEPT: usize = 10_000;
/// How many attempts of one delivery are kept, which counts only for what is delivered again and again.
const KEPT_ATTEMPTS: usize = 100;

/// What is to be sent to an endpoint now.
#[derive(Debug)]
pub(crate) struct Attempt {
    delivery: Serial,
    pub(crate) endpoint: Serial,
    began: Moment,
    pub(crate) event_type: EventType,
    /// The delivery's id.
    pub(crate) id: String,
    pub(crate) url: String,
    pub(crate) body: Bytes,
    /// The newest, and the earlier ones that are still active.
    pub(crate) secrets: (WebhookSecret, Vec<WebhookSecret>),
}

/// All that are kept, and what is to come of them.
#[derive(Debug)]
pub(super) struct Deliveries {
    log: Store<Delivery>,
    over: BTreeSet<Serial>,
    /// One for each endpoint that had something to get.
    lanes: BTreeMap<Serial, Lane>,
    kept: usize,
    /// How many were forgotten before they were over.
    dropped: u64,
}

#[derive(Debug)]
struct Delivery {
    id: String,
    endpoint: Serial,
    endpoint_id: WebhookEndpointId,
    event: EventId,
    event_type: EventType,
    /// The event as it is streamed.
    body: Bytes,
    phase: Phase,
    /// How often it failed in a row.
    failures: usize,
    attempts: Vec<DeliveryAttempt>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Phase {
    Due(Moment),
    /// An attempt is under way; if `again`, another one follows whatever comes of it.
    Sending {
        again: bool,
    },
    Delivered,
    Failed,
}

/// What goes to one endpoint.
#[derive(Debug, Default)]
struct Lane {
    due: BTreeSet<(Moment, Serial)>,
    in_flight: usize,
}

impl Default for Deliveries {
    fn default() -> Self {
        Self { log: Store::default(), over: BTreeSet::new(), lanes: BTreeMap::new(), kept: KEPT, dropped: 0 }
    }
}

impl Deliveries {
    fn add(&mut self, delivery: Delivery, at: Moment) {
        self.lanes.entry(delivery.endpoint).or_default();
        let id = delivery.id.clone();
        let serial = self.log.insert(&id, delivery);
        self.set(serial, Phase::Due(at));
        if self.log.len() > self.kept {
            self.forget_one();
        }
    }

    /// When the next attempt is due that there is room for.
    pub(super) fn next_due(&self) -> Option<Moment> {
        self.first().map(|(at, _)| at)
    }

    fn first(&self) -> Option<(Moment, Serial)> {
        let with_room = self.lanes.values().filter(|lane| lane.in_flight < IN_FLIGHT);
        with_room.filter_map(|lane| lane.due.first()).min().copied()
    }

    /// Begins the first attempt that is due.
    fn begin(&mut self, now: Moment) -> Option<(Serial, &Delivery)> {
        let (_, serial) = self.first().filter(|(at, _)| *at <= now)?;
        self.set(serial, Phase::Sending { again: false });
        let delivery = self.log.get(serial)?;
        self.lanes.get_mut(&delivery.endpoint)?.in_flight += 1;
        Some((serial, delivery))
    }

    /// An attempt is over. With an endpoint that is not active, nothing follows.
    fn end(&mut self, attempt: &Attempt, made: DeliveryAttempt, active: bool, now: Moment) {
        if let Some(lane) = self.lanes.get_mut(&attempt.endpoint) {
            lane.in_flight = lane.in_flight.saturating_sub(1);
        }
        let Some(delivery) = self.log.get_mut(attempt.delivery) else { return };
        let success = made.outcome.is_success();
        if delivery.attempts.len() == KEPT_ATTEMPTS {
            delivery.attempts.remove(0);
        }
        delivery.attempts.push(made);
        let phase = if active && delivery.phase == (Phase::Sending { again: true }) {
            Phase::Due(now)
        } else if success {
            Phase::Delivered
        } else {
            delivery.failures += 1;
            let next = delay(delivery.failures).filter(|_| active);
            next.map_or(Phase::Failed, |delay| Phase::Due(now.after(delay)))
        };
        self.set(attempt.delivery, phase);
    }

    /// Sends a delivery once more, and as often as a new one should it fail.
    fn repeat(&mut self, serial: Serial, now: Moment) {
        let Some(delivery) = self.log.get_mut(serial) else { return };
        delivery.failures = 0;
        let phase = match delivery.phase {
            Phase::Sending { .. } => Phase::Sending { again: true },
            _ => Phase::Due(now),
        };
        self.set(serial, phase);
    }

    /// Ends whatever waits for an endpoint.
    pub(super) fn give_up(&mut self, endpoint: Serial) {
        let due = self.lanes.get_mut(&endpoint).map(|lane| std::mem::take(&mut lane.due));
        for (_, serial) in due.unwrap_or_default() {
            self.set(serial, Phase::Failed);
        }
    }

    /// The endpoint will never get anything again.
    pub(super) fn close(&mut self, endpoint: Serial) {
        self.give_up(endpoint);
        self.lanes.remove(&endpoint);
    }

    /// The one place where a phase changes, so that a delivery stands in its lane exactly while it is due.
    fn set(&mut self, serial: Serial, phase: Phase) {
        let Some(delivery) = self.log.get_mut(serial) else { return };
        let before = std::mem::replace(&mut delivery.phase, phase);
        if let Some(lane) = self.lanes.get_mut(&delivery.endpoint) {
            if let Phase::Due(at) = before {
                lane.due.remove(&(at, serial));
            }
            if let Phase::Due(at) = phase {
                lane.due.insert((at, serial));
            }
        }
        match phase {
            Phase::Delivered | Phase::Failed => self.over.insert(serial),
            Phase::Due(_) | Phase::Sending { .. } => self.over.remove(&serial),
        };
    }

    fn forget_one(&mut self) {
        let oldest = self.over.first().copied().or_else(|| self.log.iter().next().map(|(serial, _)| serial));
        let Some(serial) = oldest else { return };
        self.dropped += u64::from(self.over.is_empty());
        // Out of its lane first.
        self.set(serial, Phase::Failed);
        self.over.remove(&serial);
        if let Some(id) = self.log.get(serial).map(|delivery| delivery.id.clone()) {
            self.log.remove(&id);
        }
    }
}

impl Delivery {
    fn record(&self, epoch: Epoch) -> DeliveryRecord {
        let (state, next) = match self.phase {
            Phase::Due(at) => (DeliveryState::Pending, Some(at)),
            Phase::Sending { .. } => (DeliveryState::Pending, None),
            Phase::Delivered => (DeliveryState::Delivered, None),
            Phase::Failed => (DeliveryState::Failed, None),
        };
        DeliveryRecord {
            id: self.id.clone(),
            endpoint: self.endpoint_id.clone(),
            event: self.event.clone(),
            event_type: self.event_type.clone(),
            state,
            attempts: self.attempts.clone(),
            next_attempt_at: next.map(|at| epoch.timestamp(at)),
        }
    }
}

impl Workspace {
    /// Every endpoint that wants an event gets it, as it is streamed.
    pub(super) fn deliver(&mut self, event: &Event, at: Moment) {
        let wanting = self.endpoints.iter().filter(|(_, record)| record.wants(&event.event_type));
        let wanting: Vec<_> = wanting.map(|(serial, record)| (serial, record.endpoint.id.clone())).collect();
        if wanting.is_empty() {
            return;
        }
        let Ok(body) = serde_json::to_vec(event).map(Bytes::from) else { return };
        for (endpoint, endpoint_id) in wanting {
            let delivery = Delivery {
                id: self.new_id("whd_"),
                endpoint,
                endpoint_id,
                event: event.id.clone(),
                event_type: event.event_type.clone(),
                body: body.clone(),
                phase: Phase::Due(at),
                failures: 0,
                attempts: Vec::new(),
            };
            self.deliveries.add(delivery, at);
        }
    }

    /// Puts what is due among the attempts to be made.
    pub(super) fn send_due(&mut self, now: Moment) {
        while let Some((serial, delivery)) = self.deliveries.begin(now) {
            let Some(record) = self.endpoints.get(delivery.endpoint) else { continue };
            self.attempts.push(Attempt {
                delivery: serial,
                endpoint: delivery.endpoint,
                began: now,
                event_type: delivery.event_type.clone(),
                id: delivery.id.clone(),
                url: record.endpoint.url.clone(),
                body: delivery.body.clone(),
                secrets: record.secrets.active(now),
            });
        }
    }

    /// What came of an attempt.
    pub(crate) fn report_delivery(&mut self, attempt: &Attempt, outcome: DeliveryOutcome, now: Moment) {
        let active = self.is_active(attempt.endpoint);
        let made = DeliveryAttempt { at: self.epoch.timestamp(attempt.began), outcome };
        self.deliveries.end(attempt, made, active, now);
    }

    pub(crate) fn delivery_log(&self) -> Vec<DeliveryRecord> {
        self.deliveries.log.iter().map(|(_, delivery)| delivery.record(self.epoch)).collect()
    }

    pub(crate) fn dropped_deliveries(&self) -> u64 {
        self.deliveries.dropped
    }

    pub(crate) fn redeliver(&mut self, id: &str, now: Moment) -> Result<(), RedeliverError> {
        let log = &self.deliveries.log;
        let serial = log.serial(id).ok_or(RedeliverError::UnknownDelivery)?;
        let endpoint = log.get(serial).map(|delivery| delivery.endpoint);
        if !endpoint.is_some_and(|endpoint| self.is_active(endpoint)) {
            return Err(RedeliverError::InactiveEndpoint);
        }
        self.deliveries.repeat(serial, now);
        Ok(())
    }

    fn is_active(&self, endpoint: Serial) -> bool {
        self.endpoints.get(endpoint).is_some_and(|record| record.is_active())
    }
}

/// How long to wait after so many failures in a row; `None` after the last attempt.
fn delay(failures: usize) -> Option<Duration> {
    let delays = backon::ExponentialBuilder::new()
        .with_min_delay(FIRST_DELAY)
        .with_max_delay(LONGEST_DELAY)
        .with_factor(FACTOR)
        .with_max_times(ATTEMPTS - 1);
    delays.build().nth(failures.checked_sub(1)?)
}

#[cfg(test)]
mod tests {
    use http::StatusCode;

    use super::*;

    /// Two endpoints: 1 and 2.
    fn deliveries(kept: usize) -> Deliveries {
        Deliveries { kept, ..Deliveries::default() }
    }

    fn at(milliseconds: u64) -> Moment {
        Moment::default().after(Duration::from_millis(milliseconds))
    }

    fn add(deliveries: &mut Deliveries, id: &str, endpoint: Serial, due: Moment) {
        let delivery = Delivery {
            id: id.to_owned(),
            endpoint,
            endpoint_id: WebhookEndpointId::from("whe_1"),
            event: EventId::from("evt_1"),
            event_type: EventType::All,
            body: Bytes::new(),
            phase: Phase::Due(due),
            failures: 0,
            attempts: Vec::new(),
        };
        deliveries.add(delivery, due);
    }

    fn begin(deliveries: &mut Deliveries, now: Moment) -> Option<Attempt> {
        let (serial, delivery) = deliveries.begin(now)?;
        Some(Attempt {
            delivery: serial,
            endpoint: delivery.endpoint,
            began: now,
            event_type: delivery.event_type.clone(),
            id: delivery.id.clone(),
            url: String::new(),
            body: Bytes::new(),
            secrets: ("whsec_1".into(), Vec::new()),
        })
    }

    fn end(deliveries: &mut Deliveries, attempt: &Attempt, status: u16, now: Moment) {
        let outcome = DeliveryOutcome::Answered(StatusCode::from_u16(status).unwrap());
        let made = DeliveryAttempt { at: jiff::Timestamp::UNIX_EPOCH, outcome };
        deliveries.end(attempt, made, true, now);
    }

    fn ids(deliveries: &Deliveries) -> Vec<&str> {
        deliveries.log.iter().map(|(_, delivery)| delivery.id.as_str()).collect()
    }

    #[test]
    fn they_begin_in_the_order_in_which_they_are_due() {
        let mut deliveries = deliveries(10);
        add(&mut deliveries, "late", 1, at(20));
        add(&mut deliveries, "first", 1, at(10));
        add(&mut deliveries, "second", 2, at(10));
        assert_eq!(deliveries.next_due(), Some(at(10)));
        assert!(begin(&mut deliveries, at(9)).is_none());
        let begun = std::iter::from_fn(|| begin(&mut deliveries, at(15))).map(|attempt| attempt.id);
        assert_eq!(begun.collect::<Vec<_>>(), ["first", "second"]);
        assert_eq!(deliveries.next_due(), Some(at(20)));
    }

    #[test]
    fn what_has_no_room_is_not_due() {
        let mut deliveries = deliveries(100);
        for number in 0..=IN_FLIGHT {
            add(&mut deliveries, &number.to_string(), 1, at(0));
        }
        let begun: Vec<_> = std::iter::from_fn(|| begin(&mut deliveries, at(0))).collect();
        assert_eq!((begun.len(), deliveries.next_due()), (IN_FLIGHT, None));
        end(&mut deliveries, &begun[0], 204, at(5));
        assert_eq!(deliveries.next_due(), Some(at(0)));
        assert_eq!(begin(&mut deliveries, at(5)).unwrap().id, "8");
    }

    #[test]
    fn the_log_forgets_what_is_over_and_then_what_is_oldest() {
        let mut deliveries = deliveries(3);
        for id in ["a", "b", "c"] {
            add(&mut deliveries, id, 1, at(0));
        }
        let first = begin(&mut deliveries, at(0)).unwrap();
        let second = begin(&mut deliveries, at(0)).unwrap();
        end(&mut deliveries, &second, 204, at(0));
        add(&mut deliveries, "d", 1, at(1));
        assert_eq!(ids(&deliveries), ["a", "c", "d"], "b was over");
        add(&mut deliveries, "e", 1, at(2));
        assert_eq!(ids(&deliveries), ["c", "d", "e"], "none was");
        end(&mut deliveries, &first, 500, at(3));
        assert_eq!((deliveries.lanes[&1].in_flight, deliveries.lanes[&1].due.len()), (0, 3));
        add(&mut deliveries, "f", 1, at(4));
        assert_eq!(ids(&deliveries), ["d", "e", "f"]);
        assert_eq!((deliveries.lanes[&1].due.len(), deliveries.over.len()), (3, 0));
        assert_eq!(deliveries.next_due(), Some(at(1)), "what is forgotten is not due");
    }

    #[test]
    fn what_is_delivered_again_is_no_longer_over() {
        let mut deliveries = deliveries(2);
        add(&mut deliveries, "a", 1, at(0));
        let attempt = begin(&mut deliveries, at(0)).unwrap();
        end(&mut deliveries, &attempt, 204, at(0));
        deliveries.repeat(attempt.delivery, at(1));
        assert_eq!((deliveries.over.len(), deliveries.next_due()), (0, Some(at(1))));
        for _ in 0..KEPT_ATTEMPTS + 5 {
            let attempt = begin(&mut deliveries, at(1)).unwrap();
            end(&mut deliveries, &attempt, 204, at(1));
            deliveries.repeat(attempt.delivery, at(1));
        }
        assert_eq!(deliveries.log.find("a").unwrap().attempts.len(), KEPT_ATTEMPTS);
    }

    #[test]
    fn what_is_forgotten_before_it_is_over_is_counted() {
        let mut deliveries = deliveries(2);
        for id in ["a", "b"] {
            add(&mut deliveries, id, 1, at(0));
        }
        let attempt = begin(&mut deliveries, at(0)).unwrap();
        end(&mut deliveries, &attempt, 204, at(0));
        add(&mut deliveries, "c", 1, at(0));
        assert_eq!(deliveries.dropped, 0, "one that was delivered");
        add(&mut deliveries, "d", 1, at(0));
        assert_eq!((deliveries.dropped, deliveries.log.len()), (1, 2));
    }

    #[test]
    fn a_closed_endpoint_leaves_no_lane() {
        let mut deliveries = deliveries(10);
        add(&mut deliveries, "a", 1, at(0));
        add(&mut deliveries, "b", 1, at(0));
        let attempt = begin(&mut deliveries, at(0)).unwrap();
        deliveries.close(1);
        assert_eq!((deliveries.lanes.len(), deliveries.next_due()), (0, None));
        deliveries.end(
            &attempt,
            DeliveryAttempt {
                at: jiff::Timestamp::UNIX_EPOCH,
                outcome: DeliveryOutcome::Unanswered(String::new()),
            },
            false,
            at(1),
        );
        let phases: Vec<_> = deliveries.log.iter().map(|(_, delivery)| delivery.phase).collect();
        assert_eq!((phases, deliveries.lanes.len()), (vec![Phase::Failed; 2], 0));
    }

    #[test]
    fn delays_grow_to_an_hour_and_end() {
        let delays: Vec<_> = (1..).map_while(delay).map(|delay| delay.as_secs()).collect();
        assert_eq!(delays, [5, 20, 80, 320, 1_280, 3_600, 3_600, 3_600, 3_600, 3_600, 3_600]);
        assert_eq!((delays.len() + 1, delay(0)), (ATTEMPTS, None));
    }
}
