//! How a delivery is signed: what is joined, how a signature is written, what the key is. The one place that
//! knows.

use std::fmt;

use base64::Engine as _;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use zeroize::Zeroizing;

use super::error::SecretError;
use super::secret::{self, PREFIX};
use crate::model::webhooks::WebhookSecret;

/// An HMAC-SHA256.
pub(super) type Code = [u8; 32];

/// How deliveries are signed.
///
/// That a signature is an HMAC-SHA256 of the delivery's id, the timestamp and the raw body, keyed by the
/// endpoint's secret, is documented. The rest is assumed, in the likeliest reading: the message is
/// `<id>.<t>.<body>` with
/// `t` as it came, the signature hexadecimal, and the key all bytes of the secret, `whsec_` included.
///
/// Should the service turn out to mean something else, choose it here without waiting for a release. What a
/// delivery really was signed with, [`diagnose`](super::diagnose()) tells.
///
/// ```
/// use shadway::webhooks::{Scheme, Signer, Verifier};
///
/// let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
/// let scheme = Scheme::new().base64_signature().base64_key();
/// let headers = Signer::new(secret)?.scheme(scheme)?.sign("dlv_1", "{}")?;
/// assert!(Verifier::new(secret)?.scheme(scheme)?.verify(&headers, "{}").is_ok());
/// assert!(Verifier::new(secret)?.verify(&headers, "{}").is_err());
/// # Ok::<(), shadway::webhooks::VerifyError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Scheme {
    join: Join,
    encoding: Encoding,
    key: KeyForm,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
enum Join {
    #[default]
    IdTimestampBody,
    TimestampIdBody,
    /// The rest can be told, but not chosen: the id would not be signed, or the parts could be cut elsewhere.
    WithoutDots,
    WithoutId,
    BodyOnly,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
enum Encoding {
    #[default]
    Hex,
    Base64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
enum KeyForm {
    #[default]
    Whole,
    Base64,
    WithoutPrefix,
}

impl Scheme {
    /// The assumed one.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The signature is base64 (in either alphabet, padded or not) instead of hexadecimal.
    #[must_use]
    pub const fn base64_signature(mut self) -> Self {
        self.encoding = Encoding::Base64;
        self
    }

    /// The key is what follows `whsec_`, decoded from base64.
    #[must_use]
    pub const fn base64_key(mut self) -> Self {
        self.key = KeyForm::Base64;
        self
    }

    /// The key is what follows `whsec_`, as it is.
    #[must_use]
    pub const fn key_without_prefix(mut self) -> Self {
        self.key = KeyForm::WithoutPrefix;
        self
    }

    /// The message is `<t>.<id>.<body>`.
    #[must_use]
    pub const fn timestamp_first(mut self) -> Self {
        self.join = Join::TimestampIdBody;
        self
    }

    /// Every reading of the documented words, the likeliest first; not all may be chosen.
    pub(super) fn readings() -> impl Iterator<Item = Self> {
        use Join::{BodyOnly, IdTimestampBody, TimestampIdBody, WithoutDots, WithoutId};
        [IdTimestampBody, TimestampIdBody, WithoutDots, WithoutId, BodyOnly].into_iter().flat_map(|join| {
            [KeyForm::Whole, KeyForm::Base64, KeyForm::WithoutPrefix].into_iter().flat_map(move |key| {
                [Encoding::Hex, Encoding::Base64].map(|encoding| Self { join, encoding, key })
            })
        })
    }

    /// Whether it signs all three parts, each with its bounds.
    pub(super) const fn is_sound(self) -> bool {
        matches!(self.join, Join::IdTimestampBody | Join::TimestampIdBody)
    }

    /// The key of a secret, wiped when it is dropped.
    pub(super) fn key(self, secret: &WebhookSecret) -> Result<Zeroizing<Vec<u8>>, SecretError> {
        let whole = secret::check(secret.expose())?;
        let body = whole.strip_prefix(PREFIX).unwrap_or(whole).as_bytes();
        let text = if self.key == KeyForm::Whole { whole.as_bytes() } else { body };
        let mut key = Zeroizing::new(text.to_vec());
        if self.key == KeyForm::Base64 {
            // What is decoded is shorter than what it is decoded from.
            let length = decode_base64(text, &mut key).ok_or(SecretError::NotBase64)?;
            key.truncate(length);
        }
        Ok(key)
    }

    /// Gives what is signed, piece by piece: the body is not copied.
    pub(super) fn join(self, message: Message<'_>, mut sign: impl FnMut(&[u8])) {
        let Message { id, timestamp, body } = message;
        let id = id.as_bytes();
        let parts: &[&[u8]] = match self.join {
            Join::IdTimestampBody => &[id, b".", timestamp, b".", body],
            Join::TimestampIdBody => &[timestamp, b".", id, b".", body],
            Join::WithoutDots => &[id, timestamp, body],
            Join::WithoutId => &[timestamp, b".", body],
            Join::BodyOnly => &[body],
        };
        parts.iter().for_each(|part| sign(part));
    }

    pub(super) fn decode(self, signature: &[u8]) -> Option<Code> {
        match self.encoding {
            Encoding::Hex => hex(signature),
            Encoding::Base64 => base64(signature),
        }
    }

    pub(super) fn encode(self, code: &Code) -> String {
        match self.encoding {
            Encoding::Hex => code.iter().map(|byte| format!("{byte:02x}")).collect(),
            Encoding::Base64 => {
                // 32 bytes are 44 characters.
                let mut text = [0; 44];
                let length = STANDARD.encode_slice(code, &mut text).unwrap_or_default();
                String::from_utf8_lossy(&text[..length]).into_owned()
            }
        }
    }
}

/// As it is chosen.
impl fmt::Debug for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Scheme::new()")?;
        match self.join {
            Join::IdTimestampBody => {}
            Join::TimestampIdBody => f.write_str(".timestamp_first()")?,
            other => write!(f, " with {other:?}")?,
        }
        match self.encoding {
            Encoding::Hex => {}
            Encoding::Base64 => f.write_str(".base64_signature()")?,
        }
        match self.key {
            KeyForm::Whole => Ok(()),
            KeyForm::Base64 => f.write_str(".base64_key()"),
            KeyForm::WithoutPrefix => f.write_str(".key_without_prefix()"),
        }
    }
}

/// As the documentation would put it.
impl fmt::Display for Scheme {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let join = match self.join {
            Join::IdTimestampBody => "<id>.<t>.<body>",
            Join::TimestampIdBody => "<t>.<id>.<body>",
            Join::WithoutDots => "<id><t><body>",
            Join::WithoutId => "<t>.<body>",
            Join::BodyOnly => "<body>",
        };
        let encoding = match self.encoding {
            Encoding::Hex => "hexadecimal",
            Encoding::Base64 => "base64",
        };
        let key = match self.key {
            KeyForm::Whole => "the whole secret",
            KeyForm::Base64 => "what follows whsec_, decoded from base64",
            KeyForm::WithoutPrefix => "what follows whsec_",
        };
        write!(f, "message {join}, signature {encoding}, key {key}")
    }
}

/// What is signed.
#[derive(Clone, Copy)]
pub(super) struct Message<'a> {
    pub(super) id: &'a str,
    /// As it stands in the header.
    pub(super) timestamp: &'a [u8],
    pub(super) body: &'a [u8],
}

fn hex(text: &[u8]) -> Option<Code> {
    let digits: &[u8; 64] = text.try_into().ok()?;
    // All of them, and the decision at the end: that way the compiler does many at once.
    let nibbles = digits.map(nibble);
    if nibbles.iter().fold(0, |all, nibble| all | nibble) > 0xf {
        return None;
    }
    Some(std::array::from_fn(|at| nibbles[2 * at] << 4 | nibbles[2 * at + 1]))
}

/// Above 15 of what is no digit.
fn nibble(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        b'a'..=b'f' => digit - b'a' + 10,
        b'A'..=b'F' => digit - b'A' + 10,
        _ => u8::MAX,
    }
}

fn base64(text: &[u8]) -> Option<Code> {
    // A byte more than fits, so that one too many is seen; with yet more there is no decoding.
    let mut buffer = [0; 33];
    let length = decode_base64(text, &mut buffer)?;
    buffer[..length].try_into().ok()
}

const LENIENT: GeneralPurposeConfig =
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&base64::alphabet::STANDARD, LENIENT);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&base64::alphabet::URL_SAFE, LENIENT);

fn decode_base64(text: &[u8], into: &mut [u8]) -> Option<usize> {
    STANDARD.decode_slice(text, into).or_else(|_| URL_SAFE.decode_slice(text, into)).ok()
}
