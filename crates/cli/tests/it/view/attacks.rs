//! Attacks on a viewer by anybody on the machine, without its token, or with it and ill will.
//! After each of these it serves an honest client, in bounds of memory, of threads
//! and of descriptors.

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::{Viewer, trace};

/// Connections at a time, and with them the threads that serve them.
const CONNECTIONS: usize = 32;
/// The memory in KiB that a page, its views and 32 connections may add to that of the analysis.
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
