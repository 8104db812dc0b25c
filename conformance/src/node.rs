//! Places in the document.

use std::fmt;

use serde_json::Value;

use crate::document::LoadError;

/// A part of the document, with the pointer to it.
#[derive(Debug, Clone)]
pub(crate) struct Node<'d> {
    pub(crate) pointer: String,
    pub(crate) value: &'d Value,
}

impl<'d> Node<'d> {
    pub(crate) fn get(&self, key: &str) -> Option<Self> {
        let value = self.value.get(key)?;
        let key = key.replace('~', "~0").replace('/', "~1");
        let pointer = format!("{}/{key}", self.pointer);
        Some(Self { pointer, value })
    }

    /// The members of an object; nothing for anything else.
    pub(crate) fn members(&self) -> impl Iterator<Item = (&'d str, Self)> {
        let keys = self.value.as_object().into_iter().flat_map(|map| map.keys());
        keys.filter_map(|key| Some((key.as_str(), self.get(key)?)))
    }

    /// The items of an array; nothing for anything else.
    pub(crate) fn items(&self) -> impl Iterator<Item = Self> {
        let items = self.value.as_array().into_iter().flatten();
        items.enumerate().map(|(index, value)| Self { pointer: format!("{}/{index}", self.pointer), value })
    }

    /// The text of a member that has to be there.
    pub(crate) fn text(&self, key: &str) -> Result<&'d str, LoadError> {
        self.value
            .get(key)
            .and_then(Value::as_str)
            .ok_or_else(|| self.error(format!("`{key}` is missing or no text")))
    }

    pub(crate) fn error(&self, reason: impl fmt::Display) -> LoadError {
        LoadError(format!("{}: {reason}", self.pointer))
    }
}
