//! The part of a wait in which a device stood still.

use retime_causality::{Causality, EventNode};

/// The ticks of a stretch of time in which the device of a location did not compute, counted from
/// where the operation or message began to which a node belongs; all of them where it is not
/// [recorded](Causality::knows_work) when that computed.
pub fn exposed(causality: &Causality, node: EventNode, from: i64, to: i64) -> u64 {
    if to <= from {
        return 0;
    }
    let (mut hidden, mut done) = (0_u64, from);
    for it in causality.overlapped(node) {
        let (begin, end) = (it.from.max(done), it.to.min(to));
        if end > begin {
            hidden = hidden.saturating_add(end.abs_diff(begin));
            done = end;
        }
    }
    to.abs_diff(from).saturating_sub(hidden)
}
