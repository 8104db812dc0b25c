//! Makes deliveries that verify: for tests, and for a server that stands in for the service.

use jiff::Timestamp;

use super::error::{SecretError, VerifyError};
use super::grammar;
use super::headers::SignatureHeaders;
use super::keys::Keys;
use super::scheme::{Message, Scheme};
use crate::clock;
use crate::model::webhooks::WebhookSecret;

/// Signs deliveries as the service does, to test what receives them.
///
/// ```
/// use shadway::webhooks::{Signer, Verifier};
///
/// let secret = "whsec_MfKQ9r8GKYqrTwjU";
/// let headers = Signer::new(secret)?.sign("dlv_1", "{}")?;
/// assert_eq!(Verifier::new(secret)?.verify(&headers, "{}")?.id(), "dlv_1");
/// # Ok::<(), shadway::webhooks::VerifyError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Signer {
    keys: Keys,
}

impl Signer {
    /// Signs with an endpoint's secret.
    ///
    /// # Errors
    /// As [`Verifier::new`](super::Verifier::new).
    pub fn new(secret: impl Into<WebhookSecret>) -> Result<Self, SecretError> {
        Ok(Self { keys: Keys::new(secret.into())? })
    }

    /// Signs with this secret too, as the service does for a while after a rotation: one `v1` each.
    ///
    /// # Errors
    /// As [`new`](Signer::new).
    pub fn also(mut self, secret: impl Into<WebhookSecret>) -> Result<Self, SecretError> {
        self.keys = self.keys.also(secret.into())?;
        Ok(self)
    }

    /// Signs in another way than the assumed one.
    ///
    /// # Errors
    /// When the scheme's key is base64, and a secret is not.
    pub fn scheme(mut self, scheme: Scheme) -> Result<Self, SecretError> {
        self.keys = self.keys.with_scheme(scheme)?;
        Ok(self)
    }

    /// The headers of a delivery that is sent now.
    ///
    /// # Errors
    /// An id that no verifier would take: see [`VerifyError::InvalidDeliveryId`].
    pub fn sign(&self, id: impl AsRef<str>, body: impl AsRef<[u8]>) -> Result<SignatureHeaders, VerifyError> {
        self.sign_at(id, body, clock::timestamp())
    }

    /// The headers of a delivery that is sent at a time.
    ///
    /// # Errors
    /// As [`sign`](Signer::sign); and [`VerifyError::InvalidTimestamp`] of a time before 1970.
    pub fn sign_at(
        &self,
        id: impl AsRef<str>,
        body: impl AsRef<[u8]>,
        at: Timestamp,
    ) -> Result<SignatureHeaders, VerifyError> {
        let id = grammar::delivery_id(id.as_ref().as_bytes())?;
        let seconds = u64::try_from(at.as_second()).map_err(|_| VerifyError::InvalidTimestamp)?;
        let timestamp = seconds.to_string();
        let message = Message { id, timestamp: timestamp.as_bytes(), body: body.as_ref() };
        let mut signature = format!("t={timestamp}");
        for code in self.keys.codes(message) {
            signature.push_str(",v1=");
            signature.push_str(&self.keys.scheme().encode(&code));
        }
        Ok(SignatureHeaders::new(id.to_owned(), signature))
    }
}
