//! The artifacts behind the evidence.

use http::Method;

use crate::call::Call;
use crate::client::Client;
use crate::model::record::ArtifactDownload;
use crate::model::routes;
use crate::model::types::ArtifactId;

/// The artifacts of a workspace, from [`Client::artifacts`]. A mandate lists its own:
/// [`MandateHandle::artifacts`](crate::mandates::MandateHandle::artifacts).
#[derive(Debug, Clone)]
pub struct Artifacts {
    client: Client,
}

impl Client {
    /// The artifacts of the workspace.
    #[must_use]
    pub fn artifacts(&self) -> Artifacts {
        Artifacts { client: self.clone() }
    }
}

impl Artifacts {
    /// Asks for a short-lived link to an artifact (the link is documented, the call assumed). Fetch it without
    /// the API key.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::{agents::AgentCreateParams, mandates::MandateCreateParams};
    /// # let agent = client.agents().create(AgentCreateParams::new("A", "your-provider/your-model")).await?;
    /// # let id = client.mandates().create(MandateCreateParams::new(&agent.id, "Say hello.")).await?.id;
    /// # fn fetch(_: &str) {}
    /// let mut artifacts = client.mandate(id).artifacts().list().items();
    /// while let Some(artifact) = artifacts.try_next().await? {
    ///     let download = client.artifacts().download(&artifact.id).await?;
    ///     fetch(download.url.expose());
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn download(&self, id: impl Into<ArtifactId>) -> Call<ArtifactDownload> {
        Call::new(&self.client, Method::GET, routes::ARTIFACT_DOWNLOAD, &[id.into().as_str()])
    }
}
