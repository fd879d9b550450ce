//! Stamps in ticks since the first one of a stream.
//!
//! Stamps may be of any epoch, nanoseconds since 1970 among them; differences of two stay small, and
//! sums and differences of differences do not overflow.

use retime_model::Timestamp;

use crate::error::FilterError;

/// The first stamp lies at most so many ticks away from any other.
const FARTHEST: u64 = 1 << 61;

/// The stamp that counts as 0: the first one that is asked about.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Base(Option<Timestamp>);

impl Base {
    /// The ticks from the first stamp to this one.
    ///
    /// # Errors
    ///
    /// [`FilterError::OutOfRange`] beyond 2^61 ticks.
    pub(crate) fn relative(&mut self, time: Timestamp) -> Result<i64, FilterError> {
        let base = *self.0.get_or_insert(time);
        let difference = i128::from(time.0) - i128::from(base.0);
        match i64::try_from(difference) {
            Ok(raw) if raw.unsigned_abs() <= FARTHEST => Ok(raw),
            _ => Err(FilterError::OutOfRange(time)),
        }
    }

    /// The first stamp; 0 before there is one.
    pub(crate) fn stamp(self) -> Timestamp {
        self.0.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stamps_count_from_the_first_and_may_lie_before_it() {
        let mut base = Base::default();
        let far = 1_700_000_000_000_000_000;
        let relative = [far, far + 5, far - 7].map(|it| base.relative(Timestamp(it)).unwrap());
        assert_eq!((relative, base.stamp()), ([0, 5, -7], Timestamp(far)));
        let beyond = Timestamp(far + FARTHEST + 1);
        let refused = base.relative(beyond).unwrap_err();
        assert!(matches!(refused, FilterError::OutOfRange(it) if it == beyond));
    }
}
