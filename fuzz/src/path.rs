//! Ids, queries and paths that come from the caller: an id stays in its segment and decodes to itself, or is refused;
//! so does a query's value; and a path written out ends up where it says.
//!
//! The input is two ids, or a path and a query, with a zero byte between them.

use percent_encoding::percent_decode_str;
use shadway::fuzzing;
use url::Url;

const BASE: &str = "https://api.example/base";

/// A longer URL than `http` takes is an error of the call.
const LONGEST: usize = 4_096;

pub fn check(input: &[u8]) {
    let (first, second) = crate::halves(input);
    let (Ok(first), Ok(second)) = (std::str::from_utf8(first), std::str::from_utf8(second)) else { return };
    if input.len() > LONGEST {
        return;
    }
    ids(first, second);
    query(first, second);
    written_out(first);
}

/// As a URL parser reads it; `None` if it can't be sent, which is an error of the call.
fn url(path: &str) -> Option<Url> {
    let text = format!("{BASE}{path}");
    let sent: http::Uri = text.parse().ok()?;
    let url = Url::parse(&text).unwrap();
    assert_eq!(url.host_str(), Some("api.example"), "{text:?}");
    assert_eq!(sent.host(), Some("api.example"), "{text:?}");
    assert_eq!(url.fragment(), None, "{text:?}");
    Some(url)
}

fn ids(first: &str, second: &str) {
    let path = match fuzzing::path("/v1/{id}/x/{id}", &[first, second], "a", "b") {
        Ok(path) => path,
        Err(_) => return assert!(is_refused(first) || is_refused(second), "{first:?}, {second:?}"),
    };
    assert!(!is_refused(first) && !is_refused(second), "{path:?}");
    let url = url(&path).expect("it can be sent");
    let segments: Vec<_> = url.path_segments().unwrap().collect();
    let ["base", "v1", one, "x", two] = segments[..] else { panic!("{path:?} is {segments:?}") };
    assert_eq!(percent_decode_str(one).decode_utf8().unwrap(), first);
    assert_eq!(percent_decode_str(two).decode_utf8().unwrap(), second);
    // The same text, so nobody who normalizes it finds something to change.
    assert_eq!(&url.as_str()[BASE.len()..], path);
}

/// Nothing, "here" and "up one", also as a URL parser reads them.
fn is_refused(id: &str) -> bool {
    let dots = id.replace("%2e", ".").replace("%2E", ".");
    matches!(dots.as_str(), "" | "." | "..")
}

fn query(name: &str, value: &str) {
    let path = fuzzing::path("/v1/agents", &[], name, value).unwrap();
    let url = url(&path).expect("it can be sent");
    assert_eq!(url.path(), "/base/v1/agents");
    let pairs: Vec<_> = url.query_pairs().collect();
    assert_eq!(pairs, [(name.into(), value.into())]);
}

fn written_out(path: &str) {
    let Ok(sent) = fuzzing::raw_path(path) else { return };
    assert_eq!(sent, path);
    let Some(url) = url(&sent) else { return };
    assert_eq!(url.query(), None, "{path:?}");
    let decoded = |segment: &str| percent_decode_str(segment).collect::<Vec<u8>>();
    let read: Vec<_> = url.path_segments().unwrap().skip(1).map(decoded).collect();
    let written: Vec<_> = path.split('/').skip(1).map(decoded).collect();
    assert_eq!(read, written, "{path:?}");
}
