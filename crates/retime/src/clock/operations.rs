//! Bounds that cross between the parts of a trace in collective operations.
//!
//! Where operations are joined in [one part](crate::causality::Turns) each, only that part knows
//! when all of its participants began and ended. The logical clock of another one needs of that
//! one number for each own event:
//!
//! ```text
//! bound(end)   = max( LC(begin) + mu           over the begins in other parts it depends on )
//! limit(begin) = min( LC(end) - mu - LC(begin) over the ends in other parts that depend on it )
//! ```
//!
//! Own participants are looked at where they are, since it depends on clocks which of
//! them read the same. A clock is in one part, so those in others read another.

use crate::causality::{Causality, EventNode, Instance, NO_BOUND};
use crate::delay::MinimalDelay;
use crate::pace::Pace;
use retime_model::{Cancelled, LocationIndex, Monitor};

/// No limit.
pub(super) const FREE: i64 = i64::MAX;

/// By slot of an operation that is joined here, the time before which begins in other parts
/// let it not end; [`NO_BOUND`] if none do.
pub(super) fn bounds_of_ends(
    causality: &Causality,
    delay: &MinimalDelay,
    values: &[i64],
    monitor: &dyn Monitor,
) -> Result<Vec<i64>, Cancelled> {
    let time = |node: EventNode| values[node.index()];
    by_slot(
        causality,
        (NO_BOUND, i64::max),
        monitor,
        |instance, note| {
            let bound = |_, end: EventNode, slack: i64| note(end, time(end).saturating_sub(slack));
            causality.tightest_causes(instance, part_of(causality), delay, time, bound);
        },
    )
}

/// By slot of an operation that is joined here, how far its begin can move until an end in
/// another part would come too early; [`FREE`] if there is none.
pub(super) fn limits_of_begins(
    causality: &Causality,
    delay: &MinimalDelay,
    values: &[i64],
    monitor: &dyn Monitor,
) -> Result<Vec<i64>, Cancelled> {
    let time = |node: EventNode| values[node.index()];
    by_slot(causality, (FREE, i64::min), monitor, |instance, note| {
        causality.tightest_effects(instance, part_of(causality), delay, time, note);
    })
}

/// The tighter of all that `look` notes of an event of an operation that is joined here, by
/// its slot.
fn by_slot(
    causality: &Causality,
    (nothing, tighter): (i64, fn(i64, i64) -> i64),
    monitor: &dyn Monitor,
    look: impl Fn(Instance, &mut dyn FnMut(EventNode, i64)),
) -> Result<Vec<i64>, Cancelled> {
    let collectives = causality.collectives();
    // Operations that are joined here come first.
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

fn part_of(causality: &Causality) -> impl Fn(LocationIndex) -> usize {
    |location| causality.whole().domain(location.as_usize())
}
