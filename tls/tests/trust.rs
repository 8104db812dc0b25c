//! Who has to show which certificate, for the client to send anything. Elsewhere than here no variable adds to what the
//! platform trusts.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use std::process::Command;
use std::time::{Duration, Instant};

use shadway::agents::AgentCreateParams;
use shadway::local::LocalServer;
use shadway::mandates::MandateCreateParams;
use shadway::transport::{Sleep, Timer};
use shadway::{Client, ErrorKind};
use tls::{Ended, Front, Identity, Root};

const HERE: &str = "127.0.0.1";

/// A server with one agent, behind TLS.
async fn serve(identity: Identity) -> (LocalServer, Front) {
    let server = LocalServer::start().await.unwrap();
    let agent = AgentCreateParams::new("Assistant", "p/m");
    server.client().unwrap().agents().create(agent).await.unwrap();
    let front = Front::start(identity, server.url()).await.unwrap();
    (server, front)
}

/// What a program says whose platform trusts this root alone; or, without one, whom this machine trusts.
async fn ask(front: &Front, server: &LocalServer, root: Option<&Root>) -> String {
    let mut program = Command::new(env!("CARGO_BIN_EXE_ask"));
    program.env("SHADWAY_API_KEY", server.api_key()).env("SHADWAY_BASE_URL", front.url());
    let file = tempfile::NamedTempFile::new().unwrap();
    if let Some(root) = root {
        std::fs::write(file.path(), root.pem()).unwrap();
        program.env("SSL_CERT_FILE", file.path());
    }
    let output = tokio::task::spawn_blocking(move || program.output().unwrap()).await.unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// That the program says why, in the words of the one or the other kind of TLS, and that not a byte of HTTP was sent.
async fn refuses(identity: Identity, root: Option<&Root>, says: &[&str]) {
    let (server, mut front) = serve(identity).await;
    let said = ask(&front, &server, root).await;
    assert!(said.starts_with("the connection could not be made: "), "{said}");
    assert!(says.iter().any(|words| said.contains(words)), "{said}");
    let ended = front.ended().await.unwrap();
    assert!(matches!(ended, Ended::BeforeTls(_)), "{ended:?}");
    assert_eq!(server.requests().len(), 1, "only the test has asked for anything");
}

#[tokio::test]
async fn a_server_whose_issuer_nobody_trusts_gets_no_request() {
    let says =
        ["UnknownIssuer", "self-signed certificate in certificate chain", "unable to get local issuer"];
    refuses(Root::new("a test").unwrap().signs(HERE).unwrap(), None, &says).await;
    let another = Root::new("another").unwrap();
    refuses(Root::new("a test").unwrap().signs(HERE).unwrap(), Some(&another), &says).await;
}

#[tokio::test]
async fn a_server_with_a_certificate_for_another_host_gets_no_request() {
    let root = Root::new("a test").unwrap();
    let says = ["not valid for name", "IP address mismatch"];
    refuses(root.signs("api.example").unwrap(), Some(&root), &says).await;
}

#[tokio::test]
async fn a_server_with_an_expired_certificate_gets_no_request() {
    let root = Root::new("a test").unwrap();
    let says = ["certificate expired", "certificate has expired"];
    refuses(root.signed_once(HERE).unwrap(), Some(&root), &says).await;
}

#[tokio::test]
async fn the_platforms_trust_store_decides() {
    let root = Root::new("a test").unwrap();
    let (server, mut front) = serve(root.signs(HERE).unwrap()).await;
    assert_eq!(ask(&front, &server, Some(&root)).await, "Assistant\n");
    let ended = front.ended().await.unwrap();
    assert!(matches!(ended, Ended::Spoke), "{ended:?}");
}

/// Time in which delays between attempts are none.
#[derive(Debug)]
struct Hurried;

impl Timer for Hurried {
    fn now(&self) -> Instant {
        tokio::time::Instant::now().into_std()
    }

    fn sleep(&self, duration: Duration) -> Sleep {
        let delay = if duration < Duration::from_secs(10) { Duration::ZERO } else { duration };
        Box::pin(tokio::time::sleep(delay))
    }
}

#[tokio::test]
async fn a_certificate_that_fails_is_a_connection_that_was_never_made() {
    let (server, mut front) = serve(Root::new("a test").unwrap().signs(HERE).unwrap()).await;
    let client =
        Client::builder().api_key(server.api_key()).base_url(front.url()).timer(Hurried).build().unwrap();
    let error = client.agents().create(AgentCreateParams::new("B", "p/m")).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connection);
    assert!(!error.is_ambiguous(), "nothing was sent");
    // As after any other: the certificate may be a new one the next time.
    assert!(error.is_retryable());
    assert_eq!(error.attempts(), 3);
    for _ in 0..3 {
        let ended = front.ended().await.unwrap();
        assert!(matches!(ended, Ended::BeforeTls(_)), "{ended:?}");
    }
    assert_eq!(server.requests().len(), 1, "only the test has asked for anything");
    assert!(!format!("{error} {error:?}").contains(server.api_key()));
}

#[tokio::test]
async fn a_root_given_to_a_client_of_the_callers_is_trusted_by_that_one() {
    let root = Root::new("a test").unwrap();
    let (server, front) = serve(root.signs(HERE).unwrap()).await;
    // With `rustls-ring` a client of one's own asks the program for a provider.
    let _ = tokio_rustls::rustls::crypto::ring::default_provider().install_default();
    let trusts = reqwest::Certificate::from_pem(root.pem().as_bytes()).unwrap();
    let own = reqwest::Client::builder().no_proxy().tls_certs_merge([trusts]).build().unwrap();
    let client = Client::builder()
        .api_key(server.api_key())
        .base_url(front.url())
        .reqwest_client(own)
        .build()
        .unwrap();

    let agent = client.agents().create(AgentCreateParams::new("B", "p/m")).await.unwrap();
    let mandate = client.mandates().create(MandateCreateParams::new(&agent.id, "Say hello.")).await.unwrap();
    let mut events = client.mandate(&mandate.id).events().stream().resume_after("evt_start").until_terminal();
    let mut last = None;
    while let Some(event) = events.try_next().await.unwrap() {
        last = Some(event);
    }
    let status = last.as_ref().and_then(|event| event.mandate_status()).unwrap();
    assert!(status.is_terminal(), "{last:?}");
}
