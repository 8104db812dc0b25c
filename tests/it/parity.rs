//! The names of the other SDKs and ours, in `fixtures/parity.md`.

use std::collections::BTreeSet;
use std::time::Duration;

use shadway::agents::*;
use shadway::approvals::*;
use shadway::call::Call;
use shadway::capabilities::*;
use shadway::events::*;
use shadway::mandates::*;
use shadway::page::{Items, Page};
use shadway::record::*;
use shadway::types::*;
use shadway::webhooks::*;
use shadway::{Client, Error};

/// Names that compile: types as they are, and each method and field with a use of it.
macro_rules! names {
    (types { $($type:ty),* $(,)? } uses { $($name:literal => $use:expr),* $(,)? }) => {
        fn names() -> BTreeSet<&'static str> {
            $(let _ = std::mem::size_of::<$type>();)*
            $(let _ = $use;)*
            BTreeSet::from([$(short(stringify!($type)),)* $($name),*])
        }
    };
}

fn short(name: &'static str) -> &'static str {
    name.split('<').next().unwrap_or(name).trim()
}

names! {
    types {
        Client, Agent, AgentCreateParams, AgentUpdateParams, ListParams, AgentCapabilityConfigMap,
        AgentCapabilityStatus, Mandate, MandateCreateParams, MandateCommandParams, MandateAmendmentCreateParams,
        Authority, SpendAuthority, ApprovalAuthority, CapabilityLimit, SuccessCriterion, Nullable<()>, Money, Metadata,
        Approval, ApprovalListParams, ApprovalApproveParams, ApprovalRejectParams, Fact, Issue, EventType, EventData,
        MandateStatusChangedData, ApprovalEventData, CapabilityExecutionEventData, WebhookEndpointCreateParams,
        WebhookEndpointCreated, CapabilityBuilder<(), ()>, VerifyError, ApprovalAction, CapabilityExecution,
    }
    uses {
        "Client::from_env" => Client::from_env,
        "Client::builder" => Client::builder,
        "Client::mandate" => |client: &Client| client.mandate("x"),
        "Client::events" => Client::events,
        "Call::idempotency_key" => |call: Call<()>| call.idempotency_key("x"),
        "Call::limit" => |call: Call<Page<()>>| call.limit(1),
        "Call::items" => Call::<Page<()>>::items,
        "Call::pages" => Call::<Page<()>>::pages,
        "Items::try_next" => Items::<()>::try_next,
        "Wait::timeout" => |wait: Wait| wait.timeout(Duration::ZERO),
        "EventStream::resume_after" => |stream: EventStream| stream.resume_after("x"),
        "Error::is_timeout" => Error::is_timeout,
        "Error::is_wait_timeout" => Error::is_wait_timeout,
        "Error::is_conflict" => Error::is_conflict,
        "Agents::create" => Agents::create,
        "Agents::get" => |agents: &Agents| agents.get("x"),
        "Agents::list" => Agents::list,
        "Agents::update" => |agents: &Agents, params| agents.update("x", params),
        "Agent::not_ready" => |agent: &Agent| agent.not_ready().count(),
        "AgentCapabilityReadiness::Ready" => AgentCapabilityReadiness::Ready,
        "AgentStatus::Active" => AgentStatus::Active,
        "AgentStatus::Disabled" => AgentStatus::Disabled,
        "Mandates::create" => Mandates::create,
        "MandateHandle::id" => MandateHandle::id,
        "MandateHandle::get" => MandateHandle::get,
        "MandateHandle::pause" => |work: &MandateHandle| work.pause("x"),
        "MandateHandle::resume" => |work: &MandateHandle| work.resume("x"),
        "MandateHandle::cancel" => |work: &MandateHandle| work.cancel("x"),
        "MandateHandle::amend" => MandateHandle::amend,
        "MandateHandle::wait" => MandateHandle::wait,
        "MandateHandle::wait_for_approval" => MandateHandle::wait_for_approval,
        "MandateHandle::facts" => MandateHandle::facts,
        "MandateHandle::evidence" => MandateHandle::evidence,
        "MandateHandle::issues" => MandateHandle::issues,
        "Record::list" => Record::<Fact>::list,
        "Authority::spend_maximum" => Authority::spend_maximum,
        "Authority::require_approval_for" => |authority: Authority| authority.require_approval_for(["x"]),
        "Mandate::authority_version" => |mandate: Mandate| mandate.authority_version,
        "MandateState::waiting_on" => |state: MandateState| state.waiting_on,
        "MandateStatus::Completed" => MandateStatus::Completed,
        "MandateStatus::Failed" => MandateStatus::Failed,
        "MandateStatus::Canceled" => MandateStatus::Canceled,
        "MandateStatus::Expired" => MandateStatus::Expired,
        "MandateStatus::WaitingExternal" => MandateStatus::WaitingExternal,
        "MandateStatus::NeedsApproval" => MandateStatus::NeedsApproval,
        "MandateStatus::is_terminal" => MandateStatus::is_terminal,
        "Approvals::list" => Approvals::list,
        "Approvals::get" => |approvals: &Approvals| approvals.get("x"),
        "Approvals::approve" => |approvals: &Approvals| approvals.approve("x", "x"),
        "Approvals::reject" => |approvals: &Approvals| approvals.reject("x", "x"),
        "ApprovalStatus::Pending" => ApprovalStatus::Pending,
        "Approval::is_pending" => Approval::is_pending,
        "ApprovalAction::is_input_request" => ApprovalAction::is_input_request,
        "Capabilities::list" => Capabilities::list,
        "Capabilities::register" => |capabilities: &Capabilities, params: CapabilityRegisterParams| capabilities.register(params),
        "Capability::define" => |name: &str| Capability::define::<String, String>(name, "x"),
        "CapabilityBuilder::execute" => |builder: CapabilityBuilder<String, String>| {
            builder.execute(|input| async { Ok::<_, std::convert::Infallible>(input) })
        },
        "CapabilityBuilder::risk" => CapabilityBuilder::<(), ()>::risk,
        "CapabilityBuilder::effect" => CapabilityBuilder::<(), ()>::effect,
        "DefinedCapability::invoke" => |defined: DefinedCapability<String, String>| async move { defined.invoke("x").await },
        "MandateStatusChangedData::previous_status" => |data: MandateStatusChangedData| data.previous_status,
        "Capability::is_runnable" => Capability::is_runnable,
        "CapabilityStatus::Active" => CapabilityStatus::Active,
        "CapabilityExecutionMode::Available" => CapabilityExecutionMode::Available,
        "CapabilityRisk::Financial" => CapabilityRisk::Financial,
        "CapabilityEffect::Irreversible" => CapabilityEffect::Irreversible,
        "EvidenceQuality::source_class" => |quality: EvidenceQuality| quality.source_class,
        "MandateEvents::stream" => MandateEvents::stream,
        "MandateEvents::list" => MandateEvents::list,
        "Events::stream" => Events::stream,
        "Event::is_known" => Event::is_known,
        "Event::event_type" => |event: Event| event.event_type,
        "Event::data" => |event: Event| event.data,
        "EventData::ApprovalRequested" => EventData::ApprovalRequested,
        "EventType::MandateStatusChanged" => EventType::MandateStatusChanged,
        "EventType::MandateApprovalRequested" => EventType::MandateApprovalRequested,
        "EventType::CapabilityExecutionCompleted" => EventType::CapabilityExecutionCompleted,
        "EventType::CapabilityExecutionFailed" => EventType::CapabilityExecutionFailed,
        "Verifier::verify" => |verifier: &Verifier, headers: &http::HeaderMap| verifier.verify(headers, b"").is_ok(),
        "Webhooks::verify" => |webhooks: &Webhooks, headers: &http::HeaderMap| webhooks.verify(headers, b"", "x").is_ok(),
        "Delivery::id" => |delivery: Delivery<'_>| delivery.id().to_owned(),
        "Delivery::event" => |delivery: Delivery<'_>| drop(delivery.event()),
        "WebhookEndpoints::create" => WebhookEndpoints::create,
        "WebhookEndpoints::rotate_secret" => |endpoints: &WebhookEndpoints| endpoints.rotate_secret("x"),
    }
}

/// The rows of all tables: TypeScript, Go, here, remarks.
fn rows() -> Vec<[String; 4]> {
    include_str!("../../fixtures/parity.md")
        .lines()
        .filter(|line| {
            line.starts_with('|') && !line.starts_with("| ---") && !line.starts_with("| TypeScript")
        })
        .map(|line| {
            let cells: Vec<_> =
                line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect();
            cells.try_into().expect("four cells")
        })
        .collect()
}

#[test]
fn every_name_there_has_one_here_that_compiles_or_a_reason() {
    let names = names();
    let mut used = BTreeSet::new();
    for row in &rows() {
        assert!(row.iter().all(|cell| !cell.is_empty()), "an empty cell: {row:?}");
        let [there, _, here, _] = row;
        if let Some(reason) = here.strip_prefix('—') {
            assert!(reason.len() > 20, "{there}: a dash needs a reason");
            continue;
        }
        for name in here.split(", ").map(|name| name.trim_matches('`')) {
            assert!(names.contains(name), "{name}, for {there}, is not among the names that compile");
            used.insert(name.to_owned());
        }
    }
    let unused: Vec<_> = names.iter().filter(|name| !used.contains(**name)).collect();
    assert!(unused.is_empty(), "compiled, and in no row: {unused:?}");
    assert!(rows().len() > 80);
}

/// The names that the documentation shows, taken from its samples.
const DOCUMENTED_GO: &str = "Client New IsTimeout IsConflict WaitOptions MandateCommandParams AgentUpdateParams \
    MandateStatusCompleted MandateCreateParams EventStreamOptions ApprovalApproveParams Approval SpendAuthority Money \
    Metadata MandateStatusFailed MandateStatusExpired MandateStatusChangedData MandateStatusCanceled Mandate Authority \
    ApprovalStatusPending ApprovalRejectParams SuccessCriterion EventTypeCapabilityExecutionFailed \
    CapabilityStatusActive CapabilityLimit CapabilityExecutionModeAvailable CapabilityExecutionEventData \
    ApprovalAuthority AgentCreateParams AgentCapabilityConfigMap Agent WithIdempotencyKey WebhookEndpointCreateParams \
    VerifyWebhook NullableTimestamp MandateStatusWaitingExternal MandateStatusNeedsApproval \
    MandateAmendmentCreateParams ListParams EventTypeMandateStatusChanged EventTypeMandateApprovalRequested \
    EventTypeCapabilityExecutionCompleted EventType DefineCapabilityOptions DefineCapability CapabilityRiskFinancial \
    CapabilityEffectIrreversible ApprovalStatus ApprovalListParams ApprovalEventData AgentStatusDisabled \
    AgentStatusActive AgentCapabilityReadinessReady Wait WaitForApproval Amend Pause Resume Cancel Get ID Facts \
    Evidence Issues Stream Events IsKnown Webhooks.Endpoints.Create Webhooks.Endpoints.RotateSecret Agents.Create \
    Agents.Get Agents.List Agents.Update Mandates.Create Approvals.List Approvals.Get Approvals.Approve \
    Approvals.Reject Risk Effect Execute PreviousStatus DurationMs Question Consequence Arguments ExpiresAt Capabilities.List Capabilities.Register";

const DOCUMENTED_TYPESCRIPT: &str = "Shadway ShadwayTimeoutError ShadwayConflictError WebhookVerificationError \
    isKnownEvent defineCapability agents.create agents.get agents.list agents.update mandates.create approvals.list \
    approvals.get approvals.approve approvals.reject capabilities.list capabilities.register \
    webhooks.endpoints.create webhooks.endpoints.rotateSecret webhooks.verify work.wait work.waitForApproval \
    work.amend work.pause work.resume work.cancel work.get work.id work.facts.list work.evidence.list \
    work.issues.list handle.events.stream handle.events.list idempotencyKey lastEventId signal timeout limit \
    waitingOn authorityVersion sourceClass capabilityStatus execute";

#[test]
fn every_documented_name_is_in_the_table() {
    let words = |text: &str| -> BTreeSet<String> {
        let cells = text.split('`').skip(1).step_by(2);
        let names = cells.flat_map(|cell| {
            let whole = cell.trim_start_matches("new ").split('(').next().unwrap_or_default().to_owned();
            let last = cell.rsplit('.').next().unwrap_or_default().to_owned();
            [whole, last, cell.to_owned()]
        });
        names.collect()
    };
    let rows = rows();
    for (column, documented) in [(0, DOCUMENTED_TYPESCRIPT), (1, DOCUMENTED_GO)] {
        let there: BTreeSet<String> = rows.iter().flat_map(|row| words(&row[column])).collect();
        let missing: Vec<_> = documented.split_whitespace().filter(|name| !there.contains(*name)).collect();
        assert!(missing.is_empty(), "in no row of column {column}: {missing:?}");
    }
}
