//! Operations of ranks in several processes are joined as in one, also where recorded calls are faulty.

use proptest::prelude::*;
use retime::pipeline::{ClockKind, Method};

use crate::common::cases;
use crate::common::meetings::{Fault, meetings};
use crate::shared::same_with_three;

/// Each operation is known as a whole to its host only; others know their own calls and
/// those of neighbours.
#[test]
fn operations_are_hosted_in_turns() {
    let (info, logs) = meetings(60, &[]);
    for method in [Method::default(), Method::new(&ClockKind::Controlled)] {
        let parts = same_with_three(&info, &logs, &method).unwrap();
        for (rank, part) in parts.iter().enumerate() {
            let causality = part.analysis.as_ref().unwrap().causality();
            // 120 events at each of 6 ranks: own ones, those of one or two neighbours, and a
            // third of the others.
            let expected = if rank == 1 {
                4 * 120 + 2 * 40
            } else {
                3 * 120 + 3 * 40
            };
            assert_eq!(causality.nodes().len(), expected);
            assert_eq!(causality.collectives().instances().len(), 20);
        }
    }
}

/// A defect of an operation is counted by its host, wherever it is; where members lack calls
/// all know all.
#[test]
fn operations_that_do_not_fit_are_counted_once() {
    for (fault, events) in [(Fault::OtherOperation, 480), (Fault::Lost, 718)] {
        let (info, logs) = meetings(60, &[(3, 17, fault)]);
        let parts = same_with_three(&info, &logs, &Method::new(&ClockKind::Controlled)).unwrap();
        let causality = parts[0].analysis.as_ref().unwrap().causality();
        assert!(!causality.defects().is_empty());
        assert_eq!(causality.nodes().len(), events);
    }
}

fn faults() -> impl Strategy<Value = Vec<(u64, u64, Fault)>> {
    let kinds = [
        Fault::Lost,
        Fault::OtherOperation,
        Fault::OtherRoot,
        Fault::NoBegin,
        Fault::NoEnd,
    ];
    let fault = (0..6_u64, 0..60_u64, prop::sample::select(kinds.to_vec()));
    proptest::collection::vec(fault, 0..5)
}

proptest! {
    #![proptest_config(cases(30))]

    #[test]
    fn faulty_calls_are_joined_alike(faults in faults()) {
        let (info, logs) = meetings(60, &faults);
        same_with_three(&info, &logs, &Method::new(&ClockKind::Controlled))?;
    }
}
