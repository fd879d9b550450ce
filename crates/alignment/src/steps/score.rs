//! Where a step of a clock would explain the most of what messages leave unexplained: a score test.
//!
//! A clock that is set to the middle of a run and followed by one line is ahead of it before and
//! behind it afterwards, or the other way round, and the messages pull at it accordingly. If a clock
//! `c` were set at `t` by a little, the [cost](crate::barrier) of all tight messages would
//! change by
//!
//! ```text
//! U = sum over its dependencies  g (s - line of s),    s = 1 after t, 0 before
//! V = sum over its dependencies  h (s - line of s)^2
//! ```
//!
//! with slope `g` and curvature `h` of a dependency's cost in the offset of `c`. The line is that
//! which fits `s` best in the sense of `h`: what an offset and a drift of the clock can do as well is
//! no step. A step makes the cost less by about `U^2 / 2V`, and it is the most likely where that is
//! the most.
//!
//! Neither needs messages both ways between a pair of clocks, nor contradictions: sums over many
//! messages show what none of them does alone.
//!
//! Source: C. R. Rao, *Large sample tests of statistical hypotheses concerning several parameters with
//! applications to problems of estimation* (1948); for breaks of a regression, R. L. Brown, J. Durbin
//! and J. M. Evans, *Techniques for Testing the Constancy of Regression Relationships over Time*
//! (1975).

use std::ops::AddAssign;

use super::firmness::{AlignedEdge, tightest};
use super::latencies::LongestLatencies;
use crate::Alignment;
use crate::barrier::Barrier;
use crate::line::Line;
use crate::options::OPTIONS;
use retime_causality::edges::Edges;
use retime_clocks::estimate::{Estimate, Offset};
use retime_model::ClockId;

/// So many points of an offset tell the line through it.
const SAMPLES: i64 = 32;
/// A step may be wherever it explains this share of what it does at the best place.
const NEARLY: f64 = 0.9;
/// Clocks whose steps would explain less than this share of what another's does are not tried.
const WORTH: f64 = 0.25;

/// A place where a clock may have been set.
pub(super) struct Suspect {
    pub(super) clock: ClockId,
    /// The stamps between which it was.
    pub(super) cut: (i64, i64),
    /// The amount by which the cost would be less.
    pub(super) gain: f64,
}

/// The places where steps would explain the most besides those that are known, at most one of
/// each clock, the best first. Clocks that wander, and so follow steps, are taken for the lines that
/// most of each curve is near.
pub(super) fn suspects(known: &Alignment, wanders: bool, edges: &Edges) -> Vec<Suspect> {
    let mut pulls = if wanders {
        pulls(
            &LongestLatencies::new(&lines(known, edges), &known.steps),
            edges,
        )
    } else {
        pulls(&LongestLatencies::new(&known.estimate, &known.steps), edges)
    };
    let found = (0..).map(ClockId).zip(&mut pulls);
    let found = found.filter_map(|(clock, pulls)| {
        pulls.sort_unstable_by(|a, b| a.stamp.cmp(&b.stamp).then(a.slope.total_cmp(&b.slope)));
        let steps = known.steps.iter().filter(|it| it.clock == clock);
        let mut parts: Vec<&[Pull]> = Vec::new();
        let mut rest: &[Pull] = pulls;
        for step in steps {
            let (before, after) = rest.split_at(rest.partition_point(|it| it.stamp <= step.after));
            parts.push(before);
            rest = &after[after.partition_point(|it| it.stamp < step.until)..];
        }
        parts.push(rest);
        let best = parts.into_iter().filter_map(best_place);
        let (gain, cut) = best.max_by(|a, b| a.0.total_cmp(&b.0))?;
        Some(Suspect { clock, cut, gain })
    });
    let mut found: Vec<Suspect> = found.collect();
    found.sort_by(|a, b| b.gain.total_cmp(&a.gain));
    let least = found.first().map_or(0.0, |it| WORTH * it.gain);
    found.retain(|it| it.gain > 0.0 && it.gain >= least);
    found
}

/// The pull of a tight dependency at a clock.
#[derive(Clone, Copy)]
struct Pull {
    stamp: i64,
    /// First and second derivative of its cost in the offset of the clock.
    slope: f64,
    bend: f64,
}

/// Sums over pulls, with times `t` on some scale: `U` is made of those of `g`, `V` of those of `h`.
#[derive(Clone, Copy, Default)]
struct Sums {
    /// Slopes, and slopes times `t`,
    g: [f64; 2],
    /// bends times 1, `t` and `t^2`.
    h: [f64; 3],
}

impl AddAssign for Sums {
    fn add_assign(&mut self, other: Self) {
        for (sum, it) in self.g.iter_mut().zip(other.g) {
            *sum += it;
        }
        for (sum, it) in self.h.iter_mut().zip(other.h) {
            *sum += it;
        }
    }
}

impl Sums {
    fn of(pull: &Pull, t: f64) -> Self {
        Self {
            g: [pull.slope, pull.slope * t],
            h: [pull.bend, pull.bend * t, pull.bend * t * t],
        }
    }

    /// The amount by which all costs together would be less if those that these sums are of were
    /// shifted, and all by a line.
    fn gain(&self, all: &Self) -> f64 {
        // The line that is nearest to s: normal equations with the sums of h.
        let [one, t, square] = all.h;
        let determinant = one * square - t * t;
        if determinant <= 0.0 {
            return 0.0;
        }
        let intercept = (self.h[0] * square - self.h[1] * t) / determinant;
        let drift = (self.h[1] * one - self.h[0] * t) / determinant;
        let score = self.g[0] - intercept * all.g[0] - drift * all.g[1];
        // The line is orthogonal to what is left of s, and s^2 = s.
        let information = self.h[0] - intercept * self.h[0] - drift * self.h[1];
        // Next to nothing is left of a step at an end of the run.
        if information > f64::EPSILON.sqrt() * self.h[0] {
            score * score / (2.0 * information)
        } else {
            0.0
        }
    }
}

/// The place in a stretch of a clock where a step gains the most, as by how much and between which
/// stamps; with enough dependencies on either side to tell.
fn best_place(pulls: &[Pull]) -> Option<(f64, (i64, i64))> {
    let (first, last) = (pulls.first()?.stamp, pulls.last()?.stamp);
    let length = last.checked_sub(first).filter(|it| *it > 0)? as f64;
    let sums = |pull: &Pull| Sums::of(pull, pull.stamp.saturating_sub(first) as f64 / length);
    let mut all = Sums::default();
    for pull in pulls {
        all += sums(pull);
    }
    let mut before = Sums::default();
    let mut gains = Vec::with_capacity(pulls.len());
    for (at, pull) in pulls.iter().enumerate() {
        before += sums(pull);
        let next = pulls.get(at + 1);
        let is_between = next.is_some_and(|next| next.stamp > pull.stamp);
        let is_enough = (at + 1).min(pulls.len() - at - 1) >= OPTIONS.fewest;
        gains.push(if is_between && is_enough {
            before.gain(&all)
        } else {
            0.0
        });
    }
    let best = (0..gains.len()).max_by(|&a, &b| gains[a].total_cmp(&gains[b]))?;
    let nearly = NEARLY * gains[best];
    // Places with several dependencies of one stamp gain nothing and do not end the stretch.
    let is_near = |&&at: &&usize| gains[at] >= nearly || gains[at] <= 0.0;
    let places: Vec<usize> = (0..gains.len()).collect();
    let start = places[..best]
        .iter()
        .rev()
        .take_while(is_near)
        .filter(|it| gains[**it] > 0.0);
    let start = start.last().copied().unwrap_or(best);
    let end = places[best..]
        .iter()
        .take_while(is_near)
        .filter(|it| gains[**it] > 0.0);
    let end = end.last().copied().unwrap_or(best);
    let until = pulls.get(end + 1)?.stamp;
    (gains[best] > 0.0).then(|| (gains[best], (pulls[start].stamp, until)))
}

/// Per clock: how the tightest dependencies of each pair and window pull at it.
fn pulls(latencies: &LongestLatencies<'_>, edges: &Edges) -> Vec<Vec<Pull>> {
    let links = tightest(latencies, edges);
    let least = |link: &Vec<AlignedEdge>| {
        let latencies = link.iter().map(|it| it.latency);
        latencies.fold(f64::INFINITY, f64::min)
    };
    let mut slacks: Vec<f64> = links.iter().map(least).collect();
    let mut pulls = vec![Vec::new(); edges.clocks()];
    if slacks.is_empty() {
        return pulls;
    }
    slacks.sort_unstable_by(f64::total_cmp);
    // As in the centre: the lower quartile of all is the scale, and what contradicts pulls with
    // bounded force.
    let fastest = slacks[0].max(0.0) * OPTIONS.delay;
    let scale = (slacks[slacks.len() / 4] - fastest)
        .max(OPTIONS.blunt * -slacks[0])
        .max(1.0);
    let barrier = Barrier::new(scale, (OPTIONS.knee * scale).max(1.0));
    for AlignedEdge { edge, latency } in links.into_iter().flatten() {
        let slack = latency - fastest;
        let (_, slope, _) = barrier.at(slack);
        let bend = barrier.touching(slack);
        for (clock, stamp, sign) in [(edge.to, edge.received, 1.0), (edge.from, edge.sent, -1.0)] {
            if let Some(own) = pulls.get_mut(clock.as_usize()) {
                let slope = sign * slope;
                own.push(Pull { stamp, slope, bend });
            }
        }
    }
    pulls
}

/// Clocks as lines, from one known step to the next.
fn lines(known: &Alignment, edges: &Edges) -> Estimate {
    let of = |(clock, offset): (ClockId, &Option<Offset>)| {
        let offset = offset.as_ref()?;
        let (first, last) = edges.extent(clock)?;
        let steps = known.steps.iter().filter(|it| it.clock == clock);
        let mut knots = Vec::new();
        let mut start = first;
        for (end, next) in steps.map(|it| (it.after, it.until)).chain([(last, last)]) {
            let step = (end.saturating_sub(start) / SAMPLES).max(1);
            let stamps = (0..=SAMPLES).map(|at| start.saturating_add(at * step).min(end));
            let points: Vec<(f64, f64)> = stamps
                .map(|it| (it.saturating_sub(start) as f64, offset.at(it)))
                .collect();
            if let Some(line) = Line::theil_sen(&points) {
                knots.push((start, line.at(0.0)));
                knots.push((end, line.at(end.saturating_sub(start) as f64)));
            }
            start = next;
        }
        Some(Offset::through(knots).with_steps(offset.steps()))
    };
    let offsets = (0..).map(ClockId).zip(&known.estimate.offsets).map(of);
    Estimate {
        offsets: offsets.collect(),
        reference: known.estimate.reference,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Relation;
    use crate::steps::tests::exchange;

    /// Four pulls at 0, 1/3, 2/3 and 1, all as stiff, the first two before the step: 1, 1, 0, 0 is
    /// nearest to the line 1.1, 0.7, 0.3, -0.1, so that -0.1, 0.3, -0.3, 0.1 are left of it.
    #[test]
    fn a_line_is_no_step() {
        let pulls = |slopes: [f64; 4]| {
            let pull = |(at, slope): (i64, f64)| Pull {
                stamp: at,
                slope,
                bend: 1.0,
            };
            (0..).zip(slopes).map(pull).collect::<Vec<_>>()
        };
        let gain = |slopes: [f64; 4]| {
            let (mut all, mut before) = (Sums::default(), Sums::default());
            for (at, pull) in pulls(slopes).iter().enumerate() {
                let sums = Sums::of(pull, at as f64 / 3.0);
                all += sums;
                if at < 2 {
                    before += sums;
                }
            }
            before.gain(&all)
        };
        assert!(gain([1.0, 1.0, 1.0, 1.0]).abs() < 1e-12, "a shift");
        assert!(gain([-3.0, -1.0, 1.0, 3.0]).abs() < 1e-12, "a drift");
        // With u = v this gains v / 2.
        let left = [-0.1, 0.3, -0.3, 0.1];
        let v: f64 = left.iter().map(|it| it * it).sum();
        assert!((gain(left) - v / 2.0).abs() < 1e-12);
    }

    #[test]
    fn the_clock_that_was_set_is_suspected_first() {
        let edges = exchange(2_000);
        // All are taken for constants that are right before the step.
        let offset = |ticks: f64| Some(Offset::constant(ticks));
        let known = Alignment {
            relations: vec![Relation::BothWays; 3],
            ..Alignment::of_offsets(vec![offset(0.0), offset(0.0), offset(7_000.0 - 25_000.0)])
        };
        let found = suspects(&known, false, &edges);
        let best = found.first().unwrap();
        assert_eq!(best.clock, ClockId(2));
        let (after, until) = best.cut;
        assert!(after < 1_050_000 && until > 990_000, "{:?}", best.cut);
        assert!(until - after < 100_000, "{:?}", best.cut);
    }
}
