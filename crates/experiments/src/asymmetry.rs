//! A trace that makes two true clocks seem to drift.
//!
//! Methods that lay a line between the bounds of messages take the middle for the truth. If
//! messages take 30 ms longer in one direction at first, and in the other at the end, the middle
//! moves by 30 ms in the course of the trace, and so do corrected clocks: by 0.6 % in 5 s, where
//! quartz is right to 1e-5. A logical clock has nothing to correct.
//!
//! ```text
//! bound by messages from 1   ----------\
//!                                        \-----------      the middle rises from
//! bound by messages from 0   ----------\                   -15 to +15 ms
//!                                        \-----------
//! ```
//!
//! Source: Rabenseifner 2000, section 7.8.

use retime::clock::Control;
use retime::estimate::Estimate;
use retime::{ClockId, Edge, MinimalDelay, Ticks};
use retime_methods::{Extended, convex_hull, extended, hofmann_hilgers};
use retime_sim::Experiment;

use crate::script::Script;
use crate::simulated::{Failure, Simulated};
use crate::table::{Row, Table};

/// The length of the trace in nanoseconds.
const LENGTH: u64 = 5_000_000_000;
/// The time that a fast message takes, and how much longer a slow one does.
const LEAST: u64 = 1_000_000;
const LONGER: u64 = 30_000_000;
/// Nanoseconds from one exchange to the next.
const TURN: u64 = 50_000_000;

/// Two processes that send to each other: messages from 0 are fast in the first half, those from 1
/// in the second.
fn program() -> Script {
    let mut script = Script::new(2);
    for turn in 0..LENGTH / TURN {
        let sent = turn * TURN;
        let first_half = 2 * sent < LENGTH;
        let delay = |fast: bool| LEAST + if fast { 0 } else { LONGER };
        script.message(0, sent, 1, sent + delay(first_half), 8);
        script.message(1, sent, 0, sent + delay(!first_half), 8);
    }
    script
}

/// Two clocks that are both true, as each method corrects them.
#[derive(Clone, Debug, PartialEq)]
pub struct AsymmetryFigures {
    /// Methods that lay lines between bounds, with what the thesis says and the largest rate that
    /// each gives to the second clock, as a share of time.
    pub rates: Vec<(&'static str, &'static str, f64)>,
    /// Events that the controlled logical clock moves.
    pub moved: usize,
    /// All events.
    pub events: usize,
}

/// Runs all methods on it.
pub fn run() -> Result<AsymmetryFigures, Failure> {
    let script = program();
    let trace = Simulated::new(Experiment::new(&script).in_memory()?)?;
    let edges = trace.edges()?;
    let base = ClockId(0);
    let least = |_: &Edge| 0;
    let hulls = convex_hull(&edges, least, base, &())?;
    let middles = hofmann_hilgers(&edges, least, None, base, &())?;
    let bends = extended(&edges, least, &Extended::default(), base, &())?;
    let times = trace.controlled(
        &MinimalDelay::Uniform(Ticks(LEAST as i64)),
        Control::Constant(1.0 - 2e-5),
    )?;
    let stamps = trace.stamps(&times);
    let moved = stamps.iter().zip(trace.truth()).filter(|it| it.0 != it.1);
    Ok(AsymmetryFigures {
        rates: vec![
            ("Duda, convex hulls", "around 0.6 %", steepest(&hulls)),
            ("Hofmann and Hilgers", "around 0.6 %", steepest(&middles)),
            ("the extended form of section 7.7", "-", steepest(&bends)),
        ],
        moved: moved.count(),
        events: stamps.len(),
    })
}

/// The largest rate of the second clock.
fn steepest(estimate: &Estimate) -> f64 {
    let offset = estimate.offsets.get(1).and_then(Option::as_ref);
    offset.map_or(0.0, |offset| {
        let knots = offset.knots().windows(2);
        let rates = knots.map(|pair| (pair[1].1 - pair[0].1) / (pair[1].0 - pair[0].0) as f64);
        rates.map(f64::abs).fold(0.0, f64::max)
    })
}

/// The figures beside that of the thesis.
pub fn table() -> Result<Table, Failure> {
    let outcome = run()?;
    let mut rows: Vec<Row> = outcome
        .rates
        .iter()
        .map(|(name, printed, rate)| {
            Row::new(*name, *printed, format!("{:.2} %", 100.0 * rate), "")
        })
        .collect();
    rows.push(Row::new(
        "controlled logical clock: events moved",
        "follows: none",
        format!("{} of {}", outcome.moved, outcome.events),
        "",
    ));
    Ok(Table {
        title: "two true clocks, delays 30 ms apart, in turn; 5 s: the rate one of them is given"
            .into(),
        source: "Rabenseifner 2000, section 7.8",
        rows,
        notes: vec![
            "The thesis names 30 ms, 5 s, and rates of about 0.6 %, not a program. Here messages \
             take 1 ms, and 30 ms more from process 1 in the first half and from process 0 in the second."
                .into(),
        ],
    })
}
