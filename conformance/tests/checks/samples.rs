//! Bodies that the document allows.

#![expect(clippy::expect_used, reason = "a place that is not there is a mistake of the test")]

use serde_json::{Value, json};

/// `value` with one place in it set, made if need be. An object's member is removed by null.
pub(crate) fn with(mut value: Value, pointer: &str, new: Value) -> Value {
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    let parent = value.pointer_mut(parent).expect("the parent is there");
    match parent.as_object_mut() {
        Some(object) if new.is_null() => {
            object.remove(key);
        }
        _ => parent[key] = new,
    }
    value
}

pub(crate) fn agent() -> Value {
    json!({
        "id": "agt_1",
        "name": "Assistant",
        "model": "provider/model",
        "capabilities": ["email.send", "phone"],
        "capabilityConfig": {"phone": {"country": "US"}},
        "capabilityStatus": {"phone": {"status": "ready", "number": "+13025550100"}},
        "status": "active",
        "revision": 1,
        "metadata": {"team": "procurement"},
        "createdAt": "2026-11-30T10:00:00Z",
    })
}

pub(crate) fn authority() -> Value {
    json!({
        "capabilities": ["email.send"],
        "spend": {
            "maximum": {"amount": i64::MAX, "currency": "usd"},
            "approvalThreshold": {"amount": 1, "currency": "usd"},
        },
        "maximumActions": 40,
        "maximumReadActions": 100,
        "capabilityLimits": [{"capability": "email.send", "rate": {"maximum": 3, "interval": "1h"}}],
        "prohibitedActions": ["phone.call"],
        "quietHours": {"start": "22:00", "end": "07:00", "timezone": "Europe/Paris"},
        "rules": [{"capability": "email.send", "field": "quantity", "max": 500, "in": [1, "a"]}],
        "approval": {"requiredFor": ["email.send"]},
        "successCriteria": [{"fact": "delivered", "equals": true}],
    })
}

pub(crate) fn mandate() -> Value {
    json!({
        "id": "mnd_1",
        "agent": "agt_1",
        "agentRevision": 1,
        "objective": "Ask for a quote.",
        "guidance": [],
        "deadline": null,
        "authority": authority(),
        "authorityVersion": 1,
        "status": "queued",
        "currentState": {"summary": ""},
        "metadata": {},
        "createdAt": "2026-11-30T10:00:00.123456789Z",
        "updatedAt": "2026-11-30T10:00:00+00:00",
    })
}

pub(crate) fn approval() -> Value {
    json!({
        "id": "apr_1",
        "mandate": "mnd_1",
        "status": "pending",
        "question": "Send it?",
        "action": {"capability": "email.send", "consequence": "An email goes out.", "arguments": {}},
        "expiresAt": "2026-12-07T10:00:00Z",
        "createdAt": "2026-11-30T10:00:00Z",
    })
}

pub(crate) fn event(name: &str, data: Value) -> Value {
    json!({
        "id": "evt_1",
        "type": name,
        "sequence": 7,
        "mandate": "mnd_1",
        "createdAt": "2026-11-30T10:00:00Z",
        "data": data,
    })
}

pub(crate) fn error(code: &str) -> Value {
    json!({"error": {"type": "conflict", "code": code, "message": "It is so."}})
}
