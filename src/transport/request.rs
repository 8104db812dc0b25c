//! A request before it is sent: pure data, checked as it is built.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use http::header::HeaderValue;
use http::uri::PathAndQuery;
use http::{HeaderMap, Method, Uri};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;

use super::is_change;
use super::wiped::Wiped;
use crate::config::{BaseUrl, is_dot_segment, parse_header};
use crate::error::{Error, Result};

/// All but what may stand unencoded in any part of a URL.
const ENCODED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What most bodies have room in.
const JSON_BYTES: usize = 512;

/// The longest idempotency key (assumed).
const LONGEST_KEY: usize = 255;

/// Everything about one call but the transport.
#[derive(Clone)]
pub(crate) struct Request {
    pub(crate) method: Method,
    /// The path with `{id}` for what the caller filled in, fit for a log; `None` if the caller wrote it all out.
    pub(crate) template: Option<&'static str>,
    path: String,
    query: Vec<(String, String)>,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<Bytes>,
    pub(crate) key: Key,
    pub(crate) timeout: Option<Duration>,
    pub(crate) max_retries: Option<u32>,
    /// Whether its retries are paid for from the client's budget.
    pub(crate) budgeted: bool,
}

#[derive(Clone)]
pub(crate) enum Key {
    /// One is made for a change.
    Auto,
    Given(HeaderValue),
    Off,
}

impl Request {
    /// A request to a route, with an id for each of its placeholders.
    pub(crate) fn new(method: Method, template: &'static str, ids: &[&str]) -> Result<Self> {
        let mut path = String::with_capacity(template.len() + 32);
        let mut ids = ids.iter();
        // What stands before each id, and after the last one.
        let mut texts = template.split('{');
        path.push_str(texts.next().unwrap_or_default());
        for text in texts {
            push_segment(&mut path, ids.next().unwrap_or(&""))?;
            path.push_str(text.split_once('}').map_or("", |(_, rest)| rest));
        }
        Ok(Self::to_path(method, Some(template), path))
    }

    /// A request to any path the caller writes out.
    pub(crate) fn raw(method: Method, path: &str) -> Result<Self> {
        let refuse = |why: &str| Err(Error::invalid_input(format!("the path {why}")));
        if !path.starts_with('/') {
            return refuse("has to begin with a slash");
        }
        if path.contains(['?', '#']) {
            return refuse("has a query or a fragment; use query() for the former");
        }
        if path.contains('\\') || !path.bytes().all(|byte| byte.is_ascii_graphic()) {
            return refuse("has a backslash, a blank or a character that is not ASCII; percent-encode it");
        }
        if path.starts_with("//") || path.split('/').any(is_dot_segment) {
            return refuse("has a `.`, `..` or empty first segment, which would end up elsewhere");
        }
        Ok(Self::to_path(method, None, path.to_owned()))
    }

    fn to_path(method: Method, template: Option<&'static str>, path: String) -> Self {
        Self {
            method,
            template,
            path,
            query: Vec::new(),
            headers: HeaderMap::new(),
            body: None,
            key: Key::Auto,
            timeout: None,
            max_retries: None,
            budgeted: true,
        }
    }

    pub(crate) fn is_change(&self) -> bool {
        is_change(&self.method)
    }

    /// Whether sending it again can't do more than sending it once.
    pub(crate) fn is_replayable(&self) -> bool {
        !self.is_change() || !matches!(self.key, Key::Off)
    }

    /// Where it goes. Put together of what was read once, the base, and what is new; to read all of it again costs more.
    pub(crate) fn uri(&self, base: &BaseUrl) -> Result<Uri> {
        let path = PathAndQuery::try_from(self.path_and_query(base.path())).ok();
        path.and_then(|path| base.with(path))
            .ok_or_else(|| Error::invalid_input("the path and the query are no valid URL"))
    }

    /// From a path to begin with, without a slash at its end.
    pub(crate) fn path_and_query(&self, base: &str) -> String {
        let mut text = String::with_capacity(base.len() + self.path.len());
        text.push_str(base);
        text.push_str(&self.path);
        for (index, (name, value)) in self.query.iter().enumerate() {
            text.push(if index == 0 { '?' } else { '&' });
            text.extend(utf8_percent_encode(name, ENCODED));
            text.push('=');
            text.extend(utf8_percent_encode(value, ENCODED));
        }
        text
    }

    pub(crate) fn add_query(&mut self, name: &str, value: String) {
        self.query.push((name.to_owned(), value));
    }

    pub(crate) fn set_query(&mut self, name: &str, value: String) {
        self.query.retain(|(other, _)| other != name);
        self.add_query(name, value);
    }

    pub(crate) fn set_json(&mut self, body: &impl Serialize) -> Result<()> {
        let mut json = Wiped::with_room(JSON_BYTES);
        serde_json::to_writer(&mut json, body)
            .map_err(|error| Error::invalid_input(format!("the body can't be written as JSON: {error}")))?;
        self.body = Some(json.into());
        Ok(())
    }

    pub(crate) fn set_header(&mut self, name: &str, value: &str) -> Result<()> {
        let (name, value) = parse_header(name, value).map_err(Error::invalid_input)?;
        self.headers.insert(name, value);
        Ok(())
    }

    pub(crate) fn set_key(&mut self, key: &str) -> Result<()> {
        let fits = (1..=LONGEST_KEY).contains(&key.len()) && key.bytes().all(|byte| byte.is_ascii_graphic());
        let value = HeaderValue::from_str(key).ok().filter(|_| fits).ok_or_else(|| {
            Error::invalid_input(format!(
                "an idempotency key has 1 to {LONGEST_KEY} visible ASCII characters; this one doesn't"
            ))
        })?;
        self.key = Key::Given(value);
        Ok(())
    }
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Neither the query nor a header nor the body: any of them may hold a secret.
        write!(f, "{} {}", self.method, self.template.unwrap_or("(raw)"))
    }
}

/// A new idempotency key: no two calls get the same.
pub(crate) fn new_key() -> Result<HeaderValue> {
    HeaderValue::try_from(uuid::Uuid::new_v4().to_string())
        .map_err(|_| Error::invalid_input("the idempotency key made can't be sent"))
}

/// The one way by which a caller's id or name gets into a path: as one segment, whatever it holds.
pub(crate) fn push_segment(path: &mut String, id: &str) -> Result<()> {
    if id.is_empty() {
        return Err(Error::invalid_input("the id is empty"));
    }
    if is_dot_segment(id) {
        return Err(Error::invalid_input(format!("{id:?} can't be an id: it would change the path")));
    }
    path.extend(utf8_percent_encode(id, ENCODED));
    Ok(())
}
