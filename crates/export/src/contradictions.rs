//! The contradictions of a recording, as a track of its own, on which a viewer goes from one to
//! the next.
//!
//! They are the dependencies that reports count: each message, and each end of a collective
//! operation with the latest begin that it had to wait for, whose effect is stamped before its
//! cause. Each stands where its effect stands at the times that are shown.

use rayon::prelude::*;
use retime::causality::EventNode;
use retime::{Causality, LocationIndex};

use crate::arrows::{Dependency, dependencies, shown_locations};
use crate::window::Window;

/// A dependency that is reversed in the recording.
pub(crate) type Contradiction = Dependency;

/// The contradictions of a recording with both ends at locations that are shown and their effect,
/// at the times that are shown, within the window; in the order of these times.
pub(crate) fn of(
    recorded: &Causality,
    shown: &Causality,
    locations: &[LocationIndex],
    window: Window,
) -> Vec<Contradiction> {
    let is_shown = shown_locations(recorded, locations);
    let before = recorded.nodes();
    let nodes = shown.nodes();
    let on_shown = |node: EventNode| is_shown[before.location(node).as_usize()];
    let mut found = dependencies(recorded);
    found.retain(|it| {
        before.timestamp(it.effect) < before.timestamp(it.cause)
            && on_shown(it.cause)
            && on_shown(it.effect)
            && window.holds(nodes.timestamp(it.effect))
    });
    found.par_sort_unstable_by_key(|it| (nodes.timestamp(it.effect), *it));
    found
}
