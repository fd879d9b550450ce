//! A live demonstration: processes with clocks that disagree exchange messages,
//! and what they do is corrected by `retime stream` while they run.
//!
//! ```text
//! cargo build --release -p retime-cli --bins
//! cargo run --release -p retime-cli --example live [-- SECONDS [RETIME]]
//! ```
//!
//! Four workers form a ring over sockets on this machine. Each adds an offset and
//! a drift of its own to the clock, and writes a line for every event to a pipe;
//! all lines go into one `retime stream`. Each line carries the true time along
//! in a field that retime does not know, so what comes out can be held against
//! the truth. Ends with exit code 1 if a message arrives before it was sent after
//! all.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a demonstration talks"
)]

mod picture;
mod worker;

use std::error::Error;
use std::io::{BufRead, BufReader, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitCode, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::{SystemTime, UNIX_EPOCH};

use picture::Picture;

/// Whatever goes wrong.
type Failure = Box<dyn Error + Send + Sync>;

/// How far each clock is off, in ns, and how fast it goes wrong, in ppm.
const CLOCKS: [(i64, i64); 4] = [(0, 0), (1_500_000, 20), (-1_200_000, -30), (2_600_000, 10)];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().collect();
    let outcome = match arguments.get(1).map(String::as_str) {
        Some("worker") => worker::run(&arguments[2..]).map(|()| true),
        seconds => run(seconds, arguments.get(2).map(PathBuf::from)),
    };
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("live: {error}");
            ExitCode::from(2)
        }
    }
}

/// True time in ns.
fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_nanos() as i64)
}

/// Runs workers and filter; whether all messages arrived after they were sent.
fn run(seconds: Option<&str>, retime: Option<PathBuf>) -> Result<bool, Failure> {
    let seconds: f64 = seconds.unwrap_or("3").parse()?;
    // Examples lie in a directory beside the commands.
    let beside = std::env::current_exe()?
        .ancestors()
        .nth(2)
        .map(|path| path.join("retime"));
    let retime = retime.or(beside).unwrap_or_else(|| "retime".into());
    let mut filter = Command::new(&retime)
        .args([
            "stream",
            "--min-delay",
            "1us",
            "--max-clock-difference",
            "5ms",
        ])
        .args(["--transfer-delay", "50ms"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| format!("{}: {error}", retime.display()))?;
    let (Some(input), Some(output)) = (filter.stdin.take(), filter.stdout.take()) else {
        return Err("the filter has no pipes".into());
    };
    let (lines, collected) = channel();
    let workers = start_workers(seconds, &lines)?;
    drop(lines);
    let feeder = thread::spawn(move || feed(input, collected));
    let mut picture = Picture::default();
    for line in BufReader::new(output).lines() {
        picture.add(&line?)?;
    }
    for mut worker in workers {
        worker.wait()?;
    }
    feeder.join().map_err(|_| "the feeder failed")??;
    let ended = filter.wait()?;
    picture.conclude();
    Ok(ended.success() && picture.is_sound())
}

/// Starts the workers and closes the ring.
fn start_workers(seconds: f64, lines: &Sender<String>) -> Result<Vec<Child>, Failure> {
    let mut workers = Vec::new();
    let (mut inputs, mut ports) = (Vec::new(), Vec::new());
    for (location, (offset, drift)) in CLOCKS.iter().enumerate() {
        let arguments = [location.to_string(), offset.to_string(), drift.to_string()];
        let mut child = Command::new(std::env::current_exe()?)
            .arg("worker")
            .args(arguments)
            .arg(seconds.to_string())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(input), Some(output)) = (child.stdin.take(), child.stdout.take()) else {
            return Err("a worker has no pipes".into());
        };
        let mut output = BufReader::new(output);
        let mut port = String::new();
        output.read_line(&mut port)?;
        ports.push(port);
        inputs.push(input);
        workers.push(child);
        let lines = lines.clone();
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                if lines.send(line).is_err() {
                    return;
                }
            }
        });
    }
    for (location, input) in inputs.iter_mut().enumerate() {
        input.write_all(ports[(location + 1) % ports.len()].as_bytes())?;
    }
    Ok(workers)
}

/// Writes the lines of all workers as they come.
fn feed(
    mut input: ChildStdin,
    lines: std::sync::mpsc::Receiver<String>,
) -> Result<(), std::io::Error> {
    let locations: Vec<usize> = (0..CLOCKS.len()).collect();
    writeln!(input, "{{\"retime-stream\":1,\"locations\":{locations:?}}}")?;
    for line in lines {
        writeln!(input, "{line}")?;
    }
    Ok(())
}
