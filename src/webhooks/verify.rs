//! Whether a delivery is what Shadway sent, and when.

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;
use subtle::{Choice, ConstantTimeEq as _};

use super::error::{EventError, SecretError, VerifyError};
use super::grammar::{self, SignatureHeader};
use super::headers::{self, ID_HEADER, SIGNATURE_HEADER, SignedHeaders};
use super::keys::Keys;
use super::scheme::{Message, Scheme};
use crate::clock;
use crate::error::one_line;
use crate::model::events::Event;
use crate::model::json::misfit;
use crate::model::webhooks::WebhookSecret;

/// How far a signature's time may lie from now: older is documented, newer assumed.
const TOLERANCE: Duration = Duration::from_secs(5 * 60);

/// Verifies deliveries: no client, no runtime, no I/O. Make one at the start and keep it; a clone is cheap.
///
/// ```
/// use shadway::webhooks::{Signer, Verifier};
///
/// # fn secret() -> String { "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".into() }
/// # let secret = secret();
/// let verifier = Verifier::new(&secret)?;
///
/// // Verify the exact bytes that came, before any parsing.
/// let body = br#"{"id":"evt_1","type":"agent.retired","sequence":1,"mandate":"mnd_1"}"#;
/// # let headers = Signer::new(&secret)?.sign("dlv_1", body)?;
/// let delivery = verifier.verify(&headers, body)?;
/// assert_eq!(delivery.id(), "dlv_1"); // the same on every retry: drop those you have seen
/// assert_eq!(delivery.event()?.id, "evt_1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Verifier {
    keys: Keys,
    tolerance: Duration,
    #[cfg(feature = "axum")]
    pub(super) max_body_bytes: usize,
}

impl Verifier {
    /// Verifies with an endpoint's secret. Blanks and line breaks around it are passed over.
    ///
    /// # Errors
    /// What doesn't look like a webhook secret (documented: `whsec_…`) is refused here, and not with the
    /// first delivery.
    pub fn new(secret: impl Into<WebhookSecret>) -> Result<Self, SecretError> {
        Ok(Self {
            keys: Keys::new(secret.into())?,
            tolerance: TOLERANCE,
            #[cfg(feature = "axum")]
            max_body_bytes: super::axum::MAX_BODY_BYTES,
        })
    }

    /// Verifies with this secret too: the old one while a new one is rolled out, or another endpoint's. Each
    /// costs one more hashing of the body.
    ///
    /// ```
    /// use shadway::webhooks::{Signer, Verifier};
    ///
    /// # let (new, old) = ("whsec_MfKQ9r8GKYqrTwjU", "whsec_PD8ILPZIo2LaLaSw");
    /// let verifier = Verifier::new(new)?.also(old)?;
    /// let headers = Signer::new(old)?.sign("dlv_1", "{}")?;
    /// assert!(verifier.verify(&headers, "{}").is_ok());
    /// # Ok::<(), shadway::webhooks::VerifyError>(())
    /// ```
    ///
    /// # Errors
    /// As [`new`](Verifier::new).
    pub fn also(mut self, secret: impl Into<WebhookSecret>) -> Result<Self, SecretError> {
        self.keys = self.keys.also(secret.into())?;
        Ok(self)
    }

    /// How far the time of a signature may lie from now, both ways; five minutes if nothing is said. Within
    /// this time whoever has seen a delivery can repeat it: tell deliveries apart by their id.
    #[must_use]
    pub const fn tolerance(mut self, tolerance: Duration) -> Self {
        self.tolerance = tolerance;
        self
    }

    /// Reads signatures in another way than the assumed one.
    ///
    /// # Errors
    /// When the scheme's key is base64, and a secret is not.
    pub fn scheme(mut self, scheme: Scheme) -> Result<Self, SecretError> {
        self.keys = self.keys.with_scheme(scheme)?;
        Ok(self)
    }

    /// Verifies a delivery that came just now: the headers of the request, and its body byte for byte.
    ///
    /// Signatures are compared in constant time, all of them. Nothing is allocated.
    ///
    /// # Errors
    /// When anything is not as Shadway sends it: answer 400, and act on nothing in the request.
    pub fn verify<'a>(
        &self,
        headers: &'a (impl SignedHeaders + ?Sized),
        body: &'a (impl AsRef<[u8]> + ?Sized),
    ) -> Result<Delivery<'a>, VerifyError> {
        self.verify_at(headers, body, clock::timestamp())
    }

    /// Verifies a delivery that came at a time: in tests, or one that was kept.
    ///
    /// # Errors
    /// As [`verify`](Verifier::verify).
    pub fn verify_at<'a>(
        &self,
        headers: &'a (impl SignedHeaders + ?Sized),
        body: &'a (impl AsRef<[u8]> + ?Sized),
        now: Timestamp,
    ) -> Result<Delivery<'a>, VerifyError> {
        let claim = self.read(headers, now)?;
        let body = body.as_ref();
        let message = Message { id: claim.id, timestamp: claim.signature.timestamp, body };
        if self.fits(message, claim.signature) {
            Ok(Delivery { id: claim.id, timestamp: claim.timestamp, body })
        } else {
            Err(VerifyError::Mismatch)
        }
    }

    /// All that can be refused before the body is read: what is missing, malformed, too old or too new.
    ///
    /// Passing this proves nothing; [`verify`](Verifier::verify) checks it all again. It saves reading what
    /// is junk at first sight:
    ///
    /// ```
    /// use shadway::webhooks::{Verifier, VerifyError};
    ///
    /// let verifier = Verifier::new("whsec_MfKQ9r8GKYqrTwjU")?;
    /// let headers = [("shadway-webhook-id", "dlv_1"), ("shadway-signature", "t=1760000000,v1=00")];
    /// assert!(matches!(verifier.check_headers(&headers), Err(VerifyError::TooOld { .. })));
    /// # Ok::<(), VerifyError>(())
    /// ```
    ///
    /// # Errors
    /// As [`verify`](Verifier::verify), but [`Mismatch`](VerifyError::Mismatch).
    pub fn check_headers(&self, headers: &(impl SignedHeaders + ?Sized)) -> Result<(), VerifyError> {
        self.check_headers_at(headers, clock::timestamp())
    }

    /// The same of a delivery that came at a time.
    ///
    /// # Errors
    /// As [`check_headers`](Verifier::check_headers).
    pub fn check_headers_at(
        &self,
        headers: &(impl SignedHeaders + ?Sized),
        now: Timestamp,
    ) -> Result<(), VerifyError> {
        self.read(headers, now).map(|_| ())
    }

    fn read<'a>(
        &self,
        headers: &'a (impl SignedHeaders + ?Sized),
        now: Timestamp,
    ) -> Result<Claim<'a>, VerifyError> {
        let id = grammar::delivery_id(headers::only(headers, ID_HEADER)?)?;
        let signature = SignatureHeader::parse(headers::only(headers, SIGNATURE_HEADER)?)?;
        let timestamp = self.fresh(signature.seconds, now)?;
        Ok(Claim { id, signature, timestamp })
    }

    fn fresh(&self, signed: u64, now: Timestamp) -> Result<Timestamp, VerifyError> {
        // Wide enough for any two of them.
        let age = i128::from(now.as_second()) - i128::from(signed);
        let seconds = u64::try_from(age.unsigned_abs()).unwrap_or(u64::MAX);
        if Duration::from_secs(seconds) > self.tolerance {
            return Err(match age {
                0.. => VerifyError::TooOld { seconds },
                _ => VerifyError::TooNew { seconds },
            });
        }
        // However much is tolerated, there is an end to time: the year 9999.
        let signed = i64::try_from(signed).ok().and_then(|signed| Timestamp::from_second(signed).ok());
        signed.ok_or(VerifyError::TooNew { seconds })
    }

    /// Each key with each signature, whatever was found: the time it takes tells nothing.
    fn fits(&self, message: Message<'_>, header: SignatureHeader<'_>) -> bool {
        let mut fits = Choice::from(0);
        for code in self.keys.codes(message) {
            for signature in header.signatures().filter_map(|text| self.keys.scheme().decode(text)) {
                fits |= code.ct_eq(&signature);
            }
        }
        fits.into()
    }
}

impl fmt::Debug for Verifier {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Verifier")
            .field("keys", &self.keys)
            .field("tolerance", &self.tolerance)
            .finish_non_exhaustive()
    }
}

/// What the headers say, and nobody has proved.
struct Claim<'a> {
    id: &'a str,
    signature: SignatureHeader<'a>,
    timestamp: Timestamp,
}

/// A delivery that was verified: only a [`Verifier`] makes one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Delivery<'a> {
    id: &'a str,
    timestamp: Timestamp,
    body: &'a [u8],
}

impl<'a> Delivery<'a> {
    /// The delivery's id, the same on each retry: drop those you have seen (documented).
    #[must_use]
    pub const fn id(&self) -> &'a str {
        self.id
    }

    /// When it was signed, to the second.
    #[must_use]
    pub const fn timestamp(&self) -> Timestamp {
        self.timestamp
    }

    /// The body, byte for byte as it came.
    #[must_use]
    pub const fn body(&self) -> &'a [u8] {
        self.body
    }

    /// The event it carries. A type this version of the crate doesn't know is an event too.
    ///
    /// # Errors
    /// When the body is no event object at all. The delivery is Shadway's nevertheless.
    pub fn event(&self) -> Result<Event, EventError> {
        serde_json::from_slice(self.body).map_err(|source| EventError {
            reason: one_line(&misfit::<Event>(self.body).unwrap_or_else(|| source.to_string())),
            source,
        })
    }
}

impl fmt::Debug for Delivery<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Delivery")
            .field("id", &self.id)
            .field("timestamp", &self.timestamp)
            .field("body", &format_args!("{} bytes", self.body.len()))
            .finish()
    }
}
