//! A purchase from the first request to the delivery: the agent does the work, your application sets the limits,
//! presents the approval and reads the result.
//!
//!     cargo run --example agent_lifecycle
//!
//! `DELIVERY_DEADLINE` is a future RFC 3339 timestamp; a week ahead if it is not set.

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

use jiff::Timestamp;
use shadway::Client;
use shadway::agents::{Agent, AgentCapabilityConfig, AgentCreateParams, AgentStatus, AgentUpdateParams};
use shadway::approvals::Approval;
use shadway::mandates::{
    Authority, CapabilityLimit, Mandate, MandateCreateParams, MandateStatus, SuccessCriterion,
};
use shadway::types::ListParams;
use shadway::types::{AgentId, ApprovalId, MandateId, Money};

use support::{Failure, Setup, say};

#[path = "support/purchasing.rs"]
pub(crate) mod purchasing;
#[path = "support/mod.rs"]
pub(crate) mod support;

#[tokio::main]
async fn main() -> ExitCode {
    support::exit(run().await)
}

async fn run() -> Result<ExitCode, Failure> {
    let deadline = deadline()?;
    let setup = Setup::from_env().await?;
    let client = &setup.client;
    purchasing::connect(&setup).await?;

    let agent = create_agent(client, &setup.model).await?;
    check_agent(client, &agent.id).await?;
    let mandate = start_mandate(client, &agent.id, deadline).await?;
    // Monitoring runs beside the approval, in a worker of its own.
    let monitoring = tokio::spawn({
        let (client, id) = (client.clone(), mandate.id.clone());
        async move { monitor(&client, &id).await }
    });
    if let Some(approval) = request_approval(client, &mandate.id).await? {
        decide_approval(client, &approval.id, &mandate.id, Decision::Approve, "Within the budget.").await?;
    }
    let done = inspect_result(client, &mandate.id).await?;
    let events = monitoring.await.map_err(|_| Failure::configuration("the monitor stopped"))??;
    say(format!("{events} events were seen on the way."));

    // Another one, which an operator holds up, a person turns down, and the operator ends.
    let second = start_mandate(client, &agent.id, deadline).await?;
    control_work(client, &second.id, Command::Pause).await?;
    control_work(client, &second.id, Command::Resume).await?;
    if let Some(approval) = request_approval(client, &second.id).await? {
        decide_approval(client, &approval.id, &second.id, Decision::Reject, "One order is enough.").await?;
    }
    control_work(client, &second.id, Command::Cancel).await?;
    inspect_result(client, &second.id).await?;

    manage_agent(client, &agent.id).await?;
    update(client, &agent.id).await?;
    configure(client, &agent.id).await?;
    set_agent_status(client, &agent.id, AgentStatus::Disabled).await?;
    setup.close().await;
    Ok(if done.status == MandateStatus::Completed { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[expect(clippy::disallowed_methods, reason = "a deadline is a date")]
fn deadline() -> Result<Timestamp, Failure> {
    let refuse = || Failure::configuration("DELIVERY_DEADLINE has to be a future RFC 3339 timestamp");
    let now = Timestamp::try_from(SystemTime::now()).map_err(|_| refuse())?;
    let deadline = match support::variable("DELIVERY_DEADLINE") {
        Some(text) => text.parse().map_err(|_| refuse())?,
        None => now + Duration::from_secs(7 * 24 * 60 * 60),
    };
    if deadline > now { Ok(deadline) } else { Err(refuse()) }
}

/// 1. The agent is reusable: save its id.
pub(crate) async fn create_agent(client: &Client, model: &str) -> shadway::Result<Agent> {
    let agent = client
        .agents()
        .create(
            AgentCreateParams::new("Operations", model)
                .instructions(
                    "Compare supplier prices and delivery dates.\n\
                     Ask for written confirmation of agreed terms.\n\
                     Follow up when a supplier misses a promised response.\n\
                     Report missing information instead of guessing.",
                )
                .capabilities(purchasing::CAPABILITIES)
                .metadata("team", "procurement"),
        )
        .await?;
    say(&agent.id);
    Ok(agent)
}

/// 2. Reads the configuration, and checks that everything it needs can run.
pub(crate) async fn check_agent(client: &Client, agent: &AgentId) -> Result<(), Failure> {
    let saved = client.agents().get(agent).await?;
    say(format!("{} {} {}", saved.name, saved.model, saved.status));
    if let Some((name, readiness)) = saved.not_ready().next() {
        let detail = readiness.detail.as_deref().unwrap_or_default();
        return Err(Failure::configuration(format!("{name}: {}: {detail}", readiness.status)));
    }
    let mut required = BTreeSet::from(["procurement.create_po", "shipping.get_status"]);
    let mut capabilities = client.capabilities().list(ListParams::new()).items();
    while let Some(capability) = capabilities.try_next().await? {
        if capability.is_runnable() {
            required.remove(capability.name.as_str());
        }
    }
    if required.is_empty() {
        return Ok(());
    }
    let names = required.into_iter().collect::<Vec<_>>().join(", ");
    Err(Failure::configuration(format!("connect executors for: {names}")))
}

/// 3. Delegates the purchase. Replace the suppliers' addresses with real contacts before you run it with a key.
pub(crate) async fn start_mandate(
    client: &Client,
    agent: &AgentId,
    deadline: Timestamp,
) -> shadway::Result<Mandate> {
    let mandate = client
        .mandates()
        .create(
            MandateCreateParams::new(
                agent,
                format!(
                    "Buy 200 units of part #48-221 for less than $8,000 total, including shipping. \
                     Confirm delivery by {deadline}."
                ),
            )
            .guidance([
                "Request quotes from sales@atlas.example, sales@beacon.example, and sales@cedar.example.",
                "Include quantity, shipping cost, and delivery date in each request.",
                "Wait up to 24 hours for replies, then follow up with missing suppliers.",
                "Compare the quotes and negotiate before requesting purchase approval.",
                "After ordering, check shipment status and contact the supplier if delayed.",
            ])
            .deadline(deadline)
            .authority(
                Authority::new()
                    .capabilities(purchasing::CAPABILITIES)
                    .spend_maximum(Money::usd(799_999))
                    .maximum_actions(40)
                    .maximum_read_actions(100)
                    .capability_limit(CapabilityLimit::new("procurement.create_po").maximum_actions(1))
                    .require_approval_for(["procurement.create_po"])
                    .success_criteria([
                        SuccessCriterion::new("amount_minor").max(799_999),
                        SuccessCriterion::new("delivered").equals(true),
                    ]),
            )
            .metadata("purchaseRequest", "PR-1042"),
        )
        .await?;
    say(client.mandate(&mandate.id).id()); // Save this id to reconnect later.
    Ok(mandate)
}

/// 4. Follows the mandate's events to its end, and gives how many there were. Ending it ends nothing else.
pub(crate) async fn monitor(client: &Client, mandate: &MandateId) -> shadway::Result<usize> {
    let handle = client.mandate(mandate);
    let current = handle.get().await?;
    say(format!("{} {}", current.status, current.current_state.summary));
    if current.status.is_terminal() {
        return Ok(0);
    }
    let mut seen = 0;
    let mut events = handle.events().stream();
    while let Some(event) = events.try_next().await? {
        if !event.is_known() {
            continue;
        }
        seen += 1;
        say(format!("{} {}", event.id, event.event_type));
        if event.mandate_status().is_some_and(MandateStatus::is_terminal) {
            break;
        }
    }
    Ok(seen)
}

/// 5. Waits until the mandate asks for an approval.
pub(crate) async fn request_approval(
    client: &Client,
    mandate: &MandateId,
) -> shadway::Result<Option<Approval>> {
    match client.mandate(mandate).wait_for_approval().timeout(Duration::from_secs(30 * 60)).await {
        Ok(Some(approval)) => {
            // Present these fields in your application's approval screen.
            say(format!("{} {}", approval.id, approval.question));
            say(format!("{} {}", approval.action.capability, approval.action.consequence));
            Ok(Some(approval))
        }
        Ok(None) => {
            say("The mandate ended without a pending approval.");
            Ok(None)
        }
        Err(error) if error.is_timeout() => {
            say("No approval yet. The mandate continues on the server.");
            Ok(None)
        }
        Err(error) => Err(error),
    }
}

/// What a person decided.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Decision {
    Approve,
    Reject,
}

/// Call it only after a person whose access to this mandate you have checked has decided.
pub(crate) async fn decide_approval(
    client: &Client,
    approval: &ApprovalId,
    mandate: &MandateId,
    decision: Decision,
    reason: &str,
) -> Result<Approval, Failure> {
    let approval = client.approvals().get(approval).await?;
    if approval.mandate != *mandate || !approval.is_pending() {
        return Err(Failure::configuration("this approval is not pending for this mandate"));
    }
    Ok(match decision {
        Decision::Approve => client.approvals().approve(&approval.id, reason).await?,
        Decision::Reject => client.approvals().reject(&approval.id, reason).await?,
    })
}

/// 6. Waits for the end, and reads the proof of it, or what was left open.
pub(crate) async fn inspect_result(client: &Client, mandate: &MandateId) -> shadway::Result<Mandate> {
    let work = client.mandate(mandate);
    let result = match work.wait().timeout(Duration::from_secs(30 * 60)).await {
        Ok(result) => result,
        Err(error) => {
            if error.is_timeout() {
                say(format!("Still waiting. Reconnect later with mandate id: {}", work.id()));
            }
            return Err(error);
        }
    };
    say(format!("{} {}", result.status, result.current_state.summary));
    if result.status == MandateStatus::Completed {
        let mut facts = work.facts().list().items();
        while let Some(fact) = facts.try_next().await? {
            say(format!("Fact {} = {} ({})", fact.key, fact.value, fact.status));
        }
        let mut evidence = work.evidence().list().items();
        while let Some(piece) = evidence.try_next().await? {
            say(format!("Evidence {}: {}", piece.title, piece.excerpt));
        }
    } else {
        say("The task ended without completing the objective.");
        let mut issues = work.issues().list().items();
        while let Some(issue) = issues.try_next().await? {
            say(format!("Issue {} ({})", issue.question, issue.state));
        }
    }
    Ok(result)
}

/// One of the commands an operator has.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Command {
    Pause,
    Resume,
    Cancel,
}

/// 7. Sends a command, in response to a decision in your application. Canceling undoes nothing.
pub(crate) async fn control_work(
    client: &Client,
    mandate: &MandateId,
    command: Command,
) -> shadway::Result<Mandate> {
    let work = client.mandate(mandate);
    match command {
        Command::Pause => work.pause("Procurement is reviewing the specification.").await,
        Command::Resume => work.resume("The specification is confirmed.").await,
        Command::Cancel => work.cancel("The part is no longer needed.").await,
    }
}

/// 8. New mandates use the new instructions; those that run keep the ones they began with.
pub(crate) async fn manage_agent(client: &Client, agent: &AgentId) -> shadway::Result<Agent> {
    let revised = AgentUpdateParams::new().instructions(
        "Compare supplier prices and delivery dates.\n\
         Request a backup delivery option for urgent orders.\n\
         Ask for written confirmation of agreed terms.\n\
         Report missing information instead of guessing.",
    );
    let revised = client.agents().update(agent, revised).await?;
    let mut agents = client.agents().list(ListParams::new().limit(20)).items();
    while let Some(item) = agents.try_next().await? {
        say(format!("{} {} {}", item.id, item.name, item.status));
    }
    say(&revised.id); // The same agent, an updated configuration.
    Ok(revised)
}

/// A disabled agent takes no new mandates. There is no delete, and work that runs goes on.
pub(crate) async fn set_agent_status(
    client: &Client,
    agent: &AgentId,
    status: AgentStatus,
) -> shadway::Result<Agent> {
    client.agents().update(agent, AgentUpdateParams::new().status(status)).await
}

/// A phone number with an area code of your choice. The family name `phone` makes Shadway get one.
pub(crate) async fn configure(client: &Client, agent: &AgentId) -> shadway::Result<Agent> {
    let updated = AgentUpdateParams::new()
        .capabilities([
            "email.send",
            "email.get_delivery",
            "mailbox.read_thread",
            "mailbox.reply",
            "phone.call",
            "phone.get_call",
            "phone",
        ])
        .capability_config([("phone", AgentCapabilityConfig::new().country("US").area_code("302"))]);
    let updated = client.agents().update(agent, updated).await?;
    say(&updated.id);
    Ok(updated)
}

/// An update is partial: what it doesn't name stays.
pub(crate) async fn update(client: &Client, agent: &AgentId) -> shadway::Result<Agent> {
    let concise = AgentUpdateParams::new().instructions(
        "Be concise with suppliers. Record every concession. Require written confirmation of agreed terms.",
    );
    client.agents().update(agent, concise).await
}
