//! Events: the running record of what a mandate did.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;
use serde::de::{DeserializeOwned, Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::approvals::Approval;
use super::json::{RawFields, RawJson, Text};
use super::mandates::{Mandate, MandateStatus};
use super::types::{EventId, MandateId};

string_enum! {
    /// What an event tells of. New types appear over time (documented).
    pub enum EventType {
        /// A mandate's status changed (documented).
        MandateStatusChanged = "mandate.status_changed",
        /// A person has to decide (documented).
        MandateApprovalRequested = "mandate.approval_requested",
        /// An approval was decided, expired, or was canceled (documented).
        ApprovalResolved = "approval.resolved",
        /// An action began to run (documented).
        CapabilityExecutionStarted = "capability.execution_started",
        /// An action ran (documented).
        CapabilityExecutionCompleted = "capability.execution_completed",
        /// An action failed (documented).
        CapabilityExecutionFailed = "capability.execution_failed",
        /// A limit stopped an action before it ran (that it is recorded is documented, the type assumed).
        CapabilityExecutionBlocked = "capability.execution_blocked",
        /// No check could settle what became of an action (documented, the type assumed).
        CapabilityExecutionUnknown = "capability.execution_unknown",
        /// In a subscription: every type, also those still to come (documented). No event has it.
        All = "*",
    }
}

wire! {
    /// A mandate after its status changed (documented).
    pub struct MandateStatusChangedData {
        required {
            /// The mandate as it is now.
            mandate: Mandate,
        }
        optional {
            /// The status before.
            previous_status: Option<MandateStatus>,
        }
    }
}

wire! {
    /// An approval that was asked for, or is no longer pending (documented).
    pub struct ApprovalEventData {
        required {
            /// The approval as it is now.
            approval: Approval,
        }
        optional {}
    }
}

wire! {
    /// Why an action failed (documented; that a code comes with it is assumed).
    pub struct CapabilityExecutionError {
        required {
            /// The reason, for a person.
            message: String,
        }
        optional {
            /// The reason, for a program.
            code: Option<String>,
        }
    }
}

wire! {
    /// One run of an action (documented).
    pub struct CapabilityExecution {
        required {
            /// The action's name.
            capability: String,
        }
        optional {
            /// The run's id (assumed).
            id: Option<String>,
            /// How long it took, in milliseconds. See [`duration`](CapabilityExecution::duration).
            duration_ms: Option<u64>,
            /// Why it failed.
            error: Option<CapabilityExecutionError>,
            /// The version of the limits that it ran under (that it is recorded is documented, the field
            /// assumed).
            authority_version: Option<u64>,
        }
    }
}

impl CapabilityExecution {
    /// How long it took, if the service says so.
    #[must_use]
    pub fn duration(&self) -> Option<Duration> {
        self.duration_ms.map(Duration::from_millis)
    }
}

wire! {
    /// What an event about an action carries (documented).
    pub struct CapabilityExecutionEventData {
        required {
            /// The run.
            execution: CapabilityExecution,
        }
        optional {
            /// Which limit blocked it (assumed; of a blocked action only).
            reason: Option<String>,
        }
    }
}

/// What an event carries, by its type.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
#[non_exhaustive]
pub enum EventData {
    /// `mandate.status_changed`
    MandateStatusChanged(Box<MandateStatusChangedData>),
    /// `mandate.approval_requested`
    ApprovalRequested(Box<ApprovalEventData>),
    /// `approval.resolved`
    ApprovalResolved(Box<ApprovalEventData>),
    /// `capability.execution_started`
    ExecutionStarted(Box<CapabilityExecutionEventData>),
    /// `capability.execution_completed`
    ExecutionCompleted(Box<CapabilityExecutionEventData>),
    /// `capability.execution_failed`
    ExecutionFailed(Box<CapabilityExecutionEventData>),
    /// `capability.execution_blocked`: it did not run.
    ExecutionBlocked(Box<CapabilityExecutionEventData>),
    /// `capability.execution_unknown`: whether it had its effect is not known, and it is not repeated.
    ExecutionUnsettled(Box<CapabilityExecutionEventData>),
    /// An unknown type, or a known one whose data does not fit: the data as it came, `null` if there was none.
    Unknown(RawJson),
}

impl EventData {
    /// The type of event that carries this; `None` of unknown data.
    #[must_use]
    pub fn event_type(&self) -> Option<EventType> {
        Some(match self {
            Self::MandateStatusChanged(_) => EventType::MandateStatusChanged,
            Self::ApprovalRequested(_) => EventType::MandateApprovalRequested,
            Self::ApprovalResolved(_) => EventType::ApprovalResolved,
            Self::ExecutionStarted(_) => EventType::CapabilityExecutionStarted,
            Self::ExecutionCompleted(_) => EventType::CapabilityExecutionCompleted,
            Self::ExecutionFailed(_) => EventType::CapabilityExecutionFailed,
            Self::ExecutionBlocked(_) => EventType::CapabilityExecutionBlocked,
            Self::ExecutionUnsettled(_) => EventType::CapabilityExecutionUnknown,
            Self::Unknown(_) => return None,
        })
    }

    /// The second pass of the decoding: straight from the text, so that the numbers of an authority stay.
    fn decode(event_type: &EventType, raw: RawJson) -> (Self, Sent) {
        fn fit<T: DeserializeOwned>(raw: &RawJson, variant: fn(Box<T>) -> EventData) -> Option<EventData> {
            serde_json::from_str(raw.get()).ok().map(variant)
        }
        let fitting = match event_type {
            EventType::MandateStatusChanged => fit(&raw, Self::MandateStatusChanged),
            EventType::MandateApprovalRequested => fit(&raw, Self::ApprovalRequested),
            EventType::ApprovalResolved => fit(&raw, Self::ApprovalResolved),
            EventType::CapabilityExecutionStarted => fit(&raw, Self::ExecutionStarted),
            EventType::CapabilityExecutionCompleted => fit(&raw, Self::ExecutionCompleted),
            EventType::CapabilityExecutionFailed => fit(&raw, Self::ExecutionFailed),
            EventType::CapabilityExecutionBlocked => fit(&raw, Self::ExecutionBlocked),
            EventType::CapabilityExecutionUnknown => fit(&raw, Self::ExecutionUnsettled),
            EventType::All | EventType::Unknown(_) => None,
        };
        match fitting {
            Some(data) => (data, Sent(Some(raw))),
            None => (Self::Unknown(raw), Sent(None)),
        }
    }
}

/// Something that happened in a mandate (documented).
///
/// It can arrive more than once: tell events apart by `id`, and order those of one mandate by `sequence`.
///
/// ```
/// use shadway::events::{Event, EventData};
///
/// let event: Event = serde_json::from_str(
///     r#"{"id":"evt_1","type":"capability.execution_completed","sequence":7,"mandate":"mnd_1",
///         "data":{"execution":{"capability":"email.send","durationMs":412}}}"#,
/// )?;
/// match &event.data {
///     EventData::ExecutionCompleted(run) => println!("{} ran", run.execution.capability),
///     _ => {} // unknown types arrive here, never as an error
/// }
/// assert_eq!(event.execution().unwrap().duration_ms, Some(412));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Event {
    /// Its id: the same whenever it arrives again.
    pub id: EventId,
    /// What it tells of; `type` on the wire.
    pub event_type: EventType,
    /// Rises within a mandate and never repeats. A number left out is no sign of a loss.
    pub sequence: u64,
    /// The mandate; empty for an event of a type still to come that belongs to none.
    pub mandate: MandateId,
    /// When it happened (assumed).
    pub created_at: Option<Timestamp>,
    /// What it carries.
    pub data: EventData,
    /// Fields this version of the crate does not know, as they came.
    pub extra: RawFields,
    pub(crate) sent: Sent,
}

/// The data as they were sent, unless it is they that the event holds. What they were decoded to says which events are
/// equal.
#[derive(Clone, Default)]
pub(crate) struct Sent(Option<RawJson>);

impl PartialEq for Sent {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for Sent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("..")
    }
}

impl Event {
    /// What it carries as it was sent: each digit, the order, and each `null`, of which [`data`](Self::data) may keep
    /// less; `null` if there was none. A change of known `data` doesn't show here. `None` of an event that was never sent.
    #[must_use]
    pub fn raw_data(&self) -> Option<&RawJson> {
        match (&self.sent.0, &self.data) {
            (None, EventData::Unknown(raw)) => Some(raw),
            (sent, _) => sent.as_ref(),
        }
    }

    /// Whether the type is known and the data fits it.
    #[must_use]
    pub fn is_known(&self) -> bool {
        !matches!(self.data, EventData::Unknown(_))
    }

    /// The status a mandate has now, if this tells of a change.
    #[must_use]
    pub fn mandate_status(&self) -> Option<&MandateStatus> {
        match &self.data {
            EventData::MandateStatusChanged(change) => Some(&change.mandate.status),
            _ => None,
        }
    }

    /// The approval, if this tells of one.
    #[must_use]
    pub fn approval(&self) -> Option<&Approval> {
        match &self.data {
            EventData::ApprovalRequested(asked) | EventData::ApprovalResolved(asked) => Some(&asked.approval),
            _ => None,
        }
    }

    /// The run of an action, if this tells of one.
    #[must_use]
    pub fn execution(&self) -> Option<&CapabilityExecution> {
        match &self.data {
            EventData::ExecutionStarted(run)
            | EventData::ExecutionCompleted(run)
            | EventData::ExecutionFailed(run)
            | EventData::ExecutionBlocked(run)
            | EventData::ExecutionUnsettled(run) => Some(&run.execution),
            _ => None,
        }
    }
}

impl Serialize for Event {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut object = serializer.serialize_map(None)?;
        object.serialize_entry("id", &self.id)?;
        object.serialize_entry("type", &self.event_type)?;
        let has_mandate = !self.mandate.as_str().is_empty();
        if has_mandate || self.sequence != 0 {
            object.serialize_entry("sequence", &self.sequence)?;
        }
        if has_mandate {
            object.serialize_entry("mandate", &self.mandate)?;
        }
        if let Some(created_at) = &self.created_at {
            object.serialize_entry("createdAt", created_at)?;
        }
        object.serialize_entry("data", &self.data)?;
        for (name, value) in self.extra.iter() {
            object.serialize_entry(name, value)?;
        }
        object.end()
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EventVisitor)
    }
}

/// The first pass of the decoding: the envelope, with the data as text, since its type may come after it.
struct EventVisitor;

impl<'de> Visitor<'de> for EventVisitor {
    type Value = Event;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an event")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Event, A::Error> {
        let (mut id, mut event_type, mut sequence, mut mandate) = (None, None, None, None);
        let (mut created_at, mut data, mut extra) = (None, None, RawFields::default());
        while let Some(key) = map.next_key::<Text<'de>>()? {
            match key.as_ref() {
                "id" => id = Some(map.next_value()?),
                "type" => event_type = Some(map.next_value()?),
                "sequence" => sequence = map.next_value()?,
                "mandate" => mandate = map.next_value()?,
                "createdAt" => {
                    // That there is such a field is assumed: a time written otherwise is no reason to fail.
                    let text = map.next_value::<Option<Text<'de>>>()?;
                    let text = text.as_ref().map(AsRef::<str>::as_ref);
                    match text.map(str::parse) {
                        Some(Ok(time)) => created_at = Some(time),
                        Some(Err(_)) => extra.insert("createdAt", text.unwrap_or_default()),
                        None => {}
                    }
                }
                "data" => data = Some(map.next_value()?),
                unknown => extra.insert(unknown, map.next_value::<RawJson>()?),
            }
        }
        let event_type = event_type.ok_or_else(|| A::Error::missing_field("type"))?;
        let (data, sent) = EventData::decode(&event_type, data.unwrap_or_default());
        Ok(Event {
            id: id.ok_or_else(|| A::Error::missing_field("id"))?,
            sequence: sequence.unwrap_or_default(),
            mandate: mandate.unwrap_or_else(|| MandateId::from("")),
            created_at,
            data,
            event_type,
            extra,
            sent,
        })
    }
}
