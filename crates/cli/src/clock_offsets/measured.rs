//! From a correction and its bounds to offsets.

use std::collections::BTreeSet;

use retime::format::Trace;
use retime::optimal::ClockErrorBound;
use retime::pipeline::{Analysis, Bounds, Solution};
use retime::{
    ClockAttribution, ClockId, ClockMap, Correction, LocationIndex, TickRate, Timestamp, TraceInfo,
    printable_path,
};

use super::model::{ClockOffsets, Evidence, OffsetPiece, TraceOffsets};
use crate::origin::Origin;

const NANOSECONDS: f64 = 1e9;

/// A trace that was analysed, with the correction that was found for it.
#[derive(Clone, Copy)]
pub(crate) struct Measured<'a> {
    pub(crate) trace: &'a dyn Trace,
    pub(crate) analysis: &'a Analysis,
    /// `None` where recorded times are right.
    pub(crate) solution: Option<&'a Solution>,
    pub(crate) bounds: Option<&'a Bounds>,
}

impl Measured<'_> {
    /// The offsets of all its clocks.
    pub(crate) fn offsets(self) -> TraceOffsets {
        let info = self.analysis.info();
        let unchanged;
        let correction = if let Some(solution) = self.solution {
            &solution.correction
        } else {
            let clocks = self.analysis.clocks().clone();
            let maps = vec![ClockMap::default(); clocks.len()];
            unchanged = Correction::new(clocks, maps);
            &unchanged
        };
        let clocks = correction.clocks().iter();
        TraceOffsets {
            path: printable_path(self.trace.path()),
            kind: self.trace.format().to_owned(),
            ticks_per_second: info.rate.get(),
            zero_ticks: self.trace.zero().0,
            drift_bound: self.bounds.map(|it| it.drift),
            trace: Some(Origin::of_nodes(self.analysis.causality().nodes(), info)),
            clocks: clocks.map(|clock| self.clock(correction, clock)).collect(),
        }
    }

    fn clock(self, correction: &Correction, clock: ClockId) -> ClockOffsets {
        let info = self.analysis.info();
        let locations = correction.clocks().locations(clock);
        let readers = Readers::of(info, locations);
        let run = self.run(locations);
        let bound = self.bounds.and_then(|it| {
            let of_clock = it.errors.clocks.get(clock.as_usize())?;
            of_clock.as_ref()
        });
        let map = correction.map(clock);
        let scale = Scale { rate: info.rate };
        let pieces = pieces(map, run, bound, scale);
        let added = added(map, run);
        let (least, most) = (
            added.iter().copied().min().unwrap_or_default(),
            added.iter().copied().max().unwrap_or_default(),
        );
        let gained = match (added.first(), added.last()) {
            (Some(first), Some(last)) => (last - first) as f64,
            _ => 0.0,
        };
        ClockOffsets {
            hosts: readers.hosts.into_iter().collect(),
            ranks: readers.ranks.into_iter().collect(),
            processes: readers.processes,
            locations: readers.ids,
            evidence: self.evidence(clock),
            from_ticks: run.map(|it| it.first.0),
            to_ticks: run.map(|it| it.last.0),
            offset_ns: scale.nanoseconds(f64::midpoint(least as f64, most as f64)),
            offset_error_ns: scale.nanoseconds((most as f64 - least as f64) / 2.0),
            rate_ppm: run.map_or(0.0, |it| ppm(gained, it.last.0 - it.first.0)),
            rate_within_ppm: run.and_then(|it| rate_within(bound?, it)),
            bound_ns: run.and_then(|it| bound_over(bound?, it.first, it.last, scale)),
            likely_ns: self.likely(clock).map(|it| scale.nanoseconds(it)),
            steps: steps(map, info),
            pieces,
        }
    }

    /// The stretch from the first to the last stamp of the locations that read a clock.
    fn run(self, locations: &[LocationIndex]) -> Option<Run> {
        let nodes = self.analysis.causality().nodes();
        let extents = locations
            .iter()
            .filter_map(|it| nodes.extent(it.as_usize()));
        extents
            .map(|it| Run {
                first: it.first,
                last: it.last,
            })
            .reduce(|a, b| Run {
                first: a.first.min(b.first),
                last: a.last.max(b.last),
            })
    }

    fn evidence(self, clock: ClockId) -> Evidence {
        let Some(bounds) = self.bounds else {
            // Of clocks that nothing relates there are none, asked for or not.
            let is_tied = |it: &ClockAttribution| *it == ClockAttribution::Tied;
            let all = self.analysis.attributions();
            return if all.len() > 1 && !all.iter().any(is_tied) {
                Evidence::Unrelated
            } else {
                Evidence::NotBounded
            };
        };
        if bounds.offsets.reference == clock {
            return Evidence::Reference;
        }
        match bounds.sides(clock) {
            (true, true) => Evidence::BothSides,
            (false, false) => Evidence::Unrelated,
            _ => Evidence::OneSide,
        }
    }

    fn likely(self, clock: ClockId) -> Option<f64> {
        let ends = self.solution?.aligned.as_ref()?.ends.as_ref()?;
        ends.likely.get(clock.as_usize()).copied().flatten()
    }
}

/// A stretch of recorded stamps.
#[derive(Clone, Copy)]
struct Run {
    first: Timestamp,
    last: Timestamp,
}

/// The hosts, ranks and processes that read a clock.
#[derive(Default)]
struct Readers {
    ids: Vec<u64>,
    hosts: BTreeSet<String>,
    ranks: BTreeSet<u64>,
    processes: Vec<String>,
}

impl Readers {
    fn of(info: &TraceInfo, locations: &[LocationIndex]) -> Self {
        let mut found = Self::default();
        let mut met = BTreeSet::new();
        for location in locations {
            let Some(location) = info.locations.get(location.as_usize()) else {
                continue;
            };
            found.ids.push(location.id);
            let Some(process) = info.processes.get(location.process) else {
                continue;
            };
            if !met.insert(location.process) {
                continue;
            }
            found.processes.push(process.name.clone());
            found.ranks.extend(rank(&process.name));
            let host = process.node.and_then(|it| info.nodes.get(it));
            found.hosts.extend(host.cloned());
        }
        found
    }
}

/// The rank that the name of a process says: `rank 3`, `MPI Rank 3`.
pub(super) fn rank(name: &str) -> Option<u64> {
    let (before, number) = name.rsplit_once(' ')?;
    let word = before.rsplit(' ').next()?;
    word.eq_ignore_ascii_case("rank")
        .then(|| number.parse().ok())?
}

/// The ratio of nanoseconds to ticks.
#[derive(Clone, Copy)]
struct Scale {
    rate: TickRate,
}

impl Scale {
    /// Rounded to a thousandth.
    fn nanoseconds(self, ticks: f64) -> f64 {
        (ticks * (NANOSECONDS / self.rate.get() as f64) * 1e3).round() / 1e3
    }
}

fn ppm(gained: f64, run: u64) -> f64 {
    if run == 0 {
        0.0
    } else {
        gained / run as f64 * 1e6
    }
}

/// The largest error of the mean rate of a run: a clock that is late at one end may be early at the
/// other.
fn rate_within(bound: &ClockErrorBound, run: Run) -> Option<f64> {
    let ((before, after), (before_end, after_end)) = (bound.at(run.first), bound.at(run.last));
    let error = (before_end + after).max(after_end + before);
    let within = ppm(error, run.last.0 - run.first.0);
    within.is_finite().then_some(within)
}

/// The ticks added at each end of each piece that lies within a run, by rising stamp.
fn added(map: &ClockMap, run: Option<Run>) -> Vec<i64> {
    let Some(run) = run else {
        return Vec::new();
    };
    let mut cursor = map.cursor(LocationIndex(u32::MAX));
    let mut at = |raw: Timestamp| {
        let corrected = cursor.map_time(raw).unwrap_or(raw);
        difference(raw, corrected)
    };
    let (first, last) = (at(run.first), at(run.last));
    let inside = map
        .knots()
        .iter()
        .filter(|it| (run.first..=run.last).contains(&it.raw));
    let bends = inside.flat_map(|it| [difference(it.raw, it.arrive), difference(it.raw, it.leave)]);
    let mut all = vec![first];
    all.extend(bends);
    all.push(last);
    all
}

fn difference(raw: Timestamp, corrected: Timestamp) -> i64 {
    corrected.0.wrapping_sub(raw.0) as i64
}

fn pieces(
    map: &ClockMap,
    run: Option<Run>,
    bound: Option<&ClockErrorBound>,
    scale: Scale,
) -> Vec<OffsetPiece> {
    let knots = map.knots();
    let piece = |number: usize| {
        let before = number.checked_sub(1).and_then(|it| knots.get(it));
        let after = knots.get(number);
        let begin = before.map(|it| difference(it.raw, it.leave));
        let end = after.map(|it| difference(it.raw, it.arrive));
        let either = begin.or(end).unwrap_or_default();
        let (begin, end) = (begin.unwrap_or(either), end.unwrap_or(either));
        let (from, to) = (before.map(|it| it.raw), after.map(|it| it.raw));
        let span = from.zip(to).map_or(0, |(from, to)| to.0 - from.0);
        let ends = from
            .or(run.map(|it| it.first))
            .zip(to.or(run.map(|it| it.last)));
        OffsetPiece {
            from_ticks: from.map(|it| it.0),
            to_ticks: to.map(|it| it.0),
            add_ticks: [begin, end],
            offset_ns: [begin, end].map(|it| scale.nanoseconds(it as f64)),
            rate_ppm: ppm((end - begin) as f64, span),
            bound_ns: ends.and_then(|(from, to)| bound_over(bound?, from, to, scale)),
        }
    };
    (0..=knots.len()).map(piece).collect()
}

/// The most that the truth can lie before and after corrected times between two stamps;
/// nothing where one of them is not known.
fn bound_over(
    bound: &ClockErrorBound,
    from: Timestamp,
    to: Timestamp,
    scale: Scale,
) -> Option<[f64; 2]> {
    let inside = bound.knots().iter().map(|it| Timestamp(it.0));
    let inside = inside.filter(|it| (from..=to).contains(it));
    let looks = [from, to].into_iter().chain(inside).map(|it| bound.at(it));
    let (before, after) = looks.fold((0.0_f64, 0.0_f64), |most, it| {
        (most.0.max(it.0), most.1.max(it.1))
    });
    let is_known = before.is_finite() && after.is_finite();
    is_known.then(|| [before, after].map(|it| scale.nanoseconds(it)))
}

fn steps(map: &ClockMap, info: &TraceInfo) -> Vec<[u64; 4]> {
    let known = map.steps().iter().filter_map(|step| {
        let location = info.locations.get(step.location.as_usize())?;
        Some([step.raw.0, location.id, step.event, step.corrected.0])
    });
    known.collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod tests {
    use proptest::prelude::*;
    use retime::{Knot, SavedKnot};

    use super::*;

    /// Knots with steps, none before the one before it.
    fn maps() -> impl Strategy<Value = ClockMap> {
        let knot = (1_u64..1000, 0_u64..1000, 0_u64..3);
        prop::collection::vec(knot, 0..6).prop_map(|all| {
            let (mut raw, mut corrected) = (0, 0);
            let knots = all.into_iter().map(|(run, rise, step)| {
                raw += run;
                corrected += rise;
                let arrive = Timestamp(corrected);
                corrected += step;
                let leave = Timestamp(corrected);
                Knot {
                    raw: Timestamp(raw),
                    arrive,
                    leave,
                }
            });
            ClockMap::new(knots.collect(), Vec::new()).unwrap()
        })
    }

    fn of_map(map: &ClockMap, rate: u64) -> ClockOffsets {
        let scale = Scale {
            rate: TickRate::per_second(rate).unwrap(),
        };
        ClockOffsets {
            hosts: Vec::new(),
            ranks: Vec::new(),
            processes: Vec::new(),
            locations: vec![0],
            evidence: Evidence::NotBounded,
            from_ticks: None,
            to_ticks: None,
            offset_ns: 0.0,
            offset_error_ns: 0.0,
            rate_ppm: 0.0,
            rate_within_ppm: None,
            bound_ns: None,
            likely_ns: None,
            pieces: pieces(map, None, None, scale),
            steps: Vec::new(),
        }
    }

    #[test]
    fn a_clock_that_is_ahead_and_fast() {
        let knots = [(1_000, 900), (2_000, 1_899)].map(|(raw, corrected)| Knot {
            raw: Timestamp(raw),
            arrive: Timestamp(corrected),
            leave: Timestamp(corrected),
        });
        let map = ClockMap::new(knots.to_vec(), Vec::new()).unwrap();
        let found = of_map(&map, 1_000_000).pieces;
        let adds: Vec<_> = found.iter().map(|it| it.add_ticks).collect();
        assert_eq!(adds, [[-100, -100], [-100, -101], [-101, -101]]);
        let told = [
            found[1].offset_ns[0],
            found[1].offset_ns[1],
            found[1].rate_ppm,
        ];
        assert_eq!(told.map(|it| it as i64), [-100_000, -101_000, -1_000]);
    }

    #[test]
    fn ranks_are_told_by_names() {
        for (name, found) in [
            ("rank 3", Some(3)),
            ("MPI Rank 12", Some(12)),
            ("Master 7", None),
            ("rank x", None),
            ("rank", None),
        ] {
            assert_eq!(rank(name), found, "{name}");
        }
    }

    proptest! {
        #[test]
        fn the_same_correction_comes_back(map in maps(), rate in 1_u64..u64::MAX) {
            let told = serde_json::to_string(&of_map(&map, rate)).unwrap();
            let read: ClockOffsets = serde_json::from_str(&told).unwrap();
            let expected: Vec<SavedKnot> = map.knots().iter().map(|&it| it.into()).collect();
            prop_assert_eq!(read.saved().unwrap().knots, expected);
        }

        #[test]
        fn pieces_say_what_is_added(map in maps(), stamp in 0_u64..8000) {
            let told = of_map(&map, 1).pieces;
            let covers = |it: &&OffsetPiece| {
                it.from_ticks.is_none_or(|from| from < stamp)
                    && it.to_ticks.is_none_or(|to| stamp <= to)
            };
            let piece = told.iter().find(covers).unwrap();
            let [begin, end] = piece.add_ticks.map(i128::from);
            let ends = piece.from_ticks.zip(piece.to_ticks);
            let added = ends.map_or(begin, |(from, to)| {
                let (along, run) = (i128::from(stamp - from), i128::from(to - from));
                begin + (along * (end - begin)).div_euclid(run)
            });
            let corrected = map.cursor(LocationIndex(0)).map_time(Timestamp(stamp));
            prop_assume!(corrected.is_some());
            prop_assert_eq!(i128::from(corrected.unwrap().0), i128::from(stamp) + added);
        }
    }
}
