//! A local server that speaks the contract of the service.
