//! The client and how it is put together. It knows no resource: each adds its own method to [`Client`].

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use http::HeaderMap;
use http::header::{ACCEPT, AUTHORIZATION, USER_AGENT};
use zeroize::Zeroizing;

use crate::clock::Timer;
use crate::config::{self, API_KEY_VARIABLE, ApiKey, BASE_URL_VARIABLE, BaseUrl, DEFAULT_BASE_URL};
use crate::error::{Error, Result};
use crate::transport::budget::{self, Budget};
use crate::transport::{HttpService, JSON, Limits, Transport};

pub use crate::config::Mode;

/// A client of the service: cheap to clone, and meant to be shared.
///
/// # Panics
/// With the feature `client` and no transport or timer of your own, calls and waits run on tokio: polling one
/// outside a tokio runtime with time and I/O enabled panics, as tokio's own types do.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> shadway::Result<()> {
/// use shadway::Client;
///
/// # let server = shadway::local::LocalServer::start().await?;
/// # let url = server.url();
/// let client = Client::builder().api_key("sk_test_local").base_url(url).build()?;
/// assert_eq!(client.mode(), shadway::client::Mode::Test);
/// let agents = client.agents().list(Default::default()).await?;
/// assert!(agents.data.is_empty());
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Client {
    transport: Arc<Transport>,
}

impl Client {
    /// A client from the environment: `SHADWAY_API_KEY`, and `SHADWAY_BASE_URL` if it is set.
    ///
    /// # Errors
    /// [`ErrorKind::Config`](crate::ErrorKind::Config), naming the variable, when the key is missing or
    /// either value can't be used.
    pub fn from_env() -> Result<Self> {
        ClientBuilder::from_env().build()
    }

    /// A builder that reads nothing from the environment.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::default()
    }

    /// Whether the key makes test-mode or live resources.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.transport.mode()
    }

    pub(crate) fn transport(&self) -> &Arc<Transport> {
        &self.transport
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Client").field(&self.transport).finish()
    }
}

/// Puts a [`Client`] together. Everything is checked in [`build`](ClientBuilder::build), nothing later.
#[must_use = "a builder does nothing until `build` is called"]
pub struct ClientBuilder {
    api_key: Option<Zeroizing<String>>,
    base_url: String,
    allow_insecure_http: bool,
    app_name: Option<String>,
    headers: Vec<(String, Zeroizing<String>)>,
    connect_timeout: Duration,
    limits: Limits,
    service: Option<Box<dyn HttpService>>,
    timer: Option<Arc<dyn Timer>>,
}

impl Default for ClientBuilder {
    fn default() -> Self {
        Self {
            api_key: None,
            base_url: DEFAULT_BASE_URL.to_owned(),
            allow_insecure_http: false,
            app_name: None,
            headers: Vec::new(),
            connect_timeout: Duration::from_secs(10),
            limits: Limits {
                timeout: None,
                attempt_timeout: Duration::from_secs(30),
                max_retries: 2,
                max_response_bytes: 16 * 1024 * 1024,
                retry_budget: Some(budget::TOKENS),
            },
            service: None,
            timer: None,
        }
    }
}

impl ClientBuilder {
    /// A builder with `SHADWAY_API_KEY` and, if it is set and not empty, `SHADWAY_BASE_URL` taken from
    /// the environment.
    pub fn from_env() -> Self {
        // What is no Unicode becomes text that `build` refuses, rather than a variable that is not set. Otherwise it
        // is not copied: of the key there is enough in the environment.
        let variable = |name| {
            let text = std::env::var_os(name)?.into_string();
            Some(text.unwrap_or_else(|value| value.to_string_lossy().into_owned()))
        };
        let api_key = variable(API_KEY_VARIABLE).map(Zeroizing::new);
        let base_url = variable(BASE_URL_VARIABLE).filter(|url| !url.is_empty());
        Self { api_key, base_url: base_url.unwrap_or_else(|| DEFAULT_BASE_URL.to_owned()), ..Self::default() }
    }

    /// The API key. Its prefix decides the mode.
    ///
    /// It never prints, and travels in one header only, whose one copy all requests share. That is wiped when the last
    /// clone of the client and the last request are gone, and so is a `String` given here. Not wiped: a text given by
    /// reference, the environment, and what the transport copies on the way out (reqwest's and hyper's buffers, and
    /// those of TLS).
    pub fn api_key(mut self, key: impl Into<String>) -> Self {
        self.api_key = Some(Zeroizing::new(key.into()));
        self
    }

    /// Where the service is, instead of its public address. A path is kept and put before every route.
    pub fn base_url(mut self, url: impl Into<String>) -> Self {
        self.base_url = url.into();
        self
    }

    /// The application's name, sent behind the crate's own in the user agent.
    pub fn app_name(mut self, name: impl Into<String>) -> Self {
        self.app_name = Some(name.into());
        self
    }

    /// How long a whole call may take, retries and their delays included. Unbounded unless it is set.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.limits.timeout = Some(timeout);
        self
    }

    /// How long one attempt may take, from the connection to the last byte of the answer: 30 s by default.
    pub fn attempt_timeout(mut self, timeout: Duration) -> Self {
        self.limits.attempt_timeout = timeout;
        self
    }

    /// How long making a connection may take: 10 s by default. A transport of your own has its own.
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = timeout;
        self
    }

    /// How often a call is tried again: 2 by default, 0 for never.
    pub fn max_retries(mut self, retries: u32) -> Self {
        self.limits.max_retries = retries;
        self
    }

    /// How much this client and its clones may spend on retries, in tokens: 500 by default (assumed, as AWS's SDKs
    /// have it).
    ///
    /// A retry costs 5 tokens, one after an attempt that timed out 10. A call that goes well gives back what its
    /// retries took, or 1 token if there were none; so does a refusal that shows the service at work, such as 404. So a
    /// service that fails now and then never uses the budget up, while one that fails all calls soon gets little more
    /// than one request for each. A call that finds too little left ends with its last error, which says so; the first
    /// attempt is free. The reads of waits, and connections of streams and the reads they need, spend nothing.
    ///
    /// With fewer than 5 nothing is tried again.
    pub fn retry_budget(mut self, tokens: u32) -> Self {
        self.limits.retry_budget = Some(tokens);
        self
    }

    /// Retries limited by [`max_retries`](ClientBuilder::max_retries) alone, however the service fares.
    pub fn without_retry_budget(mut self) -> Self {
        self.limits.retry_budget = None;
        self
    }

    /// The largest answer accepted, in bytes: 16 MiB by default.
    pub fn max_response_bytes(mut self, bytes: usize) -> Self {
        self.limits.max_response_bytes = bytes;
        self
    }

    /// A header sent with every request. Those the client sets itself are refused by `build`. The value may be a secret:
    /// it never prints, and is wiped as the [key](ClientBuilder::api_key) is.
    pub fn default_header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.push((name.into(), Zeroizing::new(value.into())));
        self
    }

    /// A reqwest client of your own, for its proxies, certificates or pools.
    ///
    /// The size cap, the attempt timeout and the retries are still this crate's. A total timeout of the
    /// client is overridden; a redirect it followed makes the call fail. Its connect and read timeouts,
    /// proxies, TLS checks and protocol retries are its own; with its `connection_verbose` it tells `log` all that is sent,
    /// the key included.
    #[cfg(feature = "client")]
    pub fn reqwest_client(self, client: reqwest::Client) -> Self {
        self.http_service(crate::transport::reqwest::ReqwestService::from(client))
    }

    /// A transport of your own: a recorder, a script in memory, another HTTP client.
    pub fn http_service(mut self, service: impl HttpService) -> Self {
        self.service = Some(Box::new(service));
        self
    }

    /// A timer of your own; tokio's by default with the feature `client`.
    pub fn timer(mut self, timer: impl Timer) -> Self {
        self.timer = Some(Arc::new(timer));
        self
    }

    /// Allows `http` to hosts other than this machine. The key then travels for all to read.
    pub fn allow_insecure_http(mut self) -> Self {
        self.allow_insecure_http = true;
        self
    }

    /// Checks everything and makes the client. Nothing is sent.
    ///
    /// # Errors
    /// [`ErrorKind::Config`](crate::ErrorKind::Config): no key or an unusable one, a base URL that has no
    /// host or is http to another machine, a header that can't be sent, TLS or a transport that is not built
    /// in.
    pub fn build(self) -> Result<Client> {
        let api_key = self.api_key.ok_or_else(|| {
            Error::config(format!(
                "there is no API key; set {API_KEY_VARIABLE}, or call api_key() on the builder"
            ))
        })?;
        let api_key = ApiKey::parse(&api_key)?;
        let base_url = BaseUrl::parse(&self.base_url, self.allow_insecure_http)?;
        let mut headers = HeaderMap::new();
        for (name, value) in &self.headers {
            let (name, value) = config::parse_header(name, value).map_err(Error::config)?;
            headers.insert(name, value);
        }
        headers.insert(ACCEPT, JSON);
        headers.insert(AUTHORIZATION, api_key.header());
        headers.insert(USER_AGENT, config::user_agent(self.app_name.as_deref())?);
        if self.limits.attempt_timeout.is_zero() || self.connect_timeout.is_zero() {
            return Err(Error::config("a timeout of nothing leaves no time to send anything"));
        }
        if self.limits.max_response_bytes == 0 {
            return Err(Error::config("a limit of no bytes leaves no room for an answer"));
        }
        #[cfg(feature = "client")]
        crate::transport::reqwest::check(&base_url)?;
        let service = match self.service {
            Some(service) => service,
            None => default_service(&base_url, self.connect_timeout)?,
        };
        let timer = self.timer.map_or_else(default_timer, Ok)?;
        let limits = self.limits;
        let budget = limits.retry_budget.map(Budget::new);
        let transport = Transport { service, timer, base_url, api_key, headers, limits, budget };
        Ok(Client { transport: Arc::new(transport) })
    }
}

impl fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The base URL is not checked yet and may hold a password; of headers the names only.
        f.debug_struct("ClientBuilder")
            .field("headers", &self.headers.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .field("connect_timeout", &self.connect_timeout)
            .field("limits", &self.limits)
            .field("service", &self.service)
            .finish_non_exhaustive()
    }
}

#[cfg(feature = "client")]
fn default_service(base_url: &BaseUrl, connect_timeout: Duration) -> Result<Box<dyn HttpService>> {
    let service = crate::transport::reqwest::ReqwestService::new(base_url, connect_timeout)?;
    Ok(Box::new(service))
}

#[cfg(not(feature = "client"))]
fn default_service(_: &BaseUrl, _: Duration) -> Result<Box<dyn HttpService>> {
    Err(Error::config("no transport is built in; call http_service(), or turn on the feature `client`"))
}

#[cfg(feature = "client")]
fn default_timer() -> Result<Arc<dyn Timer>> {
    Ok(Arc::new(crate::clock::TokioTimer))
}

#[cfg(not(feature = "client"))]
fn default_timer() -> Result<Arc<dyn Timer>> {
    Err(Error::config("no timer is built in; call timer(), or turn on the feature `client`"))
}
