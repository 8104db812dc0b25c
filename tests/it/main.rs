//! The crate as its users see it. One binary, so that it links once.

#![expect(clippy::unwrap_used, clippy::expect_used, reason = "a test that can't go on has failed")]

mod amendments;
#[path = "../../examples/approval_inbox/main.rs"]
#[expect(dead_code, reason = "its tests are here; the program itself is tested in a browser")]
mod approval_inbox;
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
mod load;
mod local_server;
mod matrix;
mod observability;
mod parity;
mod paths;
mod promises;
mod quickstart;
mod record;
mod retries;
mod samples;
mod secrets;
mod security;
mod sockets;
mod streams;
mod support;
mod tail_events;
mod tls;
mod waits;
mod watcher;
mod webhook_endpoints;
// Its program is told to end by a signal.
#[cfg(unix)]
mod webhook_server;
mod webhooks;
mod wire;
