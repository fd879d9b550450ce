//! Serves a page on this machine.
//!
//! Whoever uses the machine could ask for a page of 127.0.0.1, and so could any page that
//! the browser shows, so an address holds a token that nobody can guess, requests must
//! name this host (a name on the internet that leads here does not), and what is served
//! can be read by the page alone. Those without the token can still connect, so what a
//! connection takes is limited: see `connections`, `request` and `answer`.

use std::hint::black_box;
use std::io;
use std::net::TcpListener;
use std::path::Path;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;

use retime_picture::Looked;

use super::answer::{Response, close};
use super::asked;
use super::connections::{ConnectionPlace, Connections, MOST, PATIENCE};
use super::request::Request;
use crate::error::CliError;
use crate::progress::check_interrupt;

/// Listens, and serves once there is something to.
pub(super) struct Server {
    listener: TcpListener,
    port: u16,
    token: String,
}

/// A stretch of time that somebody asks for, and where to bring what there is to see.
struct Wanted {
    looked: Looked,
    reply: SyncSender<io::Result<Vec<u8>>>,
}

impl Server {
    /// Listens on a port of this machine; 0 is any that is free.
    pub(super) fn listen(port: u16) -> Result<Self, CliError> {
        let failed =
            |error: io::Error| CliError::io(Path::new(&format!("127.0.0.1:{port}")), error);
        let listener = TcpListener::bind(("127.0.0.1", port)).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let mut token = [0; 16];
        getrandom::fill(&mut token).map_err(|error| failed(io::Error::other(error)))?;
        let token = u128::from_le_bytes(token);
        Ok(Self {
            port: address.port(),
            token: format!("{token:032x}"),
            listener,
        })
    }

    /// Where the page is.
    pub(super) fn address(&self) -> String {
        format!("http://127.0.0.1:{}/{}/", self.port, self.token)
    }

    /// Serves a page, and what it asks for of a stretch of time; until it is interrupted.
    pub(super) fn serve(
        &self,
        page: &str,
        view: impl Fn(&Looked) -> io::Result<Vec<u8>>,
    ) -> Result<u8, CliError> {
        let connections = Connections::default();
        let (ask, asked) = sync_channel(MOST);
        let page = Response::found("text/html; charset=utf-8", page);
        let serve = |place: &ConnectionPlace<'_>| self.attend(place, &page, &ask);
        thread::scope(|scope| {
            // Nobody waits for a reply once this is dropped, nor for a request.
            let (asked, _ends) = (asked, Ends(&connections));
            let accept = || connections.accept(scope, &self.listener, &serve);
            thread::Builder::new()
                .spawn_scoped(scope, accept)
                .map_err(|error| CliError::io(Path::new("127.0.0.1"), error))?;
            draw(&asked, view)
        })
    }

    /// Answers the request of one connection and closes it.
    fn attend(&self, place: &ConnectionPlace<'_>, page: &Response, ask: &SyncSender<Wanted>) {
        // Whoever has gone needs no answer.
        let Ok(request) = Request::read(place.stream()) else {
            return;
        };
        place.is_served(true);
        let sent = match request {
            Ok(request) => {
                let only_head = request.method == "HEAD";
                match self.asked_for(&request) {
                    Ok(Resource::Page) => page.send(place.stream(), only_head),
                    Ok(Resource::View(looked)) => {
                        drawn(looked, ask).send(place.stream(), only_head)
                    }
                    Err(refusal) => refusal.send(place.stream(), only_head),
                }
            }
            Err(refusal) => refusal.send(place.stream(), false),
        };
        place.is_served(false);
        let _ = sent.and_then(|()| close(place.stream()));
    }

    fn asked_for(&self, request: &Request) -> Result<Resource, Response> {
        if !request.host.as_deref().is_some_and(|it| self.is_own(it)) {
            return Err(Response::refusal(403, "this is served to 127.0.0.1 only"));
        }
        if !matches!(&*request.method, "GET" | "HEAD") {
            return Err(Response::refusal(405, "only GET is answered"));
        }
        let target = &*request.target;
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let of_token = path.strip_prefix('/').and_then(|it| it.split_once('/'));
        match of_token {
            Some((token, "")) if same(token, &self.token) => Ok(Resource::Page),
            Some((token, "view")) if same(token, &self.token) => {
                asked::looked(query).map(Resource::View).ok_or_else(|| {
                    let why = "from and to are whole ticks, from before to; rows and folded are \
                               numbers and stretches such as 0-63,70";
                    Response::refusal(400, why)
                })
            }
            _ => Err(Response::refusal(
                404,
                "nothing here; open the address that retime has printed",
            )),
        }
    }

    /// True if a name and port are those of this server.
    fn is_own(&self, host: &str) -> bool {
        // Browsers leave out the port of HTTP.
        let (name, port) = match host.split_once(':') {
            Some((name, port)) => (name, port.parse().ok()),
            None => (host, Some(80)),
        };
        matches!(name, "127.0.0.1" | "localhost") && port == Some(self.port)
    }
}

/// The thing that a request asks for: the page, or the picture of a stretch of time.
enum Resource {
    Page,
    View(Looked),
}

/// Cuts off all connections when it is dropped, also by a panic: their threads are waited
/// for.
struct Ends<'a>(&'a Connections);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Draws what is asked for, one after the other in this thread, which belongs to the pool
/// of the command; until it is interrupted.
fn draw(
    asked: &Receiver<Wanted>,
    view: impl Fn(&Looked) -> io::Result<Vec<u8>>,
) -> Result<u8, CliError> {
    loop {
        check_interrupt()?;
        match asked.recv_timeout(PATIENCE) {
            // Whoever does not wait any more needs no reply.
            Ok(wanted) => drop(wanted.reply.send(view(&wanted.looked))),
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
        }
    }
}

/// Has a stretch drawn.
fn drawn(looked: Looked, ask: &SyncSender<Wanted>) -> Response {
    let (reply, replied) = sync_channel(1);
    let wanted = Wanted { looked, reply };
    let drawn = ask.send(wanted).ok().and_then(|()| replied.recv().ok());
    match drawn {
        Some(Ok(json)) => Response::found("application/json", json),
        Some(Err(error)) => Response::refusal(500, &error.to_string()),
        None => Response::refusal(503, "retime is ending"),
    }
}

/// True if two words are the same, in a time that does not tell where they differ.
fn same(one: &str, other: &str) -> bool {
    let differ = |differ: u8, (a, b): (u8, u8)| black_box(differ | (a ^ b));
    one.len() == other.len() && one.bytes().zip(other.bytes()).fold(0, differ) == 0
}

#[cfg(test)]
mod tests {
    use super::same;

    #[test]
    fn tokens_are_the_same_or_not() {
        assert!(same("", "") && same("0af3", "0af3"));
        for other in ["0af", "0af30", "1af3", "0af4", "0AF3"] {
            assert!(!same("0af3", other), "{other}");
        }
    }
}
