//! The configuration, parsed once: whatever gets past this file can't fail later.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use bytes::Bytes;
use http::Uri;
use http::header::{HeaderName, HeaderValue, InvalidHeaderValue};
use http::uri::PathAndQuery;
use memchr::memchr2_iter;
use zeroize::Zeroizing;

use crate::error::{Error, Result};

/// The variable that holds the API key (documented).
pub(crate) const API_KEY_VARIABLE: &str = "SHADWAY_API_KEY";
/// The variable that holds the base URL (assumed).
pub(crate) const BASE_URL_VARIABLE: &str = "SHADWAY_BASE_URL";
/// Where the service is (assumed).
pub(crate) const DEFAULT_BASE_URL: &str = "https://api.shadway.com";

/// What stands before the key in its header (assumed).
const BEARER: &str = "Bearer ";
/// A shorter key keeps nobody out, and would be found inside of words.
const SHORTEST_REDACTED: usize = 8;

/// What resources a key makes (documented: the key decides, there is no other setting).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Mode {
    /// `sk_test_…`: test-mode resources only.
    Test,
    /// `sk_live_…`: live resources.
    Live,
    /// A key with neither prefix.
    Unknown,
}

/// A key that never prints: ready for its header, of which all requests share the one copy.
#[derive(Clone)]
pub(crate) struct ApiKey {
    header: HeaderValue,
    mode: Mode,
}

impl ApiKey {
    pub(crate) fn parse(key: &str) -> Result<Self> {
        if key.is_empty() {
            return Err(Error::config(format!("the API key is empty; set {API_KEY_VARIABLE}")));
        }
        if key.contains(['\n', '\r']) {
            return Err(Error::config(format!(
                "the API key contains a line break; look for one at the end of {API_KEY_VARIABLE}"
            )));
        }
        if !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Error::config("the API key contains a blank or a character that is not ASCII"));
        }
        let header = secret_value(&[BEARER, key])
            .map_err(|_| Error::config("the API key can't be sent in a header"))?;
        let mode = match key {
            _ if key.starts_with("sk_test_") => Mode::Test,
            _ if key.starts_with("sk_live_") => Mode::Live,
            _ => Mode::Unknown,
        };
        Ok(Self { header, mode })
    }

    pub(crate) fn mode(&self) -> Mode {
        self.mode
    }

    /// The value of `Authorization` (assumed: a bearer token).
    pub(crate) fn header(&self) -> HeaderValue {
        self.header.clone()
    }

    /// What came from outside, with `[redacted]` wherever it repeats the key, in JSON's escapes too; `None` if it doesn't.
    pub(crate) fn redact(&self, text: &[u8]) -> Option<Vec<u8>> {
        let key = &self.header.as_bytes()[BEARER.len()..];
        if key.len() < SHORTEST_REDACTED {
            return None;
        }
        let mut shown = Vec::new();
        let mut rest = 0;
        for place in memchr2_iter(key[0], b'\\', text) {
            // One that begins inside of the last is no other.
            let found = (place >= rest).then(|| written(key, &text[place..]));
            let Some(length) = found.flatten() else { continue };
            shown.extend_from_slice(&text[rest..place]);
            shown.extend_from_slice(b"[redacted]");
            rest = place + length;
        }
        if rest == 0 {
            return None;
        }
        shown.extend_from_slice(&text[rest..]);
        Some(shown)
    }

    /// The same of a text.
    pub(crate) fn redact_text(&self, text: &str) -> Option<String> {
        self.redact(text.as_bytes()).map(|shown| String::from_utf8_lossy(&shown).into_owned())
    }
}

/// In how many bytes a key is written at the start of a text, as it is or in JSON's escapes, if it is there. Without a copy
/// of it, which a decoder would make, and leave.
fn written(key: &[u8], text: &[u8]) -> Option<usize> {
    if text.starts_with(key) {
        return Some(key.len());
    }
    let mut length = 0;
    for wanted in key {
        let (letter, bytes) = match &text[length..] {
            [b'\\', b'u', b'0', b'0', high, low, ..] => (hex(*high)? << 4 | hex(*low)?, 6),
            [b'\\', letter @ (b'"' | b'\\' | b'/'), ..] => (*letter, 2),
            [letter, ..] => (*letter, 1),
            [] => return None,
        };
        if letter != *wanted {
            return None;
        }
        length += bytes;
    }
    Some(length)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|digit| u8::try_from(digit).ok())
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(…)")
    }
}

/// Where requests go: a scheme, a host, and a path they begin with.
#[derive(Debug, Clone)]
pub(crate) struct BaseUrl {
    /// Without a slash at the end.
    text: String,
    /// Of the text, where the path begins.
    path: usize,
    /// The same, whose path each request replaces.
    uri: Uri,
    loopback: bool,
    https: bool,
}

impl BaseUrl {
    pub(crate) fn parse(text: &str, allow_insecure_http: bool) -> Result<Self> {
        // The text is not repeated: a URL can hold a password.
        let refuse = |why: &str| Error::config(format!("the base URL {why}"));
        if text.contains(['#', '?', '\\']) {
            return Err(refuse("has a query, a fragment or a backslash"));
        }
        let uri: Uri = text.parse().map_err(|_| refuse("is not a URL"))?;
        let https = match uri.scheme_str() {
            Some("https") => true,
            Some("http") => false,
            Some(_) => return Err(refuse("is neither https nor http")),
            None => return Err(refuse("has no scheme; it should begin with https://")),
        };
        let Some(host) = uri.host().filter(|host| !host.is_empty()) else {
            return Err(refuse("has no host"));
        };
        let authority = uri.authority().map_or(host, |authority| authority.as_str());
        if authority.contains('@') {
            return Err(refuse("has a user or a password in it"));
        }
        if !authority.strip_prefix(host).is_some_and(|rest| rest.is_empty() || is_port(rest)) {
            return Err(refuse("has a port that is none"));
        }
        if !is_host(host) {
            return Err(refuse("has a host that is none; write an international name in its ASCII form"));
        }
        if uri.path().split('/').any(is_dot_segment) {
            return Err(refuse("has a `.` or `..` in its path"));
        }
        let loopback = is_loopback(host);
        if !https && !loopback && !allow_insecure_http {
            return Err(refuse(&format!(
                "is http, and {host} is not this machine; use https, or allow_insecure_http() if you must"
            )));
        }
        let text = text.trim_end_matches('/').to_owned();
        let path = text.len() - uri.path().trim_end_matches('/').len();
        Ok(Self { text, path, uri, loopback, https })
    }

    #[cfg_attr(not(feature = "client"), expect(dead_code, reason = "only the adapter asks"))]
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    /// What the path of each request begins with.
    pub(crate) fn path(&self) -> &str {
        &self.text[self.path..]
    }

    /// With this path and query instead of its own.
    pub(crate) fn with(&self, path: PathAndQuery) -> Option<Uri> {
        let mut parts = self.uri.clone().into_parts();
        parts.path_and_query = Some(path);
        Uri::from_parts(parts).ok()
    }

    #[cfg_attr(not(feature = "client"), expect(dead_code, reason = "only the adapter asks"))]
    pub(crate) fn is_loopback(&self) -> bool {
        self.loopback
    }

    #[cfg_attr(not(feature = "client"), expect(dead_code, reason = "only the adapter asks"))]
    pub(crate) fn is_https(&self) -> bool {
        self.https
    }
}

/// A colon and a number that a port can have, which a sign before it is no part of.
fn is_port(text: &str) -> bool {
    text.strip_prefix(':').is_some_and(|digits| {
        digits.bytes().all(|byte| byte.is_ascii_digit()) && digits.parse::<u16>().is_ok()
    })
}

/// A name, an IPv4 address, or an IPv6 address in brackets. To a URL parser a name whose last label is a number, also one
/// in hexadecimal, is an IPv4 address.
fn is_host(host: &str) -> bool {
    if let Some(address) = host.strip_prefix('[') {
        return address.strip_suffix(']').is_some_and(|address| address.parse::<Ipv6Addr>().is_ok());
    }
    let name = host.strip_suffix('.').unwrap_or(host);
    let last = name.rsplit('.').next().unwrap_or_default();
    let hexadecimal = last.strip_prefix("0x").or_else(|| last.strip_prefix("0X"));
    if last.bytes().all(|byte| byte.is_ascii_digit())
        || hexadecimal.is_some_and(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()))
    {
        return name.parse::<Ipv4Addr>().is_ok();
    }
    name.split('.').all(|label| {
        !label.is_empty()
            && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
    })
}

fn is_loopback(host: &str) -> bool {
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || address.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Whether URL parsers take the segment for "here" or "up one": they do so for the percent-encoded
/// spellings too, and the call would land on another endpoint.
pub(crate) fn is_dot_segment(segment: &str) -> bool {
    let is_dot = |text: &str| text == "." || text.eq_ignore_ascii_case("%2e");
    let are_dots = |first| {
        segment.split_at_checked(first).is_some_and(|(first, second)| is_dot(first) && is_dot(second))
    };
    is_dot(segment) || are_dots(".".len()) || are_dots("%2e".len())
}

/// Headers that the client alone sets.
const OWN_HEADERS: [&str; 12] = [
    "accept",
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "host",
    "idempotency-key",
    "last-event-id",
    "te",
    "transfer-encoding",
    "upgrade",
    "user-agent",
];

/// A header the caller adds.
pub(crate) fn parse_header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), String> {
    let name: HeaderName = name.parse().map_err(|_| format!("{name:?} is not a header name"))?;
    if OWN_HEADERS.contains(&name.as_str()) {
        return Err(format!("the header {name} is the client's own"));
    }
    // The value is not repeated: it may be a secret.
    let value =
        secret_value(&[value]).map_err(|_| format!("the value of the header {name} can't be sent"))?;
    Ok((name, value))
}

/// A value that is marked sensitive, and wiped when the last who holds it has let go.
fn secret_value(parts: &[&str]) -> Result<HeaderValue, InvalidHeaderValue> {
    // Made at its full length: one that grew would leave what it held where it was.
    let mut text = Zeroizing::new(Vec::with_capacity(parts.iter().map(|part| part.len()).sum()));
    parts.iter().for_each(|part| text.extend_from_slice(part.as_bytes()));
    let mut value = HeaderValue::from_maybe_shared(Bytes::from_owner(text))?;
    value.set_sensitive(true);
    Ok(value)
}

/// The user agent (assumed), with an application's name behind it.
pub(crate) fn user_agent(app_name: Option<&str>) -> Result<HeaderValue> {
    let own = concat!("shadway-rust/", env!("CARGO_PKG_VERSION"));
    let text = match app_name {
        None => own.to_owned(),
        Some(name) if !name.is_empty() && name.bytes().all(|byte| matches!(byte, b' '..=b'~')) => {
            format!("{own} {name}")
        }
        Some(_) => return Err(Error::config("the application name is empty or not plain ASCII")),
    };
    text.parse().map_err(|_| Error::config("the application name can't be sent in a header"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_found_as_it_is_and_as_json_writes_it() {
        let shown = |key: &str, text: &str| ApiKey::parse(key).unwrap().redact_text(text);
        let key = "sk_aA/1k";
        for (text, expected) in [
            ("sk_aA/1k", "[redacted]"),
            ("<sk_aA/1ksk_aA/1k>", "<[redacted][redacted]>"),
            (r"sk_sk_\u0061\u004a sk_\u0061\u0041\/1\u006B.", r"sk_sk_\u0061\u004a [redacted]."),
            (r"\u0073\u006b\u005F\u0061A\u002f1k", "[redacted]"),
        ] {
            assert_eq!(shown(key, text).as_deref(), Some(expected), "{text}");
        }
        for text in ["", "sk_aA/1", r"\", r"sk_aA/1\u006", r"sk_aA/1\u016b", r"sk_aA/1\u00+b", r"sk_aA/1\k"] {
            assert_eq!(shown(key, text), None, "{text}");
        }
        // What JSON escapes may be a letter of the key.
        for text in [r#"a"b\c\"d"#, r#"a\"b\\c\\\"d"#] {
            assert_eq!(shown(r#"a"b\c\"d"#, text).as_deref(), Some("[redacted]"), "{text}");
        }
        assert_eq!(shown("sk_1234", "sk_1234"), None, "a key that short would be found inside of words");
    }
}
