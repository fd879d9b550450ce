//! The dependencies between two clocks, pair by pair, in the order of one of them.
//!
//! Whoever learns what messages take looks at each pair twice: first for how the two clocks
//! drift, then for what is left without that. Collectives in which everybody waits for
//! everybody count as messages both ways between neighbouring ranks.

use rayon::prelude::*;

use retime_causality::{Causality, Class, EventNode, Length, Role};
use retime_model::pace::Pace;
use retime_model::{Cancelled, ClockId, Clocks, Monitor};

/// The work on one pair of clocks.
pub(super) trait PairPasses: Default + Send {
    /// The delay that it comes to.
    type Found: Send;

    /// Takes a dependency for the first time.
    fn first_pass(&mut self, sample: Sample);

    /// Nothing follows of the first pass.
    fn end_first_pass(&mut self);

    /// Takes a dependency for the second time, in the same order.
    fn second_pass(&mut self, sample: Sample);

    /// The evidence of the pair.
    fn found(self) -> Self::Found;
}

/// Does the work on all pairs of clocks of which dependencies are here, in their order.
pub(super) fn of_pairs<P: PairPasses>(
    causality: &Causality,
    clocks: &Clocks,
    monitor: &dyn Monitor,
) -> Result<Vec<P::Found>, Cancelled> {
    causality.nodes().keep_clocks_together(clocks);
    // Each speaks for its pairs with those after it, and the last has none.
    let before_last = clocks.iter().take(clocks.len().saturating_sub(1));
    let before_last: Vec<ClockId> = before_last.collect();
    let numbers = || Numbers::new(clocks.len());
    let found = before_last
        .into_par_iter()
        .map_init(numbers, |numbers, clock| {
            numbers.clear();
            let mut pairs: Vec<P> = Vec::new();
            each_sample(causality, clocks, clock, monitor, |peer, sample| {
                let number = numbers.of(peer);
                if number == pairs.len() {
                    pairs.push(P::default());
                }
                pairs[number].first_pass(sample);
            })?;
            pairs.iter_mut().for_each(P::end_first_pass);
            each_sample(causality, clocks, clock, monitor, |peer, sample| {
                pairs[numbers.of(peer)].second_pass(sample);
            })?;
            Ok(pairs.into_iter().map(P::found).collect())
        });
    let found: Vec<Vec<P::Found>> = found.collect::<Result<_, Cancelled>>()?;
    Ok(found.into_iter().flatten().collect())
}

/// A dependency between clock `i` and clock `k > i`.
#[derive(Clone, Copy)]
pub(super) struct Sample {
    /// When it touched clock `i`.
    pub(super) time: i64,
    /// From `i` to `k`?
    pub(super) there: bool,
    /// Effect minus cause, on their clocks.
    pub(super) latency: i64,
    /// The length of the message, if it is one, and known.
    pub(super) length: Length,
}

/// Numbers for the peers of a clock, in the order in which they are met. One table serves all
/// clocks that are taken at one go: one for each would take the square of their number.
struct Numbers {
    /// Per clock: its number plus 1; 0 for a clock that was not met.
    by_clock: Vec<u32>,
    met: Vec<ClockId>,
}

impl Numbers {
    fn new(clocks: usize) -> Self {
        Self {
            by_clock: vec![0; clocks],
            met: Vec::new(),
        }
    }

    /// Forgets all that were met.
    fn clear(&mut self) {
        for clock in self.met.drain(..) {
            self.by_clock[clock.as_usize()] = 0;
        }
    }

    /// The number of a peer, the next one if it was not met before.
    fn of(&mut self, peer: ClockId) -> usize {
        let number = &mut self.by_clock[peer.as_usize()];
        if *number == 0 {
            self.met.push(peer);
            *number = self.met.len() as u32;
        }
        *number as usize - 1
    }
}

/// Visits the dependencies between `clock` and clocks of higher number, in the
/// order of `clock`'s locations and events.
fn each_sample(
    causality: &Causality,
    clocks: &Clocks,
    clock: ClockId,
    monitor: &dyn Monitor,
    mut visit: impl FnMut(ClockId, Sample),
) -> Result<(), Cancelled> {
    let nodes = causality.nodes();
    let mut see = |own: EventNode, there: bool, other: EventNode, length: Length| {
        let peer = clocks.of(nodes.location(other));
        if peer > clock {
            let (own, other) = (nodes.time(own).0, nodes.time(other).0);
            let latency = if there { other - own } else { own - other };
            let sample = Sample {
                time: own,
                there,
                latency,
                length,
            };
            visit(peer, sample);
        }
    };
    let mut pace = Pace::of(monitor);
    for location in clocks.locations(clock) {
        for node in nodes.of(location.as_usize()) {
            pace.event()?;
            match nodes.role(node) {
                Role::Send => {
                    if let Some(receive) = causality.message_target(node) {
                        see(node, true, receive, causality.length(node, receive));
                    }
                }
                Role::Receive => {
                    if let Some(send) = causality.message_source(node) {
                        see(node, false, send, causality.length(send, node));
                    }
                }
                Role::CollectiveEnd => {
                    neighbours(causality, node, |own, there, other| {
                        see(own, there, other, Length::UNKNOWN);
                    });
                }
                Role::CollectiveBegin => {}
            }
        }
    }
    Ok(())
}

/// Visits the dependencies both ways between the participant that ends with
/// `end` and its neighbours, if everybody waits for everybody: its own node, whether
/// that is the cause, and the neighbour's.
fn neighbours(
    causality: &Causality,
    end: EventNode,
    mut visit: impl FnMut(EventNode, bool, EventNode),
) {
    let Some(slot) = causality.slot(end) else {
        return;
    };
    let (nodes, collectives) = (causality.nodes(), causality.collectives());
    let (instance, place) = collectives.locate(slot);
    if collectives.operation(instance).class != Class::AllToAll {
        return;
    }
    let participants = collectives.participants(instance);
    for other in [place.wrapping_sub(1), place + 1] {
        let Some(neighbour) = participants.get(other) else {
            continue;
        };
        let (Some(own_begin), Some(begin), Some(theirs)) = (
            participants[place].cause(),
            neighbour.cause(),
            neighbour.effect(),
        ) else {
            continue;
        };
        if collectives.depends(instance, place, other) {
            // Those of a rank that lacks calls may be of two of its threads.
            if nodes.location(own_begin) == nodes.location(end) {
                visit(own_begin, true, theirs);
            }
            visit(end, false, begin);
        }
    }
}
