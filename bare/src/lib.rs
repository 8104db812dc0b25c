//! Tests of the crate without any of its features.
