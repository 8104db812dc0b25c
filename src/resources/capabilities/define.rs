//! A capability from your own types: schemas, and the function that runs it.

use std::error::Error as StdError;
use std::fmt;
use std::marker::PhantomData;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::closed;
use super::executor::Executor;
use super::schema;
use crate::call::CallFuture;
use crate::error::{Error, Result};
use crate::model::capabilities::{
    Capability, CapabilityEffect, CapabilityIdempotency, CapabilityRegisterParams, CapabilityRisk,
    CapabilityVerify,
};
use crate::model::json::{RawJson, misfit};

impl Capability {
    /// Begins to define a capability of your own from the types of its input and its output.
    ///
    /// Their schemas are JSON Schema 2020-12, made with `schemars` 1: doc comments become descriptions, and every
    /// object is closed, so that a field it doesn't name is refused. Derive [`JsonSchema`] with the crate
    /// `schemars`, version 1, among your own dependencies.
    ///
    /// Defining and registering does not make it run: the service does not run capabilities that you host yet
    /// (documented). [`invoke`](DefinedCapability::invoke) runs it here.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// use schemars::JsonSchema;
    /// use serde::{Deserialize, Serialize};
    /// use serde_json::json;
    /// use shadway::capabilities::{Capability, CapabilityEffect, CapabilityRisk};
    ///
    /// #[derive(Deserialize, JsonSchema)]
    /// struct PurchaseOrder {
    ///     supplier: String,
    ///     /// In the smallest unit.
    ///     amount_minor: u64,
    /// }
    ///
    /// #[derive(Serialize, JsonSchema)]
    /// struct Ordered {
    ///     purchase_reference: String,
    /// }
    ///
    /// async fn create_order(order: PurchaseOrder) -> Result<Ordered, std::io::Error> {
    ///     // Call your ERP system here.
    ///     Ok(Ordered { purchase_reference: format!("PO-{}", order.amount_minor) })
    /// }
    ///
    /// let create_po = Capability::define("procurement.create_po", "Create a purchase order in the ERP system.")
    ///     .risk(CapabilityRisk::Financial)
    ///     .effect(CapabilityEffect::Irreversible)
    ///     .execute(create_order);
    ///
    /// let ordered = create_po.invoke(json!({"supplier": "Atlas", "amount_minor": 2041})).await?;
    /// assert_eq!(ordered.purchase_reference, "PO-2041");
    /// client.capabilities().register(&create_po).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn define<In, Out>(
        name: impl Into<String>,
        description: impl Into<String>,
    ) -> CapabilityBuilder<In, Out>
    where
        In: DeserializeOwned + JsonSchema,
        Out: Serialize + JsonSchema,
    {
        let (input, output) = (schema::of_input::<In>(), schema::of_output::<Out>());
        CapabilityBuilder {
            params: CapabilityRegisterParams::new(name, description, input, output),
            types: PhantomData,
        }
    }
}

/// A capability being defined, from [`Capability::define`]. It can be registered as it is, too: registering
/// needs no function.
#[must_use = "a definition does nothing until it is registered or run"]
pub struct CapabilityBuilder<In, Out> {
    params: CapabilityRegisterParams,
    types: PhantomData<fn(In) -> Out>,
}

impl<In, Out> CapabilityBuilder<In, Out> {
    /// What kind of harm a mistake could do.
    pub fn risk(mut self, risk: CapabilityRisk) -> Self {
        self.params.risk = Some(risk);
        self
    }

    /// What it does to the world.
    pub fn effect(mut self, effect: CapabilityEffect) -> Self {
        self.params.effect = Some(effect);
        self
    }

    /// How a result is confirmed.
    pub fn verify(mut self, verify: CapabilityVerify) -> Self {
        self.params.verify = Some(verify);
        self
    }

    /// Whether it is safe to repeat.
    pub fn idempotency(mut self, idempotency: CapabilityIdempotency) -> Self {
        self.params.idempotency = Some(idempotency);
        self
    }

    /// Its version; changed inputs or outputs need a new one, or a new name (documented).
    pub fn version(mut self, version: impl Into<String>) -> Self {
        self.params.version = Some(version.into());
        self
    }

    /// One label; call it again for another.
    pub fn metadata(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.params.metadata.insert(name.into(), value.into());
        self
    }

    /// The function that runs it. It may be called again with the same input: make it safe to repeat, or say
    /// with [`idempotency`](Self::idempotency) that it isn't.
    #[must_use]
    pub fn execute<F, Fut, E>(self, function: F) -> DefinedCapability<In, Out>
    where
        F: Fn(In) -> Fut + Send + Sync + 'static,
        Fut: Future<Output = Result<Out, E>> + Send + 'static,
        E: Into<Box<dyn StdError + Send + Sync>>,
    {
        let name: Arc<str> = self.params.name.as_str().into();
        let failing = Arc::clone(&name);
        DefinedCapability {
            name,
            // The schema was made from a type, so it is JSON.
            input_schema: Arc::new(self.params.input_schema.to_value().unwrap_or_default()),
            params: self.params,
            function: Arc::new(move |input| {
                let (name, output) = (Arc::clone(&failing), function(input));
                Box::pin(async move { output.await.map_err(|error| Error::execution(&name, error.into())) })
            }),
        }
    }
}

/// A capability of your own with the function that runs it, from [`CapabilityBuilder::execute`]. Cheap to clone
/// but for its schemas.
pub struct DefinedCapability<In, Out> {
    name: Arc<str>,
    params: CapabilityRegisterParams,
    input_schema: Arc<Value>,
    function: Arc<dyn Fn(In) -> CallFuture<Out> + Send + Sync>,
}

impl<In, Out> DefinedCapability<In, Out> {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What registering it sends.
    #[must_use]
    pub fn params(&self) -> &CapabilityRegisterParams {
        &self.params
    }
}

impl<In, Out> DefinedCapability<In, Out>
where
    In: DeserializeOwned + Send + 'static,
    Out: Serialize + Send + 'static,
{
    /// Runs it here, in this process: no mandate, no limits, no record. For tests, and for whatever runs
    /// capabilities.
    ///
    /// The input is checked as the type reads it: a `NonZeroU32` refuses 0, a bound that is only an attribute of the
    /// schema refuses nothing. A name that is a `serde` alias is refused, since the schema doesn't have it. Inside a
    /// `flatten`ed field or an enum without an outer tag serde forgets the path, and the error names what it can.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput) when the input does not fit, naming the field,
    /// a field that the schema doesn't name included; the function then did not run.
    /// [`ErrorKind::Execution`](crate::ErrorKind::Execution) when the function failed, with its error as the source.
    pub async fn invoke(&self, input: impl Into<RawJson> + Send) -> Result<Out> {
        let input = parse(&self.name, &self.input_schema, &input.into())?;
        (self.function)(input).await
    }

    /// The same, as JSON in and JSON out.
    #[must_use]
    pub fn executor(&self) -> Executor {
        let this = self.clone();
        Executor::erased(Arc::clone(&self.name), move |input| {
            let this = this.clone();
            Box::pin(async move {
                let output = this.invoke(input).await?;
                serde_json::value::to_raw_value(&output)
                    .map(RawJson::from)
                    .map_err(|error| Error::execution(&this.name, error.into()))
            })
        })
    }
}

fn parse<In: DeserializeOwned>(name: &str, schema: &Value, input: &RawJson) -> Result<In> {
    let refuse = |what: String| Error::not_run(format!("the input of {name} does not fit: {what}"));
    // First, since a misspelt field also shows as one that is missing.
    if let Some(field) = input.to_value().ok().and_then(|value| closed::unknown_field(schema, &value)) {
        return Err(refuse(format!("{field}: there is no such field")));
    }
    serde_json::from_str(input.get())
        .map_err(|error| refuse(misfit::<In>(input.get().as_bytes()).unwrap_or_else(|| error.to_string())))
}

impl<In, Out> Clone for DefinedCapability<In, Out> {
    fn clone(&self) -> Self {
        Self {
            name: Arc::clone(&self.name),
            params: self.params.clone(),
            input_schema: Arc::clone(&self.input_schema),
            function: Arc::clone(&self.function),
        }
    }
}

impl<In, Out> fmt::Debug for DefinedCapability<In, Out> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DefinedCapability").field("params", &self.params).finish_non_exhaustive()
    }
}

impl<In, Out> fmt::Debug for CapabilityBuilder<In, Out> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CapabilityBuilder").field("params", &self.params).finish()
    }
}

impl<In, Out> From<CapabilityBuilder<In, Out>> for CapabilityRegisterParams {
    fn from(builder: CapabilityBuilder<In, Out>) -> Self {
        builder.params
    }
}

impl<In, Out> From<DefinedCapability<In, Out>> for CapabilityRegisterParams {
    fn from(defined: DefinedCapability<In, Out>) -> Self {
        defined.params
    }
}

impl<In, Out> From<&DefinedCapability<In, Out>> for CapabilityRegisterParams {
    fn from(defined: &DefinedCapability<In, Out>) -> Self {
        defined.params.clone()
    }
}

impl<In, Out> From<&DefinedCapability<In, Out>> for Executor
where
    In: DeserializeOwned + Send + 'static,
    Out: Serialize + Send + 'static,
{
    fn from(defined: &DefinedCapability<In, Out>) -> Self {
        defined.executor()
    }
}
