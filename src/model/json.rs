//! JSON kept as the text it came as, for values that must go back unchanged.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::plain;

/// Any JSON value, kept as text: a number keeps every digit, an object its order.
///
/// It reads only straight from JSON text or from a [`serde_json::Value`]. Inside an internally tagged or an untagged
/// enum of yours, or a `flatten`ed field, serde has taken the text apart before this sees it, and decoding fails; so it
/// does for what holds one of these, such as an [`Authority`](crate::mandates::Authority).
///
/// Two values are equal when their texts are.
///
/// ```
/// use shadway::types::RawJson;
///
/// let exact: RawJson = "0.10000000000000000000001".parse()?;
/// assert_eq!(exact.get(), "0.10000000000000000000001");
/// assert_eq!(RawJson::from(true).get(), "true");
/// assert!("{oops".parse::<RawJson>().is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RawJson(Box<RawValue>);

impl RawJson {
    /// The JSON text.
    #[must_use]
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// The value decoded; numbers beyond `u64` and `f64` are rounded by this.
    ///
    /// # Errors
    /// A number that no `f64` can hold.
    pub fn to_value(&self) -> Result<serde_json::Value, serde_json::Error> {
        plain::value(&mut serde_json::Deserializer::from_str(self.get()))
    }

    /// For the blanks `null` and `[]` of [`Slot::blank`](crate::model::types::Slot::blank).
    pub(crate) fn from_static(text: &'static str) -> Self {
        text.parse().unwrap_or_default()
    }
}

/// `null`.
impl Default for RawJson {
    fn default() -> Self {
        Self(RawValue::NULL.to_owned())
    }
}

impl FromStr for RawJson {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        serde_json::from_str(text).map(Self)
    }
}

impl From<serde_json::Value> for RawJson {
    fn from(value: serde_json::Value) -> Self {
        // A `Value` always serializes; `null` stands in for what can't happen.
        serde_json::value::to_raw_value(&value).map(Self).unwrap_or_default()
    }
}

impl From<Box<RawValue>> for RawJson {
    fn from(value: Box<RawValue>) -> Self {
        Self(value)
    }
}

macro_rules! from_values {
    ($($type:ty),*) => {$(
        impl From<$type> for RawJson {
            fn from(value: $type) -> Self {
                Self::from(serde_json::Value::from(value))
            }
        }
    )*};
}
from_values!(bool, i32, i64, u32, u64, &str, String);

impl PartialEq for RawJson {
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl fmt::Debug for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

impl fmt::Display for RawJson {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

/// A JSON number, kept as text and so never rounded.
///
/// ```
/// use shadway::types::JsonNumber;
///
/// assert_eq!(JsonNumber::from(799_999).get(), "799999");
/// assert_eq!("0.1".parse::<JsonNumber>()?.as_f64(), Some(0.1));
/// assert!("\"7\"".parse::<JsonNumber>().is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Serialize)]
#[serde(transparent)]
pub struct JsonNumber(RawJson);

impl JsonNumber {
    /// The number as it is written.
    #[must_use]
    pub fn get(&self) -> &str {
        self.0.get()
    }

    /// The number, if it is a whole one that fits.
    #[must_use]
    pub fn as_i64(&self) -> Option<i64> {
        self.get().parse().ok()
    }

    /// The nearest `f64`, if there is a finite one.
    #[must_use]
    pub fn as_f64(&self) -> Option<f64> {
        self.get().parse().ok().filter(|number: &f64| number.is_finite())
    }

    fn from_raw<E: serde::de::Error>(raw: RawJson) -> Result<Self, E> {
        if raw.get().starts_with(|first: char| first == '-' || first.is_ascii_digit()) {
            Ok(Self(raw))
        } else {
            Err(E::custom("expected a number"))
        }
    }
}

impl FromStr for JsonNumber {
    type Err = serde_json::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        text.parse().and_then(Self::from_raw)
    }
}

impl<'de> Deserialize<'de> for JsonNumber {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        RawJson::deserialize(deserializer).and_then(Self::from_raw)
    }
}

macro_rules! from_integers {
    ($($type:ty),*) => {$(
        impl From<$type> for JsonNumber {
            fn from(number: $type) -> Self {
                Self(RawJson::from(number))
            }
        }
    )*};
}
from_integers!(i32, i64, u32, u64);

impl fmt::Debug for JsonNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

impl fmt::Display for JsonNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.get())
    }
}

/// A text, borrowed from the input where it can be: serde's own `Cow` always copies.
#[derive(Deserialize)]
#[serde(transparent)]
pub(crate) struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl AsRef<str> for Text<'_> {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// Where and why JSON does not fit a type: a second decoding that keeps track of the path, which would double
/// the cost of every first one.
pub(crate) fn misfit<T: DeserializeOwned>(json: &[u8]) -> Option<String> {
    let mut deserializer = serde_json::Deserializer::from_slice(json);
    let error = serde_path_to_error::deserialize::<_, T>(&mut deserializer).err()?;
    match error.path().to_string().as_str() {
        "." => Some(error.inner().to_string()),
        path => Some(format!("{path}: {}", error.inner())),
    }
}

/// Fields this version of the crate does not know, each as the JSON text that came.
#[derive(Clone, Default, PartialEq)]
pub struct RawFields(BTreeMap<String, RawJson>);

impl RawFields {
    /// The field's JSON text.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&RawJson> {
        self.0.get(name)
    }

    /// Sets a field; one that the type knows is written from its own field once that is set.
    pub fn insert(&mut self, name: impl Into<String>, value: impl Into<RawJson>) {
        self.0.insert(name.into(), value.into());
    }

    /// All fields, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &RawJson)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Debug for RawFields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(&self.0).finish()
    }
}
