//! What an answer that is no success, or no JSON, looks like to the caller.

use serde_json::json;
use shadway::agents::AgentCreateParams;
use shadway::types::ErrorCode;
use shadway::{Error, ErrorKind};

use crate::support::{Script, Step, agent};

const PAGE: &str = "<html><head><title>502 Bad Gateway</title></head>\r\n<body>nginx</body></html>";

async fn get(step: Step) -> Error {
    Script::new([step]).client().agents().get("agt_1").max_retries(0).await.unwrap_err()
}

#[tokio::test]
async fn every_status_has_its_kind() {
    let kinds = [
        (400, ErrorKind::InvalidRequest),
        (401, ErrorKind::Authentication),
        (403, ErrorKind::Permission),
        (404, ErrorKind::NotFound),
        (408, ErrorKind::Timeout),
        (409, ErrorKind::Conflict),
        (418, ErrorKind::UnexpectedStatus),
        (422, ErrorKind::InvalidRequest),
        (429, ErrorKind::RateLimit),
        (500, ErrorKind::Server),
        (501, ErrorKind::Server),
        (503, ErrorKind::Server),
    ];
    for (status, kind) in kinds {
        let error = get(Step::error(status, "some_code")).await;
        assert_eq!(error.kind(), kind, "{status}");
        assert_eq!(error.status().map(|status| status.as_u16()), Some(status));
    }
}

#[tokio::test]
async fn a_code_never_seen_is_kept_with_its_kind_and_message() {
    let body = json!({"error": {
        "type": "conflict", "code": "moon_phase", "message": "Not tonight.", "param": "objective",
        "details": {"phase": "new"},
    }});
    let error = get(Step::json(409, &body).with_header("Shadway-Request-Id", "req_7")).await;
    assert!(error.is_conflict());
    assert_eq!(error.code(), Some(&ErrorCode::Unknown("moon_phase".to_owned())));
    assert_eq!(error.api().unwrap().message, "Not tonight.");
    assert_eq!(error.api().unwrap().details, Some(json!({"phase": "new"})));
    assert_eq!(error.to_string(), "409 moon_phase: Not tonight. (param objective) [request req_7]");
}

#[tokio::test(start_paused = true)]
async fn a_proxys_page_on_every_attempt_is_a_typed_error_with_its_start() {
    let script = Script::new([Step::text(502, PAGE).with_header("X-Request-Id", "edge-1")]);
    let error = script.client().agents().get("agt_1").await.unwrap_err();
    assert_eq!(script.count(), 3);
    assert_eq!(error.attempts(), 3);
    assert_eq!(error.kind(), ErrorKind::Server);
    assert_eq!(error.request_id(), Some("edge-1"));
    assert_eq!(
        error.to_string(),
        "502 <html><head><title>502 Bad Gateway</title></head> <body>nginx</body></html> \
         [request edge-1] [3 attempts]"
    );
}

#[tokio::test]
async fn the_services_own_request_id_counts_before_a_proxys() {
    let step = Step::error(404, "x")
        .with_header("X-Request-Id", "edge-1")
        .with_header("Shadway-Request-Id", "req_1");
    assert_eq!(get(step).await.request_id(), Some("req_1"));
}

#[tokio::test]
async fn a_long_foreign_body_is_cut() {
    let error = get(Step::text(400, "x".repeat(100_000))).await;
    assert!(error.to_string().starts_with("400 xxxxxx"), "{error}");
    assert!(error.to_string().len() < 600, "{}", error.to_string().len());
}

#[tokio::test]
async fn whatever_the_service_says_is_shown_in_one_short_line() {
    let message = format!("First.\nSecond.\u{1b}[31m{}", "long ".repeat(5_000));
    let body = json!({"error": {"type": "t", "code": "a\nb", "message": message, "param": "p\n"}});
    let error = get(Step::json(400, &body)).await;
    let line = error.to_string();
    assert!(line.starts_with("400 a b: First. Second.[31mlong "), "{line}");
    assert!(line.len() < 1_200 && !line.contains(['\n', '\u{1b}']), "{line}");
    assert_eq!(error.api().unwrap().message, message, "the whole of it is still there");
}

#[tokio::test]
async fn an_odd_field_of_a_refusal_does_not_lose_the_others() {
    let odd = [
        json!({"type": 3, "code": "version_mismatch", "message": "No."}),
        json!({"type": "t", "code": "version_mismatch", "message": null}),
        json!({"type": "t", "code": "version_mismatch", "message": "No.", "param": ["a", "b"]}),
        json!({"code": "version_mismatch", "hint": "Read it again."}),
    ];
    for error in odd {
        let error = get(Step::json(409, &json!({"error": error}))).await;
        assert_eq!(error.code(), Some(&ErrorCode::VersionMismatch));
        let hint = error.api().unwrap().extra.get("hint");
        assert!(hint.is_none_or(|hint| hint == "Read it again."));
    }
}

#[tokio::test]
async fn an_answer_that_is_not_the_json_due_says_what_is_wrong_with_it() {
    let with_id = |body: &str| Step::text(200, body.to_owned()).with_header("Shadway-Request-Id", "req_9");
    let wrong = json!({"id": "agt_1", "name": "A", "model": "p/m", "status": "active",
        "capabilityStatus": {"phone": {"status": 7}}});
    let cases = [
        ("", "the body is empty"),
        ("   \n", "the body is empty"),
        (r#"{"id": "agt_1", "na"#, "EOF while parsing a string"),
        (r#"["no", "agent"]"#, "invalid type"),
        (&wrong.to_string(), "capabilityStatus.phone.status: invalid type: integer `7`"),
    ];
    for (body, expected) in cases {
        let error = get(with_id(body)).await;
        assert_eq!(error.kind(), ErrorKind::Decode);
        assert_eq!(error.status().unwrap(), 200);
        assert_eq!(error.request_id(), Some("req_9"));
        assert!(error.to_string().contains(expected), "{error} should contain {expected}");
        assert!(!error.is_retryable());
    }
}

#[tokio::test]
async fn a_misfit_deep_inside_the_authority_names_its_path() {
    let body = json!({"id": "mnd_1", "agent": "agt_1", "objective": "x", "status": "running",
        "authority": {"spend": {"maximum": {"amount": "lots", "currency": "usd"}}}});
    let client = Script::new([Step::json(200, &body)]).client();
    let error = client.mandates().get("mnd_1").await.unwrap_err();
    assert!(error.to_string().contains("authority.spend.maximum.amount: invalid type"), "{error}");
}

#[tokio::test]
async fn a_misfit_is_one_short_line_whatever_the_service_named_its_fields() {
    let agent = |name: &str| {
        json!({"id": "agt_1", "name": "A", "model": "p/m", "status": "active", "capabilities": [],
            "metadata": {name: 7}})
    };
    for name in ["a\nb\u{1b}[31m", &"long".repeat(2_000)] {
        let client = Script::new([Step::json(200, &agent(name))]).client();
        let line = client.agents().get("agt_1").await.unwrap_err().to_string();
        assert!(line.contains("metadata."), "{line}");
        assert!(!line.contains(char::is_control) && line.len() < 700, "{line}");
    }
}

#[tokio::test(start_paused = true)]
async fn an_error_says_whether_the_service_may_have_acted() {
    let create = |steps: Vec<Step>| async move {
        let client = Script::new(steps).client();
        client.agents().create(AgentCreateParams::new("A", "p/m")).await
    };
    for steps in [
        vec![Step::Hang],
        vec![Step::Broken],
        vec![Step::error(500, "x")],
        vec![Step::Broken, Step::Refused],
        vec![Step::Broken, Step::error(429, "x")],
        vec![Step::Broken, Step::error(401, "x")],
        vec![Step::text(201, "not json")],
    ] {
        let error = create(steps).await.unwrap_err();
        assert!(error.is_ambiguous(), "{error}");
        assert_eq!(error.idempotency_key().unwrap().len(), 36);
    }
    for steps in [vec![Step::Refused], vec![Step::error(422, "x")], vec![Step::Broken, Step::error(409, "x")]]
    {
        let error = create(steps).await.unwrap_err();
        assert!(!error.is_ambiguous(), "{error}");
    }
    let read = Script::new([Step::Broken]).client().agents().get("agt_1").await.unwrap_err();
    assert!(!read.is_ambiguous(), "a read changes nothing");
    assert!(create(vec![Step::json(201, &agent())]).await.is_ok());
}

#[tokio::test]
async fn the_source_of_an_error_is_the_layer_beneath() {
    let error = get(Step::Refused).await;
    assert_eq!(error.to_string(), "the connection could not be made");
    assert_eq!(std::error::Error::source(&error).unwrap().to_string(), "refused");
}

#[tokio::test]
async fn a_refusal_whose_body_breaks_off_is_still_that_refusal() {
    let error = get(Step::CutBody(404, "{\"err".into())).await;
    assert!(error.is_not_found());
    let error = get(Step::CutBody(503, "{\"err".into())).await;
    assert_eq!(error.status().unwrap(), 503);
}

#[tokio::test(start_paused = true)]
async fn a_conflict_whose_body_breaks_off_is_asked_for_again_since_it_may_be_one_that_passes() {
    let script = Script::new([Step::CutBody(409, "{\"err".into()), Step::json(201, &agent())]);
    script.client().agents().create(AgentCreateParams::new("A", "p/m")).await.unwrap();
    assert_eq!(script.count(), 2);
    let error = get(Step::CutBody(409, "{\"err".into())).await;
    assert_eq!(error.kind(), ErrorKind::Connection);
}

#[tokio::test]
async fn an_answer_above_the_cap_is_a_typed_error() {
    let script = Script::new([Step::text(200, "x".repeat(1_001))]);
    let client = script.builder().max_response_bytes(1_000).build().unwrap();
    let error = client.agents().get("agt_1").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ResponseTooLarge);
    assert!(error.to_string().contains("1000 bytes"), "{error}");
    assert_eq!(script.count(), 1);
}
