//! What is served: the page, the same for everybody, and behind the guard what it shows.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request};
use axum::http::header::{self, HeaderName, HeaderValue};
use axum::middleware::{self, Next};
use axum::response::Response;
use axum::routing::{get, post};
use shadway::Client;

use super::feed::Feed;
use super::{api, guard};

/// What the browser loads. It holds nothing of the workspace.
const PAGE: [(&str, &str, &str); 15] = [
    ("/", HTML, include_str!("page/index.html")),
    ("/page.css", "text/css; charset=utf-8", include_str!("page/page.css")),
    ("/approval.js", SCRIPT, include_str!("page/approval.js")),
    ("/decision.js", SCRIPT, include_str!("page/decision.js")),
    ("/exact.js", SCRIPT, include_str!("page/exact.js")),
    ("/keys.js", SCRIPT, include_str!("page/keys.js")),
    ("/list.js", SCRIPT, include_str!("page/list.js")),
    ("/live.js", SCRIPT, include_str!("page/live.js")),
    ("/mandate.js", SCRIPT, include_str!("page/mandate.js")),
    ("/page.js", SCRIPT, include_str!("page/page.js")),
    ("/server.js", SCRIPT, include_str!("page/server.js")),
    ("/show.js", SCRIPT, include_str!("page/show.js")),
    ("/store.js", SCRIPT, include_str!("page/store.js")),
    ("/time.js", SCRIPT, include_str!("page/time.js")),
    ("/icon.svg", "image/svg+xml", include_str!("page/icon.svg")),
];
const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// Set on every answer. Nothing but the files above runs or is shown, nobody frames it, and nothing of it is kept.
const HEADERS: [(HeaderName, &str); 7] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; \
         base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'",
    ),
    (header::CACHE_CONTROL, "no-store"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "same-origin"),
    (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

/// The largest decision taken, in bytes: a reason and a few values.
const LARGEST_BODY: usize = 64 * 1024;

/// The approvals of one workspace, and those who look at them.
pub(crate) struct Inbox {
    pub(crate) client: Client,
    pub(crate) feed: Feed,
    pub(crate) guard: guard::Guard,
}

impl Inbox {
    pub(crate) fn new(client: Client, address: SocketAddr) -> Self {
        Self { client, feed: Feed::new(), guard: guard::Guard::new(address) }
    }

    /// Keeps what is shown up to date, for as long as it runs.
    pub(crate) async fn follow(self: Arc<Self>) {
        self.feed.follow(&self.client).await;
    }
}

pub(crate) fn router(inbox: Arc<Inbox>) -> Router {
    let api = Router::new()
        .route("/approvals", get(api::list))
        .route("/approvals/{id}", get(api::approval))
        .route("/approvals/{id}/approve", post(api::approve))
        .route("/approvals/{id}/reject", post(api::reject))
        .route("/mandates/{id}", get(api::mandate))
        .route("/live", get(api::live))
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .layer(middleware::from_fn_with_state(Arc::clone(&inbox), guard::check));
    PAGE.iter()
        .fold(Router::new(), |router, (path, kind, text)| {
            router.route(path, get(|| async { ([(header::CONTENT_TYPE, *kind)], *text) }))
        })
        .route("/sign-in", get(guard::sign_in))
        .nest("/api", api)
        .layer(middleware::from_fn(with_headers))
        .with_state(inbox)
}

async fn with_headers(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    for (name, value) in HEADERS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}
