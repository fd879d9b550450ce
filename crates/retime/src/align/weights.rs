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
//! **Both directions of a pair would be believed alike.** Where [one is the faster](super::asymmetry), and
//! the fastest messages are taken to need `a` and `b`, they are to have that. A direction that is faster than
//! what counts for no slack elsewhere has less of its own, `delay a`, and slacks are shared by
//!
//! ```text
//! slack / slack' = r,    r = (a - least) / (b - least')
//! ```
//!
//! Weights `u` and `1/u` of the two do that with `u^2 = r^2`: each of the tightest pulls by
//! `w S^2 / slack^3`, and `S_l` grows with the slack itself.
//!
//! **A rare direction**, of fewer than sixteen dependencies (a pipeline that ends in a barrier), would
//! even get the least slack, as so few pull against the tightest of all windows. There the counts `n` and
//! `n'` of what pulls go with it, `u^2 = n' / n`, so that `n u / slack^2 = n' / (u slack'^2)`. Where
//! both directions are rare, as between most pairs of many clocks that meet in collectives, neither
//! tells more than the other.

use super::asymmetry::{share_of_wait, spread};
use super::barrier::Barrier;
use super::cost::LinkCost;
use super::links::Links;
use super::options::OPTIONS;
use super::survey::{Survey, Surveyed};
use retime_numerics::parallel;

/// Latencies that a centre goes by, in ticks.
#[derive(Clone, Copy)]
pub(super) struct Latencies {
    /// The latency that counts for no slack.
    pub(super) least: f64,
    /// The most that a message takes between idle processes.
    pub(super) idle: f64,
    /// The least difference that can be told.
    pub(super) finest: f64,
}

/// How each link counts in a centre, by what a pass found.
pub(super) fn link_costs(
    links: &Links,
    survey: &Survey,
    latencies: Latencies,
    barrier: Barrier,
) -> Vec<LinkCost> {
    let list = links.list();
    let fastest = |at: usize| Fastest::of(&survey.links[at], list[at].count, latencies.finest);
    let fastest: Vec<Fastest> = parallel::numbers(list.len(), fastest);
    let of = |at: usize| {
        let back = links.opposite_index(&list[at]);
        let pull = back.map_or(Pull::alone(latencies), |back| {
            fastest[at].pull(&fastest[back], latencies)
        });
        let scale = own_scale(&survey.links[at], pull.least, barrier.knee);
        LinkCost {
            least: pull.least,
            weight: scale / barrier.scale * pull.share,
        }
    };
    parallel::numbers(list.len(), of)
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

/// The fastest dependencies of a link, as far as they tell of its direction.
struct Fastest {
    /// The least latency.
    least: f64,
    /// How far the [lowest windows](spread) are spread, if that is known.
    spread: Option<f64>,
    /// How many are tight at all.
    tight: usize,
    /// True if the link has fewer than sixteen.
    is_rare: bool,
}

/// How a direction pulls against the other.
struct Pull {
    /// The latency that counts for no slack.
    least: f64,
    /// The part of a weight that shares slack between both.
    share: f64,
}

impl Pull {
    /// A direction that nothing tells from the other, or that has none.
    fn alone(latencies: Latencies) -> Self {
        Self {
            least: latencies.least,
            share: 1.0,
        }
    }
}

impl Fastest {
    /// The fastest of a link of `count` dependencies, of which the tightest are known.
    fn of(link: &Surveyed, count: usize, finest: f64) -> Self {
        Self {
            least: link.least,
            spread: spread(&mut link.lowest(), finest),
            tight: link.tight().count(),
            is_rare: count < OPTIONS.spread,
        }
    }

    fn pull(&self, back: &Self, latencies: Latencies) -> Pull {
        // Between two rare directions, chance would decide.
        if self.is_rare && back.is_rare || self.tight.min(back.tight) == 0 {
            return Pull::alone(latencies);
        }
        if self.is_rare || back.is_rare {
            return Pull {
                share: (back.tight as f64 / self.tight as f64).sqrt(),
                ..Pull::alone(latencies)
            };
        }
        let idle = latencies.least.min(latencies.idle);
        let open = self.least + back.least - 2.0 * idle;
        match self.spread.zip(back.spread) {
            Some((own, other)) if open > 0.0 => {
                let taken = |share: f64| idle + share * open;
                let least = |taken: f64| latencies.least.min(OPTIONS.delay * taken);
                let share = share_of_wait(open, own, other);
                let (there, here) = (taken(share), taken(1.0 - share));
                Pull {
                    least: least(there),
                    share: (there - least(there)) / (here - least(here)),
                }
            }
            _ => Pull::alone(latencies),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LATENCIES: Latencies = Latencies {
        least: 100.0,
        idle: 10.0,
        finest: 0.5,
    };

    fn pull(own: &Fastest, back: &Fastest) -> Pull {
        own.pull(back, LATENCIES)
    }

    fn fastest(spread: f64, tight: usize) -> Fastest {
        Fastest {
            least: 130.0,
            spread: (tight >= 16).then_some(spread),
            tight,
            is_rare: tight < 16,
        }
    }

    #[test]
    fn the_faster_direction_has_less_slack() {
        let alike = pull(&fastest(7.0, 64), &fastest(7.0, 64));
        assert_eq!(alike.least, 100.0);
        assert!((alike.share - 1.0).abs() < 1e-9);
        // Close together one way and far apart the other: nearly all of the 240 ticks beyond the 20 of
        // idle processes are the wait of the latter.
        let (dense, loose) = (fastest(1.0, 64), fastest(4_000.0, 64));
        let (near, far) = (pull(&dense, &loose), pull(&loose, &dense));
        assert!((9.0..10.0).contains(&near.least), "{}", near.least);
        assert_eq!(far.least, 100.0);
        assert!((near.share * far.share - 1.0).abs() < 1e-9);
        // Pulls `u / slack^2` are equal where the fastest take what they are taken to.
        let there = near.least / OPTIONS.delay;
        let slacks = (there - near.least, 260.0 - there - far.least);
        let pulls = (near.share / slacks.0.powi(2), far.share / slacks.1.powi(2));
        assert!((pulls.0 / pulls.1 - 1.0).abs() < 1e-9, "{pulls:?}");
    }

    #[test]
    fn few_pull_as_much_as_many() {
        // Four against 64: weights of 4 and 1/4, and pulls `n u / slack^2` are equal at equal slack.
        let (few, many) = (fastest(1.0, 4), fastest(1.0, 64));
        let (own, back) = (pull(&few, &many).share, pull(&many, &few).share);
        assert_eq!((own, back), (4.0, 0.25));
        assert!((4.0 * own - 64.0 * back).abs() < 1e-12);
        // Between two that are both few nothing is shared.
        assert_eq!(pull(&few, &fastest(100.0, 8)).share, 1.0);
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
}
