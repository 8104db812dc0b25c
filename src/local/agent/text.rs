//! How the agent says what it is at: short, in plain words, and without repeating itself.

use std::time::Duration;

use serde_json::Value;

use crate::model::types::Money;

/// How much of an objective is repeated in a summary.
const SHOWN: usize = 70;

/// The start of a long text, in one line.
pub(crate) fn shortened(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN) {
        None => line,
        Some((end, _)) => format!("{}…", line[..end].trim_end()),
    }
}

/// "a", "a and b", "a, b and 3 more".
pub(crate) fn names(names: &[&str]) -> Option<String> {
    match names {
        [] => None,
        [one] => Some((*one).to_owned()),
        [one, two] => Some(format!("{one} and {two}")),
        [one, two, rest @ ..] => Some(format!("{one}, {two} and {} more", rest.len())),
    }
}

/// What an action is doing, such as "Sending an email to sales@atlas.example."
pub(crate) fn doing(capability: &str, arguments: &Value) -> String {
    let to = arguments["to"].as_str().unwrap_or("the other side");
    match capability {
        "email.send" => format!("Sending an email to {to}."),
        "email.get_delivery" => "Checking that the email was delivered.".to_owned(),
        "mailbox.send" => format!("Sending a message to {to}."),
        "mailbox.reply" => "Replying in the conversation.".to_owned(),
        "mailbox.read_thread" => "Reading the conversation.".to_owned(),
        "phone.call" => format!("Calling {to}."),
        "phone.get_call" => "Checking how the call went.".to_owned(),
        "browser.run" => "Running a task in the browser.".to_owned(),
        "browser.get_run" => "Checking what the browser found.".to_owned(),
        other => format!("Running {other}."),
    }
}

/// "24 hours", "90 minutes": in the largest unit that leaves nothing over.
pub(crate) fn time(duration: Duration) -> String {
    let milliseconds = duration.as_millis();
    let units = [("hour", 3_600_000), ("minute", 60_000), ("second", 1_000), ("millisecond", 1)];
    let whole = units.iter().find(|(_, size)| milliseconds >= *size && milliseconds % size == 0);
    let (unit, size) = whole.unwrap_or(&units[3]);
    let count = milliseconds / size;
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {unit}{plural}")
}

/// The same with a capital letter in front.
pub(crate) fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// What an action would do: what a person decides on.
pub(crate) fn consequence(
    capability: &str,
    description: &str,
    arguments: &Value,
    amount: Option<&Money>,
    irreversible: bool,
) -> String {
    let mut text = match (capability, arguments["to"].as_str(), arguments["subject"].as_str()) {
        ("email.send" | "mailbox.send", Some(to), Some(subject)) => {
            format!("Sends an email to {to} with the subject “{subject}”.")
        }
        ("phone.call", Some(to), _) => format!("Calls {to}."),
        _ => format!("{}.", description.trim().trim_end_matches('.')),
    };
    if let Some(amount) = amount {
        text.push_str(&format!(" It spends {}.", money(amount)));
    }
    if irreversible {
        text.push_str(" It can't be undone.");
    }
    text
}

/// "$7,199.99", or for a currency whose unit is not known here "719999 of the smallest unit of chf".
pub(crate) fn money(money: &Money) -> String {
    let sign = match money.currency.as_str() {
        "usd" => "$",
        "eur" => "€",
        "gbp" => "£",
        other => return format!("{} of the smallest unit of {other}", money.amount),
    };
    let whole = (money.amount / 100).unsigned_abs().to_string();
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    let minus = if money.amount < 0 { "-" } else { "" };
    format!("{minus}{sign}{grouped}.{:02}", (money.amount % 100).unsigned_abs())
}

/// The summary of a command, with its reason.
pub(crate) fn because(what: &str, reason: Option<&str>) -> String {
    match reason {
        Some(reason) => format!("{what}: {}", shortened(reason)),
        None => format!("{what}."),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_long_objective_is_cut_between_characters_and_put_in_one_line() {
        let shown = shortened(&format!("ä\n {}", "ö".repeat(500)));
        assert!(shown.starts_with("ä öö") && shown.ends_with('…'), "{shown}");
        assert_eq!(shown.chars().count(), SHOWN + 1);
    }

    #[test]
    fn many_names_are_counted() {
        assert_eq!(names(&["a.1", "a.2", "a.3", "a.4", "a.5"]).unwrap(), "a.1, a.2 and 3 more");
        assert_eq!(names(&[]), None);
    }

    #[test]
    fn a_time_is_told_in_one_unit() {
        let told = |seconds: u64| time(Duration::from_secs(seconds));
        assert_eq!([told(86_400), told(3_600), told(5_400)], ["24 hours", "1 hour", "90 minutes"]);
        assert_eq!([time(Duration::from_millis(1_500)), told(0)], ["1500 milliseconds", "0 milliseconds"]);
        assert_eq!((sentence("ähnlich"), sentence("")), ("Ähnlich".to_owned(), String::new()));
    }

    #[test]
    fn money_reads_as_on_a_bill() {
        assert_eq!(money(&Money::usd(799_999)), "$7,999.99");
        assert_eq!(money(&Money::usd(5)), "$0.05");
        assert_eq!(money(&Money::new(123_456_789, "eur")), "€1,234,567.89");
        assert_eq!(money(&Money::new(7, "jpy")), "7 of the smallest unit of jpy");
    }

    #[test]
    fn a_person_reads_what_an_action_would_do() {
        let order = consequence("a.order", "Order it.", &json!({}), Some(&Money::usd(100)), true);
        assert_eq!(order, "Order it. It spends $1.00. It can't be undone.");
        let email = json!({"to": "a@b.example", "subject": "Quote"});
        let email = consequence("email.send", "Send an email", &email, None, false);
        assert_eq!(email, "Sends an email to a@b.example with the subject “Quote”.");
    }
}
