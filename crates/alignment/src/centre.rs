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
//! + 1/2 sum over knots     (pull_p (z - z0))^2                             not far at once
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
//! hardly (`1e-3 / S`), the first at `z0 = 0`, these at [where they are so
//! far](super::penalties). Where offsets are still far from possible it would else pay
//! to stretch the time of all, for then all messages take longer.
//!
//! [Newton's method](super::newton) finds the minimum. Source: S. Boyd and L. Vandenberghe,
//! *Convex Optimization* (2004), section 8.5 (analytic centres).

use rayon::prelude::*;

use super::barrier::Barrier;
use super::cost::Cost;
use super::curves::Curves;
use super::frame::{Frame, FramedDependency};
use super::links::Links;
use super::penalties::Penalties;
use retime_model::{Cancelled, Monitor};
use retime_numerics::cholesky::{Pattern, SparseCholesky};

/// Groups that a thread takes at a time.
const TASK: usize = 32;
/// Groups whose derivatives are known before they are added.
const ADDED: usize = 4096;

/// A dependency between two segments.
#[derive(Clone, Copy)]
struct Term {
    /// Latency less minimal delay before the curves are added.
    rest: f64,
    /// How far the ends lie behind the knots before them, from 0 to 1.
    sent: f64,
    received: f64,
}

/// Dependencies between the same two segments; they touch the same unknowns.
struct SegmentGroup {
    place: Footprint,
    first: usize,
    end: usize,
    weight: f64,
}

/// The part of the system that dependencies between two segments touch.
#[derive(Clone, Copy)]
struct Footprint {
    /// The numbers of the unknowns of the sender before and after the event, and of the receiver.
    unknowns: [u32; 4],
    /// Where the entries of the Hessian lie, lower half by columns.
    entries: [u32; 10],
}

/// The linear system of a centre without its values, for another centre.
pub(super) struct SparseSystem {
    places: Vec<Footprint>,
    solver: SparseCholesky,
}

impl SparseSystem {
    /// True if a centre of so many unknowns and these groups has the same entries.
    fn fits(&self, unknowns: usize, groups: &[SegmentGroup]) -> bool {
        let same = |(own, group): (&Footprint, &SegmentGroup)| own.unknowns == group.place.unknowns;
        self.solver.pattern().size() == unknowns
            && self.places.len() == groups.len()
            && self.places.iter().zip(groups).all(same)
    }
}

/// The dependencies that a centre is of.
#[derive(Clone, Copy)]
pub(super) struct Terms<'a> {
    pub(super) links: &'a Links,
    /// Per link: the dependencies as the common axis shows them.
    pub(super) seen: &'a [Vec<FramedDependency>],
    /// Per link: the places, among all dependencies, of those that count.
    pub(super) active: &'a [Vec<u32>],
}

/// The function to minimise.
pub(super) struct Centre {
    barrier: Barrier,
    terms: Vec<Term>,
    groups: Vec<SegmentGroup>,
    penalties: Penalties,
    solver: Option<SparseCholesky>,
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
    /// Over these dependencies and these knots. The system of another centre is used again if it
    /// has the same entries.
    pub(super) fn new(
        dependencies: Terms<'_>,
        frame: &Frame,
        shape: &Curves,
        cost: Cost<'_>,
        system: Option<SparseSystem>,
        monitor: &dyn Monitor,
    ) -> Result<Self, Cancelled> {
        let (terms, mut groups) = gather(dependencies, shape, cost);
        // Which entries are not zero depends on the division and on who depends on
        // whom, not on values: so it is found once, and each step fills it in.
        let (penalties, solver) = match system {
            Some(system) if system.fits(shape.values.len(), &groups) => {
                for (group, place) in groups.iter_mut().zip(&system.places) {
                    group.place = *place;
                }
                let pattern = system.solver.pattern();
                let penalties = Penalties::new(shape, frame, pattern, cost);
                (penalties, Some(system.solver))
            }
            before => {
                let pattern = Pattern::new(shape.values.len(), entries(shape, &groups));
                let find = |group: &mut SegmentGroup| group.place.find_entries(&pattern);
                groups.par_iter_mut().with_min_len(TASK).for_each(find);
                let penalties = Penalties::new(shape, frame, &pattern, cost);
                let same = before.filter(|it| *it.solver.pattern() == pattern);
                let solver = match same {
                    Some(system) => Some(system.solver),
                    None => SparseCholesky::new(pattern, monitor)?,
                };
                (penalties, solver)
            }
        };
        Ok(Self {
            barrier: cost.barrier,
            terms,
            groups,
            penalties,
            solver,
        })
    }

    /// The system that it solves, for another centre.
    pub(super) fn into_system(self) -> Option<SparseSystem> {
        let places = self.groups.iter().map(|it| it.place).collect();
        let solver = self.solver?;
        Some(SparseSystem { places, solver })
    }

    /// The scale of slacks.
    pub(super) fn scale(&self) -> f64 {
        self.barrier.scale
    }

    /// The value of the function.
    pub(super) fn value(&self, curves: &Curves) -> f64 {
        let of = |group: &SegmentGroup| {
            let z = group.place.values(curves);
            let terms = self.terms[group.first..group.end].iter();
            let costs = terms.map(|term| self.barrier.at(term.slack(&z)).0);
            group.weight * costs.sum::<f64>()
        };
        // Collected first, so that the order of the sum does not depend on threads.
        let values: Vec<f64> = self.groups.par_iter().with_min_len(TASK).map(of).collect();
        values.iter().sum::<f64>() + self.penalties.value(curves)
    }

    /// Gradient and Hessian. Of a dependency on the line of the barrier, which does not bend, this
    /// share of the [touching](super::barrier) parabola's curvature counts.
    pub(super) fn derivatives(&self, curves: &Curves, touching: f64) -> (Vec<f64>, Vec<f64>) {
        let mut gradient = self.penalties.gradient(curves);
        let mut hessian = self.penalties.hessian(curves);
        let of = |group: &SegmentGroup| {
            let z = group.place.values(curves);
            let mut slopes = [0.0; 4];
            let mut bends = [0.0; 10];
            for term in &self.terms[group.first..group.end] {
                // The slack is linear in the unknowns, with these weights. So by the
                // chain rule each first derivative is the slope times a weight, and
                // each second one the curvature times two weights.
                let slack = term.slack(&z);
                let (_, slope, own) = self.barrier.at(slack);
                let bend = if touching > 0.0 && own <= 0.0 {
                    touching * self.barrier.touching(slack)
                } else {
                    own
                };
                let weights = term.weights();
                for (sum, weight) in slopes.iter_mut().zip(weights) {
                    *sum += slope * weight;
                }
                for (sum, (a, b)) in bends.iter_mut().zip(LOWER) {
                    *sum += bend * weights[a] * weights[b];
                }
            }
            for sum in slopes.iter_mut().chain(&mut bends) {
                *sum *= group.weight;
            }
            (slopes, bends)
        };
        // Groups share unknowns, so they are added one after the other, some of them at a time:
        // as many as there is room for in the cache of a core.
        let mut sums: Vec<([f64; 4], [f64; 10])> = Vec::with_capacity(ADDED.min(self.groups.len()));
        for groups in self.groups.chunks(ADDED) {
            let all = groups.par_iter().with_min_len(TASK).map(of);
            all.collect_into_vec(&mut sums);
            for (group, (slopes, bends)) in groups.iter().zip(&sums) {
                for (at, slope) in group.place.unknowns.iter().zip(slopes) {
                    gradient[*at as usize] += slope;
                }
                for (at, bend) in group.place.entries.iter().zip(bends) {
                    hessian[*at as usize] += bend;
                }
            }
        }
        (gradient, hessian)
    }

    /// The step of Newton's method: to where the function would be the least if it were the
    /// parabola that it looks like here, `Hessian * step = -gradient`. `None` where the
    /// system cannot be solved.
    pub(super) fn step(
        &mut self,
        gradient: &[f64],
        hessian: &[f64],
        monitor: &dyn Monitor,
    ) -> Result<Option<Vec<f64>>, Cancelled> {
        let downhill: Vec<f64> = gradient.iter().map(|it| -it).collect();
        let solve = |solver: &mut SparseCholesky| solver.solve(hessian, &downhill, monitor);
        Ok(self.solver.as_mut().map(solve).transpose()?.flatten())
    }
}

impl Footprint {
    /// The values of its unknowns.
    #[inline]
    fn values(&self, curves: &Curves) -> [f64; 4] {
        let [before, after, then, next] = self.unknowns;
        let value = |at: u32| curves.values[at as usize];
        [value(before), value(after), value(then), value(next)]
    }

    fn find_entries(&mut self, pattern: &Pattern) {
        for (entry, (a, b)) in self.entries.iter_mut().zip(LOWER) {
            let (a, b) = (self.unknowns[a] as usize, self.unknowns[b] as usize);
            *entry = pattern.position(a, b).unwrap_or(0) as u32;
        }
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

/// Terms, sorted by the segments they touch. Those of one link between the same two
/// pieces share their four unknowns, so that their derivatives can be summed before
/// they are put into the large system.
fn gather(
    dependencies: Terms<'_>,
    shape: &Curves,
    cost: Cost<'_>,
) -> (Vec<Term>, Vec<SegmentGroup>) {
    let Terms {
        links,
        seen,
        active,
    } = dependencies;
    let mut terms = Vec::with_capacity(active.iter().map(Vec::len).sum());
    let mut groups: Vec<SegmentGroup> = Vec::new();
    let mut sorted: Vec<(usize, usize, Term)> = Vec::new();
    let weighted = links.list().iter().zip(cost.weights);
    for (((link, &weight), active), seen) in weighted.zip(active).zip(seen) {
        sorted.clear();
        sorted.extend(active.iter().map(|&at| {
            let seen = seen[(at - Links::first(link)) as usize];
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
            let unknowns = [
                at(before, link.from),
                at(before + 1, link.from),
                at(then, link.to),
                at(then + 1, link.to),
            ];
            groups.push(SegmentGroup {
                place: Footprint {
                    unknowns,
                    entries: [0; 10],
                },
                first,
                end: terms.len(),
                weight,
            });
        }
    }
    (terms, groups)
}

/// Entries of the Hessian besides its diagonal, with room for that: of each knot with
/// the two after it of the same clock, which the penalties join, and of the four
/// unknowns of each group among themselves.
fn entries(shape: &Curves, groups: &[SegmentGroup]) -> Vec<(u32, u32)> {
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
            let (a, b) = (group.place.unknowns[a], group.place.unknowns[b]);
            (a.min(b), a.max(b))
        }));
    }
    entries
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::links::Link;
    use super::super::options::OPTIONS;
    use super::*;
    use retime_causality::edges::{Edge, Edges};
    use retime_model::ClockId;

    /// All dependencies of some links, each of which counts.
    pub(crate) struct AllTerms {
        seen: Vec<Vec<FramedDependency>>,
        pub(crate) active: Vec<Vec<u32>>,
    }

    impl AllTerms {
        pub(crate) fn of(links: &Links, frame: &Frame) -> Self {
            let seen = |link: &Link| {
                let points = links.of(link).iter();
                points.map(|point| frame.see(link, point)).collect()
            };
            let active = |link: &Link| {
                let first = Links::first(link);
                (first..first + links.of(link).len() as u32).collect()
            };
            Self {
                seen: links.list().iter().map(seen).collect(),
                active: links.list().iter().map(active).collect(),
            }
        }

        pub(crate) fn terms<'a>(&'a self, links: &'a Links) -> Terms<'a> {
            Terms {
                links,
                seen: &self.seen,
                active: &self.active,
            }
        }
    }

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
    pub(crate) fn example() -> (Centre, Curves) {
        let edges = edges();
        let links = Links::of_list(&edges);
        let mut frame = Frame::new(&edges, vec![3, 0, -4], 0, &()).unwrap();
        frame.pinned.push(1);
        let mut curves = Curves::flat(3, 5, frame.axis.span);
        for (at, value) in curves.values.iter_mut().enumerate() {
            // Some rates are beyond what is plausible, and some are not.
            *value = (at as f64 * 0.7).sin() * 0.06;
        }
        let all = AllTerms::of(&links, &frame);
        assert_eq!(all.active.len(), 6);
        let cost = Cost {
            least: 1.0,
            barrier: Barrier::new(20.0, 2.0),
            weights: &[1.0, 2.0, 0.5, 1.0, 3.0, 1.0],
            tight: 192,
            sigma: 1e-3,
            drift: OPTIONS.rho,
            most_drift: OPTIONS.proven,
        };
        let centre = Centre::new(all.terms(&links), &frame, &curves, cost, None, &()).unwrap();
        (centre, curves)
    }

    #[test]
    fn derivatives_agree_with_differences() {
        let (centre, curves) = example();
        let of = |curves: &Curves| centre.derivatives(curves, 0.0);
        let (gradient, hessian) = of(&curves);
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
            let (less, more) = (of(&less).0, of(&more).0);
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
}
