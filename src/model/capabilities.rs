//! Capabilities: one thing each that an agent can do.

use jiff::Timestamp;

use super::json::RawJson;
use super::types::{CapabilityId, Extra, Metadata};

string_enum! {
    /// What kind of harm a mistake could do (documented).
    pub enum CapabilityRisk {
        /// None.
        None = "none",
        /// Something said to the wrong people, or the wrong thing.
        Communications = "communications",
        /// Money.
        Financial = "financial",
        /// Legal.
        Legal = "legal",
        /// To people or things.
        Physical = "physical",
        /// Of its own kind.
        Custom = "custom",
    }
}

string_enum! {
    /// What an action does (documented).
    pub enum CapabilityEffect {
        /// Only reads; counted apart, against `maximum_read_actions`.
        Read = "read",
        /// Changes something.
        Write = "write",
        /// Changes something that can't be undone.
        Irreversible = "irreversible",
    }
}

string_enum! {
    /// How the service confirms a result (documented).
    pub enum CapabilityVerify {
        /// It doesn't.
        None = "none",
        /// It reads back what was written.
        ReadAfterWrite = "read_after_write",
        /// It asks the source that has the last word.
        AuthoritativeSource = "authoritative_source",
        /// A person does.
        Human = "human",
    }
}

string_enum! {
    /// Whether an action is safe to repeat (documented).
    pub enum CapabilityIdempotency {
        /// Always safe.
        Native = "native",
        /// Safe when the vendor honors an idempotency key.
        Keyed = "keyed",
        /// Not safe, but what happened can be checked afterwards.
        Reconcilable = "reconcilable",
        /// Neither safe nor checkable, so never repeated.
        None = "none",
    }
}

string_enum! {
    /// Whether something runs the capability. The service sets it (documented).
    pub enum CapabilityExecutionMode {
        /// It can run.
        Available = "available",
        /// It is defined, with nothing behind it yet. A mandate that needs it is refused.
        Unavailable = "unavailable",
    }
}

string_enum! {
    /// Whether a capability is in use.
    pub enum CapabilityStatus {
        /// It is (documented).
        Active = "active",
        /// It isn't (assumed).
        Disabled = "disabled",
    }
}

wire! {
    /// One thing an agent can do (documented).
    pub struct Capability {
        required {
            /// Its name, always dotted, as `email.send`.
            name: String,
            /// What it does.
            description: String,
            /// What kind of harm a mistake could do.
            risk: CapabilityRisk,
            /// What it does to the world.
            effect: CapabilityEffect,
            /// How a result is confirmed.
            verify: CapabilityVerify,
            /// Whether it is safe to repeat.
            idempotency: CapabilityIdempotency,
            /// Whether something runs it.
            execution_mode: CapabilityExecutionMode,
            /// Whether it is in use.
            status: CapabilityStatus,
        }
        always {
            /// Your own labels.
            metadata: Metadata,
        }
        optional {
            /// Its id (assumed). Calls go by the name.
            id: Option<CapabilityId>,
            /// Its version; changed inputs or outputs need a new one, or a new name (documented).
            version: Option<String>,
            /// The JSON Schema of its input (the name is assumed), as the text that came.
            input_schema: Option<RawJson>,
            /// The JSON Schema of its output (the name is assumed), as the text that came.
            output_schema: Option<RawJson>,
            /// When it was registered.
            created_at: Option<Timestamp>,
            /// When it was last changed.
            updated_at: Option<Timestamp>,
        }
    }
}

impl Capability {
    /// Whether a mandate can use it: active, and something runs it. A name in the list is not enough
    /// (documented).
    #[must_use]
    pub fn is_runnable(&self) -> bool {
        self.status == CapabilityStatus::Active && self.execution_mode == CapabilityExecutionMode::Available
    }
}

wire! {
    /// A capability of your own to register, with schemas written by hand.
    ///
    /// With the feature `schema`, [`Capability::define`] makes it from your types.
    ///
    /// ```
    /// use serde_json::json;
    /// use shadway::capabilities::{CapabilityEffect, CapabilityRegisterParams, CapabilityRisk};
    ///
    /// let params = CapabilityRegisterParams::new(
    ///     "procurement.create_po",
    ///     "Create a purchase order in the ERP system.",
    ///     json!({"type": "object", "properties": {"supplier": {"type": "string"}}, "required": ["supplier"]}),
    ///     json!({"type": "object", "properties": {"purchase_reference": {"type": "string"}}}),
    /// )
    /// .risk(CapabilityRisk::Financial)
    /// .effect(CapabilityEffect::Irreversible);
    /// assert_eq!(params.name, "procurement.create_po");
    /// ```
    pub struct CapabilityRegisterParams {
        required {
            /// Its name; it has a dot in it.
            name: String,
            /// What it does.
            description: String,
            /// The JSON Schema of its input: one with `"type": "object"`.
            input_schema: RawJson,
            /// The JSON Schema of its output: one with `"type": "object"`.
            output_schema: RawJson,
        }
        optional {
            /// What kind of harm a mistake could do.
            risk: Option<CapabilityRisk>,
            /// What it does to the world.
            effect: Option<CapabilityEffect>,
            /// How a result is confirmed.
            verify: Option<CapabilityVerify>,
            /// Whether it is safe to repeat.
            idempotency: Option<CapabilityIdempotency>,
            /// Its version.
            version: Option<String>,
            /// Your own labels.
            metadata: Metadata,
        }
    }
}

impl CapabilityRegisterParams {
    /// A dotted name, what it does, and the JSON Schemas of its input and its output.
    #[must_use]
    pub fn new(
        name: impl Into<String>,
        description: impl Into<String>,
        input_schema: impl Into<RawJson>,
        output_schema: impl Into<RawJson>,
    ) -> Self {
        Self {
            name: name.into(),
            description: description.into(),
            input_schema: input_schema.into(),
            output_schema: output_schema.into(),
            risk: None,
            effect: None,
            verify: None,
            idempotency: None,
            version: None,
            metadata: Metadata::new(),
            extra: Extra::new(),
        }
    }

    /// What kind of harm a mistake could do.
    #[must_use]
    pub fn risk(mut self, risk: CapabilityRisk) -> Self {
        self.risk = Some(risk);
        self
    }

    /// What it does to the world.
    #[must_use]
    pub fn effect(mut self, effect: CapabilityEffect) -> Self {
        self.effect = Some(effect);
        self
    }

    /// How a result is confirmed.
    #[must_use]
    pub fn verify(mut self, verify: CapabilityVerify) -> Self {
        self.verify = Some(verify);
        self
    }

    /// Whether it is safe to repeat.
    #[must_use]
    pub fn idempotency(mut self, idempotency: CapabilityIdempotency) -> Self {
        self.idempotency = Some(idempotency);
        self
    }

    /// Its version; changed inputs or outputs need a new one, or a new name (documented).
    #[must_use]
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.version = Some(version.into());
        self
    }

    /// One label; call it again for another.
    #[must_use]
    pub fn metadata(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.metadata.insert(name.into(), value.into());
        self
    }

    /// The same, unless the service would have to refuse it.
    pub(crate) fn checked(self) -> Result<Self, String> {
        let name = &self.name;
        if !name.contains('.') || name.split('.').any(str::is_empty) {
            return Err(format!(
                "a capability's name has a dot in it, as `email.send`; {name:?} doesn't fit"
            ));
        }
        for (which, schema) in [("input", &self.input_schema), ("output", &self.output_schema)] {
            if !is_object_schema(schema) {
                return Err(format!(
                    "the {which} schema of {name} is not one of an object; it needs `\"type\": \"object\"`"
                ));
            }
        }
        Ok(self)
    }
}

fn is_object_schema(schema: &RawJson) -> bool {
    schema.to_value().is_ok_and(|schema| schema.get("type").is_some_and(|kind| kind == "object"))
}

wire! {
    /// A change to a capability of your own; nothing else of it can be changed (documented). Partial: what is
    /// not set stays as it is.
    #[derive(Default)]
    pub struct CapabilityUpdateParams {
        required {}
        optional {
            /// What it does.
            description: Option<String>,
            /// Whether it is in use.
            status: Option<CapabilityStatus>,
            /// All labels; replaces the map.
            metadata: Option<Metadata>,
        }
    }
}

impl CapabilityUpdateParams {
    /// No change yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// What it does.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }

    /// Whether it is in use.
    #[must_use]
    pub fn status(mut self, status: CapabilityStatus) -> Self {
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
