//! How fast what is added to a clock may change, as an exact fraction.

/// A value changes by at most `rise / run` units of a [bound](super::link::Link)
/// per tick. Sums along paths are kept in units of `1 / run`, so that nothing
/// is rounded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slope {
    pub(super) rise: i128,
    pub(super) run: i128,
}

impl Slope {
    /// A bound in units of `1 / run`.
    #[inline]
    pub(super) fn scaled(self, bound: i64) -> i128 {
        i128::from(bound).saturating_mul(self.run)
    }

    /// The most by which values this far apart differ.
    #[inline]
    pub(super) fn over(self, distance: i128) -> i128 {
        distance.saturating_mul(self.rise)
    }
}
