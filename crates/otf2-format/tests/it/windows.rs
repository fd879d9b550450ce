//! What is concluded of one-sided communication, and of what the standard does not say
//! to synchronise.

use retime::causality::{Causality, CausalityOptions, Implementation};
use retime::pipeline::{Analysis, AnalysisOptions, Method};
use retime_model::format::{Format, InParts, PartScan, Scan, join};
use retime_model::{LocationIndex, LocationLog};
use retime_otf2::writer::{ArchiveWriter, LocationWriter, Payload, WriteOptions};
use retime_otf2::{
    CollectiveOp, CollectiveRoot, CommRef, EventData, GroupRef, GroupType, LocationGroupType,
    LocationType, LockType, Paradigm, RegionRef, RegionRole, RmaAtomicType, RmaSyncLevel,
    RmaWinRef,
};
use retime_otf2_format::Otf2;

const WINDOW: RmaWinRef = RmaWinRef(0);

/// A record of one rank.
#[derive(Clone, Copy)]
enum It {
    Enter(&'static str),
    Leave,
    Begin,
    End(CollectiveOp),
    Put,
    /// From a rank, so many bytes.
    Get(u32, u64),
    /// On memory of rank 1.
    Atomic(RmaAtomicType),
    Lock,
    Unlock,
    /// With a rank, or with the first and the last one.
    Group(u32),
    /// The same, but nothing has ended.
    NotYet(u32),
    /// It acquires a lock of threads.
    Acquire,
    Everybody(CollectiveOp),
    MpiBegin,
}
use It::{
    Acquire, Atomic, Begin, End, Enter, Everybody, Get, Group, Leave, Lock, MpiBegin, NotYet, Put,
    Unlock,
};

/// The code of the definition of a window.
const RMA_WIN: u8 = 24;

/// The first and the last of three ranks.
const OUTER: u32 = 3;

const FENCE: It = End(CollectiveOp::BARRIER);

const REGIONS: [&str; 7] = [
    "MPI_Win_post",
    "MPI_Win_start",
    "MPI_Win_complete",
    "MPI_Win_wait",
    "MPI_Win_test",
    "MPI_Get",
    "MPI_Barrier",
];

/// Writes and reads what each rank recorded, in a paradigm of processes.
fn scanned(paradigm: Paradigm, locations: &[&[(u64, It)]]) -> Scan {
    read(paradigm, locations, |_, scan| scan)
}

/// Writes and reads what each rank recorded, and looks at what is known of it.
fn read<T>(
    paradigm: Paradigm,
    locations: &[&[(u64, It)]],
    look: impl FnOnce(&dyn InParts, Scan) -> T,
) -> T {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.otf2");
    let mut archive = ArchiveWriter::create(&path, WriteOptions::default()).unwrap();
    let it = archive.definitions();
    let machine = it.system_tree_node("lab", "machine", None);
    for id in 0..locations.len() {
        let process = it.location_group("p", LocationGroupType::PROCESS, Some(machine));
        it.location(id as u64, "t", LocationType::CPU_THREAD, process);
    }
    let all: Vec<u64> = (0..locations.len() as u64).collect();
    it.group("", GroupType::COMM_LOCATIONS, paradigm, &all);
    let world = it.group("", GroupType::COMM_GROUP, paradigm, &all);
    for rank in &all {
        it.group("", GroupType::COMM_GROUP, paradigm, &[*rank]);
    }
    it.group(
        "",
        GroupType::COMM_GROUP,
        paradigm,
        &[0, all.len() as u64 - 1],
    );
    let comm = it.comm("world", world, None);
    let name = it.string("window");
    // RmaWin: self, name, comm, flags.
    let mut window = Payload::new();
    window.c32(WINDOW.0).c32(name.0).c32(comm.0).c32(0);
    it.raw(RMA_WIN, &window);
    for name in REGIONS {
        it.region(name, RegionRole::RMA, paradigm);
    }
    let mut written = Vec::new();
    for (id, events) in locations.iter().enumerate() {
        let mut location = archive.location(id as u64).unwrap();
        fill(&mut location, comm, events);
        written.push(location.finish().unwrap());
    }
    archive.finish(written).unwrap();
    let trace = Otf2.open_in_parts(&path, &()).unwrap().unwrap();
    let scan = trace.scan(&()).unwrap();
    assert_eq!(logs_by_parts(&*trace), scan.logs);
    look(&*trace, scan)
}

/// What is found where each location is read by another process.
fn logs_by_parts(parts: &dyn InParts) -> Vec<LocationLog> {
    let all = (0..parts.sizes().len() as u32).map(LocationIndex);
    let pass = |thoroughly| {
        let found = all
            .clone()
            .map(|it| parts.scan_part(&[it], thoroughly, &()).unwrap());
        found.collect::<Vec<PartScan>>()
    };
    let mut found = pass(false);
    if found.iter().any(|it| it.wants_more) {
        found = pass(true);
    }
    let locations = join(found.into_iter().flat_map(|it| it.locations).collect());
    let locations = locations.unwrap().into_iter();
    locations.map(|it| it.log).collect()
}

fn recorded(
    paradigm: Paradigm,
    trusted: Option<Implementation>,
    locations: &[&[(u64, It)]],
) -> Causality {
    let scan = scanned(paradigm, locations);
    let options = CausalityOptions {
        trusted,
        ..CausalityOptions::default()
    };
    Causality::build(&scan.info, scan.logs, options).unwrap()
}

fn fill(location: &mut LocationWriter, communicator: CommRef, events: &[(u64, It)]) {
    let mut open = Vec::new();
    let win = WINDOW;
    for &(time, it) in events {
        let data = match it {
            Enter(name) => {
                let region = REGIONS.iter().position(|it| *it == name).unwrap();
                open.push(RegionRef(region as u32));
                location.enter(time, RegionRef(region as u32)).unwrap();
                continue;
            }
            Leave => {
                location.leave(time, open.pop().unwrap()).unwrap();
                continue;
            }
            Begin => EventData::RmaCollectiveBegin,
            End(collective_op) => EventData::RmaCollectiveEnd {
                collective_op,
                sync_level: RmaSyncLevel::PROCESS,
                win,
                root: CollectiveRoot::None,
                bytes_sent: 0,
                bytes_received: 0,
            },
            Put => EventData::RmaPut {
                win,
                remote: 1,
                bytes: 8,
                matching_id: time,
            },
            Get(remote, bytes) => EventData::RmaGet {
                win,
                remote,
                bytes,
                matching_id: time,
            },
            Atomic(operation) => EventData::RmaAtomic {
                win,
                remote: 1,
                operation,
                bytes_sent: 8,
                bytes_received: 8,
                matching_id: time,
            },
            Lock => EventData::RmaAcquireLock {
                win,
                remote: 1,
                lock: 0,
                lock_type: LockType::EXCLUSIVE,
            },
            Unlock => EventData::RmaReleaseLock {
                win,
                remote: 1,
                lock: 0,
            },
            Group(rank) => group_sync(rank, RmaSyncLevel::MEMORY),
            NotYet(rank) => group_sync(rank, RmaSyncLevel::NONE),
            Acquire => EventData::ThreadAcquireLock {
                model: Paradigm::OPENMP,
                lock: 1,
                acquisition_order: 1,
            },
            MpiBegin => EventData::MpiCollectiveBegin,
            Everybody(collective_op) => EventData::MpiCollectiveEnd {
                collective_op,
                communicator,
                root: CollectiveRoot::None,
                size_sent: 0,
                size_received: 0,
            },
        };
        location.event(time, &data).unwrap();
    }
}

const fn group_sync(rank: u32, sync_level: RmaSyncLevel) -> EventData {
    EventData::RmaGroupSync {
        sync_level,
        win: WINDOW,
        // After the list of all, and the group of all.
        group: GroupRef(2 + rank),
    }
}

/// Times of begins and of the ends that depend on them.
fn operations(causality: &Causality) -> Vec<(u64, u64)> {
    let time = |node| causality.nodes().timestamp(node).0;
    let collectives = causality.collectives();
    let mut found = Vec::new();
    for instance in collectives.instances() {
        let participants = collectives.participants(instance);
        collectives.each_dependency(instance, |from, to| {
            let (cause, effect) = (participants[from].cause(), participants[to].effect());
            found.extend(cause.zip(effect).map(|(a, b)| (time(a), time(b))));
        });
    }
    found.sort_unstable();
    found
}

fn messages(causality: &Causality) -> Vec<(u64, u64)> {
    let nodes = causality.nodes();
    let time = |node| nodes.timestamp(node).0;
    let all = nodes.all();
    all.filter_map(|it| Some((time(causality.message_source(it)?), time(it))))
        .collect()
}

const OPEN_MPI: Option<Implementation> = Some(Implementation::OpenMpi);

#[test]
fn a_fence_waits_where_somebody_has_accessed_memory() {
    let origin = [
        (10, Begin),
        (11, FENCE),
        (15, Put),
        (20, Begin),
        (35, FENCE),
    ];
    let target = [(12, Begin), (13, FENCE), (30, Begin), (36, FENCE)];
    let it = recorded(Paradigm::MPI, None, &[&origin, &target]);
    // The first fence ends nothing, though it is recorded to synchronise.
    assert_eq!(operations(&it), [(20, 36), (30, 35)]);
    // Of the four calls only two are used.
    assert_eq!((it.usage().calls.recorded, it.usage().calls.used), (4, 2));
    let it = recorded(Paradigm::MPI, OPEN_MPI, &[&origin, &target]);
    assert_eq!(operations(&it), [(10, 13), (12, 11), (20, 36), (30, 35)]);
}

#[test]
fn accesses_under_a_lock_or_between_groups_end_with_no_fence() {
    let locks = [
        (10, Begin),
        (11, FENCE),
        (14, Lock),
        (15, Put),
        (16, Unlock),
        (20, Begin),
        (21, FENCE),
    ];
    let target = [(12, Begin), (13, FENCE), (30, Begin), (36, FENCE)];
    let it = recorded(Paradigm::MPI, None, &[&locks, &target]);
    assert_eq!(operations(&it), []);
    let groups = [
        (10, Begin),
        (11, FENCE),
        (14, Group(1)),
        (15, Put),
        (16, Group(1)),
        (20, Begin),
        (21, FENCE),
    ];
    let it = recorded(Paradigm::MPI, None, &[&groups, &target]);
    assert_eq!(operations(&it), []);
}

#[test]
fn the_order_on_a_window_is_not_that_on_its_communicator() {
    // One fences before the barrier of the communicator, the other after it.
    let one = [
        (10, Put),
        (11, Begin),
        (40, FENCE),
        (50, MpiBegin),
        (61, Everybody(CollectiveOp::BARRIER)),
    ];
    let other = [
        (12, Begin),
        (41, FENCE),
        (60, MpiBegin),
        (62, Everybody(CollectiveOp::BARRIER)),
    ];
    let it = recorded(Paradigm::MPI, None, &[&one, &other]);
    assert_eq!(operations(&it), [(11, 41), (12, 40), (50, 62), (60, 61)]);
    assert!(it.defects().is_empty());
}

#[test]
fn windows_and_communicators_are_made_together_by_those_who_do_so() {
    let make = CollectiveOp::CREATE_HANDLE_AND_ALLOCATE;
    let one = [
        (10, Begin),
        (21, End(make)),
        (30, Begin),
        (31, End(CollectiveOp::DESTROY_HANDLE)),
    ];
    let other = [
        (20, Begin),
        (22, End(make)),
        (28, Begin),
        (32, End(CollectiveOp::DESTROY_HANDLE)),
    ];
    assert_eq!(
        operations(&recorded(Paradigm::MPI, None, &[&one, &other])),
        []
    );
    let it = recorded(Paradigm::MPI, OPEN_MPI, &[&one, &other]);
    assert_eq!(operations(&it), [(10, 22), (20, 21), (28, 31), (30, 32)]);
    for (operation, synchronises) in [
        (CollectiveOp::CREATE_HANDLE, true),
        // Nobody waits for the release of a communicator.
        (CollectiveOp::DESTROY_HANDLE, false),
    ] {
        let one = [(10, MpiBegin), (21, Everybody(operation))];
        let other = [(20, MpiBegin), (22, Everybody(operation))];
        let of = |trusted| operations(&recorded(Paradigm::MPI, trusted, &[&one, &other])).len();
        assert_eq!((of(None), of(OPEN_MPI)), (0, 2 * usize::from(synchronises)));
    }
}

#[test]
fn barriers_of_openshmem_are_barriers() {
    let it = recorded(
        Paradigm::SHMEM,
        None,
        &[&[(10, Begin), (21, FENCE)], &[(20, Begin), (22, FENCE)]],
    );
    assert_eq!(operations(&it), [(10, 22), (20, 21)]);
}

#[test]
fn a_wait_returns_after_all_have_entered_complete() {
    let origin = [
        (5, Enter("MPI_Win_start")),
        (6, Group(1)),
        (7, Leave),
        (10, Put),
        (20, Enter("MPI_Win_complete")),
        (21, Group(1)),
        (22, Leave),
        (30, Enter("MPI_Win_start")),
        (31, Group(1)),
        (32, Leave),
        (50, Enter("MPI_Win_complete")),
        (51, Group(1)),
        (52, Leave),
    ];
    let target = [
        (8, Enter("MPI_Win_post")),
        (9, Group(0)),
        (9, Leave),
        (12, Enter("MPI_Win_wait")),
        (24, Group(0)),
        (25, Leave),
        (26, Enter("MPI_Win_post")),
        (27, Group(0)),
        (28, Leave),
        (29, Enter("MPI_Win_wait")),
        (55, Group(0)),
        (56, Leave),
    ];
    let it = recorded(Paradigm::MPI, None, &[&origin, &target]);
    // That the first start was left before the post was entered is no contradiction.
    assert_eq!(messages(&it), [(20, 25), (50, 56)]);
    assert!(it.defects().is_empty(), "{:?}", it.defects());
    let usage = it.usage().message_ends;
    assert_eq!((usage.recorded, usage.used), (4, 4));
}

/// Completions and waits are ends of messages, and starts and posts prove nothing here.
#[test]
fn what_groups_synchronise_is_not_counted_twice() {
    let origin = accesses(1, &[(12, Put)]);
    let target = exposes(5, 0);
    let unused = |target: &[(u64, It)]| {
        read(Paradigm::MPI, &[&origin, target], |trace, scan| {
            let unused = trace.unused(&scan.contents);
            unused.into_iter().map(|it| (it.kind, it.records)).collect()
        })
    };
    let found: Vec<(&str, Vec<u64>)> = unused(&target);
    assert_eq!(found, [("one-sided operation", vec![1, 0])]);
    // Outside of these calls nothing is known of it.
    let bare: Vec<(u64, It)> = vec![(9, Group(0)), (24, Group(0))];
    let found: Vec<(&str, Vec<u64>)> = unused(&bare);
    assert_eq!(
        found,
        [
            ("one-sided operation", vec![1, 0]),
            ("one-sided synchronisation", vec![0, 2])
        ]
    );
}

#[test]
fn of_several_origins_a_wait_belongs_to_one() {
    // Ranks 0 and 2 access rank 1, which waits for both at once.
    let origin = |at: u64| {
        [
            (at, Enter("MPI_Win_complete")),
            (at + 1, Group(1)),
            (at + 2, Leave),
        ]
    };
    let target = [(5, Enter("MPI_Win_wait")), (28, Group(OUTER)), (29, Leave)];
    let it = recorded(Paradigm::MPI, None, &[&origin(10), &target, &origin(20)]);
    assert_eq!(messages(&it), [(10, 29)]);
    assert!(it.defects().is_empty(), "{:?}", it.defects());
}

#[test]
fn a_test_that_fails_ends_nothing() {
    let origin = [(20, Enter("MPI_Win_complete")), (21, Group(1)), (22, Leave)];
    let test = |at: u64, it: It| [(at, Enter("MPI_Win_test")), (at + 1, it), (at + 2, Leave)];
    let target = [test(12, NotYet(0)), test(30, Group(0))].concat();
    let it = recorded(Paradigm::MPI, None, &[&origin, &target]);
    assert_eq!(messages(&it), [(20, 32)]);
    assert!(it.defects().is_empty(), "{:?}", it.defects());
}

#[test]
fn what_threads_hand_over_takes_nothing_from_windows() {
    let origin = [
        (10, Acquire),
        (20, Enter("MPI_Win_complete")),
        (21, Group(1)),
        (22, Leave),
    ];
    let target = [(12, Enter("MPI_Win_wait")), (24, Group(0)), (25, Leave)];
    let it = recorded(Paradigm::MPI, None, &[&origin, &target]);
    assert_eq!(messages(&it), [(20, 25)]);
}

/// An access epoch towards `group`: a start at 5, a complete from 20 to 22.
fn accesses(group: u32, what: &[(u64, It)]) -> Vec<(u64, It)> {
    let start = [
        (5, Enter("MPI_Win_start")),
        (6, Group(group)),
        (7, Leave),
        (10, Enter("MPI_Get")),
    ];
    let complete = [
        (12, Leave),
        (20, Enter("MPI_Win_complete")),
        (21, Group(group)),
        (22, Leave),
    ];
    [&start, what, &complete].concat()
}

/// An exposure to `group` from `at` on.
fn exposes(at: u64, group: u32) -> [(u64, It); 6] {
    [
        (at, Enter("MPI_Win_post")),
        (at + 1, Group(group)),
        (at + 2, Leave),
        (at + 3, Enter("MPI_Win_wait")),
        (at + 30, Group(group)),
        (at + 31, Leave),
    ]
}

#[test]
fn what_was_fetched_was_exposed_before() {
    for fetch in [
        Get(1, 8),
        Atomic(RmaAtomicType::FETCH_AND_ACCUMULATE),
        Atomic(RmaAtomicType::COMPARE_AND_SWAP),
    ] {
        // The start did not wait for the post.
        let origin = accesses(1, &[(11, fetch)]);
        let it = recorded(Paradigm::MPI, None, &[&origin, &exposes(8, 0)]);
        assert_eq!(messages(&it), [(8, 22), (20, 39)]);
        assert!(it.defects().is_empty(), "{:?}", it.defects());
        let usage = it.usage().message_ends;
        assert_eq!((usage.recorded, usage.used), (4, 4));
    }
}

#[test]
fn only_what_was_fetched_shows_that_a_target_is_ahead() {
    // Its clock is 20 ahead, by which its wait is late enough.
    let target = exposes(28, 0);
    let violated = |access: It| {
        let origin = accesses(1, &[(11, access)]);
        let Scan { info, logs, .. } = scanned(Paradigm::MPI, &[&origin, &target]);
        let analysis = Analysis::new(info, logs, AnalysisOptions::default(), &()).unwrap();
        let solution = analysis.solve(&Method::default(), &()).unwrap();
        assert_eq!(solution.left.violated(), 0);
        analysis.recorded().violated()
    };
    assert_eq!((violated(Get(1, 8)), violated(Put)), (1, 0));
}

#[test]
fn what_was_not_fetched_may_be_on_its_way_when_accesses_are_complete() {
    for access in [
        Put,
        Get(1, 0),
        Atomic(RmaAtomicType::ACCUMULATE),
        // From somebody else, who cannot be accessed now.
        Get(0, 8),
    ] {
        // What is complete has reached nobody.
        let origin = accesses(1, &[(11, access)]);
        let it = recorded(Paradigm::MPI, None, &[&origin, &exposes(25, 0)]);
        assert_eq!(messages(&it), [(20, 56)]);
        assert!(it.defects().is_empty(), "{:?}", it.defects());
    }
}

#[test]
fn what_was_fetched_under_a_lock_proves_no_exposure() {
    let locked = [(1, Lock), (2, Get(1, 8)), (3, Unlock)];
    let origin = [&locked[..], &accesses(1, &[(11, Put)])].concat();
    let it = recorded(Paradigm::MPI, None, &[&origin, &exposes(25, 0)]);
    assert_eq!(messages(&it), [(20, 56)]);
}

#[test]
fn posts_are_counted_for_each_origin() {
    // Rank 1 exposes itself to rank 2, then to ranks 0 and 2, and only rank 0 fetches.
    let first = exposes(100, 2);
    let second = exposes(200, OUTER);
    let move_by = |by: u64, events: Vec<(u64, It)>| -> Vec<(u64, It)> {
        events.into_iter().map(|(at, it)| (at + by, it)).collect()
    };
    let get = move_by(200, accesses(1, &[(11, Get(1, 8))]));
    let put = |at| move_by(at, accesses(1, &[(11, Put)]));
    let it = recorded(
        Paradigm::MPI,
        None,
        &[
            &get,
            &[first, second].concat(),
            &[put(100), put(200)].concat(),
        ],
    );
    assert_eq!(messages(&it), [(200, 222), (120, 131), (220, 231)]);
}
