//! A fault as plain data, which a file or a message can hold.

use std::time::Duration;

use http::Method;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::edit::Edit;
use crate::local::scenario::Time;
use crate::model::errors::ErrorCode;
use crate::model::events::EventType;

/// What a field is given that has to be unknown.
const UNKNOWN: &str = "something_of_tomorrow";

/// All of a fault.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Plan {
    pub(super) kind: Kind,
    #[serde(default)]
    pub(super) on: Scope,
    /// How many requests or attempts of deliveries it lets pass first.
    #[serde(default)]
    pub(super) after: u32,
    #[serde(default)]
    pub(super) times: Option<u32>,
    #[serde(default)]
    pub(super) probability: Option<f64>,
    #[serde(default)]
    pub(super) after_commit: bool,
    #[serde(default, deserialize_with = "some_seconds")]
    pub(super) retry_after: Option<Duration>,
    #[serde(default)]
    pub(super) code: Option<ErrorCode>,
}

impl From<Kind> for Plan {
    fn from(kind: Kind) -> Self {
        Self {
            kind,
            on: Scope::default(),
            after: 0,
            times: None,
            probability: None,
            after_commit: false,
            retry_after: None,
            code: None,
        }
    }
}

/// What goes wrong; each is described where it is made.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Kind {
    Status(u16),
    BadGateway,
    #[serde(deserialize_with = "seconds")]
    Delay(Duration),
    Hang,
    Close,
    Truncate,
    BadJson,
    UnknownValue(String),
    ExtraField,
    NullField(String),
    MissingField(String),
    SetField {
        field: String,
        value: Value,
    },
    Split,
    #[serde(deserialize_with = "seconds")]
    Drip(Duration),
    CutAfter(u32),
    EndAfter(u32),
    SilenceAfter(u32),
    Duplicate,
    Reorder,
    UnknownEvent,
    CursorTooOld,
    BadSignature,
    #[serde(deserialize_with = "seconds")]
    OldSignature(Duration),
    DoubledSignature,
    DuplicateDelivery,
    ReorderDeliveries,
}

/// What a fault can happen to by its nature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    Requests,
    /// Whatever has one whole answer.
    Answers,
    Streams,
    /// Streams that are to go on after an event.
    Resumed,
    Deliveries,
    /// Deliveries that no other one waits for.
    Foremost,
}

impl Kind {
    pub(super) fn reach(&self) -> Reach {
        match self {
            Self::Truncate | Self::BadJson => Reach::Answers,
            Self::CutAfter(_)
            | Self::EndAfter(_)
            | Self::SilenceAfter(_)
            | Self::Duplicate
            | Self::Reorder
            | Self::UnknownEvent => Reach::Streams,
            Self::CursorTooOld => Reach::Resumed,
            Self::BadSignature | Self::OldSignature(_) | Self::DoubledSignature | Self::DuplicateDelivery => {
                Reach::Deliveries
            }
            Self::ReorderDeliveries => Reach::Foremost,
            _ => Reach::Requests,
        }
    }

    /// What it changes in JSON, if that is what it does.
    pub(super) fn edit(&self) -> Option<Edit<'_>> {
        Some(match self {
            Self::UnknownValue(field) => Edit::set(field, UNKNOWN),
            Self::NullField(field) => Edit::set(field, Value::Null),
            Self::SetField { field, value } => Edit::set(field, value.clone()),
            Self::MissingField(field) => Edit::remove(field),
            Self::ExtraField => Edit::Extend,
            _ => return None,
        })
    }
}

/// Which requests or deliveries a fault is about.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) enum Scope {
    #[default]
    All,
    Call {
        method: Method,
        path: String,
    },
    Streams,
    /// Of events of this type.
    Deliveries(EventType),
}

/// `all`, `streams`, `deliveries`, deliveries of a type such as `deliveries mandate.status_changed`, or a method and
/// a path such as `POST /v1/mandates`.
impl TryFrom<String> for Scope {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        const WRONG: &str = "expected `all`, `streams`, `deliveries`, a type of event after `deliveries`, or a method \
                             and a path such as `POST /v1/mandates`";
        match text.split_once(' ') {
            None if text == "all" => Ok(Self::All),
            None if text == "streams" => Ok(Self::Streams),
            None if text == "deliveries" => Ok(Self::Deliveries(EventType::All)),
            Some(("deliveries", event_type)) => Ok(Self::Deliveries(event_type.into())),
            Some((method, path)) if path.starts_with('/') => {
                let method = method.parse().map_err(|_| WRONG)?;
                Ok(Self::Call { method, path: path.to_owned() })
            }
            _ => Err(WRONG),
        }
    }
}

fn seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
    Time::deserialize(deserializer).map(|time| time.0)
}

fn some_seconds<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Duration>, D::Error> {
    seconds(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::Fault;
    use super::*;

    #[test]
    fn a_fault_can_be_read_from_a_file() {
        let cases = [
            (
                json!({"kind": {"status": 503}, "retry_after": 1.5, "on": "POST /v1/mandates", "times": 2}),
                Fault::status(503)
                    .retry_after(Duration::from_millis(1_500))
                    .on(Method::POST, "/v1/mandates")
                    .times(2),
            ),
            (json!({"kind": "close", "after_commit": true}), Fault::drop_answer()),
            (
                json!({"kind": {"cut_after": 3}, "on": "streams", "after": 1, "probability": 0.5}),
                Fault::cut_after(3).on_streams().after(1).probability(0.5),
            ),
            (json!({"kind": {"delay": "2m"}}), Fault::delay(Duration::from_secs(120))),
            (json!({"kind": {"drip": 0.02}, "on": "all"}), Fault::drip(Duration::from_millis(20))),
            (
                json!({"kind": {"set_field": {"field": "/status", "value": [1]}}}),
                Fault::set_field("/status", vec![1]),
            ),
            (
                json!({"kind": {"old_signature": "10m"}, "on": "deliveries", "times": 1}),
                Fault::old_signature(Duration::from_secs(600)).on_deliveries(EventType::All).times(1),
            ),
            (
                json!({"kind": "bad_signature", "on": "deliveries mandate.status_changed"}),
                Fault::bad_signature().on_deliveries(EventType::MandateStatusChanged),
            ),
            (json!({"kind": "doubled_signature"}), Fault::doubled_signature()),
            (json!({"kind": "duplicate_delivery"}), Fault::duplicate_delivery()),
            (json!({"kind": "reorder_deliveries"}), Fault::reorder_deliveries()),
        ];
        for (text, fault) in cases {
            assert_eq!(serde_json::from_value::<Plan>(text.clone()).unwrap(), fault.0, "{text}");
        }
        for wrong in [
            json!({"kind": "none"}),
            json!({"kind": "close", "on": "mandates"}),
            json!({"kind": {"delay": -1}}),
            json!({"kind": "close", "time": 1}),
        ] {
            assert!(serde_json::from_value::<Plan>(wrong.clone()).is_err(), "{wrong}");
        }
    }
}
