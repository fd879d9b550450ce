//! Newton's method with line search.
//!
//! The [function](super::centre) is convex, so each step goes downhill; it is
//! halved until the value falls by at least a tenth of a thousandth of what the
//! slope promises (Armijo). Near the minimum the number of exact digits doubles
//! with each step.

use super::centre::Centre;
use super::curves::Curves;

const MOST_STEPS: usize = 60;
const MOST_HALVINGS: usize = 40;
const PROMISED: f64 = 1e-4;
/// Digits of the value that mean something.
const ROUNDING: f64 = 1e-13;

/// Goes on from `curves` to the minimum, until a step moves nothing by more than
/// `tolerance`; returns how many steps it took.
pub(super) fn minimise(centre: &Centre, curves: &mut Curves, tolerance: f64) -> usize {
    let mut value = centre.value(curves);
    for taken in 0..MOST_STEPS {
        let (gradient, hessian) = centre.derivatives(curves);
        let Some(step) = centre.step(&gradient, &hessian) else {
            return taken;
        };
        let promised: f64 = gradient.iter().zip(&step).map(|(g, s)| g * s).sum();
        if -promised <= ROUNDING * value.abs() {
            // What is left to gain is lost in rounding; the step itself is not.
            for (value, step) in curves.values.iter_mut().zip(&step) {
                *value += step;
            }
            return taken + 1;
        }
        let Some(reached) = search(centre, curves, &step, value, promised) else {
            return taken;
        };
        value = reached;
        let largest = step.iter().fold(0.0_f64, |most, it| most.max(it.abs()));
        if largest <= tolerance {
            return taken + 1;
        }
    }
    MOST_STEPS
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
