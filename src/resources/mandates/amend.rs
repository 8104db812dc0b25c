//! Changing the limits of a mandate.

use http::Method;

use super::MandateHandle;
use crate::call::Call;
use crate::error::{Error, Result};
use crate::model::amendments::{MandateAmendment, MandateAmendmentCreateParams};
use crate::model::authority::Authority;
use crate::model::errors::ErrorCode;
use crate::model::routes;

/// How often [`MandateHandle::amend_with`] reads and sends: enough for a few people at once, and an end.
const ROUNDS: u32 = 5;

impl MandateHandle {
    /// Replaces all limits of the mandate, from its next step on (documented).
    ///
    /// It conflicts, with the code [`VersionMismatch`](ErrorCode::VersionMismatch), when the limits have been
    /// changed since the version named, and when the mandate has ended.
    ///
    /// Two traps, both because the whole set is replaced:
    ///
    /// - An object replaced as a whole loses its siblings: a new `spend` with a `maximum` drops the approval
    ///   threshold. Begin with the authority that was read and use its setters: each changes its one field.
    /// - An empty `capabilities` does not mean none: it widens the mandate to the agent's full set.
    ///
    /// [`amend_with`](Self::amend_with) does the reading too.
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
    /// use shadway::mandates::MandateAmendmentCreateParams;
    /// use shadway::types::Money;
    ///
    /// let work = client.mandate(id);
    /// let current = work.get().await?;
    /// let amendment = work
    ///     .amend(MandateAmendmentCreateParams::new(
    ///         current.authority.spend_maximum(Money::usd(899_999)),
    ///         "Approved budget increase for expedited shipping.",
    ///         current.authority_version,
    ///     ))
    ///     .await?;
    /// println!("{}", amendment.version); // the new version
    /// # Ok(())
    /// # }
    /// ```
    pub fn amend(&self, params: MandateAmendmentCreateParams) -> Call<MandateAmendment> {
        Call::new(&self.client, Method::POST, routes::MANDATE_AMENDMENTS, &[self.id.as_str()])
            .json_body(&params)
    }

    /// Reads the limits, changes them, and sends them with the version that was read. When somebody else
    /// changed them in between, it does so again with theirs, five times at most.
    ///
    /// Nothing is sent before the future is polled. Limits this version of the crate does not know stay as they
    /// are. See [`amend`](Self::amend) for what an empty list of capabilities means.
    ///
    /// # Errors
    /// Of the read or of the amendment; the version conflict of the last try, once all are used up.
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
    /// use shadway::types::Money;
    ///
    /// let work = client.mandate(id);
    /// work.amend_with("Expedited shipping.", |limits| limits.spend_maximum(Money::usd(899_999))).await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn amend_with<R, F>(
        &self,
        reason: R,
        change: F,
    ) -> impl Future<Output = Result<MandateAmendment>> + Send + use<R, F>
    where
        R: Into<String>,
        F: Fn(Authority) -> Authority + Send,
    {
        let (handle, reason) = (self.clone(), reason.into());
        async move {
            let mut round = 1;
            loop {
                let read = handle.get().send().await?;
                let (authority, version) = (change(read.authority), read.authority_version);
                let params = MandateAmendmentCreateParams::new(authority, reason.clone(), version);
                match handle.amend(params).send().await {
                    Err(error) if is_stale(&error) && round < ROUNDS => round += 1,
                    answer => return answer,
                }
            }
        }
    }
}

fn is_stale(error: &Error) -> bool {
    error.code() == Some(&ErrorCode::VersionMismatch)
}
