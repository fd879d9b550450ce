//! The controlled logical clock with a controller.
//!
//! `LC'(e) = max( LC'(s) + mu, LC'(prev) + delta, LC'(prev) + gamma_e * (C(e) - C(prev)), C(e) )`
//!
//! Where gamma changes from event to event, the order in which events are
//! computed matters to controllers that see all clocks. The order is fixed: among
//! the clocks whose next event has all its sources computed, the one with the
//! smallest raw time, ties by clock. A heap of clocks and a tournament of leads
//! make that `O(log clocks)` per event. With a constant gamma, and under the
//! controller of 1997 where each location reads a clock of its own, any order
//! comes to the same, also one in which parts of a trace go on side by side.
//!
//! Controllers compare with the *simple* logical clock ([`super::simple`]), which
//! does not depend on them and is run first.
//!
//! ```
//! # use retime_causality::{Causality, CausalityOptions, EventNode};
//! # use retime_causality::MinimalDelay;
//! # use retime_model::{Clocks, MinimalDistance, Ticks};
//! use retime_logical_clocks::{Control, Regulation, Steps, regulated};
//! # let trace = retime_testing::trace("0: send 1 @100, receive 1 @1200
//! #                                    1: receive 0 @95, send 0 @195")?;
//! # let causality = Causality::build(&trace.info, trace.logs, CausalityOptions::default())?;
//! # let clocks = Clocks::each_location(trace.info.locations.len());
//! // As in the example of `controlled`: a receive at 95 is pushed to 102, and 100
//! // ticks later gamma = 0.95 has taken 5 of the lead of 7.
//! let regulation = Regulation {
//!     delay: MinimalDelay::Uniform(Ticks(2)),
//!     distance: MinimalDistance::default(),
//!     control: Control::Constant(0.95),
//!     steps: Steps::Communicating,
//! };
//! let times = regulated(&causality, &clocks, trace.info.rate, &regulation, &())?;
//! let corrected = |node| causality.nodes().base().0 as i64 + times.get(EventNode(node)).0;
//! assert_eq!([2, 3].map(corrected), [102, 197]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Source: Rabenseifner 2000, algorithm 3 with section 4.4; Rabenseifner 1997,
//! algorithms 2 and 3. The order of evaluation is ours.

use serde::{Deserialize, Serialize};

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::controller::{Combined, CombinedConstants, Degressive, DegressiveConstants};
use crate::error::ClockError;
use crate::gamma::Gamma;
use crate::law::{Computed, Law, distance_before};
use crate::lead::Lead;
use crate::part::in_any_order;
use crate::run::Run;
use crate::simple::simple;
use crate::times::{Bend, Between, LogicalTimes};
use retime_causality::MinimalDelay;
use retime_causality::{Causality, EventNode, NeedsWhole, Nodes};
use retime_model::{Cancelled, Monitor, TickRate};
use retime_model::{ClockId, Clocks, MinimalDistance};

/// How gamma is found.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Control {
    /// Always the same factor.
    Constant(f64),
    /// The controller of 1997, clock by clock.
    Degressive(DegressiveConstants),
    /// The controllers A to D of 2000.
    Combined(CombinedConstants),
}

impl Control {
    /// True if times depend on the order in which clocks are evaluated: where gamma depends on
    /// other clocks, and where it depends on which of several locations of a clock goes first.
    fn depends_on_order(self, clocks: &Clocks, causality: &Causality) -> bool {
        match self {
            Self::Constant(_) => false,
            Self::Degressive(_) => clocks.len() < causality.nodes().locations(),
            Self::Combined(_) => true,
        }
    }
}

/// The conditions that a regulated run keeps.
#[derive(Clone, Debug, PartialEq)]
pub struct Regulation {
    /// Least time from a cause to its effect, `mu`.
    pub delay: MinimalDelay,
    /// Least time between successive nodes of a location, `delta`: between successive events
    /// where all of them are nodes.
    pub distance: MinimalDistance,
    /// How gamma is found.
    pub control: Control,
    /// At which events.
    pub steps: Steps,
}

/// The events at which controllers take a step.
///
/// Algorithm 3 of 1997 takes one at each event, so that what is remembered of leads decays with
/// each. Where a recorder writes many events that say nothing of clocks, as calls of functions,
/// control then depends on how much it writes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Steps {
    /// At each event that takes part in happened-before.
    #[default]
    Communicating,
    /// At each event. Those that take part are all there are where others are no nodes.
    Every,
}

/// Runs the controlled logical clock with a controller over a trace of the given
/// tick rate.
///
/// Fails if happened-before has a cycle, naming its events, or if `monitor` says to
/// give up.
pub fn regulated(
    causality: &Causality,
    clocks: &Clocks,
    rate: TickRate,
    regulation: &Regulation,
    monitor: &dyn Monitor,
) -> Result<LogicalTimes, ClockError> {
    let Regulation {
        delay,
        distance,
        control,
        steps,
    } = regulation;
    // A factor that stays needs nothing to compare with.
    let simple = match control {
        Control::Constant(_) => None,
        Control::Degressive(_) | Control::Combined(_) => {
            Some(simple(causality, clocks, delay, distance, monitor)?)
        }
    };
    let law = || Regulated {
        nodes: causality.nodes(),
        distance,
        steps: *steps,
        simple: simple.as_ref(),
        controllers: Controllers::new(*control, clocks.len(), rate),
        bends: Vec::new(),
    };
    let fresh = || Run::new(causality, clocks, delay, law(), monitor);
    if !control.depends_on_order(clocks, causality) {
        let (times, _) = in_any_order(fresh, 0, monitor)?;
        return Ok(times.apart(causality, distance));
    }
    if !causality.whole().is_here() {
        causality.whole().give_up(NeedsWhole::Order);
        return Err(Cancelled.into());
    }
    let mut run = fresh();
    in_canonical_order(&mut run)?;
    let (times, _) = run.finish()?;
    Ok(times.apart(causality, distance))
}

/// Computes, as long as there is one, the event with the smallest raw time among
/// the clocks that need not wait.
fn in_canonical_order(run: &mut Run<'_, Regulated<'_>>) -> Result<(), Cancelled> {
    let mut queue = BinaryHeap::new();
    // A clock without any event leads nobody, and must not pass for the one that leads least.
    for clock in run.clocks().iter() {
        if run.next_of(clock).is_none() {
            run.law.controllers.ended(clock);
        }
    }
    loop {
        while let Some(clock) = run.ready.next() {
            queue.extend(run.next_of(clock).map(|raw| Reverse((raw, clock))));
        }
        let Some(Reverse((_, clock))) = queue.pop() else {
            return Ok(());
        };
        run.ready.strike(clock);
        run.pace.event()?;
        if run.step(clock).is_some() {
            match run.next_of(clock) {
                // Whether it has to wait shows when it is its turn.
                Some(_) => run.ready.list(clock),
                None => run.law.controllers.ended(clock),
            }
        }
    }
}

/// The law of a clock under control.
struct Regulated<'a> {
    nodes: &'a Nodes,
    distance: &'a MinimalDistance,
    steps: Steps,
    /// None where nothing changes gamma.
    simple: Option<&'a LogicalTimes>,
    controllers: Controllers,
    bends: Vec<Bend>,
}

/// The state of [`Control`] over all clocks of a trace: which share of its intervals each
/// clock keeps while it leads. Times and leads are in ticks.
///
/// ```
/// use retime_logical_clocks::{Control, Controllers, DegressiveConstants};
/// use retime_model::{ClockId, TickRate};
/// let rate = TickRate::per_second(1_000_000).unwrap();
/// let control = Control::Degressive(DegressiveConstants::default());
/// let mut controllers = Controllers::new(control, 2, rate);
/// controllers.computed(ClockId(0), 0, 0, 1_000); // the simple clock would not lead at all
/// assert_eq!(controllers.factor(ClockId(0)), 0.95 * 0.9);
/// assert_eq!(controllers.factor(ClockId(1)), 0.95); // each clock by itself
/// ```
#[derive(Debug)]
pub struct Controllers(State);

#[derive(Debug)]
enum State {
    Constant { factor: f64, gamma: Gamma },
    Degressive(Vec<Degressive>),
    Combined(Combined),
}

impl Controllers {
    /// The controllers of so many clocks, whose ticks have the given rate.
    pub fn new(control: Control, clocks: usize, rate: TickRate) -> Self {
        Self(match control {
            Control::Constant(factor) => State::Constant {
                factor,
                gamma: Gamma::from_factor(factor),
            },
            Control::Degressive(constants) => {
                State::Degressive(vec![Degressive::with_constants(rate, constants); clocks])
            }
            Control::Combined(constants) => State::Combined(Combined::new(clocks, constants)),
        })
    }

    /// The factor gamma for the next event of a clock.
    #[inline]
    pub fn factor(&self, clock: ClockId) -> f64 {
        match &self.0 {
            State::Constant { factor, .. } => *factor,
            State::Degressive(all) => all[clock.as_usize()].factor(),
            State::Combined(combined) => combined.factor(clock.as_usize()),
        }
    }

    /// The current factor of a clock, in the form that it is computed with.
    #[inline]
    fn gamma(&self, clock: ClockId) -> Gamma {
        match &self.0 {
            State::Constant { gamma, .. } => *gamma,
            State::Degressive(all) => all[clock.as_usize()].gamma(),
            State::Combined(combined) => Gamma::from_factor(combined.factor(clock.as_usize())),
        }
    }

    /// The lead at raw time `raw` of a clock that nothing forces, which had `lead` at its
    /// last event and keeps `distance` from there.
    #[inline]
    pub fn advanced(&self, clock: ClockId, lead: Lead, raw: i64, distance: i64) -> Lead {
        let apart = lead.advanced(raw, distance);
        // Whatever gamma is, it takes nothing off no lead.
        if lead.amount() == 0 {
            return apart;
        }
        lead.next(raw, self.gamma(clock)).larger(apart)
    }

    /// An event of `clock` at raw time `raw` was computed, with its simple logical time
    /// and the lead of its clock over `raw`. Events come in the order of evaluation.
    pub fn computed(&mut self, clock: ClockId, raw: i64, simple: i64, lead: i64) {
        match &mut self.0 {
            State::Constant { .. } => {}
            State::Degressive(all) => all[clock.as_usize()].computed(simple - raw, lead),
            State::Combined(combined) => {
                combined.computed(clock.as_usize(), simple, simple - raw, lead);
            }
        }
    }

    /// No event of `clock` comes any more: the others are no longer compared with it.
    pub fn ended(&mut self, clock: ClockId) {
        if let State::Combined(combined) = &mut self.0 {
            combined.ended(clock.as_usize());
        }
    }
}

impl Regulated<'_> {
    /// Notes where `lead` has run out before a node, by the gamma of that node.
    fn note_bend(&mut self, clock: ClockId, lead: Lead, node: Computed) {
        let gamma = self.controllers.gamma(clock);
        let since = lead.since().unwrap_or(node.raw);
        if let Some(raw) = lead.gone_between(since, node.raw, gamma) {
            self.bends.push(Bend {
                node: node.node,
                raw,
            });
        }
    }
}

impl Law for Regulated<'_> {
    fn between(&mut self) -> Between {
        self.bends.sort_unstable();
        Between::Varies(std::mem::take(&mut self.bends))
    }

    fn left(&self, clock: ClockId, lead: Lead, raw: i64) -> Lead {
        self.controllers.advanced(clock, lead, raw, 0)
    }

    #[inline]
    fn alone(&self, clock: ClockId, lead: Lead, raw: i64, node: EventNode) -> Lead {
        let distance = distance_before(self.nodes, self.distance, node);
        self.controllers.advanced(clock, lead, raw, distance)
    }

    #[inline]
    fn computed(&mut self, clock: ClockId, lead: Lead, node: Computed) -> Lead {
        let amount = node.value - node.raw;
        if node.alone.amount() == 0 && lead.amount() > 0 {
            self.note_bend(clock, lead, node);
        }
        if let Some(simple) = self.simple
            && (self.steps == Steps::Every || !self.nodes.is_between(node.node))
        {
            let simple = simple.get(node.node).0;
            self.controllers.computed(clock, node.raw, simple, amount);
        }
        node.alone.forced(amount)
    }
}
