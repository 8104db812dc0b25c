//! The calls of each resource: a method is one expression that says verb, route and body.

pub(crate) mod agents;
pub(crate) mod approvals;
pub(crate) mod artifacts;
pub(crate) mod capabilities;
pub(crate) mod events;
pub(crate) mod mandates;
pub(crate) mod poll;
pub(crate) mod webhook_endpoints;
