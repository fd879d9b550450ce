//! The cost of a dependency that has little slack.
//!
//! ```text
//! phi(s) = (S/s)^2 / 2      for s >= s0
//! ```
//!
//! Its pull falls with the third power of the slack: the tightest dependencies
//! decide, and one that is merely early, as most in collectives are, hardly
//! counts. (With a logarithmic barrier, whose pull falls with the first power,
//! thousands of loose ones outweigh the tight.) Below `s0` it goes on as the
//! parabola of the same value, slope and curvature, and below `s1` as a straight
//! line, so that a dependency which can not be satisfied pulls with bounded force.
//!
//! It is convex with continuous first derivative; the second is continuous at `s0`.
//!
//! On the line it has no curvature, and a clock that only such dependencies hold would be
//! moved any distance. There the *touching* parabola can be asked for instead: that of the
//! same value and slope whose lowest point is that of the parabola between `s1` and `s0`,
//! `4/3 s0`. It lies nowhere below the function: its slope rises evenly from that of the line
//! to 0, where that of the function stays what it is and then rises as steeply as the
//! parabola to the same 0, or is less. Source: the weights of robust regression, P. J.
//! Huber, *Robust Statistics* (1981), section 7.8.

use super::options::OPTIONS;

/// The function, with its constants for a scale `S`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Barrier {
    pub(super) scale: f64,
    /// From here on down a parabola.
    pub(super) knee: f64,
    /// From here on down a line.
    foot: f64,
}

impl Barrier {
    /// For a scale, with the parabola from `knee` down; both positive.
    pub(super) fn new(scale: f64, knee: f64) -> Self {
        Self {
            scale,
            knee,
            foot: knee - OPTIONS.foot * scale.max(knee),
        }
    }

    /// The curvature at a slack, and on the line that of the touching parabola.
    #[inline]
    pub(super) fn touching(&self, slack: f64) -> f64 {
        let (_, slope, bend) = self.at(slack);
        if slack >= self.foot {
            bend
        } else {
            slope / (slack - 4.0 / 3.0 * self.knee)
        }
    }

    /// Value, slope and curvature at a slack.
    #[inline]
    pub(super) fn at(&self, slack: f64) -> (f64, f64, f64) {
        let inverse = self.scale / slack.max(self.knee);
        let square = inverse * inverse;
        let bound = slack.max(self.knee);
        let (value, slope, bend) = (
            0.5 * square,
            -square / bound,
            3.0 * square / (bound * bound),
        );
        if slack >= self.knee {
            return (value, slope, bend);
        }
        let below = slack.max(self.foot) - self.knee;
        let value = value + below * (slope + 0.5 * bend * below);
        let slope = slope + bend * below;
        if slack >= self.foot {
            (value, slope, bend)
        } else {
            (value + slope * (slack - self.foot), slope, 0.0)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derivatives_are_those_of_the_value() {
        let barrier = Barrier::new(100.0, 5.0);
        for slack in [
            -500.0, -96.0, -94.0, -30.0, 0.0, 4.9, 5.1, 20.0, 100.0, 900.0,
        ] {
            let step = 1e-3;
            let around = [slack - step, slack + step].map(|it| barrier.at(it));
            let (_, slope, bend) = barrier.at(slack);
            let close =
                |found: f64, wanted: f64| (found - wanted).abs() <= 1e-5 * wanted.abs() + 1e-9;
            assert!(
                close((around[1].0 - around[0].0) / (2.0 * step), slope),
                "{slack}"
            );
            assert!(
                close((around[1].1 - around[0].1) / (2.0 * step), bend),
                "{slack}"
            );
        }
    }

    #[test]
    fn the_touching_parabola_lies_nowhere_below() {
        let barrier = Barrier::new(100.0, 5.0);
        for slack in [-25.1, -60.0, -1e3, -1e6] {
            let (value, slope, bend) = barrier.at(slack);
            let touching = barrier.touching(slack);
            assert!(bend < touching && touching < barrier.touching(0.0));
            for other in (-20_000..400).map(|it| f64::from(it) * 0.1 * slack.abs() / 1e3) {
                let by = other - slack;
                let above = value + by * (slope + 0.5 * touching * by);
                assert!(
                    above >= barrier.at(other).0 * (1.0 - 1e-12),
                    "{slack} {other}"
                );
            }
        }
        // No steeper than that of the parabola next to the line.
        assert!((barrier.touching(-25.0) - barrier.at(-25.0).2).abs() < 1e-12);
    }

    #[test]
    fn pieces_join() {
        let barrier = Barrier::new(100.0, 5.0);
        assert_eq!(barrier.at(5.0), (200.0, -80.0, 48.0));
        for joint in [5.0, 5.0 - OPTIONS.foot * 100.0] {
            let (below, above) = (barrier.at(joint - 1e-9), barrier.at(joint + 1e-9));
            assert!((below.0 - above.0).abs() < 1e-4 && (below.1 - above.1).abs() < 1e-4);
        }
        // The parabola's curvature is that of the function above; the line has none.
        assert_eq!(barrier.at(4.0), (304.0, -128.0, 48.0));
        let (value, slope, bend) = barrier.at(-200.0);
        assert_eq!(barrier.at(-201.0), (value - slope, slope, bend));
        assert_eq!((slope, bend), (-1_520.0, 0.0));
    }
}
