//! Who came last, and the same numbers of operations by counting alone.

use retime::causality::Causality;
use retime::optimal::ErrorBounds;
use retime::{Clocks, Stragglers, Timestamp, TraceInfo};

/// Finds who came last, and makes sure that counting finds as many operations and messages.
pub fn stragglers(
    causality: &Causality,
    info: &TraceInfo,
    clocks: &Clocks,
    times: &[Timestamp],
    bounds: Option<&ErrorBounds>,
) -> Stragglers {
    let found = Stragglers::find(causality, info, clocks, times, bounds, &()).unwrap();
    let counted = Stragglers::counted(causality, info, clocks, &()).unwrap();
    let numbers = Stragglers {
        operations: found.operations,
        others: found.others,
        partial: found.partial,
        messages: found.messages,
        ..Stragglers::default()
    };
    assert_eq!(counted, numbers);
    found
}
