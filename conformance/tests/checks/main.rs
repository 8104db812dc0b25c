//! Messages against the document: right ones pass, and each thing that can be wrong is found.

mod bodies;
mod events;
mod messages;
mod requests;
mod responses;
mod samples;
