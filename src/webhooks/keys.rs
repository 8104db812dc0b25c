//! The secrets that deliveries are signed with, ready to use.

use std::fmt;
use std::sync::Arc;

use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

use super::error::SecretError;
use super::scheme::{Code, Message, Scheme};
use crate::model::webhooks::WebhookSecret;

/// One or more, all read by the same scheme. A clone is cheap.
#[derive(Clone)]
pub(super) struct Keys {
    keys: Arc<[Key]>,
    scheme: Scheme,
}

/// Wiped when it is dropped.
#[derive(Clone)]
struct Key {
    secret: WebhookSecret,
    /// Has hashed the key already, which saves two blocks of each delivery.
    mac: Hmac<Sha256>,
}

impl Keys {
    pub(super) fn new(secret: WebhookSecret) -> Result<Self, SecretError> {
        let scheme = Scheme::new();
        Ok(Self { keys: Arc::new([Key::new(secret, scheme)?]), scheme })
    }

    pub(super) fn also(&self, secret: WebhookSecret) -> Result<Self, SecretError> {
        let key = Key::new(secret, self.scheme)?;
        Ok(Self { keys: self.keys.iter().cloned().chain([key]).collect(), scheme: self.scheme })
    }

    pub(super) fn with_scheme(&self, scheme: Scheme) -> Result<Self, SecretError> {
        let keys = self.keys.iter().map(|key| Key::new(key.secret.clone(), scheme));
        Ok(Self { keys: keys.collect::<Result<_, _>>()?, scheme })
    }

    pub(super) const fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The message's code by each of them.
    pub(super) fn codes(&self, message: Message<'_>) -> impl Iterator<Item = Code> {
        self.keys.iter().map(move |key| {
            let mut mac = key.mac.clone();
            self.scheme.join(message, |part| mac.update(part));
            mac.finalize().into_bytes().into()
        })
    }
}

impl Key {
    fn new(secret: WebhookSecret, scheme: Scheme) -> Result<Self, SecretError> {
        let key = scheme.key(&secret)?;
        // An HMAC takes keys of any length, so there is no such error.
        let mac = Hmac::new_from_slice(&key).map_err(|_| SecretError::TooShort)?;
        Ok(Self { secret, mac })
    }
}

impl fmt::Debug for Keys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keys")
            .field("secrets", &self.keys.len())
            .field("scheme", &self.scheme)
            .finish_non_exhaustive()
    }
}
