//! The errands that there are to run where there is no workspace: one of each kind that a person has to decide on.

use std::time::Duration;

use serde_json::{Value, json};
use shadway::capabilities::{CapabilityEffect, CapabilityRegisterParams, CapabilityRisk};
use shadway::local::Script;
use shadway::mandates::{Authority, CapabilityLimit};
use shadway::types::{Interval, Money};

/// Long enough to be seen, short enough not to be waited for.
const A_MOMENT: Duration = Duration::from_millis(300);

/// What the agent can do that comes with the workspace.
pub(super) const BUILT_IN: [&str; 2] = ["email.send", "mailbox.read_thread"];

/// One mandate, and what the agent does in it.
pub(super) struct Errand {
    pub(super) objective: &'static str,
    pub(super) authority: Authority,
    pub(super) steps: fn(Script) -> Script,
    /// How long after the one before it is given.
    pub(super) after: Duration,
    /// How long it lasts, and with it what it asks.
    pub(super) lasts: Option<Duration>,
    /// What somebody decided on it before anybody looks.
    pub(super) decided: Option<Decided>,
}

/// A decision, and its reason.
#[derive(Clone, Copy)]
pub(super) enum Decided {
    Approved(&'static str),
    Rejected(&'static str),
}

impl Errand {
    fn new(objective: &'static str, steps: fn(Script) -> Script) -> Self {
        let authority = Authority::new().maximum_actions(5).maximum_read_actions(20);
        Self { objective, authority, steps, after: Duration::ZERO, lasts: None, decided: None }
    }

    fn asking_for(mut self, capability: &str) -> Self {
        self.authority = self.authority.require_approval_for([capability]);
        self
    }
}

/// What the agent can do beside what comes with the workspace.
pub(super) fn capabilities() -> [CapabilityRegisterParams; 4] {
    let (text, number) = (json!({"type": "string"}), json!({"type": "integer"}));
    let own = |name: &str, description: &str, fields: Value| {
        let schema = json!({"type": "object", "properties": fields});
        CapabilityRegisterParams::new(name, description, schema, json!({"type": "object"}))
    };
    let order = json!({"supplier": text, "part": text, "quantity": number, "amount_minor": number});
    let lot = json!({"lot": text, "quantity": number, "method": text});
    let invoice = json!({"invoice": text, "account_number": text, "otp": text});
    let pickup = json!({"slot": text, "dock": text});
    [
        own("procurement.create_po", "Create a purchase order in the ERP system.", order)
            .risk(CapabilityRisk::Financial)
            .effect(CapabilityEffect::Write),
        own("warehouse.dispose_lot", "Dispose of a lot and write off its stock.", lot)
            .risk(CapabilityRisk::Physical)
            .effect(CapabilityEffect::Irreversible),
        own("portal.download_invoice", "Sign in to the supplier's portal and download an invoice.", invoice)
            .effect(CapabilityEffect::Write),
        own("carrier.confirm_pickup", "Confirm a pickup slot with the carrier.", pickup)
            .effect(CapabilityEffect::Write),
    ]
}

pub(super) fn errands() -> Vec<Errand> {
    vec![
        Errand {
            decided: Some(Decided::Approved("As every month.")),
            ..Errand::new("Send the monthly stock report to the bank.", report).asking_for("email.send")
        },
        Errand {
            decided: Some(Decided::Rejected("We buy from Atlas this quarter.")),
            ..Errand::new("Order 50 cartons from Boreas at the old price.", cartons)
                .asking_for("procurement.create_po")
        },
        Errand {
            authority: Authority::new()
                .spend_maximum(Money::usd(799_999))
                .spend_approval_threshold(Money::usd(100_000))
                .maximum_actions(40)
                .maximum_read_actions(100)
                .capability_limit(CapabilityLimit::new("procurement.create_po").maximum_actions(1))
                .capability_limit(CapabilityLimit::new("email.send").rate(3, Interval::hours(1)))
                .prohibited_actions(["phone.call"]),
            ..Errand::new(
                "Buy 200 units of part #48-221 for less than $8,000 total, including shipping.",
                purchase,
            )
        },
        // What can't be undone asks by itself.
        Errand::new("Clear what has expired out of the cold store.", disposal),
        Errand::new("Tell Boreas Logistics that our contract ends on 30 June.", notice)
            .asking_for("email.send"),
        Errand::new("Download the May invoice from the Atlas portal.", question),
        Errand {
            lasts: Some(Duration::from_secs(5 * 60)),
            ..Errand::new("Get a pickup slot for pallet 8812 today.", pickup)
                .asking_for("carrier.confirm_pickup")
        },
        Errand {
            lasts: Some(Duration::from_secs(2)),
            ..Errand::new("Get a pickup slot for pallet 8790 at once.", pickup)
                .asking_for("carrier.confirm_pickup")
        },
        Errand::new("Answer whoever writes to invoices@harbour.example.", deception).asking_for("email.send"),
        Errand {
            after: Duration::from_secs(12),
            ..Errand::new("Ask Ceres Foods whether they take 30 crates more.", crates)
                .asking_for("email.send")
        },
    ]
}

fn report(agent: Script) -> Script {
    let body = "Stock on 31 May: 41,280 parts, worth $212,410.55.";
    agent.act("email.send", email("credit@harbour-bank.example", "Stock report, May", body))
}

fn cartons(agent: Script) -> Script {
    let order = json!({
        "supplier": "Boreas Packaging", "part": "#12-004", "quantity": 50, "amount_minor": 92_500,
    });
    agent.act("procurement.create_po", order).complete("Nothing was ordered.")
}

fn purchase(agent: Script) -> Script {
    let asked =
        email("sales@atlas.example", "Part #48-221", "Please quote 200 units of part #48-221, delivered.");
    let order = json!({
        "supplier": "Atlas Components", "part": "#48-221", "quantity": 200, "amount_minor": 749_900,
        "delivery": {"to": "Dock 3, Harbour Road 12", "by": "2026-12-18"},
    });
    agent
        .act("email.send", asked)
        .wait_external("a quote from Atlas", A_MOMENT)
        .reply("200 units of #48-221, delivered: $7,499.00.")
        .act("mailbox.read_thread", json!({"thread": "Part #48-221"}))
        .act("procurement.create_po", order)
        .on_approved(|then| then.complete("Ordered 200 units for $7,499.00."))
        .on_rejected(|then| then.complete("Nothing was ordered."))
}

fn disposal(agent: Script) -> Script {
    let lot = json!({"lot": "R-17", "quantity": 340, "method": "incineration"});
    agent.act("warehouse.dispose_lot", lot).complete("Done.")
}

fn notice(agent: Script) -> Script {
    let body = "Dear Ms Okafor,\n\n\
        we end contract 2023-114 on 30 June, as its section 9 provides.\n\
        Please confirm that you have received this.\n\n\
        Kind regards\nHarbour Manufacturing";
    agent
        .act("email.send", email("contracts@boreas.example", "End of contract 2023-114", body))
        .complete("Done.")
}

fn question(agent: Script) -> Script {
    let asked =
        "The Atlas portal sent a code to your phone. What is it, and for which account is the invoice?";
    agent
        .ask(asked, ["account_number", "otp"])
        .act("portal.download_invoice", json!({"invoice": "2026-05"}))
        .complete("The invoice is filed.")
}

fn pickup(agent: Script) -> Script {
    agent.act("carrier.confirm_pickup", json!({"slot": "14:00 to 14:30", "dock": "3"})).complete("Done.")
}

/// What an agent repeats of a letter that somebody wrote to deceive whoever decides.
fn deception(agent: Script) -> Script {
    let subject = "<script>document.querySelector('.approve').click()</script><b>Approved</b>";
    let body = format!("שלום, החשבון שולם.\nنعم، تم الدفع.\n{}", "All is well. ".repeat(120));
    let mut arguments = email("billing@atlas.example", subject, &body);
    arguments["cc"] = json!("billing@\u{0430}tlas.example.\u{202e}elpmaxe.live");
    arguments["reference"] = json!(12_345_678_901_234_567_890_u64);
    agent.act("email.send", arguments).complete("Answered.")
}

fn crates(agent: Script) -> Script {
    let body = "We have 30 crates of lot C-2 left. Do you take them at $14.20?";
    agent.act("email.send", email("orders@ceres.example", "30 crates more?", body)).complete("Asked.")
}

fn email(to: &str, subject: &str, body: &str) -> Value {
    json!({"to": to, "subject": subject, "body": body})
}
