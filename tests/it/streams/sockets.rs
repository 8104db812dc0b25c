//! What only a socket can show of a stream.

use std::time::Duration;

use shadway::{Client, ErrorKind};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;

use super::{next, nothing_for};
use crate::sockets::read_request;
use crate::support::streams::event;

/// So long that it fails the test instead of hanging it.
const PATIENCE: Duration = Duration::from_secs(20);

async fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    (listener, url)
}

fn client(url: &str) -> Client {
    Client::builder().api_key("sk_test_1").base_url(url).build().unwrap()
}

/// Accepts a connection and opens a stream on it.
async fn open(listener: &TcpListener) -> (TcpStream, String) {
    let (mut socket, _) = listener.accept().await.unwrap();
    let request = read_request(&mut socket).await;
    let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n";
    socket.write_all(head.as_bytes()).await.unwrap();
    (socket, request)
}

async fn send(socket: &mut TcpStream, text: &str) {
    socket.write_all(format!("{:x}\r\n{text}\r\n", text.len()).as_bytes()).await.unwrap();
}

/// Waits until the other side has closed.
async fn closed(socket: &mut TcpStream) {
    let read = timeout(PATIENCE, socket.read(&mut [0; 64])).await.expect("the socket is still open");
    assert!(matches!(read, Ok(0) | Err(_)), "{read:?}");
}

#[tokio::test]
async fn a_stream_goes_over_the_wire_and_resumes_after_a_cut_chunk() {
    let (listener, url) = listen().await;
    let server = tokio::spawn(async move {
        let (mut first, _) = open(&listener).await;
        send(&mut first, &event(1)).await;
        // A chunk that promises more than it holds.
        first.write_all(b"fff\r\nid: evt_2\ndata: {").await.unwrap();
        drop(first);
        let (mut second, request) = open(&listener).await;
        send(&mut second, &event(2)).await;
        (second, request)
    });
    let mut events = client(&url).mandate("mnd_1").events().stream();
    assert_eq!(next(&mut events).await.id, "evt_1");
    assert_eq!(next(&mut events).await.id, "evt_2");
    let (_socket, request) = server.await.unwrap();
    assert!(request.starts_with("GET /v1/mandates/mnd_1/events/stream HTTP/1.1\r\n"), "{request}");
    assert_eq!(request.matches("last-event-id: evt_1\r\n").count(), 1, "{request}");
    assert!(request.contains("accept: text/event-stream\r\n"), "{request}");
}

#[tokio::test]
async fn dropping_the_stream_closes_its_socket() {
    let (listener, url) = listen().await;
    let mut events = client(&url).events().stream();
    let (mut socket, ()) = tokio::join!(
        async {
            let (mut socket, _) = open(&listener).await;
            send(&mut socket, &event(1)).await;
            socket
        },
        async {
            next(&mut events).await;
        }
    );
    drop(events);
    closed(&mut socket).await;
}

#[tokio::test]
async fn a_connection_given_up_is_closed_before_the_next_is_made() {
    let (listener, url) = listen().await;
    // The backoff goes on for longer than this test.
    let mut events = client(&url).events().stream().max_event_bytes(100_000);
    let serve = async {
        let (mut socket, _) = listener.accept().await.unwrap();
        read_request(&mut socket).await;
        let head = "HTTP/1.1 503 X\r\nRetry-After: 600\r\nContent-Length: 99999\r\n\r\nbusy";
        socket.write_all(head.as_bytes()).await.unwrap();
        socket.shutdown().await.unwrap();
        closed(&mut socket).await;
    };
    let follow = nothing_for(PATIENCE, &mut events);
    tokio::select! {
        () = serve => {}
        () = follow => panic!("the socket is still open"),
    }
    drop(events);
    assert!(
        timeout(Duration::from_millis(50), listener.accept()).await.is_err(),
        "nothing is tried any more"
    );
}

#[tokio::test]
async fn a_clients_total_timeout_does_not_cut_a_healthy_stream() {
    let (listener, url) = listen().await;
    let impatient =
        reqwest::Client::builder().no_proxy().timeout(Duration::from_millis(100)).build().unwrap();
    let client =
        Client::builder().api_key("sk_test_1").base_url(&url).reqwest_client(impatient).build().unwrap();
    let server = tokio::spawn(async move {
        let (mut socket, _) = open(&listener).await;
        for number in 1..=5 {
            tokio::time::sleep(Duration::from_millis(60)).await;
            send(&mut socket, &event(number)).await;
        }
        (socket, listener)
    });
    let mut events = client.events().stream().max_reconnects(0);
    for number in 1..=5 {
        assert_eq!(next(&mut events).await.sequence, number);
    }
    server.await.unwrap();
}

#[tokio::test]
async fn a_redirect_carries_no_credential_elsewhere() {
    let (listener, url) = listen().await;
    let (elsewhere, target) = listen().await;
    let server = tokio::spawn(async move {
        let (mut socket, _) = listener.accept().await.unwrap();
        read_request(&mut socket).await;
        let head =
            format!("HTTP/1.1 307 X\r\nLocation: {target}/v1/events/stream\r\nContent-Length: 0\r\n\r\n");
        socket.write_all(head.as_bytes()).await.unwrap();
        (socket, listener)
    });
    let mut events = client(&url).events().stream();
    let error = events.next().await.unwrap().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Redirect);
    assert!(events.next().await.is_none());
    server.await.unwrap();
    assert!(timeout(Duration::from_millis(50), elsewhere.accept()).await.is_err(), "nobody connected");
}
