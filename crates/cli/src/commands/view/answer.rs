//! Answers to requests, as they are sent over HTTP.

use std::io::{self, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use super::timed::read_until;

/// How long somebody may take nothing of an answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// How much of what was sent besides a head is thrown away, and how long that may take.
const REST: (usize, Duration) = (64 * 1024, Duration::from_millis(500));

/// A status with a body; after it the connection is closed.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Response {
    status: u16,
    kind: &'static str,
    body: Vec<u8>,
}

impl Response {
    pub(super) fn found(kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        Self {
            status: 200,
            kind,
            body,
        }
    }

    pub(super) fn refusal(status: u16, why: &str) -> Self {
        Self {
            status,
            kind: "text/plain; charset=utf-8",
            body: format!("{why}\n").into_bytes(),
        }
    }

    #[cfg(test)]
    pub(super) fn status(&self) -> u16 {
        self.status
    }

    /// Sends it, without its body if only the head was asked for.
    pub(super) fn send(&self, mut stream: &TcpStream, only_head: bool) -> io::Result<()> {
        stream.set_write_timeout(Some(PATIENCE))?;
        stream.write_all(self.head().as_bytes())?;
        if only_head {
            return Ok(());
        }
        stream.write_all(&self.body)
    }

    fn head(&self) -> String {
        let Self { status, kind, body } = self;
        let (reason, length) = (reason(*status), body.len());
        let allow = match status {
            405 => "Allow: GET, HEAD\r\n",
            _ => "",
        };
        format!(
            "HTTP/1.1 {status} {reason}\r\n\
             Content-Type: {kind}\r\n\
             Content-Length: {length}\r\n\
             {allow}\
             Cache-Control: no-store\r\n\
             X-Content-Type-Options: nosniff\r\n\
             Referrer-Policy: no-referrer\r\n\
             Cross-Origin-Resource-Policy: same-origin\r\n\
             Connection: close\r\n\r\n"
        )
    }
}

/// Ends a connection so that the answer arrives: a socket that is closed while something
/// lies there unread takes back what it sent.
pub(super) fn close(stream: &TcpStream) -> io::Result<()> {
    stream.shutdown(Shutdown::Write)?;
    let until = Instant::now() + REST.1;
    let mut thrown_away = [0; 4096];
    let mut left = REST.0;
    while left > 0 {
        match read_until(stream, &mut thrown_away, until)? {
            0 => break,
            read => left = left.saturating_sub(read),
        }
    }
    Ok(())
}

/// The words of a status, for people: programs go by its number.
fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        505 => "HTTP Version Not Supported",
        _ => "Internal Server Error",
    }
}
