//! The command `retime` with an estimator of one's own beside the methods it has.
//!
//! ```text
//! cargo run --example own_method -- correct TRACE -o OUT --method cristian
//! cargo run --example own_method -- compare TRACE
//! ```
//!
//! The estimator is F. Cristian's, *Probabilistic clock synchronization*, Distributed
//! Computing 3 (1989): the fastest message there and the fastest back took the same time,
//! so half of what they seem to differ by is what the clock is ahead.

use std::process::ExitCode;

use retime::estimate::{Estimate, NoEstimate, Offset};
use retime::pipeline::{Estimator, Input, Unsolved};
use retime::{ClockId, Edge};

#[derive(Debug)]
struct Cristian;

impl Estimator for Cristian {
    fn name(&self) -> &'static str {
        "cristian"
    }

    fn help(&self) -> &'static str {
        "Cristian: clocks shifted by the fastest round trip with the reference"
    }

    fn estimate(&self, input: &Input<'_>) -> Result<Estimate, Unsolved> {
        let (edges, reference) = (input.edges, input.reference);
        let fastest = |from: ClockId, to: ClockId| {
            let between = edges
                .all()
                .iter()
                .filter(|it| (it.from, it.to) == (from, to));
            between.map(Edge::latency).min()
        };
        let offset = |clock: ClockId| {
            if clock == reference || edges.extent(clock).is_none() {
                return Ok(Some(Offset::constant(0.0)));
            }
            let both = fastest(reference, clock).zip(fastest(clock, reference));
            let (there, back) = both.ok_or(NoEstimate::Unrelated(vec![clock]))?;
            Ok(Some(Offset::constant((back - there) as f64 / 2.0)))
        };
        let offsets = input.problem.clocks.iter().map(offset);
        let offsets = offsets.collect::<Result<_, NoEstimate>>()?;
        Ok(Estimate { offsets, reference })
    }
}

fn main() -> ExitCode {
    let mut methods = retime_methods::METHODS.to_vec();
    methods.push(&Cristian);
    retime_cli::run_with(retime_cli::FORMATS, &methods)
}
