//! Believable arguments for an action, made from its input schema and from what the mandate says.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Number, Value, json};

use super::text::shortened;
use crate::model::authority::Authority;
use crate::model::types::{JsonNumber, Money};

mod words;

/// How deep optional values of an input go; what a schema repeats in itself would never end.
const DEEPEST: usize = 6;
/// An amount nobody said anything about, in the smallest unit.
const AMOUNT: i64 = 204_100;

/// What an action is made for.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) capability: &'a str,
    pub(crate) objective: &'a str,
    pub(crate) guidance: &'a [String],
    pub(crate) deadline: Option<Timestamp>,
    pub(crate) authority: &'a Authority,
    /// What is left of the spending limit.
    pub(crate) left_to_spend: Option<i64>,
    /// The id of the action before, which this one may look at.
    pub(crate) reference: &'a str,
    pub(crate) now: Timestamp,
}

/// Arguments that fit the schema, as far as a sample can: `pattern` and conditions are not looked at.
pub(crate) fn arguments(schema: &Value, context: &Context<'_>) -> Value {
    let sampler = Sampler { root: schema, context };
    match sampler.value("", schema, 0) {
        object @ Value::Object(_) => object,
        _ => Value::Object(Map::new()),
    }
}

/// Whether a value of this name is not to be shown.
pub(crate) fn is_secret(name: &str) -> bool {
    let name = words::plain(name);
    ["password", "passcode", "secret", "otp", "token", "pin", "onetimecode", "apikey", "cvc", "cvv"]
        .iter()
        .any(|word| name == *word || (word.len() > 3 && name.ends_with(word)))
}

/// How much the arguments say the action spends, in the smallest unit: a whole number, or an object with one; the
/// largest, if they name several. `None` when they don't say it at all, `Some(None)` when what they say is no amount.
pub(crate) fn amount(arguments: &Value) -> Option<Option<i64>> {
    let fields = arguments.as_object()?.iter().filter(|(name, _)| is_amount(name));
    let stated: Vec<Option<i64>> = fields.filter_map(|(_, value)| stated(value)).collect();
    stated.into_iter().max()
}

/// The currencies that the arguments name, beside an amount or in it.
pub(crate) fn currencies(arguments: &Value) -> Vec<&str> {
    let fields = arguments.as_object().into_iter().flatten();
    let amounts = fields.filter(|(name, _)| is_amount(name)).map(|(_, amount)| amount);
    let named = amounts.chain([arguments]).filter_map(|value| value.get("currency")?.as_str());
    named.collect()
}

fn stated(value: &Value) -> Option<Option<i64>> {
    let number = if value.is_object() { value.get("amount")? } else { value };
    number.is_number().then(|| number.as_i64().filter(|amount| *amount >= 0))
}

/// Puts an amount where the limits look for it: in the argument that has one, else in the field of the input that
/// is made for it, if there is one.
pub(crate) fn set_amount(arguments: &mut Value, schema: &Value, money: &Money) {
    let first = |fields: &Value| fields.as_object()?.keys().find(|name| is_amount(name)).cloned();
    let Some(name) = first(arguments).or_else(|| first(&schema["properties"])) else { return };
    let field = resolve(schema, &schema["properties"][&name]);
    let nested = arguments[&name].is_object() || kind(field) == "object";
    if let Some(fields) = arguments.as_object_mut() {
        let value = match nested {
            true => json!({"amount": money.amount, "currency": money.currency}),
            false => Value::from(money.amount),
        };
        fields.insert(name, value);
    }
}

pub(crate) fn is_amount(name: &str) -> bool {
    let name = words::plain(name);
    ["amount", "total", "price", "cost"].iter().any(|word| {
        name.strip_prefix(word).is_some_and(|rest| ["", "minor", "cents"].contains(&rest))
            || name.strip_prefix("total").is_some_and(|rest| rest == *word)
    })
}

struct Sampler<'a> {
    root: &'a Value,
    context: &'a Context<'a>,
}

impl Sampler<'_> {
    fn value(&self, name: &str, schema: &Value, depth: usize) -> Value {
        let schema = resolve(self.root, schema);
        if let Some(wanted) = self.wanted(name).filter(|wanted| fits(schema, wanted)) {
            return wanted;
        }
        if let Some(only) = schema.get("const") {
            return only.clone();
        }
        if let Some(first) = schema["enum"].as_array().and_then(|values| values.iter().find(|v| !v.is_null()))
        {
            return first.clone();
        }
        for keyword in ["anyOf", "oneOf"] {
            let branches = schema[keyword].as_array().map_or(&[][..], Vec::as_slice);
            let branch = branches.iter().find(|branch| resolve(self.root, branch)["type"] != "null");
            if let Some(branch) = branch {
                return merged(self.value(name, branch, depth + 1), self.object(schema, depth));
            }
        }
        if let Some(parts) = schema["allOf"].as_array() {
            let whole = self.object(schema, depth);
            return parts.iter().fold(whole, |whole, part| merged(whole, self.value(name, part, depth + 1)));
        }
        match kind(schema) {
            "object" => self.object(schema, depth),
            "array" => self.array(name, schema, depth),
            "boolean" => Value::Bool(true),
            "integer" => Value::from(self.integer(name, schema)),
            "number" => Number::from_f64(self.number(name, schema)).map_or(Value::from(1), Value::Number),
            "null" => Value::Null,
            _ => Value::String(self.string(name, schema)),
        }
    }

    fn object(&self, schema: &Value, depth: usize) -> Value {
        let properties = schema["properties"].as_object();
        let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
        let fields = properties.into_iter().flatten().filter(|(name, _)| {
            depth < DEEPEST || (depth < 2 * DEEPEST && required.iter().any(|other| other == name.as_str()))
        });
        fields.map(|(name, schema)| (name.clone(), self.value(name, schema, depth + 1))).collect()
    }

    fn array(&self, name: &str, schema: &Value, depth: usize) -> Value {
        let least = schema["minItems"].as_u64().unwrap_or(0);
        let count = if depth < DEEPEST { least.max(1) } else { least };
        let count = schema["maxItems"].as_u64().map_or(count, |most| count.min(most));
        let singular = name.strip_suffix('s').unwrap_or(name);
        (0..count.min(100)).map(|_| self.value(singular, &schema["items"], depth + 1)).collect()
    }

    fn integer(&self, name: &str, schema: &Value) -> i64 {
        // As f64 the bounds of any sensible schema are exact.
        self.number(name, schema).ceil() as i64
    }

    fn number(&self, name: &str, schema: &Value) -> f64 {
        let bound = |keyword: &str| schema[keyword].as_f64();
        let least = bound("minimum").or_else(|| bound("exclusiveMinimum").map(|least| least + 1.0));
        let most = bound("maximum").or_else(|| bound("exclusiveMaximum").map(|most| most - 1.0));
        let (low, high) = self.bounds(name);
        let least = least.into_iter().chain(low).fold(f64::NEG_INFINITY, f64::max);
        let most = most.into_iter().chain(high).fold(f64::INFINITY, f64::min);
        let usual = if is_amount(name) {
            // Some way below the limit, as a good buyer would.
            self.context.left_to_spend.map_or(AMOUNT, |left| left / 10 * 9)
        } else if words::is_count(name) {
            words::count(self.context.objective).unwrap_or(1)
        } else {
            1
        };
        (usual as f64).min(most).max(least)
    }

    /// What the rules and the success criteria ask of a value.
    fn bounds(&self, name: &str) -> (Option<f64>, Option<f64>) {
        let number = |bound: &Option<JsonNumber>| bound.as_ref().and_then(JsonNumber::as_f64);
        let rules = self.rules(name).map(|rule| (number(&rule.min), number(&rule.max)));
        let criteria = self.context.authority.success_criteria.iter();
        let criteria = criteria.filter(|criterion| criterion.fact == name);
        let all: Vec<_> =
            rules.chain(criteria.map(|criterion| (number(&criterion.min), number(&criterion.max)))).collect();
        (
            all.iter().filter_map(|(min, _)| *min).reduce(f64::max),
            all.iter().filter_map(|(_, max)| *max).reduce(f64::min),
        )
    }

    /// The value that a rule or a success criterion names.
    fn wanted(&self, name: &str) -> Option<Value> {
        let by_rule = self.rules(name).find_map(|rule| rule.equals.as_ref().or(rule.one_of.first()));
        let criteria = &self.context.authority.success_criteria;
        let by_criterion = || criteria.iter().find(|criterion| criterion.fact == name)?.equals.as_ref();
        by_rule.or_else(by_criterion)?.to_value().ok()
    }

    fn rules(&self, name: &str) -> impl Iterator<Item = &crate::model::authority::AuthorityRule> {
        let (capability, name) = (self.context.capability, name.to_owned());
        let rules = self.context.authority.rules.iter();
        rules.filter(move |rule| rule.capability == capability && rule.field == name)
    }

    fn string(&self, name: &str, schema: &Value) -> String {
        let mut text = match schema["format"].as_str() {
            Some("date-time") => self.due().to_string(),
            Some("date") => self.due().to_string().chars().take(10).collect(),
            Some("email") => words::address(self.context),
            Some("uri" | "url") => "https://example.com/".to_owned(),
            Some("uuid") => "7b8f4a3e-52c1-4d0a-9e6f-1c2d3e4f5a6b".to_owned(),
            _ => words::text(name, self.context),
        };
        if let Some(most) = schema["maxLength"].as_u64().and_then(|most| usize::try_from(most).ok()) {
            text = text.chars().take(most).collect();
        }
        let least = schema["minLength"].as_u64().unwrap_or(0).min(10_000) as usize;
        let length = text.chars().count();
        text.extend(std::iter::repeat_n('x', least.saturating_sub(length)));
        text
    }

    /// When the work is due, or in a week.
    fn due(&self) -> Timestamp {
        let week = SignedDuration::from_hours(7 * 24);
        self.context
            .deadline
            .unwrap_or_else(|| self.context.now.saturating_add(week).unwrap_or(self.context.now))
    }
}

/// The schema itself, or the one it refers to.
fn resolve<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let target = schema["$ref"].as_str().and_then(|target| target.strip_prefix('#'));
    target.and_then(|pointer| root.pointer(pointer)).unwrap_or(schema)
}

fn kind(schema: &Value) -> &str {
    let first = |kinds: &'_ Vec<Value>| kinds.iter().position(|kind| kind != "null");
    match &schema["type"] {
        Value::String(kind) => kind,
        Value::Array(kinds) => first(kinds).and_then(|index| kinds[index].as_str()).unwrap_or("null"),
        _ if schema.get("properties").is_some() => "object",
        _ => "string",
    }
}

/// Whether a value that is wanted is of the kind that the schema asks for.
fn fits(schema: &Value, wanted: &Value) -> bool {
    let listed = |values: &Vec<Value>| values.contains(wanted);
    schema["enum"].as_array().is_none_or(listed)
        && match kind(schema) {
            "integer" => wanted.is_i64(),
            "number" => wanted.is_number(),
            "boolean" => wanted.is_boolean(),
            "string" => wanted.is_string(),
            _ => false,
        }
}

/// The fields of both, where both are objects.
fn merged(first: Value, second: Value) -> Value {
    match (first, second) {
        (Value::Object(mut first), Value::Object(second)) => {
            first.extend(second);
            Value::Object(first)
        }
        (first, _) => first,
    }
}

/// A line of the objective, for a subject.
fn subject(objective: &str) -> String {
    shortened(objective).trim_end_matches(['.', '…']).to_owned()
}

#[cfg(test)]
mod tests;
