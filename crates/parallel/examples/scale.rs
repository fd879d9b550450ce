//! What it takes many processes to analyse and correct a trace together, without files.
//!
//! ```text
//! cargo run --release -p retime-parallel --example scale -- PROCESSES ROWS COLUMNS ITERATIONS [METHOD]
//! ```
//!
//! A halo exchange on a torus of ROWS x COLUMNS locations is simulated in memory and dealt
//! out in blocks of rows. Processes are threads, so that the time says little; what is
//! counted is what would be the same on as many nodes: messages, bytes, and the events that
//! each process holds, its own and what it has borrowed. METHOD is auto or clc.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a report, and no library code"
)]

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Instant;

use retime::causality::LocationLog;
use retime::pipeline::{Analysis, AnalysisOptions, DRIFT_BOUND, Method, MethodName};
use retime::{Broken, Peers, Share, group_digits};
use retime_parallel::{Communicator, threads};
use retime_sim::{HaloExchange, Spread};

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

    /// Here each process takes all steps by itself.
    fn announce(&self, _: &[u8]) -> Result<(), Broken> {
        Ok(())
    }
}

/// What a process has taken.
struct Taken {
    /// After the analysis, the solution and the bounds.
    messages: [u64; 3],
    bytes: [u64; 3],
    own: usize,
    borrowed: usize,
    outcome: String,
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |at: usize| -> u32 { words[at].parse().expect("a number") };
    let (size, rows, columns, iterations) = (number(0) as usize, number(1), number(2), number(3));
    let name = words.get(4).map_or("auto", String::as_str);
    let method = if name == "clc" {
        Method::new(MethodName::Clc)
    } else {
        Method::default()
    };
    let mut program = HaloExchange {
        grid: (rows, columns),
        iterations: iterations.into(),
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
    let trace = program.experiment().in_memory().expect("a trace");
    let locations = trace.logs.len();
    let events: u64 = trace.logs.iter().map(|log| log.columns().events).sum();
    let nodes: usize = trace.logs.iter().map(LocationLog::len).sum();
    let owners: Vec<u32> = (0..locations)
        .map(|it| (it * size / locations) as u32)
        .collect();
    let mut parts: Vec<Vec<LocationLog>> = (0..size).map(|_| Vec::new()).collect();
    for log in trace.logs {
        parts[owners[log.location().as_usize()] as usize].push(log);
    }
    let messages = trace.messages.len();
    let info = trace.info;

    let start = Instant::now();
    let taken: Vec<Taken> = thread::scope(|scope| {
        let members = threads(size, usize::MAX).into_iter().zip(parts);
        let running = members.map(|(communicator, own)| {
            let (info, owners, method) = (info.clone(), owners.clone(), &method);
            scope.spawn(move || {
                let peer = Arc::new(Counted {
                    communicator,
                    messages: AtomicU64::new(0),
                    bytes: AtomicU64::new(0),
                });
                let (mut messages, mut bytes) = ([0; 3], [0; 3]);
                let mut note = |stage: usize| {
                    messages[stage] = peer.messages.load(Ordering::Relaxed);
                    bytes[stage] = peer.bytes.load(Ordering::Relaxed);
                };
                let share = Share::new(Arc::clone(&peer) as Arc<dyn Peers>, owners);
                let options = AnalysisOptions::default();
                let mut analysis = Analysis::shared(info, own, options, &share, &()).ok();
                note(0);
                let mut solution = None;
                if let Some(analysis) = &analysis {
                    solution = analysis.solve(method, &()).ok();
                }
                note(1);
                let mut outcome = format!("{:?}", share.broken());
                if let (Some(analysis), Some(solution)) = (&mut analysis, &solution) {
                    analysis.adopt(solution, &()).expect("nobody cancels");
                    let bounds = analysis.bounds(DRIFT_BOUND, Some(solution), &());
                    let mean = bounds.ok().flatten().map(|it| it.all.mean_half_width);
                    outcome = format!(
                        "{} reversed before, {} after; half width {mean:?} ticks",
                        analysis.recorded().violated(),
                        solution.left.violated()
                    );
                }
                note(2);
                let nodes = analysis.as_ref().map(|it| it.causality().nodes());
                let own = nodes.map_or(0, |it| (0..locations).map(|l| it.of(l).len()).sum());
                Taken {
                    messages,
                    bytes,
                    own,
                    borrowed: nodes.map_or(0, |it| it.len()) - own,
                    outcome,
                }
            })
        });
        let running: Vec<_> = running.collect();
        running
            .into_iter()
            .map(|it| it.join().expect("no panic"))
            .collect()
    });
    let took = start.elapsed().as_secs_f64();

    let digits = |it: u64| group_digits(it);
    println!(
        "{size} processes, {} locations, {} events, {} of them with edges, {} messages: {took:.1} s",
        digits(locations as u64),
        digits(events),
        digits(nodes as u64),
        digits(messages as u64),
    );
    println!("{name}: {}", taken[0].outcome);
    for (stage, name) in ["analysis", "solution", "bounds"].iter().enumerate() {
        let of = |all: &[u64; 3]| all[stage] - stage.checked_sub(1).map_or(0, |it| all[it]);
        let messages: u64 = taken.iter().map(|it| of(&it.messages)).sum();
        let bytes: u64 = taken.iter().map(|it| of(&it.bytes)).sum();
        println!(
            "{name:<9} {:>12} messages {:>16} bytes, {:.2} per event",
            digits(messages),
            digits(bytes),
            bytes as f64 / events as f64
        );
    }
    let spread = |what: &str, of: fn(&Taken) -> usize| {
        let all = taken.iter().map(of);
        let (least, most) = (
            all.clone().min().unwrap_or(0),
            all.clone().max().unwrap_or(0),
        );
        let mean = all.sum::<usize>() / size;
        let [least, mean, most] = [least, mean, most].map(|it| digits(it as u64));
        println!("{what:<9} {least} to {most} events per process, {mean} on average");
    };
    spread("own", |it| it.own);
    spread("borrowed", |it| it.borrowed);
}
