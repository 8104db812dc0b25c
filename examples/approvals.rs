//! The other side of a mandate's wait for a person: find pending approvals, show what would run, record the
//! decision.
//!
//!     cargo run --example approvals

use std::process::ExitCode;
use std::time::Duration;

use shadway::Client;
use shadway::agents::AgentCreateParams;
use shadway::approvals::{
    Approval, ApprovalApproveParams, ApprovalListParams, ApprovalRejectParams, ApprovalStatus,
};
use shadway::mandates::{Authority, Mandate, MandateCreateParams, MandateStatus, SuccessCriterion};
use shadway::types::{AgentId, ApprovalId, MandateId, Money};

use support::{Failure, Setup, say};

#[path = "support/purchasing.rs"]
mod purchasing;
#[path = "support/mod.rs"]
mod support;

#[tokio::main]
async fn main() -> ExitCode {
    support::exit(run().await)
}

async fn run() -> Result<ExitCode, Failure> {
    let setup = Setup::from_env().await?;
    let client = &setup.client;
    purchasing::connect(&setup).await?;
    let agent = AgentCreateParams::new("Operations", &setup.model).capabilities(purchasing::CAPABILITIES);
    let agent = client.agents().create(agent).await?;
    let mandate = purchase(client, &agent.id).await?;
    let Some(approval) = present_approval(client, &mandate.id).await? else {
        return Ok(ExitCode::FAILURE);
    };
    pending(client).await?;
    present(client, &approval.id).await?;
    let decided = decide(client, &approval.id, Decision::Approve, "The price is right.").await?;
    say(format!("{} is {}", decided.id, decided.status));
    // The first decision wins: the opposite one gives what stands.
    let decided = decide(client, &approval.id, Decision::Reject, "Changed my mind.").await?;
    say(format!("{} is {}", decided.id, decided.status));
    // Without an inbox, and turned down.
    let second = purchase(client, &agent.id).await?;
    if let Some(approval) = wait_inline(client, &second.id).await? {
        let decided = decide_approval(client, &approval.id, &second.id, Decision::Reject, "Too late.").await;
        say(decided.map_or_else(|error| error.to_string(), |decided| decided.status.to_string()));
    }
    // With a value that only a person has.
    let third = purchase(client, &agent.id).await?;
    if let Some(approval) = wait_inline(client, &third.id).await? {
        approve_with_inputs(client, &approval.id).await?;
    }
    let done = client.mandate(&mandate.id).wait().await?;
    say(format!("{}: {}", done.status, done.current_state.summary));
    setup.close().await;
    Ok(if done.status == MandateStatus::Completed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A purchase that needs a person's approval.
async fn purchase(client: &Client, agent: &AgentId) -> shadway::Result<Mandate> {
    let authority = Authority::new()
        .capabilities(["email.send", "procurement.create_po"])
        .spend_maximum(Money::usd(799_999))
        .require_approval_for(["procurement.create_po"])
        .success_criteria([SuccessCriterion::new("amount_minor").max(799_999)]);
    let objective = "Buy 200 units of part #48-221 for less than $8,000 total, including shipping.";
    client.mandates().create(MandateCreateParams::new(agent, objective).authority(authority)).await
}

/// What a person decided.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Decision {
    Approve,
    Reject,
}

/// Waits for the mandate to ask, and shows what it asks.
pub(crate) async fn present_approval(
    client: &Client,
    mandate: &MandateId,
) -> shadway::Result<Option<Approval>> {
    let work = client.mandate(mandate);
    match work.wait_for_approval().timeout(Duration::from_secs(30 * 60)).await {
        Ok(Some(approval)) => {
            // Render these fields in your application's approval screen.
            say(format!("{} {}", approval.id, approval.question));
            say(format!("{} {}", approval.action.capability, approval.action.consequence));
            Ok(Some(approval))
        }
        Ok(None) => {
            say("The mandate ended without asking for an approval.");
            Ok(None)
        }
        Err(error) if error.is_timeout() => {
            say("No approval yet. The mandate continues on the server.");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// Only call this after a person whose access you have checked has reviewed the action and decided.
pub(crate) async fn decide_approval(
    client: &Client,
    approval: &ApprovalId,
    mandate: &MandateId,
    decision: Decision,
    reason: &str,
) -> Result<Approval, Box<dyn std::error::Error + Send + Sync>> {
    let approval = client.approvals().get(approval).await?;
    if approval.mandate != *mandate || !approval.is_pending() {
        return Err("this approval is not pending for this mandate".into());
    }
    Ok(match decision {
        Decision::Approve => {
            client.approvals().approve(&approval.id, ApprovalApproveParams::new().reason(reason)).await?
        }
        Decision::Reject => {
            client.approvals().reject(&approval.id, ApprovalRejectParams::new().reason(reason)).await?
        }
    })
}

/// A value that only a person has goes along with the approval, for this one action.
pub(crate) async fn approve_with_inputs(client: &Client, approval: &ApprovalId) -> shadway::Result<Approval> {
    client
        .approvals()
        .approve(
            approval,
            ApprovalApproveParams::new().reason("Verified with the account holder.").input("otp", "483921"),
        )
        .await
}

/// All that waits for a decision, for an inbox.
pub(crate) async fn pending(client: &Client) -> shadway::Result<Vec<Approval>> {
    let mut pending = Vec::new();
    let params = ApprovalListParams::new().status([ApprovalStatus::Pending]);
    let mut approvals = client.approvals().list(params).items();
    while let Some(approval) = approvals.try_next().await? {
        say(format!("{} {} {}", approval.id, approval.mandate, approval.question));
        pending.push(approval);
    }
    Ok(pending)
}

/// What a screen shows of an approval: exactly what would run, never paraphrased.
pub(crate) struct View {
    pub(crate) question: String,
    pub(crate) capability: String,
    pub(crate) consequence: String,
    /// Secrets are hidden already; safe to show.
    pub(crate) arguments: String,
    pub(crate) expires_at: String,
}

/// Reads what a screen has to show.
pub(crate) async fn present(client: &Client, approval: &ApprovalId) -> shadway::Result<View> {
    let approval = client.approvals().get(approval).await?;
    let view = View {
        question: approval.question,
        capability: approval.action.capability,
        consequence: approval.action.consequence,
        arguments: approval.action.arguments.to_string(),
        expires_at: approval.expires_at.map(|at| at.to_string()).unwrap_or_default(),
    };
    say(format!("{} (until {})", view.question, view.expires_at));
    say(format!("{} {}: {}", view.capability, view.arguments, view.consequence));
    Ok(view)
}

/// Records a decision once. A conflict means that something else stands; it is read and shown.
pub(crate) async fn decide(
    client: &Client,
    approval: &ApprovalId,
    decision: Decision,
    reason: &str,
) -> shadway::Result<Approval> {
    let decided = match decision {
        Decision::Approve => client.approvals().approve(approval, reason).await,
        Decision::Reject => client.approvals().reject(approval, reason).await,
    };
    match decided {
        // Already decided the other way, expired, or otherwise not pending.
        Err(error) if error.is_conflict() => client.approvals().get(approval).await,
        decided => decided,
    }
}

/// Without an inbox: the approval, or nothing if the mandate ended without asking.
pub(crate) async fn wait_inline(client: &Client, mandate: &MandateId) -> shadway::Result<Option<Approval>> {
    let approval = client.mandate(mandate).wait_for_approval().timeout(Duration::from_secs(10 * 60)).await?;
    match &approval {
        Some(approval) => say(&approval.question), // Present it, collect the decision, submit as above.
        None => say("The mandate reached its end without asking."),
    }
    Ok(approval)
}
