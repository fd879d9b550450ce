//! Student's distribution: how far a mean of few values is from 0 by chance.
//!
//! The mean of `n` normal values, divided by its standard error as these values show it, follows
//! Student's distribution with `n - 1` degrees of freedom. For whole degrees its tail is a
//! finite sum.
//!
//! ```
//! use retime_numerics::student::upper_tail;
//! // By tables, 2.764 is exceeded once in 100 times with 10 degrees of freedom.
//! assert!((upper_tail(2.764, 10) - 0.01).abs() < 1e-5);
//! ```
//!
//! Source: Abramowitz and Stegun, *Handbook of Mathematical Functions* (1964), 26.7.3 and 26.7.4.

use std::f64::consts::PI;

/// The probability that a value of Student's distribution exceeds `t`, to within `1e-12`; with no
/// degrees of freedom, with which nothing is known, 1.
pub fn upper_tail(t: f64, degrees: u32) -> f64 {
    if degrees == 0 || t.is_nan() {
        return 1.0;
    }
    let angle = (t / f64::from(degrees).sqrt()).atan();
    let (sine, cosine) = angle.sin_cos();
    let within = if degrees % 2 == 1 {
        let series = if degrees == 1 {
            0.0
        } else {
            cosine * powers(cosine * cosine, degrees, 3)
        };
        2.0 / PI * (angle + sine * series)
    } else {
        sine * powers(cosine * cosine, degrees, 2)
    };
    f64::midpoint(1.0, -within).clamp(0.0, 1.0)
}

/// The sum `1 + x (f-1)/f + x^2 (f-1)(f+1)/(f(f+2)) + ..`, up to the factor before `degrees`.
fn powers(x: f64, degrees: u32, first: u32) -> f64 {
    let (mut term, mut sum) = (1.0, 1.0);
    for factor in (first..degrees).step_by(2) {
        term *= x * f64::from(factor - 1) / f64::from(factor);
        sum += term;
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_tables_say() {
        for (degrees, t) in [
            (1, 31.820_516),
            (2, 6.964_557),
            (3, 4.540_703),
            (4, 3.746_947),
            (9, 2.821_438),
            (30, 2.457_262),
            (1_000, 2.330_083),
        ] {
            let tail = upper_tail(t, degrees);
            assert!((tail - 0.01).abs() < 1e-7, "{degrees}: {tail}");
            assert!((upper_tail(-t, degrees) - 0.99).abs() < 1e-7);
        }
    }

    #[test]
    fn what_is_not_finite_has_a_tail() {
        assert!(upper_tail(f64::INFINITY, 7).abs() < 1e-12);
        assert!((upper_tail(f64::NEG_INFINITY, 8) - 1.0).abs() < 1e-12);
        assert!((upper_tail(f64::NAN, 7) - 1.0).abs() < 1e-12);
        assert!((upper_tail(5.0, 0) - 1.0).abs() < 1e-12);
    }
}
