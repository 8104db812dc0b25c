//! The record of a mandate: lists to read, each on the handle.

use std::fmt;
use std::marker::PhantomData;

use http::Method;
use serde::de::DeserializeOwned;

use super::MandateHandle;
use crate::call::Call;
use crate::model::amendments::MandateAmendment;
use crate::model::record::{Artifact, Assertion, Commitment, Evidence, Fact, InformationNeed, Issue};
use crate::model::routes;
use crate::page::Page;

/// One part of a mandate's record, such as its facts. From [`MandateHandle::facts`] and its neighbors.
///
/// Read-only: the service writes the record as the work happens, and nobody can edit it (documented).
#[derive(Clone)]
pub struct Record<T> {
    handle: MandateHandle,
    route: &'static str,
    item: PhantomData<fn() -> T>,
}

impl<T: DeserializeOwned> Record<T> {
    /// Lists this part of the record; [`limit`](Call::limit) sets the size of a page.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::{agents::AgentCreateParams, mandates::MandateCreateParams};
    /// # let agent = client.agents().create(AgentCreateParams::new("A", "your-provider/your-model")).await?;
    /// # let id = client.mandates().create(MandateCreateParams::new(&agent.id, "Say hello.")).await?.id;
    /// let mut facts = client.mandate(id).facts().list().limit(100).items();
    /// while let Some(fact) = facts.try_next().await? {
    ///     println!("{} = {} ({})", fact.key, fact.value, fact.status);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn list(&self) -> Call<Page<T>> {
        Call::new(&self.handle.client, Method::GET, self.route, &[self.handle.id.as_str()])
    }
}

impl<T> fmt::Debug for Record<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Record").field("handle", &self.handle).field("route", &self.route).finish()
    }
}

impl MandateHandle {
    /// What is known of the job, and how surely.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::{agents::AgentCreateParams, mandates::MandateCreateParams};
    /// # let agent = client.agents().create(AgentCreateParams::new("A", "your-provider/your-model")).await?;
    /// # let id = client.mandates().create(MandateCreateParams::new(&agent.id, "Say hello.")).await?.id;
    /// let mut facts = client.mandate(id).facts().list().items();
    /// while let Some(fact) = facts.try_next().await? {
    ///     if fact.status.is_confirmed() {
    ///         println!("{} = {}", fact.key, fact.value);
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn facts(&self) -> Record<Fact> {
        self.record(routes::MANDATE_FACTS)
    }

    /// The sources behind the facts, word for word.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::{agents::AgentCreateParams, mandates::MandateCreateParams};
    /// # let agent = client.agents().create(AgentCreateParams::new("A", "your-provider/your-model")).await?;
    /// # let id = client.mandates().create(MandateCreateParams::new(&agent.id, "Say hello.")).await?.id;
    /// let mut evidence = client.mandate(id).evidence().list().items();
    /// while let Some(piece) = evidence.try_next().await? {
    ///     println!("{} ({}): {}", piece.title, piece.quality.source_class, piece.excerpt);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn evidence(&self) -> Record<Evidence> {
        self.record(routes::MANDATE_EVIDENCE)
    }

    /// The questions the work needs to answer.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::{agents::AgentCreateParams, mandates::MandateCreateParams};
    /// # let agent = client.agents().create(AgentCreateParams::new("A", "your-provider/your-model")).await?;
    /// # let id = client.mandates().create(MandateCreateParams::new(&agent.id, "Say hello.")).await?.id;
    /// let mut issues = client.mandate(id).issues().list().items();
    /// while let Some(issue) = issues.try_next().await? {
    ///     println!("{} ({})", issue.question, issue.state);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn issues(&self) -> Record<Issue> {
        self.record(routes::MANDATE_ISSUES)
    }

    /// The claims that somebody made.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::{agents::AgentCreateParams, mandates::MandateCreateParams};
    /// # let agent = client.agents().create(AgentCreateParams::new("A", "your-provider/your-model")).await?;
    /// # let id = client.mandates().create(MandateCreateParams::new(&agent.id, "Say hello.")).await?.id;
    /// let mut assertions = client.mandate(id).assertions().list().items();
    /// while let Some(claim) = assertions.try_next().await? {
    ///     println!("{}", claim.claim);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn assertions(&self) -> Record<Assertion> {
        self.record(routes::MANDATE_ASSERTIONS)
    }

    /// What the agent still has to find out.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::{agents::AgentCreateParams, mandates::MandateCreateParams};
    /// # let agent = client.agents().create(AgentCreateParams::new("A", "your-provider/your-model")).await?;
    /// # let id = client.mandates().create(MandateCreateParams::new(&agent.id, "Say hello.")).await?.id;
    /// let mut information_needs = client.mandate(id).information_needs().list().items();
    /// while let Some(need) = information_needs.try_next().await? {
    ///     println!("{} ({})", need.question, need.state);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn information_needs(&self) -> Record<InformationNeed> {
        self.record(routes::MANDATE_INFORMATION_NEEDS)
    }

    /// The promises the agent made or received.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::{agents::AgentCreateParams, mandates::MandateCreateParams};
    /// # let agent = client.agents().create(AgentCreateParams::new("A", "your-provider/your-model")).await?;
    /// # let id = client.mandates().create(MandateCreateParams::new(&agent.id, "Say hello.")).await?.id;
    /// let mut commitments = client.mandate(id).commitments().list().items();
    /// while let Some(promise) = commitments.try_next().await? {
    ///     println!("{}: {}", promise.direction, promise.text);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn commitments(&self) -> Record<Commitment> {
        self.record(routes::MANDATE_COMMITMENTS)
    }

    /// The documents, emails and records it fetched or received, saved exactly as they arrived.
    /// [`Artifacts::download`](crate::record::Artifacts::download) gives a link to one.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::{agents::AgentCreateParams, mandates::MandateCreateParams};
    /// # let agent = client.agents().create(AgentCreateParams::new("A", "your-provider/your-model")).await?;
    /// # let id = client.mandates().create(MandateCreateParams::new(&agent.id, "Say hello.")).await?.id;
    /// let mut artifacts = client.mandate(id).artifacts().list().items();
    /// while let Some(artifact) = artifacts.try_next().await? {
    ///     println!("{}", artifact.name);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn artifacts(&self) -> Record<Artifact> {
        self.record(routes::MANDATE_ARTIFACTS)
    }

    /// Every change of its limits, with who made it and why.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::{agents::AgentCreateParams, mandates::MandateCreateParams};
    /// # let agent = client.agents().create(AgentCreateParams::new("A", "your-provider/your-model")).await?;
    /// # let id = client.mandates().create(MandateCreateParams::new(&agent.id, "Say hello.")).await?.id;
    /// let mut amendments = client.mandate(id).amendments().list().items();
    /// while let Some(change) = amendments.try_next().await? {
    ///     println!("{}: {}", change.version, change.reason);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn amendments(&self) -> Record<MandateAmendment> {
        self.record(routes::MANDATE_AMENDMENTS)
    }

    fn record<T>(&self, route: &'static str) -> Record<T> {
        Record { handle: self.clone(), route, item: PhantomData }
    }
}
