//! Where controller C is too strict.
//!
//! Controller C holds each clock to 1.2 times the largest lead of a *simple* logical clock, and
//! stops it at 3 times. That lead is how far clocks differ between which messages go. Where
//! processes form a matrix, talk to their neighbours only, and their clocks are the further behind the
//! further away they are, the simple clock leads by the difference of two neighbours, while the
//! furthest has to be put ahead by all of these differences together:
//!
//! ```text
//! max (C_i - C_k) over messages from i to k  <  1.2 max (C_i - C_k) over all        => too strict
//! ```
//!
//! Then C lowers gamma though no clock is ahead of the one furthest ahead, and each message
//! makes up for it by a jump. Controller D limits that; controller B does not see any of it.
//!
//! Source: Rabenseifner 2000, section 4.4.5.

use retime::clock::{CombinedConstants, Control, LogicalTimes};
use retime::{Distortion, MinimalDelay, Ticks};
use retime_sim::{Clock, Duration, Experiment, FiniteElements, Length, Network};

use crate::simulated::{Failure, Simulated};
use crate::table::{Row, Table};

/// Rows and columns of the matrix.
const GRID: (u32, u32) = (4, 10);
/// How far each column is behind the one before it, in nanoseconds.
pub const BEHIND: i64 = 600_000;
/// The least delay, and mu, in nanoseconds.
const MU: i64 = 250_000;

/// The matrix as a combination of controllers leaves it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StrictFigures {
    /// The most that any clock is ahead of the one furthest ahead, in nanoseconds.
    pub ahead: i64,
    /// How far all are behind it on average, in nanoseconds.
    pub behind: f64,
    /// Mean share of the run time by which local intervals are wrong.
    pub deviation: f64,
    /// Intervals that are changed by more than 0.1 %, as a share of all.
    pub changed: f64,
}

/// Runs the matrix, with columns that differ by so many nanoseconds.
pub fn run(behind: i64, control: Control) -> Result<StrictFigures, Failure> {
    let program = FiniteElements {
        grid: GRID,
        network: Network::of(Duration::uniform(MU as u64, 2 * MU as u64)),
        length: Length::iterations(200),
        ..FiniteElements::default()
    };
    let clock = |rank: u32| Clock {
        offset: -behind * i64::from(rank % GRID.1),
        ..Clock::TRUE
    };
    let clocks = (0..GRID.0 * GRID.1).map(clock).collect();
    let trace = Simulated::new(Experiment::new(&program).clocks(clocks).in_memory()?)?;
    let times = trace.controlled(&MinimalDelay::Uniform(Ticks(MU)), control)?;
    outcome(&trace, &times)
}

fn outcome(trace: &Simulated, times: &LogicalTimes) -> Result<StrictFigures, Failure> {
    let stamps = trace.stamps(times);
    let accuracy = trace.accuracy(&stamps)?;
    let distortion = Distortion::measure(&trace.causality, &stamps, &())?;
    // The clocks of the first column are true, and furthest ahead.
    let ahead = stamps.iter().zip(trace.truth());
    let ahead = ahead
        .map(|(stamp, truth)| stamp.0 as i64 - truth.0 as i64)
        .max();
    Ok(StrictFigures {
        ahead: ahead.unwrap_or_default(),
        behind: accuracy.behind,
        deviation: accuracy.deviation,
        changed: distortion.large as f64 / distortion.intervals.max(1) as f64,
    })
}

/// Controllers A and B, with C and D where wanted.
pub fn control(c: bool, d: Option<f64>) -> Control {
    Control::Combined(CombinedConstants {
        c,
        d,
        ..CombinedConstants::default()
    })
}

/// The figures beside what the thesis says.
pub fn table() -> Result<Table, Failure> {
    let cases = [
        ("A and B", "none too strict", control(false, None)),
        ("A, B and C", "too strict", control(true, None)),
        ("A, B, C and D", "limited to 2 %", control(true, Some(0.98))),
    ];
    let mut rows = Vec::new();
    for (name, printed, control) in cases {
        let it = run(BEHIND, control)?;
        let ours = format!(
            "{:.1} us, {:.1} us, {:.2} %, {:.1} %",
            it.ahead as f64 / 1e3,
            it.behind / 1e3,
            100.0 * it.deviation,
            100.0 * it.changed
        );
        rows.push(Row::new(name, printed, ours, ""));
    }
    Ok(Table {
        title: "a matrix of 4 x 10 clocks, each column 600 us behind the one before it".into(),
        source: "Rabenseifner 2000, section 4.4.5",
        rows,
        notes: vec![
            "Ours are, in this order: how far any clock gets ahead of the one furthest ahead; how far \
             all are behind it on average; by how much local intervals are wrong on average; and how \
             many of them are changed by more than 0.1 %."
                .into(),
        ],
    })
}
