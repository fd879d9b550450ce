//! Waits beside the work of a device, against moments one by one, and by hand.

use proptest::prelude::*;
use retime::causality::{
    Causality, CausalityOptions, Class, LocationLog, LogBuilder, OperationId, OperationPart,
};
use retime::{
    Clocks, HiddenWaits, LocationIndex, Process, Stragglers, Ticks, Timestamp, TraceInfo,
};

use crate::common::hand::ranks;
use crate::common::waits::stragglers;

/// An operation on one stream of each rank, all of which are at the same place.
#[derive(Clone, Debug)]
struct Meeting {
    stream: usize,
    /// When each rank begins.
    begins: Vec<u64>,
    end: u64,
}

impl Meeting {
    fn last(&self) -> (usize, u64) {
        let last = *self.begins.iter().max().unwrap();
        let rank = self.begins.iter().position(|it| *it == last).unwrap();
        (rank, last)
    }
}

/// Ranks whose devices have so many streams, each a location: those of a rank side by side.
fn devices(count: usize, streams: usize) -> TraceInfo {
    let locations: Vec<usize> = (0..count * streams).map(|it| it / streams).collect();
    let mut info = ranks(&locations);
    info.processes = (0..count)
        .map(|rank| Process {
            name: format!("rank {rank}"),
            node: Some(rank),
            creator: None,
        })
        .collect();
    info
}

/// The logs of what devices do that compute in stretches that do not touch.
fn logs(streams: usize, meetings: &[Meeting], work: &[Vec<(u64, u64)>]) -> Vec<LocationLog> {
    let ranks = work.len();
    let all = (0..ranks).flat_map(|rank| (0..streams).map(move |stream| (rank, stream)));
    let log = |(rank, stream): (usize, usize)| {
        let mut log = LogBuilder::new(LocationIndex((rank * streams + stream) as u32));
        log.knows_work();
        let mut events = 0;
        for (number, it) in (0..).zip(meetings).filter(|it| it.1.stream == stream) {
            let part = OperationPart {
                id: OperationId::number(number),
                class: Class::AllToAll,
                rank: rank as u32,
                expected: ranks as u32,
            };
            let begin = it.begins[rank];
            log.named_begin(events, Timestamp(begin), part);
            for &(from, to) in &work[rank] {
                let (from, to) = (from.max(begin), to.min(it.end));
                if to > from {
                    log.overlapped(Ticks((from - begin) as i64), Ticks((to - from) as i64));
                }
            }
            log.named_end(events + 1, Timestamp(it.end), part);
            events += 2;
        }
        log.finish(events, Timestamp(0), Timestamp(10_000)).unwrap()
    };
    all.map(log).collect()
}

fn found(streams: usize, meetings: &[Meeting], work: &[Vec<(u64, u64)>]) -> Stragglers {
    let info = devices(work.len(), streams);
    let logs = logs(streams, meetings, work);
    let causality = Causality::build(&info, logs, CausalityOptions::default()).unwrap();
    let one = Clocks::from_owners(&vec![(); info.locations.len()]).0;
    let times = causality.nodes().timestamps();
    stragglers(&causality, &info, &one, times, None)
}

fn hidden(stood_still: u64, of_others: u64) -> HiddenWaits {
    HiddenWaits {
        stood_still: Some(stood_still),
        of_others,
    }
}

#[test]
fn who_computes_meanwhile_is_not_held_up() {
    let meeting = Meeting {
        stream: 0,
        begins: vec![100, 190, 120],
        end: 200,
    };
    // Of 90 and 70 that are waited 60 and 70 are hidden, and what comes after does not count.
    let work = [
        vec![(90, 110), (130, 180), (195, 300)],
        vec![(0, 190)],
        vec![(0, 400)],
    ];
    let found = found(1, &[meeting], &work);
    assert_eq!(found.hidden, [hidden(30, 0), hidden(0, 130), hidden(0, 0)]);
    let origin = &found.origins[0];
    assert_eq!((found.origins.len(), origin.process), (1, 1));
    assert_eq!((origin.held_up, origin.directly), (30, 30));
    assert_eq!((origin.operations, origin.reach.unwrap().directly), (1, 1));
    // Beside computing it waited for 60, and another one for 70.
    assert_eq!(found.processes[0].waited, 30);
    let group = &found.groups[0];
    assert_eq!((group.waited, group.hidden), (30, 130));
    assert_eq!((found.worst[0].waited, found.worst[0].hidden), (30, 130));
}

#[test]
fn where_all_is_hidden_nobody_is_held_up() {
    let meeting = Meeting {
        stream: 0,
        begins: vec![100, 190],
        end: 200,
    };
    let found = found(1, &[meeting], &[vec![(0, 190)], vec![(0, 190)]]);
    assert!(found.origins.is_empty());
    assert_eq!(found.hidden, [hidden(0, 0), hidden(0, 90)]);
}

#[test]
fn a_device_stands_still_once_whatever_its_streams_wait_for() {
    let on = |stream, begins: [u64; 3], end| Meeting {
        stream,
        begins: begins.to_vec(),
        end,
    };
    // Rank 0 waits for 1 from 100 to 150, and beside that for 2 from 120 to 180.
    let meetings = [on(0, [100, 150, 150], 155), on(1, [120, 180, 180], 185)];
    let work = [vec![(0, 100)], vec![(0, 180)], vec![(0, 180)]];
    let found = found(2, &meetings, &work);
    assert_eq!(found.hidden[0], hidden(80, 0));
    assert_eq!(found.origins.iter().map(|it| it.held_up).sum::<u64>(), 80);
}

/// Meetings of some ranks on two streams, and when their devices compute.
fn programs() -> impl Strategy<Value = (Vec<Meeting>, Vec<Vec<(u64, u64)>>)> {
    (2..5_usize).prop_flat_map(|ranks| {
        let begins = prop::collection::vec(1..60_u64, ranks);
        let meeting = (0..2_usize, begins, 0..9_u64);
        let stretch = (1..30_u64, 1..30_u64);
        let work = prop::collection::vec(prop::collection::vec(stretch, 0..12), ranks);
        (prop::collection::vec(meeting, 1..8), work).prop_map(|(meetings, work)| {
            let mut free = [1; 2];
            let meeting = |(stream, begins, lag): (usize, Vec<u64>, u64)| {
                let begins: Vec<u64> = begins.iter().map(|it| free[stream] + it).collect();
                let end = begins.iter().max().unwrap() + lag;
                free[stream] = end;
                Meeting {
                    stream,
                    begins,
                    end,
                }
            };
            let meetings = meetings.into_iter().map(meeting).collect();
            let stretches = |all: Vec<(u64, u64)>| {
                let from = |at: &mut u64, (gap, lasts): (u64, u64)| {
                    let from = *at + gap;
                    *at = from + lasts;
                    Some((from, *at))
                };
                all.into_iter().scan(0, from).collect()
            };
            (meetings, work.into_iter().map(stretches).collect())
        })
    })
}

proptest! {
    #[test]
    fn each_moment_of_standing_still_counts_once((meetings, work) in programs()) {
        let found = found(2, &meetings, &work);
        let waits = |rank: usize, it: &Meeting, at: u64| {
            let (last, comes) = it.last();
            rank != last && (it.begins[rank]..comes.min(it.end)).contains(&at)
        };
        let computes = |rank: usize, at: u64| work[rank].iter().any(|it| (it.0..it.1).contains(&at));
        let mut all = 0;
        for rank in 0..work.len() {
            let moments = || 0..1_000_u64;
            let stood_still = moments().filter(|&at| {
                !computes(rank, at) && meetings.iter().any(|it| waits(rank, it, at))
            }).count() as u64;
            let of_others: usize = meetings.iter().filter(|it| it.last().0 == rank).map(|it| {
                let beside = |other: usize| moments().filter(move |&at| {
                    computes(other, at) && waits(other, it, at)
                }).count();
                (0..work.len()).map(beside).sum::<usize>()
            }).sum();
            prop_assert_eq!(found.hidden[rank], hidden(stood_still, of_others as u64));
            all += stood_still;
        }
        let charged = found.origins.iter().map(|it| it.held_up).sum::<u64>();
        prop_assert_eq!(charged, all);
    }
}
