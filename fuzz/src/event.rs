//! An event from JSON: its data and unknown fields are kept exactly as they came, and what is written reads as the same
//! event.

use std::collections::BTreeMap;

use serde_json::value::RawValue;
use shadway::events::Event;

/// The fields an event has of its own; `createdAt` is kept beside them if it is no time.
const OWN: [&str; 6] = ["id", "type", "sequence", "mandate", "createdAt", "data"];

pub fn check(input: &[u8]) {
    let Ok(event) = serde_json::from_slice::<Event>(input) else { return };
    let sent: BTreeMap<String, Box<RawValue>> = serde_json::from_slice(input).expect("an event is an object");
    let text = |name: &str| sent.get(name).map(|value| serde_json::from_str::<String>(value.get()).unwrap());
    assert_eq!(event.id.as_str(), text("id").unwrap());
    assert_eq!(event.event_type.as_str(), text("type").unwrap());
    let data = sent.get("data").map_or("null", |value| value.get());
    assert_eq!(event.raw_data().expect("it was sent").get(), data);
    if event.is_known() {
        assert_eq!(event.data.event_type().as_ref(), Some(&event.event_type));
    }
    for (name, value) in &sent {
        if !OWN.contains(&name.as_str()) {
            assert_eq!(event.extra.get(name).map(|kept| kept.get()), Some(value.get()), "{name}");
        }
    }
    let extra = event.extra.iter().filter(|(name, _)| *name != "createdAt");
    for (name, _) in extra {
        assert!(sent.contains_key(name), "nobody sent {name}");
    }
    let _ = format!("{event:?}");

    let written = serde_json::to_string(&event).unwrap();
    let again: Event = serde_json::from_str(&written).unwrap();
    assert_eq!(again, event, "{written}");
    assert_eq!(serde_json::to_string(&again).unwrap(), written);
    if !event.is_known() {
        assert_eq!(again.raw_data(), event.raw_data());
    }
}
