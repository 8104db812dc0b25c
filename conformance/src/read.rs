//! Reads the operations out of a document.

use std::collections::BTreeMap;

use http::Method;
use serde_json::Value;

use crate::document::LoadError;
use crate::node::Node;
use crate::operation::{Content, EVENTS, JSON, Operation, Parameter, Place, RequestBody, Response, Source};
use crate::schema::Schemas;
use crate::template::Template;

const METHODS: [(&str, Method); 5] = [
    ("get", Method::GET),
    ("post", Method::POST),
    ("put", Method::PUT),
    ("patch", Method::PATCH),
    ("delete", Method::DELETE),
];

/// Every operation under `paths`, with its schemas compiled.
pub(crate) fn operations(document: &Value) -> Result<Vec<Operation>, LoadError> {
    let mut schemas = Schemas::new(document)?;
    let root = schemas.root();
    let paths = root.get("paths").ok_or_else(|| root.error("`paths` is missing"))?;
    let mut operations = Vec::new();
    for (path, item) in paths.members() {
        for (name, method) in METHODS {
            if let Some(node) = item.get(name) {
                operations.push(operation(&mut schemas, path, &item, method, &node)?);
            }
        }
    }
    Ok(operations)
}

fn operation<'d>(
    schemas: &mut Schemas<'d>,
    path: &str,
    item: &Node<'d>,
    method: Method,
    node: &Node<'d>,
) -> Result<Operation, LoadError> {
    let mut parameters = Vec::new();
    for list in [item.get("parameters"), node.get("parameters")].into_iter().flatten() {
        for entry in list.items() {
            parameters.push(parameter(schemas, entry)?);
        }
    }
    let body = match node.get("requestBody") {
        Some(body) => Some(request_body(schemas, body)?),
        None => None,
    };
    let mut responses = BTreeMap::new();
    for (status, entry) in node.get("responses").iter().flat_map(Node::members) {
        responses.insert(status.to_owned(), response(schemas, entry)?);
    }
    let root = schemas.root();
    let security = node.get("security").or_else(|| root.get("security"));
    Ok(Operation {
        id: node.text("operationId")?.to_owned(),
        method,
        path: Template::parse(path),
        source: source(node)?,
        codes: codes(node),
        secured: security.is_some_and(|list| list.items().next().is_some()),
        parameters,
        body,
        responses,
    })
}

fn source(node: &Node<'_>) -> Result<Source, LoadError> {
    match node.text("x-source")? {
        "documented" => Ok(Source::Documented),
        "assumed" => Ok(Source::Assumed),
        other => Err(node.error(format!("`x-source` is `{other}`"))),
    }
}

fn codes(node: &Node<'_>) -> Vec<String> {
    let list = node.get("x-codes");
    let items = list.iter().flat_map(Node::items);
    items.filter_map(|code| code.value.as_str().map(str::to_owned)).collect()
}

fn parameter<'d>(schemas: &mut Schemas<'d>, node: Node<'d>) -> Result<Parameter, LoadError> {
    let node = schemas.resolve(node)?;
    let place = match node.text("in")? {
        "path" => Place::Path,
        "query" => Place::Query,
        "header" => Place::Header,
        other => return Err(node.error(format!("parameters in `{other}` are not supported"))),
    };
    named(schemas, node.text("name")?, place, &node)
}

fn named<'d>(
    schemas: &mut Schemas<'d>,
    name: &str,
    place: Place,
    node: &Node<'d>,
) -> Result<Parameter, LoadError> {
    let schema = node.get("schema").ok_or_else(|| node.error("`schema` is missing"))?;
    Ok(Parameter {
        name: name.to_owned(),
        place,
        required: is_required(node),
        kind: schemas.kind(schema.clone())?,
        check: schemas.compile(schema)?,
    })
}

fn request_body<'d>(schemas: &mut Schemas<'d>, node: Node<'d>) -> Result<RequestBody, LoadError> {
    let node = schemas.resolve(node)?;
    let content = content(schemas, &node)?;
    Ok(RequestBody {
        required: is_required(&node),
        content: content.ok_or_else(|| node.error("`content` is missing"))?,
    })
}

fn response<'d>(schemas: &mut Schemas<'d>, node: Node<'d>) -> Result<Response, LoadError> {
    let node = schemas.resolve(node)?;
    let mut headers = Vec::new();
    for (name, header) in node.get("headers").iter().flat_map(Node::members) {
        let header = schemas.resolve(header)?;
        headers.push(named(schemas, name, Place::Header, &header)?);
    }
    let content = content(schemas, &node)?;
    Ok(Response { headers, content })
}

/// The one media type of a body.
fn content<'d>(schemas: &mut Schemas<'d>, node: &Node<'d>) -> Result<Option<Content>, LoadError> {
    let Some(content) = node.get("content") else {
        return Ok(None);
    };
    let mut members = content.members();
    let (Some((media_type, media)), None) = (members.next(), members.next()) else {
        return Err(content.error("one media type is due"));
    };
    let (key, wrap): (_, fn(_) -> _) = match media_type {
        JSON => ("schema", Content::Json),
        EVENTS => ("x-item-schema", Content::Events),
        other => return Err(content.error(format!("`{other}` is not supported"))),
    };
    let schema = media.get(key).ok_or_else(|| media.error(format!("`{key}` is missing")))?;
    Ok(Some(wrap(schemas.compile(schema)?)))
}

fn is_required(node: &Node<'_>) -> bool {
    node.value.get("required").and_then(Value::as_bool) == Some(true)
}
