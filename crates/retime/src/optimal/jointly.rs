//! Bounds that processes find together, each those of some clocks.
//!
//! A process knows all dependencies that matter of its clocks, and the nodes of
//! other clocks where they begin. It passes on what it knows until nothing rises any more, on
//! both sides; then all tell each other what has risen of the nodes that others have borrowed,
//! and go on with that. It ends when nobody has any news. What is found is the one least and the
//! one greatest solution, in the same integers, whoever has which clocks.
//!
//! ```text
//!  process 0: own nodes rise --+-- what others borrow --+-- own nodes rise -- ... no news
//!  process 1: own nodes rise --+                        +-- own nodes rise --
//! ```
//!
//! That facts contradict each other shows in one of three ways: by a circle within a process;
//! by a lower bound that exceeds the upper one, as a circle that has a way from the reference
//! and one back to it raises the one and lowers the other for ever; and where it has but one of
//! these ways, by [parents](super::circle) that run in a circle through several processes.
//!
//! Where there are few dependencies, [one process](super::searchers) has the clocks of all, and is
//! done at once, without any rounds.
//!
//! Source: D. P. Bertsekas, *Distributed dynamic programming* (1982), on shortest paths whose
//! nodes hear of each other at any time and in any order.

use serde::{Deserialize, Serialize};

use super::bounds::OffsetBounds;
use super::circle::runs_in_a_circle;
use super::facts::Facts;
use super::graph::{Budget, Ended, Graph, State};
use super::link::Kept;
use super::narrowed::graph;
use super::relaxation::Relaxation;
use super::searchers::Searchers;
use crate::edges::Edge;
use retime_model::{Cancelled, ClockId, packed_fields};

/// From this round on, and whenever there have been twice as many, circles through several
/// processes are looked for: mostly the other two ways have shown them by then.
const LOOK_FOR_CIRCLES: u32 = 32;

/// How a round ended: what is furthest from a solution counts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
enum Round {
    Settled,
    Stopped,
    Contradicted,
}

/// The bounds of the clocks that this process searches for, given all dependencies of these
/// that matter; `None` if facts contradict each other, or it takes too many steps to tell. Each
/// process may use up the whole budget.
pub(super) fn bounded<F: Fn(&Edge) -> i64 + Sync>(
    searchers: &Searchers<'_>,
    (facts, relaxation): (&Facts<'_, F>, &Relaxation),
    kept: &[Kept],
    budget: &mut Budget<'_>,
) -> Result<Option<OffsetBounds>, Cancelled> {
    let (share, monitor) = (searchers.share(), budget.monitor());
    let of_both = graph(facts, kept.iter(), monitor)?;
    let reversed = of_both.reversed(monitor)?;
    // An estimate may know of fewer clocks than its own reference.
    let Some(source) = of_both.node(&(facts.reference(), 0, 0)) else {
        return Ok(None);
    };
    let mut low = Half::new(of_both, source, searchers, budget)?;
    let mut high = Half::new(reversed, source, searchers, budget)?;
    for round in 1_u32.. {
        let (ours, theirs) = budget.both(|it| low.go_on(it), |it| high.go_on(it));
        let own = ours?.max(theirs?).max(cross(&low, &high));
        let worst = share.merged(own, Ord::max);
        share.check()?;
        if worst != Round::Settled {
            return Ok(None);
        }
        let looks = round >= LOOK_FOR_CIRCLES && round.is_power_of_two();
        if looks && (runs_in_a_circle(share, &low)? || runs_in_a_circle(share, &high)?) {
            return Ok(None);
        }
        if searchers.are_one() {
            break;
        }
        let Some(heard) = share.news(news(&mut low, &mut high)) else {
            break;
        };
        for (from, raised) in heard.iter().enumerate() {
            for it in raised {
                let half = if it.is_high > 0 { &mut high } else { &mut low };
                half.hear(from, it);
            }
        }
    }
    share.check()?;
    let is_own = |clock| searchers.is_own(clock);
    let side = |side: f64, half: &Half| {
        let values = half.state.values();
        facts.side(side, &half.graph, values, relaxation, is_own)
    };
    let (low, high) = (side(-1.0, &low), side(1.0, &high));
    Ok(Some(facts.bounds(low, high, relaxation, true)))
}

/// Whether a lower bound exceeds an upper one, which is the negative of its value here.
fn cross(low: &Half, high: &Half) -> Round {
    let both = low.state.values().iter().zip(high.state.values());
    // What is not bounded is far below any sum.
    let crosses = both
        .into_iter()
        .any(|(&low, &high)| low.saturating_add(high) > 0);
    if crosses {
        Round::Contradicted
    } else {
        Round::Settled
    }
}

/// A value that has risen, of a node that another process has borrowed.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct Raised {
    is_high: u8,
    /// The place of the node among those that this process has borrowed from the other.
    place: u32,
    value: i128,
}

packed_fields!(Raised {
    is_high: u8,
    place: u32,
    value: i128,
});

/// By process, what has risen of what it has borrowed.
fn news(low: &mut Half, high: &mut Half) -> Vec<Vec<Raised>> {
    let mut to = vec![Vec::new(); low.lent.len()];
    for (is_high, half) in [(0, low), (1, high)] {
        for (to, lent) in to.iter_mut().zip(&mut half.lent) {
            for (place, (node, told)) in (0..).zip(lent) {
                let value = half.state.values()[*node as usize];
                if std::mem::replace(told, value) != value {
                    to.push(Raised {
                        is_high,
                        place,
                        value,
                    });
                }
            }
        }
    }
    to
}

/// One side, as far as this process searches for it.
pub(super) struct Half {
    pub(super) graph: Graph,
    pub(super) state: State,
    /// By process, nodes of its clocks that this one has borrowed.
    pub(super) borrowed: Vec<Vec<u32>>,
    /// By process, nodes here that it has borrowed, in its order, each with what it was told.
    pub(super) lent: Vec<Vec<(u32, i128)>>,
    /// What has to be passed on.
    raised: Vec<u32>,
}

impl Half {
    fn new(
        graph: Graph,
        source: usize,
        searchers: &Searchers<'_>,
        budget: &Budget<'_>,
    ) -> Result<Self, Cancelled> {
        let share = searchers.share();
        let is_own = |clock| searchers.is_own(clock);
        let graph = graph.without_arcs_to_others(is_own, source, budget.monitor())?;
        let mut borrowed = vec![Vec::new(); share.place().1];
        for node in graph.borrowed(is_own, source) {
            let (clock, ..) = graph.moment(node as usize);
            borrowed[searchers.searcher(clock)].push(node);
        }
        let moment = |&node: &u32| {
            let (clock, piece, at) = graph.moment(node as usize);
            ((clock, piece), at)
        };
        let asked = borrowed.iter().map(|of| of.iter().map(moment).collect());
        let asked: Vec<Vec<((ClockId, u32), i64)>> = asked.collect();
        let asked = if searchers.are_one() {
            asked
        } else {
            share.exchanged_columns(asked)
        };
        let state = graph.begin(Some(source));
        // Who searches for either end of a dependency knows both.
        let lent = |((clock, piece), at): ((ClockId, u32), i64)| {
            let node = graph.node(&(clock, piece, at)).ok_or(Cancelled)?;
            Ok((node as u32, state.values()[node]))
        };
        let lent = asked
            .into_iter()
            .map(|of| of.into_iter().map(lent).collect());
        let lent: Result<_, Cancelled> = lent.collect();
        Ok(Self {
            lent: lent?,
            borrowed,
            raised: vec![source as u32],
            state,
            graph,
        })
    }

    fn go_on(&mut self, budget: &mut Budget<'_>) -> Result<Round, Cancelled> {
        if self.raised.is_empty() {
            return Ok(Round::Settled);
        }
        let raised = std::mem::take(&mut self.raised);
        let ended = self.graph.go_on(&raised, &mut self.state, budget)?;
        Ok(match ended {
            Ended::Least => Round::Settled,
            Ended::Stopped => Round::Stopped,
            Ended::Cycles(_) => Round::Contradicted,
        })
    }

    fn hear(&mut self, from: usize, raised: &Raised) {
        let of = self.borrowed.get(from);
        let Some(&node) = of.and_then(|it| it.get(raised.place as usize)) else {
            return;
        };
        if self.state.hear(node, raised.value) {
            self.raised.push(node);
        }
    }
}
