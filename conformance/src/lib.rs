//! Holds both sides of the wire to `fixtures/openapi.json`.
//!
//! [`Document::load`] reads the document once and compiles every schema in it. After that,
//! [`Document::check_request`] says whether what a client sent is what the document declares, and
//! [`Document::check_response`] says the same of what a server answered. Both return every finding
//! at once. A finding names the operation, the place (a JSON pointer within a body) and the reason;
//! it never quotes a value, since bodies and headers may carry secrets.
//!
//! The crate knows nothing of the types of the SDK, on purpose: a mistake in those cannot hide here.

mod document;
mod findings;
mod frames;
mod headers;
mod node;
mod operation;
mod query;
mod read;
mod request;
mod response;
mod schema;
mod template;

pub use document::{Document, LoadError};
pub use operation::{Operation, Source};
