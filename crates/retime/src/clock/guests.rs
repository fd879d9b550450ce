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
use crate::causality::{Causality, EventNode, Instance};
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
    let time = |node: EventNode| values[node.index()];
    by_place(causality, (UNKNOWN, i64::max), monitor, |instance, note| {
        let bound = |_, end: EventNode, slack: i64| note(end, time(end).saturating_sub(slack));
        causality.tightest_causes(instance, process_of(causality), delay, time, bound);
    })
}

/// By place in an operation that is hosted here, how far its begin can move until an end in
/// another process would come too early; [`FREE`] if there is none.
pub(super) fn limits_of_begins(
    causality: &Causality,
    delay: &MinimalDelay,
    values: &[i64],
    monitor: &dyn Monitor,
) -> Result<Vec<i64>, Cancelled> {
    let time = |node: EventNode| values[node.index()];
    by_place(causality, (FREE, i64::min), monitor, |instance, note| {
        causality.tightest_effects(instance, process_of(causality), delay, time, note);
    })
}

/// The tighter of all that `look` notes of an event of an operation that is hosted here, by
/// its place.
fn by_place(
    causality: &Causality,
    (nothing, tighter): (i64, fn(i64, i64) -> i64),
    monitor: &dyn Monitor,
    look: impl Fn(Instance, &mut dyn FnMut(EventNode, i64)),
) -> Result<Vec<i64>, Cancelled> {
    let collectives = causality.collectives();
    // Operations that are hosted here come first.
    let last = collectives.instances().next_back();
    let mut column = vec![nothing; last.map_or(0, |it| collectives.slots_of(it).end)];
    let mut pace = Pace::of(monitor);
    for instance in collectives.instances() {
        pace.events(collectives.participants(instance).len())?;
        look(instance, &mut |node, value| {
            let known = causality
                .slot(node)
                .and_then(|it| column.get_mut(it.index()));
            if let Some(known) = known {
                *known = tighter(*known, value);
            }
        });
    }
    Ok(column)
}

fn process_of(causality: &Causality) -> impl Fn(LocationIndex) -> usize {
    |location| causality.share().owner(location.as_usize())
}
