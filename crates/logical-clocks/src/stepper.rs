//! One clock on its way from node to node.
//!
//! A stepper goes through the nodes of the locations that read its clock. How the
//! clock goes on by itself is the business of a [`Law`]; what other clocks say of
//! a node it hears from the [`Exchange`] and nowhere else:
//!
//! ```text
//! LC(e) = max( own(e), bound(e) ),    a jump where bound(e) > own(e)
//! ```
//!
//! Several locations of one clock are advanced together by raw time. Those with a
//! node at the same raw time pass that moment each with a lead of its own, and the
//! clock goes on with the largest of them. Within a moment only a dependency tells
//! which of two nodes of different locations is the earlier one: there, and only
//! there, an effect waits for a cause on its own clock, and comes no earlier.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::collective_state::causes_of_end;
use crate::exchange::{EffectBound, Exchange};
use crate::law::{Computed, Law};
use crate::lead::Lead;
use crate::times::{FURTHEST, Jump};
use retime_causality::{Causality, EventNode, Ids, Nodes, Role};
use retime_model::{ClockId, Clocks, LocationIndex};

/// Where one clock stands.
pub(super) struct Stepper<'a> {
    causality: &'a Causality,
    clocks: &'a Clocks,
    clock: ClockId,
    lead: Lead,
    /// The nodes ahead of each location of the clock.
    ahead: Vec<Ids<EventNode>>,
    /// For clocks that several locations read.
    moment: Moment,
    jumps: Vec<Jump>,
}

/// The raw time that the locations of a clock are passing together. Locations are
/// numbered within the clock.
#[derive(Default)]
struct Moment {
    raw: i64,
    /// True if several locations have a node at `raw`.
    tied: bool,
    /// Locations with a node at `raw` ahead, each with its own lead.
    passing: Vec<(usize, Lead)>,
    /// The largest lead of the locations that have passed `raw`, if one has.
    passed: Option<Lead>,
    /// Next raw time of the other locations.
    later: BinaryHeap<Reverse<(i64, usize)>>,
}

impl<'a> Stepper<'a> {
    pub(super) fn new(causality: &'a Causality, clocks: &'a Clocks, clock: ClockId) -> Self {
        let nodes = causality.nodes();
        let locations = clocks.locations(clock).iter();
        let mut stepper = Self {
            causality,
            clocks,
            clock,
            lead: Lead::default(),
            ahead: locations
                .map(|location| nodes.of(location.as_usize()))
                .collect(),
            moment: Moment::default(),
            jumps: Vec::new(),
        };
        if stepper.ahead.len() > 1 {
            let first = |place| Some(Reverse((stepper.next_raw_of(place)?, place)));
            stepper.moment.later = (0..stepper.ahead.len()).filter_map(first).collect();
        }
        stepper
    }

    /// Computes one node, to be published before the next step; `None` if the clock
    /// has to wait, or has no node left.
    #[inline]
    pub(super) fn step<L: Law>(
        &mut self,
        law: &mut L,
        exchange: &mut Exchange<'_>,
    ) -> Option<Computed> {
        if self.ahead.len() > 1 {
            return self.step_shared(law, exchange);
        }
        let computed = self.pass(0, self.lead, false, law, exchange)?;
        self.lead = law.computed(self.clock, self.lead, computed);
        Some(computed)
    }

    /// The raw time of the next node; `None` at the end.
    pub(super) fn next_raw(&self) -> Option<i64> {
        (0..self.ahead.len())
            .filter_map(|place| self.next_raw_of(place))
            .min()
    }

    /// The next node of each location that has one.
    pub(super) fn heads(&self) -> impl Iterator<Item = (LocationIndex, EventNode)> {
        let locations = self.clocks.locations(self.clock).iter().copied();
        let heads = locations.zip(self.ahead.iter().map(Ids::first));
        heads.filter_map(|(location, head)| Some((location, head?)))
    }

    /// The jumps of the clock, in the order in which it made them.
    pub(super) fn into_jumps(self) -> Vec<Jump> {
        self.jumps
    }

    fn next_raw_of(&self, place: usize) -> Option<i64> {
        let next = self.ahead[place].first()?;
        Some(self.causality.nodes().time(next).0)
    }

    /// Passes the first node of a moment that does not have to wait.
    fn step_shared<L: Law>(
        &mut self,
        law: &mut L,
        exchange: &mut Exchange<'_>,
    ) -> Option<Computed> {
        loop {
            for index in 0..self.moment.passing.len() {
                let (place, lead) = self.moment.passing[index];
                let tied = self.moment.tied;
                if let Some(computed) = self.pass(place, lead, tied, law, exchange) {
                    let lead = law.computed(self.clock, lead, computed);
                    self.has_passed(index, lead, law);
                    return Some(computed);
                }
            }
            if !self.moment.passing.is_empty() || !self.moment.enter_next() {
                return None;
            }
        }
    }

    /// A location has passed a node of the moment, with this lead.
    fn has_passed<L: Law>(&mut self, index: usize, lead: Lead, law: &L) {
        let next = self.next_raw_of(self.moment.passing[index].0);
        let moment = &mut self.moment;
        if next == Some(moment.raw) {
            moment.passing[index].1 = lead;
            return;
        }
        let left = |lead| law.left(self.clock, lead, moment.raw);
        let is_larger = moment.passed.is_none_or(|passed| {
            let passed = left(passed);
            passed.larger(left(lead)) != passed
        });
        if is_larger {
            moment.passed = Some(lead);
        }
        moment.leave(index, next);
    }

    /// Computes the next node of a location, unless it has to wait.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "a call for each event of a trace shows"
    )]
    fn pass<L: Law>(
        &mut self,
        place: usize,
        lead: Lead,
        tied: bool,
        law: &L,
        exchange: &mut Exchange<'_>,
    ) -> Option<Computed> {
        let mut ahead = self.ahead.get(place)?.clone();
        let node = ahead.next()?;
        let nodes = self.causality.nodes();
        let mut bound = match nodes.role(node) {
            Role::Send | Role::CollectiveBegin => EffectBound::At(None),
            Role::Receive => exchange.message_bound(self.clock, node),
            Role::CollectiveEnd => exchange.collective_bound(self.clock, node),
        };
        if tied {
            bound = bound.max(self.tied_bound(node, exchange));
        }
        let EffectBound::At(bound) = bound else {
            return None;
        };
        let raw = nodes.time(node).0;
        let alone = law.alone(self.clock, lead, raw, node);
        let own = raw + alone.amount();
        let value = bound.map_or(own, |bound| bound.max(own)).min(FURTHEST);
        if value > own {
            self.jumps.push(Jump {
                node,
                size: value - own,
            });
        }
        self.ahead[place] = ahead;
        Some(Computed {
            node,
            raw,
            alone,
            value,
        })
    }

    /// The time before which `effect` cannot lie for the sake of causes on its own
    /// clock. Ties are rare.
    #[cold]
    fn tied_bound(&self, effect: EventNode, exchange: &Exchange<'_>) -> EffectBound {
        let nodes = self.causality.nodes();
        let of_clock = |cause: EventNode| self.clocks.of(nodes.location(cause)) == self.clock;
        let tied = causes(self.causality, effect)
            .filter(|&cause| of_clock(cause) && is_tied(nodes, cause, effect));
        let bound = |cause| match exchange.published(cause) {
            None => EffectBound::Waits,
            value => EffectBound::At(value),
        };
        tied.map(bound).max().unwrap_or(EffectBound::At(None))
    }
}

impl Moment {
    /// The location at `index` has passed; its next node comes at `next`.
    fn leave(&mut self, index: usize, next: Option<i64>) {
        let (place, _) = self.passing.remove(index);
        self.later.extend(next.map(|raw| Reverse((raw, place))));
    }

    /// Moves on to the next raw time; false at the end.
    fn enter_next(&mut self) -> bool {
        let Some(&Reverse((raw, _))) = self.later.peek() else {
            return false;
        };
        self.raw = raw;
        // What was before this moment does not count after it: it loses by another gamma.
        let entered = self.passed.take().unwrap_or_default();
        while let Some(&Reverse((at, place))) = self.later.peek()
            && at == raw
        {
            self.later.pop();
            self.passing.push((place, entered));
        }
        self.tied = self.passing.len() > 1;
        true
    }
}

/// The events that `effect` depends on, on any clock.
pub(super) fn causes(causality: &Causality, effect: EventNode) -> impl Iterator<Item = EventNode> {
    let is_end = causality.nodes().role(effect) == Role::CollectiveEnd;
    let slot = is_end.then(|| causality.slot(effect)).flatten();
    let message = causality.message_source(effect).into_iter();
    message.chain(
        slot.into_iter()
            .flat_map(|slot| causes_of_end(causality, slot)),
    )
}

/// True if only their dependency tells which of two nodes of one clock is the
/// earlier one.
pub(super) fn is_tied(nodes: &Nodes, cause: EventNode, effect: EventNode) -> bool {
    nodes.time(cause) == nodes.time(effect) && nodes.location(cause) != nodes.location(effect)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::tests::{DELAY, trace};
    use crate::gamma::Gamma;
    use crate::law::Constant;

    /// Steps and publishes until the clock has to wait: nodes with their values.
    fn go_on(stepper: &mut Stepper<'_>, exchange: &mut Exchange<'_>) -> Vec<(u32, i64)> {
        // Keeps its lead.
        let mut law = Constant(Gamma::from_factor(1.0));
        let mut steps = Vec::new();
        while let Some(Computed { node, value, .. }) = stepper.step(&mut law, exchange) {
            exchange.publish(node, value, |_| {});
            steps.push((node.0, value));
        }
        steps
    }

    #[test]
    fn it_goes_on_as_far_as_others_have_told() -> Result<(), Box<dyn std::error::Error>> {
        let causality = trace(95)?;
        let clocks = Clocks::each_location(3);
        let mut exchange = Exchange::new(&causality, &clocks, &DELAY);
        let mut stepper = Stepper::new(&causality, &clocks, ClockId(0));
        assert_eq!(go_on(&mut stepper, &mut exchange), []);
        exchange.publish(EventNode(3), 100, |_| {});
        // The lead of 7 that the message gave stays.
        assert_eq!(go_on(&mut stepper, &mut exchange), [(0, 102), (1, 157)]);
        assert_eq!(stepper.next_raw(), Some(151));
        exchange.publish(EventNode(4), 200, |_| {});
        exchange.publish(EventNode(6), 0, |_| {});
        assert_eq!(go_on(&mut stepper, &mut exchange), [(2, 202)]);
        assert_eq!(stepper.next_raw(), None);
        let jumps = stepper.into_jumps().into_iter();
        let jumps: Vec<_> = jumps.map(|jump| (jump.node.0, jump.size)).collect();
        assert_eq!(jumps, [(0, 7), (2, 44)]);
        Ok(())
    }

    #[test]
    fn within_a_moment_an_effect_waits_for_its_cause() -> Result<(), Box<dyn std::error::Error>> {
        let causality = trace(100)?;
        let (clocks, _) = Clocks::from_owners(&[0, 0, 1]);
        let mut exchange = Exchange::new(&causality, &clocks, &DELAY);
        let mut stepper = Stepper::new(&causality, &clocks, ClockId(0));
        // The receive of location 0 comes after the send of location 1, at the
        // same time; the end of the barrier waits for the other clock.
        let steps = go_on(&mut stepper, &mut exchange);
        assert_eq!(steps, [(3, 100), (0, 100), (1, 150)]);
        exchange.publish(EventNode(6), 0, |_| {});
        let steps = go_on(&mut stepper, &mut exchange);
        assert_eq!(steps, [(2, 151), (4, 200), (5, 201)]);
        assert!(stepper.into_jumps().is_empty());
        Ok(())
    }
}
