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

/// The function, with its constants for a scale `S`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Barrier {
    scale: f64,
    /// From here on down a parabola.
    knee: f64,
    /// From here on down a line.
    foot: f64,
}

impl Barrier {
    /// For a scale, with the parabola from `knee` down; both positive.
    pub(super) fn new(scale: f64, knee: f64) -> Self {
        Self {
            scale,
            knee,
            foot: knee - FOOT * scale.max(knee),
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

/// How far below the knee the line begins, in scales.
const FOOT: f64 = 1.0;
