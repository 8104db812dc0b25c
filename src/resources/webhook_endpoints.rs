//! Where the service delivers events.

use http::Method;

use crate::call::Call;
use crate::client::Client;
use crate::model::routes;
use crate::model::types::ListParams;
use crate::model::types::WebhookEndpointId;
use crate::model::webhooks::{
    WebhookEndpoint, WebhookEndpointCreateParams, WebhookEndpointCreated, WebhookEndpointSecretRotated,
    WebhookEndpointUpdateParams, WebhookSecret,
};
use crate::page::Page;
use crate::webhooks::{Delivery, SignedHeaders, Verifier, VerifyError};

/// Webhooks, from [`Client::webhooks`].
#[derive(Debug, Clone)]
pub struct Webhooks {
    client: Client,
}

impl Client {
    /// Webhooks: the same events, delivered to your servers.
    #[must_use]
    pub fn webhooks(&self) -> Webhooks {
        Webhooks { client: self.clone() }
    }
}

impl Webhooks {
    /// The endpoints that get deliveries.
    #[must_use]
    pub fn endpoints(&self) -> WebhookEndpoints {
        WebhookEndpoints { client: self.client.clone() }
    }

    /// Verifies a delivery by the secret of its endpoint: the headers of the request, and its body byte for
    /// byte. It sends nothing.
    ///
    /// A server that gets many keeps a [`Verifier`], which needs no client and reads the secret once.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # let secret = shadway::webhooks::WebhookSecret::from("whsec_MfKQ9r8GKYqrTwjU");
    /// # let body = r#"{"id":"evt_1","type":"agent.retired","sequence":1,"mandate":"mnd_1"}"#;
    /// # let headers = shadway::webhooks::Signer::new(&secret)?.sign("dlv_1", body)?;
    /// let delivery = client.webhooks().verify(&headers, body, &secret)?;
    /// println!("{} {}", delivery.id(), delivery.event()?.id);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// When the secret can't be one, or anything is not as Shadway sends it: answer 400, and act on nothing
    /// in the request.
    pub fn verify<'a>(
        &self,
        headers: &'a (impl SignedHeaders + ?Sized),
        body: &'a (impl AsRef<[u8]> + ?Sized),
        secret: impl Into<WebhookSecret>,
    ) -> Result<Delivery<'a>, VerifyError> {
        Verifier::new(secret)?.verify(headers, body)
    }
}

/// The webhook endpoints of a workspace, from [`Webhooks::endpoints`].
#[derive(Debug, Clone)]
pub struct WebhookEndpoints {
    client: Client,
}

impl WebhookEndpoints {
    /// Makes a new endpoint. Its secret is in this answer and in no other: store it now (documented).
    ///
    /// Refused: a URL that is not https (documented), unless it is http to this machine (assumed).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # fn store(_: &str) {}
    /// use shadway::events::EventType;
    /// use shadway::webhooks::WebhookEndpointCreateParams;
    ///
    /// let created = client
    ///     .webhooks()
    ///     .endpoints()
    ///     .create(WebhookEndpointCreateParams::new(
    ///         "https://example.com/shadway/webhooks",
    ///         [EventType::MandateStatusChanged, EventType::MandateApprovalRequested],
    ///     ))
    ///     .await?;
    /// println!("{}", created.endpoint.id);
    /// store(created.secret.expose());
    /// # Ok(())
    /// # }
    /// ```
    pub fn create(&self, params: WebhookEndpointCreateParams) -> Call<WebhookEndpointCreated> {
        Call::new(&self.client, Method::POST, routes::WEBHOOK_ENDPOINTS, &[]).json_body(&params)
    }

    /// Reads an endpoint; without its secret (the call is assumed).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::webhooks::WebhookEndpointCreateParams;
    /// # let params = WebhookEndpointCreateParams::new("https://example.com/shadway/webhooks", ["*"]);
    /// # let id = client.webhooks().endpoints().create(params).await?.endpoint.id;
    /// let endpoint = client.webhooks().endpoints().get(id).await?;
    /// println!("{} {:?}", endpoint.url, endpoint.subscribed_events);
    /// # Ok(())
    /// # }
    /// ```
    pub fn get(&self, id: impl Into<WebhookEndpointId>) -> Call<WebhookEndpoint> {
        Call::new(&self.client, Method::GET, routes::WEBHOOK_ENDPOINT, &[id.into().as_str()])
    }

    /// Lists the endpoints (the call is assumed).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// let mut endpoints = client.webhooks().endpoints().list(Default::default()).items();
    /// while let Some(endpoint) = endpoints.try_next().await? {
    ///     println!("{} {}", endpoint.id, endpoint.url);
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn list(&self, params: ListParams) -> Call<Page<WebhookEndpoint>> {
        Call::new(&self.client, Method::GET, routes::WEBHOOK_ENDPOINTS, &[])
            .maybe_query("limit", params.limit)
    }

    /// Changes an endpoint; what is not set stays (the call is assumed).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::webhooks::WebhookEndpointCreateParams;
    /// # let params = WebhookEndpointCreateParams::new("https://example.com/shadway/webhooks", ["*"]);
    /// # let id = client.webhooks().endpoints().create(params).await?.endpoint.id;
    /// use shadway::events::EventType;
    /// use shadway::webhooks::WebhookEndpointUpdateParams;
    ///
    /// let narrower = WebhookEndpointUpdateParams::new().subscribed_events([EventType::ApprovalResolved]);
    /// let endpoint = client.webhooks().endpoints().update(id, narrower).await?;
    /// assert_eq!(endpoint.subscribed_events, [EventType::ApprovalResolved]);
    /// # Ok(())
    /// # }
    /// ```
    pub fn update(
        &self,
        id: impl Into<WebhookEndpointId>,
        params: WebhookEndpointUpdateParams,
    ) -> Call<WebhookEndpoint> {
        Call::new(&self.client, Method::PATCH, routes::WEBHOOK_ENDPOINT, &[id.into().as_str()])
            .json_body(&params)
    }

    /// Takes an endpoint away; it gets no more deliveries (the call is assumed).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # use shadway::webhooks::WebhookEndpointCreateParams;
    /// # let params = WebhookEndpointCreateParams::new("https://example.com/shadway/webhooks", ["*"]);
    /// # let id = client.webhooks().endpoints().create(params).await?.endpoint.id;
    /// client.webhooks().endpoints().delete(&id).await?;
    /// assert!(client.webhooks().endpoints().get(&id).await.unwrap_err().is_not_found());
    /// # Ok(())
    /// # }
    /// ```
    pub fn delete(&self, id: impl Into<WebhookEndpointId>) -> Call<()> {
        Call::without_answer(&self.client, Method::DELETE, routes::WEBHOOK_ENDPOINT, &[id.into().as_str()])
    }

    /// Makes a new secret. For a while deliveries are signed with both, so deploy the new one within that
    /// time; it is in this answer and in no other (documented).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// # fn deploy(_: &str) {}
    /// # use shadway::webhooks::WebhookEndpointCreateParams;
    /// # let params = WebhookEndpointCreateParams::new("https://example.com/shadway/webhooks", ["*"]);
    /// # let id = client.webhooks().endpoints().create(params).await?.endpoint.id;
    /// let rotated = client.webhooks().endpoints().rotate_secret(id).await?;
    /// deploy(rotated.secret.expose());
    /// # Ok(())
    /// # }
    /// ```
    pub fn rotate_secret(&self, id: impl Into<WebhookEndpointId>) -> Call<WebhookEndpointSecretRotated> {
        Call::new(&self.client, Method::POST, routes::WEBHOOK_ENDPOINT_ROTATE_SECRET, &[id.into().as_str()])
    }
}
