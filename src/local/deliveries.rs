//! The log of deliveries to webhook endpoints, as a test or a person reads it.

use http::StatusCode;
use jiff::Timestamp;

use crate::model::events::EventType;
use crate::model::types::{EventId, WebhookEndpointId};

/// A delivery of one event to one webhook endpoint, and what came of it so far: an entry of
/// [`LocalServer::deliveries`](super::LocalServer::deliveries).
///
/// What receives it sees a [`webhooks::Delivery`](crate::webhooks::Delivery). All times are the server's, which a
/// paused clock moves; a signature has the time of day.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeliveryRecord {
    /// Its id, the same on each attempt (documented).
    pub id: String,
    /// The endpoint it goes to, which may have been deleted since.
    pub endpoint: WebhookEndpointId,
    /// The event it carries.
    pub event: EventId,
    /// The event's type.
    pub event_type: EventType,
    /// How far it got.
    pub state: DeliveryState,
    /// The attempts that are over, oldest first; the last hundred of them.
    pub attempts: Vec<DeliveryAttempt>,
    /// When it is tried next; none while an attempt is under way, and once there will be no other.
    pub next_attempt_at: Option<Timestamp>,
}

/// How far a delivery got.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DeliveryState {
    /// It is waiting for an attempt, or one is under way.
    Pending,
    /// It was answered with 2xx.
    Delivered,
    /// It is not tried again: it was too often, or its endpoint has been disabled or deleted.
    Failed,
}

/// One attempt of a delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeliveryAttempt {
    /// When it began.
    pub at: Timestamp,
    /// What came of it.
    pub outcome: DeliveryOutcome,
}

/// What came of an attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeliveryOutcome {
    /// It was answered. Only a 2xx is a success; a redirect is not followed.
    Answered(StatusCode),
    /// There was no answer, for this reason: no connection, or none in time.
    Unanswered(String),
}

impl DeliveryOutcome {
    /// Whether the delivery is done with it.
    #[must_use]
    pub fn is_success(&self) -> bool {
        matches!(self, Self::Answered(status) if status.is_success())
    }
}

/// Why nothing is delivered again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum RedeliverError {
    /// There is no delivery with this id, or it is no longer in the log.
    #[error("there is no such delivery in the log")]
    UnknownDelivery,
    /// Its endpoint has been disabled or deleted, and gets nothing more.
    #[error("the delivery's endpoint is disabled or deleted")]
    InactiveEndpoint,
}
