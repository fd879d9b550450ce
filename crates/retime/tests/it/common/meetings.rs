//! Ranks that meet in one collective operation after the other, with faults of recorded calls.

use retime::TraceInfo;
use retime::causality::{LocationLog, Operation, Root};

use super::hand::{end, logs, ranks};
use super::trace::Call;

/// Faults of a call that a rank has recorded.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Fault {
    Lost,
    OtherOperation,
    OtherRoot,
    NoBegin,
    NoEnd,
}

/// Six ranks that meet again and again, on clocks that differ, with faults of ranks' calls.
pub(crate) fn meetings(turns: u64, faults: &[(u64, u64, Fault)]) -> (TraceInfo, Vec<LocationLog>) {
    let all = [
        (Operation::Allreduce, Root::None),
        (Operation::Bcast, Root::Rank(2)),
        (Operation::Scan, Root::None),
        (Operation::Barrier, Root::None),
        (Operation::Gather, Root::Rank(5)),
    ];
    let events = |rank: u64| {
        let mut events = Vec::new();
        for turn in 0..turns {
            let (mut operation, mut root) = all[(turn % 5) as usize];
            let fault = faults.iter().find(|it| (it.0, it.1) == (rank, turn));
            let fault = fault.map(|it| it.2);
            match fault {
                Some(Fault::Lost) => continue,
                Some(Fault::OtherOperation) => operation = Operation::Alltoall,
                Some(Fault::OtherRoot) => root = Root::Rank(0),
                _ => {}
            }
            let at = 1_000_000 + 1_000 * turn + 700 * rank;
            if fault != Some(Fault::NoBegin) {
                events.push((at + (turn * 7 + rank * 13) % 50, Call::Begin));
            }
            if fault != Some(Fault::NoEnd) {
                events.push((at + 200 + (turn * 3 + rank) % 20, end(operation, root)));
            }
        }
        events
    };
    let events: Vec<_> = (0..6).map(events).collect();
    (ranks(&[0, 1, 2, 3, 4, 5]), logs(&events))
}
