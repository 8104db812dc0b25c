//! Changes of JSON that leave it JSON: bytes changed at random rarely do.

use fastrand::Rng;
use serde_json::{Map, Value, json};

/// Puts one odd value into the JSON, or takes a value away; `None` if it is none, or doesn't fit.
pub fn mutate(data: &mut [u8], size: usize, max_size: usize, seed: u32) -> Option<usize> {
    let random = &mut Rng::with_seed(u64::from(seed));
    let mut value: Value = serde_json::from_slice(&data[..size]).ok()?;
    for _ in 0..random.usize(1..4) {
        let count = nodes(&value);
        change(&mut value, &mut random.usize(0..count), random);
    }
    let text = value.to_string();
    let room = data.get_mut(..text.len()).filter(|room| room.len() <= max_size)?;
    room.copy_from_slice(text.as_bytes());
    Some(text.len())
}

fn nodes(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(nodes).sum(),
        Value::Object(fields) => fields.values().map(nodes).sum(),
        _ => 0,
    }
}

/// Changes the node that many steps away.
fn change(value: &mut Value, steps: &mut usize, random: &mut Rng) -> bool {
    if *steps == 0 {
        match value {
            Value::Object(fields) if random.bool() => change_field(fields, random),
            Value::Array(items) if random.bool() => items.push(odd(random)),
            value => *value = odd(random),
        }
        return true;
    }
    *steps -= 1;
    match value {
        Value::Array(items) => items.iter_mut().any(|item| change(item, steps, random)),
        Value::Object(fields) => fields.values_mut().any(|field| change(field, steps, random)),
        _ => false,
    }
}

fn change_field(fields: &mut Map<String, Value>, random: &mut Rng) {
    let name = fields.keys().nth(random.usize(0..=fields.len())).cloned();
    match name {
        Some(name) if random.bool() => drop(fields.remove(&name)),
        Some(name) => drop(fields.insert(name, odd(random))),
        None => drop(fields.insert(format!("new{}\n", random.u8(..)), odd(random))),
    }
}

fn odd(random: &mut Rng) -> Value {
    match random.u8(0..17) {
        0 => Value::Null,
        1 => json!(random.bool()),
        2 => json!(""),
        3 => json!([]),
        4 => json!({}),
        5 => json!(48271905),
        6 => json!(-1),
        7 => json!(u64::MAX),
        8 => json!(i64::MIN),
        // Any number of 64 bits, so also the smallest and the longest to write.
        9 | 10 => json!(f64::from_bits(random.u64(..))),
        11 => json!("2026-11-30T12:34:60.123456789+05:30"),
        12 => json!("\u{0}\n\u{1b}\u{202e}\"\\ä€😀"),
        13 => json!({"a": {"b": [1, {"c": null}]}}),
        14 => json!({"$serde_json::private::RawValue": "[1]"}),
        15 => json!([{"id": "x"}, 48271905, "s3cr3t"]),
        _ => json!(random.char(..).to_string()),
    }
}
