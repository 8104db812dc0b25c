//! Every type of the wire, from JSON: what is written reads as the same, also a second time; why an answer does not fit
//! is one line; no secret is printed; and a field that no type knows is kept.

use std::collections::BTreeMap;
use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use shadway::{agents, approvals, capabilities, events, mandates, page, record, types, webhooks};

/// Inputs hold these, so that it is known where a secret is printed: a text, and a number in its place.
const SECRETS: [&str; 2] = ["s3cr3t", "48271905"];

macro_rules! checks {
    ($($type:ty,)*) => {
        /// Every type that is read from an answer, or that a program may have stored.
        const CHECKS: &[fn(&[u8], bool)] = &[$(same_again::<$type>,)*];

        #[cfg(test)]
        const CHECKED: &[&str] = &[$(stringify!($type),)*];
    };
}

checks! {
    agents::Agent,
    agents::AgentCapabilityConfig,
    agents::AgentCapabilityReadiness,
    agents::AgentCapabilityStatus,
    agents::AgentCreateParams,
    agents::AgentStatus,
    agents::AgentUpdateParams,
    approvals::Approval,
    approvals::ApprovalAction,
    approvals::ApprovalApproveParams,
    approvals::ApprovalField,
    approvals::ApprovalInputs,
    approvals::ApprovalRejectParams,
    approvals::ApprovalStatus,
    capabilities::Capability,
    capabilities::CapabilityEffect,
    capabilities::CapabilityExecutionMode,
    capabilities::CapabilityIdempotency,
    capabilities::CapabilityRegisterParams,
    capabilities::CapabilityRisk,
    capabilities::CapabilityStatus,
    capabilities::CapabilityUpdateParams,
    capabilities::CapabilityVerify,
    events::ApprovalEventData,
    events::CapabilityExecution,
    events::CapabilityExecutionError,
    events::CapabilityExecutionEventData,
    events::Event,
    events::EventType,
    events::MandateStatusChangedData,
    mandates::ApprovalAuthority,
    mandates::Authority,
    mandates::AuthorityRule,
    mandates::CapabilityLimit,
    mandates::Mandate,
    mandates::MandateAmendment,
    mandates::MandateAmendmentCreateParams,
    mandates::MandateCommandParams,
    mandates::MandateCreateParams,
    mandates::MandateState,
    mandates::MandateStatus,
    mandates::QuietHours,
    mandates::Rate,
    mandates::SpendAuthority,
    mandates::SuccessCriterion,
    page::Page<events::Event>,
    page::Page<mandates::Mandate>,
    record::Artifact,
    record::ArtifactDownload,
    record::Assertion,
    record::Commitment,
    record::CommitmentDirection,
    record::Evidence,
    record::EvidenceQuality,
    record::Fact,
    record::FactSource,
    record::FactSourceType,
    record::FactStatus,
    record::InformationNeed,
    record::Issue,
    record::IssueState,
    record::SignedUrl,
    types::AgentId,
    types::AmendmentId,
    types::ApiError,
    types::ApprovalId,
    types::ArtifactId,
    types::AssertionId,
    types::CapabilityId,
    types::CommitmentId,
    types::ErrorCode,
    types::EventId,
    types::EvidenceId,
    types::FactId,
    types::InformationNeedId,
    types::Interval,
    types::IssueId,
    types::JsonNumber,
    types::MandateId,
    types::Money,
    types::Nullable<String>,
    types::RawJson,
    types::WebhookEndpointId,
    webhooks::WebhookEndpoint,
    webhooks::WebhookEndpointCreateParams,
    webhooks::WebhookEndpointCreated,
    webhooks::WebhookEndpointSecretRotated,
    webhooks::WebhookEndpointStatus,
    webhooks::WebhookEndpointUpdateParams,
    webhooks::WebhookSecret,
}

pub fn check(input: &[u8]) {
    let is_json = serde_json::from_slice::<serde::de::IgnoredAny>(input).is_ok();
    for (index, check) in CHECKS.iter().enumerate() {
        // To say why takes longer than all else, and is much the same for each.
        let chosen = index == input.len() % CHECKS.len();
        if is_json || chosen {
            check(input, chosen);
        }
    }
    refused(input);
    if is_json {
        secret::<webhooks::WebhookEndpointCreated>(r#"{"endpoint":{"id":"we_1","url":"x"},"secret":"#, input);
        secret::<webhooks::WebhookEndpointSecretRotated>(r#"{"secret":"#, input);
        secret::<record::ArtifactDownload>(r#"{"expiresAt":"2026-11-30T12:00:00Z","url":"#, input);
        secret::<webhooks::WebhookSecret>("", input);
        secret::<record::SignedUrl>("", input);
        // Their names are none.
        secret::<approvals::ApprovalInputs>(r#"{"otp":"#, input);
        secret::<approvals::ApprovalApproveParams>(r#"{"inputs":{"otp":"#, input);
    }
}

fn same_again<T: DeserializeOwned + Serialize + Debug + PartialEq>(input: &[u8], explained: bool) {
    let Ok(value) = serde_json::from_slice::<T>(input) else {
        if explained {
            shown(&shadway::fuzzing::answer::<T>(200, input).unwrap().unwrap_err());
        }
        return;
    };
    let _ = format!("{value:?}");
    let written = serde_json::to_string(&value).unwrap();
    let again: T = serde_json::from_str(&written).unwrap_or_else(|error| panic!("{error}: {written}"));
    assert_eq!(again, value, "{}: {written}", std::any::type_name::<T>());
    assert_eq!(serde_json::to_string(&again).unwrap(), written);
    if let (Ok(sent), Ok(written)) = (fields(input), fields(written.as_bytes())) {
        for (name, value) in sent.iter().filter(|(name, _)| name.starts_with("new")) {
            let kept = written.get(name).unwrap_or_else(|| panic!("{name} is lost"));
            assert!(is_same(value.get(), kept.get()), "{value} became {kept}");
        }
    }
}

fn fields(json: &[u8]) -> serde_json::Result<BTreeMap<String, Box<RawValue>>> {
    serde_json::from_slice(json)
}

/// Whether two texts are the same JSON, but for how a number is written. No type has a field that begins with `new`.
fn is_same(one: &str, other: &str) -> bool {
    let items = |text: &str| serde_json::from_str::<Vec<Box<RawValue>>>(text);
    let text = |text: &str| serde_json::from_str::<String>(text);
    if let (Ok(one), Ok(other)) = (fields(one.as_bytes()), fields(other.as_bytes())) {
        return one.len() == other.len()
            && one.iter().zip(&other).all(|(one, other)| one.0 == other.0 && is_same(one.1.get(), other.1.get()));
    }
    if let (Ok(one), Ok(other)) = (items(one), items(other)) {
        return one.len() == other.len()
            && one.iter().zip(&other).all(|(one, other)| is_same(one.get(), other.get()));
    }
    match (text(one), text(other), one.parse::<f64>(), other.parse::<f64>()) {
        (Ok(one), Ok(other), ..) => one == other,
        (.., Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

/// The same input as the body of a refusal.
fn refused(input: &[u8]) {
    for status in [302, 409] {
        let answer = shadway::fuzzing::answer::<types::RawJson>(status, input).unwrap();
        shown(&answer.expect_err("it was refused"));
    }
}

/// The input where a secret belongs: whatever it is, it is not printed.
fn secret<T: DeserializeOwned + Debug>(start: &str, input: &[u8]) {
    let end = "}".repeat(start.matches('{').count() - start.matches('}').count());
    let body = [start.as_bytes(), input, end.as_bytes()].concat();
    let shown = match shadway::fuzzing::answer::<T>(200, &body).unwrap() {
        Ok(value) => format!("{value:?}"),
        Err(error) => format!("{error} {error:?}"),
    };
    assert!(!SECRETS.iter().any(|secret| shown.contains(secret)), "{shown}");
}

fn shown(error: &shadway::Error) {
    let line = error.to_string();
    assert!(!line.contains(char::is_control), "more than a line: {line:?}");
    assert!(line.len() < 4_096, "{} bytes: {line}", line.len());
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    /// Public types of the model that are never read from JSON by themselves.
    const NEVER_READ: [(&str, &str); 6] = [
        ("ApprovalListParams", "becomes a query"),
        ("EventData", "its event says which type it is"),
        ("IntervalError", "an error"),
        ("ListParams", "becomes a query"),
        ("MandateListParams", "becomes a query"),
        ("RawFields", "what an object has beside its fields"),
    ];

    /// The public types of one file, whether they are written out or within a macro.
    fn public_types(source: &str) -> impl Iterator<Item = &str> {
        let mut ids = false;
        source.lines().filter_map(move |line| {
            if !line.starts_with(' ') {
                ids = line.starts_with("id! {");
            }
            let line = line.trim_start();
            let item = line.strip_prefix("pub struct ").or_else(|| line.strip_prefix("pub enum "));
            let item = item.or_else(|| line.strip_suffix(';').filter(|_| ids))?;
            item.split(|c: char| !c.is_alphanumeric()).next()
        })
    }

    #[test]
    fn every_public_type_of_the_wire_is_checked() {
        let mut public = BTreeSet::new();
        for file in crate::replay::files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../src/model")) {
            let source = std::fs::read_to_string(&file).unwrap();
            public.extend(public_types(&source).map(str::to_owned));
        }
        let name = |path: &str| path.split('<').next().and_then(|path| path.split("::").last()).map(str::to_owned);
        let checked: BTreeSet<_> = CHECKED.iter().map(|path| name(path).unwrap()).collect();
        let excused = BTreeSet::from(NEVER_READ.map(|(name, _)| name.to_owned()));

        let known: BTreeSet<_> = checked.union(&excused).cloned().collect();
        let missing: Vec<_> = public.difference(&known).collect();
        assert!(missing.is_empty(), "neither checked nor excused: {missing:?}");
        let gone: Vec<_> = known.difference(&public).collect();
        assert!(gone.is_empty(), "no public type of the model: {gone:?}");
        let both: Vec<_> = checked.intersection(&excused).collect();
        assert!(both.is_empty(), "checked, and excused: {both:?}");
    }
}
