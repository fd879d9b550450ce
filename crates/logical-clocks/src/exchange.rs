//! The values that cross from one clock to another, and who waits for them.
//!
//! A clock that comes to an effect asks for the time before which it cannot lie:
//!
//! ```text
//! bound(receive)              = LC(send) + mu
//! bound(end of a collective)  = max( LC(begin) + mu  over the begins it depends on )
//! ```
//!
//! as far as the causes lie on other clocks; those on its own it knows itself. If
//! one of them is not published yet, the answer is that it has to wait, and the
//! publication of what it waits for names the clock. So a clock needs nothing of
//! another but what it is told here.
//!
//! All clocks of a process share one memory, and one column of values serves as their
//! mail. Those of other parts of a trace are published in it as they [arrive](crate::part).

use crate::collective_state::CollectiveState;
use crate::times::UNKNOWN;
use retime_causality::MinimalDelay;
use retime_causality::{Causality, EventNode, PackedOption, Role, Slot};
use retime_model::{ClockId, Clocks};

/// The bound that dependencies put on an event. The larger of two holds for both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum EffectBound {
    /// Not before this, if anything.
    At(Option<i64>),
    /// Nothing yet.
    Waits,
}

/// The values of a run that are published.
pub(super) struct Exchange<'a> {
    causality: &'a Causality,
    clocks: &'a Clocks,
    delay: &'a MinimalDelay,
    values: Vec<i64>,
    collectives: CollectiveState<'a>,
    /// The node of each location that was told to wait.
    waiting: Vec<PackedOption<EventNode>>,
}

impl<'a> Exchange<'a> {
    pub(super) fn new(
        causality: &'a Causality,
        clocks: &'a Clocks,
        delay: &'a MinimalDelay,
    ) -> Self {
        let nodes = causality.nodes();
        Self {
            causality,
            clocks,
            delay,
            values: vec![UNKNOWN; nodes.len()],
            collectives: CollectiveState::of_known(causality, clocks),
            waiting: vec![PackedOption::NONE; nodes.locations()],
        }
    }

    /// The time before which the message that `receive`, a node of `clock`, got
    /// from another clock cannot have arrived.
    #[inline]
    pub(super) fn message_bound(&mut self, clock: ClockId, receive: EventNode) -> EffectBound {
        let Some(send) = self.causality.message_source(receive) else {
            return EffectBound::At(None);
        };
        let nodes = self.causality.nodes();
        let from = nodes.location(send);
        if self.clocks.of(from) == clock {
            return EffectBound::At(None);
        }
        let sent = self.values[send.index()];
        if sent == UNKNOWN {
            return self.wait(receive);
        }
        let delay = self.causality.message_delay(self.delay, send, receive);
        EffectBound::At(Some(sent.saturating_add(delay.0)))
    }

    /// The time before which the collective that ends at `end`, a node of `clock`,
    /// cannot have ended for the sake of begins on other clocks.
    pub(super) fn collective_bound(&mut self, clock: ClockId, end: EventNode) -> EffectBound {
        let Some(slot) = self.causality.slot(end) else {
            return EffectBound::At(None);
        };
        let (collectives, values) = (&self.collectives, &self.values);
        if !collectives.is_ready(values, slot, clock) {
            return self.wait(end);
        }
        EffectBound::At(collectives.bound(values, self.delay, slot, clock))
    }

    /// Makes the value of `node` known, and names the clocks that were told to wait
    /// and may go on now.
    #[inline]
    pub(super) fn publish(&mut self, node: EventNode, value: i64, mut woken: impl FnMut(ClockId)) {
        self.values[node.index()] = value;
        match self.causality.nodes().role(node) {
            Role::Send => {
                if let Some(receive) = self.causality.message_target(node) {
                    self.release(receive, &mut woken);
                }
            }
            Role::CollectiveBegin => self.release_ends(node, &mut woken),
            Role::Receive | Role::CollectiveEnd => {}
        }
    }

    /// Takes up what begins in other parts of the trace come to: `end`, in `slot`, cannot lie
    /// before. Names its clock if it was told to wait there.
    pub(super) fn bound_from_outside(
        &mut self,
        slot: Slot,
        end: EventNode,
        bound: i64,
        mut woken: impl FnMut(ClockId),
    ) {
        self.collectives.bound_from_outside(slot, bound);
        self.release(end, &mut woken);
    }

    /// The value of a node that was published.
    pub(super) fn published(&self, node: EventNode) -> Option<i64> {
        let value = self.values[node.index()];
        (value != UNKNOWN).then_some(value)
    }

    pub(super) fn delay(&self) -> &'a MinimalDelay {
        self.delay
    }

    /// The values of all nodes, as far as they are published.
    pub(super) fn values(&self) -> &[i64] {
        &self.values
    }

    /// The values of all nodes.
    pub(super) fn into_values(self) -> Vec<i64> {
        self.values
    }

    fn wait(&mut self, effect: EventNode) -> EffectBound {
        let location = self.causality.nodes().location(effect);
        self.waiting[location.as_usize()] = effect.into();
        EffectBound::Waits
    }

    /// Names the clock of `effect` if it was told to wait there.
    #[inline]
    fn release(&mut self, effect: EventNode, woken: &mut impl FnMut(ClockId)) {
        let location = self.causality.nodes().location(effect);
        let waiting = &mut self.waiting[location.as_usize()];
        if *waiting == effect.into() {
            *waiting = PackedOption::NONE;
            woken(self.clocks.of(location));
        }
    }

    fn release_ends(&mut self, begin: EventNode, woken: &mut impl FnMut(ClockId)) {
        let Some(slot) = self.causality.slot(begin) else {
            return;
        };
        let places = self.collectives.begun(&self.values, slot);
        let (instance, _) = self.causality.collectives().locate(slot);
        for participant in &self.causality.collectives().participants(instance)[places] {
            if let Some(end) = participant.effect() {
                self.release(end, woken);
            }
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use retime_causality::CausalityOptions;
    use retime_model::Ticks;

    pub(crate) const DELAY: MinimalDelay = MinimalDelay::Uniform(Ticks(2));

    /// A message, and a barrier of three; with numbers of nodes:
    ///
    /// ```text
    /// 0:  0 receive    1 begin 150    2 end 151
    /// 1:  3 send 100   4 begin 200    5 end 201
    /// 2:               6 begin 0      7 end 300
    /// ```
    pub(crate) fn trace(receive: u64) -> Result<Causality, Box<dyn std::error::Error>> {
        let trace = retime_testing::trace(&format!(
            "0: receive 1 @{receive}, barrier @150..151
             1: send 0 @100, barrier @200..201
             2: barrier @0..300"
        ))?;
        let options = CausalityOptions::default();
        Ok(Causality::build(&trace.info, trace.logs, options)?)
    }

    fn publish(exchange: &mut Exchange<'_>, node: EventNode, value: i64) -> Vec<ClockId> {
        let mut woken = Vec::new();
        exchange.publish(node, value, |clock| woken.push(clock));
        woken
    }

    #[test]
    fn a_message_waits_until_it_is_published() -> Result<(), Box<dyn std::error::Error>> {
        let causality = trace(95)?;
        let clocks = Clocks::each_location(3);
        let mut exchange = Exchange::new(&causality, &clocks, &DELAY);
        assert_eq!(
            exchange.message_bound(ClockId(0), EventNode(0)),
            EffectBound::Waits
        );
        assert_eq!(publish(&mut exchange, EventNode(3), 100), [ClockId(0)]);
        assert_eq!(
            exchange.message_bound(ClockId(0), EventNode(0)),
            EffectBound::At(Some(102))
        );
        Ok(())
    }

    #[test]
    fn who_did_not_ask_is_not_woken() -> Result<(), Box<dyn std::error::Error>> {
        let causality = trace(95)?;
        let clocks = Clocks::each_location(3);
        let mut exchange = Exchange::new(&causality, &clocks, &DELAY);
        assert_eq!(publish(&mut exchange, EventNode(3), 100), []);
        assert_eq!(
            exchange.message_bound(ClockId(0), EventNode(0)),
            EffectBound::At(Some(102))
        );
        Ok(())
    }

    #[test]
    fn an_end_waits_for_all_begins() -> Result<(), Box<dyn std::error::Error>> {
        let causality = trace(95)?;
        let clocks = Clocks::each_location(3);
        let mut exchange = Exchange::new(&causality, &clocks, &DELAY);
        assert_eq!(publish(&mut exchange, EventNode(6), 0), []);
        assert_eq!(
            exchange.collective_bound(ClockId(2), EventNode(7)),
            EffectBound::Waits
        );
        assert_eq!(publish(&mut exchange, EventNode(4), 200), []);
        assert_eq!(
            exchange.collective_bound(ClockId(2), EventNode(7)),
            EffectBound::Waits
        );
        assert_eq!(publish(&mut exchange, EventNode(1), 157), [ClockId(2)]);
        let bound = exchange.collective_bound(ClockId(2), EventNode(7));
        assert_eq!(bound, EffectBound::At(Some(202)));
        Ok(())
    }
}
