//! Any JSON value, read as plain data.
//!
//! `serde_json` reads a [`Value`] in another way: an object whose first field has the name that it uses inside for raw
//! JSON becomes what is in that field's text. An answer with such a field would not go back as it came; and since each
//! text may hold another, a small one can be nested deeper than any limit, until the stack is full and the process ends.

use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// How a number comes where serde_json's `arbitrary_precision` is on: as the only field of an object.
const NUMBER: &str = "$serde_json::private::Number";

/// For a field that is a [`Value`].
pub(crate) fn value<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Value, D::Error> {
    Plain::deserialize(deserializer).map(|plain| plain.0)
}

/// For one that may be missing or `null`.
pub(crate) fn optional<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    value(deserializer).map(|value| Some(value).filter(|value| !value.is_null()))
}

/// For the fields that no other took.
pub(crate) fn fields<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Map<String, Value>, D::Error> {
    struct Fields;

    impl<'de> Visitor<'de> for Fields {
        type Value = Map<String, Value>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("an object")
        }

        fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
            gather(map)
        }
    }

    deserializer.deserialize_map(Fields)
}

struct Plain(Value);

impl<'de> Deserialize<'de> for Plain {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(PlainVisitor).map(Self)
    }
}

struct PlainVisitor;

impl<'de> Visitor<'de> for PlainVisitor {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(Plain(item)) = seq.next_element()? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Value, A::Error> {
        let fields = gather(map)?;
        match fields.get(NUMBER) {
            Some(Value::String(text)) if fields.len() == 1 => {
                text.parse::<Number>().map(Value::Number).map_err(A::Error::custom)
            }
            _ => Ok(Value::Object(fields)),
        }
    }
}

fn gather<'de, A: MapAccess<'de>>(mut map: A) -> Result<Map<String, Value>, A::Error> {
    let mut fields = Map::new();
    while let Some((name, Plain(value))) = map.next_entry()? {
        fields.insert(name, value);
    }
    Ok(fields)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(json: &str) -> Value {
        value(&mut serde_json::Deserializer::from_str(json)).unwrap()
    }

    #[test]
    fn each_sort_of_value_is_read_as_serde_json_reads_it() {
        for json in [
            "null",
            "true",
            "0",
            "-0",
            "-7",
            "18446744073709551615",
            "-9223372036854775808",
            "0.1",
            "1e300",
            "-2.5",
            "123456789012345678901234567890",
            r#""a\n\u0041ü""#,
            "[]",
            "{}",
            r#"[1,[2,{"a":null}],"x"]"#,
            r#"{"a":{"b":[1.5,false]},"a":2}"#,
        ] {
            assert_eq!(read(json), serde_json::from_str::<Value>(json).unwrap(), "{json}");
        }
    }

    #[test]
    fn a_name_that_serde_json_uses_inside_is_a_name_like_any_other() {
        let json = r#"{"$serde_json::private::RawValue":"{\"a\":1}"}"#;
        assert_eq!(read(json).to_string(), json);
    }
}
