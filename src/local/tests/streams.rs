use std::time::Duration;

use bytes::Bytes;
use http::StatusCode;
use http_body_util::BodyExt as _;
use tokio::time::timeout;

use super::*;
use crate::agents::AgentCreateParams;
use crate::mandates::MandateCreateParams;
use crate::transport::Body;

/// One open stream, read as text.
struct Reading(Body);

impl Reading {
    async fn open(server: &LocalServer, path: &str, last: Option<&str>) -> Result<Self, StatusCode> {
        let mut request =
            http::Request::get(path).header("authorization", format!("Bearer {}", server.api_key()));
        if let Some(last) = last {
            request = request.header("last-event-id", last);
        }
        let response = server.service().call(request.body(Bytes::new()).unwrap()).await.unwrap();
        assert!(response.headers().contains_key("shadway-request-id"));
        if response.status() != 200 {
            return Err(response.status());
        }
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        Ok(Self(response.into_body()))
    }

    /// The next block, unless nothing comes for a while.
    async fn block(&mut self) -> Option<String> {
        let frame = timeout(Duration::from_secs(5), self.0.frame()).await.ok()??;
        Some(String::from_utf8(frame.unwrap().into_data().unwrap().to_vec()).unwrap())
    }

    /// All that comes until nothing does.
    async fn blocks(&mut self) -> Vec<String> {
        let mut blocks = Vec::new();
        while let Some(block) = self.block().await {
            blocks.push(block);
        }
        blocks
    }
}

fn id(block: &str) -> &str {
    block.lines().find_map(|line| line.strip_prefix("id: ")).unwrap()
}

async fn mandate(client: &Client) -> String {
    let agent = client.agents().create(AgentCreateParams::new("A", "m/m").capabilities(["email.send"])).await;
    let params = MandateCreateParams::new(&agent.unwrap().id, "Ask for a quote.");
    client.mandates().create(params).await.unwrap().id.to_string()
}

#[tokio::test(start_paused = true)]
async fn a_stream_begins_with_the_present_position_and_what_happens_next() {
    let (server, client) = server().await;
    let mut all = Reading::open(&server, "/v1/events/stream", None).await.unwrap();
    let hello = all.block().await.unwrap();
    assert_eq!(hello, "retry: 1000\nid: evt_start\n\n");
    let one = mandate(&client).await;
    let mut only = Reading::open(&server, &format!("/v1/mandates/{one}/events/stream"), None).await.unwrap();
    let other = mandate(&client).await;
    let blocks = all.blocks().await;
    assert!(
        blocks.iter().all(|block| block.starts_with("id: evt_") && block.ends_with("\n\n")),
        "{blocks:#?}"
    );
    for id in [&one, &other] {
        assert!(blocks.iter().any(|block| block.contains(id) && block.contains("\"status\":\"completed\"")));
    }
    let only = only.blocks().await;
    assert!(id(&only[0]).starts_with("evt_") && !only[0].contains("data:"), "an id-only block: {only:#?}");
    assert!(only.len() > 2 && only.iter().all(|block| !block.contains(&other)), "{only:#?}");
}

#[tokio::test(start_paused = true)]
async fn a_stream_resumes_after_an_event_or_says_that_it_is_gone() {
    let (server, client) = server().await;
    let mandate = mandate(&client).await;
    let path = format!("/v1/mandates/{mandate}/events/stream");
    let mut first = Reading::open(&server, &path, Some("evt_start")).await.unwrap();
    let all = first.blocks().await;
    assert_eq!(all[0], "retry: 1000\n\n", "no new position: the client has one");
    let mut rest = Reading::open(&server, &path, Some(id(&all[2]))).await.unwrap();
    assert_eq!(rest.blocks().await[1..], all[3..]);
    assert_eq!(Reading::open(&server, &path, Some("evt_none")).await.err(), Some(StatusCode::GONE));
    let missing = Reading::open(&server, "/v1/mandates/mnd_none/events/stream", None).await;
    assert_eq!(missing.err(), Some(StatusCode::NOT_FOUND));
}

#[tokio::test(start_paused = true)]
async fn what_happens_elsewhere_does_not_put_off_a_heartbeat() {
    let (server, client) = server().await;
    let quiet = mandate(&client).await;
    let path = format!("/v1/mandates/{quiet}/events/stream");
    let mut stream = Reading::open(&server, &path, None).await.unwrap();
    stream.blocks().await;
    let mut beats = 0;
    for _ in 0..20 {
        mandate(&client).await;
        beats += stream.blocks().await.iter().filter(|block| *block == ": still here\n\n").count();
    }
    assert!(beats >= 5, "{beats} in 100 s");
}

#[tokio::test(start_paused = true)]
async fn a_silent_stream_says_that_it_is_there_and_ends_with_the_server() {
    let (server, _client) = server().await;
    let mut stream = Reading::open(&server, "/v1/events/stream", None).await.unwrap();
    stream.block().await.unwrap();
    for _ in 0..3 {
        assert_eq!(stream.block().await, None, "5 s");
        assert_eq!(stream.block().await, None, "10 s");
        assert_eq!(stream.block().await.unwrap(), ": still here\n\n");
    }
    server.shutdown().await;
    assert!(timeout(Duration::from_secs(1), stream.0.frame()).await.unwrap().is_none());
}
