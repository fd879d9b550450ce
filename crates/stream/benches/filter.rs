//! Throughput, memory and delay of the filter on a stream made up on the fly.
//!
//! ```text
//! cargo bench -p retime-stream --bench filter [-- <events> [<locations>]]
//! ```
//!
//! Only the filter is timed: events are made in blocks beforehand. One thread.

#![allow(
    missing_docs,
    dead_code,
    unreachable_pub,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a report, and no library code"
)]

#[path = "../tests/it/ring.rs"]
mod ring;

use std::time::{Duration, Instant};

use retime::{TickRate, Ticks};
use retime_stream::{Event, Filter, FilterOptions, FilterReport};

const BLOCK: usize = 1_000_000;

fn main() {
    let numbers = std::env::args().skip(1).filter_map(|it| it.parse().ok());
    let numbers: Vec<u64> = numbers.collect();
    let events = numbers.first().copied().unwrap_or(100_000_000);
    let locations = numbers.get(1).copied().unwrap_or(8) as u32;
    let rate = TickRate::per_second(1_000_000_000).unwrap();
    let options = FilterOptions {
        min_delay: Ticks(ring::LEAST_DELAY as i64),
        ..FilterOptions::new(rate)
    };
    let clocks: Vec<u32> = (0..locations).collect();
    let mut filter = Filter::new(&clocks, options);
    let mut stream = ring::Ring::new(locations);
    let mut block: Vec<Event<u64>> = Vec::with_capacity(BLOCK);
    let (mut took, mut out, mut last) = (Duration::ZERO, 0, 0);
    let mut early = None;
    while filter.report().events < events {
        block.extend(stream.by_ref().take(BLOCK));
        let start = Instant::now();
        for event in block.drain(..) {
            filter.push(event).unwrap();
            while let Some(event) = filter.pop() {
                assert!(event.time.0 >= last, "out of order");
                last = event.time.0;
                out += 1;
            }
        }
        took += start.elapsed();
        early = early.or_else(resident);
    }
    println!("{events} events, {locations} locations");
    println!("given out      {out}");
    let per_second = filter.report().events as f64 / took.as_secs_f64() / 1e6;
    println!("throughput     {per_second:.2} million events/s");
    if let (Some(early), Some(late)) = (early, resident()) {
        println!("memory         {early} kB after {BLOCK} events, {late} kB at the end");
    }
    print_report(filter.report(), rate);
}

fn print_report(report: &FilterReport, rate: TickRate) {
    let span = |ticks: u64| rate.format(Ticks(ticks as i64));
    println!("most held      {} events", report.most_held);
    println!(
        "reversed       {} of {} messages",
        report.violated, report.messages
    );
    println!(
        "jumps          {}, the largest {}",
        report.jumps,
        rate.format(report.largest_jump)
    );
    println!("forced, late   {}, {}", report.forced, report.late);
    let delay = &report.delay;
    let (p50, p99) = (delay.quantile(0.5), delay.quantile(0.99));
    println!(
        "delay          p50 {}, p99 {}, max {}",
        span(p50),
        span(p99),
        span(delay.largest())
    );
}

/// Memory of this process in kB, where the system tells.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    line.split_whitespace().nth(1)?.parse().ok()
}
