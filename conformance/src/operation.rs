//! Operations as the document declares them, ready to check messages against.

use std::collections::BTreeMap;
use std::fmt;

use http::Method;

use crate::schema::{Check, Kind};
use crate::template::Template;

/// One operation of the document.
#[derive(Debug)]
pub struct Operation {
    pub(crate) id: String,
    pub(crate) method: Method,
    pub(crate) path: Template,
    pub(crate) source: Source,
    pub(crate) codes: Vec<String>,
    pub(crate) secured: bool,
    pub(crate) parameters: Vec<Parameter>,
    pub(crate) body: Option<RequestBody>,
    /// By status as the document writes it, `default` among them.
    pub(crate) responses: BTreeMap<String, Response>,
}

impl Operation {
    /// Its `operationId`.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Its method.
    #[must_use]
    pub const fn method(&self) -> &Method {
        &self.method
    }

    /// Its path with placeholders, such as `/v1/agents/{id}`.
    #[must_use]
    pub fn template(&self) -> &str {
        self.path.as_str()
    }

    /// Whether it is documented or assumed.
    #[must_use]
    pub const fn source(&self) -> Source {
        self.source
    }

    /// The error codes that `x-codes` lists.
    #[must_use]
    pub fn codes(&self) -> &[String] {
        &self.codes
    }

    pub(crate) fn parameters(&self, place: Place) -> impl Iterator<Item = &Parameter> {
        self.parameters.iter().filter(move |parameter| parameter.place == place)
    }
}

/// Where the document has something from (`x-source`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Source {
    /// The service's own documentation shows it.
    Documented,
    /// It was chosen here and may turn out otherwise.
    Assumed,
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Documented => "documented",
            Self::Assumed => "assumed",
        })
    }
}

/// Where in a request a parameter stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Path,
    Query,
    Header,
}

/// A path, query or header parameter of a request, or a header of a response.
#[derive(Debug)]
pub(crate) struct Parameter {
    pub(crate) name: String,
    pub(crate) place: Place,
    pub(crate) required: bool,
    pub(crate) kind: Kind,
    pub(crate) check: Check,
}

/// The body that a request may or must have.
#[derive(Debug)]
pub(crate) struct RequestBody {
    pub(crate) required: bool,
    pub(crate) content: Content,
}

/// What is answered with one status.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) headers: Vec<Parameter>,
    /// None where the body must be empty.
    pub(crate) content: Option<Content>,
}

/// A body of one media type.
#[derive(Debug)]
pub(crate) enum Content {
    Json(Check),
    /// An event stream, each frame of which carries a value of this schema.
    Events(Check),
}

impl Content {
    pub(crate) const fn media_type(&self) -> &'static str {
        match self {
            Self::Json(_) => JSON,
            Self::Events(_) => EVENTS,
        }
    }
}

pub(crate) const JSON: &str = "application/json";
pub(crate) const EVENTS: &str = "text/event-stream";
