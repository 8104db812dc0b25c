//! Something to ask about, where there is no workspace: a local server, and an agent that runs the errands of a small
//! manufacturer. What it does is said beforehand; nothing ever leaves this machine.

use shadway::agents::AgentCreateParams;
use shadway::local::{LocalClock, LocalServer, Script};
use shadway::mandates::MandateCreateParams;
use shadway::types::{AgentId, ApprovalId};
use shadway::{Client, Result};

use super::errands::{BUILT_IN, Decided, capabilities, errands};

/// A local server, in the time of this machine, and the agent on it.
pub(crate) struct Demo {
    server: LocalServer,
    agent: AgentId,
}

impl Demo {
    pub(crate) async fn start() -> Result<Self> {
        let server = LocalServer::builder().clock(LocalClock::Real).start().await?;
        for errand in errands() {
            let objective = errand.objective;
            server.script((errand.steps)(Script::when(move |mandate| mandate.objective == objective)));
        }
        let client = server.client()?;
        let mut names = BUILT_IN.map(str::to_owned).to_vec();
        for capability in capabilities() {
            names.push(capability.name.clone());
            client.capabilities().register(capability).await?;
        }
        let agent = AgentCreateParams::new("Errands", "local/simulated").capabilities(names);
        let agent = client.agents().create(agent).await?.id;
        Ok(Self { server, agent })
    }

    pub(crate) fn client(&self) -> Result<Client> {
        self.server.client()
    }

    /// Gives the agent its errands, each at its time, and keeps the server running.
    pub(crate) async fn work(self) -> Result<()> {
        let client = self.client()?;
        for errand in errands() {
            tokio::time::sleep(errand.after).await;
            let mut params =
                MandateCreateParams::new(&self.agent, errand.objective).authority(errand.authority);
            if let Some(lasts) = errand.lasts {
                params = params.expires_at(self.server.now() + lasts);
            }
            let mandate = client.mandates().create(params).await?;
            let Some(decided) = errand.decided else { continue };
            if let Some(approval) = client.mandate(&mandate.id).wait_for_approval().await? {
                decide(&client, &approval.id, decided).await?;
            }
        }
        std::future::pending().await
    }
}

async fn decide(client: &Client, approval: &ApprovalId, decided: Decided) -> Result<()> {
    match decided {
        Decided::Approved(reason) => client.approvals().approve(approval, reason).await?,
        Decided::Rejected(reason) => client.approvals().reject(approval, reason).await?,
    };
    Ok(())
}
