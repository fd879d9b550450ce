//! The common axis of a file: nanoseconds since the earliest time that could be shown.
//!
//! Viewers count nanoseconds, traces count ticks of any rate, and a `f64` holds neither:
//! a day has 8.64e13 ns, and Chrome's JSON is read as `f64` of microseconds. So ticks become
//! nanoseconds by whole numbers,
//!
//! ```text
//! ns = floor((stamp - origin) * 1e9 / rate)
//! ```
//!
//! which keeps order, so that what was nested stays nested. The origin is that of the whole
//! trace at all times that are shown, so that files of several stretches or locations of one
//! trace have the same axis. With corrected times it can lie before the first recorded one.

use retime::{Correction, LocationIndex, TickRate, Ticks, Timestamp};

use crate::error::ExportError;
use crate::shown::{Exported, Shown};

const NANOSECONDS: u64 = 1_000_000_000;

/// From stamps to nanoseconds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    origin: u64,
    rate: u64,
}

impl Axis {
    /// The axis of a trace at the times that are shown.
    pub(crate) fn of(exported: &Exported<'_>, shown: &Shown) -> Result<Self, ExportError> {
        let (recorded, corrected) = shown.groups();
        let mut ends: Option<(u64, u64)> = None;
        let mut meet = |(first, last): (Timestamp, Timestamp)| {
            let (least, most) = ends.unwrap_or((first.0, last.0));
            ends = Some((least.min(first.0), most.max(last.0)));
        };
        let nodes = exported.causality.nodes();
        for location in 0..nodes.locations() {
            let Some(extent) = nodes.extent(location) else {
                continue;
            };
            let own = (extent.first, extent.last);
            if recorded {
                meet(own);
            }
            if corrected {
                let of = LocationIndex(location as u32);
                let moved = exported.correction.map(|it| ends_of(it, of, own.0, own.1));
                meet(moved.unwrap_or(Some(own)).ok_or(ExportError::TooFar)?);
            }
        }
        let (origin, last) = ends.unwrap_or_default();
        Self::between(origin, last, exported.info.rate)
    }

    fn between(origin: u64, last: u64, rate: TickRate) -> Result<Self, ExportError> {
        let rate = rate.get();
        let seconds = (last - origin) / rate;
        if seconds >= i64::MAX as u64 / NANOSECONDS {
            return Err(ExportError::TooLong { seconds });
        }
        Ok(Self { origin, rate })
    }

    /// Nanoseconds from the origin to a stamp; 0 for what lies before it.
    #[inline]
    pub(crate) fn nanoseconds(&self, stamp: Timestamp) -> u64 {
        let ticks = stamp.0.saturating_sub(self.origin);
        if self.rate == NANOSECONDS {
            return ticks;
        }
        let (seconds, rest) = (ticks / self.rate, ticks % self.rate);
        let part = match rest.checked_mul(NANOSECONDS) {
            Some(product) => product / self.rate,
            None => (u128::from(rest) * u128::from(NANOSECONDS) / u128::from(self.rate)) as u64,
        };
        seconds * NANOSECONDS + part
    }

    /// The stamp so many ticks after the origin.
    pub(crate) fn stamp(&self, ticks: Ticks) -> Timestamp {
        Timestamp(self.origin.saturating_add_signed(ticks.0))
    }

    /// Nanoseconds from the origin to a stamp that may lie before it.
    pub(crate) fn signed(&self, stamp: Timestamp) -> i64 {
        self.span(Timestamp(self.origin), stamp)
    }

    /// Nanoseconds from one stamp to another, rounded down; the last that there are for more.
    pub(crate) fn span(&self, from: Timestamp, to: Timestamp) -> i64 {
        let ticks = i128::from(to.0) - i128::from(from.0);
        let span = (ticks * i128::from(NANOSECONDS)).div_euclid(i128::from(self.rate));
        i64::try_from(span).unwrap_or(if span < 0 { i64::MIN } else { i64::MAX })
    }

    /// Nanoseconds from one stamp to another as they stand on the axis.
    pub(crate) fn shown_span(&self, from: Timestamp, to: Timestamp) -> i64 {
        self.nanoseconds(to).cast_signed() - self.nanoseconds(from).cast_signed()
    }

    /// A span in whole nanoseconds, for values that are drawn.
    pub(crate) fn drawn(&self, ticks: f64) -> f64 {
        (ticks * NANOSECONDS as f64 / self.rate as f64).round()
    }
}

/// Where a correction puts the first and the last stamp of a location.
fn ends_of(
    correction: &Correction,
    location: LocationIndex,
    first: Timestamp,
    last: Timestamp,
) -> Option<(Timestamp, Timestamp)> {
    let mut cursor = correction.map_of(location).cursor(location);
    // The number of an event counts at steps, and is largest at the end.
    Some((cursor.map(0, first)?, cursor.map(u64::MAX, last)?))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn axis(origin: u64, rate: u64) -> Axis {
        let rate = TickRate::per_second(rate).unwrap();
        Axis::between(origin, origin, rate).unwrap()
    }

    #[test]
    fn ticks_become_nanoseconds_by_whole_numbers() {
        let at = |rate, ticks| axis(7, rate).nanoseconds(Timestamp(7 + ticks));
        assert_eq!(at(1_000_000_000, 123), 123);
        // A third of a nanosecond is rounded down.
        assert_eq!(at(3_000_000_000, 4), 1);
        assert_eq!(at(1, 100), 100_000_000_000);
        // Half a year of a counter as it is found in processors; a f64 is 1 ns off.
        let (rate, half_a_year) = (2_095_197_216, 15_768_000);
        assert_eq!(
            at(rate, rate * half_a_year + 3),
            half_a_year * NANOSECONDS + 1
        );
    }

    #[test]
    fn what_takes_centuries_is_refused() {
        let rate = TickRate::per_second(1).unwrap();
        let found = Axis::between(0, 1 << 40, rate).unwrap_err();
        assert!(matches!(found, ExportError::TooLong { seconds } if seconds == 1 << 40));
    }

    #[test]
    fn spans_have_a_sign() {
        let axis = axis(7, 3_000_000_000);
        assert_eq!(axis.signed(Timestamp(4)), -1);
        assert_eq!(axis.signed(Timestamp(3)), -2);
        assert_eq!(axis.span(Timestamp(100), Timestamp(400)), 100);
        let seconds = self::axis(0, 1);
        assert_eq!(seconds.span(Timestamp(u64::MAX), Timestamp(0)), i64::MIN);
    }

    proptest! {
        #[test]
        fn it_is_the_floor_of_the_quotient(rate in 1_u64.., ticks in any::<u64>()) {
            let exact = u128::from(ticks) * u128::from(NANOSECONDS) / u128::from(rate);
            prop_assume!(exact < 1 << 63);
            prop_assert_eq!(u128::from(axis(0, rate).nanoseconds(Timestamp(ticks))), exact);
        }
    }
}
