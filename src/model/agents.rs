//! Agents: the model, instructions and capabilities behind the work.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::types::{AgentId, Extra, Metadata, Nullable};

string_enum! {
    /// Whether an agent takes new mandates (documented).
    pub enum AgentStatus {
        /// It takes new mandates.
        Active = "active",
        /// It takes none; mandates that run already go on.
        Disabled = "disabled",
    }
}

string_enum! {
    /// How far a capability's setup has come (documented).
    pub enum AgentCapabilityReadiness {
        /// Being set up.
        Provisioning = "provisioning",
        /// Waits for something a person has to do.
        RequiresAction = "requires_action",
        /// Can be used.
        Ready = "ready",
        /// Can't be used at present.
        Unavailable = "unavailable",
        /// The setup failed.
        Failed = "failed",
    }
}

wire! {
    /// How far one capability of an agent is (documented).
    pub struct AgentCapabilityStatus {
        required {
            /// How far its setup has come.
            status: AgentCapabilityReadiness,
        }
        optional {
            /// What stands in the way, for anything that is not ready.
            detail: Option<String>,
            /// A phone's number once it is ready (the name of this field is assumed).
            number: Option<String>,
        }
    }
}

wire! {
    /// Settings of a capability the agent already has; never a grant (documented).
    ///
    /// ```
    /// use shadway::agents::AgentCapabilityConfig;
    ///
    /// let phone = AgentCapabilityConfig::new().country("US").area_code("302");
    /// assert_eq!(serde_json::to_string(&phone)?, r#"{"country":"US","areaCode":"302"}"#);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[derive(Default)]
    pub struct AgentCapabilityConfig {
        required {}
        optional {
            /// Phone: a two-letter country code.
            country: Option<String>,
            /// Phone: the area code wanted.
            area_code: Option<String>,
            /// Phone: a number you already have, instead of a new one.
            resource: Option<String>,
            /// Browser: the model for browser work; it has to handle images and tools.
            model: Option<String>,
        }
    }
}

/// Settings by capability or family name, such as `phone`.
pub type AgentCapabilityConfigMap = BTreeMap<String, AgentCapabilityConfig>;

impl AgentCapabilityConfig {
    /// No settings yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Phone: a two-letter country code.
    #[must_use]
    pub fn country(mut self, country: impl Into<String>) -> Self {
        self.country = Some(country.into());
        self
    }

    /// Phone: the area code wanted.
    #[must_use]
    pub fn area_code(mut self, area_code: impl Into<String>) -> Self {
        self.area_code = Some(area_code.into());
        self
    }

    /// Phone: a number you already have, instead of a new one.
    #[must_use]
    pub fn resource(mut self, resource: impl Into<String>) -> Self {
        self.resource = Some(resource.into());
        self
    }

    /// Browser: the model for browser work.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }
}

wire! {
    /// An agent: reusable, and behind any number of mandates (documented).
    pub struct Agent {
        required {
            /// Its id.
            id: AgentId,
            /// Its name.
            name: String,
            /// The provider-qualified model it reasons with.
            model: String,
            /// Whether it takes new mandates.
            status: AgentStatus,
        }
        always {
            /// What it can do: dotted action names, or a family name such as `phone`.
            capabilities: Vec<String>,
            /// Your own labels.
            metadata: Metadata,
        }
        optional {
            /// How it should behave.
            instructions: Option<String>,
            /// Settings by capability or family name.
            capability_config: AgentCapabilityConfigMap,
            /// How far each capability's setup is. A name may be missing; that does not mean ready.
            capability_status: BTreeMap<String, AgentCapabilityStatus>,
            /// The number of its saved version; a change of status or metadata alone makes none. (That
            /// versions exist is documented, the field assumed.)
            revision: Option<u64>,
            /// When it was created.
            created_at: Option<Timestamp>,
            /// When it was last changed.
            updated_at: Option<Timestamp>,
        }
    }
}

impl Agent {
    /// The capabilities that report a status other than ready, by name.
    ///
    /// A capability without a status is not in here, and is not known to be ready either (documented).
    pub fn not_ready(&self) -> impl Iterator<Item = (&str, &AgentCapabilityStatus)> {
        self.capability_status
            .iter()
            .filter(|(_, readiness)| readiness.status != AgentCapabilityReadiness::Ready)
            .map(|(name, readiness)| (name.as_str(), readiness))
    }
}

wire! {
    /// What makes a new agent.
    ///
    /// ```
    /// use shadway::agents::AgentCreateParams;
    ///
    /// let params = AgentCreateParams::new("Assistant", "your-provider/your-model")
    ///     .instructions("Be concise.")
    ///     .capabilities(["email.send", "email.get_delivery"])
    ///     .metadata("team", "procurement");
    /// assert_eq!(params.capabilities.len(), 2);
    /// ```
    pub struct AgentCreateParams {
        required {
            /// Its name.
            name: String,
            /// The provider-qualified model it reasons with.
            model: String,
        }
        optional {
            /// How it should behave.
            instructions: Option<String>,
            /// What it can do: dotted action names, or a family name such as `phone`.
            capabilities: Vec<String>,
            /// Settings by capability or family name; never a grant.
            capability_config: AgentCapabilityConfigMap,
            /// Your own labels.
            metadata: Metadata,
        }
    }
}

impl AgentCreateParams {
    /// A name, and the provider-qualified model to reason with.
    #[must_use]
    pub fn new(name: impl Into<String>, model: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            model: model.into(),
            instructions: None,
            capabilities: Vec::new(),
            capability_config: AgentCapabilityConfigMap::new(),
            metadata: Metadata::new(),
            extra: Extra::new(),
        }
    }

    /// How it should behave.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// What it can do: dotted action names, or a family name such as `phone`.
    #[must_use]
    pub fn capabilities(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.capabilities = names.into_iter().map(Into::into).collect();
        self
    }

    /// Settings for one capability or family; call it again for another.
    #[must_use]
    pub fn capability_config(mut self, name: impl Into<String>, config: AgentCapabilityConfig) -> Self {
        self.capability_config.insert(name.into(), config);
        self
    }

    /// One label; call it again for another.
    #[must_use]
    pub fn metadata(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.metadata.insert(name.into(), value.into());
        self
    }
}

wire! {
    /// A change to an agent. Partial: what is not set stays as it is (documented).
    ///
    /// ```
    /// use shadway::agents::AgentUpdateParams;
    ///
    /// let unset = AgentUpdateParams::new();
    /// assert_eq!(serde_json::to_string(&unset)?, "{}");
    /// assert_eq!(serde_json::to_string(&unset.clone().instructions("Be brief."))?, r#"{"instructions":"Be brief."}"#);
    /// assert_eq!(serde_json::to_string(&unset.clear_instructions())?, r#"{"instructions":null}"#);
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    #[derive(Default)]
    pub struct AgentUpdateParams {
        required {
            /// How it should behave; `null` clears (assumed).
            #[serde(default, skip_serializing_if = "Nullable::is_unset")]
            instructions: Nullable<String>,
        }
        optional {
            /// Its name.
            name: Option<String>,
            /// The provider-qualified model it reasons with.
            model: Option<String>,
            /// All it can do; replaces the list.
            capabilities: Option<Vec<String>>,
            /// All settings; replaces the map.
            capability_config: Option<AgentCapabilityConfigMap>,
            /// Whether it takes new mandates.
            status: Option<AgentStatus>,
            /// All labels; replaces the map.
            metadata: Option<Metadata>,
        }
    }
}

impl AgentUpdateParams {
    /// No change yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Its new name.
    #[must_use]
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.name = Some(name.into());
        self
    }

    /// The provider-qualified model it reasons with.
    #[must_use]
    pub fn model(mut self, model: impl Into<String>) -> Self {
        self.model = Some(model.into());
        self
    }

    /// How it should behave.
    #[must_use]
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Nullable::Value(instructions.into());
        self
    }

    /// Takes the instructions away.
    #[must_use]
    pub fn clear_instructions(mut self) -> Self {
        self.instructions = Nullable::Null;
        self
    }

    /// All it can do; replaces the list.
    #[must_use]
    pub fn capabilities(mut self, names: impl IntoIterator<Item = impl Into<String>>) -> Self {
        self.capabilities = Some(names.into_iter().map(Into::into).collect());
        self
    }

    /// All settings; replaces the map.
    #[must_use]
    pub fn capability_config(
        mut self,
        config: impl IntoIterator<Item = (impl Into<String>, AgentCapabilityConfig)>,
    ) -> Self {
        self.capability_config =
            Some(config.into_iter().map(|(name, config)| (name.into(), config)).collect());
        self
    }

    /// Whether it takes new mandates.
    #[must_use]
    pub fn status(mut self, status: AgentStatus) -> Self {
        self.status = Some(status);
        self
    }

    /// All labels; replaces the map.
    #[must_use]
    pub fn metadata(
        mut self,
        labels: impl IntoIterator<Item = (impl Into<String>, impl Into<String>)>,
    ) -> Self {
        self.metadata = Some(labels.into_iter().map(|(name, value)| (name.into(), value.into())).collect());
        self
    }
}
