//! Lines by which ends of operations agree as well as they can.
//!
//! An operation `o` that clock `c` saw end at `e_co` really ended at some `m_o`, on each clock a
//! little later or earlier. Each clock gets the line `d_c` for which the sum of
//!
//! ```text
//! huber((e_co + d_c - m_o) / s)  +  ((b_c - recorded_c) / (rho T))^2 / 2
//! ```
//!
//! is the least, `s` the spread of ends of the set of clocks that took part, `b_c` by how much
//! `d_c` rises over the run of length `T`, `recorded_c` the rise that would leave the clock at the
//! rate that it recorded, and `rho = 5e-5`, which decides where a run is too short for ends to
//! tell rates: quartzes are sold as good to 20 or 50 ppm. Huber's function is a parabola up to
//! 1.345, and goes on as a line, so that an end that is late by a lot draws no more than one that is
//! late by a little. Ends say nothing of a line that all clocks have in common: the reference keeps
//! its own, and where it has no part, the clocks do on average.
//!
//! The sum is made less by turns, over the middles `m_o`, the lines, and the spread
//!
//! ```text
//! s = 1.4826 median |e_co + d_c - mean of the other clocks|
//! ```
//!
//! which is the standard deviation where ends are normally distributed, and which up to half of
//! them cannot spoil. As many of the least as lines have parameters are left out: lines may go through
//! them. The search starts where [sets](super::sets) of clocks agree by constants.
//!
//! ```text
//!  ends     clock 0   clock 1     with the line of clock 1, -47
//!           100       147         100       100
//!           200       247         200       200
//!           300       900         300       853     this one hardly counts
//!           400       447         400       400
//! ```
//!
//! Ends that are off for no reason but chance change sides at any time. Where a clock was set, those
//! before lie on one side of its line and those after on the other: of `n` ends in the order of time
//! with the signs `g_i` of what they are off by, beyond the median,
//!
//! ```text
//! sum g_i g_i+1 / (n - 1)   is by chance 0 +- 1 / sqrt(n - 1)
//! ```
//!
//! and where it is 3 of these above 0, they hang together: no line tells them.
//!
//! Source: P. J. Huber, *Robust Estimation of a Location Parameter* (1964); for the spread
//! F. R. Hampel, *The Influence Curve and its Role in Robust Estimation* (1974); for signs that follow
//! each other R. L. Anderson, *Distribution of the Serial Correlation Coefficient* (1942).

use retime_model::{Cancelled, ClockId, Monitor};
use retime_numerics::median::median;

use super::apart::{EndsApart, apart};
use super::jump::{Jump, jump};
use super::observed::{LEAST, Observed, ObservedEnds, OperationEnd, spread};
use super::sets::{links, start};
use crate::unbroken::RunLine;

/// Huber's function becomes a line at this many spreads: it is as good as a mean to 95 % where
/// ends are normally distributed.
const KNEE: f64 = 1.345;
/// The standard deviation of the rate of a clock, as a fraction.
const RHO: f64 = 5e-5;
/// Turns at most. In each an error gets less by the share of clocks that an operation and the
/// next have in common; where hosts form a chain of groups, that takes as many as the square of
/// their number.
const TURNS: usize = 256;
/// The parameters of a line.
const OF_LINE: usize = 2;
/// The lines are found if none changes by more than this share of its spread.
const SAME: f64 = 1e-3;
/// Ends of a clock or a set of clocks that tell a spread of their own: of eight the median is good
/// to a third. Of fewer that of all ends is taken.
const FEWEST: usize = 8;
/// Ends that tell a line: with fewer than twice as many as it has parameters, one that is off decides.
const FEWEST_OF_LINE: usize = 4;

/// Standard deviations by which the signs of ends follow each other more than by chance, where they
/// hang together: by chance that is so for one clock of 700.
const TOGETHER: f64 = 3.0;

/// The line of a clock, and how well ends tell it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct EvidenceLine {
    pub(super) line: RunLine,
    /// The distance of an end of the clock from those of the others, as a standard deviation.
    pub(super) spread: f64,
    /// True if ends hang together, on one side of the line and then on the other.
    pub(super) is_bent: bool,
    /// The step that explains why.
    pub(super) jump: Option<Jump>,
    /// The number of ends.
    pub(super) ends: usize,
}

/// Lines of all clocks by which their ends agree.
#[derive(Clone, Debug)]
pub(super) struct Consensus {
    /// The line of each clock; `None` where too few ends tell anything.
    pub(super) told: Vec<Option<EvidenceLine>>,
    /// The clock that stands for all that operations connect each clock to: the reference
    /// if it is one.
    pub(super) anchors: Vec<usize>,
    /// The spread of all ends.
    pub(super) spread: f64,
    /// Operations that end far apart by these lines.
    pub(super) apart: Option<EndsApart>,
}

impl Consensus {
    /// These lines, if ends tell them to so many of their spreads.
    pub(super) fn known_to(mut self, spreads: f64) -> Self {
        for told in self.told.iter_mut().flatten() {
            told.spread *= spreads;
        }
        self
    }
}

/// The lines for `ends`, by clock; `recorded` is by how much each would have to rise over the run
/// of `length` to leave its clock at its recorded rate. `None` where there are too few ends to tell
/// how they spread.
pub(super) fn consensus(
    ends: &ObservedEnds,
    recorded: &[f64],
    length: f64,
    reference: ClockId,
    monitor: &dyn Monitor,
) -> Result<Option<Consensus>, Cancelled> {
    let counts = ends
        .all()
        .iter()
        .fold(vec![0; recorded.len()], |mut all, end| {
            all[end.clock.as_usize()] += 1;
            all
        });
    let mut work = ConsensusSearch {
        ends,
        recorded,
        rise: RHO * length,
        anchors: anchors(ends, recorded.len(), reference),
        reference,
        lines: { start(ends, recorded.len()).into_iter() }
            .map(|by| RunLine {
                first: by,
                last: by,
            })
            .collect(),
        clocks_of: ends.clocks_of_sets(),
        middles: vec![0.0; ends.operations.len()],
        off: vec![0.0; ends.all().len()],
        spreads: vec![LEAST; ends.sets],
        spread: LEAST,
    };
    if ends.operations.len() < FEWEST_OF_LINE {
        return Ok(None);
    }
    work.lines = work.without_common(&work.lines);
    work.look();
    for _ in 0..TURNS {
        monitor.check()?;
        let before = work.lines.clone();
        work.fit();
        work.look();
        let changes = work.lines.iter().zip(before);
        let largest = changes.map(|(now, before)| (*now - before).largest());
        if largest.fold(0.0, f64::max) <= SAME * work.spread {
            break;
        }
    }
    let own = by_clock(ends, &work.off, recorded.len());
    let links = links(ends, &work.off, &work.anchors);
    let told = own.into_iter().enumerate().map(|(clock, off)| {
        let is_bent = hang_together(&off);
        let jump = is_bent.then(|| jump(&off)).flatten();
        let mut off: Vec<f64> = off.iter().map(|it| it.1.abs()).collect();
        let spread = if off.len() < FEWEST {
            work.spread
        } else {
            spread(&mut off, OF_LINE).max(work.spread)
        };
        let spread = spread.max(links[clock]);
        let line = work.lines[clock];
        (off.len() >= FEWEST_OF_LINE && line.is_finite()).then(|| EvidenceLine {
            line,
            spread,
            is_bent,
            jump,
            ends: counts[clock],
        })
    });
    Ok(Some(Consensus {
        told: told.collect(),
        apart: apart(ends, &work.off, &work.spreads),
        anchors: work.anchors,
        spread: work.spread,
    }))
}

/// The first of the clocks that operations connect each one to, or the reference if that is one.
fn anchors(ends: &ObservedEnds, clocks: usize, reference: ClockId) -> Vec<usize> {
    let mut anchors: Vec<usize> = (0..clocks).collect();
    let find = |anchors: &[usize], mut at: usize| {
        while anchors[at] != at {
            at = anchors[at];
        }
        at
    };
    // Sets of clocks are few, whatever the number of operations.
    let mut seen = vec![false; ends.sets];
    for operation in &ends.operations {
        if std::mem::replace(&mut seen[operation.of], true) {
            continue;
        }
        for pair in ends.of(operation).windows(2) {
            let [a, b] = [pair[0].clock, pair[1].clock].map(|it| find(&anchors, it.as_usize()));
            anchors[a.max(b)] = a.min(b);
        }
    }
    let named: Vec<usize> = (0..clocks).map(|clock| find(&anchors, clock)).collect();
    let own = named.get(reference.as_usize()).copied();
    let name = |it: usize| {
        if Some(it) == own {
            reference.as_usize()
        } else {
            it
        }
    };
    named.into_iter().map(name).collect()
}

/// When the ends of each clock are, as shares of the run, and by how much they are off.
fn by_clock(ends: &ObservedEnds, off: &[f64], clocks: usize) -> Vec<Vec<(f64, f64)>> {
    let mut by_clock = vec![Vec::new(); clocks];
    for (end, off) in ends.all().iter().zip(off) {
        by_clock[end.clock.as_usize()].push((end.share, *off));
    }
    by_clock
}

/// True if ends, of which it is known when they are and by how much they are off, follow others of
/// their side more often than by chance.
fn hang_together(off: &[(f64, f64)]) -> bool {
    let mut in_order = off.to_vec();
    in_order.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut values: Vec<f64> = off.iter().map(|it| it.1).collect();
    let Some(middle) = median(&mut values) else {
        return false;
    };
    let steps = in_order.len().saturating_sub(1) as f64;
    // Stamps are whole, so that what is nearer than a half lies on no side.
    let side = |off: f64| match off - middle {
        off if off.abs() <= LEAST => 0.0,
        off => off.signum(),
    };
    let follow = in_order.windows(2).map(|it| side(it[0].1) * side(it[1].1));
    follow.sum::<f64>() > TOGETHER * steps.sqrt()
}

/// The weight by Huber's function of an end that is `off`.
fn weight(off: f64, spread: f64) -> f64 {
    (KNEE * spread / off.abs()).min(1.0)
}

struct ConsensusSearch<'a> {
    ends: &'a ObservedEnds,
    recorded: &'a [f64],
    /// The ticks that a clock may gain over the run, as a standard deviation.
    rise: f64,
    /// The clock that stands for all that are connected, by clock.
    anchors: Vec<usize>,
    reference: ClockId,
    lines: Vec<RunLine>,
    /// The number of clocks of each set.
    clocks_of: Vec<usize>,
    /// The middle of the ends of each operation,
    middles: Vec<f64>,
    /// by end how far it is off the others of its operation,
    off: Vec<f64>,
    /// by set of clocks,
    spreads: Vec<f64>,
    /// of all.
    spread: f64,
}

impl ConsensusSearch<'_> {
    /// Finds the middles of all operations, how far ends are off, and their spread.
    fn look(&mut self) {
        for (number, operation) in self.ends.operations.iter().enumerate() {
            let middle = self.middle(operation);
            self.middles[number] = middle;
            let own = self.ends.of(operation);
            // The middle is nearer to an end than the other ends are, which it is one of.
            let others = own.len() as f64 / (own.len() as f64 - 1.0);
            for (at, end) in ObservedEnds::places(operation).zip(own) {
                let shown = end.at + self.lines[end.clock.as_usize()].at(end.share);
                self.off[at] = others * (shown - middle);
            }
        }
        let mut by_set = vec![Vec::new(); self.ends.sets];
        for operation in &self.ends.operations {
            let own = &self.off[ObservedEnds::places(operation)];
            by_set[operation.of].extend(own.iter().map(|it| it.abs()));
        }
        let mut all: Vec<f64> = self.off.iter().map(|it| it.abs()).collect();
        self.spread = spread(&mut all, OF_LINE * self.lines.len());
        let of_set = |(mut off, &clocks): (Vec<f64>, &usize)| {
            if off.len() < FEWEST {
                self.spread
            } else {
                spread(&mut off, OF_LINE * clocks)
            }
        };
        self.spreads = by_set
            .into_iter()
            .zip(&self.clocks_of)
            .map(of_set)
            .collect();
    }

    /// The time at which an operation ended, by all clocks: a step from the median to where Huber's function
    /// of what they are off by is the least.
    fn middle(&self, operation: &Observed) -> f64 {
        let own = self.ends.of(operation);
        let shown = |end: &OperationEnd| end.at + self.lines[end.clock.as_usize()].at(end.share);
        let mut all: Vec<f64> = own.iter().map(shown).collect();
        let Some(middle) = median(&mut all) else {
            return 0.0;
        };
        let spread = self.spreads[operation.of];
        let (mut sum, mut weights) = (0.0, 0.0);
        for shown in all {
            let weight = weight(shown - middle, spread);
            sum += weight * (shown - middle);
            weights += weight;
        }
        middle + sum / weights
    }

    /// The line of each clock for which its ends are nearest to the middles.
    fn fit(&mut self) {
        let mut sums = vec![LineSums::default(); self.lines.len()];
        for (operation, middle) in self.ends.operations.iter().zip(&self.middles) {
            let spread = self.spreads[operation.of];
            for (at, end) in ObservedEnds::places(operation).zip(self.ends.of(operation)) {
                let weight = weight(self.off[at], spread) / (spread * spread);
                sums[end.clock.as_usize()].add(weight, end.share, middle - end.at);
            }
        }
        let prior = 1.0 / (self.rise * self.rise);
        let fitted = sums.iter().zip(self.recorded).zip(&self.lines);
        let lines: Vec<RunLine> = fitted
            .map(|((sums, &rise), &line)| sums.line(prior, rise).unwrap_or(line))
            .collect();
        self.lines = self.without_common(&lines);
    }

    /// Lines without what the clocks of each anchor have in common.
    fn without_common(&self, lines: &[RunLine]) -> Vec<RunLine> {
        let common = self.common(lines);
        let anchors = self.anchors.iter().zip(lines);
        anchors
            .map(|(&anchor, &line)| line - common[anchor])
            .collect()
    }

    /// The line that the clocks of each anchor have in common: that of the reference, or the mean.
    fn common(&self, lines: &[RunLine]) -> Vec<RunLine> {
        let mut sums = vec![(RunLine::default(), 0.0); lines.len()];
        for (clock, (&line, &anchor)) in lines.iter().zip(&self.anchors).enumerate() {
            let reference = self.reference.as_usize();
            if anchor != reference || clock == reference {
                sums[anchor].0 = sums[anchor].0 + line;
                sums[anchor].1 += 1.0;
            }
        }
        sums.into_iter()
            .map(|(sum, count): (RunLine, f64)| sum * (1.0 / count.max(1.0)))
            .collect()
    }
}

/// Weighted sums over the ends of a clock, of which a line is fitted.
#[derive(Clone, Copy, Default)]
struct LineSums {
    weights: f64,
    x: f64,
    y: f64,
    xx: f64,
    xy: f64,
}

impl LineSums {
    fn add(&mut self, weight: f64, x: f64, y: f64) {
        self.weights += weight;
        self.x += weight * x;
        self.y += weight * y;
        self.xx += weight * x * x;
        self.xy += weight * x * y;
    }

    /// The line of least squares that rises by about `rise`, a `prior` in terms of weights;
    /// `None` without anything to fit.
    fn line(&self, prior: f64, rise: f64) -> Option<RunLine> {
        if self.weights <= 0.0 {
            return None;
        }
        let (x, y) = (self.x / self.weights, self.y / self.weights);
        let (xx, xy) = (
            self.xx - self.weights * x * x,
            self.xy - self.weights * x * y,
        );
        let rises = (xy + prior * rise) / (xx + prior);
        let first = y - rises * x;
        Some(RunLine {
            first,
            last: first + rises,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LENGTH: f64 = 1e9;

    /// Operations a tenth of the run apart, each seen to end by clocks as late as listed.
    fn operations(late: &[&[(u32, f64)]]) -> ObservedEnds {
        let ends = late.iter().enumerate().map(|(number, late)| {
            let share = number as f64 / 10.0;
            let end = |&(clock, late): &(u32, f64)| OperationEnd {
                clock: ClockId(clock),
                at: (share - 0.5) * LENGTH + late,
                share,
            };
            late.iter().map(end).collect()
        });
        ObservedEnds::new(ends)
    }

    fn found(late: &[&[(u32, f64)]], clocks: usize) -> Option<Consensus> {
        let rises = vec![0.0; clocks];
        consensus(&operations(late), &rises, LENGTH, ClockId(0), &()).unwrap()
    }

    #[test]
    fn one_end_that_is_late_hardly_counts() {
        let usual: &[(u32, f64)] = &[(0, 0.0), (1, 47.0)];
        let late: &[(u32, f64)] = &[(0, 0.0), (1, 600.0)];
        let all = [usual, usual, late, usual, usual, usual, usual, usual, usual];
        let found = found(&all, 2).unwrap();
        let [Some(first), Some(second)] = found.told[..] else {
            panic!("{found:?}");
        };
        assert!(first.line.largest() < 1e-9, "the reference keeps its time");
        let off = |at: f64| (second.line.at(at) + 47.0).abs();
        assert!(off(0.0) < 3.0 && off(1.0) < 3.0, "{second:?}");
        assert!(found.spread < 3.0 && second.ends == 9);
    }

    /// Two pairs of clocks, each with operations of its own, and a few of all four.
    #[test]
    fn a_few_operations_bring_pairs_together_that_have_many_of_their_own() {
        let noise = |at: u32, clock: u32| f64::from((at * 5 + clock * 7) % 13);
        let late: Vec<Vec<(u32, f64)>> = (0..42)
            .map(|at| {
                let later = |clock: u32| if clock < 2 { 0.0 } else { 750_000.0 };
                let end = |clock: u32| (clock, later(clock) + noise(at, clock));
                match at % 7 {
                    0 => (0..4).map(end).collect(),
                    1 | 3 | 5 => [0, 1].map(end).to_vec(),
                    _ => [2, 3].map(end).to_vec(),
                }
            })
            .collect();
        let late: Vec<&[(u32, f64)]> = late.iter().map(Vec::as_slice).collect();
        let found = found(&late, 4).unwrap();
        for clock in [2, 3] {
            let told = found.told[clock].unwrap();
            let off = |at: f64| (told.line.at(at) + 750_000.0).abs();
            assert!(off(0.0) < 20.0 && off(1.0) < 20.0, "{told:?}");
            assert!(told.spread < 20.0, "{told:?}");
        }
    }

    #[test]
    fn a_rate_shows() {
        let late: Vec<Vec<(u32, f64)>> = (0..10)
            .map(|at| vec![(0, 0.0), (1, 100.0 * f64::from(at))])
            .collect();
        let late: Vec<&[(u32, f64)]> = late.iter().map(Vec::as_slice).collect();
        let line = found(&late, 2).unwrap().told[1].unwrap().line;
        assert!(
            line.first.abs() < 1.0 && (line.last + 1_000.0).abs() < 2.0,
            "{line:?}"
        );
    }

    #[test]
    fn ends_of_a_clock_that_was_set_hang_together() {
        let together = |off: &dyn Fn(u32) -> f64| {
            // The last operation comes first.
            let all = (0..20).rev().map(|at| (f64::from(at), off(at)));
            hang_together(&all.collect::<Vec<_>>())
        };
        let noise = |at: u32| f64::from(at * 5 % 13);
        assert!(together(&|at| noise(at) + if at < 10 { 0.0 } else { 1e6 }));
        assert!(!together(&noise));
        assert!(!together(&|at| 47.0 + 1e-9 * f64::from(at)));
        assert!(!hang_together(&[]));
    }

    /// The second of three clocks shows 9000 more from the middle on.
    #[test]
    fn the_clock_that_was_set_jumps_and_the_others_less() {
        let late: Vec<Vec<(u32, f64)>> = (0..40_u32)
            .map(|at| {
                let noise = |clock: u32| f64::from((at * 5 + clock * 7) % 13);
                let set = if at < 20 { 0.0 } else { 9_000.0 };
                vec![(0, noise(0)), (1, noise(1) + set), (2, noise(2))]
            })
            .collect();
        let late: Vec<&[(u32, f64)]> = late.iter().map(Vec::as_slice).collect();
        let found = found(&late, 3).unwrap();
        let jump = |clock: usize| found.told[clock].unwrap().jump;
        let by = jump(1).map_or(0.0, |it| it.by);
        // Each end is compared with the others, of which some give way.
        assert!((by - 9_000.0).abs() < 1_500.0, "{found:?}");
        for other in [0, 2] {
            let by = jump(other).map_or(0.0, |it| it.by);
            assert!(by.abs() < 4_600.0, "{found:?}");
        }
    }

    #[test]
    fn three_ends_tell_nothing() {
        let both: &[(u32, f64)] = &[(0, 0.0), (1, 47.0)];
        assert!(found(&[both; 3], 2).is_none());
        assert!(found(&[both; 4], 2).is_some());
        // Nothing at all is told of a clock that takes part in none.
        assert!(found(&[both; 4], 3).unwrap().told[2].is_none());
    }

    #[test]
    fn clocks_are_named_by_those_that_operations_connect_them_to() {
        let a: &[(u32, f64)] = &[(1, 0.0), (2, 0.0)];
        let b: &[(u32, f64)] = &[(0, 0.0), (3, 0.0)];
        let ends = operations(&[a, b, a]);
        assert_eq!(anchors(&ends, 5, ClockId(3)), [3, 1, 1, 3, 4]);
    }
}
