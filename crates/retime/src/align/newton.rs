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
    centre: &Centre,
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
    use crate::align::centre::tests::example;

    #[test]
    fn newton_finds_where_nothing_pulls() {
        let (centre, mut curves) = example();
        minimise(&centre, &mut curves, 1e-9, &()).unwrap();
        let of = |curves: &Curves| centre.derivatives(curves, Curvature::Own).0;
        let (gradient, start) = (of(&curves), of(&example().1));
        let size = |of: &[f64]| of.iter().fold(0.0_f64, |most, it| most.max(it.abs()));
        assert!(size(&gradient) < 1e-6 * size(&start), "{}", size(&gradient));
    }
}
