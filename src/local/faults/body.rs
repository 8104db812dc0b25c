//! Bodies that come in another way than they were made.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use futures_util::stream;
use http::HeaderValue;
use http::header::CONTENT_LENGTH;
use http_body::Body as _;
use http_body_util::BodyExt as _;

use super::apply::pause;
use crate::local::entry::Closed;
use crate::local::shared::Shared;

/// The whole body changed. Half of nothing is no JSON either.
pub(super) async fn rewritten(
    response: Response,
    change: impl Fn(&[u8]) -> Vec<u8>,
) -> Result<Response, Closed> {
    let (mut parts, text) = whole(response).await?;
    // The server that sends it counts anew.
    parts.headers.remove(CONTENT_LENGTH);
    Ok(Response::from_parts(parts, Body::from(change(&text))))
}

/// The first half of the body, and the length of the whole.
pub(super) async fn truncated(response: Response) -> Result<Response, Closed> {
    let (mut parts, text) = whole(response).await?;
    if text.is_empty() {
        return Err(Closed);
    }
    parts.headers.insert(CONTENT_LENGTH, HeaderValue::from(text.len()));
    let half = text.slice(..text.len() / 2);
    let frames = stream::unfold(Some(half), |half| async move {
        match half {
            Some(half) => Some((Ok(half), None)),
            None => {
                sent().await;
                Some((Err(Closed), None))
            }
        }
    });
    Ok(Response::from_parts(parts, Body::from_stream(frames)))
}

/// Each byte on its own, after a pause.
pub(super) fn split(response: Response, time: Duration, shared: Arc<Shared>) -> Response {
    if response.body().is_end_stream() {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    parts.headers.remove(CONTENT_LENGTH);
    let bytes =
        stream::unfold((body, Bytes::new(), shared), move |(mut body, mut rest, shared)| async move {
            while rest.is_empty() {
                rest = frame(&mut body).await?;
            }
            let byte = rest.split_to(1);
            if time.is_zero() {
                sent().await;
            } else if let Err(closed) = pause(&shared, time).await {
                return Some((Err(closed), (Body::empty(), Bytes::new(), shared)));
            }
            Some((Ok(byte), (body, rest, shared)))
        });
    Response::from_parts(parts, Body::from_stream(bytes))
}

/// The next piece of a body.
pub(super) async fn frame(body: &mut Body) -> Option<Bytes> {
    loop {
        // Bodies are made in this process, and do not fail.
        if let Ok(data) = body.frame().await?.ok()?.into_data() {
            return Some(data);
        }
    }
}

/// Lets whoever sends the body write out what it was given: what follows may be the end of the connection.
pub(super) async fn sent() {
    tokio::task::yield_now().await;
}

async fn whole(response: Response) -> Result<(http::response::Parts, Bytes), Closed> {
    let (parts, body) = response.into_parts();
    let text = body.collect().await.map_err(|_| Closed)?.to_bytes();
    Ok((parts, text))
}
