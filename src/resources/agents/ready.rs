//! Waiting for an agent's capabilities to be set up.

use std::future::IntoFuture;
use std::sync::Arc;
use std::time::Duration;

use crate::call::CallFuture;
use crate::client::Client;
use crate::error::{Error, Result};
use crate::model::agents::{Agent, AgentCapabilityReadiness};
use crate::model::types::AgentId;
use crate::resources::poll::{self, PollOptions};

/// A wait for an agent to be ready, from [`Agents::wait_until_ready`](super::Agents::wait_until_ready).
#[derive(Debug, Clone)]
#[must_use = "a wait does nothing until it is awaited"]
pub struct ReadyWait {
    client: Client,
    id: AgentId,
    options: PollOptions,
}

impl ReadyWait {
    pub(super) fn new(client: Client, id: AgentId) -> Self {
        Self { client, id, options: PollOptions::default() }
    }

    /// How long to wait; without end unless it is set.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = Some(timeout);
        self
    }

    /// How often to read, 10 ms at least. Without it the reads get rarer while nothing changes.
    pub fn poll_interval(mut self, interval: Duration) -> Self {
        self.options.interval = Some(interval);
        self
    }
}

impl IntoFuture for ReadyWait {
    type Output = Result<Agent>;
    type IntoFuture = CallFuture<Agent>;

    fn into_future(self) -> CallFuture<Agent> {
        let timer = Arc::clone(&self.client.transport().timer);
        Box::pin(async move {
            let read = || self.client.agents().get(&self.id);
            let done = |agent: &Agent| is_ready(agent, &self.client);
            poll::until(timer, self.options, read, done).await
        })
    }
}

fn is_ready(agent: &Agent, client: &Client) -> Result<bool> {
    let stuck = agent.not_ready().find(|(_, readiness)| {
        matches!(
            readiness.status,
            AgentCapabilityReadiness::RequiresAction
                | AgentCapabilityReadiness::Unavailable
                | AgentCapabilityReadiness::Failed
        )
    });
    match stuck {
        Some((name, readiness)) => {
            let detail = readiness.detail.as_deref().map(|detail| format!(": {detail}")).unwrap_or_default();
            let why = format!("the capability {name} is {}{detail}", readiness.status);
            let shown = client.transport().api_key.redact_text(&why);
            Err(Error::not_ready(&shown.unwrap_or(why)))
        }
        None => Ok(agent.not_ready().next().is_none()),
    }
}
