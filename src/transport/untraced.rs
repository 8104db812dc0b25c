//! What stands in for `trace.rs` without the feature `tracing`: nothing, at no cost.

use std::time::Duration;

use http::{Response, Uri};

use super::outcome::Outcome;
use super::request::Request;
use super::{Answer, Body};
use crate::clock::Timer;
use crate::error::{Error, Result};

pub(super) struct Span;

impl Span {
    pub(super) fn new(_: &Request, _: &Uri, _: &dyn Timer) -> Self {
        Self
    }

    pub(super) fn around<F: Future>(&self, work: F) -> F {
        work
    }

    pub(super) fn answered(&self, _: &Result<Answer>, _: &dyn Timer) {}

    pub(super) fn opened(&self, _: &Result<Response<Body>>, _: u32, _: &dyn Timer) {}
}

pub(super) fn retry(_: &Request, _: &Outcome, _: u32, _: Duration) {}

pub(crate) fn reconnect(_: &Request, _: &Error, _: Duration) {}
