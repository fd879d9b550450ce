//! The head of a request, read within limits of length and time.

use std::io::{self, ErrorKind};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::answer::Response;
use super::timed::read_until;

/// Bytes of a request line with its headers; those of a browser take less than one KiB.
const HEAD: usize = 8 * 1024;
/// How long a whole head may take to arrive.
const PATIENCE: Duration = Duration::from_secs(10);

/// The end of a head.
const END: &[u8] = b"\r\n\r\n";

/// A request; its body, if it has one, is never read.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) method: String,
    /// The target as it stands in the request line: path and query.
    pub(super) target: String,
    /// The name and port that it was sent to; `None` if it says none.
    pub(super) host: Option<String>,
}

impl Request {
    /// Reads a request, or says what to answer instead; fails if nobody is there any more.
    pub(super) fn read(stream: &TcpStream) -> io::Result<Result<Self, Response>> {
        let until = Instant::now() + PATIENCE;
        let mut head = vec![0; HEAD];
        let mut filled = 0;
        while filled < HEAD {
            let read = match read_until(stream, &mut head[filled..], until) {
                Err(error) if is_timeout(&error) => {
                    return Ok(Err(Response::refusal(408, "the request took too long")));
                }
                read => read?,
            };
            if read == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            // The end may have begun in what was read before.
            let from = filled.saturating_sub(END.len() - 1);
            filled += read;
            let end = head[from..filled]
                .windows(END.len())
                .position(|it| it == END);
            if let Some(end) = end {
                return Ok(Self::parse(&head[..from + end]));
            }
        }
        let message = "a request line with its headers has at most 8 KiB";
        Ok(Err(Response::refusal(431, message)))
    }

    /// Takes a head apart, without the empty line at its end.
    fn parse(head: &[u8]) -> Result<Self, Response> {
        let malformed = || Response::refusal(400, "this is no request of HTTP/1.1");
        let head = str::from_utf8(head).map_err(|_| malformed())?;
        let mut lines = head.split("\r\n");
        let words: Vec<&str> = lines.next().unwrap_or_default().split(' ').collect();
        let &[method, target, version] = words.as_slice() else {
            return Err(malformed());
        };
        match version {
            "HTTP/1.1" | "HTTP/1.0" => {}
            other if other.starts_with("HTTP/") => {
                return Err(Response::refusal(505, "only HTTP/1.1 is spoken here"));
            }
            _ => return Err(malformed()),
        }
        let mut host = None;
        for line in lines {
            let (field, value) = line.split_once(':').ok_or_else(malformed)?;
            if !field.eq_ignore_ascii_case("Host") {
                continue;
            }
            // Of two, others might believe the other one.
            if host.replace(value.trim().to_ascii_lowercase()).is_some() {
                return Err(malformed());
            }
        }
        Ok(Self {
            method: method.to_owned(),
            target: target.to_owned(),
            host,
        })
    }
}

/// True if an error says that time is over, which systems call one or the other.
fn is_timeout(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::TimedOut | ErrorKind::WouldBlock)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(head: &str) -> u16 {
        Request::parse(head.as_bytes()).unwrap_err().status()
    }

    #[test]
    fn a_head_has_a_method_a_target_and_a_host() {
        let head = "GET /a?b=c HTTP/1.1\r\nAccept: */*\r\nhOST:  LocalHost:80 ";
        let request = Request::parse(head.as_bytes()).unwrap();
        assert_eq!((&*request.method, &*request.target), ("GET", "/a?b=c"));
        assert_eq!(request.host.as_deref(), Some("localhost:80"));
        let request = Request::parse(b"GET / HTTP/1.0").unwrap();
        assert_eq!(request.host, None);
    }

    #[test]
    fn anything_else_is_refused() {
        assert_eq!(refused(""), 400);
        assert_eq!(refused("GET /"), 400);
        assert_eq!(refused("GET  / HTTP/1.1"), 400);
        assert_eq!(refused("GET / SPDY/3"), 400);
        assert_eq!(refused("PRI * HTTP/2.0"), 505);
        assert_eq!(refused("GET / HTTP/1.1\r\nno field"), 400);
        assert_eq!(refused("GET / HTTP/1.1\r\nHost: a\r\nHost: b"), 400);
        let answer = Request::parse(b"GET /\xff HTTP/1.1").unwrap_err();
        assert_eq!(answer.status(), 400);
    }
}
