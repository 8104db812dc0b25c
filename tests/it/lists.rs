//! A walk over pages gives every item once and always ends.

use serde_json::{Value, json};
use shadway::agents::Agent;
use shadway::types::ListParams;
use shadway::{ErrorKind, Result};

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
