//! Webhook endpoints: where events are to be delivered.

use std::time::Duration;

use http::Uri;

use super::Workspace;
use super::store::Window;
use crate::local::answer::{Refusal, Result};
use crate::local::clock::Moment;
use crate::model::events::EventType;
use crate::model::page::Page;
use crate::model::types::{Extra, WebhookEndpointId};
use crate::model::webhooks::{
    WebhookEndpoint, WebhookEndpointCreateParams, WebhookEndpointCreated, WebhookEndpointSecretRotated,
    WebhookEndpointStatus, WebhookEndpointUpdateParams, WebhookSecret,
};

/// How many characters of a secret are random: as many as 24 bytes in base64.
const SECRET_LENGTH: usize = 32;
/// How long a secret stays active after it was replaced (assumed; documented is a short while).
const OVERLAP: Duration = Duration::from_secs(24 * 60 * 60);
/// How many secrets are active at most: as many signatures as this crate's verifier reads in one header.
const MOST_SECRETS: usize = 16;

/// An endpoint, and what its deliveries are signed with.
#[derive(Debug)]
pub(super) struct EndpointRecord {
    pub(super) endpoint: WebhookEndpoint,
    pub(super) secrets: Secrets,
}

impl EndpointRecord {
    pub(super) fn is_active(&self) -> bool {
        self.endpoint.status == Some(WebhookEndpointStatus::Active)
    }

    pub(super) fn wants(&self, event_type: &EventType) -> bool {
        let mut subscribed = self.endpoint.subscribed_events.iter();
        self.is_active() && subscribed.any(|wanted| *wanted == EventType::All || wanted == event_type)
    }
}

/// They never print.
#[derive(Debug)]
pub(super) struct Secrets {
    newest: WebhookSecret,
    /// Those it replaced, the latest first, each with the moment from which it is no longer active.
    earlier: Vec<(WebhookSecret, Moment)>,
}

impl Secrets {
    fn rotate(&mut self, secret: WebhookSecret, now: Moment) {
        let replaced = std::mem::replace(&mut self.newest, secret);
        self.earlier.retain(|(_, until)| *until > now);
        self.earlier.insert(0, (replaced, now.after(OVERLAP)));
        self.earlier.truncate(MOST_SECRETS - 1);
    }

    /// The newest one, and those of which deliveries carry a signature too.
    pub(super) fn active(&self, now: Moment) -> (WebhookSecret, Vec<WebhookSecret>) {
        let earlier = self.earlier.iter().filter(|(_, until)| *until > now);
        (self.newest.clone(), earlier.map(|(secret, _)| secret.clone()).collect())
    }
}

impl Workspace {
    /// Its secret is in this answer and in no other (documented).
    pub(crate) fn create_endpoint(
        &mut self,
        params: WebhookEndpointCreateParams,
        now: Moment,
    ) -> Result<WebhookEndpointCreated> {
        check_url(&params.url)?;
        check_types(&params.subscribed_events)?;
        let id = self.new_id("whe_");
        let created_at = Some(self.epoch.timestamp(now));
        let endpoint = WebhookEndpoint {
            id: WebhookEndpointId::from(id.as_str()),
            url: params.url,
            subscribed_events: params.subscribed_events,
            status: Some(WebhookEndpointStatus::Active),
            description: params.description,
            created_at,
            updated_at: created_at,
            extra: Extra::new(),
        };
        let secret = self.new_secret();
        let secrets = Secrets { newest: secret.clone(), earlier: Vec::new() };
        self.endpoints.insert(&id, EndpointRecord { endpoint: endpoint.clone(), secrets });
        Ok(WebhookEndpointCreated { endpoint, secret, extra: Extra::new() })
    }

    pub(crate) fn endpoint(&self, id: &str) -> Result<WebhookEndpoint> {
        self.endpoints.find(id).map(|record| record.endpoint.clone()).ok_or_else(|| unknown(id))
    }

    pub(crate) fn list_endpoints(&self, window: &Window) -> Result<Page<WebhookEndpoint>> {
        self.endpoints.page(window, |_| true, |record| record.endpoint.clone())
    }

    /// What is not set stays (assumed).
    pub(crate) fn update_endpoint(
        &mut self,
        id: &str,
        params: WebhookEndpointUpdateParams,
        now: Moment,
    ) -> Result<WebhookEndpoint> {
        let updated_at = self.epoch.timestamp(now);
        let serial = self.endpoints.serial(id).ok_or_else(|| unknown(id))?;
        let record = self.endpoints.get_mut(serial).ok_or_else(|| unknown(id))?;
        if let Some(url) = &params.url {
            check_url(url)?;
        }
        if let Some(types) = &params.subscribed_events {
            check_types(types)?;
        }
        if let Some(WebhookEndpointStatus::Unknown(status)) = &params.status {
            return Err(Refusal::invalid(format!("{status:?} is no status of an endpoint")).param("status"));
        }
        let endpoint = &mut record.endpoint;
        let before = endpoint.clone();
        if let Some(url) = params.url {
            endpoint.url = url;
        }
        if let Some(types) = params.subscribed_events {
            endpoint.subscribed_events = types;
        }
        if params.status.is_some() {
            endpoint.status = params.status;
        }
        if params.description.is_some() {
            endpoint.description = params.description;
        }
        if before != *endpoint {
            endpoint.updated_at = Some(updated_at);
        }
        let endpoint = endpoint.clone();
        if !record.is_active() {
            self.deliveries.give_up(serial);
        }
        Ok(endpoint)
    }

    pub(crate) fn delete_endpoint(&mut self, id: &str) -> Result<()> {
        let serial = self.endpoints.serial(id).ok_or_else(|| unknown(id))?;
        self.endpoints.remove(id);
        self.deliveries.close(serial);
        Ok(())
    }

    /// A new secret, in this answer and in no other (documented). The one before stays active for a while.
    pub(crate) fn rotate_secret(&mut self, id: &str, now: Moment) -> Result<WebhookEndpointSecretRotated> {
        let updated_at = self.epoch.timestamp(now);
        let secret = self.new_secret();
        let record = self.endpoints.find_mut(id).ok_or_else(|| unknown(id))?;
        record.secrets.rotate(secret.clone(), now);
        record.endpoint.updated_at = Some(updated_at);
        let endpoint = Some(record.endpoint.clone());
        Ok(WebhookEndpointSecretRotated { secret, endpoint, extra: Extra::new() })
    }

    fn new_secret(&mut self) -> WebhookSecret {
        let random = std::iter::repeat_with(|| self.random.alphanumeric()).take(SECRET_LENGTH);
        WebhookSecret::from(format!("whsec_{}", random.collect::<String>()))
    }
}

/// https (documented), or http to this machine (assumed).
fn check_url(url: &str) -> Result<()> {
    let refuse = || {
        let message = "the URL has to be https, or http to this machine";
        Err(Refusal::invalid(message).param("url"))
    };
    let Ok(uri) = url.parse::<Uri>() else { return refuse() };
    let has_credentials = uri.authority().is_some_and(|authority| authority.as_str().contains('@'));
    // The scheme is held to the letter, in lower case, as the document has it.
    match uri.host() {
        Some(host) if !host.is_empty() && !has_credentials && url.starts_with("https://") => Ok(()),
        Some(host) if !has_credentials && url.starts_with("http://") && is_this_machine(host) => Ok(()),
        _ => refuse(),
    }
}

fn is_this_machine(host: &str) -> bool {
    let four = host.parse::<std::net::Ipv4Addr>();
    host == "localhost" || host == "[::1]" || four.is_ok_and(|address| address.is_loopback())
}

fn check_types(types: &[EventType]) -> Result<()> {
    let refuse = |why: String| Err(Refusal::invalid(why).param("subscribedEvents"));
    match types.iter().find(|known| matches!(known, EventType::Unknown(_))) {
        _ if types.is_empty() => refuse("name a type of event, or \"*\" for all".to_owned()),
        Some(unknown) => refuse(format!("there is no type of event {:?}", unknown.as_str())),
        None => Ok(()),
    }
}

fn unknown(id: &str) -> Refusal {
    Refusal::not_found("webhook endpoint", id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_is_https_or_stays_on_this_machine() {
        for url in [
            "https://example.com/hooks?a=b",
            "https://example.com:8443",
            "http://localhost:3000/x",
            "http://127.0.0.1",
            "http://127.8.9.1:80/",
            "http://[::1]:9/x",
        ] {
            assert!(check_url(url).is_ok(), "{url}");
        }
        for url in [
            "http://example.com/",
            "http://localhost.example.com/",
            "http://localhost@example.com/",
            "https://user:secret@example.com/",
            "HTTPS://example.com/",
            "ftp://localhost/",
            "https://",
            "/hooks",
            "",
            "http://128.0.0.1/",
        ] {
            assert!(check_url(url).is_err(), "{url}");
        }
    }
}
