//! Runs logical clocks over a trace: whose turn it is.
//!
//! Each clock is a [`Stepper`]; what it computes is [published](Exchange), and
//! clocks that waited for it are ready again. The order in which ready clocks
//! take their turns is free, unless their [`Law`] looks at other clocks.

use super::cycle::{Cycle, Halt, find_cycle};
use super::exchange::Exchange;
use super::law::Law;
use super::stepper::Stepper;
use super::times::LogicalTimes;
use crate::causality::Causality;
use crate::delay::MinimalDelay;
use retime_model::{ClockId, Clocks};

/// State of a run over all clocks.
pub(super) struct Run<'a, L> {
    causality: &'a Causality,
    clocks: &'a Clocks,
    pub(super) law: L,
    steppers: Vec<Stepper<'a>>,
    exchange: Exchange<'a>,
    pub(super) ready: Ready,
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
        }
    }

    /// The times of all nodes, or the cycle that keeps some from being computed.
    pub(super) fn finish(self) -> Result<(LogicalTimes, L), Cycle> {
        let mut heads = vec![None; self.causality.nodes().locations()];
        for (location, head) in self.steppers.iter().flat_map(Stepper::heads) {
            heads[location.as_usize()] = Some(head);
        }
        if heads.iter().any(Option::is_some) {
            return Err(find_cycle(&Halt {
                causality: self.causality,
                clocks: self.clocks,
                exchange: &self.exchange,
                heads,
            }));
        }
        let jumps = self.steppers.into_iter().flat_map(Stepper::into_jumps);
        let mut jumps: Vec<_> = jumps.collect();
        jumps.sort_unstable();
        let times = LogicalTimes {
            values: self.exchange.into_values(),
            jumps,
            gamma: self.law.constant(),
        };
        Ok((times, self.law))
    }

    /// Lets each clock run until it has to wait, until none can go on.
    pub(super) fn in_any_order(&mut self) {
        while let Some(clock) = self.ready.next() {
            self.ready.strike(clock);
            while self.step(clock) {}
        }
    }

    /// Computes one node of a clock; false if it has to wait, or has none left.
    #[inline]
    pub(super) fn step(&mut self, clock: ClockId) -> bool {
        let stepper = &mut self.steppers[clock.as_usize()];
        let Some(computed) = stepper.step(&mut self.law, &mut self.exchange) else {
            return false;
        };
        let woken = |clock| self.ready.list(clock);
        self.exchange.publish(computed.node, computed.value, woken);
        true
    }

    /// The raw time of the next node of a clock; `None` at its end.
    pub(super) fn next_of(&self, clock: ClockId) -> Option<i64> {
        self.steppers[clock.as_usize()].next_raw()
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
