//! The approvals of a workspace.

use http::Method;

use crate::call::Call;
use crate::client::Client;
use crate::model::approvals::{Approval, ApprovalApproveParams, ApprovalListParams, ApprovalRejectParams};
use crate::model::routes;
use crate::model::types::ApprovalId;
use crate::page::Page;

/// The approvals of a workspace, from [`Client::approvals`].
#[derive(Debug, Clone)]
pub struct Approvals {
    client: Client,
}

impl Client {
    /// The approvals of the workspace.
    #[must_use]
    pub fn approvals(&self) -> Approvals {
        Approvals { client: self.clone() }
    }
}

impl Approvals {
    /// Lists approvals: the pending ones of the workspace for an inbox, or those of one mandate.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// use shadway::approvals::{ApprovalListParams, ApprovalStatus};
    ///
    /// let pending = ApprovalListParams::new().status([ApprovalStatus::Pending]);
    /// let mut pending = client.approvals().list(pending).items();
    /// while let Some(approval) = pending.try_next().await? {
    ///     println!("{} {} {}", approval.id, approval.mandate, approval.question);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn list(&self, params: ApprovalListParams) -> Call<Page<Approval>> {
        params
            .status
            .iter()
            .fold(Call::new(&self.client, Method::GET, routes::APPROVALS, &[]), |call, status| {
                call.query("status", status)
            })
            .maybe_query("mandate", params.mandate)
            .maybe_query("limit", params.limit)
    }

    /// Reads an approval. Show its question, its exact action and when it expires.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// match client.approvals().get("apr_missing").await {
    ///     Ok(approval) if approval.is_pending() => {
    ///         println!("{}: {}", approval.question, approval.action.arguments);
    ///     }
    ///     Ok(approval) => println!("already {}", approval.status),
    ///     Err(error) if error.is_not_found() => println!("there is no such approval"),
    ///     Err(error) => return Err(error),
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn get(&self, id: impl Into<ApprovalId>) -> Call<Approval> {
        Call::new(&self.client, Method::GET, routes::APPROVAL, &[id.into().as_str()])
    }

    /// Allows the exact action, once. The mandate's limits still hold, and what depends on time is checked
    /// again right before it runs (documented).
    ///
    /// The same decision again gives the first result, so repeating it is safe. It conflicts with a rejection,
    /// and with an approval that has expired: then the read shows what stands (documented).
    ///
    /// Call it only after a person who may has reviewed the action.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// use shadway::Client;
    /// use shadway::approvals::{Approval, ApprovalApproveParams, ApprovalListParams, ApprovalStatus};
    ///
    /// async fn submit(client: &Client, approval: &Approval, code: &str) -> shadway::Result<Approval> {
    ///     let params = ApprovalApproveParams::new().reason("Verified with the account holder.").input("otp", code);
    ///     match client.approvals().approve(&approval.id, params).await {
    ///         // Decided the other way, or expired.
    ///         Err(error) if error.is_conflict() => client.approvals().get(&approval.id).await,
    ///         answer => answer,
    ///     }
    /// }
    ///
    /// let pending = ApprovalListParams::new().status([ApprovalStatus::Pending]);
    /// if let Some(approval) = client.approvals().list(pending).items().try_next().await? {
    ///     println!("{}", submit(&client, &approval, "483921").await?.status);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn approve(
        &self,
        id: impl Into<ApprovalId>,
        params: impl Into<ApprovalApproveParams>,
    ) -> Call<Approval> {
        Call::new(&self.client, Method::POST, routes::APPROVAL_APPROVE, &[id.into().as_str()])
            .json_body(&params.into())
    }

    /// Refuses the action, not the mandate: [cancel](crate::mandates::MandateHandle::cancel) that if all should
    /// stop. The same decision again gives the first result; it conflicts with an approving one, and with an
    /// approval that has expired (documented).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// use shadway::approvals::{ApprovalListParams, ApprovalStatus};
    ///
    /// let pending = ApprovalListParams::new().status([ApprovalStatus::Pending]);
    /// let mut pending = client.approvals().list(pending).items();
    /// while let Some(approval) = pending.try_next().await? {
    ///     let approval = client.approvals().reject(&approval.id, "The supplier is not approved.").await?;
    ///     assert_eq!(approval.status, ApprovalStatus::Rejected);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn reject(
        &self,
        id: impl Into<ApprovalId>,
        params: impl Into<ApprovalRejectParams>,
    ) -> Call<Approval> {
        Call::new(&self.client, Method::POST, routes::APPROVAL_REJECT, &[id.into().as_str()])
            .json_body(&params.into())
    }
}
