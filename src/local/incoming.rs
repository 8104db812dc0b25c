//! A request once it has been read whole: what the handlers get.

use bytes::Bytes;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::answer::{Refusal, Result};
use super::workspace::store::Window;

/// A request, without what the router has dealt with.
#[derive(Debug)]
pub(crate) struct Incoming {
    /// What stands in the path, percent-decoded; empty for a route without an id.
    pub(crate) id: String,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) body: JsonBody,
}

/// A body that is JSON: as text, so that numbers keep their digits, and parsed.
#[derive(Debug)]
pub(crate) struct JsonBody {
    text: Bytes,
    pub(crate) value: Value,
}

impl JsonBody {
    /// Nothing at all counts as an object without fields: not every command has something to say.
    pub(crate) fn parse(text: Bytes) -> Result<Self> {
        let text = if text.trim_ascii().is_empty() { Bytes::from_static(b"{}") } else { text };
        let value = serde_json::from_slice(&text)
            .map_err(|error| Refusal::bad_request(format!("the body is not JSON: {error}")))?;
        Ok(Self { text, value })
    }

    /// The body as a type; otherwise a refusal that names the field, where it is known.
    pub(crate) fn decode<T: DeserializeOwned>(&self) -> Result<T> {
        serde_json::from_slice(&self.text).map_err(|error| {
            let refusal = Refusal::invalid(format!("the body does not fit: {error}"));
            match misfit::<T>(&self.text) {
                Some(path) => refusal.param(path),
                None => refusal,
            }
        })
    }

    /// Refuses `null` for every field but those that it clears.
    pub(crate) fn no_null_but(&self, clearable: &[&str]) -> Result<()> {
        let fields = self.value.as_object().into_iter().flatten();
        let null =
            fields.into_iter().find(|(name, value)| value.is_null() && !clearable.contains(&name.as_str()));
        match null {
            None => Ok(()),
            Some((name, _)) => Err(Refusal::invalid(format!("{name} can't be cleared")).param(name.as_str())),
        }
    }
}

/// The path of the field that does not fit.
fn misfit<T: DeserializeOwned>(text: &[u8]) -> Option<String> {
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let error = serde_path_to_error::deserialize::<_, T>(&mut deserializer).err()?;
    let parent = Some(error.path().to_string()).filter(|path| path != ".");
    // Of a missing field serde gives the path of the object, and the name only in words.
    let message = error.inner().to_string();
    let missing = message.strip_prefix("missing field `").and_then(|rest| rest.split('`').next());
    match (parent, missing) {
        (Some(parent), Some(name)) => Some(format!("{parent}.{name}")),
        (parent, missing) => parent.or_else(|| missing.map(str::to_owned)),
    }
}

/// The parameters of a query. Each is taken once; one that is left over is refused.
#[derive(Debug)]
pub(crate) struct Query(Vec<(String, String)>);

impl From<Vec<(String, String)>> for Query {
    fn from(parameters: Vec<(String, String)>) -> Self {
        Self(parameters)
    }
}

impl Query {
    /// All values of a parameter that may be repeated.
    pub(crate) fn many(&mut self, name: &str) -> Vec<String> {
        let (taken, left) = std::mem::take(&mut self.0).into_iter().partition(|(other, _)| other == name);
        self.0 = left;
        let taken: Vec<(String, String)> = taken;
        taken.into_iter().map(|(_, value)| value).collect()
    }

    /// The value of a parameter that may come once.
    pub(crate) fn one(&mut self, name: &str) -> Result<Option<String>> {
        let mut values = self.many(name);
        let value = values.pop();
        if values.is_empty() {
            Ok(value)
        } else {
            Err(Refusal::bad_request(format!("the parameter {name} may come only once")).param(name))
        }
    }

    /// An id to filter by. An empty one names nothing, so it is refused rather than found nowhere.
    pub(crate) fn id(&mut self, name: &str) -> Result<Option<String>> {
        match self.one(name)? {
            Some(id) if id.is_empty() => {
                Err(Refusal::bad_request(format!("the parameter {name} is empty")).param(name))
            }
            id => Ok(id),
        }
    }

    /// Which part of a list is asked for.
    pub(crate) fn window(&mut self) -> Result<Window> {
        let limit = self.one("limit")?;
        let cursor = self.one("cursor")?;
        Window::parse(limit.as_deref(), cursor.as_deref())
    }

    pub(crate) fn finish(self) -> Result<()> {
        match self.0.first() {
            None => Ok(()),
            Some((name, _)) => {
                Err(Refusal::bad_request(format!("there is no parameter {name:?} here")).param(name.as_str()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::mandates::MandateCreateParams;

    fn refused(body: &'static str) -> (u16, Option<String>) {
        let refusal = match JsonBody::parse(Bytes::from_static(body.as_bytes())) {
            Ok(body) => body.decode::<MandateCreateParams>().unwrap_err(),
            Err(refusal) => refusal,
        };
        let (status, error) = refusal.error();
        (status, error.param.clone())
    }

    #[test]
    fn a_misfit_is_named_by_its_path() {
        let name = |path: &str| Some(path.to_owned());
        assert_eq!(refused(r#"{"agent": "a", "#), (400, None));
        assert_eq!(refused("[]"), (422, None));
        assert_eq!(refused(""), (422, name("agent")));
        assert_eq!(refused(r#"{"agent": 1}"#), (422, name("agent")));
        assert_eq!(
            refused(r#"{"agent":"a","objective":"o","authority":{"maximumActions":-1}}"#),
            (422, name("authority.maximumActions"))
        );
        assert_eq!(
            refused(r#"{"agent":"a","objective":"o","authority":{"rules":[{"capability":"a.b"}]}}"#),
            (422, name("authority.rules[0].field"))
        );
    }

    #[test]
    fn a_parameter_is_taken_once_and_none_is_left() {
        let pairs = |names: &[&str]| {
            let pairs: Vec<_> = names.iter().map(|name| ((*name).to_owned(), "1".to_owned())).collect();
            Query::from(pairs)
        };
        let mut query = pairs(&["status", "limit", "status"]);
        assert_eq!(query.many("status").len(), 2);
        assert_eq!(query.one("limit").unwrap().as_deref(), Some("1"));
        query.finish().unwrap();
        assert!(pairs(&["limit", "limit"]).one("limit").is_err());
        assert_eq!(pairs(&["agent"]).id("agent").unwrap().as_deref(), Some("1"));
        let mut empty = Query::from(vec![("agent".to_owned(), String::new())]);
        assert_eq!(empty.id("agent").unwrap_err().error().1.param.as_deref(), Some("agent"));
        assert_eq!(pairs(&["page"]).finish().unwrap_err().error().1.param.as_deref(), Some("page"));
    }
}
