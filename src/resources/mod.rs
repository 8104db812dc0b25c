//! The calls of each resource: a method is one expression that says verb, route and body.

pub(crate) mod agents;
pub(crate) mod mandates;
pub(crate) mod poll;
