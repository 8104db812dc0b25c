//! The crate as its users see it. One binary, so that it links once.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that can't go on has failed")]

mod amendments;
mod approvals;
mod architecture;
mod authorities;
mod budget;
mod capabilities;
mod configuration;
mod errors;
mod events;
mod exact;
mod fixtures;
mod gaps;
mod idempotency;
mod lists;
mod observability;
mod parity;
mod paths;
mod promises;
mod quickstart;
mod record;
mod retries;
mod samples;
mod secrets;
mod sockets;
mod streams;
mod support;
mod tail_events;
mod tls;
mod waits;
mod watcher;
mod webhook_endpoints;
mod webhooks;
mod wire;
