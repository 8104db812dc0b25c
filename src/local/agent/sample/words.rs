//! Texts and numbers that fit the name of a field, taken from the mandate where it says something.

use super::{Context, subject};
use crate::local::agent::text::sentence;

/// A name without what tells one way of writing it from another.
pub(super) fn plain(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|letter| letter.to_ascii_lowercase()).collect()
}

pub(super) fn is_count(name: &str) -> bool {
    ["quantity", "qty", "count", "units", "number", "pieces"].contains(&plain(name).as_str())
}

/// The first number of the objective that is neither money nor part of a name.
pub(super) fn count(objective: &str) -> Option<i64> {
    objective
        .split_whitespace()
        .find_map(|word| word.trim_matches([',', '.', ';', ':']).replace(',', "").parse().ok())
}

pub(super) fn address(context: &Context<'_>) -> String {
    let texts = std::iter::once(context.objective).chain(context.guidance.iter().map(String::as_str));
    let mut words = texts.flat_map(str::split_whitespace);
    let found = words.find_map(|word| {
        let word = word.trim_matches(|end: char| !end.is_alphanumeric());
        let (user, domain) = word.split_once('@')?;
        let whole = !user.is_empty() && domain.contains('.') && !domain.contains('@');
        whole.then(|| word.to_owned())
    });
    found.unwrap_or_else(|| "someone@example.com".to_owned())
}

/// A text for a field of this name.
pub(super) fn text(name: &str, context: &Context<'_>) -> String {
    let plain = plain(name);
    let has = |words: &[&str]| words.iter().any(|word| plain.contains(word));
    let is = |words: &[&str]| words.contains(&plain.as_str());
    if super::is_secret(name) {
        "000000".to_owned()
    } else if is(&["to", "from", "cc", "bcc", "recipient"]) || has(&["email", "address"]) {
        if context.capability.starts_with("phone.") { "+13025550123".to_owned() } else { address(context) }
    } else if has(&["phone"]) {
        "+13025550123".to_owned()
    } else if is(&["subject", "title", "headline", "summary"]) {
        subject(context.objective)
    } else if is(&["message", "call", "run", "thread", "reference", "order", "id"]) || plain.ends_with("id") {
        context.reference.to_owned()
    } else if has(&["currency"]) {
        let spend = context.authority.spend.as_ref().and_then(|spend| spend.maximum.as_ref());
        spend.map_or_else(|| "usd".to_owned(), |maximum| maximum.currency.clone())
    } else if has(&["supplier", "vendor", "company", "seller", "merchant", "party"]) {
        company(context)
    } else if is(&["part", "partnumber", "sku", "item", "product"]) {
        part(context.objective).unwrap_or_else(|| subject(context.objective))
    } else if has(&["country"]) {
        "US".to_owned()
    } else if has(&["url", "link"]) {
        "https://example.com/".to_owned()
    } else if has(&["name"]) {
        "Simulated".to_owned()
    } else {
        context.objective.to_owned()
    }
}

/// The company behind the address: "Atlas" of sales@atlas.example.
fn company(context: &Context<'_>) -> String {
    let address = address(context);
    let domain = address.split_once('@').map_or("", |(_, domain)| domain);
    let name = domain.split('.').next().unwrap_or_default();
    sentence(name)
}

/// "48-221" of "part #48-221".
fn part(objective: &str) -> Option<String> {
    let mut words = objective.split_whitespace();
    let number =
        words.find_map(|word| word.trim_end_matches(|end: char| !end.is_alphanumeric()).strip_prefix('#'));
    number.filter(|number| !number.is_empty()).map(str::to_owned)
}
