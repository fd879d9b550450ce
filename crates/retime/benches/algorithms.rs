//! Time per node of each step, on a generated trace of a halo exchange.
//!
//! ```text
//! cargo bench -p retime [-- <iterations> [<locations> [<locations per process>]]]
//! ```
//!
//! Every location exchanges messages with both neighbours in a ring, with
//! receives posted ahead, and enters an Allreduce every tenth round. Clocks are
//! off by up to a few delays and drift, so that a part of all messages is
//! violated. Runs on as many threads as `RAYON_NUM_THREADS` says.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a report, and no library code"
)]

use std::hint::black_box;
use std::time::{Duration, Instant};

use retime::causality::{
    Causality, CausalityOptions, Collective, LocationLog, LogBuilder, Message, Operation, Root,
    check,
};
use retime::clock::{AmortizationRate, Gamma, amortize, controlled};
use retime::{
    Communicator, Grouping, Location, LocationIndex, Members, MinimalDelay, Process, TickRate,
    Ticks, Timestamp, TraceInfo,
};

/// Rounds of the exchange times locations, for 2.6 million nodes.
const ROUNDS: u64 = 620_000;
/// One round takes this long, and a message this long at least.
const ROUND: u64 = 20_000;
const DELAY: u64 = 1_000;

fn main() {
    let numbers = std::env::args().skip(1).filter_map(|it| it.parse().ok());
    let numbers: Vec<usize> = numbers.collect();
    let repeat = numbers.first().copied().unwrap_or(5);
    let locations = numbers.get(1).copied().unwrap_or(4);
    let per_process = numbers.get(2).copied().unwrap_or(1);
    let info = ring(locations, per_process);
    let mut steps: Vec<(&str, Vec<Duration>)> = Vec::new();
    let mut nodes = 0;
    for _ in 0..repeat {
        let mut timer = Timer {
            steps: &mut steps,
            at: 0,
        };
        nodes = run(&info, &mut timer);
    }
    println!("{nodes} nodes, {locations} locations, {per_process} per process, best of {repeat}");
    let mut sum = 0.0;
    for (name, times) in &steps {
        let best = times
            .iter()
            .min()
            .copied()
            .unwrap_or_default()
            .as_secs_f64();
        let per_node = best * 1e9 / nodes as f64;
        println!(
            "{name:10} {per_node:7.1} ns per node  {:7.1} million nodes/s",
            1e3 / per_node
        );
        if *name != "logging" {
            sum += per_node;
        }
    }
    println!("{:10} {sum:7.1} ns per node (without logging)", "together");
}

struct Timer<'a> {
    steps: &'a mut Vec<(&'static str, Vec<Duration>)>,
    at: usize,
}

impl Timer<'_> {
    fn time<T>(&mut self, name: &'static str, work: impl FnOnce() -> T) -> T {
        let start = Instant::now();
        let result = black_box(work());
        let took = start.elapsed();
        if self.at == self.steps.len() {
            self.steps.push((name, Vec::new()));
        }
        self.steps[self.at].1.push(took);
        self.at += 1;
        result
    }
}

fn run(info: &TraceInfo, timer: &mut Timer<'_>) -> usize {
    let locations = info.locations.len();
    let logs = timer.time("logging", || {
        let logs = (0..locations).map(|location| log(location, info));
        logs.collect::<Vec<LocationLog>>()
    });
    let causality = timer.time("matching", || {
        Causality::build(info, logs, CausalityOptions::default()).unwrap()
    });
    assert!(causality.defects().is_empty());
    let clocks = Grouping::Process.clocks(info, &causality);
    let delay = MinimalDelay::Uniform(Ticks((DELAY / 2) as i64));
    let (gamma, rate) = (Gamma::default(), AmortizationRate::default());
    let times = timer.time("clock", || {
        controlled(&causality, &clocks, &delay, gamma, &()).unwrap()
    });
    assert!(times.jumps() > 0);
    let correction = timer.time("amortise", || {
        amortize(&causality, &clocks, &delay, rate, &times, &()).unwrap()
    });
    let corrected = timer.time("mapping", || {
        let nodes = causality.nodes();
        let of = |location: usize| {
            let index = LocationIndex(location as u32);
            let mut cursor = correction.map_of(index).cursor(index);
            let map = move |node| {
                cursor
                    .map(nodes.event(node), nodes.timestamp(node))
                    .unwrap()
            };
            nodes.of(location).map(map)
        };
        (0..locations).flat_map(of).collect::<Vec<Timestamp>>()
    });
    let checked = timer.time("check", || {
        check(&causality, &clocks, &delay, &corrected, &()).unwrap()
    });
    assert_eq!(checked.violated() + checked.short(), 0);
    causality.nodes().len()
}

/// Locations in processes, all of them ranks of one communicator.
fn ring(locations: usize, per_process: usize) -> TraceInfo {
    let all: Vec<LocationIndex> = (0..locations as u32).map(LocationIndex).collect();
    TraceInfo {
        rate: TickRate::per_second(1_000_000_000).unwrap(),
        locations: all
            .iter()
            .map(|&endpoint| Location {
                id: u64::from(endpoint.0),
                name: format!("rank {}", endpoint.0),
                process: endpoint.as_usize() / per_process,
                endpoint,
            })
            .collect(),
        processes: (0..locations.div_ceil(per_process))
            .map(|process| Process {
                name: format!("rank {process}"),
                node: None,
                creator: None,
            })
            .collect(),
        nodes: Vec::new(),
        streams: Vec::new(),
        set_back: Vec::new(),
        communicators: vec![Communicator {
            name: "world".into(),
            members: Members::Ranks(all.into()),
        }],
    }
}

/// A wandering number below `end`, the same for all who ask with the same key.
fn noise(key: u64, end: u64) -> u64 {
    let mixed = (key ^ (key >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    ((mixed ^ (mixed >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 33) % end
}

fn log(location: usize, info: &TraceInfo) -> LocationLog {
    let locations = info.locations.len();
    let clock = info.locations[location].process as u64;
    let mut log = LogBuilder::new(LocationIndex(location as u32));
    let right = (location + 1) % locations;
    let left = (location + locations - 1) % locations;
    let mut event = 0;
    let mut last = Timestamp(0);
    // A wrong clock: offset, drift, and a slow swing.
    let stamp = |time: u64| {
        let drift = time * (clock * 7 % 40) / 1_000_000;
        Timestamp(1_000_000_000 + time + drift + 900 * (clock % 3))
    };
    let mut event_at = |time: u64| {
        event += 2; // other events lie between
        last = last.max(stamp(time));
        (event, last)
    };
    let message = |peer: usize, tag| Message {
        communicator: 0,
        peer: LocationIndex(peer as u32),
        tag,
    };
    for round in 0..ROUNDS / locations as u64 {
        let start = round * ROUND + 10 * location as u64;
        let (at, time) = event_at(start);
        log.receive_posted(at, time, 1);
        log.receive_posted(at, time, 2);
        for (peer, tag) in [(right, 1), (left, 2)] {
            let (at, time) = event_at(start + 100 + noise(round * 16 + location as u64, 200));
            log.send(at, time, message(peer, tag), Some(3));
            log.send_completed(at, 3);
        }
        for (peer, tag, request) in [(left, 1, 1), (right, 2, 2)] {
            let late = 400 + DELAY + noise(round * 16 + 8 + location as u64, 700);
            let (at, time) = event_at(start + late);
            log.receive_completed(at, time, message(peer, tag), request);
        }
        if round % 10 == 0 {
            let (at, time) = event_at(start + 5_000 + noise(round, 300));
            log.collective_begin(at, time);
            let what = Collective {
                communicator: 0,
                operation: Operation::Allreduce,
                root: Root::None,
                sent: true,
                received: true,
            };
            let (at, time) = event_at(start + 8_000);
            log.collective_end(at, time, what);
        }
    }
    #[expect(clippy::expect_used, reason = "the log is made right here")]
    log.finish(event + 1, stamp(0), last).expect("a sound log")
}
