//! A byte server on loopback in front of a local server, or of what stands before one: each answer is a true one, and
//! goes out as exactly the bytes that a fault makes of it.
//!
//! Its sockets are real, and yet tokio's clock may be paused: with both ends in one current-thread runtime a byte
//! written is there to be read before the runtime is idle, and only then does time go on.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use http::Method;
use shadway::transport::HttpService;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinHandle;

mod request;
mod wire;

use super::flights::{Flights, is_stream};
use wire::{End, Wire};

/// What the sockets hold of an answer that nobody reads is kept small, so that what was sent is close to what was read.
const SEND_BUFFER: u32 = 16 * 1024;

/// What becomes of one request on the wire.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Raw {
    /// The connection is reset as soon as it is there, before the request is read.
    ResetUnread,
    /// The connection is there, and nobody ever reads from it or writes to it.
    BlackHole,
    /// The request is read, and the connection reset, before anything is done.
    ResetUndone,
    /// The request is dealt with, and then the connection is reset before a byte of the answer.
    Reset,
    /// The same, and it is closed in an orderly way.
    Close,
    /// The request is dealt with, and then nothing ever comes: the other side is gone without a word.
    Silence,
    /// After so many bytes of the answer the connection is reset if that is an even number, and closed if it is odd. Of
    /// the next answer that meets it, it is one byte more.
    Cut {
        after: usize,
    },
    /// Nothing comes after half of the head, or after the head and half of the body.
    Stall {
        body: bool,
    },
    /// Each of the first bytes of the head comes so much after the one before, and each of the first of the body.
    Drip(Duration),
    /// The length that is declared is wrong by so many bytes. Of a stream so much is declared in all.
    Length(i64),
    /// This is declared as the length, as it stands, once or twice over.
    Declared(&'static str),
    /// A chunk whose size is no number.
    BadChunk,
    /// This whole body, declared as what it is, instead of the answer's.
    Page,
    Gzip,
    /// This status, nothing else.
    Bare(u16),
    /// Bytes of another protocol.
    NotHttp,
    /// More header lines than anyone sends.
    ManyHeaders,
    /// A head, an interim answer, a body, or the body of a refusal, without end.
    EndlessHead,
    EndlessInterim,
    EndlessBody(u16),
    /// The same of a body that was declared as that long.
    HugeLength,
}

impl Raw {
    /// Whether it happens before a request is read.
    fn is_unread(self) -> bool {
        matches!(self, Self::ResetUnread | Self::BlackHole)
    }
}

/// Which requests meet it.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) raw: Raw,
    /// Only those with this method.
    pub(crate) method: Option<Method>,
    pub(crate) times: usize,
}

struct State {
    service: Box<dyn HttpService>,
    plan: Mutex<Option<Plan>>,
    met: AtomicUsize,
    sent: AtomicUsize,
    cuts: AtomicUsize,
    flights: Flights,
}

pub(crate) struct RawServer {
    pub(crate) url: String,
    state: Arc<State>,
    serving: JoinHandle<()>,
}

impl Drop for RawServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl RawServer {
    pub(crate) fn start(service: impl HttpService) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_send_buffer_size(SEND_BUFFER).unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = socket.listen(16).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(State {
            service: Box::new(service),
            plan: Mutex::default(),
            met: AtomicUsize::new(0),
            sent: AtomicUsize::new(0),
            cuts: AtomicUsize::new(0),
            flights: Flights::default(),
        });
        let shared = Arc::clone(&state);
        let serving = tokio::spawn(async move {
            // Ends its connections when it ends.
            let mut connections = tokio::task::JoinSet::new();
            while let Ok((socket, _)) = listener.accept().await {
                let _ = socket.set_nodelay(true);
                let state = Arc::clone(&shared);
                connections.spawn(async move {
                    // A connection that is gone is what most of this is about.
                    let _ = state.serve(socket).await;
                });
            }
        });
        Self { url, state, serving }
    }

    pub(crate) fn plan(&self, plan: Plan) {
        *self.state.plan.lock().unwrap() = Some(plan);
    }

    /// How many requests met the fault.
    pub(crate) fn met(&self) -> usize {
        self.state.met.load(Ordering::Relaxed)
    }

    /// How many bytes of answers were taken by the sockets.
    pub(crate) fn sent(&self) -> usize {
        self.state.sent.load(Ordering::Relaxed)
    }

    /// When requests were under way; those that are never read, from when they could be.
    pub(crate) fn flights(&self) -> &Flights {
        &self.state.flights
    }

    /// How many answers were cut: not those that have no more bytes than that.
    pub(crate) fn cuts(&self) -> usize {
        self.state.cuts.load(Ordering::Relaxed)
    }
}

impl State {
    async fn serve(&self, mut socket: TcpStream) -> io::Result<()> {
        if let Some(raw) = self.meets(None) {
            let _landing = self.flights.begin();
            return if raw == Raw::ResetUnread { reset(socket) } else { std::future::pending().await };
        }
        loop {
            let Some(request) = request::read(&mut socket).await? else { return Ok(()) };
            let landing = self.flights.begin();
            let raw = self.meets(Some(request.method()));
            if raw == Some(Raw::ResetUndone) {
                return reset(socket);
            }
            let answer = self.service.call(request).await.map_err(|_| io::ErrorKind::ConnectionAborted)?;
            let _landing = (!is_stream(&answer)).then_some(landing);
            match raw {
                Some(Raw::Reset) => return reset(socket),
                Some(Raw::Close) => return close(socket).await,
                Some(Raw::Silence) => return std::future::pending().await,
                raw => {
                    let mut wire = Wire { socket: &mut socket, state: self, left: None, pause: None };
                    match wire.answer(answer, raw).await? {
                        // The last byte of the request.
                        End::KeepAlive => drop(socket.read_u8().await?),
                        End::Reset => return reset(socket),
                        End::Close => return close(socket).await,
                    }
                }
            }
        }
    }

    /// The fault that happens now: before a request is read, or to a request that was.
    fn meets(&self, request: Option<&Method>) -> Option<Raw> {
        let mut plan = self.plan.lock().unwrap();
        let plan = plan.as_mut()?;
        let fits = match request {
            None => plan.raw.is_unread(),
            Some(method) => {
                !plan.raw.is_unread() && plan.method.as_ref().is_none_or(|wanted| wanted == method)
            }
        };
        if !fits || plan.times == 0 {
            return None;
        }
        plan.times -= 1;
        self.met.fetch_add(1, Ordering::Relaxed);
        let raw = plan.raw;
        if let Raw::Cut { after } = &mut plan.raw {
            *after += 1;
        }
        Some(raw)
    }
}

/// Closes as one who has said all.
async fn close(mut socket: TcpStream) -> io::Result<()> {
    socket.read_u8().await?;
    socket.shutdown().await
}

/// Closes so that the other side learns of it by an error: as a system does when bytes that came are left unread.
/// Of each request [`request::read`] leaves one.
fn reset(socket: TcpStream) -> io::Result<()> {
    drop(socket);
    Ok(())
}
