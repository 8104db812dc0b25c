//! What a captured delivery was signed with, when it won't verify.

use std::fmt;

use super::error::VerifyError;
use super::grammar::{self, SignatureHeader};
use super::headers::{self, ID_HEADER, SIGNATURE_HEADER, SignedHeaders};
use super::keys::Keys;
use super::scheme::{Message, Scheme};
use crate::model::webhooks::WebhookSecret;

/// Tries every reading of how deliveries are signed on one that was captured, and gives the first that fits;
/// `None` when none does. Also tried: a body that has gained a line break at its end while it was captured.
///
/// For a person who looks for the reason: how old the delivery is plays no part, so this verifies nothing.
///
/// ```
/// use shadway::webhooks::{Scheme, Signer, diagnose};
///
/// let secret = "whsec_MfKQ9r8GKYqrTwjU";
/// let headers = Signer::new(secret)?.scheme(Scheme::new().base64_signature())?.sign("dlv_1", "{}")?;
/// let found = diagnose(&headers, "{}\n", secret)?.unwrap();
/// assert_eq!(found.scheme(), Some(Scheme::new().base64_signature()));
/// assert_eq!(
///     found.to_string(),
///     "message <id>.<t>.<body>, signature base64, key the whole secret; the body without the line break at its end"
/// );
/// # Ok::<(), shadway::webhooks::VerifyError>(())
/// ```
///
/// # Errors
/// When there is nothing to try: a header is missing or malformed, or the secret can't be one.
pub fn diagnose(
    headers: &(impl SignedHeaders + ?Sized),
    body: &(impl AsRef<[u8]> + ?Sized),
    secret: impl Into<WebhookSecret>,
) -> Result<Option<Diagnosis>, VerifyError> {
    let keys = Keys::new(secret.into())?;
    let id = grammar::delivery_id(headers::only(headers, ID_HEADER)?)?;
    let header = SignatureHeader::parse(headers::only(headers, SIGNATURE_HEADER)?)?;
    let body = body.as_ref();
    let cut = body.strip_suffix(b"\n").map(|body| body.strip_suffix(b"\r").unwrap_or(body));
    for (body, line_break) in [(body, false)].into_iter().chain(cut.map(|body| (body, true))) {
        let message = Message { id, timestamp: header.timestamp, body };
        // A secret that is not base64 has fewer readings.
        for keys in Scheme::readings().filter_map(|scheme| keys.with_scheme(scheme).ok()) {
            let reading = keys.scheme();
            let mut signatures = header.signatures().filter_map(|signature| reading.decode(signature));
            if signatures.any(|signature| keys.codes(message).any(|code| code == signature)) {
                return Ok(Some(Diagnosis { reading, line_break }));
            }
        }
    }
    Ok(None)
}

/// What a delivery was signed with, from [`diagnose`]. It prints as a sentence for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Diagnosis {
    reading: Scheme,
    line_break: bool,
}

impl Diagnosis {
    /// The scheme to verify with. `None` of one that can't be chosen, since it would leave the id unsigned,
    /// or where one part ends and the next begins.
    #[must_use]
    pub fn scheme(&self) -> Option<Scheme> {
        Some(self.reading).filter(|reading| reading.is_sound())
    }

    /// Whether the body fits only without the line break at its end.
    #[must_use]
    pub const fn gained_line_break(&self) -> bool {
        self.line_break
    }
}

impl fmt::Display for Diagnosis {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.reading)?;
        if self.line_break {
            f.write_str("; the body without the line break at its end")?;
        }
        Ok(())
    }
}
