//! The analytic centre of all clocks the dependencies allow.
//!
//! Every dependency leaves a *slack*: its latency between aligned clocks, less
//! the minimal delay. Any alignment with no negative slack is possible; the one
//! farthest from all bounds is the best guess, for both directions of a pair are
//! equally likely to be the fast one. So of all piecewise linear offsets `z_p`
//! with knots `h` apart the one is taken that minimises
//!
//! ```text
//!   sum over dependencies  w_l phi(slack)
//! + 1/2 sum over knots     ((z_{k-1} - 2 z_k + z_{k+1}) / (h sigma))^2     rates change little
//! + 1/2 sum over pieces    w_p ((z_{k+1} - z_k) / (h rho))^2 / (K + 1)     rates differ little
//! + 1/2 sum over pieces    (max(0, |z_{k+1} - z_k| / h - R) / beta)^2       nor beyond all measure
//! + 1/2 sum over knots     q (z - recorded_p)^2 / (K + 1)                  hardly off for nothing
//! + 1/2 sum over knots     (pull_p z)^2                                    about zero
//! ```
//!
//! with `phi` the [barrier](super::barrier), `w_l` the [weight](super::weights) of the
//! link, `sigma` as the
//! [division](super::division) has it, `q` and `recorded` [as far as recorded times are to be
//! trusted](super::recorded), `rho = 1e-5`, and `w_p` less than 1 for
//! clocks whose rates differ by more than that, as in Huber's function; `R = 600 ppm`,
//! `beta = 1 ppm`: beyond what two clocks differ by even if one is slewed, dependencies that are loose prove
//! nothing, however many there are, but contradictions still do. It is
//! convex, and strictly so by the last term. Messages say nothing of the common
//! time of all clocks, so one clock is held fast (`pull = 1e4 / S`), all others
//! hardly (`1e-3 / S`). Where offsets are still far from possible it would else pay
//! to stretch the time of all, for then all messages take longer.
//!
//! The minimum is found by Newton's method with line search. As the function is
//! convex, each step goes downhill; it is halved until the value falls by at least a
//! ten-thousandth of what the slope promises (Armijo). Near the minimum the number
//! of exact digits doubles with each step. Source: S. Boyd and L. Vandenberghe,
//! *Convex Optimization* (2004), sections 8.5 (analytic centres) and 9.5 (Newton's
//! method).

use rayon::prelude::*;

use super::barrier::Barrier;
use super::curves::Curves;
use super::frame::Frame;
use super::links::Links;
use super::options::OPTIONS;
use super::solver::{Pattern, Solver};
use retime_model::{Cancelled, Monitor};

/// Groups that a thread takes at a time.
const TASK: usize = 32;

/// Steps of Newton's method; ten are usual.
const MOST_STEPS: usize = 60;
/// Halvings of a step: what is left then is less than rounding.
const MOST_HALVINGS: usize = 40;
/// The share of what the slope promises that a step has to gain (Armijo's rule, with
/// the constant that is usual).
const PROMISED: f64 = 1e-4;
/// Digits of the value that mean something.
const ROUNDING: f64 = 1e-13;
/// A step this small is taken even where the value cannot tell whether it gains, in
/// scales of the barrier.
const SMALL: f64 = 1e-2;

/// A dependency between two segments.
#[derive(Clone, Copy)]
struct Term {
    /// Latency less minimal delay before the curves are added.
    rest: f64,
    /// How far the ends lie behind the knots before them, from 0 to 1.
    sent: f64,
    received: f64,
}

/// What dependencies cost.
#[derive(Clone, Copy)]
pub(super) struct Cost<'a> {
    /// What counts for no slack: the minimal delay.
    pub(super) least: f64,
    /// What little slack costs.
    pub(super) barrier: Barrier,
    /// And how much of that counts, by link.
    pub(super) weights: &'a [f64],
    /// How many tight dependencies a link has.
    pub(super) tight: usize,
}

/// Dependencies between the same two segments; they touch the same unknowns.
struct Group {
    /// Of the sender before and after, of the receiver before and after.
    unknowns: [u32; 4],
    first: usize,
    end: usize,
    weight: f64,
    /// Where the entries of the Hessian lie, lower half by columns.
    entries: [u32; 10],
}

/// The function to minimise.
pub(super) struct Centre {
    barrier: Barrier,
    terms: Vec<Term>,
    groups: Vec<Group>,
    /// The constant part of the Hessian, of the penalties.
    penalties: Vec<f64>,
    /// By piece and clock the entries of its ends.
    slants: Vec<[u32; 3]>,
    stiffness: Stiffness,
    solver: Option<Solver>,
}

/// Weights of the penalties.
struct Stiffness {
    bend: f64,
    /// By clock.
    slope: Vec<f64>,
    wall: Wall,
    /// By clock, how much its offset is pulled, and to where.
    pull: Vec<(f64, f64)>,
}

/// Where rates become implausible: beyond it they cost half the square of what they are
/// beyond it by.
#[derive(Clone, Copy)]
struct Wall {
    /// How much an offset may rise in a piece.
    rise: f64,
    weight: f64,
}

impl Wall {
    /// By how much an offset rises or falls more than that.
    fn beyond(self, rise: f64) -> f64 {
        rise - rise.clamp(-self.rise, self.rise)
    }
}

/// The pairs of a group's four unknowns, each once: a Hessian is symmetric, so that
/// its lower half says all.
const LOWER: [(usize, usize); 10] = [
    (0, 0),
    (0, 1),
    (0, 2),
    (0, 3),
    (1, 1),
    (1, 2),
    (1, 3),
    (2, 2),
    (2, 3),
    (3, 3),
];

impl Centre {
    /// Over these dependencies, given by link and in the order of the links, and
    /// these knots.
    pub(super) fn new(
        links: &Links,
        frame: &Frame,
        active: &[Vec<u32>],
        shape: &Curves,
        cost: Cost<'_>,
        sigma: f64,
    ) -> Self {
        let barrier = cost.barrier;
        let (terms, mut groups) = gather(links, frame, active, shape, cost);
        let width = shape.span / shape.pieces as f64;
        let square = |it: f64| 1.0 / (it * it);
        // Bends and slopes are differences of neighbouring knots over their distance, so
        // their squares are weighed by its square. Slopes count once per knot whatever
        // the division is; their sum is divided by the number of knots for that.
        let stiffness = Stiffness {
            bend: square(width * sigma),
            slope: slopes(
                shape,
                square(width * OPTIONS.rho) / (shape.pieces + 1) as f64,
            ),
            wall: Wall {
                rise: width * OPTIONS.proven,
                weight: square(width * OPTIONS.beyond),
            },
            pull: pulls(shape, frame, barrier.scale, cost.tight),
        };
        // Which entries are not zero depends on the division and on who depends on
        // whom, not on values: so it is found once, and each step fills it in.
        let pattern = Pattern::new(shape.values.len(), entries(shape, &groups));
        for group in &mut groups {
            for (entry, (a, b)) in group.entries.iter_mut().zip(LOWER) {
                let (a, b) = (group.unknowns[a] as usize, group.unknowns[b] as usize);
                *entry = pattern.position(a, b).unwrap_or(0) as u32;
            }
        }
        let slants = slants(shape, &pattern);
        // But for the wall, penalties are quadratic, and their share of the Hessian never
        // changes.
        let mut centre = Self {
            barrier,
            terms,
            groups,
            penalties: vec![0.0; pattern.len()],
            slants,
            stiffness,
            solver: Solver::new(&pattern),
        };
        centre.add_penalties(shape, &pattern);
        centre
    }

    fn add_penalties(&mut self, shape: &Curves, pattern: &Pattern) {
        let Stiffness {
            bend, slope, pull, ..
        } = &self.stiffness;
        let bend = *bend;
        let clocks = shape.clocks;
        let mut add = |a: usize, b: usize, value: f64| {
            if let Some(at) = pattern.position(a, b) {
                self.penalties[at] += value;
            }
        };
        for (clock, (&(pull, _), &slope)) in pull.iter().zip(slope).enumerate() {
            let at = |knot: usize| knot * clocks + clock;
            for knot in 0..=shape.pieces {
                add(at(knot), at(knot), pull);
            }
            // (b - a)^2 = a^2 + b^2 - 2 a b, half of it in the function: 1, 1 and -1.
            for knot in 0..shape.pieces {
                add(at(knot), at(knot), slope);
                add(at(knot + 1), at(knot + 1), slope);
                add(at(knot), at(knot + 1), -slope);
            }
            // The second derivative of half the square of a weighted sum is the product
            // of the weights; each pair is added once, as only the lower half is kept.
            for knot in 1..shape.pieces {
                let stencil = [(knot - 1, 1.0), (knot, -2.0), (knot + 1, 1.0)];
                for (place, &(a, x)) in stencil.iter().enumerate() {
                    for &(b, y) in &stencil[place..] {
                        add(at(a), at(b), bend * x * y);
                    }
                }
            }
        }
    }

    /// The scale of slacks.
    pub(super) fn scale(&self) -> f64 {
        self.barrier.scale
    }

    /// The value of the function.
    pub(super) fn value(&self, curves: &Curves) -> f64 {
        let of = |group: &Group| {
            let z = group.unknowns.map(|it| curves.values[it as usize]);
            let terms = self.terms[group.first..group.end].iter();
            let costs = terms.map(|term| self.barrier.at(term.slack(&z)).0);
            group.weight * costs.sum::<f64>()
        };
        // Collected first, so that the order of the sum does not depend on threads.
        let values: Vec<f64> = self.groups.par_iter().with_min_len(TASK).map(of).collect();
        values.iter().sum::<f64>() + self.penalty(curves)
    }

    fn penalty(&self, curves: &Curves) -> f64 {
        let Stiffness {
            bend,
            slope,
            pull,
            wall,
        } = &self.stiffness;
        let (z, clocks) = (&curves.values, curves.clocks);
        let mut sum = 0.0;
        for at in 0..z.len() {
            let (pull, to) = pull[at % clocks];
            sum += pull * (z[at] - to) * (z[at] - to);
            if let Some(after) = z.get(at + clocks) {
                sum += slope[at % clocks] * (after - z[at]) * (after - z[at]);
                sum += wall.weight * wall.beyond(after - z[at]).powi(2);
                if let Some(last) = z.get(at + 2 * clocks) {
                    let turn = z[at] - 2.0 * after + last;
                    sum += bend * turn * turn;
                }
            }
        }
        0.5 * sum
    }

    /// Gradient and Hessian.
    pub(super) fn derivatives(&self, curves: &Curves) -> (Vec<f64>, Vec<f64>) {
        let mut gradient = self.penalty_gradient(curves);
        let mut hessian = self.penalties.clone();
        let of = |group: &Group| {
            let z = group.unknowns.map(|it| curves.values[it as usize]);
            let mut slopes = [0.0; 4];
            let mut bends = [0.0; 10];
            for term in &self.terms[group.first..group.end] {
                // The slack is linear in the unknowns, with these weights. So by the
                // chain rule each first derivative is the slope times a weight, and
                // each second one the curvature times two weights.
                let (_, slope, bend) = self.barrier.at(term.slack(&z));
                let weights = term.weights();
                for (sum, weight) in slopes.iter_mut().zip(weights) {
                    *sum += slope * weight;
                }
                for (sum, (a, b)) in bends.iter_mut().zip(LOWER) {
                    *sum += bend * weights[a] * weights[b];
                }
            }
            (
                slopes.map(|it| group.weight * it),
                bends.map(|it| group.weight * it),
            )
        };
        let sums: Vec<([f64; 4], [f64; 10])> =
            self.groups.par_iter().with_min_len(TASK).map(of).collect();
        let Curves { clocks, values, .. } = curves;
        let wall = self.stiffness.wall;
        for (at, &[before, after, both]) in self.slants.iter().enumerate() {
            if wall.beyond(values[at + clocks] - values[at]) != 0.0 {
                hessian[before as usize] += wall.weight;
                hessian[after as usize] += wall.weight;
                hessian[both as usize] -= wall.weight;
            }
        }
        // Groups share unknowns, so they are added one after the other.
        for (group, (slopes, bends)) in self.groups.iter().zip(sums) {
            for (at, slope) in group.unknowns.iter().zip(slopes) {
                gradient[*at as usize] += slope;
            }
            for (at, bend) in group.entries.iter().zip(bends) {
                hessian[*at as usize] += bend;
            }
        }
        (gradient, hessian)
    }

    fn penalty_gradient(&self, curves: &Curves) -> Vec<f64> {
        let Stiffness {
            bend,
            slope,
            pull,
            wall,
        } = &self.stiffness;
        let (z, clocks) = (&curves.values, curves.clocks);
        let pulled = z.iter().zip(pull.iter().cycle());
        let mut gradient: Vec<f64> = pulled.map(|(it, (pull, to))| pull * (it - to)).collect();
        for at in 0..z.len() {
            let Some(after) = z.get(at + clocks) else {
                break;
            };
            let rise =
                slope[at % clocks] * (after - z[at]) + wall.weight * wall.beyond(after - z[at]);
            gradient[at] -= rise;
            gradient[at + clocks] += rise;
            if let Some(last) = z.get(at + 2 * clocks) {
                let turn = bend * (z[at] - 2.0 * after + last);
                gradient[at] += turn;
                gradient[at + clocks] -= 2.0 * turn;
                gradient[at + 2 * clocks] += turn;
            }
        }
        gradient
    }

    /// The step of Newton's method: to where the function would be the least if it were the
    /// parabola that it looks like here, `Hessian * step = -gradient`. `None` where the
    /// system cannot be solved.
    pub(super) fn step(&self, gradient: &[f64], hessian: &[f64]) -> Option<Vec<f64>> {
        let downhill: Vec<f64> = gradient.iter().map(|it| -it).collect();
        self.solver.as_ref()?.solve(hessian, &downhill)
    }
}

impl Term {
    /// How the slack grows with the four unknowns: the receiver's offset adds to it,
    /// the sender's takes from it, each in the shares of the knots around it.
    #[inline]
    fn weights(&self) -> [f64; 4] {
        [
            self.sent - 1.0,
            -self.sent,
            1.0 - self.received,
            self.received,
        ]
    }

    /// The slack at these offsets.
    #[inline]
    fn slack(&self, z: &[f64; 4]) -> f64 {
        let sender = z[0] + (z[1] - z[0]) * self.sent;
        let receiver = z[2] + (z[3] - z[2]) * self.received;
        self.rest + receiver - sender
    }
}

/// How much each clock is pulled, and to where. Most are pulled to what was
/// [recorded](super::recorded), and hardly to zero, in terms of the scale of slacks, so that
/// the result does not depend on the tick; pinned ones to zero alone.
fn pulls(shape: &Curves, frame: &Frame, scale: f64, tight: usize) -> Vec<(f64, f64)> {
    let weight = |pull: f64| (pull / scale) * (pull / scale);
    let recorded = frame.recorded.weight(tight, scale) / (shape.pieces + 1) as f64;
    let (hold, pull) = (weight(OPTIONS.hold), weight(OPTIONS.pull) + recorded);
    // Two parabolas are one about the mean of their middles.
    let middle = |clock: usize| recorded / pull * frame.recorded.curve(clock);
    let mut pulls: Vec<(f64, f64)> = (0..shape.clocks).map(|it| (pull, middle(it))).collect();
    for &clock in &frame.pinned {
        if let Some(it) = pulls.get_mut(clock) {
            *it = (hold, 0.0);
        }
    }
    pulls
}

/// By piece and clock the entries of the Hessian that belong to both its ends.
fn slants(shape: &Curves, pattern: &Pattern) -> Vec<[u32; 3]> {
    let entry = |a: usize, b: usize| pattern.position(a, b).unwrap_or(0) as u32;
    let of = |at: usize| {
        let after = at + shape.clocks;
        [entry(at, at), entry(after, after), entry(at, after)]
    };
    (0..shape.pieces * shape.clocks).map(of).collect()
}

/// The weight of each clock's slopes: less for a clock whose rate is beyond what is usual,
/// so that it is drawn by no more than one at the edge of that. By the rates of the curves so
/// far: the curves that minimise the function, found again and again, are those with
/// Huber's function of the rate in the place of its square.
fn slopes(curves: &Curves, usual: f64) -> Vec<f64> {
    let rate = |clock: usize| {
        let last = curves.values[curves.pieces * curves.clocks + clock];
        ((last - curves.values[clock]) / curves.span).abs()
    };
    let weight = |clock: usize| usual * (OPTIONS.rho / rate(clock).max(OPTIONS.rho));
    (0..curves.clocks).map(weight).collect()
}

/// Terms, sorted by the segments they touch. Those of one link between the same two
/// pieces share their four unknowns, so that their derivatives can be summed before
/// they are put into the large system.
fn gather(
    links: &Links,
    frame: &Frame,
    active: &[Vec<u32>],
    shape: &Curves,
    cost: Cost<'_>,
) -> (Vec<Term>, Vec<Group>) {
    let mut terms = Vec::with_capacity(active.iter().map(Vec::len).sum());
    let mut groups: Vec<Group> = Vec::new();
    let mut sorted: Vec<(usize, usize, Term)> = Vec::new();
    let weighted = links.list().iter().zip(cost.weights);
    for ((link, &weight), active) in weighted.zip(active) {
        sorted.clear();
        sorted.extend(active.iter().map(|&at| {
            let seen = frame.see(link, links.point(at));
            let (before, sent) = shape.place(seen.sent);
            let (then, received) = shape.place(seen.received);
            let rest = seen.latency - cost.least;
            let term = Term {
                rest,
                sent,
                received,
            };
            (before, then, term)
        }));
        sorted.sort_by_key(|&(before, then, _)| (before, then));
        for same in sorted.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
            let first = terms.len();
            terms.extend(same.iter().map(|&(_, _, term)| term));
            let at = |knot: usize, clock: usize| (knot * shape.clocks + clock) as u32;
            let (before, then, _) = same[0];
            groups.push(Group {
                unknowns: [
                    at(before, link.from),
                    at(before + 1, link.from),
                    at(then, link.to),
                    at(then + 1, link.to),
                ],
                first,
                end: terms.len(),
                weight,
                entries: [0; 10],
            });
        }
    }
    (terms, groups)
}

/// Entries of the Hessian besides its diagonal, with room for that: of each knot with
/// the two after it of the same clock, which the penalties join, and of the four
/// unknowns of each group among themselves.
fn entries(shape: &Curves, groups: &[Group]) -> Vec<(u32, u32)> {
    let (size, clocks) = (shape.values.len() as u32, shape.clocks as u32);
    let mut entries = Vec::with_capacity(3 * size as usize + LOWER.len() * groups.len());
    for at in 0..size {
        let others = [at + clocks, at + 2 * clocks];
        entries.extend(
            others
                .into_iter()
                .filter(|&it| it < size)
                .map(|it| (at, it)),
        );
    }
    for group in groups {
        entries.extend(LOWER.map(|(a, b)| {
            let (a, b) = (group.unknowns[a], group.unknowns[b]);
            (a.min(b), a.max(b))
        }));
    }
    entries
}

/// Goes on from `curves` to the minimum, until a step moves nothing by more than
/// `tolerance`; returns how many steps it took.
pub(super) fn minimise(
    centre: &Centre,
    curves: &mut Curves,
    tolerance: f64,
    monitor: &dyn Monitor,
) -> Result<usize, Cancelled> {
    let mut value = centre.value(curves);
    for taken in 0..MOST_STEPS {
        monitor.check()?;
        let (gradient, hessian) = centre.derivatives(curves);
        let Some(step) = centre.step(&gradient, &hessian) else {
            return Ok(taken);
        };
        let promised: f64 = gradient.iter().zip(&step).map(|(g, s)| g * s).sum();
        let largest = step.iter().fold(0.0_f64, |most, it| most.max(it.abs()));
        // What the slope promises is twice what a parabola gains: below the rounding of
        // the value no search can see it.
        if -promised <= ROUNDING * value.abs() {
            // What is left to gain is lost in rounding; a small step itself is not.
            if largest <= SMALL * centre.scale() {
                for (value, step) in curves.values.iter_mut().zip(&step) {
                    *value += step;
                }
            }
            return Ok(taken + 1);
        }
        let Some(reached) = search(centre, curves, &step, value, promised) else {
            return Ok(taken);
        };
        value = reached;
        if largest <= tolerance {
            return Ok(taken + 1);
        }
    }
    Ok(MOST_STEPS)
}

/// Moves along `step` as far as is good, and returns the value there.
fn search(
    centre: &Centre,
    curves: &mut Curves,
    step: &[f64],
    value: f64,
    promised: f64,
) -> Option<f64> {
    let start = curves.values.clone();
    let mut share = 1.0;
    for _ in 0..MOST_HALVINGS {
        let moved = start.iter().zip(step).map(|(z, s)| z + share * s);
        curves.values.clear();
        curves.values.extend(moved);
        let reached = centre.value(curves);
        if reached <= value + PROMISED * share * promised {
            return Some(reached);
        }
        share /= 2.0;
    }
    curves.values = start;
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edges::{Edge, Edges};
    use retime_model::ClockId;

    fn edges() -> Edges {
        let edge = |i: i64| {
            let (from, to) = ((i % 3) as u32, ((i + 1 + i / 3 % 2) % 3) as u32);
            let sent = 37 * i % 1_000;
            Edge::message(
                ClockId(from),
                sent,
                ClockId(to),
                sent + 20 + 7 * i % 90 - 30,
            )
        };
        Edges::new((0..200).map(edge).collect(), vec![Some((0, 1_200)); 3])
    }

    /// A centre over all dependencies, and a place to look at it.
    fn example() -> (Centre, Curves) {
        let edges = edges();
        let links = Links::of_list(&edges);
        let mut frame = Frame::new(&edges, vec![3, 0, -4], 0, &()).unwrap();
        frame.pinned.push(1);
        let mut curves = Curves::flat(3, 5, frame.span);
        for (at, value) in curves.values.iter_mut().enumerate() {
            // Some rates are beyond what is plausible, and some are not.
            *value = (at as f64 * 0.7).sin() * 0.06;
        }
        let active: Vec<Vec<u32>> = links
            .list()
            .iter()
            .map(|link| {
                (0..links.of(link).len() as u32)
                    .map(|at| Links::first(link) + at)
                    .collect()
            })
            .collect();
        assert_eq!(active.len(), 6);
        let cost = Cost {
            least: 1.0,
            barrier: Barrier::new(20.0, 2.0),
            weights: &[1.0, 2.0, 0.5, 1.0, 3.0, 1.0],
            tight: 192,
        };
        let centre = Centre::new(&links, &frame, &active, &curves, cost, 1e-3);
        (centre, curves)
    }

    #[test]
    fn derivatives_agree_with_differences() {
        let (centre, curves) = example();
        let (gradient, hessian) = centre.derivatives(&curves);
        let pattern = Pattern::new(curves.values.len(), entries(&curves, &centre.groups));
        let moved = |at: usize, by: f64| {
            let mut moved = curves.clone();
            moved.values[at] += by;
            moved
        };
        let step = 1e-5;
        for column in 0..gradient.len() {
            let (less, more) = (moved(column, -step), moved(column, step));
            let slope = (centre.value(&more) - centre.value(&less)) / (2.0 * step);
            let size = 1.0 + gradient[column].abs();
            assert!(
                (slope - gradient[column]).abs() < 1e-4 * size,
                "{column}: {slope} {}",
                gradient[column]
            );
            let (less, more) = (centre.derivatives(&less).0, centre.derivatives(&more).0);
            for row in column..gradient.len() {
                let bend = (more[row] - less[row]) / (2.0 * step);
                let found = pattern.position(column, row).map_or(0.0, |at| hessian[at]);
                assert!(
                    (bend - found).abs() < 1e-3 * (1.0 + found.abs()),
                    "{column} {row}"
                );
            }
        }
    }

    #[test]
    fn newton_finds_where_nothing_pulls() {
        let (centre, mut curves) = example();
        minimise(&centre, &mut curves, 1e-9, &()).unwrap();
        let (gradient, _) = centre.derivatives(&curves);
        let (start, _) = centre.derivatives(&example().1);
        let size = |of: &[f64]| of.iter().fold(0.0_f64, |most, it| most.max(it.abs()));
        assert!(size(&gradient) < 1e-6 * size(&start), "{}", size(&gradient));
    }
}
