//! How much a link counts in the centre.
//!
//! If every dependency cost the same at the same slack, two kinds of links would have a
//! say that is not theirs.
//!
//! **A loose link would have none.** Where a program waits, the fastest messages of a link
//! can all be late by much, and nearly by the same: then they know little of the offset
//! and much of the rate. Their pull falls with the cube of the slack, so that the prior on rates
//! outweighs them all. If each link were measured by its own slack alone, on the other
//! hand, the loosest would count as much as the tightest. Between the two,
//!
//! ```text
//! w = S_l / S,     S_l = (mean over the tight dependencies of 1 / slack^2)^(-1/2)
//! ```
//!
//! **Both directions of a pair would be believed alike.** Where the fastest messages of [one lie closer
//! together](super::asymmetry) than those of the other, they are taken to need `a` and `b`, and slacks are
//! shared accordingly, above the latency that counts for none:
//!
//! ```text
//! slack / slack' = r,    r = (a - least) / (b - least)
//! ```
//!
//! Where fewer than sixteen windows of time tell, the spreads `d` and `d'` of the sixteen fastest do if they
//! are further apart than a factor of ten: `r = ((d / d') / 10)^(1/2)` for `d > 10 d'`. On recordings
//! with known truth, sharing by any ratio of these brought as many pairs of clocks nearer to the truth as
//! it took away (175 and 176 pairs); by what is beyond ten, 35 and 20, and where the ratio was
//! believed as it is, without the root, 30 and 25.
//!
//! Weights `u` and `1/u` of the two do that with `u^2 = r^2`: each of the tightest pulls by
//! `w S^2 / slack^3`, and `S_l` grows with the slack itself.
//!
//! **A rare direction**, of fewer than sixteen dependencies (a pipeline that ends in a barrier), would
//! even get the least slack, as so few pull against the tightest of all windows. There the counts `n` and
//! `n'` of what pulls go with it, `u^2 = r^2 n' / n`, so that `n u / slack^2 = n' / (u slack'^2)`; and
//! `n` dependencies with a spread of `d` are taken for sixteen with `15 d / (n - 1)`. Where both
//! directions are rare, as between most pairs of many clocks that meet in collectives, neither
//! tells more than the other.

use super::asymmetry::{fastest_time, share_of_wait};
use super::barrier::Barrier;
use super::links::Links;
use super::options::OPTIONS;
use super::survey::{Survey, Surveyed};
use retime_numerics::parallel;

/// The weight of each link in a centre, by what a pass found: of slacks above `zero`, and
/// where nothing below `finest` can be told apart.
pub(super) fn weights(
    links: &Links,
    survey: &Survey,
    zero: Zero,
    barrier: Barrier,
    finest: f64,
) -> Vec<f64> {
    let list = links.list();
    let floor = |at: usize| Floor::of(&survey.links[at], list[at].count, finest);
    let floors: Vec<Floor> = parallel::numbers(list.len(), floor);
    let back = |at: usize| links.opposite(at);
    // Of two directions the one shares by the reciprocal of the other.
    let share = |at: usize| match back(at) {
        Some(back) if back > at => floors[at].share(&floors[back], zero),
        _ => 1.0,
    };
    let shares: Vec<f64> = parallel::numbers(list.len(), share);
    let of = |at: usize| {
        let share = match back(at) {
            Some(back) if back < at => shares[back].recip(),
            _ => shares[at],
        };
        own_scale(&survey.links[at], zero.least, barrier.knee) / barrier.scale * share
    };
    parallel::numbers(list.len(), of)
}

/// The latency that no dependency undercuts: the least of all, or less where [both directions of a pair
/// show](fastest_time) that the fastest of one take less, beyond a deviation. None takes less than `soonest`, and
/// nothing below `finest` can be told apart.
pub(super) fn shown_floor(links: &Links, survey: &Survey, soonest: f64, finest: f64) -> f64 {
    let of = |at: usize| {
        let back = links.opposite(at).filter(|it| *it > at)?;
        let (own, back) = (&survey.links[at], &survey.links[back]);
        let [a, b] = [own.spread?, back.spread?].map(|it| it.max(finest));
        let sum = own.least + back.least;
        let time = (sum > 0.0).then(|| fastest_time(sum, a, b, soonest))?;
        Some(time.mean.min(sum - time.mean) + time.deviation)
    };
    let shown = parallel::numbers(survey.links.len(), of);
    shown.into_iter().flatten().fold(survey.least(), f64::min)
}

/// The scale of a link's slacks: the tightest decide it, as they do the centre. Below the
/// barrier's knee none pulls by more.
fn own_scale(link: &Surveyed, least: f64, knee: f64) -> f64 {
    let (mut sum, mut count) = (0.0, 0);
    for latency in link.tight() {
        sum += (latency - least).max(knee).powi(-2);
        count += 1;
    }
    if count > 0 {
        (f64::from(count) / sum).sqrt()
    } else {
        knee
    }
}

/// Latencies that slacks count from, in ticks.
#[derive(Clone, Copy)]
pub(super) struct Zero {
    /// The latency that counts for no slack.
    pub(super) least: f64,
    /// The latency that no dependency undercuts, no less.
    pub(super) fastest: f64,
}

/// The tightest dependencies of a link, as far as they tell of its floor.
struct Floor {
    /// The least latency.
    least: f64,
    /// How far the lowest windows are spread, if there are enough.
    over_time: Option<f64>,
    /// How far the sixteen fastest are spread, if that is known.
    spread: Option<f64>,
    /// How many are tight at all.
    tight: usize,
    /// True if the link has fewer than sixteen.
    is_rare: bool,
}

impl Floor {
    /// The floor of a link of `count` dependencies, of which the tightest are known.
    fn of(link: &Surveyed, count: usize, finest: f64) -> Self {
        let mut tight: Vec<f64> = link.tight().collect();
        let sixteen = OPTIONS.spread - 1;
        // Of many of which only the few are listed that can be the tightest, nothing is known.
        let is_rare = count <= sixteen;
        let is_known = tight.len() > sixteen || is_rare && tight.len() > 1;
        let spread = is_known.then(|| {
            let last = sixteen.min(tight.len() - 1);
            let (before, at, _) = tight.select_nth_unstable_by(last, f64::total_cmp);
            let first = before.iter().copied().fold(*at, f64::min);
            ((*at - first) * sixteen as f64 / last as f64).max(finest)
        });
        Self {
            least: link.least,
            over_time: link.spread.map(|it| it.max(finest)),
            spread,
            tight: tight.len(),
            is_rare,
        }
    }

    /// The part of a weight that shares slack between two directions.
    fn share(&self, back: &Self, zero: Zero) -> f64 {
        // Between two rare directions, chance would decide.
        if self.is_rare && back.is_rare || self.tight.min(back.tight) == 0 {
            return 1.0;
        }
        let open = self.least + back.least - 2.0 * zero.fastest;
        match self.over_time.zip(back.over_time) {
            Some((own, other)) if open > 0.0 => {
                let share = share_of_wait(open, own, other);
                let slack = |share: f64| zero.fastest + share * open - zero.least;
                slack(share) / slack(1.0 - share)
            }
            _ => self.share_by_fastest(back),
        }
    }

    /// The part of a weight that shares slack where too few windows tell.
    fn share_by_fastest(&self, back: &Self) -> f64 {
        let looser = self.spread.zip(back.spread).map_or(1.0, |it| it.0 / it.1);
        let square = if looser > OPTIONS.looser {
            looser / OPTIONS.looser
        } else if looser * OPTIONS.looser < 1.0 {
            looser * OPTIONS.looser
        } else {
            1.0
        };
        let counts = if self.is_rare || back.is_rare {
            back.tight as f64 / self.tight as f64
        } else {
            1.0
        };
        (square * counts).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn floor(over_time: Option<f64>, spread: f64, tight: usize) -> Floor {
        Floor {
            least: 130.0,
            over_time,
            spread: Some(spread),
            tight,
            is_rare: tight < 16,
        }
    }

    const ZERO: Zero = Zero {
        least: 90.0,
        fastest: 100.0,
    };

    /// Where too few windows tell.
    fn share(own: (f64, usize), back: (f64, usize)) -> f64 {
        let [own, back] = [own, back].map(|(spread, tight)| floor(None, spread, tight));
        own.share(&back, ZERO)
    }

    #[test]
    fn the_direction_whose_fastest_lie_close_has_less_slack() {
        let of = |own, back| floor(Some(own), 7.0, 64).share(&floor(Some(back), 7.0, 64), ZERO);
        assert!((of(5.0, 5.0) - 1.0).abs() < 1e-9);
        // Far closer: all of the 60 ticks open are the wait of the other, the slacks 10 and 70.
        let (near, far) = (of(1e-6, 1e3), of(1e3, 1e-6));
        assert!(
            (near - 1.0 / 7.0).abs() < 1e-6 && (far - 7.0).abs() < 1e-4,
            "{near} {far}"
        );
    }

    #[test]
    fn slack_is_shared_by_spreads_that_differ_by_far() {
        let of = |own, back| share((own, 64), (back, 64));
        assert_eq!((of(1.0, 1.0), of(9.0, 1.0), of(1.0, 9.0)), (1.0, 1.0, 1.0));
        // A thousand times as far apart: the hundredfold beyond ten, its root in slack. The
        // pulls `w / slack^2` are equal where slacks are as 10 to 1.
        let (loose, dense) = (of(4_000.0, 4.0), of(4.0, 4_000.0));
        assert!((loose - 10.0).abs() < 1e-12 && (dense - 0.1).abs() < 1e-12);
        assert!((loose / 10.0_f64.powi(2) - dense / 1.0).abs() < 1e-12);
    }

    #[test]
    fn few_pull_as_much_as_many() {
        // Four against 64: weights of 4 and 1/4, and pulls `n u / slack^2` are equal at equal slack.
        let (few, many) = (share((1.0, 4), (1.0, 64)), share((1.0, 64), (1.0, 4)));
        assert_eq!((few, many), (4.0, 0.25));
        assert!((4.0 * few - 64.0 * many).abs() < 1e-12);
        // Between two that are both few nothing is shared.
        assert!((share((1.0, 4), (100.0, 8)) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_scale_is_that_of_the_tightest() {
        let link = Surveyed::of(&[12.0, 14.0, 1_010.0, 1_010.0]);
        // 1/4 + 1/16 and two that hardly count, over four.
        let scale = own_scale(&link, 10.0, 1.0);
        assert!((scale - (4.0_f64 / (0.25 + 0.0625 + 2e-6)).sqrt()).abs() < 1e-9);
        // Nothing is tighter than the knee.
        assert!(
            (own_scale(&link, 20.0, 3.0)
                - (4.0_f64 / (2.0 / 9.0 + 2.0 / 990.0_f64.powi(2))).sqrt())
            .abs()
                < 1e-9
        );
    }

    #[test]
    fn a_spread_is_that_of_sixteen() {
        let latencies: Vec<f64> = (0..20).map(|at| f64::from(at * at)).collect();
        let spread = |some: &[f64], count| Floor::of(&Surveyed::of(some), count, 0.5).spread;
        assert_eq!(spread(&latencies, 20), Some(225.0));
        // Of four within 9, sixteen lie within 45.
        assert_eq!(spread(&latencies[..4], 4), Some(45.0));
        assert_eq!(spread(&latencies[..1], 1), None);
        assert_eq!(spread(&[7.0, 7.0], 2), Some(0.5));
        // Four of twenty that were not listed.
        assert_eq!(spread(&latencies[..4], 20), None);
    }
}
