//! Webhook endpoints: where the service delivers events.

use std::fmt;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::events::EventType;
use super::secret::Secret;
use super::types::{Extra, WebhookEndpointId};

string_enum! {
    /// Whether an endpoint gets deliveries (assumed).
    pub enum WebhookEndpointStatus {
        /// It does.
        Active = "active",
        /// It doesn't.
        Disabled = "disabled",
    }
}

/// The secret that deliveries to an endpoint are signed with. It never prints.
///
/// Wiped when it is dropped is this copy of it, what a [`Verifier`](crate::webhooks::Verifier) or a
/// [`Signer`](crate::webhooks::Signer) makes of it, and the answer that brought it. Not wiped: what the transport held of
/// that answer (reqwest's and hyper's buffers, and those of TLS), and texts of yours that it was made from by reference.
///
/// ```
/// use shadway::webhooks::WebhookSecret;
///
/// let secret = WebhookSecret::from("whsec_1");
/// assert_eq!(format!("{secret:?}"), "WebhookSecret(…)");
/// assert_eq!(secret.expose(), "whsec_1");
/// ```
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WebhookSecret(Secret);

impl WebhookSecret {
    /// The secret in the open, to store it where secrets are kept.
    #[must_use]
    pub fn expose(&self) -> &str {
        self.0.expose()
    }
}

impl fmt::Debug for WebhookSecret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WebhookSecret").field(&self.0).finish()
    }
}

impl From<String> for WebhookSecret {
    fn from(secret: String) -> Self {
        Self(secret.into())
    }
}

impl From<&str> for WebhookSecret {
    fn from(secret: &str) -> Self {
        Self::from(secret.to_owned())
    }
}

impl From<&String> for WebhookSecret {
    fn from(secret: &String) -> Self {
        Self::from(secret.clone())
    }
}

impl From<&Self> for WebhookSecret {
    fn from(secret: &Self) -> Self {
        secret.clone()
    }
}

wire! {
    /// Where the service delivers events (documented).
    pub struct WebhookEndpoint {
        required {
            /// Its id.
            id: WebhookEndpointId,
            /// Where deliveries go: https, or http to this machine (the latter is assumed).
            url: String,
        }
        optional {
            /// The types of event it gets; [`EventType::All`] for all of them.
            subscribed_events: Vec<EventType>,
            /// Whether it gets deliveries (assumed).
            status: Option<WebhookEndpointStatus>,
            /// What it is for (assumed).
            description: Option<String>,
            /// When it was created.
            created_at: Option<Timestamp>,
            /// When it was last changed.
            updated_at: Option<Timestamp>,
        }
    }
}

wire! {
    /// A new endpoint and its secret, which the service shows this once (documented). Store it now.
    pub struct WebhookEndpointCreated {
        required {
            /// The endpoint.
            endpoint: WebhookEndpoint,
            /// What its deliveries are signed with.
            secret: WebhookSecret,
        }
        optional {}
    }
}

wire! {
    /// A new secret of an endpoint, which the service shows this once (documented). Store it now.
    pub struct WebhookEndpointSecretRotated {
        required {
            /// What deliveries are signed with from now on; for a while also with the one before.
            secret: WebhookSecret,
        }
        optional {
            /// The endpoint (assumed, so a missing one doesn't lose the secret).
            endpoint: Option<WebhookEndpoint>,
        }
    }
}

wire! {
    /// What makes a new endpoint.
    ///
    /// ```
    /// use shadway::events::EventType;
    /// use shadway::webhooks::WebhookEndpointCreateParams;
    ///
    /// let some = WebhookEndpointCreateParams::new(
    ///     "https://example.com/shadway/webhooks",
    ///     [EventType::MandateStatusChanged, EventType::MandateApprovalRequested],
    /// );
    /// let all = WebhookEndpointCreateParams::new("https://example.com/shadway/webhooks", ["*"]);
    /// assert_eq!(some.subscribed_events.len(), 2);
    /// assert_eq!(all.subscribed_events, [EventType::All]);
    /// ```
    pub struct WebhookEndpointCreateParams {
        required {
            /// Where deliveries go: https (documented), or http to this machine (assumed).
            url: String,
            /// The types of event it gets; [`EventType::All`] for all of them.
            subscribed_events: Vec<EventType>,
        }
        optional {
            /// What it is for (assumed).
            description: Option<String>,
        }
    }
}

impl WebhookEndpointCreateParams {
    /// Where deliveries go, and which types of event: `"*"` or [`EventType::All`] for all of them.
    #[must_use]
    pub fn new(
        url: impl Into<String>,
        subscribed_events: impl IntoIterator<Item = impl Into<EventType>>,
    ) -> Self {
        Self {
            url: url.into(),
            subscribed_events: subscribed_events.into_iter().map(Into::into).collect(),
            description: None,
            extra: Extra::new(),
        }
    }

    /// What it is for.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }
}

wire! {
    /// A change to an endpoint. Partial: what is not set stays as it is (the call is assumed).
    #[derive(Default)]
    pub struct WebhookEndpointUpdateParams {
        required {}
        optional {
            /// What it is for.
            description: Option<String>,
            /// Where deliveries go.
            url: Option<String>,
            /// All types of event it gets; replaces the list.
            subscribed_events: Option<Vec<EventType>>,
            /// Whether it gets deliveries.
            status: Option<WebhookEndpointStatus>,
        }
    }
}

impl WebhookEndpointUpdateParams {
    /// No change yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Where deliveries go.
    #[must_use]
    pub fn url(mut self, url: impl Into<String>) -> Self {
        self.url = Some(url.into());
        self
    }

    /// All types of event it gets; replaces the list.
    #[must_use]
    pub fn subscribed_events(mut self, types: impl IntoIterator<Item = impl Into<EventType>>) -> Self {
        self.subscribed_events = Some(types.into_iter().map(Into::into).collect());
        self
    }

    /// Whether it gets deliveries.
    #[must_use]
    pub fn status(mut self, status: WebhookEndpointStatus) -> Self {
        self.status = Some(status);
        self
    }

    /// What it is for.
    #[must_use]
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.description = Some(description.into());
        self
    }
}
