//! Everything about the configuration is checked in `build`, each fault with an error of its own.

use shadway::client::Mode;
use shadway::types::ListParams;
use shadway::{Client, ErrorKind};

use crate::support::{Script, Step, page};

fn refused(builder: shadway::ClientBuilder) -> String {
    let error = builder.build().expect_err("a refusal");
    assert_eq!(error.kind(), ErrorKind::Config);
    error.to_string()
}

fn with_key(key: &str) -> shadway::ClientBuilder {
    Client::builder().api_key(key)
}

fn with_url(url: &str) -> shadway::ClientBuilder {
    with_key("sk_test_1").base_url(url)
}

#[test]
fn a_missing_key_names_the_variable() {
    assert!(refused(Client::builder()).contains("set SHADWAY_API_KEY"));
}

#[test]
fn a_key_that_can_not_be_sent_is_refused_and_never_shown() {
    for (key, why) in [
        ("", "is empty"),
        ("sk_test_s3cr3t\n", "line break"),
        ("sk_test_s3cr3t\r\n", "line break"),
        ("sk_test_ s3cr3t", "blank"),
        ("sk_test_s3cr3tü", "not ASCII"),
    ] {
        let message = refused(with_key(key));
        assert!(message.contains(why), "{message}");
        assert!(!message.contains("s3cr3t"), "{message}");
    }
}

#[test]
fn a_base_url_that_can_not_be_used_says_why() {
    for (url, why) in [
        ("api.shadway.com", "no scheme"),
        ("https://", "not a URL"),
        ("https:///v1", "not a URL"),
        ("", "not a URL"),
        ("ftp://api.shadway.com", "neither https nor http"),
        ("http://api.shadway.com", "is http, and api.shadway.com is not this machine"),
        ("http://127.0.0.1.example.com", "is not this machine"),
        ("https://user:s3cr3t@api.shadway.com", "user or a password"),
        ("https://api.shadway.com?key=s3cr3t", "a query, a fragment"),
        ("https://api.shadway.com/#s3cr3t", "a query, a fragment"),
        ("https://api.shadway.com/a/../b", "`.` or `..`"),
        ("https://api.shadway.com/%2E%2e/b", "`.` or `..`"),
        ("https://a b", "not a URL"),
        ("https://api.example:99999", "a port that is none"),
        ("https://api.example:", "a port that is none"),
        ("https://api.example:abc", "a port that is none"),
        ("https://[zz]", "a host that is none"),
        ("https://[127.0.0.1]", "a host that is none"),
        ("https://a:+443", "a port that is none"),
        ("https://[::1]0:443", "a port that is none"),
        ("https://1.2.3.400", "a host that is none"),
        ("https://2130706433", "a host that is none"),
        ("https://0X7f000001", "a host that is none"),
        ("https://a.0x", "a host that is none"),
        ("https://a..b", "a host that is none"),
        ("https://xn--/", "can't be used"),
        (r"https://x/a\..\b", "backslash"),
    ] {
        let message = refused(with_url(url));
        assert!(message.contains(why), "{url}: {message}");
        assert!(!message.contains("s3cr3t"), "{message}");
    }
}

#[test]
fn http_is_for_this_machine_unless_the_builder_says_otherwise() {
    for url in ["http://localhost:4000", "http://127.0.0.1:4000/", "http://127.8.8.8", "http://[::1]:4000"] {
        with_url(url).build().unwrap();
    }
    with_url("http://shadway.internal").allow_insecure_http().build().unwrap();
}

#[test]
fn a_limit_of_nothing_is_refused() {
    use std::time::Duration;
    assert!(refused(with_key("sk_test_1").attempt_timeout(Duration::ZERO)).contains("no time"));
    assert!(refused(with_key("sk_test_1").connect_timeout(Duration::ZERO)).contains("no time"));
    assert!(refused(with_key("sk_test_1").max_response_bytes(0)).contains("no room"));
}

#[tokio::test]
async fn a_path_in_the_base_url_comes_before_every_route() {
    let script = Script::new([Step::json(200, &page(&[], &serde_json::Value::Null))]);
    for url in ["https://gateway.example/shadway", "https://gateway.example/shadway/"] {
        let client = script.builder().base_url(url).build().unwrap();
        client.agents().list(ListParams::new()).await.unwrap();
    }
    for seen in script.seen() {
        assert_eq!(seen.uri, "https://gateway.example/shadway/v1/agents");
    }
}

#[test]
fn the_key_decides_the_mode() {
    let mode = |key| with_key(key).build().unwrap().mode();
    assert_eq!(mode("sk_test_1"), Mode::Test);
    assert_eq!(mode("sk_live_1"), Mode::Live);
    assert_eq!(mode("other"), Mode::Unknown);
}

#[test]
fn headers_and_names_are_checked() {
    let builder = || with_key("sk_test_1");
    for name in ["Authorization", "idempotency-key", "Content-Type", "last-event-id", "Host", "User-Agent"] {
        assert!(refused(builder().default_header(name, "x")).contains("the client's own"));
    }
    assert!(refused(builder().default_header("a b", "x")).contains("not a header name"));
    let message = refused(builder().default_header("x-tenant", "s3cr3t\n"));
    assert!(message.contains("x-tenant") && !message.contains("s3cr3t"), "{message}");
    assert!(refused(builder().app_name("")).contains("application name"));
    assert!(refused(builder().app_name("größe")).contains("application name"));
}

#[tokio::test]
async fn the_user_agent_and_added_headers_go_out() {
    let script = Script::new([Step::json(200, &page(&[], &serde_json::Value::Null))]);
    let client = script.builder().app_name("buyer/2.1").default_header("X-Tenant", "t1").build().unwrap();
    client.agents().list(ListParams::new()).header("X-Trace", "abc").await.unwrap();
    let seen = &script.seen()[0];
    let expected = format!("shadway-rust/{} buyer/2.1", env!("CARGO_PKG_VERSION"));
    assert_eq!(seen.header("user-agent"), Some(expected.as_str()));
    assert_eq!(seen.header("x-tenant"), Some("t1"));
    assert_eq!(seen.header("x-trace"), Some("abc"));
    assert_eq!(seen.header("authorization"), Some("Bearer sk_test_1"));
    for name in ["authorization", "x-tenant", "x-trace"] {
        assert!(seen.headers[name].is_sensitive(), "{name} may be a secret");
    }
}

#[tokio::test]
async fn a_calls_own_header_is_checked_before_sending() {
    let script = Script::new([Step::json(200, &page(&[], &serde_json::Value::Null))]);
    let client = script.client();
    for (name, value) in [("Authorization", "Bearer x"), ("a b", "x"), ("x-a", "b\r\nc: d")] {
        let error = client.agents().list(ListParams::new()).header(name, value).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput);
    }
    assert_eq!(script.count(), 0);
}

#[tokio::test(start_paused = true)]
async fn the_defaults_are_those_the_readme_names() {
    let readme = include_str!("../../README.md");
    for row in [
        "| one attempt | 30 s |",
        "| retries | 2 |",
        "| largest answer | 16 MiB |",
        "| no limit | `timeout` |",
    ] {
        assert!(readme.contains(row), "{row}");
    }
    let script = Script::new([Step::Hang]);
    let started = tokio::time::Instant::now();
    let error = script.client().agents().get("agt_1").max_retries(0).await.unwrap_err();
    assert_eq!(error.to_string(), "no answer within 30s");
    assert_eq!(started.elapsed().as_secs(), 30);
    script.client().agents().get("agt_1").await.unwrap_err();
    assert_eq!(script.count(), 4, "one call without retries, one with two");

    let limit = 16 * 1024 * 1024;
    let of_length = |length| Script::new([Step::text(200, vec![b' '; length])]).client();
    let kind = |client: Client| async move { client.agents().get("agt_1").await.unwrap_err().kind() };
    assert_eq!(kind(of_length(limit)).await, ErrorKind::Decode);
    assert_eq!(kind(of_length(limit + 1)).await, ErrorKind::ResponseTooLarge);
    assert!(readme.contains("| making a connection | 10 s |"));
    assert!(format!("{:?}", Client::builder()).contains("connect_timeout: 10s"));
}
