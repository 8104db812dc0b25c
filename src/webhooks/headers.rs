//! The two headers of a delivery, from whatever holds headers.

use std::collections::{BTreeMap, HashMap};
use std::fmt;

use http::HeaderMap;

use super::error::VerifyError;

/// The header with the delivery's id (documented).
pub const ID_HEADER: &str = "Shadway-Webhook-Id";
/// The header with the time and the signatures (documented).
pub const SIGNATURE_HEADER: &str = "Shadway-Signature";

/// What holds the headers of a request.
///
/// Here for `http::HeaderMap`, maps from name to value, slices, arrays and `Vec`s of pairs, and
/// [`SignatureHeaders`]. For another framework's type, give every value of the named header:
///
/// ```
/// use shadway::webhooks::SignedHeaders;
///
/// struct Theirs(Vec<(String, Vec<u8>)>);
///
/// impl SignedHeaders for Theirs {
///     fn values(&self, name: &'static str) -> impl Iterator<Item = &[u8]> {
///         self.0.iter().filter(move |(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| &value[..])
///     }
/// }
/// ```
pub trait SignedHeaders {
    /// Every value of a header, whatever the case its name is written in. A header that came twice has two: a
    /// delivery with a repeated header is refused.
    fn values(&self, name: &'static str) -> impl Iterator<Item = &[u8]>;
}

impl<H: SignedHeaders + ?Sized> SignedHeaders for &H {
    fn values(&self, name: &'static str) -> impl Iterator<Item = &[u8]> {
        (**self).values(name)
    }
}

impl SignedHeaders for HeaderMap {
    fn values(&self, name: &'static str) -> impl Iterator<Item = &[u8]> {
        self.get_all(name).into_iter().map(http::HeaderValue::as_bytes)
    }
}

impl<K: AsRef<str>, V: AsRef<[u8]>, S> SignedHeaders for HashMap<K, V, S> {
    fn values(&self, name: &'static str) -> impl Iterator<Item = &[u8]> {
        named(self, name)
    }
}

impl<K: AsRef<str>, V: AsRef<[u8]>> SignedHeaders for BTreeMap<K, V> {
    fn values(&self, name: &'static str) -> impl Iterator<Item = &[u8]> {
        named(self, name)
    }
}

impl<K: AsRef<str>, V: AsRef<[u8]>> SignedHeaders for [(K, V)] {
    fn values(&self, name: &'static str) -> impl Iterator<Item = &[u8]> {
        named(self.iter().map(|(name, value)| (name, value)), name)
    }
}

impl<K: AsRef<str>, V: AsRef<[u8]>, const N: usize> SignedHeaders for [(K, V); N] {
    fn values(&self, name: &'static str) -> impl Iterator<Item = &[u8]> {
        self.as_slice().values(name)
    }
}

impl<K: AsRef<str>, V: AsRef<[u8]>> SignedHeaders for Vec<(K, V)> {
    fn values(&self, name: &'static str) -> impl Iterator<Item = &[u8]> {
        self.as_slice().values(name)
    }
}

fn named<'a, K: AsRef<str> + ?Sized + 'a, V: AsRef<[u8]> + 'a>(
    headers: impl IntoIterator<Item = (&'a K, &'a V)>,
    name: &'static str,
) -> impl Iterator<Item = &'a [u8]> {
    headers
        .into_iter()
        .filter(move |(own, _)| own.as_ref().eq_ignore_ascii_case(name))
        .map(|(_, value)| value.as_ref())
}

/// The one value of a header.
pub(super) fn only<'a>(
    headers: &'a (impl SignedHeaders + ?Sized),
    name: &'static str,
) -> Result<&'a [u8], VerifyError> {
    let mut values = headers.values(name);
    let value = values.next().ok_or(VerifyError::MissingHeader(name))?;
    match values.next() {
        None => Ok(value),
        Some(_) => Err(VerifyError::DuplicateHeader(name)),
    }
}

/// The values of the two headers: those that a [`Signer`](super::Signer) makes, or that you read out of a
/// request yourself.
///
/// ```
/// use shadway::webhooks::{SignatureHeaders, Signer};
///
/// let signed = Signer::new("whsec_MfKQ9r8GKYqrTwjU")?.sign("dlv_1", "{}")?;
/// for (name, value) in signed.pairs() {
///     println!("{name} has {} bytes", value.len());
/// }
/// let read = SignatureHeaders::new(signed.id.as_str(), signed.signature.as_str());
/// # let _ = read;
/// # Ok::<(), shadway::webhooks::VerifyError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SignatureHeaders<V = String> {
    /// The value of [`ID_HEADER`].
    pub id: V,
    /// The value of [`SIGNATURE_HEADER`].
    pub signature: V,
}

impl<V> SignatureHeaders<V> {
    /// The delivery's id, and the time with the signatures.
    #[must_use]
    pub const fn new(id: V, signature: V) -> Self {
        Self { id, signature }
    }

    /// Both with their names, to put them on a request.
    #[must_use]
    pub fn pairs(&self) -> [(&'static str, &V); 2] {
        [(ID_HEADER, &self.id), (SIGNATURE_HEADER, &self.signature)]
    }
}

impl<V: AsRef<[u8]>> SignedHeaders for SignatureHeaders<V> {
    fn values(&self, name: &'static str) -> impl Iterator<Item = &[u8]> {
        named(self.pairs(), name)
    }
}

impl<V: fmt::Debug> fmt::Debug for SignatureHeaders<V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SignatureHeaders").field("id", &self.id).finish_non_exhaustive()
    }
}
