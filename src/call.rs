//! One call, not sent yet, and its options.

use std::fmt;
use std::future::IntoFuture;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::header::HeaderValue;
use http::{HeaderMap, Method, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::client::Client;
use crate::error::{Error, Result};
use crate::transport::request::Request;
use crate::transport::{Answer, Body, Transport, trace};

/// The future of a call that has been sent.
pub type CallFuture<T> = Pin<Box<dyn Future<Output = Result<T>> + Send>>;

/// One call, not sent yet: `.await` or [`send`](Call::send) sends it.
///
/// Options set here hold for this call alone. An option that can't be used is reported when the call is
/// sent, before anything goes out. Dropping the future ends the call at once; what the service has
/// received by then it may still do.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> shadway::Result<()> {
/// # let server = shadway::local::LocalServer::start().await?;
/// # let client = server.client()?;
/// use shadway::agents::AgentCreateParams;
/// use std::time::Duration;
///
/// let agent = client
///     .agents()
///     .create(AgentCreateParams::new("Assistant", "your-provider/your-model"))
///     .idempotency_key("setup-1")
///     .timeout(Duration::from_secs(20))
///     .await?;
///
/// let answer = client.agents().get(&agent.id).with_response().await?;
/// assert_eq!(answer.status, 200);
/// assert_eq!(answer.value, agent);
/// # Ok(())
/// # }
/// ```
#[must_use = "a call is sent only when it is awaited, or by `send`"]
pub struct Call<T> {
    transport: Arc<Transport>,
    request: Result<Request>,
    decode: fn(&Answer, &Transport) -> Result<T>,
}

fn json<T: DeserializeOwned>(answer: &Answer, transport: &Transport) -> Result<T> {
    answer.json(&transport.api_key)
}

impl<T: DeserializeOwned> Call<T> {
    /// A call to a route, with an id for each of its placeholders, whose answer is JSON.
    pub(crate) fn new(client: &Client, method: Method, route: &'static str, ids: &[&str]) -> Self {
        Self {
            transport: Arc::clone(client.transport()),
            request: Request::new(method, route, ids),
            decode: json,
        }
    }
}

impl Call<()> {
    /// A call to a route whose answer says nothing but that it was done; a body is not looked at.
    pub(crate) fn without_answer(client: &Client, method: Method, route: &'static str, ids: &[&str]) -> Self {
        Self {
            transport: Arc::clone(client.transport()),
            request: Request::new(method, route, ids),
            decode: |_, _| Ok(()),
        }
    }
}

impl<T> Call<T> {
    /// The key under which the service does this change once, however often it is sent: 1 to 255 visible
    /// ASCII characters (assumed). Without it one is made for the call and kept for its retries. Set your own
    /// when you might repeat the call after a restart; keys last 24 hours or more (documented).
    pub fn idempotency_key(self, key: impl AsRef<str>) -> Self {
        self.change(|request| request.set_key(key.as_ref()))
    }

    /// Sends the change without an idempotency key. It is then tried again only if it was certainly never
    /// sent.
    pub fn without_idempotency_key(self) -> Self {
        self.change(|request| {
            request.key = crate::transport::request::Key::Off;
            Ok(())
        })
    }

    /// How long the whole call may take, retries and their delays included.
    pub fn timeout(self, timeout: Duration) -> Self {
        self.change(|request| {
            request.timeout = Some(timeout);
            Ok(())
        })
    }

    /// How often the call is tried again; 0 for never.
    pub fn max_retries(self, retries: u32) -> Self {
        self.change(|request| {
            request.max_retries = Some(retries);
            Ok(())
        })
    }

    /// A header more. Those the client sets itself are refused. The value may be a secret: it never prints, and is wiped
    /// as the [key](crate::ClientBuilder::api_key) is.
    pub fn header(self, name: impl AsRef<str>, value: impl AsRef<str>) -> Self {
        self.change(|request| request.set_header(name.as_ref(), value.as_ref()))
    }

    /// A query parameter more; percent-encoded here. The same name again adds a second value. It never prints, but is not
    /// wiped: a URL is no place for a secret.
    pub fn query(self, name: impl AsRef<str>, value: impl fmt::Display) -> Self {
        self.change(|request| {
            request.add_query(name.as_ref(), value.to_string());
            Ok(())
        })
    }

    /// Sends the call. Unlike the call itself, the future can be spawned or joined.
    ///
    /// # Errors
    /// Whatever [`Error`] tells: an option that can't be used, no connection, a refusal, an answer that doesn't fit.
    #[expect(clippy::manual_async_fn, reason = "the future of an `async fn` would hold the call three times")]
    pub fn send(self) -> impl Future<Output = Result<T>> {
        async move {
            let answer = match self.request {
                Ok(ref request) => self.transport.send(request).await?,
                Err(error) => return Err(error),
            };
            (self.decode)(&answer, &self.transport)
        }
    }

    /// Sends the call and gives the status, the headers, the request id and the number of attempts beside the
    /// value.
    ///
    /// # Errors
    /// As [`send`](Call::send).
    pub async fn with_response(self) -> Result<Response<T>> {
        let answer = self.transport.send(&self.request?).await?;
        let value = (self.decode)(&answer, &self.transport)?;
        Ok(Response {
            value,
            status: answer.status,
            request_id: answer.request_id(),
            headers: answer.headers,
            attempts: answer.call.attempts,
            idempotency_key: answer.call.idempotency_key,
        })
    }

    /// A read that something else needs to go on: its retries are not paid for from the client's budget.
    pub(crate) fn unbudgeted(self) -> Self {
        self.change(|request| {
            request.budgeted = false;
            Ok(())
        })
    }

    pub(crate) fn json_body(self, body: &impl Serialize) -> Self {
        self.change(|request| request.set_json(body))
    }

    /// A body that may have been found unfit: the error comes out when the call is sent.
    pub(crate) fn checked_json_body(self, body: Result<impl Serialize>) -> Self {
        self.change(|request| request.set_json(&body?))
    }

    pub(crate) fn maybe_query(self, name: &'static str, value: Option<impl fmt::Display>) -> Self {
        match value {
            Some(value) => self.query(name, value),
            None => self,
        }
    }

    pub(crate) fn change(mut self, change: impl FnOnce(&mut Request) -> Result<()>) -> Self {
        self.request = self.request.and_then(|mut request| change(&mut request).map(|()| request));
        self
    }

    /// Opens the call instead, as a request that lasts. Its timeout and its retries don't count.
    pub(crate) async fn open(
        self,
        last_event_id: Option<HeaderValue>,
        attempt: u32,
    ) -> Result<http::Response<Body>> {
        self.transport.open(&self.request?, last_event_id, attempt).await
    }

    /// Tells that it will be opened again.
    pub(crate) fn trace_reconnect(&self, cause: &Error, delay: Duration) {
        if let Ok(request) = &self.request {
            trace::reconnect(request, cause, delay);
        }
    }

    pub(crate) fn transport(&self) -> &Arc<Transport> {
        &self.transport
    }

    /// The same call once more, if it can be sent at all.
    pub(crate) fn again(&self) -> Option<Self> {
        let request = Ok(self.request.as_ref().ok()?.clone());
        Some(Self { transport: Arc::clone(&self.transport), request, decode: self.decode })
    }
}

impl<T: 'static> IntoFuture for Call<T> {
    type Output = Result<T>;
    type IntoFuture = CallFuture<T>;

    fn into_future(self) -> CallFuture<T> {
        Box::pin(self.send())
    }
}

impl<T> fmt::Debug for Call<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Call").field(&self.request).finish()
    }
}

/// A value, and what came with it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Response<T> {
    /// The value.
    pub value: T,
    /// The HTTP status.
    pub status: StatusCode,
    /// The answer's headers.
    pub headers: HeaderMap,
    /// The id under which the service knows the request.
    pub request_id: Option<String>,
    /// How many requests were sent.
    pub attempts: u32,
    /// The idempotency key the call was sent with.
    pub idempotency_key: Option<String>,
}

impl Client {
    /// A call to any endpoint, for what this crate has no method for: with the key, retries, idempotency key
    /// and errors of every other call. The answer is the body's bytes, or a type with
    /// [`decode`](Call::decode).
    ///
    /// The path begins with a slash and is sent as it is, so percent-encode what you put into it; `.` and
    /// `..` are refused. A query goes into [`query`](Call::query).
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> shadway::Result<()> {
    /// # let server = shadway::local::LocalServer::start().await?;
    /// # let client = server.client()?;
    /// use http::Method;
    /// use serde_json::{Value, json};
    ///
    /// let body = json!({"name": "Assistant", "model": "your-provider/your-model"});
    /// let agent = client.request(Method::POST, "/v1/agents").json(&body).decode::<Value>().await?;
    /// assert_eq!(agent["name"], "Assistant");
    ///
    /// let page = client.request(Method::GET, "/v1/agents").query("limit", 5).await?;
    /// assert!(page.starts_with(b"{"));
    /// # Ok(())
    /// # }
    /// ```
    pub fn request(&self, method: Method, path: impl AsRef<str>) -> Call<Bytes> {
        Call {
            transport: Arc::clone(self.transport()),
            request: Request::raw(method, path.as_ref()),
            decode: |answer, _| Ok(answer.body.clone()),
        }
    }
}

impl Call<Bytes> {
    /// A body, as JSON.
    pub fn json(self, body: &impl Serialize) -> Self {
        self.json_body(body)
    }

    /// The answer as a type. An answer without a body fits none: await the bytes instead.
    pub fn decode<T: DeserializeOwned>(self) -> Call<T> {
        Call { transport: self.transport, request: self.request, decode: json }
    }
}
