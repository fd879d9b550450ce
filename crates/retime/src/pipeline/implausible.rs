//! Results that cannot be right, whatever method made them.
//!
//! An estimator draws its lines through whatever dependencies there are, and where they
//! do not suffice some of these lines are far from any clock. Two things show that
//! without the truth:
//!
//! - **Rates**: clocks of computers differ by millionths. Let `r(c)` be the rate at which a
//!   correction runs on the stamps of clock `c`, corrected per recorded tick; a result is
//!   refused if `max r - min r` is more than a limit. Where a clock is known to have been set there is
//!   no rate. What jumped or stood still is not one, either: `r` is the mean over the middle half of a clock's stamps, ordered by
//!   how fast the map runs there. Only clocks that were aligned have rates; a logical
//!   clock jumps.
//! - **Bounds** hold whatever the method, so a result is refused that puts more than
//!   [`OUTSIDE_SHARE`] of the events, and more than 5, further [outside](crate::optimal::outside)
//!   than any is as recorded, see [`Bounds::outside`](super::Bounds::outside). To be outside
//!   at all is no nonsense yet: between two messages that it corrects, a logical clock is
//!   wrong by more than all messages together leave open.
//!
//! ```
//! use retime::{ClockMap, Knot, Timestamp};
//! use retime::pipeline::middle_rate;
//! // Set by 500 at 1000, and 2 % too fast otherwise.
//! let knots = [(0, 0), (1_000, 1_020), (1_010, 1_520), (2_010, 2_540)];
//! let knots = knots.map(|(raw, to)| Knot::at(Timestamp(raw), Timestamp(to)));
//! let map = ClockMap::new(knots.to_vec(), vec![])?;
//! assert!((middle_rate(&map, &[]).rate - 1.02).abs() < 1e-9);
//! # Ok::<(), retime::MapError>(())
//! ```

use std::ops::Range;

use retime_alignment::MOST_RATE_DIFFERENCE;
use retime_bounds::Outside;
use retime_model::{ClockId, Clocks, TraceInfo, format_seconds};
use retime_model::{ClockMap, Correction, Knot, Timestamp};

/// The amount by which the rates of two clocks may differ, unless told otherwise: a hundred times
/// what quartzes do.
pub const RATE_DIFFERENCE: f64 = 1e-2;

/// The share of events that may lie further outside the bounds than the recording:
/// where clocks wander by more than the drift bound for a moment, or a stamp is
/// wrong, a few do.
pub const OUTSIDE_SHARE: f64 = 1e-3;

/// So many may in any case: in a short run a single wrong reading is more than a
/// thousandth, and it can be the begin or the end of an operation and its messages.
const A_HANDFUL: u64 = 5;

/// Digits of percentages in words, unless two would look alike,
const DIGITS: usize = 3;
/// and the most: what is left of a rate in parts of 10^-18 is below any rounding.
const MOST_DIGITS: usize = 16;

/// A result that cannot be right. Clocks have no names here:
/// [`describe`](Self::describe) says the same with them.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum Implausible {
    /// The rates of two clocks differ by too much.
    #[error("the rates of two clocks would differ by {} %, more than {} %", 100.0 * .0.by, 100.0 * .1)]
    RatesDiffer(RateDifference, f64),
    /// Too many events lie further outside their bounds than any does as recorded.
    #[error(
        "{} % of the events would lie further outside the error bounds than any does as recorded",
        100.0 * .0.share()
    )]
    OutsideBounds(Outside),
}

/// The amount by which the rates of two clocks differ.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RateDifference {
    /// The clock whose stamps are shortened most, or stretched least,
    pub from: ClockId,
    /// the one whose stamps are stretched most,
    pub to: ClockId,
    /// and the share by which their rates differ for certain: corrected stamps are whole
    /// ticks.
    pub by: f64,
}

/// At which rate a map runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MiddleRate {
    /// Corrected per recorded tick.
    pub rate: f64,
    /// The amount by which rounding to whole ticks may have changed that.
    pub rounding: f64,
}

impl Implausible {
    /// Refuses events outside that are more than a few.
    pub(super) fn refuse_outside(found: Outside) -> Result<(), Self> {
        if found.outside > A_HANDFUL && found.share() > OUTSIDE_SHARE {
            return Err(Self::OutsideBounds(found));
        }
        Ok(())
    }

    /// In words, with the names of clocks.
    pub fn describe(&self, info: &TraceInfo, clocks: &Clocks) -> String {
        match self {
            Self::RatesDiffer(found, limit) => {
                let (by, limit) = distinct_percents(found.by, *limit);
                format!(
                    "the rates of {} and {} would differ by {by} %, more than {limit} %",
                    clocks.describe(info, found.from),
                    clocks.describe(info, found.to),
                )
            }
            Self::OutsideBounds(found) => format!(
                "{} % of the events would lie further outside the error bounds than any does as \
                 recorded, by up to {}",
                percent(found.share(), DIGITS),
                format_seconds(found.furthest / info.rate.get() as f64),
            ),
        }
    }
}

/// A share in percent, with at most so many digits after the point.
fn percent(share: f64, digits: usize) -> String {
    let text = format!("{:.digits$}", 100.0 * share);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

/// Two shares in percent, with as many digits as tell them apart, and from nothing.
fn distinct_percents(one: f64, other: f64) -> (String, String) {
    let all = DIGITS..=MOST_DIGITS;
    let both = all.map(|digits| (percent(one, digits), percent(other, digits)));
    let mut distinct = both.filter(|(one, other)| one != other && one != "0" && other != "0");
    distinct
        .next()
        .unwrap_or_else(|| ((100.0 * one).to_string(), (100.0 * other).to_string()))
}

impl RateDifference {
    /// In words, what it means for error bounds if it is [more](MOST_RATE_DIFFERENCE) than that of any two clocks;
    /// `None` if it is not.
    pub(super) fn warning(&self, info: &TraceInfo, clocks: &Clocks) -> Option<String> {
        let (by, most) = distinct_percents(self.by, MOST_RATE_DIFFERENCE);
        (self.by > MOST_RATE_DIFFERENCE).then(|| {
            format!(
                "by this result the rates of {} and {} differ by {by} %, and those of no two clocks by more \
                 than {most} %: if a frequency is declared wrongly, all is well; if a clock was set instead, bounds do \
                 not hold",
                clocks.describe(info, self.from),
                clocks.describe(info, self.to),
            )
        })
    }

    /// The largest between the clocks of a correction; `None` if no two differ for certain. `set` tells
    /// in which stretches of its stamps a clock was set.
    pub fn largest(
        correction: &Correction,
        set: impl Fn(ClockId) -> Vec<Range<Timestamp>>,
    ) -> Option<Self> {
        let clocks = correction.clocks().iter();
        let rate = |clock| middle_rate(correction.map(clock), &set(clock));
        let rates = clocks.map(|clock| (clock, rate(clock)));
        let rates: Vec<(ClockId, MiddleRate)> = rates.collect();
        let low = |it: &MiddleRate| it.rate + it.rounding;
        let high = |it: &MiddleRate| it.rate - it.rounding;
        let (from, least) = rates
            .iter()
            .min_by(|a, b| low(&a.1).total_cmp(&low(&b.1)))?;
        let (to, most) = rates
            .iter()
            .max_by(|a, b| high(&a.1).total_cmp(&high(&b.1)))?;
        let by = high(most) - low(least);
        (by > 0.0).then_some(Self {
            from: *from,
            to: *to,
            by,
        })
    }

    /// Refuses one that is larger than a limit.
    pub fn refuse(self, limit: f64) -> Result<(), Implausible> {
        if self.by > limit {
            return Err(Implausible::RatesDiffer(self, limit));
        }
        Ok(())
    }
}

/// The rate at which a map runs in the middle half of its stamps, ordered by rate; 1
/// where it only shifts. The stretches in which its clock was set are left out: no rate leads through
/// them.
pub fn middle_rate(map: &ClockMap, set: &[Range<Timestamp>]) -> MiddleRate {
    let is_set = |ends: &[Knot]| {
        set.iter()
            .any(|it| it.start <= ends[0].raw && ends[1].raw <= it.end)
    };
    let pieces = map.knots().windows(2).filter(|it| !is_set(it));
    let pieces = pieces.map(|ends| {
        let run = ends[1].raw.0 - ends[0].raw.0;
        (run as f64, (ends[1].arrive.0 - ends[0].leave.0) as f64)
    });
    let mut pieces: Vec<(f64, f64)> = pieces.collect();
    pieces.sort_by(|a, b| (a.1 / a.0).total_cmp(&(b.1 / b.0)));
    let all: f64 = pieces.iter().map(|it| it.0).sum();
    if all == 0.0 {
        return MiddleRate {
            rate: 1.0,
            rounding: 0.0,
        };
    }
    let (from, to) = (all / 4.0, all * 3.0 / 4.0);
    let (mut passed, mut risen, mut parts) = (0.0, 0.0, 0.0);
    for (run, rise) in pieces {
        let inside = (passed + run).min(to) - f64::max(passed, from);
        if inside > 0.0 {
            risen += rise * inside / run;
            parts += inside / run;
        }
        passed += run;
    }
    MiddleRate {
        rate: risen / (to - from),
        rounding: parts / (to - from),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use retime_model::TickRate;

    /// A correction of clocks that are mapped by straight lines through 0.
    fn lines(ends: &[(u64, u64)]) -> Correction {
        let knot = |raw, to| Knot::at(Timestamp(raw), Timestamp(to));
        let map = |&(raw, to)| ClockMap::new(vec![knot(0, 0), knot(raw, to)], vec![]).unwrap();
        let maps = ends.iter().map(map).collect();
        Correction::new(Clocks::each_location(ends.len()), maps)
    }

    /// The largest difference of clocks that were not set.
    fn largest(correction: &Correction) -> Option<RateDifference> {
        RateDifference::largest(correction, |_| Vec::new())
    }

    /// Set forward for more than half of the stamps that it shows.
    #[test]
    fn a_stretch_in_which_a_clock_was_set_is_no_rate() {
        let knots = [(0, 0), (1_000, 1_000), (4_000, 1_010), (5_000, 2_010)];
        let knots = knots.map(|(raw, to)| Knot::at(Timestamp(raw), Timestamp(to)));
        let map = ClockMap::new(knots.to_vec(), vec![]).unwrap();
        let rate = |set: &[Range<Timestamp>]| middle_rate(&map, set).rate;
        assert!(rate(&[]) < 0.5, "{}", rate(&[]));
        let set = [Timestamp(1_000)..Timestamp(4_000)];
        assert!((rate(&set) - 1.0).abs() < 1e-9, "{}", rate(&set));
    }

    #[test]
    fn the_largest_difference_counts() {
        let found = largest(&lines(&[
            (1_000_000, 1_000_000),
            (2_000_000, 2_060_000),
            (1_000_000, 990_000),
        ]));
        let found = found.unwrap();
        assert_eq!((found.from, found.to), (ClockId(2), ClockId(1)));
        // Less a tick in each run, by half of which a rate is taken.
        assert!(
            (found.by - 0.04).abs() < 1e-5 && found.by < 0.04,
            "{found:?}"
        );
        assert!(found.refuse(0.05).is_ok());
        let limited = found.refuse(0.01).unwrap_err();
        assert_eq!(limited, Implausible::RatesDiffer(found, 0.01));
        assert_eq!(largest(&lines(&[(100, 900)])), None);
    }

    #[test]
    fn rates_that_differ_by_more_than_clocks_do_are_warned_of() {
        let info = TraceInfo {
            rate: TickRate::per_second(1_000).unwrap(),
            locations: vec![],
            processes: vec![],
            nodes: vec![],
            communicators: vec![],
            streams: Vec::new(),
            set_back: Vec::new(),
        };
        let clocks = Clocks::each_location(2);
        let warned = |by: f64| {
            let (from, to) = (ClockId(0), ClockId(1));
            RateDifference { from, to, by }.warning(&info, &clocks)
        };
        assert_eq!(warned(5e-4), None);
        let told = warned(9.1e-3).unwrap();
        assert!(told.contains("differ by 0.91 %"), "{told}");
        assert!(told.contains("more than 0.06 %"), "{told}");
    }

    #[test]
    fn percentages_are_told_apart() {
        let percents = |one, other| {
            let (one, other) = distinct_percents(one, other);
            format!("{one} {other}")
        };
        assert_eq!(percents(0.37712, 0.01), "37.712 1");
        assert_eq!(percents(2.0e-9, 1.0e-9), "0.0000002 0.0000001");
        assert_eq!(percents(0.010_000_1, 0.01), "1.00001 1");
        assert_eq!(percents(0.05, 1e-6), "5 0.0001");
    }

    #[test]
    fn rounding_and_shifts_are_no_rates() {
        // A tick in a hundred may be rounding; the other clock is as recorded.
        let mut clocks = lines(&[(100, 101)]);
        let coarse = clocks.map(ClockId(0)).clone();
        clocks = Correction::new(Clocks::each_location(2), vec![coarse, ClockMap::default()]);
        assert_eq!(largest(&clocks), None);
    }

    #[test]
    fn a_handful_outside_is_no_nonsense() {
        let found = |outside, events| Outside {
            events,
            outside,
            furthest: 1.0,
        };
        assert!(Implausible::refuse_outside(found(5, 10)).is_ok());
        assert!(Implausible::refuse_outside(found(6, 10)).is_err());
        assert!(Implausible::refuse_outside(found(10, 10_000)).is_ok());
        assert!(Implausible::refuse_outside(found(11, 10_000)).is_err());
        assert!(Implausible::refuse_outside(found(0, 0)).is_ok());
    }
}
