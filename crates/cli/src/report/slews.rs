//! Changes of clocks' rates, in words.
//!
//! A time service that slews a clock lets it run at another rate for a while, so that it gains or loses what
//! it was wrong by, and a clock that stands still until the time has come up with it does, too. Both are two
//! changes of its rate, of which the second takes back the first; whoever reads of them looks for one slew:
//!
//! ```text
//! rate      0 ______          ______        gained:  (C2 - C1) r / (1 + r)
//!           r       |________|
//!                  C1        C2
//! ```

use retime::{TickRate, Ticks};

use super::clock_names::the_clock;
use super::model::{RateChangePart, Report};
use super::stamps::{one_stamp, two_stamps};

/// A share of the one change has to be taken back by the other for these two to be a slew, however little
/// is known of both: more than half of it.
const TAKEN_BACK: f64 = 0.5;

/// An episode of a clock whose rate changed.
#[derive(Debug, PartialEq)]
pub(super) enum RateEvent<'a> {
    /// It ran at another rate from a moment on,
    Change(&'a RateChangePart),
    /// or from one moment to another.
    Slew(&'a RateChangePart, &'a RateChangePart),
}

/// Slews, and what is left of changes of rates, given by clock and time.
pub(super) fn rate_events(changes: &[RateChangePart]) -> Vec<RateEvent<'_>> {
    let mut events = Vec::new();
    let mut left = changes;
    while let [first, rest @ ..] = left {
        left = match rest {
            [second, others @ ..] if takes_back(first, second) => {
                events.push(RateEvent::Slew(first, second));
                others
            }
            _ => {
                events.push(RateEvent::Change(first));
                rest
            }
        };
    }
    events
}

/// True if a clock runs after the second change as it did before the first, as far as both are known.
fn takes_back(first: &RateChangePart, second: &RateChangePart) -> bool {
    let known_to = |it: &RateChangePart| it.known_to_ppm.unwrap_or(f64::INFINITY);
    let [a, b] = [first, second].map(|it| it.by_ppm);
    let left = (a + b).abs();
    first.clock == second.clock
        && left <= known_to(first) + known_to(second)
        && left < (1.0 - TAKEN_BACK) * a.abs().max(b.abs())
}

impl RateEvent<'_> {
    /// The clock that it was.
    pub(super) fn clock(&self) -> u32 {
        match self {
            Self::Change(it) | Self::Slew(it, _) => it.clock,
        }
    }

    /// Writes which clock it was, what it did and when.
    pub(super) fn words(&self, report: &Report, rate: TickRate) -> String {
        let ppm = |by: f64| (by * 10.0).round() / 10.0;
        match self {
            Self::Change(it) => format!(
                "{} ran {} ppm {} than before from its stamp {} on",
                the_clock(report, it.clock),
                ppm(it.by_ppm.abs()),
                if it.by_ppm > 0.0 { "faster" } else { "slower" },
                one_stamp(&report.trace, it.at)
            ),
            Self::Slew(first, second) => format!(
                "{} was slewed by {}, at {} ppm, between its stamps {}",
                the_clock(report, first.clock),
                gained(first, second, rate),
                ppm(first.by_ppm),
                two_stamps(&report.trace, first.at, second.at)
            ),
        }
    }
}

/// The time that a clock gained from one change of its rate to the next.
fn gained(first: &RateChangePart, second: &RateChangePart, rate: TickRate) -> String {
    let by = first.by_ppm * 1e-6;
    let shown = second.at.saturating_sub(first.at) as f64;
    let gained = rate.format(Ticks((shown * by / (1.0 + by)) as i64));
    let sign = if by > 0.0 { "+" } else { "" };
    format!("{sign}{gained}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(clock: u32, at: u64, by_ppm: f64) -> RateChangePart {
        RateChangePart {
            clock,
            after: at - 5,
            until: at + 5,
            at,
            by_ppm,
            known_to_ppm: Some(10.0),
        }
    }

    #[test]
    fn a_change_that_the_next_one_takes_back_is_a_slew() {
        let slewed = [change(0, 10, 500.0), change(0, 50, -490.0)];
        assert_eq!(
            rate_events(&slewed),
            [RateEvent::Slew(&slewed[0], &slewed[1])]
        );
        // By another clock, by another amount, and where all is known only to so much.
        for second in [
            change(1, 50, -490.0),
            change(0, 50, -470.0),
            change(0, 50, 490.0),
        ] {
            let changes = [change(0, 10, 500.0), second];
            let [one, other] = &changes;
            let events = [one, other].map(RateEvent::Change);
            assert_eq!(rate_events(&changes), events);
        }
        let small = [change(0, 10, 12.0), change(0, 50, -5.0)];
        assert_eq!(rate_events(&small).len(), 2);
        // The first goes on, and only the next one is taken back.
        let three = [
            change(0, 10, 100.0),
            change(0, 50, 500.0),
            change(0, 90, -500.0),
        ];
        let [first, second, third] = &three;
        let events = [RateEvent::Change(first), RateEvent::Slew(second, third)];
        assert_eq!(rate_events(&three), events);
    }

    #[test]
    fn a_clock_gains_by_its_own_stamps() {
        let rate = TickRate::per_second(1_000_000_000).unwrap();
        // Six seconds of which it took five, and the fifth part of one that took a whole.
        let [fast, slow] = [200_000.0, -800_000.0].map(|it| change(0, 1_000, it));
        let until = |seconds: f64| change(0, 1_000 + (seconds * 1e9) as u64, 0.0);
        assert_eq!(gained(&fast, &until(6.0), rate), "+1 s");
        assert_eq!(gained(&slow, &until(0.2), rate), "-800 ms");
    }
}
