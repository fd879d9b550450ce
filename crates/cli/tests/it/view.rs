//! `retime view`: what is served, to whom, and how it ends. How it looks is tested in
//! `tests/browser`.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::Scratch;

/// A running `retime view`; ended with the test.
struct Viewer {
    child: Child,
    port: u16,
    token: String,
}

impl Drop for Viewer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Viewer {
    fn start(scratch: &Scratch, arguments: &str) -> Self {
        let mut command = scratch.command(arguments);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let address = lines.find_map(|line| {
            let line = line.unwrap();
            let (_, address) = line.split_once("http://127.0.0.1:")?;
            Some(address.to_owned())
        });
        let address = address.unwrap();
        let mut parts = address.split('/');
        let port = parts.next().unwrap().parse().unwrap();
        let token = parts.next().unwrap().to_owned();
        Self { child, port, token }
    }

    /// Asks for a path below the token's, as if the host were called so.
    fn ask(&self, method: &str, path: &str, host: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let request =
            format!("{method} {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, body.to_owned())
    }

    fn get(&self, path: &str) -> (u16, String) {
        let (path, host) = (format!("/{}/{path}", self.token), self.host());
        self.ask("GET", &path, &host)
    }

    fn host(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

fn trace() -> Scratch {
    let scratch = Scratch::new();
    scratch.succeed("simulate halo -o t --ranks 4 --iterations 200 --no-truth -q");
    scratch
}

#[test]
fn any_stretch_is_drawn_as_the_page_draws_it() {
    let scratch = trace();
    let viewer = Viewer::start(&scratch, "view t");
    let (status, page) = viewer.get("");
    assert_eq!(status, 200);
    let (_, data) = page.split_once("id=\"data\">").unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    let page: Value = serde_json::from_str(data).unwrap();
    assert_eq!(
        (&page["live"], &page["picture"]["corrected"]),
        (&true.into(), &true.into())
    );
    // A place of which nothing was left out is the same when it is asked for.
    let place = &page["picture"]["views"][1];
    let (from, to) = (&place["from"], &place["to"]);
    let (status, view) = viewer.get(&format!("view?from={from}&to={to}"));
    assert_eq!(status, 200);
    let view: Value = serde_json::from_str(&view).unwrap();
    let lanes = place["slices"].as_array().unwrap();
    let whole = (0..lanes.len()).filter(|&it| lanes[it]["left_out"] == 0);
    assert!(whole.clone().count() >= 2, "{lanes:?}");
    for lane in whole {
        assert_eq!(view["slices"][lane], lanes[lane]);
    }
    assert_eq!(
        view["arrows"]["all_messages"],
        place["arrows"]["all_messages"]
    );
    // And one without any events is empty.
    let (status, view) = viewer.get("view?from=-900&to=-800");
    let view: Value = serde_json::from_str(&view).unwrap();
    assert_eq!((status, &view["arrows"]["all_messages"]), (200, &0.into()));
    for refused in ["view", "view?from=1&to=1", "view?from=x&to=2"] {
        assert_eq!(viewer.get(refused).0, 400, "{refused}");
    }
}

#[test]
fn only_who_knows_the_address_gets_an_answer() {
    let scratch = trace();
    let viewer = Viewer::start(&scratch, "view t -q --bounds off");
    assert_eq!(viewer.token.len(), 32);
    let path = format!("/{}/", viewer.token);
    for (method, path, host, expected) in [
        ("GET", &*path, &*viewer.host(), 200),
        ("GET", &path, &format!("localhost:{}", viewer.port), 200),
        ("GET", &path, "retime.example", 403),
        (
            "GET",
            &path,
            &format!("retime.example:{}", viewer.port),
            403,
        ),
        ("POST", &path, &viewer.host(), 405),
        ("GET", "/", &viewer.host(), 404),
        (
            "GET",
            "/0123456789abcdef0123456789abcdef/",
            &viewer.host(),
            404,
        ),
        ("GET", &format!("{path}../t"), &viewer.host(), 404),
    ] {
        let (status, body) = viewer.ask(method, path, host);
        assert_eq!(status, expected, "{method} {path} {host}: {body}");
        assert!(status == 200 || !body.contains(&viewer.token), "{body}");
    }
    let other = Viewer::start(&scratch, "view t -q --bounds off");
    assert_ne!(viewer.token, other.token);
    let taken = scratch.retime(&format!("view t --port {}", viewer.port));
    assert_eq!(taken.code, Some(2), "{taken:?}");
    assert!(taken.stderr.contains(&viewer.host()), "{taken:?}");
}

#[test]
fn reports_are_written_and_the_address_is_said_all_the_same() {
    let scratch = trace();
    let _viewer = Viewer::start(&scratch, "view t --html page.html --json report.json");
    let report: Value = serde_json::from_str(&scratch.read("report.json")).unwrap();
    assert_eq!(report["after"]["reversed"], 0);
    assert!(scratch.read("page.html").contains("\"live\":false"));
    let mut command = scratch.command("view t --json -");
    let command = command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
    let address = lines.next().unwrap().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(address.starts_with("Open http://127.0.0.1:"), "{address}");
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_it_and_nothing_is_left() {
    use rustix::process::{Pid, Signal, kill_process};

    let scratch = trace();
    let mut viewer = Viewer::start(&scratch, "view t -q");
    let pid = Pid::from_child(&viewer.child);
    kill_process(pid, Signal::INT).unwrap();
    let patience = Instant::now();
    let status = loop {
        if let Some(status) = viewer.child.try_wait().unwrap() {
            break status;
        }
        assert!(patience.elapsed() < Duration::from_secs(60));
        std::thread::sleep(Duration::from_millis(10));
    };
    assert_eq!(status.code(), Some(130));
    assert_eq!(scratch.entries(), ["t"]);
}
