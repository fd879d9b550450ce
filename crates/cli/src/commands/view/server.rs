//! Serves a page on this machine.
//!
//! Whoever uses the machine could ask for a page of 127.0.0.1, and so could any page that
//! the browser shows, so an address holds a token that nobody can guess, requests must
//! name this host (a name on the internet that leads here does not), and what is served
//! can be read by the page alone.

use std::io;
use std::path::Path;
use std::time::Duration;

use tiny_http::{Header, Method, Request, Response};

use crate::error::CliError;
use crate::progress::check_interrupt;

/// How long to wait for a request before looking whether to stop.
const PATIENCE: Duration = Duration::from_millis(100);

/// Listens, and serves once there is something to.
pub(super) struct Server {
    http: tiny_http::Server,
    port: u16,
    token: String,
}

/// What is sent back.
struct Answer {
    status: u16,
    kind: &'static str,
    body: Vec<u8>,
}

impl Answer {
    fn found(kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        Self {
            status: 200,
            kind,
            body,
        }
    }

    fn refusal(status: u16, why: &str) -> Self {
        Self {
            status,
            kind: "text/plain; charset=utf-8",
            body: format!("{why}\n").into_bytes(),
        }
    }
}

impl Server {
    /// Listens on a port of this machine; 0 is any that is free.
    pub(super) fn listen(port: u16) -> Result<Self, CliError> {
        let failed =
            |error: io::Error| CliError::io(Path::new(&format!("127.0.0.1:{port}")), error);
        let http = tiny_http::Server::http(("127.0.0.1", port));
        let http = http.map_err(|error| failed(io::Error::other(error)))?;
        let address = http.server_addr().to_ip();
        let mut token = [0; 16];
        getrandom::fill(&mut token).map_err(|error| failed(io::Error::other(error)))?;
        let token = u128::from_le_bytes(token);
        Ok(Self {
            port: address.map_or(port, |it| it.port()),
            token: format!("{token:032x}"),
            http,
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
        view: impl Fn(i64, i64) -> io::Result<Vec<u8>>,
    ) -> Result<u8, CliError> {
        loop {
            check_interrupt()?;
            let request = self.http.recv_timeout(PATIENCE);
            let Some(request) =
                request.map_err(|error| CliError::io(Path::new("127.0.0.1"), error))?
            else {
                continue;
            };
            let answer = self.answer(&request, page, &view);
            // Whoever has gone needs no answer.
            let _ = request.respond(response(answer));
        }
    }

    fn answer(
        &self,
        request: &Request,
        page: &str,
        view: impl Fn(i64, i64) -> io::Result<Vec<u8>>,
    ) -> Answer {
        let host = request.headers().iter().find(|it| it.field.equiv("Host"));
        let own = ["127.0.0.1", "localhost"].map(|name| format!("{name}:{}", self.port));
        if !host.is_some_and(|it| own.iter().any(|own| it.value == own.as_str())) {
            return Answer::refusal(403, "this is served to 127.0.0.1 only");
        }
        if *request.method() != Method::Get {
            return Answer::refusal(405, "only GET is answered");
        }
        let (path, query) = request.url().split_once('?').unwrap_or((request.url(), ""));
        let of_token = path.strip_prefix('/').and_then(|it| it.split_once('/'));
        match of_token {
            Some((token, "")) if token == self.token => {
                Answer::found("text/html; charset=utf-8", page)
            }
            Some((token, "view")) if token == self.token => match stretch(query) {
                Some((from, to)) => match view(from, to) {
                    Ok(json) => Answer::found("application/json", json),
                    Err(error) => Answer::refusal(500, &error.to_string()),
                },
                None => Answer::refusal(400, "from and to are whole ticks, from before to"),
            },
            _ => Answer::refusal(
                404,
                "nothing here; open the address that retime has printed",
            ),
        }
    }
}

/// The stretch that a query asks for.
fn stretch(query: &str) -> Option<(i64, i64)> {
    let value = |name: &str| {
        let mut fields = query.split('&').filter_map(|it| it.split_once('='));
        fields.find(|it| it.0 == name)?.1.parse::<i64>().ok()
    };
    let (from, to) = (value("from")?, value("to")?);
    (from < to).then_some((from, to))
}

fn response(answer: Answer) -> Response<io::Cursor<Vec<u8>>> {
    let headers = [
        ("Content-Type", answer.kind),
        ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
    ];
    // All of it is there, so its length is said.
    let response = Response::from_data(answer.body).with_chunked_threshold(usize::MAX);
    let response = response.with_status_code(answer.status);
    let header = |(field, value): (&str, &str)| Header::from_bytes(field, value).ok();
    headers
        .into_iter()
        .filter_map(header)
        .fold(response, Response::with_header)
}

#[cfg(test)]
mod tests {
    use super::stretch;

    #[test]
    fn a_stretch_has_two_ends_in_order() {
        assert_eq!(stretch("from=-5&to=70"), Some((-5, 70)));
        assert_eq!(stretch("to=7&x=1&from=6"), Some((6, 7)));
        for refused in ["", "from=1", "from=2&to=2", "from=1.5&to=7", "from=a&to=b"] {
            assert_eq!(stretch(refused), None, "{refused}");
        }
    }
}
