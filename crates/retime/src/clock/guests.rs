//! What the host of a collective operation tells the processes of other participants.
//!
//! Where processes [take turns](crate::causality) in looking at operations, only the host of
//! one knows when all of its participants began and ended. The logical clock of a guest needs
//! of that one number for each own event:
//!
//! ```text
//! bound(end)   = max( LC(begin) + mu           over the begins in other processes it depends on )
//! limit(begin) = min( LC(end) - mu - LC(begin) over the ends in other processes that depend on it )
//! ```
//!
//! Among its own participants the guest looks itself, since which of them read the same clock
//! is a matter of its own. A clock is in one process, so those in others read another.

use super::times::UNKNOWN;
use crate::causality::{Causality, EventNode, Slot};
use crate::delay::MinimalDelay;
use crate::pace::Pace;
use retime_model::{Cancelled, LocationIndex, Monitor};

/// No limit.
pub(super) const FREE: i64 = i64::MAX;

/// By place in an operation that is hosted here, before which time participants in other
/// processes let it not end; [`UNKNOWN`] if nothing tells.
pub(super) fn bounds_of_ends(
    causality: &Causality,
    delay: &MinimalDelay,
    values: &[i64],
    monitor: &dyn Monitor,
) -> Result<Vec<i64>, Cancelled> {
    let mut bounds = vec![UNKNOWN; hosted_slots(causality)];
    let time = |node: EventNode| values[node.index()];
    let mut pace = Pace::of(monitor);
    for instance in causality.collectives().instances() {
        pace.events(causality.collectives().participants(instance).len())?;
        let note = |_, end: EventNode, slack: i64| {
            if let Some(bound) = at(causality, &mut bounds, end) {
                *bound = (*bound).max(time(end).saturating_sub(slack));
            }
        };
        causality.tightest_causes(instance, process_of(causality), delay, time, note);
    }
    Ok(bounds)
}

/// By place in an operation that is hosted here, how far its begin can move until an end in
/// another process would come too early; [`FREE`] if there is none.
pub(super) fn limits_of_begins(
    causality: &Causality,
    delay: &MinimalDelay,
    values: &[i64],
    monitor: &dyn Monitor,
) -> Result<Vec<i64>, Cancelled> {
    let mut limits = vec![FREE; hosted_slots(causality)];
    let time = |node: EventNode| values[node.index()];
    let mut pace = Pace::of(monitor);
    for instance in causality.collectives().instances() {
        pace.events(causality.collectives().participants(instance).len())?;
        let mut note = |begin: EventNode, limit: i64| {
            if let Some(known) = at(causality, &mut limits, begin) {
                *known = (*known).min(limit);
            }
        };
        causality.tightest_effects(instance, process_of(causality), delay, time, &mut note);
    }
    Ok(limits)
}

/// So many places, the first, are those of operations that are hosted here.
fn hosted_slots(causality: &Causality) -> usize {
    let collectives = causality.collectives();
    let last = collectives.instances().next_back();
    last.map_or(0, |it| collectives.slots_of(it).end)
}

fn at<'a>(causality: &Causality, column: &'a mut [i64], node: EventNode) -> Option<&'a mut i64> {
    let slot: Slot = causality.slot(node)?;
    column.get_mut(slot.index())
}

fn process_of(causality: &Causality) -> impl Fn(LocationIndex) -> usize {
    |location| causality.share().owner(location.as_usize())
}
