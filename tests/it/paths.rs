//! A caller's id gets into a path as one segment, or not at all.

use http::Method;
use percent_encoding::percent_decode_str;
use shadway::ErrorKind;
use shadway::agents::AgentUpdateParams;
use shadway::mandates::{MandateListParams, MandateStatus};

use crate::support::{Script, Step, agent, page};

#[tokio::test]
async fn an_id_that_would_change_the_path_is_refused_before_sending() {
    let script = Script::new([Step::json(200, &agent())]);
    let client = script.client();
    for id in ["", ".", "..", "%2e", "%2E", "%2e%2e", ".%2e", "%2E."] {
        let error = client.agents().get(id).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{id:?}");
        client.agents().update(id, AgentUpdateParams::new()).await.unwrap_err();
        client.mandate(id).cancel("x").await.unwrap_err();
        client.mandate(id).wait().await.unwrap_err();
    }
    assert_eq!(script.count(), 0);
}

#[tokio::test]
async fn any_other_id_is_one_segment_that_decodes_to_it() {
    let script = Script::new([Step::json(200, &agent())]);
    let client = script.client();
    let ids = [
        "a/b", "a?b", "a#b", "a\r\nb", "ü", "a b", "a%2fb", "...", "a\\b", "a;b", "a:b@c", "\u{202e}",
        "{id}", "a&b=c+d",
    ];
    for id in ids {
        client.agents().get(id).await.unwrap();
        let seen = script.seen().pop().unwrap();
        let segment = seen.path().strip_prefix("/v1/agents/").unwrap();
        assert!(!segment.contains(['/', '?', '#', '\\']), "{segment}");
        assert_eq!(percent_decode_str(segment).decode_utf8().unwrap(), id);
        // As a URL parser reads it, too.
        let url = url_segments(&seen.uri);
        assert_eq!(url, ["v1", "agents", segment]);
    }
}

fn url_segments(uri: &str) -> Vec<String> {
    let uri: http::Uri = uri.parse().unwrap();
    uri.path().split('/').skip(1).map(str::to_owned).collect()
}

#[tokio::test]
async fn queries_are_encoded_and_repeated() {
    let script = Script::new([Step::json(200, &page(&[], &serde_json::Value::Null))]);
    let params = MandateListParams::new()
        .status([MandateStatus::Paused, MandateStatus::Unknown("a&b=c d".to_owned())])
        .agent("agt/1")
        .limit(7);
    script.client().mandates().list(params).await.unwrap();
    assert_eq!(
        script.seen()[0].path(),
        "/v1/mandates?status=paused&status=a%26b%3Dc%20d&agent=agt%2F1&limit=7"
    );
}

#[tokio::test]
async fn a_path_written_out_is_sent_as_it_is_or_refused() {
    let script = Script::new([Step::json(200, &agent())]);
    let client = script.client();
    for path in [
        "v1/agents",
        "",
        "/v1/../admin",
        "/v1/./x",
        "/v1/%2e%2E/x",
        "//evil.example/x",
        "/v1/a?b=c",
        "/v1/a#b",
        "/v1/a b",
        "/v1/ü",
        "/v1\\x",
        "/v1/a\nb",
    ] {
        let error = client.request(Method::GET, path).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{path:?}");
    }
    assert_eq!(script.count(), 0);
    client.request(Method::GET, "/v2/new%20thing").query("a", "b c").query("a", 2).await.unwrap();
    assert_eq!(script.seen()[0].path(), "/v2/new%20thing?a=b%20c&a=2");
}
