//! How fast events are simulated, and how fast they are written.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "a benchmark")]

use std::time::Instant;

use retime_sim::{Event, HaloExchange, Result, Sink, Spread};

const EVENTS: u64 = 5_000_000;
const ROUNDS: usize = 3;

/// Takes events and forgets them.
struct Nowhere;

impl Sink for Nowhere {
    fn event(&mut self, _: usize, _: u64, _: Event) -> Result<()> {
        Ok(())
    }
}

fn main() {
    for ranks in [4, 16] {
        let mut program = HaloExchange {
            grid: HaloExchange::square_grid(ranks),
            ..HaloExchange::default()
        };
        let spread = Spread {
            offset: 100_000.0,
            drift: 2e-6,
            ..Spread::default()
        };
        program.clocks = spread.per_process(&program.layout(), 1);
        program.iterations = program.iterations_for(EVENTS).unwrap();
        report(&format!("simulate, {ranks} ranks"), || {
            program.run(&mut Nowhere).unwrap().events
        });
        report(&format!("simulate and write, {ranks} ranks"), || {
            let dir = tempfile::tempdir().unwrap();
            let anchor = dir.path().join("traces.otf2");
            program.write(&anchor).unwrap().trace.events
        });
    }
}

/// The best of several rounds.
fn report(what: &str, mut round: impl FnMut() -> u64) {
    let best = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            let events = round();
            events as f64 / start.elapsed().as_secs_f64()
        })
        .fold(0.0, f64::max);
    println!("{what:32} {:8.1} M events/s", best / 1e6);
}
