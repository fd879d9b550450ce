//! Happened-before of a trace whose parts lie in several processes.
//!
//! 1. Each process gets [ghosts](crate::ghosts) of what its own events depend on;
//! 2. joins what it knows, and of collective operations those that it [owns](crate::owners);
//! 3. tells the others what came of these, who complete their own with it.

use std::sync::Arc;

use retime::causality::{CausalityError, EventNode, Incomplete, Outcome, PartLogs, Slot, Whole};
use retime::{Causality, CausalityOptions};
use retime_model::{LocationLog, LogColumns, Monitor, TraceInfo};

use crate::distribution::Distribution;
use crate::ghosts::{Halo, exchanged};
use crate::owners::{Owners, Turns};
use crate::part::Part;

/// Joins the logs of all processes, given those of the locations that this one owns. All
/// processes come here, and each gets what concerns its own locations. It ends where `monitor`
/// says so.
pub fn build(
    info: &TraceInfo,
    own: Vec<LocationLog>,
    options: CausalityOptions,
    distribution: &Distribution,
    monitor: &dyn Monitor,
) -> Result<Causality, CausalityError> {
    if distribution.is_whole() {
        return Causality::build_watched(info, own, options, monitor);
    }
    let own: Vec<LogColumns> = own.into_iter().map(LocationLog::into_columns).collect();
    let Halo {
        logs,
        counts,
        sent,
        owners,
    } = exchanged(info, own, distribution);
    let (rank, size) = distribution.place();
    let part = PartLogs {
        logs,
        counts,
        turns: owners.own_turns(rank),
        lack_begins: owners.lack_begins().clone(),
        whole: Whole::with(Arc::new(Part::new(distribution.clone()))),
    };
    let joined = Causality::of_part(info, part, options, monitor)?;
    let mut owned: Vec<Vec<Slot>> = vec![Vec::new(); size];
    for &(slot, location) in joined.ghost_participants() {
        owned[distribution.owner(location.as_usize())].push(slot);
    }
    let outcomes = distribution.all_to_all(outcomes(&joined, &owners, distribution));
    let (causality, away) = joined.complete(info, outcomes);
    let nodes = causality.nodes();
    let sent = sent.iter().map(|to| {
        let nodes = to.iter().map(|it| nodes.of_log(it.0.as_usize(), it.1));
        nodes.collect()
    });
    let mut ghosts: Vec<Vec<EventNode>> = vec![Vec::new(); size];
    for location in (0..nodes.locations()).filter(|&it| !distribution.owns(it)) {
        ghosts[distribution.owner(location)].extend(nodes.span(location));
    }
    let part = Part {
        sent: sent.collect(),
        ghosts,
        owned,
        away,
        joins_apart: owners.is_any(),
        ..Part::new(distribution.clone())
    };
    Ok(causality.in_whole(Whole::with(Arc::new(part))))
}

/// The outcomes of own operations for each process that has members of them.
fn outcomes(
    joined: &Incomplete,
    owners: &Owners,
    distribution: &Distribution,
) -> Vec<Vec<Outcome>> {
    let (rank, size) = distribution.place();
    let mut outcomes = vec![Vec::new(); size];
    for &outcome in joined.outcomes() {
        let turns = owners.turns(outcome.communicator);
        let others = turns.into_iter().flat_map(Turns::owners);
        for &other in others.filter(|&&it| it != rank) {
            outcomes[other].push(outcome);
        }
    }
    outcomes
}
