//! Newton's method: downhill on a convex function, by the parabola that it looks like.
//!
//! ```text
//!   z <- z + t s,   Hessian s = -gradient
//! ```
//!
//! As the function is convex, each step goes downhill. Its length `t` begins with 1 and is
//! halved until the value falls by at least a ten-thousandth of what the slope promises
//! (Armijo's rule). Near the minimum the number of exact digits doubles with each step.
//!
//! One clock that hardly anything bends, for all that holds it is contradicted, is sent
//! any distance, and all others would have to wait until `t` is short enough for it. With a
//! handful of clocks that soon passes; with thousands there is always one. So where `t` has
//! become short, the parabolas of contradicted dependencies, which bend nothing there, are replaced
//! by [those that touch](super::barrier) and lie nowhere below the function.
//!
//! These are safe, but slow: each step gains some share of what is left. And with none of them the
//! next step is as short again, where a clock in a long chain is still contradicted on both
//! sides. So they count by a share `s` of their bend that is 1 at first, and then shrinks as long as
//! whole steps are good, and grows where they are not: from the safe steps to Newton's, which
//! are exact once it is settled who is contradicted.
//!
//! ```text
//!   t = 1/512 -> s = 1      t = 1 -> s = 1/8      t = 1 -> s = 1/64     t = 1/16 -> s = 1/2 ...
//! ```
//!
//! Sources: S. Boyd and L. Vandenberghe, *Convex Optimization* (2004), sections 9.2 and 9.5; D. W.
//! Marquardt, *An algorithm for least-squares estimation of nonlinear parameters* (1963), on a
//! share that goes between two methods.

use retime_model::{Cancelled, Monitor};

use super::centre::Centre;
use super::curves::Curves;

/// Steps of Newton's method; ten are usual.
const MOST_STEPS: usize = 60;
/// Halvings of a step: what is left then is less than rounding.
const MOST_HALVINGS: usize = 40;
/// The share of what the slope promises that a step has to gain (Armijo's rule, with
/// the constant that is usual).
const PROMISED: f64 = 1e-4;
/// A shorter step than this share of the whole is that of a parabola unlike the function.
const SHORT: f64 = 0.125;
/// The factor by which the share of touching parabolas shrinks after a whole step, and grows after
/// a short one.
const BOLDER: f64 = 8.0;
/// A share that bends less than this of what is safe is as good as none.
const NONE: f64 = 1e-4;
/// Digits of the value that mean something.
const ROUNDING: f64 = 1e-13;
/// A step this small is taken even where the value cannot tell whether it gains, in
/// scales of the barrier.
const SMALL: f64 = 1e-2;

/// The step that is the last one: no longer than a length, or a whole one and short beside those before.
#[derive(Clone, Copy)]
pub(super) struct LastStep {
    /// In ticks.
    pub(super) length: f64,
    /// As a share of the longest one before it.
    pub(super) of_longest: f64,
}

/// Goes on from `curves` towards the minimum, until a step is short; returns how many steps it
/// took.
pub(super) fn minimise(
    centre: &mut Centre,
    curves: &mut Curves,
    last: LastStep,
    monitor: &dyn Monitor,
) -> Result<usize, Cancelled> {
    let mut value = centre.value(curves);
    let mut touching = 0.0;
    let mut longest = 0.0_f64;
    for taken in 0..MOST_STEPS {
        monitor.check()?;
        let (gradient, hessian) = centre.derivatives(curves, touching);
        let Some(step) = centre.step(&gradient, &hessian, monitor)? else {
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
        let Some((share, reached)) = search(centre, curves, &step, value, promised, monitor)?
        else {
            return Ok(taken);
        };
        touching = next(touching, share);
        value = reached;
        let is_short = share >= 1.0 && largest <= last.of_longest * longest;
        if is_short || largest <= last.length {
            return Ok(taken + 1);
        }
        longest = longest.max(share * largest);
    }
    Ok(MOST_STEPS)
}

/// The share of touching parabolas in the next step, after one of which this share was good.
fn next(touching: f64, good: f64) -> f64 {
    if good < SHORT {
        if touching > 0.0 {
            (touching * BOLDER).min(1.0)
        } else {
            1.0
        }
    } else if good < 1.0 {
        touching
    } else if touching < NONE * BOLDER {
        0.0
    } else {
        touching / BOLDER
    }
}

/// Moves along `step` as far as is good, and returns which share of it that is, and the
/// value there.
fn search(
    centre: &Centre,
    curves: &mut Curves,
    step: &[f64],
    value: f64,
    promised: f64,
    monitor: &dyn Monitor,
) -> Result<Option<(f64, f64)>, Cancelled> {
    let start = curves.values.clone();
    let mut share = 1.0;
    for _ in 0..MOST_HALVINGS {
        monitor.check()?;
        let moved = start.iter().zip(step).map(|(z, s)| z + share * s);
        curves.values.clear();
        curves.values.extend(moved);
        let reached = centre.value(curves);
        if reached <= value + PROMISED * share * promised {
            return Ok(Some((share, reached)));
        }
        share /= 2.0;
    }
    curves.values = start;
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::barrier::Barrier;
    use crate::centre::tests::{AllTerms, example};
    use crate::cost::Cost;
    use crate::frame::Frame;
    use crate::links::Links;
    use crate::options::OPTIONS;
    use retime_causality::edges::{Edge, Edges};
    use retime_model::ClockId;

    /// Until a step is no longer than so many ticks.
    fn exactly(length: f64) -> LastStep {
        LastStep {
            length,
            of_longest: 0.0,
        }
    }

    #[test]
    fn newton_finds_where_nothing_pulls() {
        let (mut centre, mut curves) = example();
        minimise(&mut centre, &mut curves, exactly(1e-9), &()).unwrap();
        let of = |curves: &Curves| centre.derivatives(curves, 0.0).0;
        let (gradient, start) = (of(&curves), of(&example().1));
        let size = |of: &[f64]| of.iter().fold(0.0_f64, |most, it| most.max(it.abs()));
        assert!(size(&gradient) < 1e-6 * size(&start), "{}", size(&gradient));
    }

    #[test]
    fn a_step_of_a_tenth_of_the_longest_leaves_a_hundredth() {
        let (mut centre, start) = example();
        let mut minimum = |last: LastStep| {
            let mut curves = start.clone();
            let steps = minimise(&mut centre, &mut curves, last, &()).unwrap();
            (steps, curves.values)
        };
        let (all, exact) = minimum(exactly(1e-9));
        let (few, near) = minimum(LastStep {
            of_longest: 0.1,
            ..exactly(1e-9)
        });
        let distance = |a: &[f64]| {
            let apart = a.iter().zip(&exact).map(|(a, b)| (a - b).abs());
            apart.fold(0.0_f64, f64::max)
        };
        assert!(few < all, "{few} {all}");
        assert!(distance(&near) < 0.01 * distance(&start.values));
    }

    /// Clocks that are off by up to a thousand times what messages between these pairs take, twice
    /// each.
    fn exchange(clocks: u32, pairs: impl Iterator<Item = (u32, u32)>) -> Edges {
        let off = |clock: u32| i64::from(clock.wrapping_mul(2_654_435_769) >> 12) - (1 << 19);
        let message = |from: u32, to: u32, sent: i64| {
            let takes = 500 + i64::from((from * 7 + to * 13) % 400);
            let (clock_from, clock_to) = (ClockId(from), ClockId(to));
            Edge::message(
                clock_from,
                sent + off(from),
                clock_to,
                sent + takes + off(to),
            )
        };
        let twice = |(a, b)| [0, 1_000_000].map(|sent| message(a, b, sent));
        let extent = |clock| Some((off(clock), off(clock) + 1_002_000));
        let edges = pairs.flat_map(twice).collect();
        Edges::new(edges, (0..clocks).map(extent).collect())
    }

    /// A torus whose neighbours exchange messages both ways.
    fn torus(side: u32) -> Edges {
        let neighbours = move |at: u32| {
            let (row, column) = (at / side, at % side);
            let right = row * side + (column + 1) % side;
            [right, (row + 1) % side * side + column]
        };
        let pairs = (0..side * side).flat_map(move |at| neighbours(at).map(|other| (at, other)));
        exchange(side * side, pairs.flat_map(|(a, b)| [(a, b), (b, a)]))
    }

    /// A ring around which messages go one way.
    fn ring(clocks: u32) -> Edges {
        exchange(clocks, (0..clocks).map(|at| (at, (at + 1) % clocks)))
    }

    /// How many steps lead to the centre from where all clocks are right.
    fn steps(edges: &Edges) -> usize {
        let clocks = edges.clocks();
        let links = Links::of_list(edges);
        let mut frame = Frame::new(edges, vec![0; clocks], 0, &()).unwrap();
        frame.pinned.push(0);
        let mut curves = Curves::flat(clocks, 1, frame.axis.span);
        let all = AllTerms::of(&links, &frame);
        let cost = Cost {
            least: 0.0,
            barrier: Barrier::new(500.0, 50.0),
            weights: &vec![1.0; all.active.len()],
            tight: 2,
            sigma: 1e-8,
            drift: OPTIONS.rho,
            most_drift: OPTIONS.proven,
        };
        let centre = Centre::new(all.terms(&links), &frame, &curves, cost, None, &());
        minimise(&mut centre.unwrap(), &mut curves, exactly(1.0), &()).unwrap()
    }

    #[test]
    fn contradicted_clocks_do_not_hold_up_the_others_however_many_there_are() {
        assert!(steps(&torus(4)) < MOST_STEPS && steps(&torus(40)) < MOST_STEPS);
    }

    #[test]
    fn a_long_ring_takes_hardly_more_steps_than_a_short_one() {
        let (short, long) = (steps(&ring(50)), steps(&ring(4_000)));
        assert!(long < MOST_STEPS && long < short + 10, "{short} {long}");
    }
}
