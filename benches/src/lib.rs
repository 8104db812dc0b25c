//! What the crate costs, beside its peers in the same run. README.md has the figures.

pub mod corpus;
pub mod cuts;
pub mod decode;
pub mod growth;
mod load;
pub mod local;
pub mod measure;
mod node;
pub mod overhead;
pub mod pagination;
pub mod rivals;
pub mod scanner;
mod service;
mod socket;
mod stages;
pub mod waits;
pub mod webhooks;

/// Where the decoder's files look for the id.
mod model {
    pub(crate) mod types {
        pub(crate) use shadway::types::EventId;
    }
}
