//! Stretches in which nothing was recorded hide calls, and shift no others.

use retime::LocationIndex;
use retime::causality::{Causality, Defect, LogBuilder, Operation, Root};

use super::defects::NO_OPTIONS;
use crate::common::edges;
use crate::common::hand::{call, found, ranks};

/// The happened-before of ranks that call a barrier at each of some times, of which each
/// does not record those in its gap.
fn barriers_around_gaps(calls: &[u64], gaps: &[Option<(u64, u64)>]) -> Causality {
    let info = ranks(&(0..gaps.len()).collect::<Vec<_>>());
    let logs = gaps.iter().enumerate().map(|(rank, &gap)| {
        let mut events: Vec<(u64, Option<bool>)> = calls
            .iter()
            .flat_map(|&time| [(time, Some(true)), (time + 5, Some(false))])
            .filter(|(time, _)| gap.is_none_or(|(from, to)| !(from..to).contains(time)))
            .collect();
        events.extend(
            gap.into_iter()
                .flat_map(|(from, to)| [(from, None), (to, None)]),
        );
        events.sort_by_key(|event| event.0);
        let mut log = LogBuilder::new(LocationIndex(rank as u32));
        for (number, &(time, is_begin)) in events.iter().enumerate() {
            let stamp = retime::Timestamp(time);
            match is_begin {
                Some(true) => log.collective_begin(number as u64, stamp),
                Some(false) => {
                    let barrier = call(Operation::Barrier, Root::None);
                    log.collective_end(number as u64, stamp, barrier);
                }
                None if Some(time) == gap.map(|gap| gap.0) => log.recording_off(stamp),
                None => log.recording_on(stamp),
            }
        }
        let end = |event: Option<&(u64, Option<bool>)>| retime::Timestamp(event.unwrap().0);
        log.finish(events.len() as u64, end(events.first()), end(events.last()))
            .unwrap()
    });
    Causality::build(&info, logs.collect(), NO_OPTIONS).unwrap()
}

/// Begin and end of each dependency, by time.
fn barrier_times(it: &Causality) -> Vec<(u64, u64)> {
    let time = |node| it.nodes().timestamp(node).0;
    let edges = edges::collectives(it).into_iter();
    edges.map(|(begin, end)| (time(begin), time(end))).collect()
}

#[test]
fn collectives_that_a_gap_hides_shift_no_others() {
    // Rank 0 lacks the first call, rank 1 the last: by their number 20 would meet 10.
    let it = barriers_around_gaps(&[10, 20, 30], &[Some((1, 18)), Some((28, 40))]);
    assert_eq!(barrier_times(&it), []);
    let lost = (
        Defect::PlaceUnknown,
        4,
        vec![(0, 3), (0, 5), (1, 1), (1, 3)],
    );
    assert_eq!(found(it.defects()), [lost]);
}

#[test]
fn collectives_before_and_after_gaps_meet() {
    let gaps = [Some((18, 38)), Some((28, 48)), None];
    let it = barriers_around_gaps(&[10, 20, 30, 40, 50], &gaps);
    let expected = |time: u64| [(time, time + 5); 6];
    assert_eq!(
        barrier_times(&it)
            .into_iter()
            .collect::<std::collections::BTreeSet<_>>(),
        [10, 50].into_iter().flat_map(expected).collect()
    );
    assert_eq!(barrier_times(&it).len(), 12);
}

#[test]
fn a_collective_that_ends_in_a_gap_hides_those_after_its_begin() {
    let info = ranks(&[0, 1]);
    let barrier = call(Operation::Barrier, Root::None);
    let stamp = retime::Timestamp;
    // A non-blocking barrier, which is complete while rank 0 records nothing; then a plain
    // one of each, of which rank 1 enters that one first.
    let mut gap = LogBuilder::new(LocationIndex(0));
    gap.collective_posted(0, stamp(10), 7);
    gap.collective_begin(1, stamp(20));
    gap.collective_end(2, stamp(35), barrier);
    gap.recording_off(stamp(40));
    gap.recording_on(stamp(60));
    let gap = gap.finish(5, stamp(10), stamp(60)).unwrap();
    let mut whole = LogBuilder::new(LocationIndex(1));
    whole.collective_posted(0, stamp(15), 7);
    whole.collective_begin(1, stamp(30));
    whole.collective_end(2, stamp(36), barrier);
    whole.collective_completed(3, stamp(50), barrier, 7);
    let whole = whole.finish(4, stamp(15), stamp(50)).unwrap();
    let it = Causality::build(&info, vec![gap, whole], NO_OPTIONS).unwrap();
    assert_eq!(barrier_times(&it), []);
    assert_eq!(it.defects().count(Defect::PlaceUnknown), 3);
}

#[test]
fn a_receive_that_is_never_complete_hides_those_before_it() {
    let info = ranks(&[0, 1]);
    let stamp = retime::Timestamp;
    let message = |peer| retime::causality::Message {
        communicator: 0,
        peer: LocationIndex(peer),
        tag: 0,
    };
    let mut sender = LogBuilder::new(LocationIndex(0));
    for (event, time) in [(0, 10), (1, 50), (2, 80)] {
        sender.send(event, stamp(time), message(1), None);
    }
    let sender = sender.finish(3, stamp(10), stamp(80)).unwrap();
    // The request of the second receive is freed.
    let mut receiver = LogBuilder::new(LocationIndex(1));
    receiver.recording_off(stamp(1));
    receiver.recording_on(stamp(5));
    receiver.receive(2, stamp(20), message(0));
    receiver.receive_posted(3, stamp(60), 7);
    receiver.receive(4, stamp(90), message(0));
    let receiver = receiver.finish(5, stamp(1), stamp(90)).unwrap();
    let it = Causality::build(&info, vec![sender, receiver], NO_OPTIONS).unwrap();
    let nodes = it.nodes();
    let time = |node| nodes.timestamp(node).0;
    let sources = nodes
        .all()
        .filter_map(|to| Some((it.message_source(to)?, to)));
    let pairs: Vec<_> = sources.map(|(from, to)| (time(from), time(to))).collect();
    // From the end the first one would have the message of 50.
    assert_eq!(pairs, [(10, 20), (80, 90)]);
}

#[test]
fn collectives_that_threads_hand_over_have_no_certain_order() {
    let mut info = ranks(&[0, 1]);
    let second = retime::Location {
        endpoint: LocationIndex(0),
        ..info.locations[0].clone()
    };
    info.locations.push(second);
    let barrier = call(Operation::Barrier, Root::None);
    let stamp = retime::Timestamp;
    // Another thread completes the first of two barriers.
    let mut posts = LogBuilder::new(LocationIndex(0));
    posts.collective_posted(0, stamp(10), 7);
    posts.collective_begin(1, stamp(20));
    posts.collective_end(2, stamp(36), barrier);
    let mut completes = LogBuilder::new(LocationIndex(2));
    completes.collective_completed(0, stamp(60), barrier, 7);
    let mut alone = LogBuilder::new(LocationIndex(1));
    alone.collective_posted(0, stamp(15), 7);
    alone.collective_begin(1, stamp(30));
    alone.collective_end(2, stamp(35), barrier);
    alone.collective_completed(3, stamp(50), barrier, 7);
    let logs = vec![
        posts.finish(3, stamp(10), stamp(36)).unwrap(),
        alone.finish(4, stamp(15), stamp(50)).unwrap(),
        completes.finish(1, stamp(60), stamp(60)).unwrap(),
    ];
    let it = Causality::build(&info, logs, NO_OPTIONS).unwrap();
    assert_eq!(barrier_times(&it), []);
    assert_eq!(it.defects().count(Defect::PlaceUnknown), 4);
}
