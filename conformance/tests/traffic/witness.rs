//! A look at everything that passes between the client and the local server.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use conformance::Document;
use http_body_util::BodyExt as _;
use shadway::Client;
use shadway::local::{LocalServer, LocalService};
use shadway::transport::{Body, HttpError, HttpFuture, HttpService};

/// The local server's own transport, with a look at everything that passes.
#[derive(Clone)]
pub(crate) struct Witness {
    service: LocalService,
    pub(crate) document: Arc<Document>,
    seen: Arc<Mutex<Seen>>,
}

/// The whole body; of one that goes on without end what comes before a pause.
async fn whole(mut body: Body) -> Result<Bytes, HttpError> {
    let mut bytes = Vec::new();
    while let Ok(Some(frame)) = tokio::time::timeout(Duration::from_secs(1), body.frame()).await {
        bytes.extend(frame.map_err(HttpError::other)?.into_data().unwrap_or_default());
    }
    Ok(bytes.into())
}

#[derive(Default)]
pub(crate) struct Seen {
    operations: BTreeSet<String>,
    /// The codes of all refusals.
    codes: BTreeSet<String>,
    findings: Vec<String>,
}

impl std::fmt::Debug for Witness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Witness")
    }
}

impl HttpService for Witness {
    fn call(&self, request: http::Request<Bytes>) -> HttpFuture<'_> {
        Box::pin(async move {
            let (method, uri) = (request.method().clone(), request.uri().clone());
            let asked = self.document.check_request(&method, &uri, request.headers(), request.body());
            let (parts, body) = self.service.call(request).await?.into_parts();
            let body = whole(body).await?;
            let answered =
                self.document.check_response(&method, uri.path(), parts.status, &parts.headers, &body);
            let mut seen = self.seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if let Some(operation) = self.document.operation(&method, uri.path()) {
                seen.operations.insert(operation.id().to_owned());
            }
            let answer: serde_json::Value = serde_json::from_slice(&body).unwrap_or_default();
            seen.codes.extend(answer["error"]["code"].as_str().map(str::to_owned));
            seen.findings.extend(asked.err().into_iter().chain(answered.err()).flatten());
            Ok(http::Response::from_parts(parts, Body::from(body)))
        })
    }
}

pub(crate) struct Stage {
    pub(crate) server: LocalServer,
    pub(crate) witness: Witness,
    pub(crate) client: Client,
}

impl Stage {
    pub(crate) async fn new() -> Self {
        let server = LocalServer::start().await.unwrap();
        let witness = Witness {
            service: server.service(),
            document: Arc::new(Document::load().unwrap()),
            seen: Arc::default(),
        };
        let client = Client::builder()
            .api_key(server.api_key())
            .base_url(server.url())
            .http_service(witness.clone())
            .build()
            .unwrap();
        Self { server, witness, client }
    }

    /// The operations exchanged and the codes refused with, if all of it was as the document says.
    pub(crate) fn exchanged(&self) -> (BTreeSet<String>, BTreeSet<String>) {
        let seen = self.witness.seen.lock().unwrap();
        assert!(seen.findings.is_empty(), "{:#?}", seen.findings);
        (seen.operations.clone(), seen.codes.clone())
    }

    /// How much was found wrong so far.
    pub(crate) fn findings(&self) -> usize {
        self.witness.seen.lock().unwrap().findings.len()
    }
}
