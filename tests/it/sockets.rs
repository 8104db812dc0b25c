//! What only a socket can show.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use shadway::agents::AgentCreateParams;
use shadway::types::ListParams;
use shadway::{Client, ErrorKind};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use wiremock::matchers::{header, method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::support::agent;

fn client(url: &str) -> Client {
    Client::builder().api_key("sk_test_1").base_url(url).build().unwrap()
}

#[tokio::test]
async fn a_call_goes_over_the_wire_as_the_contract_says() {
    let server = MockServer::start().await;
    Mock::given(method("POST"))
        .and(path("/v1/agents"))
        .and(header("authorization", "Bearer sk_test_1"))
        .and(header("content-type", "application/json"))
        .respond_with(
            ResponseTemplate::new(201).set_body_json(agent()).insert_header("Shadway-Request-Id", "req_1"),
        )
        .expect(1)
        .mount(&server)
        .await;
    let call = client(&server.uri()).agents().create(AgentCreateParams::new("Assistant", "p/m"));
    let answer = call.with_response().await.unwrap();
    assert_eq!(answer.status, 201);
    assert_eq!(answer.request_id.as_deref(), Some("req_1"));
    assert_eq!(answer.value.id, "agt_1");
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_the_other_server_sees_nothing() {
    let elsewhere = MockServer::start().await;
    for status in [301, 302, 303, 307, 308] {
        let server = MockServer::start().await;
        let target = format!("{}/v1/agents?token=s3cr3t", elsewhere.uri());
        Mock::given(method("POST"))
            .respond_with(ResponseTemplate::new(status).insert_header("Location", target))
            .expect(1)
            .mount(&server)
            .await;
        let error =
            client(&server.uri()).agents().create(AgentCreateParams::new("A", "p/m")).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Redirect);
        assert_eq!(error.status().unwrap(), status);
        assert!(error.to_string().contains(&format!("{}/v1/agents", elsewhere.uri())), "{error}");
        assert!(!error.to_string().contains("s3cr3t"), "{error}");
    }
    assert!(elsewhere.received_requests().await.unwrap().is_empty());
}

#[tokio::test]
async fn a_redirect_that_the_callers_client_followed_makes_the_call_fail() {
    let elsewhere = MockServer::start().await;
    Mock::given(method("GET"))
        .respond_with(ResponseTemplate::new(200).set_body_json(agent()))
        .mount(&elsewhere)
        .await;
    let server = MockServer::start().await;
    let target = format!("{}/v1/agents/agt_1", elsewhere.uri());
    Mock::given(method("GET"))
        .respond_with(ResponseTemplate::new(302).insert_header("Location", target.as_str()))
        .mount(&server)
        .await;
    let following = reqwest::Client::builder().no_proxy().build().unwrap();
    let client = Client::builder()
        .api_key("sk_test_1")
        .base_url(server.uri())
        .reqwest_client(following)
        .build()
        .unwrap();
    let error = client.agents().get("agt_1").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Redirect);
    assert!(error.to_string().contains(&target), "{error}");
}

#[tokio::test]
async fn a_refused_connection_is_tried_again_and_then_a_typed_error() {
    let port = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap().port();
    let client = client(&format!("http://127.0.0.1:{port}"));
    let call = client.agents().create(AgentCreateParams::new("A", "p/m")).max_retries(1);
    let error = call.without_idempotency_key().await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connection);
    assert_eq!(error.attempts(), 2);
    assert!(!error.is_ambiguous(), "nothing was ever sent");
}

#[tokio::test]
async fn a_clients_total_timeout_is_overridden() {
    let server = MockServer::start().await;
    Mock::given(method("GET"))
        .respond_with(ResponseTemplate::new(200).set_body_json(agent()).set_delay(Duration::from_millis(400)))
        .mount(&server)
        .await;
    let impatient = reqwest::Client::builder().no_proxy().timeout(Duration::from_millis(50)).build().unwrap();
    let client = Client::builder()
        .api_key("sk_test_1")
        .base_url(server.uri())
        .reqwest_client(impatient)
        .build()
        .unwrap();
    client.agents().get("agt_1").max_retries(0).await.unwrap();
}

#[tokio::test]
async fn a_kept_alive_connection_closed_under_a_change_is_tried_again_with_the_same_bytes() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let server = tokio::spawn(async move {
        let (mut first, _) = listener.accept().await.unwrap();
        read_request(&mut first).await;
        answer(&mut first, 200, br#"{"data":[],"nextCursor":null}"#).await;
        // The same connection, kept alive: the change arrives whole, and the answer is a closed door.
        let lost = read_request(&mut first).await;
        drop(first);
        let (mut second, _) = listener.accept().await.unwrap();
        let again = read_request(&mut second).await;
        answer(&mut second, 201, agent().to_string().as_bytes()).await;
        (lost, again)
    });
    let client = client(&url);
    client.agents().list(ListParams::new()).await.unwrap();
    let made =
        client.agents().create(AgentCreateParams::new("Assistant", "p/m")).with_response().await.unwrap();
    assert_eq!(made.attempts, 2);
    let (lost, again) = server.await.unwrap();
    assert!(lost.starts_with("POST /v1/agents ") && lost.contains("idempotency-key: "), "{lost}");
    assert_eq!(lost, again);
}

#[tokio::test]
async fn a_connection_is_used_again_after_a_long_refusal() {
    let connections = Arc::new(AtomicUsize::new(0));
    let url = serve(Arc::clone(&connections), |mut socket| async move {
        while !read_request(&mut socket).await.is_empty() {
            answer(&mut socket, 404, &[b'x'; 50_000]).await;
        }
    })
    .await;
    let client = client(&url);
    for _ in 0..5 {
        assert!(client.agents().get("agt_1").await.unwrap_err().is_not_found());
    }
    assert_eq!(connections.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_connection_that_is_not_made_in_time_was_never_sent() {
    // A listener whose queue is full drops what comes: the kernel neither accepts nor refuses.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut held = Vec::new();
    let full = loop {
        match tokio::time::timeout(Duration::from_millis(200), TcpStream::connect(address)).await {
            Ok(Ok(stream)) => held.push(stream),
            Ok(Err(_)) | Err(_) => break true,
        }
        if held.len() > 64 {
            break false;
        }
    };
    assert!(full, "the queue of this system's sockets never fills");
    let client = Client::builder()
        .api_key("sk_test_1")
        .base_url(format!("http://{address}"))
        .connect_timeout(Duration::from_millis(100))
        .attempt_timeout(Duration::from_secs(20))
        .build()
        .unwrap();
    let call = client.agents().create(AgentCreateParams::new("A", "p/m")).max_retries(0);
    let error = call.await.unwrap_err();
    // An attempt's timeout would be another kind.
    assert_eq!(error.kind(), ErrorKind::Connection);
    assert!(!error.is_ambiguous());
}

#[tokio::test]
async fn a_body_shorter_than_declared_is_a_broken_connection() {
    let attempts = Arc::new(AtomicUsize::new(0));
    let url = serve(Arc::clone(&attempts), |mut socket| async move {
        read_request(&mut socket).await;
        let _ = socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{\"id\":").await;
    })
    .await;
    let error = client(&url).agents().get("agt_1").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Connection);
    assert_eq!(error.attempts(), 3);
    assert_eq!(attempts.load(Ordering::SeqCst), 3);
}

#[tokio::test]
async fn an_endless_answer_is_cut_at_the_cap() {
    let sent = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&sent);
    let url = serve(Arc::new(AtomicUsize::new(0)), move |mut socket| {
        let sent = Arc::clone(&counter);
        async move {
            read_request(&mut socket).await;
            let _ = socket.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").await;
            let chunk = [b"10000\r\n".as_slice(), &[b' '; 0x10000], b"\r\n"].concat();
            // Bounded, should the client never hang up.
            for _ in 0..4_096 {
                if socket.write_all(&chunk).await.is_err() {
                    break;
                }
                sent.fetch_add(0x10000, Ordering::SeqCst);
            }
        }
    })
    .await;
    let client = Client::builder()
        .api_key("sk_test_1")
        .base_url(&url)
        .max_response_bytes(1024 * 1024)
        .build()
        .unwrap();
    let error = client.agents().get("agt_1").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResponseTooLarge);
    // The cap, and what the sockets' buffers hold.
    let sent = sent.load(Ordering::SeqCst);
    assert!(sent < 24 * 1024 * 1024, "{sent} bytes were taken");
}

#[tokio::test]
async fn a_declared_length_above_the_cap_is_refused_without_reading() {
    let url = serve(Arc::new(AtomicUsize::new(0)), |mut socket| async move {
        read_request(&mut socket).await;
        let _ = socket.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\n\r\n").await;
        tokio::time::sleep(Duration::from_secs(20)).await;
    })
    .await;
    let error = client(&url).agents().get("agt_1").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResponseTooLarge);
}

/// Serves each connection by a function of its own, and counts them.
async fn serve<F, Fut>(connections: Arc<AtomicUsize>, each: F) -> String
where
    F: Fn(TcpStream) -> Fut + Send + 'static,
    Fut: Future<Output = ()> + Send + 'static,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            connections.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(each(socket));
        }
    });
    url
}

/// One request, head and body.
async fn read_request(socket: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head
                .lines()
                .find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok())
                .unwrap_or(0_usize);
            if body.len() >= length {
                return text;
            }
        }
        let mut buffer = [0; 4_096];
        match socket.read(&mut buffer).await {
            Ok(0) | Err(_) => return text,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
    }
}

async fn answer(socket: &mut TcpStream, status: u16, body: &[u8]) {
    let head = format!(
        "HTTP/1.1 {status} X\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    socket.write_all(head.as_bytes()).await.unwrap();
    socket.write_all(body).await.unwrap();
}
