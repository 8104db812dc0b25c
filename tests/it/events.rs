//! Events: the lists, the decoding in two passes, and what never fails.

use serde_json::{Value, json};
use shadway::events::{Event, EventData, EventType};
use shadway::mandates::MandateStatus;

use crate::exact::Exact;
use crate::support::{Script, Step, mandate, page};

fn event(event_type: &str, data: &Value) -> Value {
    json!({"id": "evt_1", "type": event_type, "sequence": 7, "mandate": "mnd_1",
        "createdAt": "2026-08-01T10:00:00Z", "data": data})
}

fn decode(value: &Value) -> Event {
    serde_json::from_str(&value.to_string()).unwrap()
}

fn known() -> Vec<(EventType, Value)> {
    let approval = json!({"approval": {"id": "apr_1", "mandate": "mnd_1", "status": "pending",
        "question": "May I?", "action": {"capability": "email.send"}}});
    let run = json!({"execution": {"capability": "email.send", "durationMs": 412}});
    let failed = json!({"execution": {"capability": "email.send", "error": {"message": "No route."}}});
    let blocked = json!({"execution": {"capability": "email.send"}, "reason": "maximumActions"});
    vec![
        (
            EventType::MandateStatusChanged,
            json!({"mandate": mandate("completed"), "previousStatus": "running"}),
        ),
        (EventType::MandateApprovalRequested, approval.clone()),
        (EventType::ApprovalResolved, approval),
        (EventType::CapabilityExecutionStarted, run.clone()),
        (EventType::CapabilityExecutionCompleted, run.clone()),
        (EventType::CapabilityExecutionFailed, failed),
        (EventType::CapabilityExecutionBlocked, blocked),
        (EventType::CapabilityExecutionUnknown, run),
    ]
}

#[tokio::test]
async fn each_list_says_its_path_and_query() {
    let script = Script::new([Step::json(200, &page(&[event("agent.retired", &json!(1))], &Value::Null))]);
    let client = script.client();
    client.events().list().await.unwrap();
    client.mandate("mnd_1").events().list().await.unwrap();
    let page = client.mandate("mnd_1").events().list_after(41).limit(5).await.unwrap();
    assert!(!page.data[0].is_known());
    let lines: Vec<_> = script.seen().iter().map(|seen| format!("{} {}", seen.method, seen.path())).collect();
    assert_eq!(
        lines,
        [
            "GET /v1/events",
            "GET /v1/mandates/mnd_1/events",
            "GET /v1/mandates/mnd_1/events?afterSequence=41&limit=5",
        ]
    );
}

#[test]
fn a_known_type_gets_its_data_and_is_written_as_it_came() {
    for (event_type, data) in known() {
        let json = event(event_type.as_str(), &data);
        let decoded = decode(&json);
        assert!(decoded.is_known(), "{event_type}");
        assert_eq!(decoded.event_type, event_type);
        assert_eq!(decoded.data.event_type(), Some(event_type));
        assert_eq!(Exact::written(&decoded), Exact::of(&json.to_string()));
    }
}

#[test]
fn the_accessors_give_what_the_event_is_about() {
    let events: Vec<_> =
        known().iter().map(|(event_type, data)| decode(&event(event_type.as_str(), data))).collect();
    let about: Vec<_> = events
        .iter()
        .map(|event| {
            (event.mandate_status().is_some(), event.approval().is_some(), event.execution().is_some())
        })
        .collect();
    let (status, approval, run) = ((true, false, false), (false, true, false), (false, false, true));
    assert_eq!(about, [status, approval, approval, run, run, run, run, run]);
    assert_eq!(events[0].mandate_status(), Some(&MandateStatus::Completed));
    assert_eq!(events[4].execution().unwrap().duration(), Some(std::time::Duration::from_millis(412)));
}

#[test]
fn an_unknown_type_and_data_that_does_not_fit_are_kept_as_they_came() {
    let odd = json!({"mandate": "mnd_1", "previousStatus": 7});
    for (event_type, data) in [
        ("agent.retired", json!({"agent": {"id": "agt_1"}})),
        ("*", json!({})),
        ("mandate.status_changed", odd),
        ("mandate.status_changed", json!({})),
        ("mandate.status_changed", json!(null)),
        ("approval.resolved", json!([])),
        ("capability.execution_completed", json!({"execution": {"durationMs": 1}})),
        ("capability.execution_completed", json!({"execution": {"capability": "a.b", "durationMs": -1}})),
    ] {
        let json = event(event_type, &data);
        let decoded = decode(&json);
        assert!(!decoded.is_known(), "{json}");
        let EventData::Unknown(raw) = &decoded.data else { panic!("{decoded:?}") };
        assert_eq!(raw.get(), data.to_string());
        assert_eq!(Exact::written(&decoded), Exact::of(&json.to_string()));
        assert!(decoded.execution().is_none() && decoded.approval().is_none());
    }
}

#[test]
fn an_authority_keeps_every_digit_and_every_field_wherever_its_type_stands() {
    let data = r#"{"mandate":{"id":"mnd_1","agent":"agt_1","objective":"o","status":"running","guidance":[],
        "authorityVersion":1,"currentState":{"summary":""},"metadata":{},"authority":
        {"spend":{"maximum":{"amount":9223372036854775807,"currency":"usd","exchange":0.10000000000000000000001},
        "perDay":123456789012345678901234567890},"futureLimit":[1.50,null]}}}"#;
    for text in [
        format!(r#"{{"data":{data},"sequence":1,"id":"e","mandate":"m","type":"mandate.status_changed"}}"#),
        format!(r#"{{"type":"mandate.status_changed","id":"e","mandate":"m","sequence":1,"data":{data}}}"#),
    ] {
        let event: Event = serde_json::from_str(&text).unwrap();
        assert!(event.is_known());
        assert_eq!(Exact::written(&event), Exact::of(&text));
    }
}

#[test]
fn fields_never_seen_beside_the_data_are_kept_exactly() {
    let text = r#"{"id":"e","type":"agent.retired","sequence":1,"mandate":"m","data":{"n":1.0},"region":"eu",
        "weight":0.10000000000000000000001}"#;
    let event: Event = serde_json::from_str(text).unwrap();
    assert_eq!(event.extra.get("weight").unwrap().get(), "0.10000000000000000000001");
    assert_eq!(Exact::written(&event), Exact::of(text));
}

#[test]
fn a_sequence_is_kept_also_of_an_event_that_belongs_to_no_mandate() {
    let text = r#"{"id":"evt_1","type":"new","sequence":5,"data":null}"#;
    let event: Event = serde_json::from_str(text).unwrap();
    assert_eq!(serde_json::to_string(&event).unwrap(), text);
}

#[test]
fn an_event_without_its_envelope_is_none() {
    for field in ["id", "type"] {
        let mut json = event("agent.retired", &json!({}));
        json.as_object_mut().unwrap().remove(field);
        let error = serde_json::from_str::<Event>(&json.to_string()).unwrap_err();
        assert!(error.to_string().contains(&format!("missing field `{field}`")), "{error}");
    }
    // A type still to come may belong to no mandate.
    for without in [json!({"mandate": null, "sequence": null}), json!({})] {
        let mut json =
            json!({"id": "evt_1", "type": "agent.retired", "createdAt": "yesterday", "data": {"a": 1}});
        json.as_object_mut().unwrap().extend(without.as_object().unwrap().clone());
        let event = decode(&json);
        assert!(!event.is_known() && event.mandate == "" && event.created_at.is_none());
        assert_eq!(event.extra.get("createdAt").unwrap().get(), "\"yesterday\"");
        let written: Value = serde_json::from_str(&serde_json::to_string(&event).unwrap()).unwrap();
        assert_eq!(
            written,
            json!({"id": "evt_1", "type": "agent.retired", "createdAt": "yesterday", "data": {"a": 1}})
        );
    }
    let mut bare = event("agent.retired", &json!({}));
    bare.as_object_mut().unwrap().remove("data");
    bare["createdAt"] = Value::Null;
    let bare = decode(&bare);
    assert_eq!(
        (bare.created_at, bare.data),
        (None, EventData::Unknown(shadway::types::RawJson::from(json!(null))))
    );
}

#[test]
fn an_event_can_be_read_from_a_value_and_a_reader_too() {
    let (event_type, data) = known().remove(1);
    let json = event(event_type.as_str(), &data);
    let same = decode(&json);
    assert_eq!(serde_json::from_value::<Event>(json.clone()).unwrap(), same);
    assert_eq!(serde_json::from_reader::<_, Event>(json.to_string().as_bytes()).unwrap(), same);
}

#[test]
fn the_raw_data_are_what_was_sent_to_the_last_digit() {
    let status = |blank: &str| {
        let mandate = mandate("running");
        format!(
            r#"{{"zone":1.10,{blank}"previousStatus":null,"mandate":{mandate},"big":123456789012345678901234567890}}"#
        )
    };
    let decode = |event_type: &str, data: &str| -> Event {
        let text = format!(r#"{{"id":"e","type":"{event_type}","sequence":1,"mandate":"m","data":{data}}}"#);
        serde_json::from_str(&text).unwrap()
    };
    for (event_type, data, known) in [
        ("mandate.status_changed", status("").as_str(), true),
        ("mandate.status_changed", r#"{"mandate":1.0}"#, false),
        ("agent.retired", "[null,1e2]", false),
        ("agent.retired", "null", false),
    ] {
        let event = decode(event_type, data);
        assert_eq!((event.is_known(), event.raw_data().unwrap().get()), (known, data));
        assert_eq!(event.clone().raw_data(), event.raw_data());
    }
    // How they were written makes no other event of it.
    let [tight, loose] = ["", "  "].map(|blank| decode("mandate.status_changed", &status(blank)));
    assert_eq!(tight, loose);
    assert_ne!(tight.raw_data(), loose.raw_data());
    let bare: Event = serde_json::from_str(r#"{"id":"e","type":"agent.retired"}"#).unwrap();
    assert_eq!(bare.raw_data().unwrap().get(), "null");
}
