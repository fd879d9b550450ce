//! `retime view`: what is served, to whom, and how it ends. How it looks is tested in
//! `tests/browser`.

#[cfg(target_os = "linux")]
mod attacks;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
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
        Self::of(scratch.command(arguments))
    }

    /// A server that a command starts, once it serves all there is.
    fn of(command: Command) -> Self {
        let viewer = Self::first(command);
        let begin = Instant::now();
        while viewer.get("state").1 != "{\"complete\":true}" {
            assert!(begin.elapsed() < Duration::from_secs(120));
            std::thread::sleep(Duration::from_millis(10));
        }
        viewer
    }

    /// A server that a command starts, as soon as it serves anything.
    fn first(mut command: Command) -> Self {
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

/// The data of a page.
fn data(page: &str) -> Value {
    let (_, data) = page.split_once("id=\"data\">").unwrap();
    let (data, _) = data.split_once("</script>").unwrap();
    serde_json::from_str(data).unwrap()
}

/// Recorded times are served while the trace is still corrected, and say so; then all there is.
#[test]
fn a_first_page_comes_before_the_correction() {
    let scratch = Scratch::new();
    scratch.succeed("simulate halo -o t --ranks 8 --events 1000000 --no-truth -q");
    let viewer = Viewer::first(scratch.command("view t -q"));
    let first = data(&viewer.get("").1);
    // Some microseconds about a contradiction, of which all messages are drawn.
    let time = &first["picture"]["contradictions"]["worst"][0][0];
    let time = time.as_i64().unwrap();
    let view = format!("view?from={}&to={}&rows=0-7", time - 5_000, time + 5_000);
    let early = viewer.get(&format!("{view}&page=first"));
    assert_eq!(viewer.get("state").1, "{\"complete\":false}");
    assert_eq!(
        (&first["live"], &first["first"]),
        (&true.into(), &true.into())
    );
    let outcome = first["outcome"].as_str().unwrap();
    assert!(outcome.contains("still being computed"), "{outcome}");
    let picture = &first["picture"];
    assert_eq!(picture["corrected"], false);
    assert!(first["report"]["after"].is_null() && first["report"]["bounds"].is_null());
    let early: Value = serde_json::from_str(&early.1).unwrap();
    assert!(
        early["slices"]
            .as_array()
            .unwrap()
            .iter()
            .all(Value::is_null)
    );

    // The other page is at the same address, and draws nothing for the first one.
    while viewer.get("state").1 != "{\"complete\":true}" {
        std::thread::sleep(Duration::from_millis(10));
    }
    let last = data(&viewer.get("").1);
    assert_eq!(last["first"], false);
    assert_eq!(last["picture"]["corrected"], true);
    assert_eq!(
        viewer.get(&format!("{view}&page=first")),
        (200, "null".into())
    );
    // What is recorded was right from the beginning; the whole trace is as long as both times are.
    let [early_found, found] = [picture, &last["picture"]].map(|it| &it["contradictions"]);
    assert_eq!(early_found["worst"], found["worst"]);
    let sum = |counts: &Value| -> u64 {
        let counts = counts.as_array().unwrap().iter();
        counts.map(|it| it.as_u64().unwrap()).sum()
    };
    assert_eq!(sum(&early_found["recorded"]), sum(&found["recorded"]));
    assert_eq!(
        first["report"]["before"]["reversed"],
        last["report"]["before"]["reversed"]
    );
    let late: Value = serde_json::from_str(&viewer.get(&view).1).unwrap();
    let recorded = |view: &Value| -> Vec<[Value; 2]> {
        let messages = view["arrows"]["messages"].as_array().unwrap().iter();
        let end =
            |it: &Value, end: usize| [&it[end][0], &it[end][1], &it[end][3]].map(Value::clone);
        messages
            .map(|it| [0, 1].map(|at| end(it, at).to_vec().into()))
            .collect()
    };
    // By corrected times some more are there.
    let (early, late) = (recorded(&early), recorded(&late));
    assert!(!early.is_empty() && early.iter().all(|it| late.contains(it)));
}

#[test]
fn any_stretch_is_drawn_as_the_page_draws_it() {
    let scratch = trace();
    let viewer = Viewer::start(&scratch, "view t");
    let (status, served) = viewer.get("");
    assert_eq!(status, 200);
    let served = data(&served);
    assert_eq!(
        (&served["live"], &served["picture"]["corrected"]),
        (&true.into(), &true.into())
    );
    scratch.succeed("correct t -o corrected --html page.html -q");
    let page = data(&scratch.read("page.html"));
    // A place of which nothing was left out is the same when it is asked for.
    let place = &page["picture"]["views"][1];
    let (from, to) = (&place["from"], &place["to"]);
    assert_eq!(
        (from, to),
        (
            &served["picture"]["views"][1]["from"],
            &served["picture"]["views"][1]["to"]
        )
    );
    let (status, view) = viewer.get(&format!("view?from={from}&to={to}&rows=0-3"));
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
    // The viewer has room for all messages, the page for some.
    let messages = |view: &Value| view["arrows"]["messages"].as_array().unwrap().clone();
    let (all, some) = (messages(&view), messages(place));
    assert_eq!(
        Some(all.len() as u64),
        view["arrows"]["all_messages"].as_u64()
    );
    let ends = |it: &Value| [0, 1].map(|end| it[end].as_array().unwrap()[..5].to_vec());
    let is_there = |it: &Value| all.iter().any(|other| ends(other) == ends(it));
    assert!(!some.is_empty() && some.iter().all(is_there));
    // Of rows that are not asked for nothing is drawn; of those that are folded arrows are.
    let some = viewer.get(&format!("view?from={from}&to={to}&rows=1&folded=0,2"));
    let some: Value = serde_json::from_str(&some.1).unwrap();
    assert_eq!(some["rows"], serde_json::json!([1]));
    assert_eq!(some["slices"][0], view["slices"][1]);
    let lanes = |view: &Value| -> Vec<u64> {
        let number = |it: &Value, end: usize| it[end][0].as_u64().unwrap();
        let messages = messages(view);
        let ends = messages
            .iter()
            .flat_map(|it| [number(it, 0), number(it, 1)]);
        ends.collect()
    };
    assert!(lanes(&view).contains(&3) && lanes(&some).contains(&0) && !lanes(&some).contains(&3));
    // And one without any events is empty.
    let (status, view) = viewer.get("view?from=-900&to=-800&rows=0-3");
    let view: Value = serde_json::from_str(&view).unwrap();
    assert_eq!((status, &view["arrows"]["all_messages"]), (200, &0.into()));
    for refused in [
        "view",
        "view?from=1&to=1&rows=0",
        "view?from=x&to=2&rows=0",
        "view?from=1&to=2",
        "view?from=1&to=2&rows=0-99999999999999",
    ] {
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
    let message = format!("retime: {}: Address already in use", viewer.host());
    assert!(taken.stderr.starts_with(&message), "{taken:?}");
    assert!(taken.stderr.contains("; give another --port"), "{taken:?}");
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

/// Whatever `$BROWSER` names is started with the address of the page.
#[cfg(unix)]
#[test]
fn the_browser_is_opened_where_the_page_is() {
    use std::os::unix::fs::PermissionsExt;

    let scratch = trace();
    let browser = scratch.path().join("browser");
    scratch.write(
        "browser",
        "#!/bin/sh\nprintf %s \"$1\" > opening; mv opening opened\n",
    );
    std::fs::set_permissions(&browser, std::fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = scratch.command("view t --open");
    command.env("BROWSER", &browser);
    let viewer = Viewer::of(command);
    let opened = scratch.path().join("opened");
    let patience = Instant::now();
    while !opened.exists() && patience.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(
        scratch.read("opened"),
        format!("http://{}/{}/", viewer.host(), viewer.token)
    );
}

/// Without a browser the address that is printed is enough.
#[test]
fn a_browser_that_cannot_be_started_is_told_of() {
    let scratch = trace();
    let mut command = scratch.command("view t --open");
    command.env("BROWSER", scratch.path().join("nothing"));
    command.stderr(Stdio::piped());
    let mut viewer = Viewer::of(command);
    let mut said = BufReader::new(viewer.child.stderr.take().unwrap()).lines();
    assert!(said.any(|line| {
        line.unwrap()
            .starts_with("warning: no browser could be started")
    }));
    assert_eq!(viewer.get("").0, 200);
}
