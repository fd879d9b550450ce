//! Reading from a connection until a moment.

use std::io::{self, ErrorKind, Read};
use std::net::TcpStream;
use std::time::Instant;

/// Reads what is there, waiting for it no longer than until then.
pub(super) fn read_until(
    mut stream: &TcpStream,
    into: &mut [u8],
    until: Instant,
) -> io::Result<usize> {
    loop {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ErrorKind::TimedOut.into());
        }
        stream.set_read_timeout(Some(left))?;
        match stream.read(into) {
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}
