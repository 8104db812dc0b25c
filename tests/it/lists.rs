//! A walk over pages gives every item once and always ends.

use std::time::Duration;

use serde_json::{Value, json};
use shadway::agents::Agent;
use shadway::transport::{HttpFuture, HttpService};
use shadway::types::ListParams;
use shadway::{Client, ErrorKind, Result};
use tokio::time::Instant;

use crate::support::{Script, Step, page};

fn agent(number: u32) -> Value {
    json!({"id": format!("agt_{number}"), "name": "A", "model": "p/m", "status": "active"})
}

fn step(numbers: std::ops::Range<u32>, next_cursor: Value) -> Step {
    Step::json(200, &page(&numbers.map(agent).collect::<Vec<_>>(), &next_cursor))
}

async fn ids(script: &Script) -> Result<Vec<String>> {
    let mut items = script.client().agents().list(ListParams::new().limit(2)).items();
    let mut ids = Vec::new();
    while let Some(agent) = items.try_next().await? {
        ids.push(agent.id.to_string());
    }
    Ok(ids)
}

#[tokio::test]
async fn a_walk_takes_every_page_and_keeps_the_filters() {
    let script = Script::new([step(0..2, json!("c 1")), step(2..4, json!("c2")), step(4..5, Value::Null)]);
    assert_eq!(ids(&script).await.unwrap(), ["agt_0", "agt_1", "agt_2", "agt_3", "agt_4"]);
    let paths: Vec<_> = script.seen().iter().map(|seen| seen.path().to_owned()).collect();
    assert_eq!(
        paths,
        ["/v1/agents?limit=2", "/v1/agents?limit=2&cursor=c%201", "/v1/agents?limit=2&cursor=c2"]
    );
}

#[tokio::test]
async fn an_empty_cursor_ends_a_walk_like_none() {
    for end in [Value::Null, json!("")] {
        let script = Script::new([step(0..2, end)]);
        assert_eq!(ids(&script).await.unwrap().len(), 2);
        assert_eq!(script.count(), 1);
    }
    let without = Script::new([Step::json(200, &json!({"data": []}))]);
    assert!(ids(&without).await.unwrap().is_empty());
}

#[tokio::test]
async fn an_empty_page_with_a_cursor_goes_on() {
    let script = Script::new([step(0..0, json!("c1")), step(0..1, Value::Null)]);
    assert_eq!(ids(&script).await.unwrap(), ["agt_0"]);
}

#[tokio::test]
async fn the_same_cursor_twice_is_an_error_after_two_requests() {
    let script = Script::new([step(0..1, json!("again"))]);
    let error = ids(&script).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Pagination);
    assert_eq!(script.count(), 2);
}

#[tokio::test]
async fn a_walk_in_circles_ends() {
    for size in 1..40_usize {
        let lead = (0..3).map(|at| step(0..1, json!(format!("lead {at}"))));
        let circle = (0..200).map(|at| step(0..1, json!(format!("circle {}", at % size))));
        let script = Script::new(lead.chain(circle));
        assert_eq!(ids(&script).await.unwrap_err().kind(), ErrorKind::Pagination);
        assert!(script.count() <= 3 * (size + 3), "a circle of {size} took {} requests", script.count());
    }
}

#[tokio::test]
async fn an_error_in_the_middle_is_one_item_and_then_the_end() {
    let script = Script::new([step(0..2, json!("c1")), Step::error(403, "no")]);
    let mut items = script.client().agents().list(ListParams::new()).items();
    assert_eq!(items.next().await.unwrap().unwrap().id, "agt_0");
    assert_eq!(items.next().await.unwrap().unwrap().id, "agt_1");
    assert_eq!(items.next().await.unwrap().unwrap_err().kind(), ErrorKind::Permission);
    assert!(items.next().await.is_none());
    assert!(items.next().await.is_none());
    assert_eq!(script.count(), 2);
}

#[tokio::test(start_paused = true)]
async fn options_of_the_call_hold_for_every_page() {
    let script = Script::new([step(0..1, json!("c1")), Step::error(500, "x")]);
    let call = script.client().agents().list(ListParams::new()).max_retries(4).header("X-Trace", "t");
    call.items().try_collect::<Vec<_>>().await.unwrap_err();
    assert_eq!(script.count(), 6);
    assert!(script.seen().iter().all(|seen| seen.header("x-trace") == Some("t")));
}

#[tokio::test]
async fn a_first_page_can_be_taken_alone_and_a_walk_can_go_by_pages() {
    let script = Script::new([step(0..2, json!("c1")), step(0..2, json!("c1")), step(2..3, Value::Null)]);
    let client = script.client();
    let first = client.agents().list(ListParams::new()).await.unwrap();
    assert_eq!(first.next_cursor(), Some("c1"));
    let agents: Vec<Agent> = first.into_iter().collect();
    assert_eq!(agents.len(), 2);
    assert_eq!(script.count(), 1);

    let mut pages = client.agents().list(ListParams::new()).pages();
    assert_eq!(pages.try_next().await.unwrap().unwrap().data.len(), 2);
    assert_eq!(pages.try_next().await.unwrap().unwrap().data.len(), 1);
    assert!(pages.try_next().await.unwrap().is_none());
}

/// Five pages of two, from a service that takes 20 ms for each.
fn slow_list() -> (Slow, Client) {
    let script = Script::new((0..5).map(|at| match at {
        4 => step(8..10, Value::Null),
        at => step(2 * at..2 * at + 2, json!(format!("c{at}"))),
    }));
    let slow = Slow(script);
    let client = Client::builder().api_key("sk_test_1").http_service(slow.clone()).build().unwrap();
    (slow, client)
}

#[derive(Debug, Clone)]
struct Slow(Script);

impl HttpService for Slow {
    fn call(&self, request: http::Request<bytes::Bytes>) -> HttpFuture<'_> {
        let answer = self.0.call(request);
        let taken = tokio::time::sleep(MILLIS_20);
        Box::pin(async move {
            taken.await;
            answer.await
        })
    }
}

const MILLIS_20: Duration = Duration::from_millis(20);

#[tokio::test(start_paused = true)]
async fn a_page_that_is_prefetched_is_there_when_it_is_needed() {
    // Pages ahead, and how long ten items take that are worked on for 10 ms each, after the first page.
    for (ahead, expected) in
        [(0, 5 * 20 + 10 * 10), (1, 20 + 10 * 10), (3, 20 + 10 * 10), (usize::MAX, 20 + 10 * 10)]
    {
        let (_, client) = slow_list();
        let started = Instant::now();
        let mut items = client.agents().list(ListParams::new()).items().prefetch(ahead);
        let mut ids = Vec::new();
        while let Some(agent) = items.try_next().await.unwrap() {
            ids.push(agent.id.to_string());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(ids, (0..10).map(|number| format!("agt_{number}")).collect::<Vec<_>>());
        assert!(started.elapsed().as_millis().abs_diff(expected) <= 12, "{ahead}: {:?}", started.elapsed());
    }
}

#[tokio::test(start_paused = true)]
async fn no_more_pages_are_asked_for_than_said() {
    for ahead in 0..4 {
        let (slow, client) = slow_list();
        let mut pages = client.agents().list(ListParams::new()).pages().prefetch(ahead);
        for taken in 1..=5 {
            pages.try_next().await.unwrap().unwrap();
            assert!(slow.0.count() <= (taken + ahead).min(5), "{ahead}: {}", slow.0.count());
        }
        assert!(pages.try_next().await.unwrap().is_none());

        let (slow, client) = slow_list();
        let mut items = client.agents().list(ListParams::new()).items().prefetch(ahead);
        items.try_next().await.unwrap().unwrap();
        tokio::time::sleep(Duration::from_secs(9)).await;
        assert_eq!(slow.0.count(), 1 + ahead.min(1), "nothing goes on by itself");
        assert_eq!(items.try_collect::<Vec<_>>().await.unwrap().len(), 9);
    }
}

#[tokio::test]
async fn an_error_that_was_prefetched_comes_after_the_items_before_it() {
    let script = Script::new([step(0..2, json!("c1")), Step::error(403, "no")]);
    let mut items = script.client().agents().list(ListParams::new()).items().prefetch(9);
    assert_eq!(items.next().await.unwrap().unwrap().id, "agt_0");
    assert_eq!(items.next().await.unwrap().unwrap().id, "agt_1");
    assert_eq!(items.next().await.unwrap().unwrap_err().kind(), ErrorKind::Permission);
    assert!(items.next().await.is_none() && items.next().await.is_none());
    assert_eq!(script.count(), 2);
}

#[tokio::test]
async fn a_page_keeps_what_it_does_not_know() {
    let script = Script::new([Step::json(200, &json!({"data": [], "nextCursor": null, "total": 7}))]);
    let page = script.client().agents().list(ListParams::new()).await.unwrap();
    assert_eq!(page.extra["total"], 7);
}

#[tokio::test]
async fn nothing_is_sent_before_the_first_poll() {
    let script = Script::new([step(0..1, Value::Null)]);
    drop(script.client().agents().list(ListParams::new()).items());
    drop(script.client().agents().get("agt_1"));
    assert_eq!(script.count(), 0);
}

#[tokio::test]
async fn a_walk_can_start_from_a_cursor_of_yours() {
    let script = Script::new([step(4..5, Value::Null)]);
    let call = script.client().agents().list(ListParams::new()).query("cursor", "saved");
    let agents: Vec<Agent> = call.items().try_collect().await.unwrap();
    assert_eq!(agents[0].id, "agt_4");
    assert_eq!(script.seen()[0].path(), "/v1/agents?cursor=saved");
}
