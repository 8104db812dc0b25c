//! What a webhook secret looks like (documented: `whsec_…`), so that a wrong one is refused when the verifier
//! is made, and not with the first delivery.

use super::error::SecretError;

pub(super) const PREFIX: &str = "whsec_";
/// Assumed. A key of fewer random characters could be guessed, so a shorter one is part of one.
const MIN_BODY: usize = 16;
/// One side is enough: the other may have been lost.
const QUOTES: [char; 7] = ['"', '\'', '`', '“', '”', '‘', '’'];

/// The secret without the blanks around it.
pub(super) fn check(secret: &str) -> Result<&str, SecretError> {
    let secret = secret.trim();
    if secret.is_empty() {
        return Err(SecretError::Empty);
    }
    if secret.starts_with(QUOTES) || secret.ends_with(QUOTES) {
        return Err(SecretError::Quoted);
    }
    if let Some(at) = secret.chars().position(|character| !character.is_ascii_graphic()) {
        return Err(SecretError::InvalidCharacter { at: at + 1 });
    }
    match secret.strip_prefix(PREFIX) {
        None if secret.starts_with("sk_") => Err(SecretError::ApiKey),
        None => Err(SecretError::NoPrefix),
        Some(body) if body.len() < MIN_BODY => Err(SecretError::TooShort),
        Some(_) => Ok(secret),
    }
}
