//! A base URL: what is refused is not repeated in the error, and what is taken is to every URL parser the same place,
//! also with a path behind it.
//!
//! In the input `$` stands for a password.

use shadway::fuzzing;
use url::Url;

const PASSWORD: &str = "hunter2";
const PATH: &str = "/v1/agents/agt_1";

pub fn check(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let text = text.replace('$', PASSWORD);
    for insecure in [false, true] {
        match fuzzing::base_url(&text, insecure, PATH) {
            Ok(url) => taken(&text, &url, insecure),
            Err(error) => {
                let shown = format!("{error} {error:?}");
                assert!(!has_password(&text) || !shown.contains(PASSWORD), "{text:?}: {shown}");
            }
        }
    }
}

/// Whether it stands where a password does, or in a query: not in the name of the host, nor in the path.
fn has_password(text: &str) -> bool {
    let rest = text.split_once("//").map_or(text, |(_, rest)| rest);
    let (authority, rest) = rest.split_at(rest.find(['/', '?', '#', '\\']).unwrap_or(rest.len()));
    let user = authority.rsplit_once('@').map_or("", |(user, _)| user);
    let query = rest.split_once(['?', '#']).map_or("", |(_, query)| query);
    user.contains(PASSWORD) || query.contains(PASSWORD)
}

fn taken(text: &str, url: &str, insecure: bool) {
    let sent: http::Uri = url.parse().expect("the transport's own type takes it");
    let read = match Url::parse(url) {
        Ok(read) => read,
        // Whether the ASCII form of an international name is one only tables tell: the adapter to the HTTP client, which
        // has them, looks at it when the client is built.
        Err(_) if sent.host().is_some_and(|host| host.to_ascii_lowercase().contains("xn--")) => return,
        Err(error) => panic!("{url:?}: {error}"),
    };
    assert_eq!((read.username(), read.password()), ("", None), "{url:?}");
    assert_eq!(read.fragment(), None);
    assert_eq!(Some(read.scheme()), sent.scheme_str().map(str::to_ascii_lowercase).as_deref());
    let local = matches!(read.host(), Some(url::Host::Domain(name)) if name == "localhost")
        || matches!(read.host(), Some(url::Host::Ipv4(address)) if address.is_loopback())
        || matches!(read.host(), Some(url::Host::Ipv6(address)) if address.is_loopback());
    assert!(insecure || local || read.scheme() == "https", "{url:?} would be sent in the open");
    let host = sent.host().unwrap().to_ascii_lowercase();
    match read.host().unwrap() {
        url::Host::Ipv6(address) => {
            assert_eq!(host.trim_matches(['[', ']']).parse(), Ok(address));
        }
        // A dot behind it changes nothing.
        url::Host::Ipv4(address) => assert_eq!(host.trim_end_matches('.').parse(), Ok(address), "{url:?}"),
        read => assert_eq!(read.to_string(), host, "{url:?}"),
    }
    assert_eq!(read.port_or_known_default(), sent.port_u16().or(if sent.scheme_str() == Some("https") { Some(443) } else { Some(80) }), "{url:?}");
    // What stood in the base URL, behind a scheme in small letters, and then the path, which nothing has touched.
    let (_, begins) = text.trim_end_matches('/').split_once(':').expect("a scheme");
    let (_, rest) = url.split_once(':').expect("a scheme");
    assert!(rest.starts_with(begins) && rest.ends_with(PATH), "{url:?}");
    assert_eq!(read.query(), None);
    let segments: Vec<_> = read.path_segments().unwrap().collect();
    let sent_segments: Vec<_> = sent.path().split('/').skip(1).collect();
    assert_eq!(segments.len(), sent_segments.len(), "{url:?}");
    assert!(segments.ends_with(&["v1", "agents", "agt_1"]), "{url:?}");
}
