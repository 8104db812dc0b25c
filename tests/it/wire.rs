//! What is kept of what came, and what goes out for what was set.

use serde_json::{Value, json};
use shadway::agents::{Agent, AgentStatus, AgentUpdateParams};
use shadway::mandates::{Authority, CapabilityLimit, Mandate, MandateCreateParams, MandateStatus};
use shadway::types::{AgentId, ApiError, Interval, MandateId, Money, RawJson};

fn decode<T: serde::de::DeserializeOwned>(value: &Value) -> T {
    serde_json::from_str(&value.to_string()).unwrap()
}

fn encode(value: &impl serde::Serialize) -> Value {
    serde_json::from_str(&serde_json::to_string(value).unwrap()).unwrap()
}

#[test]
fn a_value_never_seen_prints_and_goes_back_the_same() {
    let agent = json!({"id": "agt_1", "name": "A", "model": "p/m", "status": "on_holiday",
        "capabilities": [], "metadata": {}, "capabilityStatus": {"phone": {"status": "dialing", "signal": 4}}});
    let decoded: Agent = decode(&agent);
    assert_eq!(decoded.status, AgentStatus::Unknown("on_holiday".to_owned()));
    assert_eq!(decoded.status.to_string(), "on_holiday");
    assert_eq!(decoded.capability_status["phone"].status.as_str(), "dialing");
    assert_eq!(encode(&decoded), agent);
    let mandate = crate::support::mandate("dreaming");
    let decoded: Mandate = decode(&mandate);
    assert!(!decoded.status.is_terminal());
    assert_eq!(encode(&decoded), mandate);
}

#[test]
fn a_known_text_is_the_known_value_however_it_is_made() {
    assert_eq!(MandateStatus::from("completed"), MandateStatus::Completed);
    assert_eq!(MandateStatus::from("paused".to_owned()), MandateStatus::Paused);
    // An escaped text can't be borrowed from the input.
    assert_eq!(decode::<MandateStatus>(&json!("paused")), MandateStatus::Paused);
    assert_eq!(serde_json::from_str::<MandateStatus>(r#""pa\u0075sed""#).unwrap(), MandateStatus::Paused);
}

#[test]
fn fields_never_seen_are_kept_and_go_back() {
    let agent = json!({"id": "agt_1", "name": "A", "model": "p/m", "status": "active", "capabilities": [],
        "metadata": {}, "color": {"r": 7}});
    let decoded: Agent = decode(&agent);
    assert_eq!(decoded.extra["color"]["r"], 7);
    assert_eq!(encode(&decoded), agent);
    let mut params = AgentUpdateParams::new();
    params.extra.insert("color".to_owned(), json!("blue"));
    assert_eq!(encode(&params), json!({"color": "blue"}));
}

#[test]
fn a_decimal_never_seen_goes_back_with_each_digit_that_a_double_holds() {
    for number in ["9.3e-31", "1.234567890123457e-300", "0.1", "5e-324"] {
        let agent: Agent = serde_json::from_str(&format!(
            r#"{{"id":"a","name":"A","model":"m","status":"active","new":{number}}}"#
        ))
        .unwrap();
        assert_eq!(agent.extra["new"].to_string(), number);
    }
}

/// A name that serde_json uses inside, with a text of JSON in which it is again, and so on: deeper than the limit that
/// serde_json has for each text alone.
fn texts_in_texts(levels: usize) -> String {
    (0..levels).fold("0".to_owned(), |text, _| {
        let text = text.replace('\\', "\\u005c").replace('"', "\\u0022");
        let lists = 60;
        let (open, close) = ("[".repeat(lists), "]".repeat(lists));
        format!(r#"{open}{{"$serde_json::private::RawValue":"{text}"}}{close}"#)
    })
}

#[test]
fn a_text_of_json_is_a_text_however_deep_it_goes_on_inside() {
    let nested = texts_in_texts(300);
    let json = format!(r#"{{"id":"a","name":"A","model":"m","status":"active","new":{nested}}}"#);
    let agent: Agent = serde_json::from_str(&json).unwrap();
    let written = agent.extra["new"].to_string();
    assert!(
        written.starts_with(&"[".repeat(60)) && written.contains(r#"{"$serde_json::private::RawValue":"[[["#)
    );
    assert_eq!(nested.parse::<RawJson>().unwrap().to_value().unwrap(), agent.extra["new"]);
    let refusal: ApiError =
        serde_json::from_str(&format!(r#"{{"code":{nested},"details":{nested},"new":{nested}}}"#)).unwrap();
    assert_eq!(refusal.details.as_ref(), Some(&agent.extra["new"]));
    assert_eq!(refusal.extra["new"], agent.extra["new"]);
}

#[test]
fn null_reads_like_a_field_left_out() {
    let agent: Agent = decode(&json!({"id": "agt_1", "name": "A", "model": "p/m", "status": "active",
        "instructions": null, "capabilities": null, "metadata": null, "capabilityStatus": null, "revision": null}));
    assert!(agent.capabilities.is_empty() && agent.metadata.is_empty() && agent.revision.is_none());
}

#[test]
fn unset_null_and_a_value_are_three_bodies() {
    let update = AgentUpdateParams::new;
    assert_eq!(encode(&update()), json!({}));
    assert_eq!(encode(&update().clear_instructions()), json!({"instructions": null}));
    assert_eq!(encode(&update().instructions("x")), json!({"instructions": "x"}));
    assert_eq!(encode(&update().capabilities([""; 0])), json!({"capabilities": []}));

    let create = || MandateCreateParams::new("agt_1", "x");
    let time = "2026-12-01T10:00:00Z";
    assert_eq!(encode(&create()), json!({"agent": "agt_1", "objective": "x"}));
    assert_eq!(
        encode(&create().clear_deadline().clear_expires_at()),
        json!({"agent": "agt_1", "objective": "x", "deadline": null, "expiresAt": null})
    );
    assert_eq!(
        encode(&create().deadline(time.parse().unwrap()).expires_at(time.parse().unwrap())),
        json!({"agent": "agt_1", "objective": "x", "deadline": time, "expiresAt": time})
    );
    let back: MandateCreateParams = decode(&encode(&create().clear_deadline()));
    assert_eq!(back, create().clear_deadline());
}

#[test]
fn the_largest_amounts_are_exact() {
    for amount in [i64::MAX, i64::MIN, 0] {
        let text = format!(r#"{{"amount":{amount},"currency":"usd"}}"#);
        let money: Money = serde_json::from_str(&text).unwrap();
        assert_eq!(money.amount, amount);
        assert_eq!(serde_json::to_string(&money).unwrap(), text);
    }
    assert!(serde_json::from_str::<Money>(r#"{"amount":1.5,"currency":"usd"}"#).is_err());
    assert!(serde_json::from_str::<Money>(r#"{"amount":9223372036854775808,"currency":"usd"}"#).is_err());
    assert_eq!(Money::new(5, "EUR").currency, "eur");
}

/// Fields never seen at every level, beside numbers no `f64` holds, nulls and empty lists.
const FOREIGN: &str = r#"{"capabilities":["email.send"],"spend":{"maximum":{"amount":799999,"currency":"usd",
    "rounding":0.10000000000000000000001},"approvalThreshold":{"amount":5,"currency":"usd"},
    "window":123456789012345678901234567890},"maximumActions":null,"capabilityLimits":[{"capability":"email.send",
    "rate":{"maximum":3,"interval":"P1D","burst":1e400},"note":null}],"prohibitedActions":[],"approval":{"requiredFor":
    ["x.y"],"quorum":2},"rules":[{"capability":"x.y","field":"q","max":100000000000000000000.5,"in":[1,"a",{"b":[]}],
    "why":{"deep":[{"n":-0.0}]}}],"successCriteria":[{"fact":"amount","min":0.1,"equals":12345678901234567890123}],
    "quietHours":{"start":"22:00","end":"07:00","timezone":"Europe/Paris","days":["mon"]},"moon":{"phase":1E-7}}"#;

#[test]
fn an_authority_goes_back_equal_as_json() {
    let authority: Authority = serde_json::from_str(FOREIGN).unwrap();
    let back = serde_json::to_string(&authority).unwrap();
    assert_eq!(sorted(&back), sorted(FOREIGN));
    // Also when it came inside a mandate.
    let mandate = format!(
        r#"{{"id":"m","agent":"a","objective":"o","status":"running","authority":{FOREIGN},"big":{{"x":1}}}}"#
    );
    let mandate: Mandate = serde_json::from_str(&mandate).unwrap();
    assert_eq!(sorted(&serde_json::to_string(&mandate.authority).unwrap()), sorted(FOREIGN));
}

#[test]
fn changing_one_limit_keeps_all_others() {
    let authority: Authority = serde_json::from_str(FOREIGN).unwrap();
    let raised =
        authority.spend_maximum(Money::usd(899_999)).require_approval_for(["z.z"]).maximum_actions(7);
    let expected = FOREIGN
        .replace(
            r#"{"amount":799999,"currency":"usd",
    "rounding":0.10000000000000000000001}"#,
            r#"{"amount":899999,"currency":"usd"}"#,
        )
        .replace(r#"["x.y"]"#, r#"["z.z"]"#)
        .replace(r#""maximumActions":null"#, r#""maximumActions":7"#);
    assert_eq!(sorted(&serde_json::to_string(&raised).unwrap()), sorted(&expected));
}

/// The text of a JSON document with sorted keys and untouched numbers.
fn sorted(text: &str) -> String {
    fn canonical(raw: &serde_json::value::RawValue) -> String {
        let text = raw.get().trim();
        if text.starts_with('{') {
            let fields: std::collections::BTreeMap<String, Box<serde_json::value::RawValue>> =
                serde_json::from_str(text).unwrap();
            let fields: Vec<_> =
                fields.iter().map(|(name, value)| format!("{name:?}:{}", canonical(value))).collect();
            format!("{{{}}}", fields.join(","))
        } else if text.starts_with('[') {
            let items: Vec<Box<serde_json::value::RawValue>> = serde_json::from_str(text).unwrap();
            format!("[{}]", items.iter().map(|item| canonical(item)).collect::<Vec<_>>().join(","))
        } else {
            text.to_owned()
        }
    }
    canonical(&serde_json::from_str::<Box<serde_json::value::RawValue>>(text).unwrap())
}

#[test]
fn a_limit_of_one_capability_replaces_only_its_own() {
    let limit = |name: &str, maximum| CapabilityLimit::new(name).maximum_actions(maximum);
    let authority = Authority::new()
        .capability_limits([limit("a.b", 1), limit("c.d", 2)])
        .capability_limit(limit("a.b", 9).rate(3, Interval::hours(1)));
    assert_eq!(
        encode(&authority),
        json!({"capabilityLimits": [
            {"capability": "c.d", "maximumActions": 2},
            {"capability": "a.b", "maximumActions": 9, "rate": {"maximum": 3, "interval": "1h"}},
        ]})
    );
}

#[test]
fn a_required_field_that_is_missing_or_null_is_named() {
    for (text, name) in
        [(r#"{"currency":"usd"}"#, "amount"), (r#"{"amount":null,"currency":"usd"}"#, "amount")]
    {
        let error = serde_json::from_str::<Money>(text).unwrap_err();
        assert!(error.to_string().contains(&format!("missing field `{name}`")), "{error}");
    }
    assert!(serde_json::from_str::<Authority>("[]").is_err());
}

#[test]
fn intervals_are_written_short_and_read_as_they_come() {
    use std::time::Duration;
    for (seconds, text) in
        [(1, "1s"), (60, "1m"), (90, "90s"), (3_600, "1h"), (86_400, "1d"), (90_000, "25h")]
    {
        let interval = Interval::try_from(Duration::from_secs(seconds)).unwrap();
        assert_eq!(interval.as_str(), text);
        assert_eq!(interval.as_duration(), Some(Duration::from_secs(seconds)));
    }
    for refused in [Duration::ZERO, Duration::from_millis(1_500)] {
        assert!(Interval::try_from(refused).is_err());
    }
    for foreign in ["P1D", "h", "", "1.5h", "-1h", "99999999999999999999d", "1 h"] {
        let interval: Interval = decode(&json!(foreign));
        assert_eq!(interval.as_duration(), None, "{foreign}");
        assert_eq!(encode(&interval), json!(foreign));
    }
}

#[test]
fn ids_are_text_that_can_not_be_mixed_up() {
    let id: AgentId = "agt_1".into();
    assert_eq!(id, "agt_1");
    assert_eq!(id.to_string(), "agt_1");
    assert_eq!(format!("{id:?}"), "\"agt_1\"");
    assert_eq!(encode(&id), json!("agt_1"));
    assert_eq!(MandateId::from(&String::from("mnd_1")), decode::<MandateId>(&json!("mnd_1")));
}

#[test]
fn raw_json_keeps_its_text_wherever_it_comes_from() {
    let from_value: RawJson = serde_json::from_value(json!({"a": [1, null]})).unwrap();
    assert_eq!(from_value.get(), r#"{"a":[1,null]}"#);
    assert_eq!(from_value.to_value().unwrap(), json!({"a": [1, null]}));
}
