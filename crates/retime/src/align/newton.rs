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
//! become short, the parabolas of contradicted dependencies are replaced by [those that
//! touch](super::barrier) and lie nowhere below the function, until such steps gain little.
//!
//! Source: S. Boyd and L. Vandenberghe, *Convex Optimization* (2004), sections 9.2 and 9.5.

use retime_model::{Cancelled, Monitor};

use super::centre::{Centre, Curvature};
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
/// Steps with touching parabolas that leave more of the value than this are no faster than
/// Newton's.
const SLOW: f64 = 0.9;
/// Digits of the value that mean something.
const ROUNDING: f64 = 1e-13;
/// A step this small is taken even where the value cannot tell whether it gains, in
/// scales of the barrier.
const SMALL: f64 = 1e-2;

/// Goes on from `curves` to the minimum, until a step moves nothing by more than
/// `tolerance`; returns how many steps it took.
pub(super) fn minimise(
    centre: &mut Centre,
    curves: &mut Curves,
    tolerance: f64,
    monitor: &dyn Monitor,
) -> Result<usize, Cancelled> {
    let mut value = centre.value(curves);
    let mut curvature = Curvature::Own;
    for taken in 0..MOST_STEPS {
        monitor.check()?;
        let (gradient, hessian) = centre.derivatives(curves, curvature);
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
        let Some((share, reached)) = search(centre, curves, &step, (value, promised), monitor)?
        else {
            return Ok(taken);
        };
        curvature = match curvature {
            Curvature::Own if share < SHORT => Curvature::Touching,
            Curvature::Touching if reached > SLOW * value => Curvature::Own,
            same => same,
        };
        value = reached;
        if largest <= tolerance {
            return Ok(taken + 1);
        }
    }
    Ok(MOST_STEPS)
}

/// Moves along `step` as far as is good, and returns which share of it that is, and the
/// value there.
fn search(
    centre: &Centre,
    curves: &mut Curves,
    step: &[f64],
    (value, promised): (f64, f64),
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
    use crate::align::barrier::Barrier;
    use crate::align::centre::Cost;
    use crate::align::centre::tests::example;
    use crate::align::frame::Frame;
    use crate::align::links::{Link, Links};
    use crate::edges::{Edge, Edges};
    use retime_model::ClockId;

    #[test]
    fn newton_finds_where_nothing_pulls() {
        let (mut centre, mut curves) = example();
        minimise(&mut centre, &mut curves, 1e-9, &()).unwrap();
        let of = |curves: &Curves| centre.derivatives(curves, Curvature::Own).0;
        let (gradient, start) = (of(&curves), of(&example().1));
        let size = |of: &[f64]| of.iter().fold(0.0_f64, |most, it| most.max(it.abs()));
        assert!(size(&gradient) < 1e-6 * size(&start), "{}", size(&gradient));
    }

    /// A torus of clocks that are off by up to a thousand times what messages take.
    fn torus(side: u32) -> Edges {
        let clocks = side * side;
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
        let neighbours = |at: u32| {
            let (row, column) = (at / side, at % side);
            let right = row * side + (column + 1) % side;
            [right, (row + 1) % side * side + column]
        };
        let pairs = (0..clocks).flat_map(|at| neighbours(at).map(|other| (at, other)));
        let edges = pairs.flat_map(|(a, b)| {
            [0, 1_000_000]
                .into_iter()
                .flat_map(move |sent| [message(a, b, sent), message(b, a, sent)])
        });
        let extent = |clock| Some((off(clock), off(clock) + 1_002_000));
        Edges::new(edges.collect(), (0..clocks).map(extent).collect())
    }

    #[test]
    fn contradicted_clocks_do_not_hold_up_the_others_however_many_there_are() {
        let steps = |side: u32| {
            let edges = torus(side);
            let clocks = edges.clocks();
            let links = Links::of_list(&edges);
            let mut frame = Frame::new(&edges, vec![0; clocks], 0, &()).unwrap();
            frame.pinned.push(0);
            let mut curves = Curves::flat(clocks, 1, frame.axis.span);
            let all = |link: &Link| {
                let first = Links::first(link);
                (first..first + links.of(link).len() as u32).collect()
            };
            let active: Vec<Vec<u32>> = links.list().iter().map(all).collect();
            let cost = Cost {
                least: 0.0,
                barrier: Barrier::new(500.0, 50.0),
                weights: &vec![1.0; active.len()],
                tight: 2,
                sigma: 1e-8,
            };
            let centre = Centre::new(&links, &frame, &active, &curves, cost, None, &());
            minimise(&mut centre.unwrap(), &mut curves, 1.0, &()).unwrap()
        };
        assert!(steps(4) < MOST_STEPS && steps(40) < MOST_STEPS);
    }
}
