//! A stream that always has something at hand lets others have their turn.

use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;

use bytes::Bytes;
use futures_core::Stream as _;
use futures_util::{StreamExt as _, stream};
use http_body::Frame;
use http_body_util::StreamBody;
use shadway::Client;
use shadway::transport::{Body, HttpFuture, HttpService};

use crate::support::streams::event;

/// Always has more to give, as far as one poll can tell, and counts what it gave.
#[derive(Debug, Clone)]
struct Gushing(fn(u64) -> String, Arc<AtomicU64>);

const MUCH: u64 = 20_000;

impl HttpService for Gushing {
    fn call(&self, _: http::Request<Bytes>) -> HttpFuture<'_> {
        let (piece, given) = (self.0, Arc::clone(&self.1));
        let frames = stream::iter(1..=MUCH).map(move |number| {
            given.store(number, Ordering::Relaxed);
            Ok::<_, std::io::Error>(Frame::data(Bytes::from(piece(number))))
        });
        let body = Body::new(StreamBody::new(frames));
        let response = http::Response::builder().header("content-type", "text/event-stream").body(body);
        Box::pin(async { Ok(response.unwrap()) })
    }
}

#[tokio::test(start_paused = true)]
async fn what_comes_without_end_and_is_no_event_to_give_out_is_taken_in_turns() {
    let comment: fn(u64) -> String = |_| ":\n\n".to_owned();
    // A comment, a position, what is no event, an event of a type that is left out, and one that was there before.
    for piece in
        [comment, |number| format!("id: {number}\n\n"), |_| "data: x\n\n".to_owned(), event, |_| event(1)]
    {
        let service = Gushing(piece, Arc::default());
        let given = Arc::clone(&service.1);
        let client = Client::builder().api_key("sk_test_1").http_service(service).build().unwrap();
        let mut events = client.events().stream().event_types(["never.happened"]);
        let mut turns = 0;
        while given.load(Ordering::Relaxed) < MUCH {
            let before = given.load(Ordering::Relaxed);
            poll_fn(|context| {
                assert!(Pin::new(&mut events).poll_next(context).is_pending());
                Poll::Ready(())
            })
            .await;
            let taken = given.load(Ordering::Relaxed) - before;
            assert!(taken <= 256, "{taken} in one turn");
            turns += 1;
            assert!(turns < 10_000, "it was woken for nothing");
            tokio::task::yield_now().await;
        }
    }
    // And it goes on by itself, since it wakes itself.
    let service =
        Gushing(|number| if number == MUCH { event(1) } else { ":\n\n".to_owned() }, Arc::default());
    let client = Client::builder().api_key("sk_test_1").http_service(service).build().unwrap();
    assert_eq!(client.events().stream().try_next().await.unwrap().unwrap().id, "evt_1");
}
