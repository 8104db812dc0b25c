//! The mandates of a workspace, and the handle of one.

use http::Method;

use crate::call::Call;
use crate::client::Client;
use crate::model::mandates::{Mandate, MandateCommandParams, MandateCreateParams, MandateListParams};
use crate::model::routes;
use crate::model::types::MandateId;
use crate::page::Page;

mod amend;
mod approval_wait;
mod record;
mod wait;
mod watch;
mod watcher;
pub use approval_wait::ApprovalWait;
pub use record::Record;
pub use wait::{Updates, Wait};
pub use watcher::{WatchedApproval, WatchedEvents, WatchedWait, Watcher};

/// The mandates of a workspace, from [`Client::mandates`].
#[derive(Debug, Clone)]
pub struct Mandates {
    client: Client,
}

impl Client {
    /// The mandates of the workspace.
    #[must_use]
    pub fn mandates(&self) -> Mandates {
        Mandates { client: self.clone() }
    }

    /// A handle to one mandate. Making it sends nothing and starts nothing, so any process can reconnect to
    /// work by its id.
    #[must_use]
    pub fn mandate(&self, id: impl Into<MandateId>) -> MandateHandle {
        MandateHandle { client: self.clone(), id: id.into() }
    }
}

impl Mandates {
    /// Delegates a job: makes a new mandate, which starts by itself.
    ///
    /// One whose capability can't run, or that asks for more than its agent has, is refused (documented).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::agents::AgentCreateParams;
    /// # let agent = client.agents().create(AgentCreateParams::new("A", "your-provider/your-model")
    /// #     .capabilities(["email.send", "email.get_delivery"])).await?;
    /// use shadway::mandates::{Authority, MandateCreateParams};
    ///
    /// let mandate = client
    ///     .mandates()
    ///     .create(
    ///         MandateCreateParams::new(&agent.id, "Email sales@atlas.example and ask for a quote.")
    ///             .authority(Authority::new().capabilities(["email.send"]).maximum_actions(5)),
    ///     )
    ///     .idempotency_key("quote-2026-q3")
    ///     .await?;
    /// println!("{} {}", mandate.id, mandate.status);
    /// # Ok(())
    /// # }
    /// ```
    pub fn create(&self, params: MandateCreateParams) -> Call<Mandate> {
        Call::new(&self.client, Method::POST, routes::MANDATES, &[]).json_body(&params)
    }

    /// Reads a mandate.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// let missing = client.mandates().get("mnd_missing").await.unwrap_err();
    /// assert!(missing.is_not_found());
    /// # Ok(())
    /// # }
    /// ```
    pub fn get(&self, id: impl Into<MandateId>) -> Call<Mandate> {
        Call::new(&self.client, Method::GET, routes::MANDATE, &[id.into().as_str()])
    }

    /// Lists the mandates.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// use shadway::mandates::{Mandate, MandateListParams, MandateStatus};
    ///
    /// let waiting = MandateListParams::new().status([MandateStatus::NeedsApproval, MandateStatus::Paused]);
    /// let waiting: Vec<Mandate> = client.mandates().list(waiting).items().try_collect().await?;
    /// assert!(waiting.is_empty());
    /// # Ok(())
    /// # }
    /// ```
    pub fn list(&self, params: MandateListParams) -> Call<Page<Mandate>> {
        params
            .status
            .iter()
            .fold(Call::new(&self.client, Method::GET, routes::MANDATES, &[]), |call, status| {
                call.query("status", status)
            })
            .maybe_query("agent", params.agent)
            .maybe_query("limit", params.limit)
    }
}

/// A handle to one mandate, from [`Client::mandate`].
#[derive(Debug, Clone)]
pub struct MandateHandle {
    client: Client,
    id: MandateId,
}

impl MandateHandle {
    /// The mandate's id; store it to reconnect later.
    #[must_use]
    pub fn id(&self) -> &MandateId {
        &self.id
    }

    /// Reads the mandate.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::{agents::AgentCreateParams, mandates::MandateCreateParams};
    /// # let agent = client.agents().create(AgentCreateParams::new("A", "your-provider/your-model")).await?;
    /// # let id = client.mandates().create(MandateCreateParams::new(&agent.id, "Say hello.")).await?.id;
    /// let current = client.mandate(id).get().await?;
    /// println!("{}: {}", current.status, current.current_state.summary);
    /// # Ok(())
    /// # }
    /// ```
    pub fn get(&self) -> Call<Mandate> {
        self.client.mandates().get(&self.id)
    }

    /// Stops new work at the next safe point. The status changes once the work has stopped, not when this
    /// returns; what was sent out is not undone (documented).
    ///
    /// Conflicts with a status that can't be paused (documented; from which it can is assumed).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::{agents::AgentCreateParams, mandates::MandateCreateParams};
    /// # let agent = client.agents().create(AgentCreateParams::new("A", "your-provider/your-model")).await?;
    /// # let id = client.mandates().create(MandateCreateParams::new(&agent.id, "Say hello.")).await?.id;
    /// let work = client.mandate(id);
    /// work.pause("Procurement is reviewing the specification.").await?;
    /// work.resume("The specification is confirmed.").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn pause(&self, params: impl Into<MandateCommandParams>) -> Call<Mandate> {
        self.command(routes::MANDATE_PAUSE, params.into())
    }

    /// Goes on with a paused mandate, which keeps all it knew; or withdraws a pause that is still pending.
    /// Conflicts with any other status.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::{agents::AgentCreateParams, mandates::MandateCreateParams};
    /// # let agent = client.agents().create(AgentCreateParams::new("A", "your-provider/your-model")).await?;
    /// # let id = client.mandates().create(MandateCreateParams::new(&agent.id, "Say hello.")).await?.id;
    /// # client.mandate(&id).pause("Not yet.").await?;
    /// let work = client.mandate(id);
    /// work.resume("The specification is confirmed.").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn resume(&self, params: impl Into<MandateCommandParams>) -> Call<Mandate> {
        self.command(routes::MANDATE_RESUME, params.into())
    }

    /// Stops further work, from any status that is not final, and clears its pending approvals. What was sent
    /// or ordered is not undone (documented).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::{agents::AgentCreateParams, mandates::MandateCreateParams};
    /// # let agent = client.agents().create(AgentCreateParams::new("A", "your-provider/your-model")).await?;
    /// # let id = client.mandates().create(MandateCreateParams::new(&agent.id, "Say hello.")).await?.id;
    /// use shadway::mandates::MandateStatus;
    ///
    /// let work = client.mandate(id);
    /// work.cancel("The part is no longer needed.").await?;
    /// assert_eq!(work.wait().await?.status, MandateStatus::Canceled);
    /// # Ok(())
    /// # }
    /// ```
    pub fn cancel(&self, params: impl Into<MandateCommandParams>) -> Call<Mandate> {
        self.command(routes::MANDATE_CANCEL, params.into())
    }

    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    fn command(&self, route: &'static str, params: MandateCommandParams) -> Call<Mandate> {
        Call::new(&self.client, Method::POST, route, &[self.id.as_str()]).json_body(&params)
    }

    /// Waits until the mandate has ended. Waiting only observes: ending it early never affects the mandate.
    ///
    /// See [`Wait`] for its options, and for following the states on the way.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::{agents::AgentCreateParams, mandates::MandateCreateParams};
    /// # let agent = client.agents().create(AgentCreateParams::new("A", "your-provider/your-model")).await?;
    /// # let id = client.mandates().create(MandateCreateParams::new(&agent.id, "Say hello.")).await?.id;
    /// use std::time::Duration;
    ///
    /// let work = client.mandate(id);
    /// match work.wait().timeout(Duration::from_secs(15 * 60)).await {
    ///     Ok(done) => println!("{} {}", done.status, done.current_state.summary),
    ///     Err(error) if error.is_timeout() => println!("still working, reconnect with {}", work.id()),
    ///     Err(error) => return Err(error),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn wait(&self) -> Wait {
        Wait::new(self.clone())
    }

    /// Waits until the mandate asks a person to approve or to answer something, or ends without asking: then there
    /// is `None`. An approval that was already pending is found at once.
    ///
    /// See [`ApprovalWait`] for its options.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::{agents::AgentCreateParams, mandates::{Authority, MandateCreateParams}};
    /// # let params = AgentCreateParams::new("A", "your-provider/your-model").capabilities(["email.send"]);
    /// # let agent = client.agents().create(params).await?;
    /// # let limits = Authority::new().require_approval_for(["email.send"]);
    /// # let params = MandateCreateParams::new(&agent.id, "Email sales@atlas.example.").authority(limits);
    /// # let id = client.mandates().create(params).await?.id;
    /// use std::time::Duration;
    ///
    /// let work = client.mandate(id);
    /// while let Some(approval) = work.wait_for_approval().timeout(Duration::from_secs(30 * 60)).await? {
    ///     println!("{}: {}", approval.question, approval.action.arguments);
    ///     client.approvals().reject(&approval.id, "The supplier is not approved.").await?;
    /// }
    /// println!("it ended: {}", work.get().await?.status);
    /// # Ok(())
    /// # }
    /// ```
    pub fn wait_for_approval(&self) -> ApprovalWait {
        ApprovalWait::new(self.clone())
    }
}
