//! The way in: where each request arrives, over a socket or from memory, is written down, and may meet a fault.

use std::convert::Infallible;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use http::Request;
use http_body::Body as _;
use http_body_util::BodyExt as _;
use tower_service::Service as _;

use super::control;
use super::faults::{self, Target};
use super::requests::RequestRecord;
use super::router::{self, LARGEST_BODY};
use super::shared::Shared;
use super::traffic::Kind;

/// Says that the connection is to be closed, with nothing more on it.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the local server closed the connection")]
pub(crate) struct Closed;

/// Where requests arrive.
#[derive(Clone)]
pub(crate) struct Entry {
    router: Router,
    pub(crate) shared: Arc<Shared>,
}

impl Entry {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let api = Self { router: router::router(Arc::clone(&shared)), shared };
        let controls = control::router(api.clone());
        Self { router: api.router.merge(controls), shared: api.shared }
    }

    pub(crate) async fn answer(self, request: Request<Body>) -> Result<Response, Closed> {
        let path = request.uri().path();
        if !router::is_call(path) {
            return Ok(route(self.router, request).await);
        }
        let route_template = router::template(path);
        let (parts, body) = request.into_parts();
        let body = self.read(body).await;
        let known = body.as_ref().ok().map(|text| &text[..]);
        let record = RequestRecord::new(&parts, route_template, known, self.shared.now());
        let fault = self.shared.faults().pick(&Target::request(&parts, route_template));
        let number = self.shared.journal().begin(RequestRecord { fault: fault.clone(), ..record });

        let body = match body {
            Ok(text) => Body::from(text),
            Err(error) => Body::from_stream(stream::iter([Err::<Bytes, _>(error)])),
        };
        let handled = route(self.router, Request::from_parts(parts, body));
        let answer = match fault {
            None => Ok(handled.await),
            Some(fault) => faults::apply(&fault, &self.shared, handled).await,
        };
        if let Ok(response) = &answer {
            self.shared.journal().finish(number, response.status());
        }
        answer
    }

    /// The whole body. One that is too large is read to its end all the same, or its sender would find the
    /// connection broken before the answer; of that no more is kept than shows that it is.
    async fn read(&self, mut body: Body) -> Result<Bytes, axum::Error> {
        if body.is_end_stream() {
            return Ok(Bytes::new());
        }
        let _counted = self.shared.traffic.count(Kind::Request);
        let mut text = Vec::new();
        while let Some(frame) = body.frame().await {
            let Ok(data) = frame?.into_data() else { continue };
            let room = (LARGEST_BODY + 1).saturating_sub(text.len());
            text.extend_from_slice(&data[..room.min(data.len())]);
        }
        Ok(text.into())
    }
}

async fn route(mut router: Router, request: Request<Body>) -> Response {
    match router.call(request).await {
        Ok(response) => response,
        Err(never) => {
            let never: Infallible = never;
            match never {}
        }
    }
}
