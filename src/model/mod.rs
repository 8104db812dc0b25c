//! What travels on the wire, as plain data: no I/O, no clock, no client.

use serde::{Deserialize, Deserializer};

pub(crate) mod agents;
pub(crate) mod amendments;
pub(crate) mod approvals;
pub(crate) mod authority;
pub(crate) mod capabilities;
pub(crate) mod errors;
pub(crate) mod events;
pub(crate) mod ids;
pub(crate) mod json;
pub(crate) mod mandates;
pub(crate) mod page;
pub(crate) mod plain;
pub(crate) mod record;
pub(crate) mod routes;
pub(crate) mod secret;
pub(crate) mod types;
pub(crate) mod webhooks;

/// `null` reads like a missing field.
pub(crate) fn null_as_default<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Option::<T>::deserialize(deserializer).map(Option::unwrap_or_default)
}

pub(crate) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
