//! From a request that has been read to what the workspace says of it. One function for each call.

use super::answer::{Reply, Result};
use super::clock::Moment;
use super::incoming::Incoming;
use super::workspace::Workspace;

pub(crate) mod agents;
pub(crate) mod mandates;

/// Runs under the workspace's lock, so it never waits.
pub(crate) type Handler = fn(&mut Workspace, Incoming, Moment) -> Result<Reply>;
