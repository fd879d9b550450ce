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
//! **Both directions of a pair would be believed alike.** The fastest message is above the
//! floor of its direction by about as much as messages near the floor lie apart: where the
//! sixteen fastest came within a microsecond, the floor is near; where they are spread over a
//! millisecond, nobody knows how far below them it lies. So if the two spreads `d` and `d'`
//! are further apart than a factor of ten, the slack is shared accordingly:
//!
//! ```text
//! slack / slack' = r,    r = ((d / d') / 10)^(1/2)  for d > 10 d',  1 between equals
//! ```
//!
//! Fewer than sixteen lie as far apart as so many more would: `n` of them with a spread of `d` are
//! taken for sixteen with `15 d / (n - 1)`.
//!
//! Weights `u` and `1/u` of the two do that with `u^2 = r^2 n' / n`, where `n` dependencies pull one
//! way and `n'` the other: each pulls by `w S^2 / slack^3`, and `S_l` grows with the slack itself,
//! so that pulls are equal where `n u / slack^2 = n' / (u slack'^2)`. Without the counts a direction of
//! few messages, of which none need be fast, would get hardly any slack.
//!
//! What differs by less says nothing: on recordings with known truth, sharing by any
//! ratio of spreads brought as many pairs of clocks nearer to the truth as it took away (175 and
//! 176 pairs); by what is beyond ten, 35 and 20, and where the ratio was believed as it is,
//! without the root, 30 and 25.
//!
//! Source: that the spacing of the lowest values tells how far the end of their
//! distribution lies below them, P. Hall, *On Estimating the Endpoint of a Distribution*,
//! Annals of Statistics 10 (1982).

use rayon::prelude::*;

use super::barrier::Barrier;
use super::links::{Link, Links};
use super::options::OPTIONS;
use super::survey::{Survey, Surveyed};

/// The weight of each link in a centre, by what a pass found: of slacks above `least`, and
/// where nothing below `finest` can be told apart.
pub(super) fn weights(
    links: &Links,
    survey: &Survey,
    least: f64,
    barrier: Barrier,
    finest: f64,
) -> Vec<f64> {
    let found = survey.links.par_iter();
    let floors: Vec<Option<Floor>> = found.map(|link| Floor::of(link, finest)).collect();
    let of = |(at, (link, found)): (usize, (&Link, &Surveyed))| {
        let back = || floors[links.opposite_index(link)?].as_ref();
        let both = floors[at].as_ref().and_then(|own| Some(own.share(back()?)));
        own_scale(found, least, barrier.knee) / barrier.scale * both.unwrap_or(1.0)
    };
    let found = links.list().par_iter().zip(&survey.links);
    found.enumerate().map(of).collect()
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

/// What the tightest dependencies of a link tell of its floor.
struct Floor {
    /// How far the sixteen fastest are spread,
    spread: f64,
    /// and how many are tight at all.
    count: usize,
}

impl Floor {
    /// Of a link; `None` if a single dependency is all.
    fn of(link: &Surveyed, finest: f64) -> Option<Self> {
        let mut tight: Vec<f64> = link.tight().collect();
        let count = tight.len();
        let last = (OPTIONS.spread - 1).min(count.checked_sub(1).filter(|it| *it > 0)?);
        let (before, at, _) = tight.select_nth_unstable_by(last, f64::total_cmp);
        let first = before.iter().copied().fold(*at, f64::min);
        let spread = (*at - first) * (OPTIONS.spread - 1) as f64 / last as f64;
        Some(Self {
            spread: spread.max(finest),
            count,
        })
    }

    /// The part of a weight that shares slack between two directions.
    fn share(&self, back: &Self) -> f64 {
        let looser = self.spread / back.spread;
        let square = if looser > OPTIONS.looser {
            looser / OPTIONS.looser
        } else if looser * OPTIONS.looser < 1.0 {
            looser * OPTIONS.looser
        } else {
            1.0
        };
        (square * back.count as f64 / self.count as f64).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn share(own: (f64, usize), back: (f64, usize)) -> f64 {
        let floor = |(spread, count)| Floor { spread, count };
        floor(own).share(&floor(back))
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
        // Four against 64: weights of 4 and 1/4, and pulls `n w / slack^2` are equal at equal slack.
        let (few, many) = (share((1.0, 4), (1.0, 64)), share((1.0, 64), (1.0, 4)));
        assert_eq!((few, many), (4.0, 0.25));
        assert_eq!(4.0 * few, 64.0 * many);
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
        let spread = |some: &[f64]| Floor::of(&Surveyed::of(some), 0.5).map(|it| it.spread);
        assert_eq!(spread(&latencies), Some(225.0));
        // Of four within 9, sixteen lie within 45.
        assert_eq!(spread(&latencies[..4]), Some(45.0));
        assert_eq!(spread(&latencies[..1]), None);
        assert_eq!(spread(&[7.0, 7.0]), Some(0.5));
    }
}
