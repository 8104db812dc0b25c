//! TLS as it was built in. Run once for each of the ways, and once without any.

use shadway::{Client, ErrorKind};

const BUILT_IN: bool = cfg!(any(feature = "rustls", feature = "rustls-ring", feature = "native-tls"));

#[test]
fn an_https_url_works_or_says_what_is_missing() {
    let client = Client::builder().api_key("sk_test_1").base_url("https://api.example").build();
    if BUILT_IN {
        client.unwrap();
    } else {
        let error = client.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config);
        assert!(error.to_string().contains("turn on the feature `rustls`"), "{error}");
    }
}

/// reqwest's ways to do so have names that say what they are.
#[test]
fn nothing_turns_the_check_of_certificates_off() {
    let adapter = include_str!("../../src/transport/reqwest.rs");
    assert!(adapter.contains("tls_backend_rustls"), "what is looked at is where TLS is set up");
    assert!(!adapter.contains("danger"));
}

#[tokio::test]
async fn a_server_that_speaks_no_tls_is_a_connection_error_and_no_panic() {
    if !BUILT_IN {
        return;
    }
    let plain = wiremock::MockServer::start().await;
    let url = plain.uri().replace("http://", "https://");
    let client = Client::builder().api_key("sk_test_1").base_url(url).max_retries(0).build().unwrap();
    let error = client.agents().get("agt_1").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connection);
    assert!(!error.is_ambiguous(), "the request was never sent");
}

#[test]
fn a_client_of_the_callers_is_not_asked_for_tls() {
    let own = reqwest::Client::builder();
    // Without a provider, reqwest's own builder would panic: the hazard that the crate's documentation names.
    if cfg!(all(feature = "rustls-ring", not(feature = "rustls"))) {
        return;
    }
    Client::builder().api_key("sk_test_1").reqwest_client(own.build().unwrap()).build().unwrap();
}
