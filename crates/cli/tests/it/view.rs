//! `retime view`: what is served, to whom, and how it ends. How it looks is tested in
//! `tests/browser`.

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

/// What anybody on the machine can do to a viewer without its token, or with it and ill
/// will. After each of these it serves an honest client, in bounds of memory, of threads
/// and of descriptors.
#[cfg(target_os = "linux")]
mod attacks {
    use std::fs;
    use std::io::{ErrorKind, Read, Write};
    use std::net::{Shutdown, TcpStream};
    use std::time::{Duration, Instant};

    use rustix::process::{Pid, Signal, kill_process};

    use super::{Viewer, trace};

    /// Connections at a time, and with them the threads that serve them.
    const CONNECTIONS: usize = 32;
    /// What a page, its views and 32 connections may add to what the analysis took.
    const ROOM: u64 = 32 << 10;

    impl Viewer {
        fn process(&self, what: &str) -> String {
            format!("/proc/{}/{what}", self.child.id())
        }

        fn count(&self, what: &str) -> usize {
            fs::read_dir(self.process(what)).unwrap().count()
        }

        /// The most memory it has had, in KiB.
        fn peak(&self) -> u64 {
            let status = fs::read_to_string(self.process("status")).unwrap();
            let line = status.lines().find(|it| it.starts_with("VmHWM:")).unwrap();
            line.split_whitespace().nth(1).unwrap().parse().unwrap()
        }

        fn connect(&self) -> TcpStream {
            let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
            let patience = Some(Duration::from_secs(60));
            stream.set_read_timeout(patience).unwrap();
            stream.set_write_timeout(patience).unwrap();
            stream
        }

        fn head(&self, first_line: &str) -> String {
            format!("{first_line}\r\nHost: {}\r\n", self.host())
        }

        /// Sends bytes and reads what comes back, however that ends; its status.
        fn send(&self, bytes: &[u8]) -> Option<u16> {
            let mut stream = self.connect();
            // It may not want to hear all of it.
            let _ = stream.write_all(bytes);
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer);
            let answer = String::from_utf8(answer).unwrap();
            answer.split(' ').nth(1)?.parse().ok()
        }

        /// Interrupts it once; how long it takes to end.
        fn interrupt(&mut self) -> Duration {
            let begin = Instant::now();
            kill_process(Pid::from_child(&self.child), Signal::INT).unwrap();
            loop {
                if let Some(status) = self.child.try_wait().unwrap() {
                    assert_eq!(status.code(), Some(130));
                    return begin.elapsed();
                }
                assert!(begin.elapsed() < Duration::from_secs(60), "it goes on");
                std::thread::sleep(Duration::from_millis(5));
            }
        }
    }

    /// Attacks a viewer, which afterwards is to be as it was.
    fn withstands(arguments: &str, attack: impl Fn(&Viewer)) {
        let scratch = trace();
        let mut viewer = Viewer::start(&scratch, arguments);
        assert_eq!(viewer.get("").0, 200);
        let before = (viewer.peak(), viewer.count("task"), viewer.count("fd"));
        attack(&viewer);
        let (status, page) = viewer.get("");
        assert!(status == 200 && page.contains("id=\"data\""), "{status}");
        assert_eq!(viewer.get("view?from=0&to=1000&rows=0").0, 200);
        let peak = viewer.peak();
        assert!(peak < before.0 + ROOM, "{peak} KiB after {}", before.0);
        // What was closed goes within a moment.
        let patience = Instant::now();
        loop {
            let now = (viewer.count("task"), viewer.count("fd"));
            if now.0 <= before.1 && now.1 <= before.2 {
                break;
            }
            let waited = patience.elapsed();
            assert!(waited < Duration::from_secs(20), "{now:?} after {before:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
        viewer.interrupt();
    }

    #[test]
    fn a_length_is_not_believed() {
        withstands("view t -q --bounds off", |viewer| {
            for length in ["99999999999", "18446744073709551615", "-1", "x"] {
                for (path, status) in [(viewer.token.as_str(), 200), ("no", 404)] {
                    let head = viewer.head(&format!("GET /{path}/ HTTP/1.1"));
                    let request = format!("{head}Content-Length: {length}\r\n\r\nbody");
                    assert_eq!(viewer.send(request.as_bytes()), Some(status), "{length}");
                }
                let head = viewer.head("POST / HTTP/1.1");
                let request = format!("{head}Content-Length: {length}\r\n\r\nbody");
                assert_eq!(viewer.send(request.as_bytes()), Some(405), "{length}");
            }
        });
    }

    #[test]
    fn a_body_without_end_and_answers_that_nobody_reads_hold_up_nobody() {
        withstands("view t -q --bounds off", |viewer| {
            let mut held = Vec::new();
            for _ in 0..CONNECTIONS {
                let mut stream = viewer.connect();
                let head = viewer.head(&format!("GET /{}/ HTTP/1.1", viewer.token));
                let request = format!("{head}Content-Length: 10\r\nExpect: 100-continue\r\n\r\n");
                stream.write_all(request.as_bytes()).unwrap();
                held.push(stream);
                let mut stream = viewer.connect();
                let head = viewer.head("POST /no/ HTTP/1.1");
                let request = format!("{head}Transfer-Encoding: chunked\r\n\r\n5\r\nab");
                stream.write_all(request.as_bytes()).unwrap();
                held.push(stream);
            }
            let begin = Instant::now();
            assert_eq!(viewer.get("").0, 200);
            assert!(begin.elapsed() < Duration::from_secs(5), "{begin:?}");
        });
    }

    #[test]
    fn requests_one_after_the_other_fill_no_memory() {
        withstands("view t -q --bounds off", |viewer| {
            let one = format!("{}\r\n", viewer.head("GET /no/ HTTP/1.1"));
            let many = one.repeat((1 << 20) / one.len());
            for _ in 0..4 {
                let mut stream = viewer.connect();
                let written = (0..100).try_for_each(|_| stream.write_all(many.as_bytes()));
                let error = written.unwrap_err().kind();
                let ended = [ErrorKind::ConnectionReset, ErrorKind::BrokenPipe];
                assert!(ended.contains(&error), "{error:?}");
            }
        });
    }

    #[test]
    fn a_line_without_end_is_refused() {
        withstands("view t -q --bounds off", |viewer| {
            let line = [b"GET /".as_slice(), &vec![b'a'; 16 << 10]].concat();
            assert_eq!(viewer.send(&line), Some(431));
            let field = format!("{}X: {}", viewer.head("GET / HTTP/1.1"), "y".repeat(9000));
            assert_eq!(viewer.send(field.as_bytes()), Some(431));
            let mut stream = viewer.connect();
            let mega = vec![b'a'; 1 << 20];
            let written = (0..100).try_for_each(|_| stream.write_all(&mega));
            assert!(written.is_err(), "100 MB of one line were taken");
        });
    }

    #[test]
    fn many_idle_connections_keep_nobody_out() {
        let scratch = trace();
        let script = "ulimit -n 1024; exec \"$RETIME\" view t -q --bounds off";
        let mut command = scratch.program("sh");
        command.args(["-c", script]);
        command.env("RETIME", crate::common::RETIME);
        let viewer = Viewer::of(command);
        let before = viewer.count("fd");
        let idle: Vec<_> = (0..600).map(|_| viewer.connect()).collect();
        for _ in 0..20 {
            let begin = Instant::now();
            assert_eq!(viewer.get("").0, 200);
            assert!(begin.elapsed() < Duration::from_secs(5), "{begin:?}");
        }
        let descriptors = viewer.count("fd");
        assert!(descriptors <= before + CONNECTIONS, "{descriptors}");
        drop(idle);
    }

    #[test]
    fn no_descriptor_left_is_waited_out() {
        withstands("view t -q --bounds off", |viewer| {
            use rustix::process::{Resource, Rlimit, getrlimit, prlimit};
            let pid = Pid::from_child(&viewer.child);
            let all = getrlimit(Resource::Nofile);
            let few = Rlimit {
                current: Some(viewer.count("fd") as u64 + 2),
                maximum: all.maximum,
            };
            let old = prlimit(Some(pid), Resource::Nofile, few).unwrap();
            let idle: Vec<_> = (0..20).map(|_| viewer.connect()).collect();
            std::thread::sleep(Duration::from_millis(500));
            drop(idle);
            assert_eq!(viewer.get("").0, 200);
            prlimit(Some(pid), Resource::Nofile, old).unwrap();
        });
    }

    #[test]
    fn other_versions_and_resets_leave_no_thread() {
        withstands("view t -q --bounds off", |viewer| {
            for _ in 0..100 {
                let request = viewer.head("GET / HTTP/2.0") + "\r\n";
                assert_eq!(viewer.send(request.as_bytes()), Some(505));
                assert_eq!(viewer.send(b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), Some(505));
                assert_eq!(viewer.send(b"\x16\x03\x01\x02\r\n\r\n"), Some(400));
                // What lies unread when it is closed makes that a reset.
                let mut stream = viewer.connect();
                let request = viewer.head(&format!("GET /{}/ HTTP/1.1", viewer.token)) + "\r\n";
                stream.write_all(request.as_bytes()).unwrap();
                stream.read_exact(&mut [0; 16]).unwrap();
                drop(stream);
                let stream = viewer.connect();
                stream.shutdown(Shutdown::Both).unwrap();
            }
        });
    }

    #[test]
    fn a_name_on_the_internet_that_leads_here_is_refused() {
        withstands("view t -q --bounds off", |viewer| {
            let port = viewer.port;
            let line = format!("GET /{}/ HTTP/1.1\r\n", viewer.token);
            for host in [
                "retime.example",
                "127.0.0.1",
                "127.0.0.1:1",
                "localhost.:80",
            ] {
                let request = format!("{line}Host: {host}\r\n\r\n");
                assert_eq!(viewer.send(request.as_bytes()), Some(403), "{host}");
            }
            assert_eq!(viewer.send(format!("{line}\r\n").as_bytes()), Some(403));
            let two = format!("{line}Host: 127.0.0.1:{port}\r\nHost: retime.example\r\n\r\n");
            assert_eq!(viewer.send(two.as_bytes()), Some(400));
        });
    }

    #[test]
    fn times_at_the_end_of_all_numbers_are_refused() {
        withstands("view t -q --bounds off", |viewer| {
            let (least, most) = (i64::MIN, i64::MAX);
            let all = format!("view?from={least}&to={most}&rows=0");
            assert_eq!(viewer.get(&all).0, 400);
            let far = format!("view?from={}&to={}&rows=0", least / 4 + 1, most / 4);
            assert_eq!(viewer.get(&far).0, 200);
        });
    }

    #[test]
    fn one_interrupt_ends_it_whatever_others_do() {
        let scratch = trace();
        let mut viewer = Viewer::start(&scratch, "view t -q --bounds off");
        let mut held: Vec<_> = (0..100).map(|_| viewer.connect()).collect();
        let request = viewer.head(&format!("GET /{}/ HTTP/1.1", viewer.token));
        for (number, stream) in held.iter_mut().enumerate() {
            // A head without end, a body without end, and answers that nobody reads.
            let rest = ["", "Content-Length: 9\r\n\r\n", "\r\n"][number % 3];
            // Those that came first have lost their places.
            let _ = stream.write_all(format!("{request}{rest}").as_bytes());
        }
        let took = viewer.interrupt();
        assert!(took < Duration::from_secs(1), "{took:?}");
        assert_eq!(scratch.entries(), ["t"]);
    }

    #[test]
    fn only_the_head_can_be_asked_for() {
        let scratch = trace();
        let viewer = Viewer::start(&scratch, "view t -q --bounds off");
        let path = format!("/{}/", viewer.token);
        let (status, body) = viewer.ask("HEAD", &path, &viewer.host());
        assert_eq!((status, &*body), (200, ""));
    }
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
