//! Events of one clock and one time that wait for each other.
//!
//! Only dependencies order events of several locations that read one clock at the same time. If
//! these lead in a circle, together with the order of events on each location, no times fit
//! the clock, whatever others say:
//!
//! ```text
//!  location 0:  receive @100 --> send @100
//!                   ^               |
//!                   |               v            one clock
//!  location 1:   send @100 <-- receive @100
//! ```
//!
//! That needs no values, so it can be told of each clock before any clock runs:
//!
//! ```
//! # use retime_causality::{Causality, CausalityOptions};
//! # use retime_logical_clocks::{ClockError, Gamma, controlled};
//! # use retime_causality::MinimalDelay;
//! # use retime_model::{Clocks, Ticks};
//! # let trace = retime_testing::trace("0: receive 1 @100, send 1 @100
//! #                                    1: receive 0 @100, send 0 @100")?;
//! # let causality = Causality::build(&trace.info, trace.logs, CausalityOptions::default())?;
//! # let (clocks, _) = Clocks::from_owners(&[0, 0]);
//! # let delay = MinimalDelay::Uniform(Ticks(0));
//! let times = controlled(&causality, &clocks, &delay, Gamma::default(), &());
//! assert!(matches!(times, Err(ClockError::Cycle(cycle)) if cycle.events.len() == 2));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::stepper::is_tied;
use retime_causality::{Causality, EventNode, Ids, Instance};
use retime_model::pace::Pace;
use retime_model::{Cancelled, ClockId, Clocks, Monitor};

/// True if own events of any clock wait for each other.
pub(super) fn wait_for_each_other(
    causality: &Causality,
    clocks: &Clocks,
    monitor: &dyn Monitor,
) -> Result<bool, Cancelled> {
    let tied = Tied { causality, clocks };
    let mut pace = Pace::of(monitor);
    let mut arcs = Vec::new();
    for clock in clocks.iter().filter(|it| clocks.locations(*it).len() > 1) {
        for location in clocks.locations(clock) {
            for node in causality.nodes().of(location.as_usize()) {
                pace.event()?;
                let send = causality.message_source(node);
                arcs.extend(
                    send.filter(|it| tied.orders(*it, node))
                        .map(|it| (it, node)),
                );
            }
        }
    }
    let instances: Ids<Instance> = causality.collectives().known_instances();
    for instance in instances {
        pace.events(causality.collectives().participants(instance).len())?;
        tied.of_operation(instance, &mut arcs);
    }
    Ok(has_circle(causality, arcs))
}

struct Tied<'a> {
    causality: &'a Causality,
    clocks: &'a Clocks,
}

impl Tied<'_> {
    fn clock(&self, node: EventNode) -> ClockId {
        self.clocks.of(self.causality.nodes().location(node))
    }

    /// True if only their dependency orders two events of one clock.
    fn orders(&self, cause: EventNode, effect: EventNode) -> bool {
        self.clock(cause) == self.clock(effect) && is_tied(self.causality.nodes(), cause, effect)
    }

    /// The dependencies of an operation that order events of one clock.
    fn of_operation(&self, instance: Instance, arcs: &mut Vec<(EventNode, EventNode)>) {
        let (nodes, collectives) = (self.causality.nodes(), self.causality.collectives());
        let key = |node: EventNode| (self.clock(node), nodes.time(node));
        let shares = |node: &EventNode| self.clocks.locations(self.clock(*node)).len() > 1;
        let participants = || (0..).zip(collectives.participants(instance));
        let begins = participants().filter_map(|(place, it)| Some((place, it.cause()?)));
        let begins = begins.filter(|(_, begin)| shares(begin) && nodes.is_own(*begin));
        let mut begins: Vec<_> = begins.map(|(place, it)| (key(it), place, it)).collect();
        if begins.is_empty() {
            return;
        }
        begins.sort_unstable();
        let ends = participants().filter_map(|(place, it)| Some((place, it.effect()?)));
        for (to, end) in ends {
            let first = begins.partition_point(|begin| begin.0 < key(end));
            let same = begins[first..].iter().take_while(|it| it.0 == key(end));
            let causes = same
                .filter(|it| collectives.depends(instance, it.1, to) && is_tied(nodes, it.2, end));
            arcs.extend(causes.map(|it| (it.2, end)));
        }
    }
}

/// True if arcs lead in a circle, together with the order of their events on each location.
fn has_circle(causality: &Causality, mut arcs: Vec<(EventNode, EventNode)>) -> bool {
    let nodes = causality.nodes();
    let mut events: Vec<EventNode> = arcs.iter().flat_map(|it| [it.0, it.1]).collect();
    events.sort_unstable();
    events.dedup();
    let follows = |pair: &[EventNode]| {
        let of_location = nodes.location(pair[0]) == nodes.location(pair[1]);
        (of_location && nodes.time(pair[0]) == nodes.time(pair[1])).then_some((pair[0], pair[1]))
    };
    arcs.extend(events.windows(2).filter_map(follows));
    arcs.sort_unstable();
    let place = |node: EventNode| events.partition_point(|it| *it < node);
    let mut causes = vec![0_usize; events.len()];
    for arc in &arcs {
        causes[place(arc.1)] += 1;
    }
    let mut free: Vec<EventNode> = { events.iter().copied() }
        .filter(|&it| causes[place(it)] == 0)
        .collect();
    let mut passed = 0;
    while let Some(event) = free.pop() {
        passed += 1;
        let first = arcs.partition_point(|arc| arc.0 < event);
        for arc in arcs[first..].iter().take_while(|arc| arc.0 == event) {
            let left = &mut causes[place(arc.1)];
            *left -= 1;
            if *left == 0 {
                free.push(arc.1);
            }
        }
    }
    passed < events.len()
}
