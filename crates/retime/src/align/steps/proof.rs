//! The proof that no wander of a clock can have done what is taken for a step of it.
//!
//! A rate that is a random walk of `q` in a second gains `f` within `T` and is afterwards what it
//! was before with least effort along a cubic, and how improbable that is says
//!
//! ```text
//! E = 1/2 min integral (y''/q)^2 dt = 6 f^2 / (q^2 T^3)          y(0) = y'(0) = y'(T) = 0, y(T) = f
//! ```
//!
//! the negative logarithm of its density (the variational problem of a cubic spline: C. H. Reinsch,
//! *Smoothing by Spline Functions*, Numerische Mathematik 10, 1967). A step costs two numbers, where
//! and by how much, and may be anywhere; if the wander that all else needs makes it less probable
//! than that, it is one.
//!
//! But all else may need so little because nothing shows. A clock that makes `f` within `T`
//! makes what messages leave open, `w`, within
//!
//! ```text
//! h = T (w / f)^(2/3)
//! ```
//!
//! so that it would show in so many other places as there are stretches `h` of all clocks. Where
//! these are few, that nothing shows in them is luck. Elsewhere messages may be slower than next to
//! the step: there `w` is what the median of stretches of as many messages leaves open.
//!
//! `f` is less than the step by half of `w`, what the fastest messages of the clock there and back
//! take next to it, on the side where they are slower; a step that is not larger than that, messages
//! do not show at all.

use crate::align::ClockStep;
use crate::estimate::Estimate;
use retime_causality::edges::{Edge, ListedEdges, Source};
use retime_model::ClockId;
use retime_numerics::median::median;

/// So many messages each way next to a step, on either side, tell what they leave open.
const NEAREST: usize = 50;
/// The negative logarithm of how probable a step is anywhere: of some million places, and of sizes
/// that are known to a thousandth.
const ANYWHERE: f64 = 21.0;
/// In so many places wander would have to show elsewhere: that it is less than its deviation in one
/// of them has the probability 0.68.
const PLACES: f64 = ANYWHERE / 0.38;

/// The proof of a step: how far clocks have to be off for what it explains.
pub(super) struct Proof<'a> {
    /// All dependencies, by clocks and stamps.
    pub(super) all: &'a ListedEdges,
    pub(super) estimate: &'a Estimate,
    /// The amount by which rates wander, as a fraction in the square root of a tick.
    pub(super) wander: f64,
}

impl Proof<'_> {
    /// True if wander cannot have done it.
    pub(super) fn is_step(&self, step: &ClockStep) -> bool {
        let open = self.left_open(step);
        let forced = step.by.abs() - open / 2.0;
        let lasts = step.until.saturating_sub(step.after).max(1) as f64;
        if forced.is_nan() || forced <= 0.0 {
            return false;
        }
        let effort = 6.0 * forced.powi(2) / (self.wander.powi(2) * lasts.powi(3));
        let open = self.usually_open(step.clock).max(open);
        let shows_within = lasts * (open / forced).powf(2.0 / 3.0);
        effort > ANYWHERE && self.runs() > PLACES * shows_within
    }

    /// How long all clocks run that can wander against another.
    fn runs(&self) -> f64 {
        let clocks = (0..self.all.clocks() as u32).map(ClockId);
        let lasts = clocks.filter_map(|clock| {
            let (first, last) = self.all.extent(clock)?;
            Some(last.saturating_sub(first) as f64)
        });
        let (sum, longest) = lasts.fold((0.0, 0.0_f64), |all, it| (all.0 + it, all.1.max(it)));
        sum - longest
    }

    /// The fastest messages of a clock there and back next to a step, on the slower side; infinite
    /// where there are none one way on either side.
    fn left_open(&self, step: &ClockStep) -> f64 {
        let edges = self.all.edges.all();
        let others = (0..self.all.clocks() as u32).map(ClockId);
        let others = others.filter(|it| *it != step.clock);
        let mut least = [[f64::INFINITY; 2]; 2];
        for other in others {
            let ways = [(step.clock, other), (other, step.clock)];
            for ((from, to), least) in ways.into_iter().zip(&mut least) {
                *least = less(*least, self.least(route(edges, from, to), step));
            }
        }
        let [there, back] = least;
        (there[0] + back[0]).max(there[1] + back[1])
    }

    /// As much, where a clock is in the median.
    fn usually_open(&self, clock: ClockId) -> f64 {
        let edges = self.all.edges.all();
        let others = (0..self.all.clocks() as u32).map(ClockId);
        let mut least = [f64::INFINITY; 2];
        for other in others.filter(|it| *it != clock) {
            let usual = |from, to| {
                let stretches = route(edges, from, to).chunks(NEAREST);
                let fastest = |stretch: &[Edge]| {
                    let latencies = stretch.iter().map(|edge| self.latency(edge).max(0.0));
                    latencies.fold(f64::INFINITY, f64::min)
                };
                median(&mut stretches.map(fastest).collect::<Vec<_>>()).unwrap_or(f64::INFINITY)
            };
            least = less(least, [usual(clock, other), usual(other, clock)]);
        }
        least[0] + least[1]
    }

    fn latency(&self, edge: &Edge) -> f64 {
        let offset = self.estimate.at(edge.to, edge.received);
        edge.latency() as f64 + offset - self.estimate.at(edge.from, edge.sent)
    }

    /// The least latency next to a step, before and after it.
    fn least(&self, route: &[Edge], step: &ClockStep) -> [f64; 2] {
        let own = |edge: &Edge| {
            if edge.from == step.clock {
                edge.sent
            } else {
                edge.received
            }
        };
        let before = route.iter().rev().filter(|it| own(it) <= step.after);
        let behind = route.iter().filter(|it| own(it) >= step.until);
        let before = before.take(NEAREST).map(|it| self.latency(it));
        let behind = behind.take(NEAREST).map(|it| self.latency(it));
        let least = |a: f64, b: f64| a.min(b.max(0.0));
        [
            before.fold(f64::INFINITY, least),
            behind.fold(f64::INFINITY, least),
        ]
    }
}

fn less(a: [f64; 2], b: [f64; 2]) -> [f64; 2] {
    [a[0].min(b[0]), a[1].min(b[1])]
}

/// The dependencies from one clock to another, of a list by clocks and stamps.
fn route(edges: &[Edge], from: ClockId, to: ClockId) -> &[Edge] {
    let first = edges.partition_point(|it| (it.from, it.to) < (from, to));
    let last = edges.partition_point(|it| (it.from, it.to) <= (from, to));
    &edges[first..last]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::align::steps::tests::exchange;
    use crate::estimate::Offset;
    use retime_causality::edges::InOrder;

    /// Messages of 300 ticks both ways all the time, so that 600 are left open.
    #[test]
    fn steps_are_proven_that_are_large_and_short() {
        let list = InOrder::new(&exchange(2_000), &()).unwrap().list;
        let set = |stamp: i64| {
            if stamp < 1_000_000 {
                7_000.0
            } else {
                -43_000.0
            }
        };
        let knots = vec![(0, set(0)), (992_000, set(0)), (1_043_000, set(1_043_000))];
        let estimate = Estimate {
            offsets: vec![
                Some(Offset::constant(0.0)),
                Some(Offset::constant(0.0)),
                Some(Offset::through(knots)),
            ],
            reference: ClockId(0),
        };
        let step = |by: f64, lasts: i64| ClockStep {
            clock: ClockId(2),
            after: 992_000,
            until: 992_000 + lasts,
            by,
            alternatives: Vec::new(),
        };
        // 10 ppm in a second, of a nanosecond per tick.
        let proof = |wander: f64| Proof {
            all: &list,
            estimate: &estimate,
            wander: wander / 1e9_f64.sqrt(),
        };
        assert!(proof(1e-5).is_step(&step(50_000.0, 51_000)));
        assert!(
            !proof(1e-5).is_step(&step(250.0, 51_000)),
            "less than messages tell"
        );
        assert!(
            !proof(1e3).is_step(&step(50_000.0, 51_000)),
            "of clocks that can do it"
        );
        assert!(
            !proof(1e-5).is_step(&step(2_000.0, 1_000_000)),
            "it would show in few places"
        );
    }
}
