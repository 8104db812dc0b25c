//! The limits of a mandate, and how much of each is used.
//!
//! The service does not say how much is used, so it is counted here, from the mandate's events and approvals. Actions
//! are counted when they start. Of spending only those actions are known that a person approved and whose arguments
//! say an amount: what an action spent below the approval threshold appears nowhere.

use std::collections::{BTreeMap, HashSet};

use jiff::Timestamp;
use serde::Serialize;
use shadway::approvals::{Approval, ApprovalStatus};
use shadway::events::{Event, EventType};
use shadway::mandates::{Authority, AuthorityRule, SuccessCriterion};
use shadway::types::{JsonNumber, RawFields, RawJson};

/// The argument that says what an action spends, in the smallest unit of the currency (assumed: the service documents
/// no name for it).
const AMOUNT: &str = "amount_minor";

/// What a mandate has used, as far as it can be counted.
#[derive(Debug, Default)]
pub(crate) struct Used {
    actions: u64,
    reads: u64,
    /// When each capability started.
    starts: BTreeMap<String, Vec<Option<Timestamp>>>,
    spent: i64,
}

impl Used {
    pub(crate) fn count(events: &[Event], approvals: &[Approval], reads: &HashSet<String>) -> Self {
        let mut used = Self::default();
        let mut seen = HashSet::new();
        for event in events.iter().filter(|event| event.event_type == EventType::CapabilityExecutionStarted) {
            let Some(run) = event.execution() else { continue };
            // One that is tried again is still the same run.
            if run.id.as_ref().is_some_and(|id| !seen.insert(id)) {
                continue;
            }
            let kind = if reads.contains(&run.capability) { &mut used.reads } else { &mut used.actions };
            *kind += 1;
            used.starts.entry(run.capability.clone()).or_default().push(event.created_at);
        }
        let approved = approvals.iter().filter(|approval| approval.status == ApprovalStatus::Approved);
        let ran =
            approved.filter(|approval| used.started_since(&approval.action.capability, approval.resolved_at));
        used.spent = ran.filter_map(amount).fold(0, i64::saturating_add);
        used
    }

    fn started_since(&self, capability: &str, since: Option<Timestamp>) -> bool {
        self.starts.get(capability).is_some_and(|starts| starts.iter().any(|start| *start >= since))
    }

    fn times(&self, capability: &str) -> &[Option<Timestamp>] {
        self.starts.get(capability).map_or(&[], Vec::as_slice)
    }
}

/// What an action says it spends.
fn amount(approval: &Approval) -> Option<i64> {
    approval.action.arguments.to_value().ok()?.get(AMOUNT)?.as_i64()
}

/// One limit, for the page to put into words.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase", tag = "kind")]
pub(crate) enum Limit {
    Spend {
        used: i64,
        maximum: Option<i64>,
        threshold: Option<i64>,
        currency: String,
        /// The argument that was counted.
        argument: &'static str,
    },
    Count {
        what: String,
        used: u64,
        maximum: Option<u64>,
    },
    Rate {
        what: String,
        starts: Vec<Timestamp>,
        maximum: u64,
        interval: String,
        seconds: Option<u64>,
    },
    Words {
        what: &'static str,
        text: String,
    },
}

impl Limit {
    /// All limits, also those that nothing is counted against, and those this version does not know.
    pub(crate) fn all(authority: &Authority, used: &Used) -> Vec<Self> {
        let mut limits = Vec::new();
        if let Some(spend) = &authority.spend {
            let money = spend.maximum.as_ref().or(spend.approval_threshold.as_ref());
            limits.push(Self::Spend {
                used: used.spent,
                maximum: spend.maximum.as_ref().map(|money| money.amount),
                threshold: spend.approval_threshold.as_ref().map(|money| money.amount),
                currency: money.map(|money| money.currency.clone()).unwrap_or_default(),
                argument: AMOUNT,
            });
        }
        let count = |what: &str, used, maximum| Self::Count { what: what.to_owned(), used, maximum };
        limits.push(count("Actions with an effect", used.actions, authority.maximum_actions));
        limits.push(count("Reading actions", used.reads, authority.maximum_read_actions));
        for limit in &authority.capability_limits {
            let starts = used.times(&limit.capability);
            if limit.maximum_actions.is_some() {
                limits.push(count(&limit.capability, starts.len() as u64, limit.maximum_actions));
            }
            if let Some(rate) = &limit.rate {
                limits.push(Self::Rate {
                    what: limit.capability.clone(),
                    starts: starts.iter().copied().flatten().collect(),
                    maximum: rate.maximum,
                    interval: rate.interval.to_string(),
                    seconds: rate.interval.as_duration().map(|interval| interval.as_secs()),
                });
            }
        }
        limits.extend(words(authority));
        limits
    }
}

fn words(authority: &Authority) -> Vec<Limit> {
    let mut limits = Vec::new();
    let mut say = |what, text: String| {
        if !text.is_empty() {
            limits.push(Limit::Words { what, text });
        }
    };
    let may = match authority.capabilities.as_slice() {
        [] => "everything that the agent can do".to_owned(),
        names => names.join(", "),
    };
    say("May use", may);
    say("Never", authority.prohibited_actions.join(", "));
    let required = authority.approval.as_ref().map(|approval| approval.required_for.join(", "));
    say("Always asks for", required.unwrap_or_default());
    for AuthorityRule { capability, field, equals, one_of, min, max, extra, .. } in &authority.rules {
        let bounds = bounds(equals.as_ref(), one_of, min.as_ref(), max.as_ref(), extra);
        let bounds = bounds.unwrap_or_else(|| "has no bound".to_owned());
        say("Rule", format!("{capability}: {field} {bounds}"));
    }
    if let Some(hours) = &authority.quiet_hours {
        say("Nothing runs", format!("{} to {}, {}", hours.start, hours.end, hours.timezone));
    }
    for SuccessCriterion { fact, equals, min, max, extra, .. } in &authority.success_criteria {
        let bounds = bounds(equals.as_ref(), &[], min.as_ref(), max.as_ref(), extra);
        let bounds = bounds.unwrap_or_else(|| "is known".to_owned());
        say("Done when", format!("{fact} {bounds}"));
    }
    for (of, extra) in unknown(authority) {
        for (name, value) in extra.iter() {
            say("Also", format!("{of}{name}: {value}"));
        }
    }
    limits
}

/// The fields that this version does not know, and what they are of. Those of rules and criteria stand with their bounds.
fn unknown(authority: &Authority) -> Vec<(String, &RawFields)> {
    let mut found = Vec::new();
    if let Some(spend) = &authority.spend {
        found.push(("spend ".to_owned(), &spend.extra));
        let amounts = [("maximum", &spend.maximum), ("approvalThreshold", &spend.approval_threshold)];
        for (name, amount) in amounts {
            found.extend(amount.iter().map(|amount| (format!("spend {name} "), &amount.extra)));
        }
    }
    for limit in &authority.capability_limits {
        found.push((format!("{} ", limit.capability), &limit.extra));
        if let Some(rate) = &limit.rate {
            found.push((format!("{} rate ", limit.capability), &rate.extra));
        }
    }
    if let Some(approval) = &authority.approval {
        found.push(("approval ".to_owned(), &approval.extra));
    }
    if let Some(hours) = &authority.quiet_hours {
        found.push(("quiet hours ".to_owned(), &hours.extra));
    }
    found.push((String::new(), &authority.extra));
    found
}

/// The bounds in words, also those that this version does not know; nothing if there is none.
fn bounds(
    equals: Option<&RawJson>,
    one_of: &[RawJson],
    min: Option<&JsonNumber>,
    max: Option<&JsonNumber>,
    extra: &RawFields,
) -> Option<String> {
    let listed: Vec<&str> = one_of.iter().map(RawJson::get).collect();
    let parts = [
        equals.map(|value| format!("is {value}")),
        (!listed.is_empty()).then(|| format!("is one of {}", listed.join(", "))),
        min.map(|least| format!("is at least {least}")),
        max.map(|most| format!("is at most {most}")),
    ];
    let unknown = extra.iter().map(|(name, value)| format!("{name}: {value}"));
    let parts: Vec<String> = parts.into_iter().flatten().chain(unknown).collect();
    (!parts.is_empty()).then(|| parts.join(" and "))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, from_value, json, to_value};

    use super::*;

    fn started(id: &str, capability: &str, at: &str) -> Event {
        from_value(json!({
            "id": format!("evt_{id}{at}"), "type": "capability.execution_started", "sequence": 1, "mandate": "mnd_1",
            "createdAt": at, "data": {"execution": {"id": id, "capability": capability}},
        }))
        .unwrap()
    }

    fn asked(status: &str, resolved_at: &str, arguments: Value) -> Approval {
        from_value(json!({
            "id": "apr_1", "mandate": "mnd_1", "status": status, "question": "?", "resolvedAt": resolved_at,
            "action": {"capability": "procurement.create_po", "arguments": arguments},
        }))
        .unwrap()
    }

    #[test]
    fn a_run_counts_when_it_starts_once_and_reads_count_apart() {
        let events = [
            started("run_1", "email.send", "2026-01-05T09:00:00Z"),
            started("run_1", "email.send", "2026-01-05T09:00:05Z"),
            started("run_2", "email.send", "2026-01-05T10:00:00Z"),
            started("run_3", "email.get_delivery", "2026-01-05T10:00:01Z"),
        ];
        let used = Used::count(&events, &[], &HashSet::from(["email.get_delivery".to_owned()]));
        assert_eq!((used.actions, used.reads, used.times("email.send").len()), (2, 1, 2));
    }

    #[test]
    fn what_was_approved_and_ran_was_spent_and_nothing_else_is_known_to_be() {
        let events = [started("run_1", "procurement.create_po", "2026-01-05T09:00:00Z")];
        let approvals = [
            asked("approved", "2026-01-05T08:59:59Z", json!({"amount_minor": 700})),
            asked("approved", "2026-01-05T09:30:00Z", json!({"amount_minor": 20})),
            asked("rejected", "2026-01-05T08:00:00Z", json!({"amount_minor": 3})),
            asked("approved", "2026-01-05T08:00:00Z", json!({"total": 1})),
            asked("approved", "2026-01-05T08:00:00Z", json!(null)),
        ];
        assert_eq!(Used::count(&events, &approvals, &HashSet::new()).spent, 700);
    }

    #[test]
    fn no_limit_is_left_out_also_none_that_this_version_does_not_know() {
        let authority: Authority = from_value(json!({
            "spend": {"maximum": {"amount": 9, "currency": "eur"}, "perDay": 5},
            "maximumReadActions": 4,
            "capabilityLimits": [
                {"capability": "a.b", "rate": {"maximum": 3, "interval": "1h", "burst": 2}, "weekdays": true},
            ],
            "prohibitedActions": ["c.d"],
            "quietHours": {"start": "22:00", "end": "07:00", "timezone": "Europe/Paris", "except": "Sunday"},
            "rules": [
                {"capability": "a.b", "field": "quantity", "min": 0.10, "max": 500},
                {"capability": "a.b", "field": "to", "endsWith": "@example.com"},
                {"capability": "a.b", "field": "note"},
            ],
            "approval": {"requiredFor": ["a.b"], "quorum": 2},
            "successCriteria": [
                {"fact": "delivered", "equals": true},
                {"fact": "reference"},
                {"fact": "place", "within": "EU"},
            ],
            "moonPhase": "new",
        }))
        .unwrap();
        let limits = to_value(Limit::all(&authority, &Used::default())).unwrap();
        let words: Vec<String> = limits
            .as_array()
            .unwrap()
            .iter()
            .filter(|limit| limit["kind"] == "words")
            .map(|limit| format!("{}: {}", limit["what"].as_str().unwrap(), limit["text"].as_str().unwrap()))
            .collect();
        assert_eq!(
            words,
            [
                "May use: everything that the agent can do",
                "Never: c.d",
                "Always asks for: a.b",
                "Rule: a.b: quantity is at least 0.1 and is at most 500",
                "Rule: a.b: to endsWith: \"@example.com\"",
                "Rule: a.b: note has no bound",
                "Nothing runs: 22:00 to 07:00, Europe/Paris",
                "Done when: delivered is true",
                "Done when: reference is known",
                "Done when: place within: \"EU\"",
                "Also: spend perDay: 5",
                "Also: a.b weekdays: true",
                "Also: a.b rate burst: 2",
                "Also: approval quorum: 2",
                "Also: quiet hours except: \"Sunday\"",
                "Also: moonPhase: \"new\"",
            ]
        );
        assert_eq!(limits[0]["kind"], "spend");
        assert_eq!(
            limits[1],
            json!({"kind": "count", "what": "Actions with an effect", "used": 0, "maximum": null})
        );
        assert_eq!((&limits[3]["kind"], &limits[3]["seconds"]), (&json!("rate"), &json!(3600)));
    }
}
