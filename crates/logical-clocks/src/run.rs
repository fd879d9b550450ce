//! Runs logical clocks over a trace: whose turn it is.
//!
//! Each clock is a [`Stepper`]; what it computes is [published](Exchange), and
//! clocks that waited for it are ready again. The order in which ready clocks
//! take their turns is free, unless their [`Law`] looks at other clocks.

use crate::correction::CorrectionError;
use crate::cycle::{Halt, find_cycle};
use crate::error::ClockError;
use crate::exchange::Exchange;
use crate::law::Law;
use crate::stepper::Stepper;
use crate::times::{FURTHEST, Jumped, LogicalTimes};
use retime_causality::MinimalDelay;
use retime_causality::{Causality, EventNode, Nodes, Slot};
use retime_model::pace::Pace;
use retime_model::{Cancelled, Monitor};
use retime_model::{ClockId, Clocks, MinimalDistance};

/// State of a run over all clocks.
pub(super) struct Run<'a, L> {
    causality: &'a Causality,
    clocks: &'a Clocks,
    pub(super) law: L,
    steppers: Vec<Stepper<'a>>,
    exchange: Exchange<'a>,
    pub(super) ready: Ready,
    pub(super) pace: Pace<'a>,
}

/// Clocks that may be able to go on.
pub(super) struct Ready {
    clocks: Vec<ClockId>,
    is_listed: Vec<bool>,
}

impl<'a, L: Law> Run<'a, L> {
    pub(super) fn new(
        causality: &'a Causality,
        clocks: &'a Clocks,
        delay: &'a MinimalDelay,
        law: L,
        monitor: &'a dyn Monitor,
    ) -> Self {
        Self {
            causality,
            clocks,
            law,
            steppers: clocks
                .iter()
                .map(|clock| Stepper::new(causality, clocks, clock))
                .collect(),
            exchange: Exchange::new(causality, clocks, delay),
            ready: Ready {
                clocks: clocks.iter().collect(),
                is_listed: vec![true; clocks.len()],
            },
            pace: Pace::of(monitor),
        }
    }

    /// The times of all nodes, unless a cycle keeps some from being computed, or one is
    /// too far.
    pub(super) fn finish(mut self) -> Result<(LogicalTimes, L), ClockError> {
        let mut heads = vec![None; self.causality.nodes().locations()];
        for (location, head) in self.steppers.iter().flat_map(Stepper::heads) {
            heads[location.as_usize()] = Some(head);
        }
        if heads.iter().any(Option::is_some) {
            let cycle = find_cycle(&Halt {
                causality: self.causality,
                clocks: self.clocks,
                exchange: &self.exchange,
                heads,
            });
            return Err(cycle.into());
        }
        let values = self.exchange.into_values();
        refuse_too_far(self.causality.nodes(), &values)?;
        let jumps = self.steppers.into_iter().flat_map(Stepper::into_jumps);
        let mut jumps: Vec<_> = jumps.collect();
        jumps.sort_unstable();
        let times = LogicalTimes {
            values,
            jumped: Jumped::of(&jumps),
            jumps,
            between: self.law.between(),
            distance: MinimalDistance::default(),
        };
        Ok((times, self.law))
    }

    /// Takes up what another part of the trace has come to for a node.
    pub(super) fn hear(&mut self, node: EventNode, value: i64) {
        let woken = |clock| self.ready.list(clock);
        self.exchange.publish(node, value, woken);
    }

    /// Takes up what begins in other parts come to: the end in `slot` cannot lie before.
    pub(super) fn hear_bound(&mut self, slot: Slot, bound: i64) {
        let participant = self.causality.collectives().participant(slot);
        if let Some(end) = participant.effect() {
            let woken = |clock| self.ready.list(clock);
            self.exchange.bound_from_outside(slot, end, bound, woken);
        }
    }

    /// The values of all nodes, as far as they are computed.
    pub(super) fn values(&self) -> &[i64] {
        self.exchange.values()
    }

    /// Lets each clock run until it has to wait, until none can go on, or `is_enough` says so
    /// of a node that was computed.
    pub(super) fn in_any_order(
        &mut self,
        mut is_enough: impl FnMut(EventNode) -> bool,
    ) -> Result<(), Cancelled> {
        while let Some(clock) = self.ready.next() {
            self.ready.strike(clock);
            self.pace.event()?;
            while let Some(node) = self.step(clock) {
                self.pace.event()?;
                if is_enough(node) {
                    self.ready.list(clock);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Computes one node of a clock; none if it has to wait, or has none left.
    #[inline]
    pub(super) fn step(&mut self, clock: ClockId) -> Option<EventNode> {
        let stepper = &mut self.steppers[clock.as_usize()];
        let computed = stepper.step(&mut self.law, &mut self.exchange)?;
        let woken = |clock| self.ready.list(clock);
        self.exchange.publish(computed.node, computed.value, woken);
        Some(computed.node)
    }

    /// True if no clock is known to be able to go on.
    pub(super) fn is_waiting(&self) -> bool {
        self.ready.clocks.is_empty()
    }

    pub(super) fn causality(&self) -> &'a Causality {
        self.causality
    }

    pub(super) fn delay(&self) -> &'a MinimalDelay {
        self.exchange.delay()
    }

    /// All clocks of the run.
    pub(super) fn clocks(&self) -> &'a Clocks {
        self.clocks
    }

    /// The raw time of the next node of a clock; `None` at its end.
    pub(super) fn next_of(&self, clock: ClockId) -> Option<i64> {
        self.steppers[clock.as_usize()].next_raw()
    }
}

/// Fails where a clock came further than it is followed.
fn refuse_too_far(nodes: &Nodes, values: &[i64]) -> Result<(), CorrectionError> {
    // `FURTHEST` is a bit that no value below has, as none is negative: looking for it in
    // all at once takes next to nothing.
    if values.iter().fold(0, |all, value| all | value) & FURTHEST == 0 {
        return Ok(());
    }
    match nodes
        .all()
        .zip(values)
        .find(|(_, value)| **value >= FURTHEST)
    {
        Some((node, _)) => Err(CorrectionError::TooFar {
            raw: nodes.timestamp(node),
            event: Some((nodes.location(node), nodes.event(node))),
        }),
        None => Ok(()),
    }
}

impl Ready {
    /// Hands out a clock, which stays listed until it is struck off: meanwhile
    /// nobody has to wake it.
    pub(super) fn next(&mut self) -> Option<ClockId> {
        self.clocks.pop()
    }

    /// The clock takes its turn.
    pub(super) fn strike(&mut self, clock: ClockId) {
        self.is_listed[clock.as_usize()] = false;
    }

    /// The clock may be able to go on.
    #[inline]
    pub(super) fn list(&mut self, clock: ClockId) {
        if !std::mem::replace(&mut self.is_listed[clock.as_usize()], true) {
            self.clocks.push(clock);
        }
    }
}
