//! Whether an action may run: the limits of an authority, held against what has been done under it.

use std::collections::HashMap;

use jiff::Timestamp;
use serde_json::Value;

use super::quiet::Quiet;
use crate::local::agent::sample::{amount, currencies};
use crate::local::agent::text::money;
use crate::local::clock::Moment;
use crate::model::authority::{Authority, AuthorityRule, CapabilityLimit, SuccessCriterion};
use crate::model::capabilities::{Capability, CapabilityEffect, CapabilityRisk};
use crate::model::json::{JsonNumber, RawJson};
use crate::model::record::Fact;
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
    pub(super) fn count(&mut self, proposal: &Proposal<'_>, now: Moment) {
        match proposal.capability.effect {
            CapabilityEffect::Read => self.reads += 1,
            _ => self.writes += 1,
        }
        self.starts.entry(proposal.capability.name.clone()).or_default().push(now);
        self.spent = self.spent.saturating_add(proposal.amount().unwrap_or(0));
    }
}

/// An action as it would run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Proposal<'a> {
    pub(super) capability: &'a Capability,
    pub(super) arguments: &'a Value,
    /// What it spends, where that is said beside the arguments.
    pub(super) spending: Option<&'a Money>,
}

impl Proposal<'_> {
    /// Whether it spends anything, said or not.
    fn spends(&self) -> bool {
        let acts = self.capability.effect != CapabilityEffect::Read;
        let financial = self.capability.risk == CapabilityRisk::Financial;
        self.spending.is_some() || (acts && (financial || amount(self.arguments).is_some()))
    }

    /// What it spends, if it spends and says so.
    fn amount(&self) -> Option<i64> {
        let said =
            || self.spending.map_or_else(|| amount(self.arguments).flatten(), |money| Some(money.amount));
        self.spends().then(said).flatten().filter(|amount| *amount >= 0)
    }

    /// What it spends, in its own currency or in that of the limit.
    pub(super) fn cost(&self, authority: &Authority) -> Option<Money> {
        let amount = self.amount()?;
        let maximum = authority.spend.as_ref().and_then(|spend| spend.maximum.as_ref());
        let currency = self.spending.or(maximum).map_or("usd", |money| money.currency.as_str());
        Some(Money::new(amount, currency))
    }
}

/// What is left of the limit on spending.
pub(super) fn left_to_spend(authority: &Authority, used: &Used) -> Option<i64> {
    let maximum = authority.spend.as_ref()?.maximum.as_ref()?;
    Some(maximum.amount.saturating_sub(used.spent).max(0))
}

/// Why an action may not run.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Blocked {
    pub(super) why: String,
    /// When that will be over by itself.
    pub(super) until: Option<Timestamp>,
}

impl From<String> for Blocked {
    fn from(why: String) -> Self {
        Self { why, until: None }
    }
}

/// The limits of a mandate, and what it has used up of them at some time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Limits<'a> {
    pub(super) authority: &'a Authority,
    /// The actions that are granted.
    pub(super) granted: &'a [String],
    pub(super) used: &'a Used,
    pub(super) now: Moment,
    /// The same on the clock.
    pub(super) time: Timestamp,
}

impl Limits<'_> {
    /// Why the action may not run, if it may not. What is prohibited is looked at first (documented).
    pub(super) fn forbid(&self, proposal: &Proposal<'_>) -> Option<Blocked> {
        let name = &proposal.capability.name;
        self.prohibits(name)
            .or_else(|| (!self.granted.contains(name)).then(|| format!("{name} is not granted")))
            .or_else(|| self.used_up(proposal.capability))
            .or_else(|| self.over_budget(proposal))
            .or_else(|| {
                let mut rules = self.authority.rules.iter().filter(|rule| rule.capability == *name);
                rules.find_map(|rule| broken(rule, proposal.arguments))
            })
            .map(Blocked::from)
            .or_else(|| self.too_quiet())
    }

    pub(super) fn prohibits(&self, name: &str) -> Option<String> {
        let prohibited = self.authority.prohibited_actions.iter().any(|other| other == name);
        prohibited.then(|| format!("{name} is prohibited under this mandate"))
    }

    fn used_up(&self, capability: &Capability) -> Option<String> {
        let (taken, maximum, kind) = match capability.effect {
            CapabilityEffect::Read => {
                (self.used.reads, self.authority.maximum_read_actions, "reading actions")
            }
            _ => (self.used.writes, self.authority.maximum_actions, "actions"),
        };
        if let Some(maximum) = maximum.filter(|maximum| taken >= *maximum) {
            return Some(format!("the limit of {maximum} {kind} is used up"));
        }
        let starts = self.used.starts.get(&capability.name).map_or(&[][..], Vec::as_slice);
        let limits = self.authority.capability_limits.iter();
        let mut limits = limits.filter(|limit| limit.capability == capability.name);
        limits.find_map(|limit| over_limit(limit, starts, self.now))
    }

    fn over_budget(&self, proposal: &Proposal<'_>) -> Option<String> {
        let maximum = self.authority.spend.as_ref()?.maximum.as_ref()?;
        if !proposal.spends() {
            return None;
        }
        // What is not said is not taken for zero (documented).
        let Some(amount) = proposal.amount() else {
            return Some(format!("{} spends and does not say how much", proposal.capability.name));
        };
        if let Some(other) = proposal.spending.filter(|money| money.currency != maximum.currency) {
            return Some(format!(
                "it would spend {}, and the limit is in {}",
                money(other),
                maximum.currency
            ));
        }
        let mut currencies = currencies(proposal.arguments).into_iter();
        if let Some(other) = currencies.find(|other| !other.eq_ignore_ascii_case(&maximum.currency)) {
            return Some(format!("it would spend {other}, and the limit is in {}", maximum.currency));
        }
        let left = left_to_spend(self.authority, self.used)?;
        let text = |amount| money(&Money::new(amount, &maximum.currency));
        (amount > left).then(|| format!("it would spend {}, and {} is left", text(amount), text(left)))
    }

    fn too_quiet(&self) -> Option<Blocked> {
        let hours = self.authority.quiet_hours.as_ref()?;
        let until = Quiet::read(hours).ok()?.until(self.time)?;
        let why = format!("these are quiet hours, until {} in {}", hours.end, hours.timezone);
        Some(Blocked { why, until: Some(until) })
    }
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
pub(super) fn needs_approval(proposal: &Proposal<'_>, authority: &Authority, facts: &[Fact]) -> bool {
    let capability = proposal.capability;
    let required = authority.approval.as_ref().is_some_and(|a| a.required_for.contains(&capability.name));
    let threshold = authority.spend.as_ref().and_then(|spend| spend.approval_threshold.as_ref());
    let above = proposal.amount().zip(threshold).is_some_and(|(amount, threshold)| amount > threshold.amount);
    // Asked for without being named: what is risky and hard to undo, and what is costly and rests on outside data
    // that is not confirmed (documented).
    let risky = capability.risk != CapabilityRisk::None;
    let hard_to_undo = capability.effect == CapabilityEffect::Irreversible;
    required || above || (risky && hard_to_undo) || unconfirmed(proposal, facts).is_some()
}

/// The fact that a costly action rests on and that is not confirmed: one whose value is the amount, or that of the
/// argument of the same name (assumed, as is that any spending is costly).
pub(super) fn unconfirmed<'a>(proposal: &Proposal<'_>, facts: &'a [Fact]) -> Option<&'a Fact> {
    let amount = proposal.amount().filter(|amount| *amount > 0).map(RawJson::from)?;
    facts.iter().filter(|fact| !fact.status.is_confirmed()).find(|fact| {
        let argument = proposal.arguments.get(&fact.key).map(|value| RawJson::from(value.clone()));
        equal(&amount, &fact.value) || argument.is_some_and(|argument| equal(&argument, &fact.value))
    })
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
