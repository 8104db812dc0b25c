//! Why a delivery or a secret is refused, and what a person can do about it.

use super::headers::{ID_HEADER, SIGNATURE_HEADER};

/// Why a webhook secret can't be used. It shows nothing of the secret.
///
/// ```
/// use shadway::webhooks::{SecretError, Verifier};
///
/// assert_eq!(Verifier::new("sk_test_1").unwrap_err(), SecretError::ApiKey);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum SecretError {
    /// There is none, or blanks only.
    #[error("the webhook secret is empty; set it to the whsec_… that creating the endpoint showed")]
    Empty,
    /// It is in quotes.
    #[error("the webhook secret is in quotes; take them away")]
    Quoted,
    /// It is an API key.
    #[error("this is an API key and no webhook secret; use the whsec_… that creating the endpoint showed")]
    ApiKey,
    /// It does not begin with `whsec_` (that all do is documented).
    #[error(
        "the webhook secret does not begin with whsec_; use what creating the endpoint showed, unchanged"
    )]
    NoPrefix,
    /// Fewer than 16 characters follow `whsec_` (assumed to be part of one).
    #[error("the webhook secret is too short to be whole; copy it again")]
    TooShort,
    /// A blank, an invisible character, or another one that is not plain ASCII.
    #[error("character {at} of the webhook secret is a blank, invisible, or not plain ASCII; copy it again")]
    InvalidCharacter {
        /// Which one, from 1; blanks around the secret are not counted.
        at: usize,
    },
    /// A [`Scheme`](super::Scheme) with a base64 key was chosen, and this is none.
    #[error("what follows whsec_ in the webhook secret is not base64, as the chosen scheme wants it")]
    NotBase64,
}

/// Why a delivery is refused. It shows nothing of a secret, a signature or the body.
///
/// Answer 400, and act on nothing in the request.
///
/// ```
/// use shadway::webhooks::{SignatureHeaders, Verifier, VerifyError};
///
/// let verifier = Verifier::new("whsec_MfKQ9r8GKYqrTwjU")?;
/// let headers = SignatureHeaders::new("dlv_1", "t=1760000000,v1=00");
/// let now = "2025-10-09T08:53:20Z".parse()?;
/// assert_eq!(verifier.verify_at(&headers, "{}", now).unwrap_err(), VerifyError::Mismatch);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum VerifyError {
    /// The header is not there.
    #[error("there is no header {0}; pass on the headers of the request as they came")]
    MissingHeader(&'static str),
    /// The header is there more than once.
    #[error("the header {0} is there more than once; look for a proxy that repeats headers")]
    DuplicateHeader(&'static str),
    /// The delivery's id is empty, longer than 256 characters, or holds a dot, a blank, or what is not plain
    /// ASCII.
    #[error("the header {ID_HEADER} holds no delivery id; a delivery of Shadway always has one")]
    InvalidDeliveryId,
    /// The signature header has an element without `=`, more than 16 signatures, more than 32 elements (empty ones
    /// included), or more than 4,096 bytes.
    #[error("the header {SIGNATURE_HEADER} is no list of name=value; look for a proxy that rewrites headers")]
    Malformed,
    /// The signature header has no `t`.
    #[error("the header {SIGNATURE_HEADER} has no t=…; a delivery of Shadway always has one")]
    MissingTimestamp,
    /// The signature header has more than one `t`.
    #[error("the header {SIGNATURE_HEADER} has more than one t=…; look for a proxy that merges headers")]
    DuplicateTimestamp,
    /// What `t` says is no number of seconds, as it would be written.
    #[error("t=… in the header {SIGNATURE_HEADER} is no time; a delivery of Shadway has whole seconds")]
    InvalidTimestamp,
    /// The signature header has no `v1`.
    #[error(
        "the header {SIGNATURE_HEADER} has no v1=…; if it has a newer version, this crate has to be updated"
    )]
    NoSupportedSignature,
    /// It was signed longer ago than is tolerated: a replay, a delivery that was held up, or a clock that is
    /// ahead.
    #[error("the delivery was signed {seconds} s ago; if this is no replay, set this machine's clock")]
    TooOld {
        /// How long ago.
        seconds: u64,
    },
    /// It was signed further in the future than is tolerated: a clock that is behind.
    #[error("the delivery was signed {seconds} s from now; {}", ahead(*seconds))]
    TooNew {
        /// How far ahead.
        seconds: u64,
    },
    /// No signature fits what came: another secret, or a body that is not byte for byte what was sent.
    #[error(
        "no signature fits; check that the secret is this endpoint's, and verify the raw body, before any parsing"
    )]
    Mismatch,
    /// The secret can't be used: nothing is known of the delivery.
    #[error(transparent)]
    Secret(#[from] SecretError),
}

/// Seconds that are taken for milliseconds lie some 1.7 million million ahead.
fn ahead(seconds: u64) -> &'static str {
    match seconds {
        1_000_000_000_000..10_000_000_000_000 => "the time is in milliseconds, and has to be in seconds",
        _ => "set this machine's clock",
    }
}

/// A delivery that is signed, but whose body is no event.
///
/// Its signature is right, so it comes from Shadway: this is no attack, but something this crate can't read.
#[derive(Debug, thiserror::Error)]
#[error("the delivery is signed, but its body is no event: {reason}")]
pub struct EventError {
    pub(super) reason: String,
    #[source]
    pub(super) source: serde_json::Error,
}
