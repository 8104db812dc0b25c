//! What the two headers say: the delivery's id, and `t=<seconds>,v1=<signature>[,v1=…]`.

use memchr::{memchr, memchr_iter};

use super::error::VerifyError;

const MAX_ID: usize = 256;
/// Far above what two secrets of a rotation take, and little enough to read at no cost.
const MAX_HEADER: usize = 4096;
const MAX_SIGNATURES: usize = 16;
/// With the empty ones: each costs time, and before anything is believed.
const MAX_ELEMENTS: usize = 32;
/// A name with its `=` is no longer.
const NEAR: usize = 8;

/// The delivery's id. It holds no dot, so that the signed bytes can be read in one way only.
pub(super) fn delivery_id(value: &[u8]) -> Result<&str, VerifyError> {
    let fits = (1..=MAX_ID).contains(&value.len())
        && value.iter().all(|byte| byte.is_ascii_graphic() && *byte != b'.');
    match std::str::from_utf8(value) {
        Ok(id) if fits => Ok(id),
        _ => Err(VerifyError::InvalidDeliveryId),
    }
}

/// The signature header, read but not yet believed.
#[derive(Clone, Copy)]
pub(super) struct SignatureHeader<'a> {
    /// As it came: it is signed as text.
    pub(super) timestamp: &'a [u8],
    pub(super) seconds: u64,
    value: &'a [u8],
}

impl<'a> SignatureHeader<'a> {
    pub(super) fn parse(value: &'a [u8]) -> Result<Self, VerifyError> {
        // There is one element more than commas.
        if value.len() > MAX_HEADER || memchr_iter(b',', value).count() >= MAX_ELEMENTS {
            return Err(VerifyError::Malformed);
        }
        let (mut timestamp, mut signatures) = (None, 0);
        for element in elements(value) {
            match split(element).ok_or(VerifyError::Malformed)? {
                (b"t", _) if timestamp.is_some() => return Err(VerifyError::DuplicateTimestamp),
                (b"t", text) => timestamp = Some(text),
                (b"v1", _) if signatures == MAX_SIGNATURES => return Err(VerifyError::Malformed),
                (b"v1", _) => signatures += 1,
                _ => {}
            }
        }
        let timestamp = timestamp.ok_or(VerifyError::MissingTimestamp)?;
        let seconds = seconds(timestamp).ok_or(VerifyError::InvalidTimestamp)?;
        if signatures == 0 {
            return Err(VerifyError::NoSupportedSignature);
        }
        Ok(Self { timestamp, seconds, value })
    }

    /// The values of all `v1`, as they came.
    pub(super) fn signatures(self) -> impl Iterator<Item = &'a [u8]> {
        elements(self.value).filter_map(split).filter(|(name, _)| *name == b"v1").map(|(_, value)| value)
    }
}

/// Between commas, without the blanks around them; empty ones are passed over.
fn elements(value: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut left = Some(value);
    let parts = std::iter::from_fn(move || {
        let value = left?;
        let end = find(b',', value);
        left = end.map(|end| &value[end + 1..]);
        Some(value[..end.unwrap_or(value.len())].trim_ascii())
    });
    parts.filter(|element| !element.is_empty())
}

fn split(element: &[u8]) -> Option<(&[u8], &[u8])> {
    let at = find(b'=', element)?;
    Some((&element[..at], &element[at + 1..]))
}

/// What is near is found sooner by looking at each byte, and what is far away by many at once.
fn find(wanted: u8, within: &[u8]) -> Option<usize> {
    let (near, far) = within.split_at(within.len().min(NEAR));
    let found = near.iter().position(|byte| *byte == wanted);
    found.or_else(|| memchr(wanted, far).map(|at| NEAR + at))
}

/// Only as a number is written: another spelling of the same time is not what was signed.
fn seconds(text: &[u8]) -> Option<u64> {
    match text {
        [b'0'] => Some(0),
        [b'1'..=b'9', ..] => text.iter().try_fold(0_u64, |seconds, byte| {
            let digit = byte.is_ascii_digit().then(|| u64::from(byte - b'0'))?;
            seconds.checked_mul(10)?.checked_add(digit)
        }),
        _ => None,
    }
}
