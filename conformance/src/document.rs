//! The loaded document and its lookups.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt;
use std::path::Path;

use http::{HeaderMap, Method, StatusCode, Uri};
use serde_json::Value;

use crate::findings::Findings;
use crate::operation::Operation;
use crate::{read, request, response};

/// The operations of an `OpenAPI` document, with every schema compiled.
#[derive(Debug)]
pub struct Document {
    /// Ordered so that the more literal template comes first.
    operations: Vec<Operation>,
    /// The error codes that some operation lists; each may appear only where it is listed.
    codes: BTreeSet<String>,
}

impl Document {
    /// Loads `fixtures/openapi.json` of this repository.
    ///
    /// # Errors
    /// The file is missing, is no JSON, or is not a document that [`Document::from_value`] takes.
    pub fn load() -> Result<Self, LoadError> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/openapi.json");
        let text = std::fs::read_to_string(&path)
            .map_err(|error| LoadError(format!("{}: {error}", path.display())))?;
        let value =
            serde_json::from_str(&text).map_err(|error| LoadError(format!("{}: {error}", path.display())))?;
        Self::from_value(&value)
    }

    /// Reads a document that is already parsed.
    ///
    /// # Errors
    /// A reference leads nowhere, a schema is invalid, or an operation lacks what a check needs
    /// (its id, its `x-source`, a name or schema of a parameter). The error names the place.
    pub fn from_value(value: &Value) -> Result<Self, LoadError> {
        let mut operations = read::operations(value)?;
        operations.sort_by(|a, b| a.path.cmp(&b.path));
        let codes = operations.iter().flat_map(Operation::codes).cloned().collect();
        Ok(Self { operations, codes })
    }

    /// Every operation, the more literal path first.
    pub fn operations(&self) -> impl Iterator<Item = &Operation> {
        self.operations.iter()
    }

    /// The error codes that some operation lists.
    #[must_use]
    pub fn codes(&self) -> &BTreeSet<String> {
        &self.codes
    }

    /// The operation that answers `method` on a concrete path. Where several templates fit, the one
    /// with a literal segment wins over the one with a placeholder, whatever methods it has.
    #[must_use]
    pub fn operation(&self, method: &Method, path: &str) -> Option<&Operation> {
        let fits = |operation: &&Operation| operation.path.matches(path).is_some();
        let template = self.operations.iter().find(fits)?.template();
        self.operations
            .iter()
            .find(|operation| operation.template() == template && operation.method() == method)
    }

    /// Checks what a client sent: its operation, path and query parameters, headers,
    /// authorization, and body.
    ///
    /// # Errors
    /// Everything that the document does not allow, one finding each.
    pub fn check_request(
        &self,
        method: &Method,
        uri: &Uri,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<(), Vec<String>> {
        let operation = self.expect_operation(method, uri.path())?;
        let mut findings = Findings::new(operation.id());
        request::check(operation, uri, headers, body, &mut findings);
        findings.into_result()
    }

    /// Checks what a server answered to `method` on a concrete `path`: the status, the headers, the
    /// content type and the body. Of an event stream any beginning may be given.
    ///
    /// # Errors
    /// Everything that the document does not allow, one finding each.
    pub fn check_response(
        &self,
        method: &Method,
        path: &str,
        status: StatusCode,
        headers: &HeaderMap,
        body: &[u8],
    ) -> Result<(), Vec<String>> {
        let operation = self.expect_operation(method, path)?;
        let mut findings = Findings::new(operation.id());
        response::check(operation, &self.codes, status, headers, body, &mut findings);
        findings.into_result()
    }

    fn expect_operation(&self, method: &Method, path: &str) -> Result<&Operation, Vec<String>> {
        self.operation(method, path).ok_or_else(|| vec![format!("{method} {path}: no such operation")])
    }
}

/// Why a document could not be loaded.
#[derive(Debug)]
pub struct LoadError(pub(crate) String);

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for LoadError {}
