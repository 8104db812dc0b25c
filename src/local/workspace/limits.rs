//! Whether an action may run: the limits of an authority, held against what has been done under it.

use std::collections::HashMap;

use serde_json::Value;

use crate::local::agent::sample::amount;
use crate::local::agent::text::money;
use crate::local::clock::Moment;
use crate::model::authority::{Authority, AuthorityRule, CapabilityLimit, SuccessCriterion};
use crate::model::capabilities::{Capability, CapabilityEffect, CapabilityRisk};
use crate::model::json::{JsonNumber, RawJson};
use crate::model::types::Money;

/// What a mandate has used up of its limits.
#[derive(Debug, Default)]
pub(super) struct Used {
    writes: u64,
    reads: u64,
    starts: HashMap<String, Vec<Moment>>,
    pub(super) spent: i64,
}

impl Used {
    /// Counts an action that begins.
    pub(super) fn count(&mut self, capability: &Capability, arguments: &Value, now: Moment) {
        match capability.effect {
            CapabilityEffect::Read => self.reads += 1,
            _ => self.writes += 1,
        }
        self.starts.entry(capability.name.clone()).or_default().push(now);
        self.spent = self.spent.saturating_add(spends(capability, arguments).flatten().unwrap_or(0));
    }
}

/// What an action spends: `None` for one that spends nothing, `Some(None)` for one that does not say how much.
fn spends(capability: &Capability, arguments: &Value) -> Option<Option<i64>> {
    let amount = amount(arguments);
    let reads = capability.effect == CapabilityEffect::Read;
    let spends = !reads && (capability.risk == CapabilityRisk::Financial || amount.is_some());
    spends.then_some(amount)
}

/// What an action spends, in the currency of the limit.
pub(super) fn cost(capability: &Capability, arguments: &Value, authority: &Authority) -> Option<Money> {
    let maximum = authority.spend.as_ref().and_then(|spend| spend.maximum.as_ref());
    let currency = maximum.map_or("usd", |maximum| maximum.currency.as_str());
    spends(capability, arguments).flatten().map(|amount| Money::new(amount, currency))
}

/// What is left of the limit on spending.
pub(super) fn left_to_spend(authority: &Authority, used: &Used) -> Option<i64> {
    let maximum = authority.spend.as_ref()?.maximum.as_ref()?;
    Some(maximum.amount.saturating_sub(used.spent).max(0))
}

/// Why the action may not run, if it may not. What is prohibited is looked at first (documented).
///
/// Quiet hours are not kept: nothing here is sent to anybody, and a test is not to depend on the time of day.
pub(super) fn blocked(
    capability: &Capability,
    arguments: &Value,
    authority: &Authority,
    granted: &[String],
    used: &Used,
    now: Moment,
) -> Option<String> {
    let name = &capability.name;
    if authority.prohibited_actions.contains(name) {
        return Some(format!("{name} is prohibited under this mandate"));
    }
    if !granted.contains(name) {
        return Some(format!("{name} is no longer granted"));
    }
    let (taken, maximum, kind) = match capability.effect {
        CapabilityEffect::Read => (used.reads, authority.maximum_read_actions, "reading actions"),
        _ => (used.writes, authority.maximum_actions, "actions"),
    };
    if maximum.is_some_and(|maximum| taken >= maximum) {
        return Some(format!("the limit of {} {kind} is used up", maximum.unwrap_or_default()));
    }
    let starts = used.starts.get(name).map_or(&[][..], Vec::as_slice);
    let limits = authority.capability_limits.iter().filter(|limit| limit.capability == *name);
    limits
        .filter_map(|limit| over_limit(limit, starts, now))
        .next()
        .or_else(|| over_budget(capability, arguments, authority, used))
        .or_else(|| {
            let mut rules = authority.rules.iter().filter(|rule| rule.capability == *name);
            rules.find_map(|rule| broken(rule, arguments))
        })
}

fn over_limit(limit: &CapabilityLimit, starts: &[Moment], now: Moment) -> Option<String> {
    let name = &limit.capability;
    if let Some(maximum) = limit.maximum_actions.filter(|maximum| starts.len() as u64 >= *maximum) {
        return Some(format!("the limit of {maximum} for {name} is used up"));
    }
    let rate = limit.rate.as_ref()?;
    let within = rate.interval.as_duration()?;
    let recent = starts.iter().filter(|start| now.since(**start) < within).count() as u64;
    (recent >= rate.maximum).then(|| format!("{name} may run {} times in {}", rate.maximum, rate.interval))
}

fn over_budget(
    capability: &Capability,
    arguments: &Value,
    authority: &Authority,
    used: &Used,
) -> Option<String> {
    let maximum = authority.spend.as_ref()?.maximum.as_ref()?;
    let Some(amount) = spends(capability, arguments)? else {
        return Some(format!("{} spends and does not say how much", capability.name));
    };
    let left = left_to_spend(authority, used)?;
    let text = |amount| money(&Money::new(amount, &maximum.currency));
    (amount > left).then(|| format!("it would spend {}, and {} is left", text(amount), text(left)))
}

/// Why a rule forbids the arguments. One that leaves out a limited value is blocked (documented).
fn broken(rule: &AuthorityRule, arguments: &Value) -> Option<String> {
    let field = &rule.field;
    let Some(value) = arguments.get(field).filter(|value| !value.is_null()) else {
        return Some(format!("the limited value {field:?} is left out"));
    };
    let value = RawJson::from(value.clone());
    let listed = rule.one_of.is_empty() || rule.one_of.iter().any(|allowed| equal(allowed, &value));
    let misses = misses(&value, rule.equals.as_ref(), rule.min.as_ref(), rule.max.as_ref());
    match misses {
        Some(why) => Some(format!("the value {field:?} {why}")),
        None if !listed => Some(format!("the value {field:?} is {value}, none of those allowed")),
        None => None,
    }
}

/// Whether a person has to be asked first.
pub(super) fn needs_approval(capability: &Capability, arguments: &Value, authority: &Authority) -> bool {
    let required = authority.approval.as_ref().is_some_and(|a| a.required_for.contains(&capability.name));
    let threshold = authority.spend.as_ref().and_then(|spend| spend.approval_threshold.as_ref());
    let amount = spends(capability, arguments).flatten();
    let above = amount.zip(threshold).is_some_and(|(amount, threshold)| amount > threshold.amount);
    // Risky actions that are hard to undo are asked for without being named (documented).
    required || above || capability.effect == CapabilityEffect::Irreversible
}

/// Why a value does not satisfy a success criterion, if it does not.
pub(super) fn unmet(criterion: &SuccessCriterion, value: &RawJson) -> Option<String> {
    misses(value, criterion.equals.as_ref(), criterion.min.as_ref(), criterion.max.as_ref())
}

fn misses(
    value: &RawJson,
    equals: Option<&RawJson>,
    min: Option<&JsonNumber>,
    max: Option<&JsonNumber>,
) -> Option<String> {
    if let Some(wanted) = equals.filter(|wanted| !equal(wanted, value)) {
        return Some(format!("is {value}, not {wanted}"));
    }
    if min.is_none() && max.is_none() {
        return None;
    }
    let Ok(number) = value.get().parse::<JsonNumber>() else {
        return Some(format!("is {value}, which is no number"));
    };
    match (min, max) {
        (Some(min), _) if below(&number, min) => Some(format!("is {value}, below {min}")),
        (_, Some(max)) if below(max, &number) => Some(format!("is {value}, above {max}")),
        _ => None,
    }
}

pub(super) fn below(one: &JsonNumber, other: &JsonNumber) -> bool {
    // A number beyond `f64` counts as infinite, which is more than any other.
    let approximate = |number: &JsonNumber| number.get().parse::<f64>().ok();
    match (one.as_i64(), other.as_i64()) {
        (Some(one), Some(other)) => one < other,
        _ => approximate(one) < approximate(other),
    }
}

/// Equal as JSON, also when one number is written as 1 and the other as 1.0.
fn equal(one: &RawJson, other: &RawJson) -> bool {
    match (one.get().parse::<JsonNumber>(), other.get().parse::<JsonNumber>()) {
        (Ok(one), Ok(other)) => !below(&one, &other) && !below(&other, &one),
        _ => one.to_value().ok() == other.to_value().ok(),
    }
}

#[cfg(test)]
mod tests;
