//! Connections to a place that anybody on the machine can reach.
//!
//! ```text
//! accept -> a place of 32 -> a thread -> one request, one answer -> close
//! ```
//!
//! Whoever comes when all places are taken gets that of the connection which has said
//! nothing for longest, so that silent ones keep nobody out. What is not accepted yet
//! waits in the queue of the system and takes nothing of this process.

use std::io::{self, ErrorKind};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, Scope};
use std::time::Duration;

/// The most connections at a time: a browser opens six.
pub(super) const MOST: usize = 32;
/// How long to wait before looking again whether to end.
pub(super) const PATIENCE: Duration = Duration::from_millis(100);
/// Bytes of the stack of a thread, which holds little but a buffer or two.
const STACK: usize = 256 * 1024;

/// The connections that are open.
#[derive(Default)]
pub(super) struct Connections {
    table: Mutex<OpenConnections>,
    left: Condvar,
}

#[derive(Default)]
struct OpenConnections {
    ended: bool,
    /// In the order in which they came.
    open: Vec<Open>,
}

struct Open {
    stream: Arc<TcpStream>,
    /// True if its request is there and its answer is not sent.
    is_served: bool,
}

/// The place of one connection, until it is dropped.
pub(super) struct ConnectionPlace<'a> {
    connections: &'a Connections,
    stream: Arc<TcpStream>,
}

impl Connections {
    /// Accepts connections and lets `serve` have each, in a thread; until it is ended.
    pub(super) fn accept<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        listener: &TcpListener,
        serve: &'scope (impl Fn(&ConnectionPlace<'_>) + Sync),
    ) {
        while !self.lock().ended {
            // What fails is one connection, or room in this process or the system, which
            // there may be in a moment.
            match self.accept_one(scope, listener, serve) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => thread::sleep(PATIENCE),
            }
        }
    }

    fn accept_one<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        listener: &TcpListener,
        serve: &'scope (impl Fn(&ConnectionPlace<'_>) + Sync),
    ) -> io::Result<()> {
        if !somebody_waits(listener)? || !self.make_room() {
            return Ok(());
        }
        let (stream, _) = listener.accept()?;
        // Some systems give it the manner of the listener.
        stream.set_nonblocking(false)?;
        let Some(place) = self.place(stream) else {
            return Ok(());
        };
        let thread = thread::Builder::new().stack_size(STACK);
        thread.spawn_scoped(scope, move || serve(&place))?;
        Ok(())
    }

    /// Sees to it that a place is free; `false` if that takes longer.
    fn make_room(&self) -> bool {
        let table = self.lock();
        if table.open.len() < MOST {
            return true;
        }
        let idle = table.open.iter().find(|it| !it.is_served);
        if let Some(open) = idle.or(table.open.first()) {
            // Its thread notices.
            let _ = open.stream.shutdown(Shutdown::Both);
        }
        let left = self.left.wait_timeout(table, PATIENCE);
        let (table, _) = left.unwrap_or_else(PoisonError::into_inner);
        table.open.len() < MOST
    }

    /// A place for a connection, unless this is ended.
    fn place(&self, stream: TcpStream) -> Option<ConnectionPlace<'_>> {
        let stream = Arc::new(stream);
        let mut table = self.lock();
        if table.ended {
            return None;
        }
        table.open.push(Open {
            stream: Arc::clone(&stream),
            is_served: false,
        });
        drop(table);
        let connections = self;
        Some(ConnectionPlace {
            connections,
            stream,
        })
    }

    /// Accepts no more, and cuts off those that are open.
    pub(super) fn end(&self) {
        let mut table = self.lock();
        table.ended = true;
        for open in &table.open {
            // Who has gone already needs no end.
            let _ = open.stream.shutdown(Shutdown::Both);
        }
    }

    fn lock(&self) -> MutexGuard<'_, OpenConnections> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ConnectionPlace<'_> {
    pub(super) fn stream(&self) -> &TcpStream {
        &self.stream
    }

    /// Says whether its request is there and its answer is not sent.
    pub(super) fn is_served(&self, is_served: bool) {
        let mut table = self.connections.lock();
        let own = table.open.iter_mut().find(|it| self.is(it));
        if let Some(open) = own {
            open.is_served = is_served;
        }
    }

    fn is(&self, open: &Open) -> bool {
        Arc::ptr_eq(&open.stream, &self.stream)
    }
}

impl Drop for ConnectionPlace<'_> {
    fn drop(&mut self) {
        self.connections.lock().open.retain(|it| !self.is(it));
        self.connections.left.notify_all();
    }
}

/// True if somebody asks for a connection, after a moment at most.
#[cfg(unix)]
fn somebody_waits(listener: &TcpListener) -> io::Result<bool> {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use rustix::io::Errno;

    let moment = Timespec {
        tv_sec: 0,
        tv_nsec: PATIENCE.subsec_nanos().into(),
    };
    match poll(&mut [PollFd::new(listener, PollFlags::IN)], Some(&moment)) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error.into()),
    }
}

/// Only trying can tell whether somebody waits.
#[cfg(not(unix))]
fn somebody_waits(_: &TcpListener) -> io::Result<bool> {
    thread::sleep(PATIENCE / 10);
    Ok(true)
}
