//! The capabilities of a workspace, and those of your own.

use http::Method;

use crate::call::Call;
use crate::client::Client;
use crate::error::Error;
use crate::model::capabilities::{Capability, CapabilityRegisterParams, CapabilityUpdateParams};
use crate::model::routes;
use crate::model::types::ListParams;
use crate::page::Page;

#[cfg(feature = "schema")]
mod closed;
#[cfg(feature = "schema")]
mod define;
mod executor;
#[cfg(feature = "schema")]
mod schema;

#[cfg(feature = "schema")]
pub use define::{CapabilityBuilder, DefinedCapability};
pub use executor::Executor;

/// The capabilities of a workspace, from [`Client::capabilities`].
#[derive(Debug, Clone)]
pub struct Capabilities {
    client: Client,
}

impl Client {
    /// The capabilities of the workspace.
    #[must_use]
    pub fn capabilities(&self) -> Capabilities {
        Capabilities { client: self.clone() }
    }
}

impl Capabilities {
    /// Lists the capabilities, the built-in ones among them. A name in the list may have nothing behind it: ask
    /// [`Capability::is_runnable`].
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// use shadway::types::ListParams;
    ///
    /// let mut capabilities = client.capabilities().list(ListParams::new()).items();
    /// while let Some(capability) = capabilities.try_next().await? {
    ///     if capability.is_runnable() {
    ///         println!("{} - {}", capability.name, capability.description);
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn list(&self, params: ListParams) -> Call<Page<Capability>> {
        Call::new(&self.client, Method::GET, routes::CAPABILITIES, &[]).maybe_query("limit", params.limit)
    }

    /// Reads a capability by its name (the call is assumed).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// let send = client.capabilities().get("email.send").await?;
    /// println!("{} {}", send.effect, send.is_runnable());
    /// # Ok(())
    /// # }
    /// ```
    pub fn get(&self, name: impl AsRef<str>) -> Call<Capability> {
        Call::new(&self.client, Method::GET, routes::CAPABILITY, &[name.as_ref()])
    }

    /// Reads one version of a capability (the call is assumed).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// use serde_json::json;
    /// use shadway::capabilities::CapabilityRegisterParams;
    ///
    /// let order = CapabilityRegisterParams::new(
    ///     "procurement.create_po",
    ///     "Create a purchase order.",
    ///     json!({"type": "object"}),
    ///     json!({"type": "object"}),
    /// );
    /// client.capabilities().register(order.version("2")).await?;
    /// let second = client.capabilities().get_version("procurement.create_po", "2").await?;
    /// assert_eq!(second.version.as_deref(), Some("2"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn get_version(&self, name: impl AsRef<str>, version: impl AsRef<str>) -> Call<Capability> {
        self.get(name).query("version", version.as_ref())
    }

    /// Registers a capability of your own: one made by [`Capability::define`], or one with schemas written by
    /// hand.
    ///
    /// **This only defines it.** The service does not run capabilities that you host yet: it stays
    /// [`Unavailable`](crate::capabilities::CapabilityExecutionMode::Unavailable), and a mandate that asks for
    /// it is refused, until something is set up to run it (documented).
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`](crate::ErrorKind::InvalidInput), before anything is sent, for a name without a
    /// dot, or a schema that is not of an object.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// use serde_json::json;
    /// use shadway::capabilities::{CapabilityEffect, CapabilityRegisterParams, CapabilityRisk};
    ///
    /// let order = CapabilityRegisterParams::new(
    ///     "procurement.create_po",
    ///     "Create a purchase order in the ERP system.",
    ///     json!({"type": "object", "properties": {"supplier": {"type": "string"}}, "required": ["supplier"]}),
    ///     json!({"type": "object", "properties": {"purchase_reference": {"type": "string"}}}),
    /// );
    /// let order = order.risk(CapabilityRisk::Financial).effect(CapabilityEffect::Irreversible);
    /// let registered = client.capabilities().register(order).await?;
    /// assert!(!registered.is_runnable());
    /// # Ok(())
    /// # }
    /// ```
    pub fn register(&self, params: impl Into<CapabilityRegisterParams>) -> Call<Capability> {
        Call::new(&self.client, Method::POST, routes::CAPABILITIES, &[])
            .checked_json_body(params.into().checked().map_err(Error::invalid_input))
    }

    /// Changes the description, the status or the labels of a capability of your own; inputs and outputs need a
    /// new name or version (documented; the call is assumed).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::capabilities::CapabilityRegisterParams;
    /// # let object = || serde_json::json!({"type": "object"});
    /// # let order = CapabilityRegisterParams::new("procurement.create_po", "Create an order.", object(), object());
    /// # client.capabilities().register(order).await?;
    /// use shadway::capabilities::{CapabilityStatus, CapabilityUpdateParams};
    ///
    /// let disabled = CapabilityUpdateParams::new().status(CapabilityStatus::Disabled);
    /// let capability = client.capabilities().update("procurement.create_po", disabled).await?;
    /// assert_eq!(capability.status, CapabilityStatus::Disabled);
    /// # Ok(())
    /// # }
    /// ```
    pub fn update(&self, name: impl AsRef<str>, params: CapabilityUpdateParams) -> Call<Capability> {
        Call::new(&self.client, Method::PATCH, routes::CAPABILITY, &[name.as_ref()]).json_body(&params)
    }
}
