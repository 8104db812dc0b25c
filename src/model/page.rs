//! The envelope of every list (assumed).

use serde::{Deserialize, Serialize};

use super::types::Extra;

/// One page of a list.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Page<T> {
    /// The items, in the service's order.
    pub data: Vec<T>,
    /// Where the next page begins; `None` or empty on the last page.
    #[serde(rename = "nextCursor", default)]
    pub next_cursor: Option<String>,
    /// Fields this version of the crate does not know, as they came.
    #[serde(flatten, deserialize_with = "crate::model::plain::fields")]
    pub extra: Extra,
}

impl<T> Page<T> {
    /// Where the next page begins, if there is one.
    #[must_use]
    pub fn next_cursor(&self) -> Option<&str> {
        self.next_cursor.as_deref().filter(|cursor| !cursor.is_empty())
    }

    #[cfg(feature = "local")]
    pub(crate) fn new(data: Vec<T>, next_cursor: Option<String>) -> Self {
        Self { data, next_cursor, extra: Extra::new() }
    }
}

impl<T> IntoIterator for Page<T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.data.into_iter()
    }
}
