//! How an answer goes out.

use std::io;
use std::sync::atomic::Ordering;
use std::time::Duration;

use http::HeaderMap;
use http_body_util::BodyExt as _;
use shadway::transport::Body;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::sleep;

use super::super::flights::is_stream;
use super::{Raw, State};

/// More bytes one by one show no more, and take long.
const DRIPPED: usize = 40;
const FILLER: [u8; 4 * 1024] = [b'x'; 4 * 1024];
/// `{"id":"agt_1"}`.
const GZIPPED: &[u8] =
    b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\xabV\xcaLQ\xb2RJL/\x897T\xaa\x05\x006\xa5\x7f\xb2\
                         \x0e\x00\x00\x00";
const PAGE: &[u8] = b"<!doctype html><title>Sign in</title><p>This network wants a word with you.";

/// What becomes of the connection.
pub(super) enum End {
    KeepAlive,
    Close,
    Reset,
}

/// The way out of a connection.
pub(super) struct Wire<'a> {
    pub(super) socket: &'a mut TcpStream,
    pub(super) state: &'a State,
    pub(super) left: Option<usize>,
    pub(super) pause: Option<Duration>,
}

impl Wire<'_> {
    pub(super) async fn answer(&mut self, answer: http::Response<Body>, raw: Option<Raw>) -> io::Result<End> {
        let streams = is_stream(&answer);
        let (parts, body) = answer.into_parts();
        let status = parts.status.as_u16();
        let head = |framing: &str| head(status, &parts.headers, framing);
        match raw {
            Some(Raw::Cut { after }) => self.left = Some(after),
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
        let sent = if streams {
            self.stream(&head, body, raw).await
        } else {
            self.whole(status, &head, body, raw).await
        };
        match (raw, sent) {
            (Some(Raw::Cut { after }), Err(error)) if error.kind() == io::ErrorKind::Interrupted => {
                self.state.cuts.fetch_add(1, Ordering::Relaxed);
                Ok(if after % 2 == 0 { End::Reset } else { End::Close })
            }
            (_, sent) => sent,
        }
    }

    async fn whole(
        &mut self,
        status: u16,
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
        let framing =
            if status == 204 && wrong == 0 { String::new() } else { format!("content-length: {length}\r\n") };
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
                let (slowly, rest) = bytes.split_at(bytes.len().min(DRIPPED));
                for byte in slowly {
                    self.socket.write_all(&[*byte]).await?;
                    sleep(pause).await;
                }
                self.socket.write_all(rest).await?;
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
