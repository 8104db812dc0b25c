//! What goes wrong, and how often: drawn from the seed, for the server's `/_local/faults`.

use std::time::Duration;

use fastrand::Rng;
use serde_json::{Value, json};

/// Calls that meet faults. Lists of the workspace's events meet none: they are what all else is held against.
const CALLS: [&str; 8] = [
    "POST /v1/mandates",
    "GET /v1/mandates/{id}",
    "POST /v1/mandates/*",
    "GET /v1/mandates",
    "GET /v1/mandates/{id}/events",
    "GET /v1/approvals",
    "GET /v1/approvals/{id}",
    "POST /v1/approvals/*",
];
const LONG: Duration = Duration::from_secs(5 * 60);
const STREAMS: [&str; 2] = ["GET /v1/mandates/{id}/events/stream", "GET /v1/events/stream"];

/// Faults that happen now and then for as long as the run takes.
///
/// Events are never reordered: here they have to come in order.
pub(crate) fn lasting(random: &mut Rng, time: Duration) -> Vec<Value> {
    let mut faults = Vec::new();
    for on in CALLS {
        for fault in [
            json!({"kind": {"status": 429}, "retry_after": 1}),
            json!({"kind": {"status": 500}}),
            json!({"kind": {"status": 503}, "after_commit": true}),
            json!({"kind": "bad_gateway"}),
            json!({"kind": "close"}),
            json!({"kind": "close", "after_commit": true}),
            json!({"kind": "hang"}),
            json!({"kind": "hang", "after_commit": true}),
            json!({"kind": "truncate"}),
            json!({"kind": "bad_json"}),
            json!({"kind": {"delay": random.f64()}}),
            json!({"kind": {"drip": 0.001}}),
            json!({"kind": "extra_field"}),
        ] {
            faults.push(drawn(fault, on, random, 0.012));
        }
    }
    for on in STREAMS {
        for fault in [
            json!({"kind": {"cut_after": random.u32(0..10)}}),
            json!({"kind": {"cut_after": random.u32(0..4)}}),
            json!({"kind": {"end_after": random.u32(0..10)}}),
            json!({"kind": {"status": 503}}),
            json!({"kind": {"status": 429}, "retry_after": 1}),
            json!({"kind": "bad_gateway"}),
            json!({"kind": "close"}),
            json!({"kind": "hang"}),
            json!({"kind": "duplicate"}),
            json!({"kind": "unknown_event"}),
            json!({"kind": "extra_field"}),
            json!({"kind": "split"}),
            json!({"kind": {"delay": random.f64()}}),
        ] {
            faults.push(drawn(fault, on, random, 0.05));
        }
    }
    // Of a short run most would be over until a watcher finds its stream to be silent, after 45 s.
    let silenced = if time < LONG { 1 } else { 2 };
    for on in &STREAMS[..silenced] {
        faults.push(drawn(json!({"kind": {"silence_after": random.u32(0..10)}}), on, random, 0.05));
    }
    // A stream of the workspace would have to begin anew, which its consumers here don't.
    faults.push(drawn(json!({"kind": "cursor_too_old"}), STREAMS[0], random, 0.03));
    for fault in [
        json!({"kind": "bad_signature"}),
        json!({"kind": {"old_signature": "10m"}}),
        json!({"kind": "doubled_signature"}),
        json!({"kind": "duplicate_delivery"}),
        json!({"kind": "reorder_deliveries"}),
    ] {
        faults.push(drawn(fault, "deliveries", random, 0.03));
    }
    faults
}

/// A time in which nothing works of one call, or no stream can be opened.
pub(crate) fn storm(random: &mut Rng) -> Value {
    let on = if random.bool() { CALLS[random.usize(..CALLS.len())] } else { STREAMS[random.usize(..2)] };
    // The streams of the workspace are few and seldom opened: what is left of one storm meets the next. Each refusal makes
    // the pause longer, and a stream that is away for a minute is thousands of events behind.
    let times = if on == STREAMS[1] { random.u32(1..4) } else { random.u32(20..120) };
    let kinds = [json!({"status": 503}), json!({"status": 429}), json!("bad_gateway"), json!("close")];
    let kind = kinds[random.usize(..kinds.len())].clone();
    json!({"kind": kind, "on": on, "times": times})
}

/// With a probability between a fifth of the one given and all of it.
fn drawn(mut fault: Value, on: &str, random: &mut Rng, at_most: f64) -> Value {
    fault["on"] = on.into();
    fault["probability"] = ((0.2 + 0.8 * random.f64()) * at_most).into();
    fault
}
