//! Traces whose stamps span as much as they may, and ticks of every size.

use proptest::prelude::*;
use retime::Ticks;

use super::{Spec, Trace, specs};

/// Stamps may span so many ticks.
const MOST: u64 = 1 << 61;

/// A random trace whose stamps span up to as many ticks as they may, at either end of
/// what 64 bits hold.
pub fn stretched() -> impl Strategy<Value = (Spec, Trace)> {
    let span = prop_oneof![Just(MOST), Just(MOST / 2), Just(1 << 40)];
    let of = |(spec, span, at_end): (Spec, u64, bool)| {
        let mut trace = spec.trace();
        let events = || trace.events.iter().flatten();
        let first = events().map(|event| event.raw).min().unwrap_or(0);
        let last = events().map(|event| event.raw).max().unwrap_or(0);
        let factor = span / (last - first).max(1);
        let base = if at_end {
            u64::MAX - (last - first) * factor
        } else {
            0
        };
        for event in trace.events.iter_mut().flatten() {
            event.raw = base + (event.raw - first) * factor;
        }
        (spec, trace)
    };
    (specs(100), span, any::<bool>()).prop_map(of)
}

/// Ticks of every size; more than half of them absurd.
pub fn ticks() -> impl Strategy<Value = Ticks> {
    let near = |ticks: i64| (ticks.saturating_sub(2)..=ticks.saturating_add(2)).prop_map(Ticks);
    prop_oneof![
        near(0),
        near(1 << 61),
        near(1 << 62),
        near(i64::MAX),
        near(i64::MIN),
        (0..63_u32).prop_map(|bits| Ticks(1 << bits)),
        any::<i64>().prop_map(Ticks),
    ]
}
