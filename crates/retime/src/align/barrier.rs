//! What a dependency costs that has little slack.
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
