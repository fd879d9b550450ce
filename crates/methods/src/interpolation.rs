//! Linear interpolation between measured offsets.
//!
//! Before and after the run, or now and then, each process asks a master what
//! time it is, and notes how far its own clock is from that. If clocks run at
//! constant speed between two such measurements, what has to be added to a stamp
//! lies on the line between them:
//!
//! ```text
//! t in [t_k, t_k+1]:   y(t) = o_k + (o_k+1 - o_k) (t - t_k) / (t_k+1 - t_k)
//! ```
//!
//! Before the first and after the last measurement the nearest line goes on, as
//! OTF2 does it; a single measurement is a constant. Where several locations that
//! read one clock were measured, the mean of their lines counts: interpolating
//! through all their points at once would follow the noise between them.
//!
//! The result is as good as the measurements, about half of the difference
//! between the two ways of a round trip, and as the assumption of constant
//! speed: over minutes that alone costs more than a message takes. Contradictions
//! that remain are left to the controlled logical clock.
//!
//! Sources: Rabenseifner 2000, section 7.2 (sampling before and after), after
//! Maillet and Tron 1995; Rabenseifner 1997, sections 2 and 4; Linford 2007,
//! chapter 3 (offsets at initialisation and finalisation in SCALASCA).
//!
//! ```
//! # use retime::causality::Causality;
//! use retime::pipeline::MeasuredOffset;
//! use retime::{ClockId, Edges, Grouping, LocationIndex};
//! use retime_methods::interpolation;
//! # let trace = retime_testing::trace("0:\n1:").unwrap();
//! # let causality = Causality::build(&trace.info, trace.logs, Default::default()).unwrap();
//! let clocks = Grouping::Location.clocks(&trace.info, &causality);
//! let edges = Edges::new(vec![], vec![Some((0, 3_000)), Some((0, 3_000))]);
//! let at = |stamp, offset| MeasuredOffset { location: LocationIndex(1), stamp, offset };
//! // At 1000 clock 1 is 10 behind clock 0, at 2000 it is 20 behind.
//! let measured = [at(1_000, 10.0), at(2_000, 20.0)];
//! let estimate = interpolation(&measured, &clocks, &edges, ClockId(0))?;
//! let offset = estimate.offsets[1].as_ref().unwrap();
//! assert_eq!([1_500, 0, 3_000].map(|stamp| offset.at(stamp)), [15.0, 0.0, 30.0]);
//! # Ok::<(), retime::estimate::NoEstimate>(())
//! ```

use retime::LocationIndex;
use retime::edges::Edges;
use retime::estimate::{Estimate, NoEstimate, Offset};
use retime::pipeline::{
    Choice, Estimator, Input, MeasuredOffset, MeasuredOffsets, Options, Unsolved,
};
use retime::{ClockId, Clocks};

/// Interpolation between measured offsets as a method.
#[derive(Clone, Copy, Debug)]
pub struct Interpolation;

impl Estimator for Interpolation {
    fn name(&self) -> &'static str {
        "interpolation"
    }

    fn help(&self) -> &'static str {
        "Linear interpolation between offsets that were measured during the run"
    }

    fn describe(&self, _: &Options) -> &'static str {
        "linear interpolation"
    }

    fn choices(&self) -> &'static [Choice] {
        &[Choice::Offsets]
    }

    fn estimate(&self, input: &Input<'_>) -> Result<Estimate, Unsolved> {
        let measured = match &input.options.offsets {
            MeasuredOffsets::Known(measured) => measured,
            MeasuredOffsets::Missing(why) => return Err(NoEstimate::Missing(why.clone()).into()),
        };
        let clocks = input.problem.clocks;
        Ok(interpolation(
            measured,
            clocks,
            input.edges,
            input.reference,
        )?)
    }
}

/// Interpolates between measured offsets.
///
/// The common time is the one that the offsets lead to. `reference` is the clock
/// that shows it and needs no measurements; a measured one is corrected like the
/// others. Clocks without events keep their time. The trace itself counts only
/// with the extents of its clocks in `edges`.
///
/// # Errors
///
/// [`NoEstimate::Unmeasured`] for clocks with events, other than `reference`,
/// that no offset was measured for.
pub fn interpolation(
    measured: &[MeasuredOffset],
    clocks: &Clocks,
    edges: &Edges,
    reference: ClockId,
) -> Result<Estimate, NoEstimate> {
    let mut points: Vec<Vec<(i64, f64)>> = Vec::new();
    for it in measured {
        let location = it.location.as_usize();
        if points.len() <= location {
            points.resize(location + 1, Vec::new());
        }
        points[location].push((it.stamp, it.offset));
    }
    let mut offsets = Vec::with_capacity(clocks.len());
    let mut unmeasured = Vec::new();
    for clock in clocks.iter() {
        let of_location = |location: &LocationIndex| points.get(location.as_usize());
        let lines: Vec<Offset> = clocks
            .locations(clock)
            .iter()
            .filter_map(of_location)
            .filter(|points| !points.is_empty())
            .map(|points| Offset::through(points.clone()))
            .collect();
        offsets.push(match extent(edges, clock) {
            _ if clock == reference && lines.is_empty() => Some(Offset::constant(0.0)),
            None => None,
            Some(_) if lines.is_empty() => {
                unmeasured.push(clock);
                None
            }
            Some((first, last)) => Some(mean(&lines, first, last)),
        });
    }
    if !unmeasured.is_empty() {
        return Err(NoEstimate::Unmeasured(unmeasured));
    }
    Ok(Estimate { offsets, reference })
}

fn extent(edges: &Edges, clock: ClockId) -> Option<(i64, i64)> {
    (clock.as_usize() < edges.clocks())
        .then(|| edges.extent(clock))
        .flatten()
}

/// The mean of lines, from the first stamp of a clock to its last.
fn mean(lines: &[Offset], first: i64, last: i64) -> Offset {
    let bends = lines.iter().flat_map(Offset::knots).map(|&(at, _)| at);
    let inside = bends.filter(|at| (first..=last).contains(at));
    let mut stamps: Vec<i64> = inside.chain([first, last]).collect();
    stamps.sort_unstable();
    stamps.dedup();
    let value = |at: i64| {
        let sum: f64 = lines.iter().map(|line| extended(line.knots(), at)).sum();
        (at, sum / lines.len() as f64)
    };
    Offset::through(stamps.into_iter().map(value).collect())
}

/// The line through measurements at a stamp, its first and last piece extended.
fn extended(points: &[(i64, f64)], at: i64) -> f64 {
    let after = points.partition_point(|&(stamp, _)| stamp < at);
    let start = after.clamp(1, points.len().max(2) - 1) - 1;
    match points.get(start..) {
        Some(&[(start, from), (end, to), ..]) => {
            // Measurements may lie anywhere, also too far apart for 64 bits.
            let along = (i128::from(at) - i128::from(start)) as f64;
            let length = (i128::from(end) - i128::from(start)) as f64;
            from + (to - from) * (along / length)
        }
        Some(&[(_, only)]) => only,
        _ => 0.0,
    }
}
