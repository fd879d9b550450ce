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
//! Source: S. Boyd and L. Vandenberghe, *Convex Optimization* (2004), sections 9.2 and 9.5.

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
    use crate::align::centre::tests::example;

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
