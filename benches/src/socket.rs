//! A service on a socket: HTTP/1.1 with fixed answers, a thread for each connection, nothing allocated for a request.

use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

/// What is asked for, such as `/v1/agents?limit=100`, and the body it is answered with.
pub(crate) type Answer = (String, String);

/// Answers each request after a delay, for as long as the program runs.
pub(crate) fn serve(answers: Vec<Answer>, delay: Duration) -> SocketAddr {
    let answers: Arc<[(String, Vec<u8>)]> = answers
        .into_iter()
        .map(|(target, body)| {
            let length = body.len();
            let head = format!(
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n"
            );
            (target, (head + &body).into_bytes())
        })
        .collect();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address");
    thread::spawn(move || {
        for connection in listener.incoming() {
            let (connection, answers) = (connection.expect("a connection"), Arc::clone(&answers));
            // Ends with its connection.
            thread::spawn(move || drop(converse(connection, &answers, delay)));
        }
    });
    address
}

fn converse(mut connection: TcpStream, answers: &[(String, Vec<u8>)], delay: Duration) -> io::Result<()> {
    connection.set_nodelay(true)?;
    let mut buffer = [0; 16 * 1024];
    let mut filled = 0;
    loop {
        let Some(length) = request_length(&buffer[..filled]) else {
            match connection.read(&mut buffer[filled..])? {
                0 => return Ok(()),
                more => filled += more,
            }
            continue;
        };
        let target = buffer.split(|byte| *byte == b' ').nth(1).unwrap_or_default();
        let answer = answers.iter().find(|(known, _)| known.as_bytes() == target);
        let (_, answer) = answer.expect("one of the answers");
        if !delay.is_zero() {
            thread::sleep(delay);
        }
        connection.write_all(answer)?;
        buffer.copy_within(length..filled, 0);
        filled -= length;
    }
}

/// The length of a whole request, once it is there.
fn request_length(bytes: &[u8]) -> Option<usize> {
    let head = memchr::memmem::find(bytes, b"\r\n\r\n")? + 4;
    let body = bytes[..head]
        .split(|byte| *byte == b'\n')
        .filter(|line| line.len() > 15 && line[..15].eq_ignore_ascii_case(b"content-length:"))
        .find_map(|line| std::str::from_utf8(&line[15..]).ok()?.trim().parse().ok())
        .unwrap_or(0);
    (bytes.len() >= head + body).then_some(head + body)
}
