use std::time::Duration;

use serde_json::json;

use super::*;
use crate::local::capabilities::built_in;
use crate::model::authority::QuietHours;
use crate::model::record::FactStatus;
use crate::model::types::Interval;

fn capability(name: &str) -> Capability {
    let mut all = built_in(jiff::Timestamp::UNIX_EPOCH, || "cap_1".to_owned());
    all.find(|capability| capability.name == name).unwrap()
}

fn order() -> Capability {
    let name = "procurement.create_po".to_owned();
    Capability { name, risk: CapabilityRisk::Financial, ..capability("email.send") }
}

struct Desk {
    used: Used,
    now: Moment,
}

impl Desk {
    fn new() -> Self {
        Self { used: Used::default(), now: Moment::default() }
    }

    /// Takes the action if it may, and says why if it may not.
    fn take(&mut self, capability: &Capability, arguments: &Value, authority: &Authority) -> Option<String> {
        self.spend(&Proposal { capability, arguments, spending: None }, authority)
    }

    fn spend(&mut self, proposal: &Proposal<'_>, authority: &Authority) -> Option<String> {
        let granted = ["email.send", "email.get_delivery", "procurement.create_po"].map(str::to_owned);
        let time = "2026-01-05T09:00:00Z".parse().unwrap();
        let limits = Limits { authority, granted: &granted, used: &self.used, now: self.now, time };
        let blocked = limits.forbid(proposal);
        if blocked.is_none() {
            self.used.count(proposal, self.now);
        }
        blocked.map(|blocked| blocked.why)
    }
}

#[test]
fn what_is_prohibited_or_not_granted_never_runs() {
    let mut desk = Desk::new();
    let authority = Authority::new().prohibited_actions(["email.send"]);
    assert!(desk.take(&capability("email.send"), &json!({}), &authority).unwrap().contains("prohibited"));
    assert!(desk.take(&capability("phone.call"), &json!({}), &authority).unwrap().contains("granted"));
}

#[test]
fn reads_have_a_budget_of_their_own() {
    let mut desk = Desk::new();
    let authority = Authority::new().maximum_actions(1).maximum_read_actions(2);
    let (send, look) = (capability("email.send"), capability("email.get_delivery"));
    assert_eq!(desk.take(&send, &json!({}), &authority), None);
    assert_eq!(desk.take(&send, &json!({}), &authority).unwrap(), "the limit of 1 actions is used up");
    assert_eq!(desk.take(&look, &json!({}), &authority), None);
    assert_eq!(desk.take(&look, &json!({}), &authority), None);
    assert!(desk.take(&look, &json!({}), &authority).unwrap().contains("reading"));
}

#[test]
fn a_capability_has_a_count_and_a_rate() {
    let send = capability("email.send");
    let limit = |limit| Authority::new().capability_limit(limit);
    let mut desk = Desk::new();
    let once = limit(CapabilityLimit::new("email.send").maximum_actions(1));
    assert_eq!(desk.take(&send, &json!({}), &once), None);
    assert_eq!(desk.take(&send, &json!({}), &once).unwrap(), "the limit of 1 for email.send is used up");

    let mut desk = Desk::new();
    let hourly = limit(CapabilityLimit::new("email.send").rate(2, Interval::hours(1)));
    assert_eq!(desk.take(&send, &json!({}), &hourly), None);
    desk.now = desk.now.after(Duration::from_secs(3_000));
    assert_eq!(desk.take(&send, &json!({}), &hourly), None);
    assert!(desk.take(&send, &json!({}), &hourly).unwrap().contains("2 times in 1h"));
    desk.now = desk.now.after(Duration::from_secs(601));
    assert_eq!(desk.take(&send, &json!({}), &hourly), None);
}

#[test]
fn spending_is_added_up_and_has_to_be_said() {
    let authority = Authority::new().spend_maximum(Money::usd(1_000));
    let mut desk = Desk::new();
    assert!(desk.take(&order(), &json!({"supplier": "Atlas"}), &authority).unwrap().contains("how much"));
    assert_eq!(desk.take(&order(), &json!({"amount_minor": 600}), &authority), None);
    let why = desk.take(&order(), &json!({"amount_minor": 401}), &authority).unwrap();
    assert_eq!(why, "it would spend $4.01, and $4.00 is left");
    assert_eq!(desk.take(&order(), &json!({"amount_minor": 400}), &authority), None);
    assert_eq!(desk.take(&capability("email.send"), &json!({}), &authority), None);
    assert_eq!(desk.take(&order(), &json!({}), &Authority::new()), None);
}

#[test]
fn an_amount_can_be_said_beside_the_arguments_and_has_to_be_one() {
    let authority = Authority::new().spend_maximum(Money::usd(1_000));
    let mut desk = Desk::new();
    let (capability, arguments) = (order(), json!({"supplier": "Atlas"}));
    let mut spend = |money: &Money| {
        let proposal = Proposal { capability: &capability, arguments: &arguments, spending: Some(money) };
        desk.spend(&proposal, &authority)
    };
    assert_eq!(spend(&Money::usd(600)), None);
    assert_eq!(spend(&Money::usd(401)).unwrap(), "it would spend $4.01, and $4.00 is left");
    let other = spend(&Money::new(100, "eur")).unwrap();
    assert_eq!(other, "it would spend €1.00, and the limit is in usd");
    assert!(spend(&Money::usd(-100)).unwrap().contains("how much"));
    for odd in [json!({"amount_minor": -100}), json!({"amount_minor": 0.5})] {
        assert!(desk.take(&order(), &odd, &authority).unwrap().contains("how much"), "{odd}");
    }
}

#[test]
fn quiet_hours_block_and_say_until_when() {
    let hours =
        |start: &str, end: &str| Authority::new().quiet_hours(QuietHours::new(start, end, "Europe/Paris"));
    // It is ten in Paris.
    let why = Desk::new().take(&capability("email.get_delivery"), &json!({}), &hours("09:30", "10:30"));
    assert_eq!(why.unwrap(), "these are quiet hours, until 10:30 in Europe/Paris");
    assert_eq!(Desk::new().take(&capability("email.send"), &json!({}), &hours("22:00", "10:00")), None);
}

#[test]
fn rules_hold_for_values_that_are_there() {
    let rule = || AuthorityRule::new("email.send", "quantity");
    let cases = [
        (rule().max(500), json!(500), true),
        (rule().max(500), json!(501), false),
        (rule().min(1), json!("many"), false),
        (rule().equals(3), json!(3.0), true),
        (rule().one_of(["a", "b"]), json!("c"), false),
        (rule().one_of(["a", "b"]), json!("b"), true),
        (rule(), json!(null), false),
    ];
    for (rule, value, allowed) in cases {
        let authority = Authority::new().rules([rule.clone()]);
        let why = Desk::new().take(&capability("email.send"), &json!({"quantity": value}), &authority);
        assert_eq!(why.is_none(), allowed, "{rule:?} {value} {why:?}");
    }
}

#[test]
fn a_person_is_asked_for_what_is_named_costly_or_final() {
    let send = capability("email.send");
    let new = Authority::new;
    let asks = |capability: &Capability, arguments: &Value, authority: &Authority| {
        needs_approval(&Proposal { capability, arguments, spending: None }, authority, &[])
    };
    assert!(!asks(&send, &json!({}), &new()));
    assert!(asks(&send, &json!({}), &new().require_approval_for(["email.send"])));
    let final_one = Capability { effect: CapabilityEffect::Irreversible, ..send };
    assert!(asks(&final_one, &json!({}), &new()));
    let harmless = Capability { risk: CapabilityRisk::None, ..final_one };
    assert!(!asks(&harmless, &json!({}), &new()));
    let threshold = new().spend_maximum(Money::usd(9)).spend_approval_threshold(Money::usd(5));
    assert!(!asks(&order(), &json!({"amount_minor": 5}), &threshold));
    assert!(asks(&order(), &json!({"amount_minor": 6}), &threshold));
}

#[test]
fn what_is_costly_rests_on_a_fact_by_its_amount_or_by_an_argument_of_its_name() {
    let asks = |capability: &Capability, arguments: Value, key: &str, value: Value, status: FactStatus| {
        let fact = json!({"key": key, "value": value, "status": status});
        let fact: Fact = serde_json::from_str(&fact.to_string()).unwrap();
        needs_approval(
            &Proposal { capability, arguments: &arguments, spending: None },
            &Authority::new(),
            &[fact],
        )
    };
    let cost = || json!({"amount_minor": 5, "part": "48-221"});
    assert!(asks(&order(), cost(), "quoted", json!(5), FactStatus::Asserted));
    assert!(asks(&order(), cost(), "part", json!("48-221"), FactStatus::Conflicted));
    assert!(!asks(&order(), cost(), "quoted", json!(5), FactStatus::Derived));
    assert!(!asks(&order(), cost(), "quoted", json!(6), FactStatus::Asserted));
    assert!(!asks(&order(), json!({"amount_minor": 0}), "quoted", json!(0), FactStatus::Asserted));
    assert!(!asks(&capability("email.send"), json!({"to": "a"}), "to", json!("a"), FactStatus::Asserted));
}

#[test]
fn criteria_are_met_by_value() {
    let met = |criterion: SuccessCriterion, value: &str| unmet(&criterion, &value.parse().unwrap()).is_none();
    assert!(met(SuccessCriterion::new("a").equals(true), "true"));
    assert!(!met(SuccessCriterion::new("a").equals(true), "false"));
    assert!(met(SuccessCriterion::new("a").max(799_999), "799999"));
    assert!(!met(SuccessCriterion::new("a").max(799_999), "799999.5"));
    assert!(!met(SuccessCriterion::new("a").min(1), "\"1\""));
    assert!(met(SuccessCriterion::new("a").equals("x"), r#""x""#));
}

#[test]
fn a_number_too_large_to_count_is_above_every_bound() {
    let criterion = SuccessCriterion::new("amount_minor").max(5);
    assert_eq!(unmet(&criterion, &"1e999".parse().unwrap()).as_deref(), Some("is 1e999, above 5"));
    let criterion = SuccessCriterion::new("amount_minor").min(5);
    assert_eq!(unmet(&criterion, &"1e999".parse().unwrap()), None);
    assert_eq!(unmet(&criterion, &"-1e999".parse().unwrap()).as_deref(), Some("is -1e999, below 5"));
}
