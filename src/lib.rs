//! The client SDK for [Shadway](https://shadway.com), which runs agent work that lasts longer than a request.
//!
//! An **agent** is a model, instructions and capabilities. A **mandate** is one job for an agent, inside
//! hard limits that the service enforces on every action. It waits for replies and for people, survives
//! restarts, and leaves a record. Your program delegates, watches and waits; it doesn't drive the work.
//!
//! ```
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> shadway::Result<()> {
//! use shadway::Client;
//! use shadway::agents::AgentCreateParams;
//! use shadway::mandates::{Authority, MandateCreateParams};
//! use shadway::types::Money;
//! use std::time::Duration;
//!
//! # let server = shadway::local::LocalServer::start().await?;
//! # fn from_env(server: &shadway::local::LocalServer) -> shadway::Result<Client> { server.client() }
//! # let client = from_env(&server)?;
//! # let _ = stringify!(
//! let client = Client::from_env()?; // SHADWAY_API_KEY, SHADWAY_BASE_URL
//! # );
//! let agent = client
//!     .agents()
//!     .create(AgentCreateParams::new("Assistant", "your-provider/your-model").capabilities(["email.send"]))
//!     .await?;
//!
//! let mandate = client
//!     .mandates()
//!     .create(
//!         MandateCreateParams::new(&agent.id, "Email sales@atlas.example and ask for a quote.")
//!             .authority(Authority::new().maximum_actions(5).spend_maximum(Money::usd(799_999))),
//!     )
//!     .await?;
//!
//! let work = client.mandate(&mandate.id); // a handle: sends nothing, starts nothing
//! let done = work.wait().timeout(Duration::from_secs(15 * 60)).await?;
//! println!("{}: {}", done.status, done.current_state.summary);
//! # Ok(())
//! # }
//! ```
//!
//! # What to know
//!
//! - **A call is a value.** A method such as [`Agents::create`](agents::Agents::create) returns a
//!   [`Call`](call::Call), which `.await` or `.send()` sends. Options of one call sit on it.
//! - **Lists** are a call for the first page, or a stream of all [`pages`](call::Call::pages) or
//!   [`items`](call::Call::items).
//! - **Events** are [followed](events::EventStream) as they happen: the stream connects again by itself, resumes where
//!   it was, and gives no event twice; with a [checkpoint](events::EventStream::checkpoint) also after a restart.
//! - **Waits** [follow the events](mandates::Wait) and read beside them, so that no change is missed; a
//!   [watcher](mandates::Watcher) waits for any number of mandates over one connection.
//! - **Retries** happen by themselves, two by default, with the same idempotency key and the same bytes. A
//!   dropped connection never makes two mandates. All calls of a client share a
//!   [budget](ClientBuilder::retry_budget) for them.
//! - **Unknown values and fields are kept**, never an error, and go back as they came.
//! - **Secrets stay secret**: no key, header, endpoint secret or approval input is in any `Debug`, error or span, and
//!   the crate's own copies, bodies included, are [wiped](ClientBuilder::api_key) when they are dropped.
//! - **Nothing blocks and nothing is spawned**, but for the small writes of a
//!   [`FileCheckpoint`](events::FileCheckpoint). Dropping a future or a stream stops it at once and never
//!   affects the mandate.
//!
//! # Features
//!
//! | feature | default | what it adds |
//! | --- | --- | --- |
//! | `client` | yes | the transport on reqwest and the timer on tokio; without it you give [your own](transport::HttpService) |
//! | `rustls` | yes | TLS by rustls with aws-lc and the platform's trust store |
//! | `rustls-ring` | | TLS by rustls with ring: quicker to build, see below |
//! | `native-tls` | | TLS by the system's library |
//! | `schema` | yes | [`Capability::define`](capabilities::Capability::define): schemas from your own types |
//! | `local` | | `local`: a server in your process that speaks the service's contract |
//! | `axum` | | `webhooks::VerifiedEvent`: a verified webhook as an argument of an axum handler; why one is refused is logged with `tracing` only |
//! | `tracing` | | spans of the calls, events of retries and reconnects, through `tracing`: see below |
//!
//! `rustls-ring` turns on reqwest's `rustls-no-provider`. Features add up over a whole program: when no other
//! crate turns on reqwest's own `rustls`, a plain `reqwest::Client::new()` anywhere in it then panics unless a
//! provider has been installed for the process. This crate's client brings its own and is not affected.
//!
//! # Spans and events
//!
//! With the feature `tracing` each call is one span, at the level `INFO` and with the target `shadway`: from before its
//! first attempt to the end of its answer, retries included. The connection of a stream is one too, until its answer
//! begins. Inside of it each retry is an event at `DEBUG`; so is each reconnect of a stream, outside of any span. Fields
//! are named as OpenTelemetry's conventions for HTTP clients name them, and a layer such as `tracing-opentelemetry`'s
//! takes the span's name, kind and status from `otel.*`:
//!
//! | field | of | |
//! | --- | --- | --- |
//! | `otel.name`, `otel.kind` | span | method and template; `client` |
//! | `otel.status_code` | span | `ERROR` if the call failed |
//! | `http.request.method` | both | `_OTHER` for one of your own |
//! | `url.template` | both | such as `/v1/mandates/{id}`; none for [`Client::request`] |
//! | `server.address`, `server.port` | span | of the base URL |
//! | `http.response.status_code` | both | of the last answer, if one came |
//! | `http.request.resend_count` | both | how often it was sent again, if at all |
//! | `error.type` | both | the status; or `timeout`, `connection`, `redirect`, `response_too_large`, `_OTHER` |
//! | `shadway.request_id` | both | the id under which the service knows the request |
//! | `shadway.attempts` | span | how many requests were sent; of a stream, connections in a row without an event |
//! | `shadway.duration_ms` | span | how long it took, by the client's timer, in milliseconds |
//! | `shadway.delay_ms` | event | how long until the retry or the reconnect, in milliseconds |
//!
//! None of them holds a key, a header, a query value, a body, or an id of a resource. A call that is dropped has no
//! status and no duration, and one that is refused before it is sent no span. Without the feature none of this is
//! compiled.

#![cfg_attr(docsrs, feature(doc_cfg))]

#[macro_use]
mod macros;

mod clock;
mod config;
mod error;
#[cfg(fuzzing)]
#[doc(hidden)]
pub mod fuzzing;
mod model;
mod resources;
mod stream;

pub mod call;
pub mod client;
#[cfg(feature = "local")]
pub mod local;
pub mod page;
pub mod transport;

/// The README's program, so that it is known to run.
#[cfg(all(doctest, feature = "local"))]
#[doc = include_str!("../README.md")]
struct Readme;

pub use client::{Client, ClientBuilder};
pub use error::{Error, ErrorKind, Result};

/// Agents: the model, instructions and capabilities behind the work.
pub mod agents {
    pub use crate::model::agents::*;
    pub use crate::resources::agents::{Agents, ReadyWait};
}

/// Approvals: the points at which a person decides.
pub mod approvals {
    pub use crate::model::approvals::*;
    pub use crate::resources::approvals::Approvals;
}

/// Capabilities: one thing each that an agent can do, built in or your own.
pub mod capabilities {
    pub use crate::model::capabilities::*;
    pub use crate::resources::capabilities::{Capabilities, Executor};
    #[cfg(feature = "schema")]
    pub use crate::resources::capabilities::{CapabilityBuilder, DefinedCapability};
}

/// Events: the running record of what mandates did.
pub mod events {
    pub use crate::model::events::*;
    pub use crate::resources::events::{Events, MandateEvents};
    pub use crate::stream::{
        Checkpoint, CheckpointFileError, CheckpointFuture, CheckpointViolation, EventStream, FileCheckpoint,
        MemoryCheckpoint, StreamState, checkpoint_conformance,
    };
}

/// Mandates: one job each, inside hard limits.
pub mod mandates {
    pub use crate::model::amendments::*;
    pub use crate::model::authority::*;
    pub use crate::model::mandates::*;
    pub use crate::resources::mandates::{
        ApprovalWait, MandateHandle, Mandates, Updates, Wait, WatchedApproval, WatchedEvents, WatchedWait,
        Watcher,
    };
}

/// The record of a mandate: facts and the evidence behind them, open questions, promises.
pub mod record {
    pub use crate::model::record::*;
    pub use crate::resources::artifacts::Artifacts;
    pub use crate::resources::mandates::Record;
}

/// Words that many resources share: ids, money, labels, intervals.
pub mod types {
    pub use crate::model::types::{
        AgentId, AmendmentId, ApiError, ApprovalId, ArtifactId, AssertionId, CapabilityId, CommitmentId,
        ErrorCode, EventId, EvidenceId, Extra, FactId, InformationNeedId, Interval, IntervalError, IssueId,
        JsonNumber, ListParams, MandateId, Metadata, Money, Nullable, RawFields, RawJson, WebhookEndpointId,
    };
}

/// Webhooks: the same events, delivered to your servers, and the proof that they are Shadway's.
///
/// Verifying needs no client, no runtime and none of the crate's features: [`Verifier`](webhooks::Verifier). With
/// the feature `axum` it is an argument of the handler: `VerifiedEvent`.
pub mod webhooks {
    #[cfg(feature = "axum")]
    mod axum;
    mod conformance;
    mod dedupe;
    mod diagnose;
    mod error;
    mod grammar;
    mod headers;
    mod keys;
    mod scheme;
    mod secret;
    mod sign;
    mod verify;

    #[cfg(feature = "axum")]
    pub use self::axum::{VerifiedEvent, WebhookRejection};
    pub use self::conformance::{DedupeFault, check_dedupe};
    pub use self::dedupe::{Begun, Dedupe, MemoryDedupe};
    pub use self::diagnose::{Diagnosis, diagnose};
    pub use self::error::{EventError, SecretError, VerifyError};
    pub use self::headers::{ID_HEADER, SIGNATURE_HEADER, SignatureHeaders, SignedHeaders};
    pub use self::scheme::Scheme;
    pub use self::sign::Signer;
    pub use self::verify::{Delivery, Verifier};
    pub use crate::model::webhooks::*;
    pub use crate::resources::webhook_endpoints::{WebhookEndpoints, Webhooks};
}
