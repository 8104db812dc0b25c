//! A look at the server from inside its process, beside what it answers.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::LocalServer;
use super::requests::RequestRecord;
use super::shared::Shared;
use super::traffic::Kind;
use super::workspace::store::Serial;
use crate::model::approvals::Approval;
use crate::model::mandates::Mandate;

impl LocalServer {
    /// The requests that came, oldest first, over sockets and from memory: the last 10,000, and no more than hold
    /// 16 MiB of text. Fetching an artifact by its link is none.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread", start_paused = true)]
    /// # async fn main() -> shadway::Result<()> {
    /// use http::Method;
    /// use shadway::Client;
    /// use shadway::agents::AgentCreateParams;
    /// use shadway::local::{Fault, LocalServer};
    /// use shadway::mandates::MandateCreateParams;
    ///
    /// let server = LocalServer::start().await?;
    /// let client = Client::builder().api_key(server.api_key()).http_service(server.service()).build()?;
    /// let agent = client.agents().create(AgentCreateParams::new("Assistant", "your-provider/your-model")).await?;
    ///
    /// // The mandate is created, and nobody hears of it: twice.
    /// server.fault(Fault::drop_answer().on(Method::POST, "/v1/mandates").times(2));
    /// let mandate = client.mandates().create(MandateCreateParams::new(&agent.id, "Ask for a quote.")).await?;
    ///
    /// let requests = server.requests();
    /// let attempts: Vec<_> = requests.iter().filter(|request| request.route == "/v1/mandates").collect();
    /// assert_eq!(attempts.len(), 3);
    /// assert!(attempts.iter().all(|attempt| attempt.idempotency_key == attempts[0].idempotency_key));
    /// assert_eq!(server.mandates().len(), 1);
    /// assert_eq!(server.mandates()[0].id, mandate.id);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn requests(&self) -> Vec<RequestRecord> {
        self.shared.journal().all()
    }

    /// All mandates as they are now, in the order of their creation. To look does not count as waiting for them.
    #[must_use]
    pub fn mandates(&self) -> Vec<Mandate> {
        self.shared.with(|workspace, _| workspace.all_mandates())
    }

    /// The approvals that wait for a person, one after the other as they are asked for.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// use shadway::agents::AgentCreateParams;
    /// use shadway::approvals::ApprovalApproveParams;
    /// use shadway::local::LocalServer;
    /// use shadway::mandates::{Authority, MandateCreateParams};
    ///
    /// let server = LocalServer::start().await?;
    /// let client = server.client()?;
    /// # let agent = AgentCreateParams::new("Assistant", "your-provider/your-model").capabilities(["email.send"]);
    /// # let agent = client.agents().create(agent).await?;
    /// # let authority = Authority::new().require_approval_for(["email.send"]);
    /// # let params = MandateCreateParams::new(&agent.id, "Ask for a quote.").authority(authority);
    /// # client.mandates().create(params).await?;
    ///
    /// // The person in your test, whatever the code under test does meanwhile.
    /// let mut approvals = server.approvals();
    /// if let Some(approval) = approvals.next().await {
    ///     assert_eq!(approval.action.capability, "email.send");
    ///     client.approvals().approve(&approval.id, ApprovalApproveParams::new()).await?;
    /// }
    /// assert!(approvals.pending().is_empty());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn approvals(&self) -> LocalApprovals {
        LocalApprovals { shared: Arc::clone(&self.shared), given: 0 }
    }
}

/// The approvals of a [`LocalServer`], from [`LocalServer::approvals`].
///
/// It does not keep the server alive.
pub struct LocalApprovals {
    shared: Arc<Shared>,
    /// The last one that was given.
    given: Serial,
}

impl LocalApprovals {
    /// The next approval that is pending and was not given before by this value; waits until there is one. `None`
    /// once the server has been stopped.
    ///
    /// To an [automatic clock](super::LocalClock::Automatic) this is somebody who waits, so that what is asked for
    /// next is asked for at once. Dropping the future loses nothing.
    pub async fn next(&mut self) -> Option<Approval> {
        let mut positions = self.shared.position.subscribe();
        loop {
            if self.shared.stopped.load(Ordering::Relaxed) {
                return None;
            }
            // Marked as seen before it is looked for, so that nothing that comes in between is missed.
            positions.borrow_and_update();
            let next = self.shared.with(|workspace, _| workspace.next_pending(self.given));
            if let Some((serial, approval)) = next {
                self.given = serial;
                return Some(approval);
            }
            let _waits = self.shared.traffic.count(Kind::Reader);
            positions.changed().await.ok()?;
        }
    }

    /// All that are pending now, in the order in which they were asked for, whether given before or not.
    #[must_use]
    pub fn pending(&self) -> Vec<Approval> {
        self.shared.with(|workspace, _| workspace.pending_approvals())
    }
}

impl fmt::Debug for LocalApprovals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LocalApprovals").finish_non_exhaustive()
    }
}
