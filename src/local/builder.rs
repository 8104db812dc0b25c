//! How a local server is set up before it starts.

use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use super::clock::LocalClock;
use super::course::keep_moving;
use super::entry::Entry;
use super::sending::Network;
use super::shared::Shared;
use super::{LocalServer, sockets};
use crate::error::{Error, Result};
use crate::transport::HttpService;

/// Sets up a [`LocalServer`], from [`LocalServer::builder`].
///
/// ```
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> shadway::Result<()> {
/// use shadway::local::{LocalClock, LocalServer};
///
/// let server = LocalServer::builder().clock(LocalClock::Manual).seed(7).start().await?;
/// # server.shutdown().await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
#[must_use = "a server runs once it is started"]
pub struct LocalServerBuilder {
    address: SocketAddr,
    clock: LocalClock,
    seed: Option<u64>,
}

impl LocalServerBuilder {
    pub(super) fn new() -> Self {
        Self { address: (Ipv4Addr::LOCALHOST, 0).into(), clock: LocalClock::default(), seed: None }
    }

    /// Where it listens; by default on a free port of 127.0.0.1. On an address that others reach, so is
    /// everything it knows: its key is no secret.
    pub fn address(mut self, address: impl Into<SocketAddr>) -> Self {
        self.address = address.into();
        self
    }

    /// How its time passes; [`LocalClock::Automatic`] by default.
    pub fn clock(mut self, clock: LocalClock) -> Self {
        self.clock = clock;
        self
    }

    /// Makes whatever is drawn at random, ids among them, the same in each run.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Starts it in the tokio runtime this is awaited in, which needs its I/O and its time enabled. It serves as
    /// long as that runtime runs.
    ///
    /// # Errors
    /// [`ErrorKind::Config`](crate::ErrorKind::Config) when there is no tokio runtime, or the address can't be
    /// had.
    pub async fn start(self) -> Result<LocalServer> {
        self.start_with(Arc::new(Network::default())).await
    }

    /// The same with something else to send deliveries with.
    pub(super) async fn start_with(self, sender: Arc<dyn HttpService>) -> Result<LocalServer> {
        let Ok(runtime) = Handle::try_current() else {
            return Err(Error::config("the local server needs a tokio runtime to run in"));
        };
        let address = self.address;
        let refuse =
            |error: io::Error| Error::config(format!("the local server can't listen on {address}: {error}"));
        let listener = TcpListener::bind(address).await.map_err(refuse)?;
        let url = format!("http://{}", listener.local_addr().map_err(refuse)?);

        let random = self.seed.map_or_else(fastrand::Rng::new, fastrand::Rng::with_seed);
        let shared = Shared::start(runtime, url.clone(), self.clock, random, sender);
        let entry = Entry::new(Arc::clone(&shared));
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = tokio::spawn(sockets::serve(listener, entry.clone(), async move {
            // Sent or dropped, it is over.
            let _ = stopped.await;
        }));
        let moving = tokio::spawn(keep_moving(Arc::clone(&shared)));
        Ok(LocalServer { url, shared, entry, stop: Some(stop), serving, moving })
    }
}
