//! How far the events of a trace can be forced, and how near they are to each other.
//!
//! Whatever gamma controllers choose between a least and a largest, a controlled clock lies
//! between the two with these as constants, for all it does is take larger values of the same
//! chains. Each of the two is the least solution of difference constraints,
//!
//! ```text
//! x(e) >= C(e),   x(e) >= x(prev) + gamma (C(e) - C(prev)),   x(r) >= x(s) + mu
//! ```
//!
//! so two walks give, for every event, the largest and the least lead `x(e) - C(e)` that is
//! possible. A receive is forced to the largest `x(s) + mu - C(r)` at most, and not at all where
//! that is not above 0. Where gamma is constant both are the same, and what is left to foresee
//! is how jumps are amortised. Between a send and such a receive, `d` later, no ramp is steeper
//! than what the receive is forced to, less the lead that the send has at least, by `d`.
//!
//! Away from sends ramps are as long as `L`, the largest jump by `A_def`; within any stretch of
//! so much or more they climb what the clock is forced to at its end, less what it leads by at
//! its beginning. (Of a longer stretch some part that is between `L` and `2 L` is as steep.)
//!
//! ```
//! # use retime::causality::{Causality, CausalityOptions};
//! use retime::{Grouping, MinimalDelay, Ticks};
//! use retime_methods::a_priori::{Constants, Reach};
//! # let trace = retime_testing::trace("0: send 1 @900, receive 1 @1000, send 1 @1005
//! #                                    1: receive 0 @906, send 0 @1010, receive 0 @1012")?;
//! # let causality = Causality::build(&trace.info, trace.logs, CausalityOptions::default())?;
//! # let clocks = Grouping::Process.clocks(&trace.info, &causality);
//! // Location 0 sends at 900 and 1005, and receives at 1000 what location 1 sent at 1010,
//! // just before it receives the second at 1012.
//! let delay = MinimalDelay::Uniform(Ticks(0));
//! let constants = Constants { gamma_max: 1.0 - 1e-9, gamma_d: None, a_def: 0.05, rho: 0.0 };
//! let reach = Reach::of_clocks(&causality, &clocks, &delay, &constants, &())?;
//! // Location 0 is forced by 10 within 100 ticks; that puts its second send to 1015, which
//! // forces location 1 by 3, 2 ticks after a send.
//! assert_eq!((reach[0].lead, reach[1].lead), (Ticks(10), Ticks(3)));
//! assert_eq!(reach[1].send_to_receive, Some(Ticks(2)));
//! assert!((reach[0].after_sends - 0.1).abs() < 1e-6 && (reach[1].after_sends - 1.5).abs() < 1e-6);
//! // Ramps of 10 ticks at 5 % are longer than all that is recorded.
//! assert_eq!(reach[0].elsewhere, 0.0);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use super::Constants;
use super::steps::{Step, after_sends, apart, at_once, elsewhere, send_to_receive};
use rayon::prelude::*;
use retime::causality::{Causality, EventNode, Role};
use retime::clock::{ClockError, Gamma, LogicalTimes, controlled};
use retime::{Cancelled, ClockId, Clocks, MinimalDelay, Monitor, Pace, Ticks};

/// How far the events of a clock can be forced ahead, and how near they are.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reach {
    /// The most that any event can be ahead of its recorded time.
    pub lead: Ticks,
    /// Least distance from a send, or begin of a collective operation, to a later receive or
    /// end; `None` without any.
    pub send_to_receive: Option<Ticks>,
    /// Least distance between two moments at which events can be forced.
    pub apart: Option<Ticks>,
    /// Most events that can be forced at one moment.
    pub at_once: u32,
    /// The steepest ramp from a send to an event that can be forced.
    pub after_sends: f64,
    /// The steepest ramp that no send limits.
    pub elsewhere: f64,
}

impl Reach {
    /// The reach of each clock, under control with such constants. Fails as a logical clock does.
    pub fn of_clocks(
        causality: &Causality,
        clocks: &Clocks,
        delay: &MinimalDelay,
        constants: &Constants,
        monitor: &dyn Monitor,
    ) -> Result<Vec<Self>, ClockError> {
        let run = |gamma| controlled(causality, clocks, delay, Gamma::from_factor(gamma), monitor);
        let most = run(constants.gamma_max)?;
        let less = constants.gamma_d.map(|_| run(constants.least_gamma()));
        let less = less.transpose()?;
        let walk = Walk {
            causality,
            clocks,
            delay,
            most: &most,
            least: less.as_ref().unwrap_or(&most),
            monitor,
        };
        let all: Vec<ClockId> = clocks.iter().collect();
        let steps = all.into_par_iter().map(|clock| walk.steps(clock));
        let steps: Vec<Result<Vec<Step>, Cancelled>> = steps.collect();
        let steps: Vec<Vec<Step>> = steps.into_iter().collect::<Result<_, _>>()?;
        let jump = steps.iter().filter_map(|it| Step::certain_jump(it)).max();
        let ramp = jump.map_or(0.0, |jump| jump.0 as f64 / constants.a_def);
        let of = |steps: &Vec<Step>| Self::of(steps, ramp, constants);
        Ok(steps.par_iter().map(of).collect())
    }

    /// The reach of a clock, with ramps of at least so many ticks.
    fn of(steps: &[Step], ramp: f64, constants: &Constants) -> Self {
        let loss = 1.0 - constants.least_gamma();
        Self {
            lead: steps.iter().map(|it| it.most).max().unwrap_or_default(),
            send_to_receive: send_to_receive(steps),
            apart: apart(steps),
            at_once: at_once(steps),
            after_sends: after_sends(steps, loss),
            elsewhere: elsewhere(steps, ramp, loss),
        }
    }
}

/// The trace, and the clocks that enclose all under control.
struct Walk<'a> {
    causality: &'a Causality,
    clocks: &'a Clocks,
    delay: &'a MinimalDelay,
    /// The clocks under the largest and under the least gamma.
    most: &'a LogicalTimes,
    least: &'a LogicalTimes,
    monitor: &'a dyn Monitor,
}

impl Walk<'_> {
    /// The events of a clock by time.
    fn steps(&self, clock: ClockId) -> Result<Vec<Step>, Cancelled> {
        let nodes = self.causality.nodes();
        let locations = self.clocks.locations(clock);
        let own = locations.iter().flat_map(|it| nodes.of(it.as_usize()));
        let mut own: Vec<EventNode> = own.collect();
        own.sort_by_key(|&it| (nodes.time(it), self.most.get(it), it));
        let mut pace = Pace::of(self.monitor);
        let mut steps = Vec::with_capacity(own.len());
        for (place, &node) in own.iter().enumerate() {
            pace.event()?;
            let at = nodes.time(node);
            let is_now = |it: Option<&EventNode>| it.is_some_and(|&it| nodes.time(it) == at);
            let before = place.checked_sub(1).and_then(|it| own.get(it));
            let shares_moment = is_now(before) || is_now(own.get(place + 1));
            steps.push(self.step(clock, node, shares_moment && locations.len() > 1));
        }
        Ok(steps)
    }

    /// Among events of one moment (`any`) a clock with several locations may force any.
    fn step(&self, clock: ClockId, node: EventNode, any: bool) -> Step {
        let nodes = self.causality.nodes();
        let at = nodes.time(node);
        let most = Ticks(self.most.get(node).0 - at.0);
        let role = nodes.role(node);
        Step {
            at,
            is_cause: matches!(role, Role::Send | Role::CollectiveBegin),
            forced: match role {
                _ if any => most,
                Role::Send | Role::CollectiveBegin => Ticks(0),
                Role::CollectiveEnd => most,
                Role::Receive => self.forced(clock, node, self.most),
            },
            certain: match role {
                Role::Receive if !any => self.forced(clock, node, self.least),
                _ => Ticks(0),
            },
            most,
            least: Ticks(self.least.get(node).0 - at.0),
        }
    }

    /// The lead to which a message forces its receive where clocks are as in `times`.
    fn forced(&self, clock: ClockId, receive: EventNode, times: &LogicalTimes) -> Ticks {
        let nodes = self.causality.nodes();
        let send = self.causality.message_source(receive);
        // Messages within a clock force nothing.
        let send = send.filter(|&it| self.clocks.of(nodes.location(it)) != clock);
        send.map_or(Ticks(0), |send| {
            let delay = self.causality.message_delay(self.delay, send, receive);
            let arrives = times.get(send).0.saturating_add(delay.0);
            Ticks(arrives.saturating_sub(nodes.time(receive).0).max(0))
        })
    }
}
