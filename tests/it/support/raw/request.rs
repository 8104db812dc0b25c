//! Reading a request, all but its last byte: a connection that is dropped with a byte unread is reset.

use std::io;

use bytes::Bytes;
use tokio::io::AsyncReadExt as _;
use tokio::net::TcpStream;

const LARGEST_REQUEST: usize = 16 * 1024;

/// The next request, whole but for its last byte, which stays with the system; `None` when no more come.
pub(super) async fn read(socket: &mut TcpStream) -> io::Result<Option<http::Request<Bytes>>> {
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
    let Some(end) = memchr::memmem::find(bytes, b"\r\n\r\n") else { return Ok(None) };
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
