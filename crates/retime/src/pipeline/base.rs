//! About how clocks differ, as bounds and repairs begin with it.

use serde::{Deserialize, Serialize};

use super::solution::Aligned;
use retime_alignment::align;
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
}

impl Base {
    /// The base that the alignment of a solution tells.
    pub(super) fn of(aligned: &Aligned, nodes: &Nodes) -> Option<Self> {
        let changes = aligned.rate_changes.iter();
        Some(Self {
            estimate: aligned.estimate.clone()?,
            rate_changes: changes.map(|it| it.relative(nodes)).collect(),
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
