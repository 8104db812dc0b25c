//! JSON compared without rounding: numbers as they are written, objects without order.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::value::RawValue;

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Exact {
    Object(BTreeMap<String, Self>),
    List(Vec<Self>),
    Text(String),
    /// A number, `true`, `false` or `null`.
    Word(String),
}

impl Exact {
    pub(crate) fn of(json: &str) -> Self {
        let parse = |raw: &RawValue| Self::of(raw.get());
        match json.as_bytes().first() {
            Some(b'{') => {
                let fields: BTreeMap<String, Box<RawValue>> = serde_json::from_str(json).unwrap();
                Self::Object(fields.iter().map(|(name, value)| (name.clone(), parse(value))).collect())
            }
            Some(b'[') => {
                let items: Vec<Box<RawValue>> = serde_json::from_str(json).unwrap();
                Self::List(items.iter().map(|item| parse(item)).collect())
            }
            Some(b'"') => Self::Text(serde_json::from_str(json).unwrap()),
            _ => Self::Word(json.to_owned()),
        }
    }

    pub(crate) fn written(value: &impl Serialize) -> Self {
        Self::of(&serde_json::to_string(value).unwrap())
    }

    pub(crate) fn field(&self, name: &str) -> &Self {
        let Self::Object(fields) = self else { unreachable!("{self:?} has no {name}") };
        &fields[name]
    }

    /// Sets a field; what is no object, a `null` for one, becomes one.
    pub(crate) fn set(&mut self, name: &str, value: Self) {
        if let Self::Object(fields) = self {
            fields.insert(name.to_owned(), value);
        } else {
            *self = Self::Object(BTreeMap::from([(name.to_owned(), value)]));
        }
    }

    /// The field to change, made if it is missing.
    pub(crate) fn entry(&mut self, name: &str) -> &mut Self {
        let Self::Object(fields) = self else { unreachable!("{self:?} has no {name}") };
        fields.entry(name.to_owned()).or_insert(Self::Object(BTreeMap::new()))
    }
}

#[test]
fn a_digit_more_is_a_difference_and_the_order_is_none() {
    assert_eq!(Exact::of(r#"{"a": 1, "b": [true]}"#), Exact::of(r#"{"b":[true],"a":1}"#));
    assert_ne!(Exact::of("0.10000000000000000000001"), Exact::of("0.10000000000000000000002"));
    assert_eq!(Exact::of(r#""\u0061""#), Exact::of(r#""a""#));
}
