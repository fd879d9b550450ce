//! The roots of kernels of rooted operations, told by the calls that launched them.
//!
//! A kernel does not say its root, the call of the program that asked for it does. As several groups can
//! have several roots, and an optimizer whose ranks own a part of the parameters each hands these on in
//! turn, that call is looked for which lasted on its thread while the kernel was launched:
//!
//! ```text
//! c10d::broadcast_, root 2          on a thread
//!   cudaLaunchKernel 41
//!                                   ncclDevKernel_Broadcast 41      on a stream, later
//! ```

use retime_model::Operation;

use crate::call::{Call, What};
use crate::columns::Columns;
use crate::devices::Driven;
use crate::threads::Threads;

/// A call that asks for an operation of a root.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RootRequest {
    pub(crate) event: u32,
    pub(crate) operation: Operation,
    pub(crate) root: u32,
}

/// Tells the roots of calls whose launches are known.
pub(crate) fn tell(
    calls: &mut [Call],
    mut asked: Vec<RootRequest>,
    driven: &Driven,
    columns: &Columns,
    threads: &Threads,
) {
    // As signed numbers: times before 0 are not counted from elsewhere yet.
    let place = |event: u32| {
        (
            threads.track(columns.track(event)),
            columns.begin(event) as i64,
        )
    };
    asked.sort_by_key(|it| (place(it.event), it.event));
    let root = |call: &Call| {
        let What::Collective(operation) = call.what else {
            return None;
        };
        let launch = place(driven.launch_of(call.event)?);
        let before = asked.partition_point(|it| place(it.event) <= launch);
        let last = asked.get(before.checked_sub(1)?)?;
        let (track, begin) = place(last.event);
        let lasts = columns.length(last.event).unwrap_or_default();
        let is_around = track == launch.0 && begin.saturating_add_unsigned(lasts) >= launch.1;
        (is_around && last.operation == operation).then_some(last.root)
    };
    for call in calls {
        call.root = root(call);
    }
}
