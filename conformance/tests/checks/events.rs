//! Events, in lists and in streams.

use http::Method;
use serde_json::{Value, json};

use crate::messages::{Response, assert_found};
use crate::samples::{approval, event, mandate, with};

#[test]
fn the_data_of_an_event_follows_from_its_type() {
    let page = |event: Value| {
        let body = json!({"data": [event], "nextCursor": null});
        Response::new(Method::GET, "/v1/events", 200, &body).check()
    };
    let changed = json!({"mandate": mandate(), "previousStatus": "queued"});
    let execution =
        json!({"execution": {"capability": "email.send", "durationMs": 12, "authorityVersion": 1}});
    assert_eq!(page(event("mandate.status_changed", changed.clone())), Ok(()));
    assert_eq!(page(event("approval.resolved", json!({"approval": approval()}))), Ok(()));
    assert_eq!(page(event("capability.execution_unknown", execution.clone())), Ok(()));
    assert_found(
        page(event("capability.execution_blocked", execution)),
        &[("listEvents: 200 body at /data/0/data: ", "required property")],
    );
    assert_found(
        page(event("mandate.approval_requested", changed)),
        &[("listEvents: 200 body at /data/0/data: ", "\"approval\" is a required property")],
    );
    assert_found(
        page(event("mandate.archived", json!({}))),
        &[("listEvents: 200 body at /data/0/type: ", "")],
    );
}

#[test]
fn a_stream_is_checked_frame_by_frame() {
    let resolved = event("approval.resolved", json!({"approval": approval()}));
    let frame = |id: &str, name: &str, data: &Value| format!("id: {id}\nevent: {name}\ndata: {data}\n\n");
    let right = frame("evt_1", "approval.resolved", &resolved);
    let check = |body: &str| Response::stream("/v1/mandates/m/events/stream", body).check();
    let opening = "id: evt_0\n\n: heartbeat\n\nretry: 500\r\n\r\n";
    assert_eq!(check(&format!("{opening}{right}id: evt_2\ndata: cut o")), Ok(()));
    for (body, begin, end) in [
        (
            frame("evt_2", "approval.resolved", &resolved),
            "frame 2 data at /id: ",
            "the frame's `id` is not this value",
        ),
        (
            frame("evt_1", "message", &resolved),
            "frame 2 data at /type: ",
            "the frame's `event` is not this value",
        ),
        (
            frame(
                "evt_1",
                "approval.resolved",
                &with(resolved.clone(), "/data/approval/status", json!("ok")),
            ),
            "frame 2 data at /data/approval/status: ",
            "",
        ),
        ("data: {\n\n".to_owned(), "frame 2 data: ", "not JSON from line 1 column 1"),
        ("data: 1\ndata: 2\n\n".to_owned(), "frame 2 data: ", "not JSON from line 2 column 1"),
        ("event: approval.resolved\n\n".to_owned(), "frame 2: ", "a frame without data is an id alone"),
        ("date: {}\n\n".to_owned(), "frame 2: ", "a field that no event stream has"),
        ("retry: soon\n\n".to_owned(), "frame 2: ", "`retry` is no number"),
    ] {
        assert_found(check(&format!("{right}{body}")), &[(&format!("streamMandateEvents: {begin}"), end)]);
    }
    let json = Response::stream("/v1/events/stream", "").header("content-type", "application/json");
    assert_found(json.check(), &[("streamEvents: header content-type: ", "text/event-stream is due, once")]);
}
