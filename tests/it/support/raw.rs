//! A byte server on loopback in front of a local server: each answer is a true one, and goes out as exactly the bytes
//! that a fault makes of it.
//!
//! Its sockets are real, and yet tokio's clock may be paused: with both ends in one current-thread runtime a byte
//! written is there to be read before the runtime is idle, and only then does time go on.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, Method};
use http_body_util::BodyExt as _;
use shadway::local::LocalService;
use shadway::transport::{Body, HttpService as _};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// What the sockets hold of an answer that nobody reads is kept small, so that what was sent is close to what was read.
const SEND_BUFFER: u32 = 16 * 1024;
const LARGEST_REQUEST: usize = 16 * 1024;
const FILLER: [u8; 4 * 1024] = [b'x'; 4 * 1024];
/// `{"id":"agt_1"}`.
const GZIPPED: &[u8] =
    b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\xabV\xcaLQ\xb2RJL/\x897T\xaa\x05\x006\xa5\x7f\xb2\
                         \x0e\x00\x00\x00";
const PAGE: &[u8] = b"<!doctype html><title>Sign in</title><p>This network wants a word with you.";

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
    /// After so many bytes of the answer the connection is reset, or closed.
    Cut {
        after: usize,
        reset: bool,
    },
    /// Nothing comes after half of the head, or after the head and half of the body.
    Stall {
        body: bool,
    },
    /// Each byte comes so much after the one before.
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
    service: LocalService,
    plan: Mutex<Option<Plan>>,
    met: AtomicUsize,
    sent: AtomicUsize,
    cuts: AtomicUsize,
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
    pub(crate) fn start(service: LocalService) -> Self {
        let socket = TcpSocket::new_v4().unwrap();
        socket.set_send_buffer_size(SEND_BUFFER).unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = socket.listen(16).unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let state = Arc::new(State {
            service,
            plan: Mutex::default(),
            met: AtomicUsize::new(0),
            sent: AtomicUsize::new(0),
            cuts: AtomicUsize::new(0),
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

    /// How many answers were cut: not those that have no more bytes than that.
    pub(crate) fn cuts(&self) -> usize {
        self.state.cuts.load(Ordering::Relaxed)
    }
}

impl State {
    async fn serve(&self, mut socket: TcpStream) -> io::Result<()> {
        match self.meets(None) {
            Some(Raw::ResetUnread) => return reset(socket),
            Some(_) => return std::future::pending().await,
            None => {}
        }
        loop {
            let Some(request) = read(&mut socket).await? else { return Ok(()) };
            let raw = self.meets(Some(request.method()));
            if raw == Some(Raw::ResetUndone) {
                return reset(socket);
            }
            let answer = self.service.call(request).await.map_err(|_| io::ErrorKind::ConnectionAborted)?;
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
        Some(plan.raw)
    }
}

/// What becomes of the connection.
enum End {
    KeepAlive,
    Close,
    Reset,
}

/// The way out of a connection.
struct Wire<'a> {
    socket: &'a mut TcpStream,
    state: &'a State,
    left: Option<usize>,
    pause: Option<Duration>,
}

impl Wire<'_> {
    async fn answer(&mut self, answer: http::Response<Body>, raw: Option<Raw>) -> io::Result<End> {
        let (parts, body) = answer.into_parts();
        let streams = parts.headers.get("content-type").is_some_and(|kind| kind == "text/event-stream");
        let status = parts.status.as_u16();
        let head = |framing: &str| head(status, &parts.headers, framing);
        match raw {
            Some(Raw::Cut { after, .. }) => self.left = Some(after),
            Some(Raw::Drip(pause)) => self.pause = Some(pause),
            Some(Raw::Stall { body: false }) => {
                let head = head("");
                self.write(&head.as_bytes()[..head.len() / 2]).await?;
                return std::future::pending().await;
            }
            Some(Raw::BadChunk) => {
                self.write(head("transfer-encoding: chunked\r\n").as_bytes()).await?;
                self.write(b"5 bytes:\r\n{\"id\"\r\n0\r\n\r\n").await?;
                return Ok(End::Close);
            }
            Some(Raw::Declared(length)) => {
                self.write(head(length).as_bytes()).await?;
                self.write(&FILLER[..64]).await?;
                return Ok(End::Close);
            }
            Some(Raw::Page) => return self.instead(200, "content-type: text/html\r\n", PAGE).await,
            Some(Raw::Gzip) => {
                let kind = "content-type: application/json\r\ncontent-encoding: gzip\r\n";
                return self.instead(200, kind, GZIPPED).await;
            }
            Some(Raw::Bare(status)) => {
                let location = if status / 100 == 3 { "location: http://elsewhere.example/\r\n" } else { "" };
                return self.instead(status, location, b"").await;
            }
            Some(Raw::NotHttp) => {
                self.write(b"SSH-2.0-OpenSSH_9.6\r\n").await?;
                return Ok(End::Close);
            }
            Some(Raw::ManyHeaders) => {
                let lines: String = (0..200).map(|number| format!("x-{number}: y\r\n")).collect();
                self.write(head(&lines).as_bytes()).await?;
                return Ok(End::Close);
            }
            Some(Raw::EndlessHead) => {
                self.write(format!("HTTP/1.1 {status} X\r\n").as_bytes()).await?;
                for number in 0_u64.. {
                    self.write(format!("x-{number}: {}\r\n", "y".repeat(1_000)).as_bytes()).await?;
                }
            }
            Some(Raw::EndlessInterim) => loop {
                self.write(b"HTTP/1.1 103 Early Hints\r\n\r\n").await?;
                sleep(Duration::from_millis(100)).await;
            },
            Some(Raw::EndlessBody(status)) => {
                let kind = if streams { "text/event-stream" } else { "application/json" };
                self.write(format!("HTTP/1.1 {status} X\r\ncontent-type: {kind}\r\n\r\n").as_bytes()).await?;
                loop {
                    self.write(&FILLER).await?;
                }
            }
            Some(Raw::HugeLength) => {
                self.write(head("content-length: 99999999999\r\n").as_bytes()).await?;
                loop {
                    self.write(&FILLER).await?;
                }
            }
            _ => {}
        }
        let sent =
            if streams { self.stream(&head, body, raw).await } else { self.whole(&head, body, raw).await };
        match (raw, sent) {
            (Some(Raw::Cut { reset, .. }), Err(error)) if error.kind() == io::ErrorKind::Interrupted => {
                self.state.cuts.fetch_add(1, Ordering::Relaxed);
                Ok(if reset { End::Reset } else { End::Close })
            }
            (_, sent) => sent,
        }
    }

    async fn whole(
        &mut self,
        head: &(dyn Fn(&str) -> String + Sync),
        body: Body,
        raw: Option<Raw>,
    ) -> io::Result<End> {
        let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
        let wrong = match raw {
            Some(Raw::Length(by)) => by,
            _ => 0,
        };
        let length = (body.len() as i64 + wrong).max(0);
        let framing = if head("").starts_with("HTTP/1.1 204") && wrong == 0 {
            String::new()
        } else {
            format!("content-length: {length}\r\n")
        };
        self.write(head(&framing).as_bytes()).await?;
        if raw == Some(Raw::Stall { body: true }) {
            self.write(&body[..body.len() / 2]).await?;
            return std::future::pending().await;
        }
        self.write(&body).await?;
        Ok(if wrong == 0 { End::KeepAlive } else { End::Close })
    }

    async fn stream(
        &mut self,
        head: &(dyn Fn(&str) -> String + Sync),
        mut body: Body,
        raw: Option<Raw>,
    ) -> io::Result<End> {
        let declared = match raw {
            Some(Raw::Length(length)) => Some(length.unsigned_abs()),
            _ => None,
        };
        let framing = match declared {
            Some(length) => format!("content-length: {length}\r\n"),
            None => "transfer-encoding: chunked\r\n".to_owned(),
        };
        self.write(head(&framing).as_bytes()).await?;
        while let Some(frame) = body.frame().await {
            let frame = frame.map_err(io::Error::other)?;
            let Ok(data) = frame.into_data() else { continue };
            if declared.is_some() {
                self.write(&data).await?;
                continue;
            }
            self.write(format!("{:x}\r\n", data.len()).as_bytes()).await?;
            if raw == Some(Raw::Stall { body: true }) {
                self.write(&data[..data.len() / 2]).await?;
                return std::future::pending().await;
            }
            self.write(&data).await?;
            self.write(b"\r\n").await?;
        }
        self.write(b"0\r\n\r\n").await?;
        Ok(End::KeepAlive)
    }

    async fn instead(&mut self, status: u16, headers: &str, body: &[u8]) -> io::Result<End> {
        let length =
            if status == 204 { String::new() } else { format!("content-length: {}\r\n", body.len()) };
        self.write(format!("HTTP/1.1 {status} X\r\n{headers}{length}\r\n").as_bytes()).await?;
        self.write(body).await?;
        Ok(End::KeepAlive)
    }

    /// Writes, as slowly as it is to be and no further than it is to go.
    async fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let cut = self.left.is_some_and(|left| left < bytes.len());
        let bytes = &bytes[..self.left.map_or(bytes.len(), |left| left.min(bytes.len()))];
        if let Some(left) = &mut self.left {
            *left -= bytes.len();
        }
        match self.pause {
            None => self.socket.write_all(bytes).await?,
            Some(pause) => {
                for byte in bytes {
                    self.socket.write_all(&[*byte]).await?;
                    sleep(pause).await;
                }
            }
        }
        self.state.sent.fetch_add(bytes.len(), Ordering::Relaxed);
        if cut { Err(io::ErrorKind::Interrupted.into()) } else { Ok(()) }
    }
}

fn head(status: u16, headers: &HeaderMap, framing: &str) -> String {
    let lines: String = headers
        .iter()
        .filter(|(name, _)| !["content-length", "transfer-encoding"].contains(&name.as_str()))
        .map(|(name, value)| format!("{name}: {}\r\n", value.to_str().unwrap()))
        .collect();
    format!("HTTP/1.1 {status} X\r\n{lines}{framing}\r\n")
}

/// Closes as one who has said all.
async fn close(mut socket: TcpStream) -> io::Result<()> {
    socket.read_u8().await?;
    socket.shutdown().await
}

/// Closes so that the other side learns of it by an error: as a system does when bytes that came are left unread.
/// Of each request [`read`] leaves one.
fn reset(socket: TcpStream) -> io::Result<()> {
    drop(socket);
    Ok(())
}

/// The next request, whole but for its last byte, which stays with the system; `None` when no more come.
async fn read(socket: &mut TcpStream) -> io::Result<Option<http::Request<Bytes>>> {
    let mut buffer = vec![0; LARGEST_REQUEST];
    loop {
        let come = socket.peek(&mut buffer).await?;
        if come == 0 {
            return Ok(None);
        }
        if let Some((request, length)) = parse(&buffer[..come])? {
            socket.read_exact(&mut buffer[..length - 1]).await?;
            return Ok(Some(request));
        }
        if come == buffer.len() {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        tokio::task::yield_now().await;
    }
}

/// The request at the start of these bytes, and how many it takes, if it is there.
fn parse(bytes: &[u8]) -> io::Result<Option<(http::Request<Bytes>, usize)>> {
    let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") else { return Ok(None) };
    let head = String::from_utf8_lossy(&bytes[..end]);
    let mut lines = head.lines();
    let mut words = lines.next().unwrap_or_default().split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let mut request = http::Request::builder().method(method).uri(format!("http://localhost{path}"));
    let mut length = 0;
    for (name, value) in lines.filter_map(|line| line.split_once(": ")) {
        if name.eq_ignore_ascii_case("content-length") {
            length = value.parse().unwrap_or(0);
        }
        request = request.header(name, value);
    }
    let Some(body) = bytes[end + 4..].get(..length) else { return Ok(None) };
    let request = request.body(Bytes::copy_from_slice(body)).map_err(io::Error::other)?;
    Ok(Some((request, end + 4 + length)))
}
