//! A scenario: what a server begins with, as data.

use std::collections::BTreeMap;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use super::entry::Entry;
use super::{API_KEY, Fault, LocalServer, LocalService, Script};
use crate::client::Client;
use crate::error::{Error, Result};
use crate::model::agents::AgentCreateParams;
use crate::model::capabilities::CapabilityRegisterParams;
use crate::model::mandates::{Mandate, MandateCreateParams};
use crate::model::webhooks::{WebhookEndpointCreateParams, WebhookEndpointCreated};

mod steps;

pub(crate) use steps::Time;
use steps::{Step, follow};

/// What a server is given at the start, as data from a file or a message: its capabilities, agents, scripts,
/// webhook endpoints, mandates and faults, in this order. Give it to [`LocalServer::load`].
///
/// It deserializes from whatever serde reads, such as TOML or JSON. Capabilities, agents, endpoints and mandates
/// are the bodies of the calls that create them. A mandate names its agent as the scenario does, and may have
/// `expiresIn` in place of `expiresAt`. The steps of a script are those of [`Script`], under the names of its methods.
/// A fault has a `kind`, which is the name of its maker in [`Fault`], and `on`, `after`, `times`, `probability`,
/// `after_commit`, `retry_after` and `code`. A length of time is `"20h"` or a number of seconds.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use serde_json::json;
/// use shadway::local::{LocalServer, Scenario};
/// use shadway::mandates::MandateStatus;
///
/// let scenario: Scenario = serde_json::from_value(json!({
///     "agents": [{"name": "Buyer", "model": "your-provider/your-model", "capabilities": ["email.send"]}],
///     "scripts": [{
///         "when": {"objective": "quote"},
///         "steps": [
///             {"act": {"capability": "email.send", "arguments": {"to": "sales@atlas.example"}}},
///             {"wait_external": {"what": "a reply from Atlas", "after": "20h", "reply": "It is $7,499.00."}},
///             {"fact": {"key": "amount_minor", "value": 749_900, "status": "verified"}},
///             {"complete": "Atlas asks for $7,499.00."},
///         ],
///     }],
///     "mandates": [{"agent": "Buyer", "objective": "Get a quote from Atlas."}],
/// }))?;
///
/// let server = LocalServer::start().await?;
/// let loaded = server.load(scenario).await?;
/// let done = server.client()?.mandate(&loaded.mandates[0].id).wait().await?;
/// assert_eq!(done.status, MandateStatus::Completed);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, Default)]
pub struct Scenario(Data);

/// What came of a [`Scenario`].
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Loaded {
    /// The mandates that it began, in its order.
    pub mandates: Vec<Mandate>,
    /// The webhook endpoints that it created, each with its secret.
    pub endpoints: Vec<WebhookEndpointCreated>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Data {
    capabilities: Vec<CapabilityRegisterParams>,
    agents: Vec<AgentCreateParams>,
    scripts: Vec<Told>,
    faults: Vec<Fault>,
    endpoints: Vec<WebhookEndpointCreateParams>,
    mandates: Vec<Map<String, Value>>,
}

/// A script, and which mandates it is for.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Told {
    #[serde(default)]
    when: When,
    #[serde(default)]
    nobody_answers: bool,
    steps: Vec<Step>,
}

/// All of it has to hold.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct When {
    /// A part of the objective.
    objective: Option<String>,
    metadata: BTreeMap<String, String>,
}

impl<'de> Deserialize<'de> for Scenario {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // By way of JSON, which some parts are kept as.
        let text = Value::deserialize(deserializer)?.to_string();
        let decoded = serde_path_to_error::deserialize(&mut serde_json::Deserializer::from_str(&text));
        decoded.map(Self).map_err(|error| {
            let at = error.path().to_string();
            let why = error.into_inner().to_string();
            // The place in the text in between is in no file.
            let why = why.split(" at line ").next().unwrap_or_default();
            D::Error::custom(format!("{at}: {why}"))
        })
    }
}

impl From<Told> for Script {
    fn from(told: Told) -> Self {
        let When { objective, metadata } = told.when;
        let script = Self::when(move |mandate| {
            objective.as_ref().is_none_or(|part| mandate.objective.contains(part))
                && metadata.iter().all(|(key, value)| mandate.metadata.get(key) == Some(value))
        });
        let script = if told.nobody_answers { script.nobody_answers() } else { script };
        follow(script, told.steps)
    }
}

impl LocalServer {
    /// Gives the server what a [`Scenario`] has, beside what it has already.
    ///
    /// # Errors
    /// As the calls that create its parts; what came before the refused one stays.
    /// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) when a mandate names no agent, or has a field of the
    /// wrong shape.
    pub async fn load(&self, scenario: Scenario) -> Result<Loaded> {
        load(&self.entry, scenario).await
    }
}

pub(crate) async fn load(entry: &Entry, scenario: Scenario) -> Result<Loaded> {
    let Data { capabilities, agents, scripts, faults, endpoints, mandates } = scenario.0;
    let service = LocalService { entry: entry.clone() };
    let client = Client::builder().api_key(API_KEY).http_service(service).build()?;
    for capability in capabilities {
        client.capabilities().register(capability).await?;
    }
    let mut names = BTreeMap::new();
    for agent in agents {
        let agent = client.agents().create(agent).await?;
        names.insert(agent.name, agent.id);
    }
    let shared = &entry.shared;
    for script in scripts {
        shared.with(|workspace, _| workspace.script(script.into()));
    }
    let mut loaded = Loaded::default();
    for endpoint in endpoints {
        loaded.endpoints.push(client.webhooks().endpoints().create(endpoint).await?);
    }
    for (index, mandate) in mandates.into_iter().enumerate() {
        let params = begun(mandate, |name| names.get(name).map(ToString::to_string), shared.now());
        let params = params.map_err(|why| Error::invalid_input(format!("mandates[{index}]: {why}")))?;
        loaded.mandates.push(client.mandates().create(params).await?);
    }
    // Last, so that they meet no call of these.
    for fault in faults {
        shared.faults().add(fault);
    }
    Ok(loaded)
}

/// The body of the call that begins a mandate: with the agent's id for its name, and a time for how long it has.
fn begun(
    mut mandate: Map<String, Value>,
    id: impl Fn(&str) -> Option<String>,
    now: jiff::Timestamp,
) -> Result<MandateCreateParams, String> {
    let agent = mandate.get("agent").and_then(Value::as_str).ok_or("it names no agent")?;
    if let Some(id) = id(agent) {
        mandate.insert("agent".to_owned(), id.into());
    }
    if let Some(time) = mandate.remove("expiresIn") {
        let time: Time = serde_json::from_value(time).map_err(|error| format!("expiresIn: {error}"))?;
        let expires = now.checked_add(time.0).map_err(|error| format!("expiresIn: {error}"))?;
        mandate.insert("expiresAt".to_owned(), expires.to_string().into());
    }
    let text = Value::Object(mandate).to_string();
    serde_json::from_str(&text).map_err(|error| error.to_string())
}
