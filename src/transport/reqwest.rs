//! The adapter to reqwest: the only file that names it.

use std::time::Duration;

use bytes::Bytes;
use http::uri::{Authority, PathAndQuery};
use http_body_util::BodyExt as _;

use super::outcome::bare_url;
use super::seam::{Body, HttpError, HttpFuture, HttpService};
use crate::config::BaseUrl;
use crate::error::{Error, Result};

/// Longer than any call: a client of the caller's may have a total timeout, which would cut streams too.
const NO_TIMEOUT: Duration = Duration::from_secs(365 * 24 * 60 * 60);

/// A client that follows no redirect and repeats nothing on its own, or one of the caller's, of which that is not sure.
#[derive(Debug, Clone)]
pub(crate) struct ReqwestService {
    client: reqwest::Client,
    callers: bool,
}

impl ReqwestService {
    pub(crate) fn new(base_url: &BaseUrl, connect_timeout: Duration) -> Result<Self> {
        if base_url.is_https() && !HAS_TLS {
            return Err(Error::config(
                "the base URL is https, and TLS is not built in; turn on the feature `rustls`, `rustls-ring` or `native-tls`",
            ));
        }
        let builder = builder(connect_timeout)?;
        // A proxy can't reach what listens on this machine.
        build(if base_url.is_loopback() { builder.no_proxy() } else { builder })
    }

    /// For whatever URL a request names; no proxy is asked.
    #[cfg(feature = "local")]
    pub(crate) fn direct(connect_timeout: Duration) -> Result<Self> {
        build(builder(connect_timeout)?.no_proxy())
    }
}

fn builder(connect_timeout: Duration) -> Result<reqwest::ClientBuilder> {
    Ok(with_tls(reqwest::Client::builder())?
        .connect_timeout(connect_timeout)
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false))
}

fn build(builder: reqwest::ClientBuilder) -> Result<ReqwestService> {
    builder
        .build()
        .map(|client| ReqwestService { client, callers: false })
        .map_err(|error| Error::config(format!("the HTTP client can't be built: {error}")))
}

/// Whether the URL is one for reqwest too: it is read once more, by stricter rules, with every request.
pub(crate) fn check(base_url: &BaseUrl) -> Result<()> {
    match reqwest::Url::parse(base_url.as_str()) {
        Ok(_) => Ok(()),
        Err(error) => Err(Error::config(format!("the base URL can't be used: {error}"))),
    }
}

impl From<reqwest::Client> for ReqwestService {
    fn from(client: reqwest::Client) -> Self {
        Self { client, callers: true }
    }
}

impl HttpService for ReqwestService {
    fn call(&self, request: http::Request<Bytes>) -> HttpFuture<'_> {
        Box::pin(async move {
            let mut request = prepare(request)?;
            let asked = self.callers.then(|| request.url().clone());
            if self.callers {
                *request.timeout_mut() = Some(NO_TIMEOUT);
            }
            let response = self.client.execute(request).await.map_err(failure)?;
            if asked.is_some_and(|asked| asked != *response.url()) {
                return Err(HttpError::redirected(bare_url(response.url().as_str())));
            }
            let response: http::Response<reqwest::Body> = response.into();
            Ok(response.map(|body| Body::new(body.map_err(reqwest::Error::without_url))))
        })
    }
}

/// As reqwest's own conversion, which writes the URL through a formatter and costs twice as much.
fn prepare(request: http::Request<Bytes>) -> Result<reqwest::Request, HttpError> {
    let (head, body) = request.into_parts();
    let parts = [head.uri.scheme_str(), head.uri.authority().map(Authority::as_str)];
    let [scheme, authority] = parts.map(Option::unwrap_or_default);
    let path = head.uri.path_and_query().map_or("/", PathAndQuery::as_str);
    let url = reqwest::Url::parse(&[scheme, "://", authority, path].concat()).map_err(HttpError::other)?;
    let mut request = reqwest::Request::new(head.method, url);
    *request.headers_mut() = head.headers;
    *request.body_mut() = Some(body.into());
    Ok(request)
}

/// An error of reqwest's, without the URL: its query is nobody's business.
fn failure(error: reqwest::Error) -> HttpError {
    let error = error.without_url();
    if error.is_connect() {
        HttpError::connect(error)
    } else if error.is_timeout() {
        HttpError::timeout(error)
    } else {
        HttpError::other(error)
    }
}

const HAS_TLS: bool = cfg!(any(feature = "rustls", feature = "rustls-ring", feature = "native-tls"));

/// The backend is named, since another crate's features may have changed reqwest's default.
#[cfg(feature = "rustls")]
fn with_tls(builder: reqwest::ClientBuilder) -> Result<reqwest::ClientBuilder> {
    Ok(builder.tls_backend_rustls())
}

#[cfg(all(feature = "native-tls", not(feature = "rustls")))]
fn with_tls(builder: reqwest::ClientBuilder) -> Result<reqwest::ClientBuilder> {
    Ok(builder.tls_backend_native())
}

/// ring is given to this one client, not installed for the process: that is the program's to decide.
#[cfg(all(feature = "rustls-ring", not(any(feature = "rustls", feature = "native-tls"))))]
fn with_tls(builder: reqwest::ClientBuilder) -> Result<reqwest::ClientBuilder> {
    use rustls_platform_verifier::BuilderVerifierExt as _;

    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(rustls::ConfigBuilder::with_platform_verifier)
        .map_err(|error| Error::config(format!("TLS can't be set up: {error}")))?
        .with_no_client_auth();
    Ok(builder.tls_backend_preconfigured(config))
}

#[cfg(not(any(feature = "rustls", feature = "rustls-ring", feature = "native-tls")))]
fn with_tls(builder: reqwest::ClientBuilder) -> Result<reqwest::ClientBuilder> {
    Ok(builder)
}
