//! A service with one agent, whose mandates make events.

use std::time::Duration;

use shadway::Client;
use shadway::agents::AgentCreateParams;
use shadway::events::Event;
use shadway::local::LocalServer;
use shadway::mandates::MandateCreateParams;
use shadway::types::AgentId;

pub(crate) struct Service {
    server: LocalServer,
    pub(crate) client: Client,
    agent: AgentId,
}

impl Service {
    pub(crate) async fn start() -> Self {
        let server = LocalServer::start().await.unwrap();
        let client = server.client().unwrap();
        let agent = AgentCreateParams::new("A", "local/simulated").capabilities([
            "email.send",
            "email.get_delivery",
            "mailbox.send",
        ]);
        let agent = client.agents().create(agent).await.unwrap().id;
        Self { server, client, agent }
    }

    pub(crate) fn url(&self) -> &str {
        self.server.url()
    }

    pub(crate) fn key(&self) -> &str {
        self.server.api_key()
    }

    /// So many mandates, one after the other, until all have ended; each takes about a second.
    pub(crate) async fn mandates(&self, number: usize, pace: Duration) {
        let mut mandates = Vec::new();
        for _ in 0..number {
            let params = MandateCreateParams::new(&self.agent, "Ask for a quote.");
            mandates.push(self.client.mandates().create(params).await.unwrap().id);
            tokio::time::sleep(pace).await;
        }
        for mandate in mandates {
            self.client.mandate(mandate).wait().await.unwrap();
        }
    }

    /// All that happened so far, in that order.
    pub(crate) async fn events(&self) -> Vec<Event> {
        self.client.events().list().items().try_collect().await.unwrap()
    }
}
