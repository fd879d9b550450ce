//! How far mean rates can be from those of their lines, and what that says of wider bounds.
//!
//! A clock that was set has a mean rate, too: between its steps it gains `sum g_i` in pieces of
//! `sum l_i`, and in what lies between them, `gap`, as much a tick but for `rho`. So its mean rate is
//! `(sum g_i +- rho gap) / sum l_i`.
//!
//! Rates are taken to differ from those of the lines by more and more, until
//! [bounds](super::bounds) prove that no clock's mean rate differs by as much. Where a run is
//! short they never do: a clock that is known to 6 us all of a run of 1 ms can be off by 6000 ppm.
//! Then there is no need to try what is refuted beforehand. Two things refute it:
//!
//! **Narrower bounds.** With more freedom a clock can do all that it could with less, so that its
//! bounds, `most` apart between moments that are `apart`, become no narrower. They may begin
//! earlier and end later then, for with more freedom more dependencies matter; but from
//! there on a clock can go on as fast as before, by `slope`. So in an extent of `whole` its mean
//! rate is always at least
//!
//! ```text
//! min(most / apart, (most + slope (whole - apart)) / whole)
//! ```
//!
//! **Slack.** If the lines satisfy all dependencies, each leaves a slack, and what bounds a
//! clock below and above is a way there and a way back, whose slacks add up. So its bounds are
//! nowhere nearer to each other than the least slack of what leads to it and of what leads away
//! from it, together and with a tick; and of the two differences between its ends one is as large:
//!
//! ```text
//!   reference --1.5--> ... --2--> clock     6 apart at least where 4 us leads away: in a run
//!             <--3---- ... <--4--           of 1 ms the mean rate is not known to 6000 ppm
//! ```

use super::facts::{Facts, ticks};
use super::link::Kept;
use super::offset_bounds::{ClockBounds, OffsetBounds};
use retime_model::ClockId;

/// The share below which a refutation may be rounding.
pub(super) const ROUNDING: f64 = 1e-6;

/// True if mean rates that differ by at least `least` refute that they differ by less than
/// `delta`.
pub(super) fn refute(least: f64, delta: f64) -> bool {
    least > delta * (1.0 + ROUNDING)
}

/// The amount by which the mean rate of any clock that is bounded on both sides can differ from
/// that of its line, if it never strays from it by more than `drift`; and by how much at least with
/// more freedom, if dependencies that do not contradict each other gave these bounds for clocks that
/// change by `slope`.
pub(super) fn differ_by(found: &OffsetBounds, drift: f64, slope: f64) -> (f64, f64) {
    let clocks = found.clocks.iter().flatten();
    let rates = clocks.filter_map(|clock| {
        let gain = Gain::of(clock)?;
        let whole = clock.extent.1.saturating_sub(clock.extent.0) as f64;
        let (most, apart) = (gain.most + drift * gain.unknown, gain.apart);
        let at_least = if whole > apart {
            ((most + slope * (whole - apart)) / whole).min(most / apart)
        } else {
            most / apart
        };
        Some((most / apart, at_least))
    });
    rates.fold((0.0, 0.0), |a, b| (a.0.max(b.0), a.1.max(b.1)))
}

/// How far a clock can gain or lose against its line, in ticks.
struct Gain {
    most: f64,
    /// How long the pieces between its first and its last fact are in which it was not set,
    apart: f64,
    /// and what is between them. There it gains by its mean rate, but for the drift bound.
    unknown: f64,
}

impl Gain {
    /// The gain of a clock; `None` where it is not bounded on both sides, or for no time.
    fn of(clock: &ClockBounds) -> Option<Self> {
        let ends = |knots: &[(i64, f64)]| Some((knots.first()?.0, knots.last()?.0));
        let (low, high) = (ends(&clock.low.knots)?, ends(&clock.high.knots)?);
        let (first, last) = (low.0.min(high.0), low.1.max(high.1));
        let cuts = &clock.low.steps;
        let starts = std::iter::once(first).chain(cuts.iter().map(|cut| cut.1));
        let ends = cuts.iter().map(|cut| cut.0).chain(std::iter::once(last));
        let at = |stamp: i64| (clock.low.at(stamp), clock.high.at(stamp) + clock.tick);
        let (mut up, mut down, mut apart) = (0.0, 0.0, 0.0);
        for (from, to) in starts.zip(ends).filter(|it| it.0 < it.1) {
            let (before, after) = (at(from), at(to));
            up += after.1 - before.0;
            down += before.1 - after.0;
            apart += to.saturating_sub(from) as f64;
        }
        let most = up.max(down);
        let unknown = last.saturating_sub(first) as f64 - apart;
        (most.is_finite() && apart > 0.0).then_some(Self {
            most,
            apart,
            unknown,
        })
    }
}

/// The amount by which mean rates can differ at least from those of the lines, by the slacks of all
/// dependencies that matter; 0 if the lines do not satisfy them.
pub(super) fn differ_by_slack(kept: &[Kept], facts: &Facts<'_>) -> f64 {
    let mut clocks = vec![Slack::default(); facts.clocks()];
    for route in kept {
        let largest = route.links.iter().map(|link| link.bound).max();
        let Some(slack) = largest.map(|bound| -ticks(bound)) else {
            continue;
        };
        if slack < 0.0 {
            return 0.0;
        }
        let (from, to) = (route.from.0.as_usize(), route.to.0.as_usize());
        clocks[from].away = clocks[from].away.min(slack);
        clocks[to].there = clocks[to].there.min(slack);
        for link in &route.links {
            clocks[from].is_at(link.at_from);
            clocks[to].is_at(link.at_to);
        }
    }
    let routes = || kept.iter().map(|it| (it.from.0, it.to.0));
    let there = reached(facts, routes());
    let away = reached(facts, routes().map(|(from, to)| (to, from)));
    let rate = |(clock, slack): (ClockId, &Slack)| {
        let is_bounded = there[clock.as_usize()] && away[clock.as_usize()];
        let (first, last) = facts.extent(clock).filter(|_| is_bounded)?;
        let whole = last.saturating_sub(first) as f64;
        let known_to = slack.there + slack.away + facts.granularity(clock) as f64;
        (slack.lasts() && whole > 0.0).then_some(known_to / whole)
    };
    let rates = (0..).map(ClockId).zip(&clocks).filter_map(rate);
    rates.fold(0.0, f64::max)
}

/// The least slack of what leads to a clock and away from it, and between which of its places.
#[derive(Clone, Copy)]
struct Slack {
    there: f64,
    away: f64,
    first: i64,
    last: i64,
}

impl Default for Slack {
    fn default() -> Self {
        Self {
            there: f64::INFINITY,
            away: f64::INFINITY,
            first: i64::MAX,
            last: i64::MIN,
        }
    }
}

impl Slack {
    fn is_at(&mut self, place: i64) {
        self.first = self.first.min(place);
        self.last = self.last.max(place);
    }

    /// True if there is any time between its first place and its last.
    fn lasts(&self) -> bool {
        self.first < self.last
    }
}

/// Per clock: true if a way leads there from the reference.
fn reached(facts: &Facts<'_>, routes: impl Iterator<Item = (ClockId, ClockId)>) -> Vec<bool> {
    let mut next = vec![Vec::new(); facts.clocks()];
    for (from, to) in routes {
        next[from.as_usize()].push(to);
    }
    let mut is_reached = vec![false; facts.clocks()];
    let mut open = vec![facts.reference()];
    while let Some(clock) = open.pop() {
        if !std::mem::replace(&mut is_reached[clock.as_usize()], true) {
            open.append(&mut next[clock.as_usize()]);
        }
    }
    is_reached
}
