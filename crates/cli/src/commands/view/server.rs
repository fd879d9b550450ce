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
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, PoisonError, RwLock};
use std::thread;

use super::answer::{Response, close};
use super::asked::{self, PageNumber, Question};
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

/// A question that somebody asks, and where to bring the answer.
struct Wanted {
    question: Question,
    reply: SyncSender<io::Result<Option<Vec<u8>>>>,
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

    /// Serves a page that shows a first look while `work` is done, which may put the other in its
    /// place.
    pub(super) fn serve<T>(
        &self,
        first: &str,
        work: impl FnOnce(&mut Serving<'_>) -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        let connections = Connections::default();
        let (ask, asked) = sync_channel(MOST);
        let shown = RwLock::new(Arc::new(ServedPage::new(PageNumber::First, first)));
        let serve = |place: &ConnectionPlace<'_>| self.attend(place, &shown, &ask);
        thread::scope(|scope| {
            let shown = &shown;
            // Nobody waits for a reply once this is dropped, nor for a request.
            let (mut serving, _ends) = (Serving { shown, asked }, Ends(&connections));
            let accept = || connections.accept(scope, &self.listener, &serve);
            spawn(scope, accept)?;
            work(&mut serving)
        })
    }

    /// Answers the request of one connection and closes it.
    fn attend(
        &self,
        place: &ConnectionPlace<'_>,
        shown: &RwLock<Arc<ServedPage>>,
        ask: &SyncSender<Wanted>,
    ) {
        // Whoever has gone needs no answer.
        let Ok(request) = Request::read(place.stream()) else {
            return;
        };
        place.is_served(true);
        let shown = Arc::clone(&shown.read().unwrap_or_else(PoisonError::into_inner));
        let sent = match request {
            Ok(request) => {
                let only_head = request.method == "HEAD";
                match self.asked_for(&request) {
                    Ok(Resource::Page) => shown.page.send(place.stream(), only_head),
                    Ok(Resource::State) => shown.state().send(place.stream(), only_head),
                    Ok(Resource::Answer(question)) => {
                        answered(question, ask).send(place.stream(), only_head)
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
            Some((token, "state")) if same(token, &self.token) => Ok(Resource::State),
            Some((token, "view")) if same(token, &self.token) => {
                let looked = asked::looked(query);
                let of = |looked| Question::View(looked, asked::page(query));
                looked.map(of).map(Resource::Answer).ok_or_else(|| {
                    let why = "from and to are whole ticks, from before to; rows and folded are \
                               numbers and stretches such as 0-63,70";
                    Response::refusal(400, why)
                })
            }
            Some((token, "explain")) if same(token, &self.token) => {
                let event = asked::event(query).map(Question::Explain);
                event.map(Resource::Answer).ok_or_else(|| {
                    let why = "event is the id of a location and a number there, such as 1:35676";
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

/// The thing that a request asks for: the page, whether it is the last one, or an answer.
enum Resource {
    Page,
    State,
    Answer(Question),
}

/// The page that is served.
struct ServedPage {
    number: PageNumber,
    page: Response,
}

impl ServedPage {
    fn new(number: PageNumber, page: &str) -> Self {
        let page = Response::found("text/html; charset=utf-8", page);
        Self { number, page }
    }

    /// Tells whoever has the first page whether there is another.
    fn state(&self) -> Response {
        let complete = self.number == PageNumber::Last;
        Response::found("application/json", format!("{{\"complete\":{complete}}}"))
    }
}

/// A server at work: which page it serves, and who asks for what.
pub(super) struct Serving<'a> {
    shown: &'a RwLock<Arc<ServedPage>>,
    asked: Receiver<Wanted>,
}

impl Serving<'_> {
    /// Answers what the first page asks in a thread of its own, while `work` is done in this one.
    pub(super) fn answer_while<T>(
        &mut self,
        answer: impl Fn(&Question) -> io::Result<Option<Vec<u8>>> + Send,
        work: impl FnOnce() -> Result<T, CliError>,
    ) -> Result<T, CliError> {
        let asked = &mut self.asked;
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            let is_over = &is_over;
            let run = move || {
                while !is_over.load(Ordering::Relaxed) {
                    answer_next(asked, &answer);
                }
            };
            let _over = Over(is_over);
            spawn(scope, run)?;
            work()
        })
    }

    /// Serves the last page, and answers what it asks; until it is interrupted.
    pub(super) fn answer(
        &mut self,
        page: &str,
        answer: impl Fn(&Question) -> io::Result<Option<Vec<u8>>>,
    ) -> Result<u8, CliError> {
        let last = Arc::new(ServedPage::new(PageNumber::Last, page));
        *self.shown.write().unwrap_or_else(PoisonError::into_inner) = last;
        // In this thread, which belongs to the pool of the command.
        loop {
            check_interrupt()?;
            answer_next(&self.asked, &answer);
        }
    }
}

/// Says that it is over when it is dropped, also by a panic: who draws meanwhile is waited for.
struct Over<'a>(&'a AtomicBool);

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

fn spawn<'scope, F: FnOnce() + Send + 'scope>(
    scope: &'scope thread::Scope<'scope, '_>,
    run: F,
) -> Result<(), CliError> {
    let started = thread::Builder::new().spawn_scoped(scope, run);
    started.map_err(|error| CliError::io(Path::new("127.0.0.1"), error))?;
    Ok(())
}

/// Cuts off all connections when it is dropped, also by a panic: their threads are waited
/// for.
struct Ends<'a>(&'a Connections);

impl Drop for Ends<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Answers the next question, if that is asked soon.
fn answer_next(
    asked: &Receiver<Wanted>,
    answer: impl Fn(&Question) -> io::Result<Option<Vec<u8>>>,
) {
    match asked.recv_timeout(PATIENCE) {
        // Whoever does not wait any more needs no reply.
        Ok(wanted) => drop(wanted.reply.send(answer(&wanted.question))),
        Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {}
    }
}

/// The answer to a question, or that there is none.
fn answered(question: Question, ask: &SyncSender<Wanted>) -> Response {
    let (reply, replied) = sync_channel(1);
    let wanted = Wanted { question, reply };
    let drawn = ask.send(wanted).ok().and_then(|()| replied.recv().ok());
    match drawn {
        Some(Ok(Some(json))) => Response::found("application/json", json),
        Some(Ok(None)) => Response::found("application/json", "null"),
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
