//! Event streams.

mod decoder;
mod lines;

#[cfg(test)]
mod tests;
