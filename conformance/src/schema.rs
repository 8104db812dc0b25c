//! Schemas of the document, found by JSON pointer and compiled once.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use jsonschema::{Draft, Registry, RegistryBuilder, Resource, Validator};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Value, json};

use crate::document::LoadError;
use crate::findings::Reason;
use crate::node::Node;

/// The name under which schemas refer to the document; nothing is ever fetched from it.
const BASE: &str = "urn:shadway:openapi";

/// What may stand in the fragment of a URI as it is, of what occurs in a JSON pointer.
const FRAGMENT: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'~').remove(b'-').remove(b'_').remove(b'.');

/// A compiled schema.
#[derive(Clone)]
pub(crate) struct Check(Arc<Validator>);

impl Check {
    /// What the schema has against a value; nothing if it is valid.
    pub(crate) fn reasons(&self, value: &Value) -> Vec<Reason> {
        self.0
            .iter_errors(value)
            .map(|error| Reason {
                pointer: error.instance_path().to_string(),
                text: error.masked().to_string(),
            })
            .collect()
    }
}

impl fmt::Debug for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Check")
    }
}

/// The type that a text in a query or header is read as.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    Text,
    Integer,
    Number,
    Boolean,
    Array(Box<Self>),
}

/// Finds and compiles the schemas of one document.
pub(crate) struct Schemas<'d> {
    document: &'d Value,
    registry: Registry<'d>,
    /// By pointer, so that a schema many operations use is compiled once.
    compiled: BTreeMap<String, Check>,
}

impl<'d> Schemas<'d> {
    pub(crate) fn new(document: &'d Value) -> Result<Self, LoadError> {
        let resource = Resource::from_contents(document.clone());
        let registry = Registry::new()
            .draft(Draft::Draft202012)
            .add(BASE, resource)
            .and_then(RegistryBuilder::prepare)
            .map_err(|error| LoadError(error.to_string()))?;
        Ok(Self { document, registry, compiled: BTreeMap::new() })
    }

    pub(crate) const fn root(&self) -> Node<'d> {
        Node { pointer: String::new(), value: self.document }
    }

    /// Follows `$ref` from a node until there is none.
    pub(crate) fn resolve(&self, node: Node<'d>) -> Result<Node<'d>, LoadError> {
        let mut node = node;
        // Longer chains than this are circles.
        for _ in 0..16 {
            let Some(target) = node.value.get("$ref").and_then(Value::as_str) else {
                return Ok(node);
            };
            let pointer = target
                .strip_prefix('#')
                .and_then(|fragment| percent_decode_str(fragment).decode_utf8().ok())
                .ok_or_else(|| node.error(format!("{target} points outside the document")))?
                .into_owned();
            let value = self
                .document
                .pointer(&pointer)
                .ok_or_else(|| node.error(format!("{target} leads nowhere")))?;
            node = Node { pointer, value };
        }
        Err(node.error("references go in a circle"))
    }

    /// Compiles the schema at a node. Formats count.
    pub(crate) fn compile(&mut self, node: Node<'d>) -> Result<Check, LoadError> {
        // A schema that is only a reference shares its target's validator. One with more beside the
        // reference must not be skipped over.
        let node =
            if node.value.as_object().is_some_and(|map| map.len() == 1) { self.resolve(node)? } else { node };
        if let Some(check) = self.compiled.get(&node.pointer) {
            return Ok(check.clone());
        }
        let fragment = utf8_percent_encode(&node.pointer, FRAGMENT);
        let validator = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .with_registry(&self.registry)
            .should_validate_formats(true)
            .build(&json!({ "$ref": format!("{BASE}#{fragment}") }))
            .map_err(|error| node.error(error))?;
        let check = Check(Arc::new(validator));
        self.compiled.insert(node.pointer.clone(), check.clone());
        Ok(check)
    }

    /// The kind of value that the schema at a node describes.
    pub(crate) fn kind(&self, node: Node<'d>) -> Result<Kind, LoadError> {
        let node = self.resolve(node)?;
        Ok(match node.value.get("type").and_then(Value::as_str) {
            Some("integer") => Kind::Integer,
            Some("number") => Kind::Number,
            Some("boolean") => Kind::Boolean,
            Some("array") => {
                let items = node.get("items").ok_or_else(|| node.error("`items` is missing"))?;
                Kind::Array(Box::new(self.kind(items)?))
            }
            _ => Kind::Text,
        })
    }
}
