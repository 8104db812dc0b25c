//! Something to ask about, where there is no workspace: a local server, and agents at work on it.

use shadway::agents::AgentCreateParams;
use shadway::local::{LocalClock, LocalServer};
use shadway::mandates::{Authority, MandateCreateParams};
use shadway::types::Money;
use shadway::{Client, Result};

pub(crate) async fn start() -> Result<LocalServer> {
    LocalServer::builder().clock(LocalClock::Real).start().await
}

pub(crate) async fn work(client: Client) -> Result<()> {
    let agent = AgentCreateParams::new("Purchasing", "local/simulated").capabilities([
        "email.send",
        "email.get_delivery",
        "mailbox.read_thread",
    ]);
    let agent = client.agents().create(agent).await?;
    let authority = Authority::new()
        .require_approval_for(["email.send"])
        .maximum_actions(5)
        .maximum_read_actions(20)
        .spend_maximum(Money::usd(799_999));
    let params = MandateCreateParams::new(&agent.id, "Email sales@atlas.example and ask for a quote.")
        .authority(authority);
    client.mandates().create(params).await?;
    Ok(())
}
