//! Arrows: from each cause to its effects.
//!
//! A message is an arrow from its send to its receive. A collective operation of n
//! participants has up to n^2 dependencies, of which most say nothing new: what an end
//! waited for is the latest of the begins that it depends on. So each end has one arrow,
//! from that begin; where all wait for all, that is a fan from the last to arrive. An arrow
//! is numbered by its effect, of which it is the only one.
//!
//! ```text
//! rank 0  |begin-----------end|      the latest begin of the others is that of rank 2
//! rank 1      |begin-------end|      likewise
//! rank 2            |begin-end|      that of rank 1
//! ```

use rayon::prelude::*;
use retime::causality::{EventNode, PackedOption, Role};
use retime::{Causality, LocationIndex};

use crate::window::Window;

/// All arrows with both ends at locations and times that are shown.
pub(crate) struct Arrows {
    /// Cause and effect, by cause.
    by_cause: Vec<Dependency>,
    /// The cause of each node, if an arrow ends there.
    causes: Vec<PackedOption<EventNode>>,
}

impl Arrows {
    /// The arrows of a trace at its times.
    pub(crate) fn of(causality: &Causality, locations: &[LocationIndex], window: Window) -> Self {
        let nodes = causality.nodes();
        let is_shown = shown_locations(causality, locations);
        let shows = |node: EventNode| {
            is_shown[nodes.location(node).as_usize()] && window.holds(nodes.timestamp(node))
        };
        let mut by_cause = dependencies(causality);
        by_cause.retain(|it| shows(it.cause) && shows(it.effect));
        by_cause.par_sort_unstable();
        let mut causes = vec![PackedOption::NONE; nodes.len()];
        for it in &by_cause {
            causes[it.effect.index()] = it.cause.into();
        }
        Self { by_cause, causes }
    }

    /// The cause of an effect.
    #[inline]
    pub(crate) fn cause(&self, effect: EventNode) -> Option<EventNode> {
        self.causes[effect.index()].get()
    }

    /// The first arrow of a cause that is not before `node`, by its position.
    pub(crate) fn first_from(&self, node: EventNode) -> usize {
        self.by_cause.partition_point(|it| it.cause < node)
    }

    /// The effects of a cause, whose arrows begin at a position.
    #[inline]
    pub(crate) fn effects(
        &self,
        first: usize,
        cause: EventNode,
    ) -> impl ExactSizeIterator<Item = EventNode> + '_ {
        let rest = self.by_cause.get(first..).unwrap_or_default();
        let count = rest.iter().take_while(|it| it.cause == cause).count();
        rest[..count].iter().map(|it| it.effect)
    }
}

/// True for each location that is shown.
pub(crate) fn shown_locations(causality: &Causality, locations: &[LocationIndex]) -> Vec<bool> {
    let mut is_shown = vec![false; causality.nodes().locations()];
    for location in locations {
        if let Some(it) = is_shown.get_mut(location.as_usize()) {
            *it = true;
        }
    }
    is_shown
}

/// A dependency that is shown as an arrow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dependency {
    /// The event that has to come first.
    pub cause: EventNode,
    /// The event that has to come after the cause.
    pub effect: EventNode,
}

/// Each effect with its latest cause, in no order.
pub fn dependencies(causality: &Causality) -> Vec<Dependency> {
    let nodes = causality.nodes();
    let received = nodes.all().into_par_iter().filter_map(|node| {
        let cause = causality.message_source(node)?;
        let effect = node;
        (nodes.role(node) == Role::Receive).then_some(Dependency { cause, effect })
    });
    let mut found: Vec<_> = received.collect();
    let collectives = causality.collectives();
    let waited = collectives
        .instances()
        .into_par_iter()
        .flat_map_iter(|instance| {
            let places = 0..collectives.participants(instance).len();
            let mut own = Vec::with_capacity(places.len());
            let time = |node| nodes.time(node).0;
            collectives.latest_causes(
                instance,
                places,
                time,
                |place| place,
                |cause, effect| {
                    own.push(Dependency { cause, effect });
                },
            );
            own
        });
    found.par_extend(waited);
    found
}
