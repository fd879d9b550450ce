//! Controller B alone: converging, oscillating, never running away.
//!
//! Two processes send to each other without delay, every `tau`. Clock 1 is behind
//! by `D` but faster by `rho`, so the controlled clocks, pulled along by it, would
//! run ahead of clock 0. With `R = gamma_max (1 + rho)`, their common lead over
//! clock 0, in units of `D sqrt((R-1)/R)`, follows
//!
//! ```text
//! o_j = max(o_(j-1) + f - f o_(j-1)^2, 0),   o_0 = 0,   f = tau/D sqrt(R (R-1))
//! ```
//!
//! For `f <= 1` it converges to 1, for larger f it is periodic, and from `sqrt 2`
//! on it falls back to 0 every other time. (It is the logistic map with `r = 1 +
//! 2f`, cut off at 0: the period doubles at `r = 3`, `1 + sqrt 6` and 3.54409, until
//! the cut interferes.) The recurrence takes `D` for constant;
//! the real distance grows by the lead and shrinks by `rho tau` each time. Where
//! both are small against D the real controller follows the recurrence closely.
//!
//! ```
//! use retime_experiments::recurrence::{limit, SequenceLimit};
//! assert_eq!(limit(0.8), SequenceLimit::Converges);
//! assert_eq!(limit(1.1), SequenceLimit::Period(2));
//! assert_eq!(limit(1.25), SequenceLimit::Period(4));
//! assert_eq!(limit(1.2725), SequenceLimit::Period(8));
//! ```
//!
//! Source: Rabenseifner 2000, section 5.3, scenario 2, equation 5.27 and theorem
//! 10.

use retime::clock::{CombinedConstants, Control};
use retime::{MinimalDelay, Ticks};
use retime_sim::{Experiment, Length, OpposingPair};

use crate::simulated::{Failure, Simulated};
use crate::table::{FOLLOWS, Row, Table};

/// The sequence from `o_0 = 0` on.
pub fn sequence(f: f64) -> impl Iterator<Item = f64> {
    std::iter::successors(Some(0.0_f64), move |&o| {
        // In this form 1 is a fixed point of the arithmetic, too.
        Some((o + f * (1.0 - o) * (1.0 + o)).max(0.0))
    })
}

/// The limit of a sequence, if it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SequenceLimit {
    /// It converges to 1.
    Converges,
    /// It comes to this many values that take turns.
    Period(usize),
    /// It has not settled within the terms that were computed.
    Unsettled,
}

/// Terms after which a sequence counts as settled; next to the limits of the
/// ranges it takes long.
const SETTLED: usize = 200_000;
/// How equal terms have to be.
const EQUAL: f64 = 1e-7;

/// Finds the limit of the sequence for `f` by computing its terms.
pub fn limit(f: f64) -> SequenceLimit {
    let terms: Vec<f64> = sequence(f).skip(SETTLED).take(64).collect();
    let equal = |a: f64, b: f64| (a - b).abs() < EQUAL;
    if terms.iter().all(|&o| equal(o, 1.0)) {
        return SequenceLimit::Converges;
    }
    let repeats = |period: &usize| {
        let later = terms[*period..].iter();
        terms.iter().zip(later).all(|(&a, &b)| equal(a, b))
    };
    [1, 2, 4, 8, 16]
        .iter()
        .copied()
        .find(repeats)
        .map_or(SequenceLimit::Unsettled, SequenceLimit::Period)
}

/// How clocks differ in scenario 2.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pair {
    /// `1 - gamma_max`.
    pub loss: f64,
    /// The share by which clock 1 is faster, `rho`.
    pub faster: f64,
}

impl Pair {
    /// A clock whose excess over what gamma takes is so little that D is as good as
    /// constant.
    pub const SLIGHT: Self = Self {
        loss: 1e-10,
        faster: 2e-10,
    };

    fn gamma_max(self) -> f64 {
        1.0 - self.loss
    }

    /// `R - 1`, by gamma as it is rounded.
    fn excess(self) -> f64 {
        self.faster - (1.0 - self.gamma_max()) * (1.0 + self.faster)
    }
}

/// How far clock 1 is behind, in nanoseconds.
const BEHIND: f64 = 1e10;

/// The leads of the real clocks over clock 0 in `rounds` exchanges, in the units
/// of [`sequence`], with controller B or without any.
pub fn real(f: f64, differ: Pair, rounds: usize, b: bool) -> Result<Vec<f64>, Failure> {
    let excess = differ.excess();
    let r = 1.0 + excess;
    let pair = OpposingPair {
        interval: (f * BEHIND / (r * excess).sqrt()).round() as u64,
        length: Length::iterations(rounds as u64),
    };
    let clocks = OpposingPair::clocks(BEHIND as u64, differ.faster);
    // The default epoch is a second, and clock 1 is ten behind.
    let timer = retime_sim::Timer {
        epoch: 2 * BEHIND as u64,
        ..retime_sim::Timer::default()
    };
    let experiment = Experiment::new(&pair).clocks(clocks.to_vec()).timer(timer);
    let trace = Simulated::new(experiment.in_memory()?)?;
    let times = trace.controlled(
        &MinimalDelay::Uniform(Ticks(0)),
        Control::Combined(CombinedConstants {
            gamma_max: differ.gamma_max(),
            b,
            c: false,
            d: None,
        }),
    )?;
    let unit = BEHIND * (excess / r).sqrt();
    // Process 0 sends and receives in turn.
    let receives = trace.nodes(0).skip(1).step_by(2);
    Ok(receives
        .map(|node| trace.lead(&times, node) as f64 / unit)
        .collect())
}

/// A range of f in theorem 10: what is claimed there, and the bounds it prints for
/// the terms from the first on.
#[derive(Clone, Copy, Debug)]
pub struct Range {
    /// Number of the equation.
    pub equation: &'static str,
    /// Smallest and largest f.
    pub f: (f64, f64),
    /// The limit that is claimed for the sequence.
    pub limit: SequenceLimit,
    /// Smallest and largest term, from `o_1` on.
    pub terms: (f64, f64),
    /// True if the thesis prints the largest term; else it follows from what is printed.
    pub prints_largest: bool,
}

/// The ranges of theorem 10, but for single points between them. Next to their
/// ends it takes more terms than anybody computes to tell them apart, so they
/// are taken a little inside.
pub const RANGES: [Range; 8] = [
    Range {
        equation: "5.34",
        f: (0.01, 0.5),
        limit: SequenceLimit::Converges,
        terms: (0.01, 1.0),
        prints_largest: false,
    },
    Range {
        equation: "5.35",
        f: (0.500_001, 0.618_033),
        limit: SequenceLimit::Converges,
        terms: (0.500_001, 1.0052),
        prints_largest: true,
    },
    Range {
        equation: "5.37",
        f: (0.618_035, 0.999),
        limit: SequenceLimit::Converges,
        terms: (0.618_035, 1.08867),
        prints_largest: true,
    },
    Range {
        equation: "5.39",
        f: (1.001, 1.224_635),
        limit: SequenceLimit::Period(2),
        terms: (0.0, 1.41276),
        prints_largest: true,
    },
    Range {
        equation: "5.40",
        f: (1.2249, 1.272_003),
        limit: SequenceLimit::Period(4),
        terms: (0.0, 1.46706),
        prints_largest: true,
    },
    Range {
        equation: "5.41, 5.42",
        f: (1.2721, 1.277_486),
        limit: SequenceLimit::Period(8),
        terms: (0.0, 1.4672),
        prints_largest: true,
    },
    Range {
        equation: "5.43",
        f: (1.277_487, 1.414),
        limit: SequenceLimit::Period(4),
        terms: (0.0, 1.51338),
        prints_largest: true,
    },
    Range {
        equation: "5.44",
        f: (1.415, 5.0),
        limit: SequenceLimit::Period(2),
        terms: (0.0, 5.0),
        prints_largest: false,
    },
];

/// Values of f spread over a range, both ends included.
pub fn spread(range: Range, count: usize) -> impl Iterator<Item = f64> {
    let (from, to) = range.f;
    (0..=count).map(move |step| from + (to - from) * step as f64 / count as f64)
}

/// Smallest and largest term from `o_1` on over a range of f.
pub fn extremes(range: Range, count: usize) -> (f64, f64) {
    let terms = spread(range, count).flat_map(|f| sequence(f).skip(1).take(2_000));
    terms.fold((f64::MAX, f64::MIN), |(low, high), o| {
        (low.min(o), high.max(o))
    })
}

/// Values of f with which the real controller is run: of each kind of limit.
pub const REAL: [f64; 12] = [
    0.1, 0.4, 0.57, 0.618, 0.81, 1.0, 1.17, 1.25, 1.275, 1.37, 1.5, 2.0,
];
/// Exchanges of each such run.
pub const ROUNDS: usize = 64;

/// The largest difference between the real controller's leads and the recurrence.
pub fn largest_difference(f: f64) -> Result<f64, Failure> {
    let real = real(f, Pair::SLIGHT, ROUNDS, true)?;
    let differences = real.iter().zip(sequence(f)).map(|(a, b)| (a - b).abs());
    Ok(differences.fold(0.0, f64::max))
}

/// The largest term of a range, as far as the thesis says.
fn printed_largest(range: Range) -> String {
    let follows = if range.prints_largest { "" } else { FOLLOWS };
    format!("{follows}{:.5}", range.terms.1)
}

/// The figures beside those of theorem 10.
pub fn table() -> Result<Table, Failure> {
    let mut rows = Vec::new();
    for range in RANGES {
        let limits: Vec<SequenceLimit> = spread(range, 8).map(limit).collect();
        let same = limits.iter().all(|limit| *limit == range.limit);
        let (_, largest) = extremes(range, 200);
        let (from, to) = range.f;
        rows.push(Row::new(
            format!("({}) f from {from} to {to}", range.equation),
            describe(range.limit),
            if same {
                describe(range.limit)
            } else {
                format!("{limits:?}")
            },
            "",
        ));
        rows.push(Row::new(
            "    largest term",
            printed_largest(range),
            format!("{largest:.5}"),
            difference(largest - range.terms.1),
        ));
    }
    for f in REAL {
        rows.push(Row::new(
            format!("controller B, f = {f}: largest difference in {ROUNDS} terms"),
            "-",
            format!("{:.4}", largest_difference(f)?),
            "D is not constant",
        ));
    }
    Ok(Table {
        title: "controller B on two clocks of different rates: o = o + f - f o^2".into(),
        source: "Rabenseifner 2000, section 5.3, scenario 2 and theorem 10",
        rows,
        notes: vec![
            "The thesis found the ends of (5.39) and (5.40), f = 1.224635 and 1.272003, by \
             computing terms. The period doubles where that of the logistic map with r = 1 + 2f \
             does, at 1.224745 and 1.272045: near there a sequence settles too slowly to tell. \
             Between the printed and the true ends the period is still 2 and 4."
                .into(),
            "(5.40) prints a largest term of 1.46706. For f = 1.272003, the end of that range, o_7 \
             is 1.46713; 1.46706 is reached at f = 1.2716. The thesis says that it tried \
             sufficiently many f, not which."
                .into(),
            "The recurrence takes the distance D of the clocks for constant. In the runs of the \
             real controller it shrinks by a share of 2e-5 f per exchange, which moves the fixed \
             point by as much and, where the sequence oscillates, adds up."
                .into(),
        ],
    })
}

fn describe(limit: SequenceLimit) -> String {
    match limit {
        SequenceLimit::Converges => "converges to 1".into(),
        SequenceLimit::Period(length) => format!("period {length}"),
        SequenceLimit::Unsettled => "unsettled".into(),
    }
}

fn difference(difference: f64) -> String {
    if difference.abs() < 1e-5 {
        "none".into()
    } else {
        format!("{difference:+.5}")
    }
}
