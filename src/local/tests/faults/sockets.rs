//! Faults as bytes on a socket.

use http::Method;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::*;
use crate::local::Fault;

const SECOND: Duration = Duration::from_secs(1);

/// One connection, kept alive.
struct Connection(TcpStream);

impl Connection {
    async fn open(server: &LocalServer) -> Self {
        Self(TcpStream::connect(server.url().trim_start_matches("http://")).await.unwrap())
    }

    async fn ask(&mut self, path: &str) {
        let request =
            format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer sk_test_local\r\n\r\n");
        self.0.write_all(request.as_bytes()).await.unwrap();
    }

    /// All that comes until the connection is closed.
    async fn until_closed(&mut self) -> String {
        let mut bytes = Vec::new();
        timeout(10 * SECOND, self.0.read_to_end(&mut bytes)).await.expect("it is closed").unwrap();
        String::from_utf8(bytes).unwrap()
    }

    /// What comes first.
    async fn some(&mut self) -> String {
        let mut bytes = vec![0; 4_096];
        let read = timeout(10 * SECOND, self.0.read(&mut bytes)).await.expect("it is answered").unwrap();
        String::from_utf8(bytes[..read].to_vec()).unwrap()
    }
}

fn declared(answer: &str) -> usize {
    let length = answer.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    length.parse().unwrap()
}

fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").unwrap().1
}

#[tokio::test]
async fn a_connection_is_closed_without_a_byte_and_others_stay() {
    let world = World::new(Way::Sockets).await;
    let (mut first, mut second) =
        (Connection::open(&world.server).await, Connection::open(&world.server).await);
    for connection in [&mut first, &mut second] {
        connection.ask("/v1/agents").await;
        assert!(connection.some().await.starts_with("HTTP/1.1 200 OK"));
    }
    world.server.fault(Fault::close().times(1));
    first.ask("/v1/agents").await;
    assert_eq!(first.until_closed().await, "");
    second.ask("/v1/agents").await;
    assert!(second.some().await.starts_with("HTTP/1.1 200 OK"));
}

#[tokio::test]
async fn a_truncated_answer_declares_its_whole_length() {
    let world = World::new(Way::Sockets).await;
    let mut connection = Connection::open(&world.server).await;
    connection.ask("/v1/agents").await;
    let whole = connection.some().await;
    world.server.fault(Fault::truncate());
    connection.ask("/v1/agents").await;
    let half = connection.until_closed().await;
    assert!(half.starts_with("HTTP/1.1 200 OK"), "{half}");
    assert_eq!(declared(&half), declared(&whole));
    assert_eq!(body(&half), &body(&whole)[..declared(&whole) / 2]);
}

#[tokio::test]
async fn an_answer_with_half_of_its_json_is_whole_to_http() {
    let world = World::new(Way::Sockets).await;
    world.server.fault(Fault::bad_json());
    let mut connection = Connection::open(&world.server).await;
    connection.ask("/v1/agents").await;
    let answer = connection.some().await;
    assert_eq!(declared(&answer), body(&answer).len());
    assert!(serde_json::from_str::<serde_json::Value>(body(&answer)).is_err(), "{answer}");
    connection.ask("/v1/agents").await;
    assert!(connection.some().await.starts_with("HTTP/1.1 200 OK"), "the connection can be used again");
}

#[tokio::test]
async fn a_split_body_has_a_chunk_for_each_byte() {
    let world = World::new(Way::Sockets).await;
    world.server.fault(Fault::split());
    let mut connection = Connection::open(&world.server).await;
    connection.ask("/v1/capabilities/email.send").await;
    let mut answer = String::new();
    while !answer.ends_with("\r\n0\r\n\r\n") {
        answer += &connection.some().await;
    }
    let chunks: Vec<_> = body(&answer).split("\r\n").collect();
    let sizes: Vec<_> = chunks.iter().step_by(2).collect();
    assert!(sizes.len() > 100 && sizes[..sizes.len() - 2].iter().all(|size| **size == "1"), "{answer}");
}

#[tokio::test]
async fn a_cut_stream_ends_without_its_last_chunk_and_an_ended_one_with_it() {
    let world = World::new(Way::Sockets).await;
    world.creation().await.unwrap();
    world.client.mandate(&world.server.mandates()[0].id).wait().await.unwrap();
    for (fault, events, ends) in [
        (Fault::cut_after(0), 0, false),
        (Fault::cut_after(2), 2, false),
        (Fault::end_after(0), 0, true),
        (Fault::end_after(2), 2, true),
    ] {
        world.server.clear_faults();
        world.server.fault(fault.clone());
        let mut connection = Connection::open(&world.server).await;
        let request = "GET /v1/events/stream HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
            authorization: Bearer sk_test_local\r\nlast-event-id: evt_start\r\n\r\n";
        connection.0.write_all(request.as_bytes()).await.unwrap();
        let stream = connection.until_closed().await;
        assert!(stream.starts_with("HTTP/1.1 200 OK"), "{fault:?}: {stream}");
        assert_eq!(stream.matches("\nevent: ").count(), events, "{fault:?}: {stream}");
        assert_eq!(stream.ends_with("0\r\n\r\n"), ends, "{fault:?}: {stream}");
    }
}

#[tokio::test]
async fn a_request_that_hangs_ends_when_its_client_leaves_or_the_server_stops() {
    let world = World::new(Way::Sockets).await;
    world.server.fault(Fault::hang().on(Method::GET, "/v1/agents"));
    let mut hanging = Connection::open(&world.server).await;
    hanging.ask("/v1/agents").await;
    let mut leaving = Connection::open(&world.server).await;
    leaving.ask("/v1/agents").await;
    while world.requests("/v1/agents").1 < 2 {
        tokio::task::yield_now().await;
    }
    drop(leaving);
    let (rest, ()) = tokio::join!(hanging.until_closed(), world.server.shutdown());
    assert_eq!(rest, "");
}
