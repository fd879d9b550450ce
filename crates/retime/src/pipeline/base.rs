//! About how clocks differ, as bounds and repairs begin with it.

use serde::{Deserialize, Serialize};

use super::solution::Aligned;
use retime_alignment::{ClockStep, align};
use retime_causality::{Causality, Nodes};
use retime_clocks::RateChange;
use retime_clocks::estimate::Estimate;
use retime_model::{Cancelled, ClockId, Clocks, Monitor, TickRate};

/// About how clocks differ from one of them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Base {
    pub(super) estimate: Estimate,
    /// The moments at which clocks changed their rates.
    pub(super) rate_changes: Vec<RateChange>,
    /// Places at which clocks may have been set instead of those that the estimate sets.
    pub(super) instead: Vec<PlaceSet>,
}

/// Stamps between which a clock may have been set, as ticks since the base.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct PlaceSet {
    pub(super) clock: ClockId,
    /// The last that it showed before,
    pub(super) after: i64,
    /// and the first behind.
    pub(super) until: i64,
}

impl PlaceSet {
    /// The places of such steps of an alignment.
    pub(super) fn all(steps: &[ClockStep]) -> Vec<Self> {
        let place = |it: &ClockStep| Self {
            clock: it.clock,
            after: it.after,
            until: it.until,
        };
        steps.iter().map(place).collect()
    }
}

impl Base {
    /// The base that the alignment of a solution tells.
    pub(super) fn of(aligned: &Aligned, nodes: &Nodes) -> Option<Self> {
        let changes = aligned.rate_changes.iter();
        Some(Self {
            estimate: aligned.estimate.clone()?,
            rate_changes: changes.map(|it| it.relative(nodes)).collect(),
            instead: { aligned.instead.iter() }
                .map(|it| PlaceSet {
                    clock: it.clock,
                    after: nodes.relative(it.after).0,
                    until: nodes.relative(it.until).0,
                })
                .collect(),
        })
    }
}

/// About how clocks differ from `reference`.
pub(super) fn lines(
    causality: &Causality,
    clocks: &Clocks,
    rate: TickRate,
    reference: ClockId,
    monitor: &dyn Monitor,
) -> Result<Estimate, Cancelled> {
    Ok(align(causality, clocks, rate, reference, monitor)?.base())
}
