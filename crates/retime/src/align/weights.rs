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
//! slack / slack' = ((d / d') / 10)^(1/2)     for d > 10 d'
//! ```
//!
//! Weights `u` and `1/u` of the two do that with `u^2 = (slack / slack')^(3 - 1)`: the pull of
//! the tightest is `w S^2 / slack^3`, and `S_l` grows with the slack itself.
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
    let spread = |link| spread(link).map(|it| it.max(finest));
    let spreads: Vec<Option<f64>> = survey.links.par_iter().map(spread).collect();
    let of = |(at, (link, found)): (usize, (&Link, &Surveyed))| {
        let back = || spreads[links.opposite_index(link)?];
        let both = spreads[at].and_then(|own| Some((own, back()?)));
        let share = both.map_or(1.0, |(own, back)| share(own, back));
        own_scale(found, least, barrier.knee) / barrier.scale * share
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

/// How far the fastest are spread; `None` of too few.
fn spread(link: &Surveyed) -> Option<f64> {
    let mut tight: Vec<f64> = link.tight().collect();
    let last = OPTIONS.spread - 1;
    if tight.len() <= last {
        return None;
    }
    let (before, last, _) = tight.select_nth_unstable_by(last, f64::total_cmp);
    let first = before.iter().copied().fold(*last, f64::min);
    Some(*last - first)
}

/// The part of a weight that shares slack between two directions, by their spreads.
fn share(own: f64, back: f64) -> f64 {
    let looser = own / back;
    if looser > OPTIONS.looser {
        (looser / OPTIONS.looser).sqrt()
    } else if looser * OPTIONS.looser < 1.0 {
        (looser * OPTIONS.looser).sqrt()
    } else {
        1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slack_is_shared_by_spreads_that_differ_by_far() {
        assert_eq!(
            (share(1.0, 1.0), share(9.0, 1.0), share(1.0, 9.0)),
            (1.0, 1.0, 1.0)
        );
        // A thousand times as far apart: the hundredfold beyond ten, its root in slack. The
        // pulls `w / slack^2` are equal where slacks are as 10 to 1.
        let (loose, dense) = (share(4_000.0, 4.0), share(4.0, 4_000.0));
        assert!((loose - 10.0).abs() < 1e-12 && (dense - 0.1).abs() < 1e-12);
        assert!((loose / 10.0_f64.powi(2) - dense / 1.0).abs() < 1e-12);
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
    fn a_spread_takes_sixteen() {
        let latencies: Vec<f64> = (0..20).map(|at| f64::from(at * at)).collect();
        assert_eq!(spread(&Surveyed::of(&latencies)), Some(225.0));
        assert_eq!(spread(&Surveyed::of(&latencies[..15])), None);
    }
}
