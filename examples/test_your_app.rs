//! A guide: how an app that uses this crate is tested, without a key, a network or a wait.
//!
//!     cargo test --example test_your_app     its tests
//!     cargo run --example test_your_app      the app itself, once
//!
//! The app buys parts. It hands the work to an agent under a spending limit, puts each order before a person, and says
//! what came of it. Its tests run it against a local server: once as it should go, once with a network that loses an
//! answer, and once with nobody at the desk.

use std::process::ExitCode;

use shadway::agents::AgentCreateParams;
use shadway::approvals::{Approval, ApprovalApproveParams, ApprovalListParams, ApprovalStatus};
use shadway::mandates::{Authority, MandateCreateParams, MandateStatus};
use shadway::types::Money;
use shadway::{Client, Result};

use support::{Failure, Setup, say};

#[path = "support/mod.rs"]
mod support;

/// What became of a purchase.
#[derive(Debug, PartialEq)]
enum Purchase {
    Done(String),
    /// Nobody decided in time: the mandate is paused, and can be resumed.
    Undecided,
    NotDone(String),
}

/// The app: buys what is asked for, and lets `decide` say whether an order may go out.
async fn buy(
    client: &Client,
    model: &str,
    objective: &str,
    decide: impl Fn(&Approval) -> bool,
) -> Result<Purchase> {
    let agent = client
        .agents()
        .create(AgentCreateParams::new("Buyer", model).capabilities(["email.send", "email.get_delivery"]))
        .await?;
    let authority = Authority::new().spend_maximum(Money::usd(799_999)).require_approval_for(["email.send"]);
    let params = MandateCreateParams::new(&agent.id, objective).authority(authority);
    let mandate = client.mandates().create(params).await?;

    let work = client.mandate(&mandate.id);
    let mut updates = work.wait().updates();
    while let Some(now) = updates.try_next().await? {
        match now.status {
            MandateStatus::NeedsApproval => {
                // What is asked now, if it is still asked.
                let pending = ApprovalListParams::new().mandate(work.id()).status([ApprovalStatus::Pending]);
                for approval in client.approvals().list(pending).await?.data {
                    if decide(&approval) {
                        client.approvals().approve(&approval.id, ApprovalApproveParams::new()).await?;
                    }
                }
            }
            MandateStatus::Paused => return Ok(Purchase::Undecided),
            MandateStatus::Completed => return Ok(Purchase::Done(now.current_state.summary)),
            status if status.is_terminal() => return Ok(Purchase::NotDone(now.current_state.summary)),
            _ => {}
        }
    }
    Ok(Purchase::NotDone("the work ended without a word".to_owned()))
}

#[tokio::main]
async fn main() -> ExitCode {
    support::exit(run().await)
}

async fn run() -> Result<ExitCode, Failure> {
    let setup = Setup::from_env().await?;
    let objective = "Email sales@atlas.example and order 200 units of part #48-221.";
    let bought = buy(&setup.client, &setup.model, objective, |_| true).await?;
    say(format!("{bought:?}"));
    setup.close().await;
    Ok(if matches!(bought, Purchase::Done(_)) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[cfg(test)]
mod tests {
    use http::Method;
    use serde_json::json;
    use shadway::local::{Fault, LocalServer, Script, hours};

    use super::*;

    /// What the agent does in these tests: a week of work, which takes milliseconds.
    fn order() -> Script {
        Script::when(|mandate| mandate.objective.contains("#48-221"))
            .act(
                "email.send",
                json!({"to": "sales@atlas.example", "subject": "200 units", "body": "Please."}),
            )
            .wait_external("a confirmation from Atlas", hours(20))
            .reply("Confirmed: 200 units for $7,499.00.")
            .wait(hours(5 * 24))
            .complete("Ordered 200 units for $7,499.00.")
    }

    #[tokio::test]
    async fn what_a_person_approves_is_ordered() -> Result<()> {
        let server = LocalServer::start().await?;
        server.script(order());
        let asked = std::sync::Mutex::new(Vec::new());
        let (client, began) = (server.client()?, server.now());

        let bought = buy(&client, "any/model", "Order part #48-221.", |approval| {
            asked.lock().unwrap().push(approval.action.capability.clone());
            true
        });
        assert_eq!(bought.await?, Purchase::Done("Ordered 200 units for $7,499.00.".to_owned()));
        assert_eq!(*asked.lock().unwrap(), ["email.send"]);
        assert!(server.now().duration_since(began).as_hours() > 5 * 24);
        Ok(())
    }

    #[tokio::test]
    async fn an_answer_that_gets_lost_orders_nothing_twice() -> Result<()> {
        let server = LocalServer::start().await?;
        server.script(order());
        // The mandate is created, the connection breaks before the answer, twice.
        server.fault(Fault::drop_answer().on(Method::POST, "/v1/mandates").times(2));

        buy(&server.client()?, "any/model", "Order part #48-221.", |_| true).await?;
        let requests = server.requests();
        assert_eq!(requests.iter().filter(|request| request.route == "/v1/mandates").count(), 3);
        assert_eq!(server.mandates().len(), 1);
        Ok(())
    }

    #[tokio::test]
    async fn what_nobody_decides_on_is_not_ordered() -> Result<()> {
        let server = LocalServer::start().await?;
        // Time does not pass the end of an approval by itself, unless the script says that nobody answers.
        server.script(order().nobody_answers());

        let bought = buy(&server.client()?, "any/model", "Order part #48-221.", |_| false).await?;
        assert_eq!(bought, Purchase::Undecided);
        assert!(server.approvals().pending().is_empty());
        Ok(())
    }
}
