//! From a request that has been read to what the workspace says of it. One function for each call.

use super::answer::{Reply, Result};
use super::clock::Moment;
use super::incoming::{Incoming, Query};
use super::workspace::Workspace;

pub(crate) mod agents;
pub(crate) mod approvals;
pub(crate) mod capabilities;
pub(crate) mod endpoints;
pub(crate) mod mandates;
pub(crate) mod record;

/// Runs under the workspace's lock, so it never waits.
pub(crate) type Handler = fn(&mut Workspace, Incoming, Moment) -> Result<Reply>;

/// For a call without parameters.
fn none(query: Vec<(String, String)>) -> Result<()> {
    Query::from(query).finish()
}
