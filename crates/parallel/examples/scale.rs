//! What it takes many processes to analyse and correct a trace together, without files.
//!
//! ```text
//! cargo run --release -p retime-parallel --example scale -- PROCESSES ROWS COLUMNS ITERATIONS [EVERY [METHOD]]
//! ```
//!
//! A halo exchange on a torus of ROWS x COLUMNS locations is simulated in memory and dealt
//! out in blocks of rows; in one iteration of EVERY (16 if not given) all reduce something
//! together. Processes are threads, so that the time says little; what is counted is what
//! would be the same on as many nodes: messages, bytes, and the events that each process
//! holds, its own and what it has borrowed. Memory is that of all of them, together with
//! the trace they begin with. METHOD is auto or clc.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a report, and no library code"
)]

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use retime::causality::LocationLog;
use retime::pipeline::{AnalysisOptions, ClockKind, DRIFT_BOUND, Method};
use retime::{TraceInfo, group_digits};
use retime_distributed::{Broken, Distribution, Peers, analyse};
use retime_parallel::{Communicator, threads};
use retime_sim::{HaloExchange, InMemory, Spread};

/// A process that counts what it sends.
struct Counted {
    communicator: Box<dyn Communicator>,
    messages: AtomicU64,
    bytes: AtomicU64,
}

impl Peers for Counted {
    fn rank(&self) -> usize {
        self.communicator.rank()
    }

    fn size(&self) -> usize {
        self.communicator.size()
    }

    fn send(&self, to: usize, message: Vec<u8>) -> Result<(), Broken> {
        self.messages.fetch_add(1, Ordering::Relaxed);
        self.bytes
            .fetch_add(message.len() as u64, Ordering::Relaxed);
        let sent = self.communicator.send(to, &message);
        sent.map_err(|_| Broken::Lost(to))
    }

    fn receive(&self, from: usize) -> Result<Vec<u8>, Broken> {
        let received = self.communicator.receive(from);
        received.map_err(|_| Broken::Lost(from))
    }

    fn post(&self, to: usize, message: Vec<u8>) -> Result<(), Broken> {
        self.messages.fetch_add(1, Ordering::Relaxed);
        self.bytes
            .fetch_add(message.len() as u64, Ordering::Relaxed);
        let sent = self.communicator.post(to, &message);
        sent.map_err(|_| Broken::Lost(to))
    }

    fn posted(&self, patience: Duration) -> Result<Option<(usize, Vec<u8>)>, Broken> {
        let posted = self.communicator.posted(patience);
        posted.map_err(|_| Broken::Lost(self.rank()))
    }

    /// Here each process takes all steps by itself.
    fn announce(&self, _: &[u8]) -> Result<(), Broken> {
        Ok(())
    }
}

/// What is done, one after the other.
const STAGES: [&str; 4] = ["analysis", "solution", "bounds", "gentlest"];

/// What a process has taken.
struct Taken {
    /// After each of [`STAGES`].
    messages: [u64; STAGES.len()],
    bytes: [u64; STAGES.len()],
    own: usize,
    borrowed: usize,
    outcome: String,
}

/// The most memory that was resident at a time so far, in megabytes; see proc(5).
fn most_resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|it| it.strip_prefix("VmHWM:"))?;
    let kibibytes: u64 = line.split_whitespace().next()?.parse().ok()?;
    Some(kibibytes * 1024 / 1_000_000)
}

/// What is asked for on the command line.
struct Asked {
    processes: usize,
    grid: (u32, u32),
    iterations: u64,
    every: u64,
    method: Method,
}

impl Asked {
    fn read() -> Self {
        let words: Vec<String> = std::env::args().skip(1).collect();
        let number = |at: usize| -> u32 {
            let word = words.get(at).expect("PROCESSES ROWS COLUMNS ITERATIONS");
            word.parse().expect("a number")
        };
        let every = words.get(4).map(|it| it.parse().expect("a number"));
        let by_clock = words.get(5).is_some_and(|it| it == "clc");
        Self {
            processes: number(0) as usize,
            grid: (number(1), number(2)),
            iterations: number(3).into(),
            every: every.unwrap_or(16),
            method: if by_clock {
                Method::new(&ClockKind::Controlled)
            } else {
                Method::default()
            },
        }
    }

    fn simulate(&self) -> InMemory {
        let mut program = HaloExchange {
            grid: self.grid,
            iterations: self.iterations,
            collective_every: self.every,
            seed: 7,
            ranks_per_node: 1,
            ..HaloExchange::default()
        };
        let spread = Spread {
            offset: 100_000.0,
            drift: 2e-6,
            ..Spread::default()
        };
        program.clocks = spread.per_process(&program.layout(), program.seed);
        program.experiment().in_memory().expect("a trace")
    }
}

/// What one process does, with the logs of its own locations.
fn work(
    communicator: Box<dyn Communicator>,
    (info, own, owners): (TraceInfo, Vec<LocationLog>, Vec<u32>),
    method: &Method,
) -> Taken {
    let peer = Arc::new(Counted {
        communicator,
        messages: AtomicU64::new(0),
        bytes: AtomicU64::new(0),
    });
    let (mut messages, mut bytes) = ([0; STAGES.len()], [0; STAGES.len()]);
    let mut note = |stage: usize| {
        messages[stage] = peer.messages.load(Ordering::Relaxed);
        bytes[stage] = peer.bytes.load(Ordering::Relaxed);
    };
    let distribution = Distribution::new(Arc::clone(&peer) as Arc<dyn Peers>, owners);
    let options = AnalysisOptions::default();
    let mut analysis = analyse(info, own, options, &distribution, &()).expect("sound logs");
    note(0);
    let solution = analysis.solve(method, &()).ok();
    note(1);
    let mut outcome = format!("{:?}", distribution.broken());
    if let Some(solution) = &solution {
        analysis.adopt(solution, &()).expect("nobody cancels");
        let bounds = analysis.bounds(DRIFT_BOUND, Some(solution), &());
        let half_width = bounds.ok().flatten().map(|it| it.all.mean_half_width);
        note(2);
        let least = analysis.least_distortion(Some(solution), &());
        let least = least.ok().flatten().map(|it| it.distortion);
        outcome = format!(
            "{} reversed before, {} after; mean half width of errors {:.0} ticks; {:.3e} forced",
            group_digits(analysis.recorded().violated()),
            solution.left.violated(),
            half_width.unwrap_or(f64::NAN),
            least.unwrap_or(f64::NAN),
        );
    }
    note(3);
    let nodes = analysis.causality().nodes();
    let own = (0..nodes.locations()).map(|it| nodes.of(it).len()).sum();
    Taken {
        messages,
        bytes,
        own,
        borrowed: nodes.len() - own,
        outcome,
    }
}

fn main() {
    let asked = Asked::read();
    let trace = asked.simulate();
    let (size, locations) = (asked.processes, trace.logs.len());
    let events: u64 = trace.logs.iter().map(|log| log.columns().events).sum();
    println!(
        "{size} processes, {} locations, {} events, {} of them with edges, {} messages",
        group_digits(locations as u64),
        group_digits(events),
        group_digits(trace.stamps.len() as u64),
        group_digits(trace.messages.len() as u64),
    );
    let owners = (0..locations).map(|it| (it * size / locations) as u32);
    let owners: Vec<u32> = owners.collect();
    let mut parts: Vec<Vec<LocationLog>> = (0..size).map(|_| Vec::new()).collect();
    for log in trace.logs {
        parts[owners[log.location().as_usize()] as usize].push(log);
    }
    let (info, method) = (trace.info, &asked.method);
    let before = most_resident();
    let start = Instant::now();
    let taken: Vec<Taken> = thread::scope(|scope| {
        let members = threads(size, usize::MAX).into_iter().zip(parts);
        let running = members.map(|(communicator, own)| {
            let known = (info.clone(), own, owners.clone());
            scope.spawn(move || work(communicator, known, method))
        });
        let running: Vec<_> = running.collect();
        let done = running.into_iter().map(|it| it.join().expect("no panic"));
        done.collect()
    });
    println!("{method}: {}", taken[0].outcome);
    println!("{:.1} s on these cores", start.elapsed().as_secs_f64());
    if let Some((before, most)) = before.zip(most_resident()) {
        println!("at most {most} MB of memory, {before} MB of it when the trace was there");
    }
    report(&taken, events);
}

fn report(taken: &[Taken], events: u64) {
    for (stage, name) in STAGES.iter().enumerate() {
        let of =
            |all: &[u64; STAGES.len()]| all[stage] - stage.checked_sub(1).map_or(0, |it| all[it]);
        let messages: u64 = taken.iter().map(|it| of(&it.messages)).sum();
        let bytes: u64 = taken.iter().map(|it| of(&it.bytes)).sum();
        println!(
            "{name:<9} {:>12} messages {:>16} bytes, {:.2} per event",
            group_digits(messages),
            group_digits(bytes),
            bytes as f64 / events as f64
        );
    }
    let spread = |what: &str, of: fn(&Taken) -> usize| {
        let all = taken.iter().map(of);
        let ends = (all.clone().min(), all.clone().max());
        let mean = all.sum::<usize>() / taken.len();
        let shown = |it: usize| group_digits(it as u64);
        println!(
            "{what:<9} {} to {} events per process, {} on average",
            shown(ends.0.unwrap_or(0)),
            shown(ends.1.unwrap_or(0)),
            shown(mean)
        );
    };
    spread("own", |it| it.own);
    spread("borrowed", |it| it.borrowed);
}
