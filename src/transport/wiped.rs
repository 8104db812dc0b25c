//! Bodies, which may hold secrets: wiped when the last who holds them has let go, and while they grow.

use std::io;

use bytes::Bytes;
use zeroize::Zeroize as _;

pub(crate) struct Wiped(Vec<u8>);

impl Wiped {
    /// One that needs not grow up to so many bytes.
    pub(crate) fn with_room(bytes: usize) -> Self {
        Self(Vec::with_capacity(bytes))
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    // JSON is written in pieces of a letter or two.
    #[inline]
    pub(crate) fn extend(&mut self, bytes: &[u8]) {
        if self.0.capacity() - self.0.len() < bytes.len() {
            self.grow(bytes.len());
        }
        self.0.extend_from_slice(bytes);
    }

    /// A vector that grows by itself leaves what it held where it was.
    #[cold]
    fn grow(&mut self, bytes: usize) {
        let room = (self.0.len() + bytes).max(self.0.capacity() * 2);
        let mut larger = Self::with_room(room);
        larger.0.extend_from_slice(&self.0);
        *self = larger;
    }
}

impl io::Write for Wiped {
    #[inline]
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.extend(bytes);
        Ok(bytes.len())
    }

    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.extend(bytes);
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl AsRef<[u8]> for Wiped {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

impl From<Wiped> for Bytes {
    fn from(body: Wiped) -> Self {
        Self::from_owner(body)
    }
}

impl Drop for Wiped {
    fn drop(&mut self) {
        self.0.as_mut_slice().zeroize();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_kept_however_it_grows() {
        let mut body = Wiped::with_room(2);
        let mut expected = Vec::new();
        for length in [0, 1, 7, 100, 3, 5_000, 2] {
            body.extend(&vec![length as u8; length]);
            expected.resize(expected.len() + length, length as u8);
            assert_eq!((body.as_ref(), body.len()), (&expected[..], expected.len()));
        }
        let bytes = Bytes::from(body);
        assert_eq!(bytes.slice(1..9), expected[1..9]);
    }
}
