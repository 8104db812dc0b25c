//! Words that many resources share.

use std::collections::BTreeMap;
use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub use super::errors::{ApiError, ErrorCode};
pub use super::ids::{
    AgentId, AmendmentId, ApprovalId, ArtifactId, AssertionId, CapabilityId, CommitmentId, EventId,
    EvidenceId, FactId, InformationNeedId, IssueId, MandateId, WebhookEndpointId,
};
pub use super::json::{JsonNumber, RawFields, RawJson};

/// Your own labels on a resource: text to text (documented).
pub type Metadata = BTreeMap<String, String>;

/// Fields of a resource that this version of the crate does not know, as they came.
pub type Extra = serde_json::Map<String, serde_json::Value>;

open_object! {
    /// An amount in the currency's smallest unit (documented): 799,999 in `usd` is $7,999.99.
    ///
    /// ```
    /// use shadway::types::Money;
    ///
    /// let money = Money::usd(799_999);
    /// assert_eq!(serde_json::to_string(&money)?, r#"{"amount":799999,"currency":"usd"}"#);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub struct Money {
        /// How many of the smallest unit.
        "amount" => amount: i64,
        /// The currency's code in lower case.
        "currency" => currency: String,
    }
}

impl Money {
    /// An amount in the smallest unit of a currency; the code is written in lower case.
    #[must_use]
    pub fn new(amount: i64, currency: impl AsRef<str>) -> Self {
        Self { amount, currency: currency.as_ref().to_ascii_lowercase(), extra: RawFields::default() }
    }

    /// An amount in US cents.
    #[must_use]
    pub fn usd(cents: i64) -> Self {
        Self::new(cents, "usd")
    }
}

/// How much of a list to get at once, for lists that have nothing else to choose.
///
/// ```
/// use shadway::types::ListParams;
///
/// assert_eq!(ListParams::new().limit(50).limit, Some(50));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListParams {
    /// The size of a page, 1 to 100; the service's default is 20 (assumed).
    pub limit: Option<u32>,
}

impl ListParams {
    /// Pages of the service's usual size.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The size of a page, 1 to 100.
    #[must_use]
    pub fn limit(mut self, limit: u32) -> Self {
        self.limit = Some(limit);
        self
    }
}

/// A field that can be left alone, cleared, or set: three different requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "a field is missing, null or there; JSON has no fourth way")]
pub enum Nullable<T> {
    /// Not sent: the service keeps what it has.
    #[default]
    Unset,
    /// Sent as `null`: the service clears it.
    Null,
    /// Sent as this value.
    Value(T),
}

impl<T> Nullable<T> {
    /// Whether the field is left out.
    #[must_use]
    pub fn is_unset(&self) -> bool {
        matches!(self, Self::Unset)
    }

    /// The value, if there is one.
    #[must_use]
    pub fn value(&self) -> Option<&T> {
        match self {
            Self::Value(value) => Some(value),
            Self::Unset | Self::Null => None,
        }
    }
}

impl<T> From<T> for Nullable<T> {
    fn from(value: T) -> Self {
        Self::Value(value)
    }
}

impl<T: Serialize> Serialize for Nullable<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Nullable<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Self::Null, Self::Value))
    }
}

/// A span of time as the service writes it, such as `1h` (documented; other units are assumed).
///
/// A spelling this version does not know is kept as it came.
///
/// ```
/// use shadway::types::Interval;
/// use std::time::Duration;
///
/// assert_eq!(Interval::hours(1).as_str(), "1h");
/// assert_eq!(Interval::try_from(Duration::from_secs(5400))?.as_str(), "90m");
/// assert_eq!(Interval::minutes(90).as_duration(), Some(Duration::from_secs(5400)));
/// # Ok::<(), shadway::types::IntervalError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Interval(String);

/// A duration that can't be written as an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an interval is a whole number of seconds, one at least; {0:?} is not")]
pub struct IntervalError(Duration);

/// From the largest, so that the shortest text is found first.
const UNITS: [(&str, u64); 4] = [("d", 86_400), ("h", 3_600), ("m", 60), ("s", 1)];

impl Interval {
    /// So many days.
    #[must_use]
    pub fn days(count: u32) -> Self {
        Self(format!("{count}d"))
    }

    /// So many hours.
    #[must_use]
    pub fn hours(count: u32) -> Self {
        Self(format!("{count}h"))
    }

    /// So many minutes.
    #[must_use]
    pub fn minutes(count: u32) -> Self {
        Self(format!("{count}m"))
    }

    /// So many seconds.
    #[must_use]
    pub fn seconds(count: u32) -> Self {
        Self(format!("{count}s"))
    }

    /// The text on the wire.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The duration, if the text is a number and one of the units `d`, `h`, `m`, `s`.
    #[must_use]
    pub fn as_duration(&self) -> Option<Duration> {
        UNITS.iter().find_map(|(unit, seconds)| {
            let count = self.0.strip_suffix(unit)?;
            let digits = !count.is_empty() && count.bytes().all(|byte| byte.is_ascii_digit());
            let count = digits.then(|| count.parse::<u64>().ok()).flatten()?;
            count.checked_mul(*seconds).map(Duration::from_secs)
        })
    }
}

impl TryFrom<Duration> for Interval {
    type Error = IntervalError;

    fn try_from(duration: Duration) -> Result<Self, Self::Error> {
        let seconds = duration.as_secs();
        if seconds == 0 || duration.subsec_nanos() != 0 {
            return Err(IntervalError(duration));
        }
        let (unit, size) = UNITS.into_iter().find(|(_, size)| seconds % size == 0).unwrap_or(("s", 1));
        Ok(Self(format!("{}{unit}", seconds / size)))
    }
}

impl fmt::Display for Interval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

/// How a field of an open object is read when it is missing, and when it is left out in writing.
pub(crate) trait Slot: Sized {
    /// The JSON text that means the same as leaving the field out, if this value does.
    fn blank(&self) -> Option<&'static str>;
    /// The value of a field that is not there.
    fn missing<E: serde::de::Error>(name: &'static str) -> Result<Self, E>;
}

impl<T> Slot for Option<T> {
    fn blank(&self) -> Option<&'static str> {
        self.is_none().then_some("null")
    }

    fn missing<E: serde::de::Error>(_: &'static str) -> Result<Self, E> {
        Ok(None)
    }
}

impl<T> Slot for Vec<T> {
    fn blank(&self) -> Option<&'static str> {
        self.is_empty().then_some("[]")
    }

    fn missing<E: serde::de::Error>(_: &'static str) -> Result<Self, E> {
        Ok(Self::new())
    }
}

macro_rules! required_slots {
    ($($type:ty),*) => {$(
        impl Slot for $type {
            fn blank(&self) -> Option<&'static str> {
                None
            }

            fn missing<E: serde::de::Error>(name: &'static str) -> Result<Self, E> {
                Err(E::missing_field(name))
            }
        }
    )*};
}
required_slots!(i64, u64, String, Interval, Money);
