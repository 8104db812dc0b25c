//! When requests were under way, as a service sees it.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use http_body_util::BodyExt as _;
use shadway::transport::{Body, HttpFuture, HttpService};
use tokio::time::Instant;

/// Requests for what ends, streams left out: when each began, and when it was over.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flights(Arc<Mutex<Vec<Flight>>>);

#[derive(Debug, Clone, Copy)]
struct Flight {
    began: Instant,
    over: Option<Instant>,
}

impl Flights {
    /// One more, that is over when this is dropped.
    pub(crate) fn begin(&self) -> Landing {
        let mut flights = self.0.lock().unwrap();
        flights.push(Flight { began: Instant::now(), over: None });
        Landing { flights: self.clone(), number: flights.len() - 1 }
    }

    /// When the last of those that began at that time, or later, was over: now, if one is still under way.
    pub(crate) fn over_of_those_from(&self, time: Instant) -> Option<Instant> {
        let flights = self.0.lock().unwrap();
        let late = flights.iter().filter(|flight| flight.began >= time);
        late.map(|flight| flight.over.unwrap_or_else(Instant::now)).max()
    }
}

#[derive(Debug)]
pub(crate) struct Landing {
    flights: Flights,
    number: usize,
}

impl Drop for Landing {
    fn drop(&mut self) {
        self.flights.0.lock().unwrap()[self.number].over = Some(Instant::now());
    }
}

/// A service whose requests are noted.
#[derive(Debug)]
pub(crate) struct Noted<S> {
    pub(crate) inner: S,
    pub(crate) flights: Flights,
}

impl<S: HttpService> HttpService for Noted<S> {
    fn call(&self, request: http::Request<Bytes>) -> HttpFuture<'_> {
        let landing = self.flights.begin();
        Box::pin(async move {
            let response = self.inner.call(request).await?;
            if is_stream(&response) {
                return Ok(response);
            }
            Ok(response.map(|body| {
                Body::new(body.map_frame(move |frame| {
                    // Kept until the body is dropped.
                    let _ = &landing;
                    frame
                }))
            }))
        })
    }
}

/// Whether an answer goes on for as long as there is something to tell.
pub(crate) fn is_stream(response: &http::Response<Body>) -> bool {
    response.headers().get("content-type").is_some_and(|kind| kind == "text/event-stream")
}
