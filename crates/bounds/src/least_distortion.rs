//! The least change of local intervals that a correction needs, and the events that say so.
//!
//! That is what the [gentlest](super::gentlest) correction does, without the correction: its
//! search alone.

use serde::{Deserialize, Serialize};

use super::gentlest::{ListedLinks, ratio, search};
use super::graph::{Budget, Part, PositiveCycle};
use retime_causality::Place;
use retime_causality::edges::{Edge, Source};
use retime_model::{Cancelled, Monitor, Ticks};

/// The least possible distortion, and what forces it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LeastDistortion {
    /// The largest relative change of a local interval that cannot be avoided. Infinite where
    /// dependencies contradict each other by themselves.
    pub distortion: f64,
    /// The dependencies of the cycle that forces it; none if nothing has to change, or nothing
    /// is known yet.
    pub forced_by: Vec<Forcing>,
    /// Ticks by which the stamps of that cycle contradict its dependencies.
    pub needed: i128,
    /// Ticks of local intervals over which that can be spread.
    pub width: i128,
    /// True if it was found; otherwise the steps were used up, and `distortion` is a lower
    /// bound.
    pub complete: bool,
}

/// A dependency that forces a correction to change intervals.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Forcing {
    /// Its cause.
    pub cause: Place,
    /// Its effect.
    pub effect: Place,
    /// The ticks by which the clock of the effect has to be set forward against that of the cause.
    pub needed: Ticks,
}

/// Finds it; `least` is the minimal delay of a dependency in ticks. The search ends when it
/// has looked at nodes and arcs of its graphs `steps` times. Fails only if `monitor` says to
/// give up.
pub fn least_distortion(
    source: &dyn Source,
    least: &(dyn Fn(&Edge) -> i64 + Sync),
    steps: u64,
    monitor: &dyn Monitor,
) -> Result<LeastDistortion, Cancelled> {
    let edges = source.list(monitor)?;
    let listed = ListedLinks::new(&edges, least, monitor)?;
    let forcing = |part: &Part| match *part {
        Part::Stretch { .. } => None,
        Part::Dependency { edge, bound, .. } => {
            let (cause, effect) = source.places(edges.get(edge)?)?;
            Some(Forcing {
                cause,
                effect,
                needed: Ticks(bound),
            })
        }
    };
    let mut found = LeastDistortion {
        distortion: 0.0,
        forced_by: Vec::new(),
        needed: 0,
        width: 0,
        complete: false,
    };
    let mut budget = Budget::of(steps, monitor);
    let searched = search(
        source.clocks(),
        &listed,
        &mut budget,
        &mut |cycle: &PositiveCycle| {
            (found.needed, found.width) = (cycle.bound(), cycle.width());
            found.distortion = ratio(found.needed, found.width);
            found.forced_by = cycle.parts.iter().filter_map(forcing).collect();
        },
    )?;
    found.complete = searched.complete;
    Ok(found)
}
