//! Throughput of `retime stream` over JSON lines.
//!
//! ```text
//! cargo bench -p retime-cli --bench stream [-- <rounds>]
//! ```
//!
//! Eight locations in a ring, each with a send, a receive and four other events
//! per round. The lines lie in a file; the command's report says how long it took.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a report, and no library code"
)]

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::{Command, Stdio};

const LOCATIONS: u64 = 8;
/// Nanoseconds of a round.
const ROUND: u64 = 120_000;

fn main() {
    let rounds = std::env::args().skip(1).find_map(|it| it.parse().ok());
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("events");
    write_events(&path, rounds.unwrap_or(60_000));
    let report = directory.path().join("report");
    for _ in 0..3 {
        let mut command = Command::new(env!("CARGO_BIN_EXE_retime"));
        command
            .args(["stream", "-q", "--min-delay", "1us", "--report"])
            .arg(&report);
        command
            .stdin(File::open(&path).unwrap())
            .stdout(Stdio::null());
        assert!(command.status().unwrap().success());
        let report: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(&report).unwrap()).unwrap();
        let (events, seconds) = (
            report["events"].as_f64().unwrap(),
            report["seconds"].as_f64().unwrap(),
        );
        println!(
            "{events} events, {} messages reversed: {:.2} million events/s, delay p99 {:.0} ms",
            report["reversed"],
            events / seconds / 1e6,
            report["delay"]["p99"].as_f64().unwrap() * 1e3
        );
    }
}

fn write_events(path: &Path, rounds: u64) {
    let mut out = BufWriter::new(File::create(path).unwrap());
    for round in 0..rounds {
        let mut events: Vec<(u64, String)> = Vec::new();
        for location in 0..LOCATIONS {
            let right = (location + 1) % LOCATIONS;
            let message = round * LOCATIONS + location;
            let mut add = |at: u64, location: u64, what: &str| {
                let truth = round * ROUND + at;
                let time = 1_000_000_000 + truth + location * 5 % 8 * 400_000;
                events.push((
                    truth,
                    format!("{{\"location\":{location},\"time\":{time},{what}}}"),
                ));
            };
            let noise = (round * 7 + location * 13) % 19 * 1_000;
            add(
                1_000 + noise,
                location,
                &format!("\"type\":\"send\",\"message\":\"m{message}\""),
            );
            add(
                40_000 - noise,
                right,
                &format!("\"type\":\"receive\",\"message\":\"m{message}\""),
            );
            for step in 0..4 {
                let at = 45_000 + step * 18_000 + noise / 2;
                add(at, location, &format!("\"region\":\"compute {step}\""));
            }
        }
        events.sort();
        for (_, line) in events {
            writeln!(out, "{line}").unwrap();
        }
    }
    out.flush().unwrap();
}
