//! The effect of a minimal delay that is larger, or smaller, than the true one.
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

use retime::clock::AmortizationRate;
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

/// The result of one run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DelayOutcome {
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
pub fn run(program: Program, seed: u64, percent: i64) -> Result<DelayOutcome, Failure> {
    let trace = simulated(program, seed, LENGTH)?;
    let delay = MinimalDelay::Uniform(Ticks(LEAST * percent / 100));
    let times = trace.controlled(&delay, controllers(GAMMA_D))?;
    let rate = AmortizationRate::default();
    let stamps = trace.amortized(&delay, rate, Ticks(0), &times)?;
    let accuracy: Accuracy = trace.accuracy(&stamps)?;
    let distortion = Distortion::measure(&trace.causality, &stamps, &())?;
    let last = |clock: usize| trace.nodes(clock).next_back();
    let ahead = (0..trace.len()).filter_map(|clock| Some(trace.lead(&times, last(clock)?)));
    Ok(DelayOutcome {
        relative: accuracy.relative.mean_abs,
        delays: accuracy.message_delay.mean_abs,
        change: distortion.mean,
        largest_change: distortion.largest,
        ahead: ahead.min().unwrap_or_default(),
    })
}

/// The runs of a program, by assumed delay.
pub fn outcomes(program: Program) -> Result<Vec<(i64, Vec<DelayOutcome>)>, Failure> {
    let of_seeds = |percent: i64| {
        SEEDS
            .map(|seed| run(program, seed, percent))
            .collect::<Result<Vec<DelayOutcome>, Failure>>()
    };
    let all = PERCENTS.iter();
    all.map(|&percent| Ok((percent, of_seeds(percent)?)))
        .collect()
}

/// The assumed delay, in percent of the least, by which a figure is the smallest, by its mean
/// over all runs.
pub fn best(all: &[(i64, Vec<DelayOutcome>)], figure: fn(&DelayOutcome) -> f64) -> i64 {
    let by_mean = |a: &&(i64, Vec<DelayOutcome>), b: &&(i64, Vec<DelayOutcome>)| {
        mean(&a.1, figure).total_cmp(&mean(&b.1, figure))
    };
    all.iter().min_by(by_mean).map_or(0, |it| it.0)
}

/// The mean of a figure over runs.
pub fn mean(runs: &[DelayOutcome], figure: fn(&DelayOutcome) -> f64) -> f64 {
    runs.iter().map(figure).sum::<f64>() / runs.len().max(1) as f64
}

/// Mean and largest change that the thesis prints for mu in percent of the least delay: 250, 500
/// and 1000 us of 620 us.
const PRINTED: [(i64, &str); 3] = [
    (40, "0.001 %, 0.003 %"),
    (80, "0.004 %, 1.137 %"),
    (160, "0.032 %, 8.522 %"),
];

/// The figures, beside those of the one trace of the thesis.
pub fn table() -> Result<Table, Failure> {
    let mut rows = Vec::new();
    for (program, name) in [
        (Program::FiniteElements, "finite elements"),
        (Program::RandomTraffic, "random traffic"),
    ] {
        let all = outcomes(program)?;
        rows.extend(all.iter().map(|(percent, runs)| row(name, *percent, runs)));
        let best_of = |what: &str, figure: fn(&DelayOutcome) -> f64| {
            let ours = format!("mu = {} %", best(&all, figure));
            Row::new(format!("{name}: {what}"), "mu = 120 %", ours, "")
        };
        rows.push(best_of("relative times are best with", |it| it.relative));
        rows.push(best_of("message delays are best with", |it| it.delays));
    }
    Ok(Table {
        title: "mu from 0 to twice the least delay of 250 us, 16 clocks, 5 s, all controllers"
            .into(),
        source: "Rabenseifner 2000, sections 7.2 and 6.3.1",
        rows,
        notes: vec![
            "mu is in percent of the least delay of the network. Ours are, in this order: the mean \
             error of relative times; that of message delays; the mean change of recorded local \
             intervals, and the largest of all runs; and how far ahead of itself each clock ends at \
             least, in the worst run: above a few microseconds time runs away. Printed are mean and \
             largest change."
                .into(),
            "Where every process hears from many others, an assumed delay 20 % above the least is \
             the best of those tried, as the thesis says, and local intervals change by a third \
             more. Where processes wait for four neighbours alone, the least delay itself, or \
             somewhat less, does better, and 20 % more costs 1 to 4 %. With 40 % more time runs \
             away in random traffic: the room above 20 % is small, and nobody knows the least delay \
             of a network that well from a trace. So retime enforces an eighth of what it learns, \
             and takes a larger one from who knows it."
                .into(),
            "The trace of the thesis was synchronised at its beginning; these clocks start up to \
             1 ms apart, and what brings them together is the largest change of all in random \
             traffic, where sends stand in the way."
                .into(),
        ],
    })
}

fn row(name: &str, percent: i64, runs: &[DelayOutcome]) -> Row {
    let largest = runs.iter().map(|it| it.largest_change);
    let ahead = runs.iter().map(|it| it.ahead).max().unwrap_or(0);
    let ours = format!(
        "{:.1} us, {:.1} us, {:.4} %, {:.2} %, {} us",
        mean(runs, |it| it.relative) / 1e3,
        mean(runs, |it| it.delays) / 1e3,
        100.0 * mean(runs, |it| it.change),
        100.0 * largest.fold(0.0, f64::max),
        ahead / 1_000,
    );
    let printed = PRINTED.iter().find(|it| it.0 == percent);
    let (printed, difference) = printed.map_or(("-", ""), |it| (it.1, "another trace"));
    Row::new(
        format!("{name}, mu = {percent} %"),
        printed,
        ours,
        difference,
    )
}
