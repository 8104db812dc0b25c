//! The agents of a workspace.

use http::Method;

use crate::call::Call;
use crate::client::Client;
use crate::model::agents::{Agent, AgentCreateParams, AgentUpdateParams};
use crate::model::routes;
use crate::model::types::AgentId;
use crate::model::types::ListParams;
use crate::page::Page;

mod ready;
pub use ready::ReadyWait;

/// The agents of a workspace, from [`Client::agents`]. There is no delete (documented).
#[derive(Debug, Clone)]
pub struct Agents {
    client: Client,
}

impl Client {
    /// The agents of the workspace.
    #[must_use]
    pub fn agents(&self) -> Agents {
        Agents { client: self.clone() }
    }
}

impl Agents {
    /// Makes a new agent.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// use shadway::agents::AgentCreateParams;
    ///
    /// let agent = client
    ///     .agents()
    ///     .create(
    ///         AgentCreateParams::new("Assistant", "your-provider/your-model")
    ///             .instructions("Be concise.")
    ///             .capabilities(["email.send", "email.get_delivery"]),
    ///     )
    ///     .await?;
    /// println!("{}", agent.id);
    /// # Ok(())
    /// # }
    /// ```
    pub fn create(&self, params: AgentCreateParams) -> Call<Agent> {
        Call::new(&self.client, Method::POST, routes::AGENTS, &[]).json_body(&params)
    }

    /// Reads an agent, with how far its capabilities are set up.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::agents::AgentCreateParams;
    /// # let agent = client.agents().create(AgentCreateParams::new("A", "your-provider/your-model")).await?;
    /// let saved = client.agents().get(&agent.id).await?;
    /// for (name, readiness) in saved.not_ready() {
    ///     println!("{name}: {}", readiness.status);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn get(&self, id: impl Into<AgentId>) -> Call<Agent> {
        Call::new(&self.client, Method::GET, routes::AGENT, &[id.into().as_str()])
    }

    /// Lists the agents.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// use shadway::types::ListParams;
    ///
    /// let mut agents = client.agents().list(ListParams::new().limit(20)).items();
    /// while let Some(agent) = agents.try_next().await? {
    ///     println!("{} {} {}", agent.id, agent.name, agent.status);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn list(&self, params: ListParams) -> Call<Page<Agent>> {
        Call::new(&self.client, Method::GET, routes::AGENTS, &[]).maybe_query("limit", params.limit)
    }

    /// Changes an agent; what is not set stays. Mandates that exist keep the version they began with
    /// (documented).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::agents::AgentCreateParams;
    /// # let agent = client.agents().create(AgentCreateParams::new("A", "your-provider/your-model")).await?;
    /// use shadway::agents::{AgentStatus, AgentUpdateParams};
    ///
    /// let disabled = AgentUpdateParams::new().status(AgentStatus::Disabled);
    /// let agent = client.agents().update(&agent.id, disabled).await?;
    /// assert_eq!(agent.status, AgentStatus::Disabled);
    /// # Ok(())
    /// # }
    /// ```
    pub fn update(&self, id: impl Into<AgentId>, params: AgentUpdateParams) -> Call<Agent> {
        Call::new(&self.client, Method::PATCH, routes::AGENT, &[id.into().as_str()]).json_body(&params)
    }

    /// Waits until every capability of the agent that reports a status is ready.
    ///
    /// Ends early with [`ErrorKind::NotReady`](crate::ErrorKind::NotReady) when one has failed, is unavailable
    /// or requires an action, since none of them becomes ready by itself. A capability that reports no status
    /// is not waited for.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::agents::AgentCreateParams;
    /// # let agent = client.agents().create(AgentCreateParams::new("A", "your-provider/your-model")
    /// #     .capabilities(["phone", "phone.call"])).await?;
    /// use std::time::Duration;
    ///
    /// let agent = client.agents().wait_until_ready(&agent.id).timeout(Duration::from_secs(60)).await?;
    /// assert_eq!(agent.not_ready().count(), 0);
    /// # Ok(())
    /// # }
    /// ```
    pub fn wait_until_ready(&self, id: impl Into<AgentId>) -> ReadyWait {
        ReadyWait::new(self.client.clone(), id.into())
    }
}
