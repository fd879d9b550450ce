//! What a minimal delay does that is larger, or smaller, than the true one.
//!
//! The controlled logical clock takes whatever `mu` it is given. One that is too small leaves
//! clocks apart by the rest of the delay; one that is too large pulls them further together than
//! anything shows, at the price of local intervals, and in the end time runs away. The thesis
//! says that mostly a `mu` about 20 % above the least delay of the network is a good balance,
//! since most messages take longer than the least: synchronisation gets better, and
//! intervals hardly worse.
//!
//! Here programs run for 5 s on sixteen clocks, as in [`minute`](crate::minute), over a network
//! whose least delay is known, and are corrected with `mu` from 0 to twice that delay, by all
//! controllers and backward amortisation. Errors are against the truth, changes against
//! recorded intervals, as the thesis prints them.
//!
//! Source: Rabenseifner 2000, section 7.2 (20 %), and section 6.3.1 with figure 6.3 (one trace
//! with mu = 250, 500 and 1000 us, where the least delay was 620 us).

use retime::clock::{Regulation, Steps};
use retime::{Accuracy, Distortion, MinimalDelay, Ticks};

use crate::minute::{LEAST, Program, simulated};
use crate::ring::controllers;
use crate::simulated::Failure;
use crate::table::{Row, Table};

/// True time of a run: that of the trace of the thesis is 5.34 s long.
const LENGTH: u64 = 5_000_000_000;

/// The constant that the thesis recommends for free-running quartz.
const GAMMA_D: f64 = 1.0 - 1e-4;

/// Runs in the table.
pub const SEEDS: std::ops::Range<u64> = 0..4;

/// The assumed delay as a share of the least, in percent: among them those of figure 6.3.
pub const PERCENTS: [i64; 8] = [0, 40, 80, 100, 120, 140, 160, 200];

/// What came out of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Outcome {
    /// Mean error of relative times, in nanoseconds.
    pub relative: f64,
    /// Mean error of message delays, in nanoseconds.
    pub delays: f64,
    /// Mean change of local intervals, as a share.
    pub change: f64,
    /// The largest, beyond one tick.
    pub largest_change: f64,
    /// The least by which any clock is ahead at the end, in nanoseconds.
    pub ahead: i64,
}

/// Corrects a run with an assumed delay of so many percent of the least.
pub fn run(program: Program, seed: u64, percent: i64) -> Result<Outcome, Failure> {
    let trace = simulated(program, seed, LENGTH)?;
    let regulation = Regulation {
        delay: MinimalDelay::Uniform(Ticks(LEAST * percent / 100)),
        distance: Ticks(0).into(),
        control: controllers(GAMMA_D),
        steps: Steps::default(),
    };
    let times = trace.regulated(&regulation)?;
    let stamps = trace.amortized(&regulation.delay, &times)?;
    let accuracy: Accuracy = trace.accuracy(&stamps)?;
    let distortion = Distortion::measure(&trace.causality, &stamps, &())?;
    let last = |clock: usize| trace.nodes(clock).last();
    let ahead = (0..trace.len()).filter_map(|clock| Some(trace.lead(&times, last(clock)?)));
    Ok(Outcome {
        relative: accuracy.relative.mean_abs,
        delays: accuracy.message_delay.mean_abs,
        change: distortion.mean,
        largest_change: distortion.largest,
        ahead: ahead.min().unwrap_or_default(),
    })
}

/// The runs of a program, by assumed delay.
pub fn outcomes(program: Program) -> Result<Vec<(i64, Vec<Outcome>)>, Failure> {
    let of_seeds = |percent: i64| {
        SEEDS
            .map(|seed| run(program, seed, percent))
            .collect::<Result<Vec<Outcome>, Failure>>()
    };
    let all = PERCENTS.iter();
    all.map(|&percent| Ok((percent, of_seeds(percent)?)))
        .collect()
}

/// The figures, beside those of the one trace of the thesis.
pub fn table() -> Result<Table, Failure> {
    let mut rows = Vec::new();
    for (program, name) in [
        (Program::FiniteElements, "finite elements"),
        (Program::RandomTraffic, "random traffic"),
    ] {
        for (percent, outcomes) in outcomes(program)? {
            rows.push(row(name, percent, &outcomes));
        }
    }
    Ok(Table {
        title: "mu from 0 to twice the least delay of 250 us, 16 clocks, 5 s, all controllers"
            .into(),
        source: "Rabenseifner 2000, sections 7.2 and 6.3.1",
        rows,
        notes: Vec::new(),
    })
}

fn row(name: &str, percent: i64, all: &[Outcome]) -> Row {
    let mean = |of: fn(&Outcome) -> f64| all.iter().map(of).sum::<f64>() / all.len() as f64;
    let ours = format!(
        "{:.1} us, {:.1} us, {:.4} %, {:.2} %, {} us",
        mean(|it| it.relative) / 1e3,
        mean(|it| it.delays) / 1e3,
        100.0 * mean(|it| it.change),
        100.0 * all.iter().map(|it| it.largest_change).fold(0.0, f64::max),
        all.iter().map(|it| it.ahead).max().unwrap_or(0) / 1_000,
    );
    Row::new(format!("{name}, mu = {percent} %"), "-", ours, "")
}
