//! What a mandate may be given: checked when it is created, and when its limits are amended.

use std::time::Duration;

use super::capabilities::{Registry, Standing};
use super::limits::below;
use super::quiet::Quiet;
use crate::local::answer::{Refusal, Result};
use crate::local::capabilities;
use crate::model::authority::{Authority, Rate, SpendAuthority};
use crate::model::errors::ErrorCode;
use crate::model::json::JsonNumber;

/// Checks an authority against the capabilities of the agent that is to use it, and gives the actions it grants.
pub(super) fn check(authority: &Authority, agent: &[String], registry: &Registry) -> Result<Vec<String>> {
    if let Some(spend) = &authority.spend {
        check_spend(spend)?;
    }
    for (index, limit) in authority.capability_limits.iter().enumerate() {
        if let Some(rate) = &limit.rate {
            check_rate(rate).map_err(|refusal| {
                refusal.param(format!("authority.capabilityLimits[{index}].rate.interval"))
            })?;
        }
    }
    if let Some(hours) = &authority.quiet_hours {
        Quiet::read(hours)?;
    }
    for (index, rule) in authority.rules.iter().enumerate() {
        check_range(rule.min.as_ref(), rule.max.as_ref())
            .map_err(|refusal| refusal.param(format!("authority.rules[{index}].min")))?;
    }
    for (index, criterion) in authority.success_criteria.iter().enumerate() {
        check_range(criterion.min.as_ref(), criterion.max.as_ref())
            .map_err(|refusal| refusal.param(format!("authority.successCriteria[{index}].min")))?;
    }
    if !authority.capabilities.is_empty() {
        for (index, name) in authority.capabilities.iter().enumerate() {
            granted(name, agent)
                .and_then(|()| can_run(name, registry))
                .map_err(|refusal| refusal.param(format!("authority.capabilities[{index}]")))?;
        }
        return Ok(authority.capabilities.clone());
    }
    // Nothing named means the agent's full set (documented), so all of it is needed: an agent may carry a name
    // that can't run, but then its mandates have to say which of the others they use (assumed). A family's
    // name is not an action and grants nothing.
    let full: Vec<String> = agent.iter().filter(|name| capabilities::is_action(name)).cloned().collect();
    for name in &full {
        can_run(name, registry).map_err(|refusal| refusal.param("authority.capabilities"))?;
    }
    Ok(full)
}

fn granted(name: &str, agent: &[String]) -> Result<()> {
    let refuse = |why: String| Err(Refusal::invalid(why).code(ErrorCode::CapabilityNotGranted));
    if !capabilities::is_action(name) {
        return refuse(format!("{name:?} is no action; name each one, such as \"email.send\""));
    }
    if !agent.iter().any(|other| other == name) {
        return refuse(format!("the agent does not have {name:?}"));
    }
    Ok(())
}

fn can_run(name: &str, registry: &Registry) -> Result<()> {
    match registry.standing(name) {
        Standing::Available => Ok(()),
        Standing::Unavailable | Standing::Disabled => {
            let why = format!("{name:?} can't run: its executionMode is unavailable, or it is disabled");
            Err(Refusal::invalid(why).code(ErrorCode::CapabilityUnavailable))
        }
        Standing::Family | Standing::Unknown => {
            let why = format!("the workspace has no capability {name:?}");
            Err(Refusal::invalid(why).code(ErrorCode::CapabilityNotGranted))
        }
    }
}

fn check_spend(spend: &SpendAuthority) -> Result<()> {
    let refuse = |field: &str, why: &str| {
        Err(invalid_authority(format!("the {field} {why}")).param(format!("authority.spend.{field}")))
    };
    let is_currency = |code: &str| code.len() == 3 && code.bytes().all(|letter| letter.is_ascii_lowercase());
    if spend.maximum.as_ref().is_some_and(|maximum| !is_currency(&maximum.currency)) {
        return refuse("maximum", "has no currency code of three lower-case letters");
    }
    if spend.maximum.as_ref().is_some_and(|maximum| maximum.amount < 0) {
        return refuse("maximum", "is negative");
    }
    let Some(threshold) = &spend.approval_threshold else { return Ok(()) };
    if threshold.amount < 0 {
        return refuse("approvalThreshold", "is negative");
    }
    match &spend.maximum {
        None => refuse("approvalThreshold", "has no maximum to be below"),
        Some(maximum) if maximum.currency != threshold.currency => {
            refuse("approvalThreshold", "is in another currency than the maximum")
        }
        Some(maximum) if threshold.amount >= maximum.amount => {
            refuse("approvalThreshold", "is not below the maximum")
        }
        Some(_) => Ok(()),
    }
}

/// An interval that can't be read would be no limit at all, and so would one of no length.
fn check_rate(rate: &Rate) -> Result<()> {
    match rate.interval.as_duration() {
        None => Err(invalid_authority(format!(
            "the interval {:?} is none; write a number and one of the units d, h, m, s, such as \"1h\"",
            rate.interval.as_str()
        ))),
        Some(Duration::ZERO) => Err(invalid_authority("the interval has no length")),
        Some(_) => Ok(()),
    }
}

fn check_range(min: Option<&JsonNumber>, max: Option<&JsonNumber>) -> Result<()> {
    match min.zip(max) {
        Some((min, max)) if below(max, min) => {
            Err(invalid_authority(format!("the min {min} is above the max {max}")))
        }
        _ => Ok(()),
    }
}

pub(crate) fn invalid_authority(message: impl Into<String>) -> Refusal {
    Refusal::invalid(message).code(ErrorCode::InvalidAuthority)
}
