//! The extractor, in a router without sockets.

use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::Body;
use axum::extract::{DefaultBodyLimit, FromRef, State};
use axum::http::{Request, StatusCode};
use axum::routing::post;
use axum::{Router, middleware};
use bytes::Bytes;
use http_body::{Frame, SizeHint};
use http_body_util::BodyExt as _;
use shadway::webhooks::{SignatureHeaders, Signer, VerifiedEvent, Verifier, WebhookRejection};
use tower_service::Service as _;

use super::{BODY, OLD_SECRET, SECRET, signed, verifier};

const MIB: usize = 1024 * 1024;

#[derive(Clone)]
struct App {
    verifier: Verifier,
    handled: Arc<Mutex<Vec<VerifiedEvent>>>,
}

impl FromRef<App> for Verifier {
    fn from_ref(app: &App) -> Self {
        app.verifier.clone()
    }
}

async fn receive(State(app): State<App>, delivery: VerifiedEvent) -> StatusCode {
    app.handled.lock().unwrap().push(delivery);
    StatusCode::NO_CONTENT
}

struct Server {
    router: Router,
    handled: Arc<Mutex<Vec<VerifiedEvent>>>,
}

impl Server {
    fn new(verifier: Verifier) -> Self {
        let app = App { verifier, handled: Arc::default() };
        let handled = Arc::clone(&app.handled);
        Self { router: Router::new().route("/", post(receive)).with_state(app), handled }
    }

    /// The status and the text that the sender sees.
    async fn send(&self, headers: &SignatureHeaders, body: impl Into<Body>) -> (StatusCode, String) {
        let mut request = Request::post("/");
        for (name, value) in headers.pairs() {
            request = request.header(name, value);
        }
        let answer = self.router.clone().call(request.body(body.into()).unwrap()).await.unwrap();
        let status = answer.status();
        (status, String::from_utf8(answer.into_body().collect().await.unwrap().to_bytes().into()).unwrap())
    }

    fn handled(&self) -> usize {
        self.handled.lock().unwrap().len()
    }
}

fn fresh(body: impl AsRef<[u8]>) -> SignatureHeaders {
    Signer::new(SECRET).unwrap().sign("dlv_1", body).unwrap()
}

fn refused(status: StatusCode) -> (StatusCode, String) {
    (status, "webhook refused\n".to_owned())
}

/// A body in pieces of 1 KiB that counts how often it was asked.
struct Counted {
    left: usize,
    knows_length: bool,
    polls: Arc<AtomicUsize>,
    fails: bool,
}

impl Counted {
    fn body(length: usize, fails: bool) -> (Body, Arc<AtomicUsize>) {
        let polls = Arc::new(AtomicUsize::new(0));
        let own = Self { left: length, knows_length: false, polls: Arc::clone(&polls), fails };
        (Body::new(own), polls)
    }

    fn body_of_known_length(length: usize) -> (Body, Arc<AtomicUsize>) {
        let polls = Arc::new(AtomicUsize::new(0));
        let own = Self { left: length, knows_length: true, polls: Arc::clone(&polls), fails: false };
        (Body::new(own), polls)
    }
}

impl http_body::Body for Counted {
    type Data = Bytes;
    type Error = std::io::Error;

    fn size_hint(&self) -> SizeHint {
        if self.knows_length { SizeHint::with_exact(self.left as u64) } else { SizeHint::default() }
    }

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, std::io::Error>>> {
        self.polls.fetch_add(1, Ordering::SeqCst);
        if self.left == 0 {
            return Poll::Ready(self.fails.then(|| Err(std::io::ErrorKind::ConnectionReset.into())));
        }
        let size = self.left.min(1024);
        self.left -= size;
        Poll::Ready(Some(Ok(Frame::data(Bytes::from(vec![b' '; size])))))
    }
}

#[tokio::test]
async fn a_verified_event_reaches_the_handler() {
    let server = Server::new(verifier());
    assert_eq!(server.send(&fresh(BODY), BODY).await, (StatusCode::NO_CONTENT, String::new()));
    let handled = server.handled.lock().unwrap();
    assert_eq!((handled[0].id.as_str(), handled[0].event.sequence), ("dlv_1", 7));
}

#[tokio::test]
async fn whatever_is_wrong_the_answer_is_one_text_and_the_handler_does_not_run() {
    let server = Server::new(verifier());
    let other = Signer::new(OLD_SECRET).unwrap().sign("dlv_1", BODY).unwrap();
    let unsigned = SignatureHeaders::new("dlv_1".into(), String::new());
    for headers in [signed(BODY), other, unsigned, fresh("another body")] {
        assert_eq!(server.send(&headers, BODY).await, refused(StatusCode::BAD_REQUEST));
    }
    let bare = Request::post("/").body(Body::from(BODY)).unwrap();
    assert_eq!(server.router.clone().call(bare).await.unwrap().status(), StatusCode::BAD_REQUEST);
    assert_eq!(
        server.send(&fresh("{}"), "{}").await,
        refused(StatusCode::BAD_REQUEST),
        "signed, but no event"
    );
    let (body, _) = Counted::body(4096, true);
    assert_eq!(server.send(&fresh(BODY), body).await, refused(StatusCode::BAD_REQUEST), "broken off");
    assert_eq!(server.handled(), 0);
}

#[tokio::test]
async fn a_body_over_the_limit_is_413_and_not_read_to_its_end() {
    let server = Server::new(verifier());
    let (body, polls) = Counted::body(MIB, false);
    assert_eq!(
        server.send(&fresh(" ".repeat(MIB)), body).await,
        refused(StatusCode::BAD_REQUEST),
        "blanks are no event"
    );
    assert_eq!(polls.load(Ordering::SeqCst), 1025, "but were read to their end");
    let (body, polls) = Counted::body(100 * MIB, false);
    assert_eq!(server.send(&fresh(""), body).await, refused(StatusCode::PAYLOAD_TOO_LARGE));
    assert!(polls.load(Ordering::SeqCst) <= 1025);

    let (body, polls) = Counted::body_of_known_length(MIB + 1);
    assert_eq!(server.send(&fresh(""), body).await, refused(StatusCode::PAYLOAD_TOO_LARGE));
    assert_eq!(polls.load(Ordering::SeqCst), 0, "not even begun");

    let own = Server::new(verifier().max_body_bytes(BODY.len()));
    assert_eq!(own.send(&fresh(BODY), BODY).await.0, StatusCode::NO_CONTENT);
    let longer = format!("{BODY} ");
    assert_eq!(own.send(&fresh(&longer), longer).await, refused(StatusCode::PAYLOAD_TOO_LARGE));
    let wide = Server::new(verifier().max_body_bytes(8 * MIB));
    let padded = format!("{BODY}{}", " ".repeat(4 * MIB));
    assert_eq!(
        wide.send(&fresh(&padded), padded).await.0,
        StatusCode::NO_CONTENT,
        "above axum's own default"
    );
}

#[tokio::test]
async fn the_body_of_what_is_stale_or_unsigned_is_never_asked_for() {
    let server = Server::new(verifier());
    let unsigned = SignatureHeaders::new("dlv_1".into(), "v1=00".into());
    let no_id = SignatureHeaders::new(String::new(), fresh(BODY).signature);
    for headers in [signed(BODY), unsigned, no_id] {
        let (body, polls) = Counted::body(4096, false);
        assert_eq!(server.send(&headers, body).await, refused(StatusCode::BAD_REQUEST));
        assert_eq!(polls.load(Ordering::SeqCst), 0);
    }
}

#[tokio::test]
async fn a_smaller_limit_of_the_router_holds_too() {
    let mut server = Server::new(verifier());
    // A layer that limits the body itself, as tower-http's does.
    server.router = server.router.layer(middleware::map_request(|request: Request<Body>| async {
        request.map(|body| Body::new(http_body_util::Limited::new(body, 16)))
    }));
    assert_eq!(server.send(&fresh(BODY), BODY).await, refused(StatusCode::PAYLOAD_TOO_LARGE));
    // axum's own is for extractors that leave it to axum.
    let mut server = Server::new(verifier());
    server.router = server.router.layer(DefaultBodyLimit::max(16));
    assert_eq!(server.send(&fresh(BODY), BODY).await.0, StatusCode::NO_CONTENT);
}

#[tokio::test]
async fn a_handler_can_see_to_the_refusal_itself() {
    let router: Router = Router::new()
        .route(
            "/",
            post(|delivery: Result<VerifiedEvent, WebhookRejection>| async {
                match delivery {
                    Ok(_) => "ok".to_owned(),
                    Err(WebhookRejection::Unverified(reason)) => reason.to_string(),
                    Err(other) => other.status().to_string(),
                }
            }),
        )
        .with_state(verifier().tolerance(Duration::from_secs(1)));
    let server = Server { router, handled: Arc::default() };
    assert_eq!(server.send(&fresh(BODY), BODY).await.1, "ok");
    assert!(server.send(&fresh(BODY), "{}").await.1.starts_with("no signature fits"));
    assert_eq!(server.send(&fresh("{}"), "{}").await.1, "400 Bad Request");
}

#[tokio::test]
async fn the_reason_is_logged_and_nothing_that_the_sender_chose() {
    let log = Log::default();
    let guard = tracing::subscriber::set_default(log.clone());
    let server = Server::new(verifier());
    // What other tests have done without a subscriber is remembered by the places that log.
    tracing::callsite::rebuild_interest_cache();
    let mut stale = signed(BODY);
    stale.signature += ",x=s3nt";
    server.send(&stale, "s3nt").await;
    server.send(&fresh("x"), "s3nt").await;
    let (body, _) = Counted::body(9 * MIB, false);
    server.send(&fresh("x"), body).await;
    drop(guard);
    let lines = log.0.lock().unwrap().clone();
    assert_eq!(lines.len(), 3, "{lines:#?}");
    assert!(lines[0].contains("was signed") && lines[0].contains("s ago"), "{lines:#?}");
    assert!(lines[1].contains("no signature fits") && lines[1].contains("400"), "{lines:#?}");
    assert!(lines[2].contains("larger than the limit") && lines[2].contains("413"), "{lines:#?}");
    assert!(!lines.iter().any(|line| line.contains("s3nt") || line.contains("dlv_1")), "{lines:#?}");
}

#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<String>>>);

impl tracing::Subscriber for Log {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        metadata.target() == "shadway"
    }

    fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
        tracing::span::Id::from_u64(1)
    }

    fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

    fn event(&self, event: &tracing::Event<'_>) {
        self.0.lock().unwrap().push(format!("{event:?}"));
    }

    fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}
    fn enter(&self, _: &tracing::span::Id) {}
    fn exit(&self, _: &tracing::span::Id) {}
}
