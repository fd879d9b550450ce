//! What is concluded of what threads record: what is proven, and nothing besides.

mod handed;
mod locking;
mod teams;

use retime::causality::{Causality, CausalityOptions};
use retime_model::TraceInfo;
use retime_model::format::{Format, Scan};
use retime_otf2::writer::{ArchiveWriter, WriteOptions};
use retime_otf2::{
    CommRef, EventData, GroupType, LocationGroupType, LocationType, MeasurementMode, Paradigm,
    RegionRef, RegionRole,
};
use retime_otf2_format::Otf2;

/// The team of all threads, and that of threads 1 and 2.
pub(crate) const TEAM: CommRef = CommRef(0);
pub(crate) const INNER: CommRef = CommRef(1);
/// Regions: a barrier of `OpenMP`, one of MPI, none, and calls of locks.
pub(crate) const BARRIER: RegionRef = RegionRef(0);
pub(crate) const MPI_BARRIER: RegionRef = RegionRef(1);
pub(crate) const WORK: RegionRef = RegionRef(2);
const LOCK: RegionRef = RegionRef(3);
const UNLOCK: RegionRef = RegionRef(4);
const WAIT: RegionRef = RegionRef(5);

pub(crate) type Events = Vec<(u64, EventData)>;

/// Writes what the threads of a process recorded, and reads it.
pub(crate) fn scan(threads: &[Events]) -> Scan {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.otf2");
    let mut archive = ArchiveWriter::create(&path, WriteOptions::default()).unwrap();
    let it = archive.definitions();
    let machine = it.system_tree_node("machine", "machine", None);
    let process = it.location_group("p", LocationGroupType::PROCESS, Some(machine));
    let all: Vec<u64> = (0..threads.len() as u64).collect();
    for &id in &all {
        it.location(id, "t", LocationType::CPU_THREAD, process);
    }
    it.group("", GroupType::COMM_LOCATIONS, Paradigm::MPI, &[0]);
    it.group("", GroupType::COMM_LOCATIONS, Paradigm::OPENMP, &all);
    let team = it.group("", GroupType::COMM_GROUP, Paradigm::OPENMP, &all);
    assert_eq!(it.comm("team", team, None), TEAM);
    if threads.len() > 2 {
        let inner = it.group("", GroupType::COMM_GROUP, Paradigm::OPENMP, &[1, 2]);
        assert_eq!(it.comm("inner", inner, Some(TEAM)), INNER);
    }
    it.region(
        "omp barrier",
        RegionRole::IMPLICIT_BARRIER,
        Paradigm::OPENMP,
    );
    it.region("MPI_Barrier", RegionRole::BARRIER, Paradigm::MPI);
    it.region("work", RegionRole::FUNCTION, Paradigm::USER);
    for name in ["omp_set_lock", "pthread_mutex_unlock", "pthread_cond_wait"] {
        it.region(name, RegionRole::FUNCTION, Paradigm::PTHREAD);
    }
    let mut written = Vec::new();
    for (id, events) in all.into_iter().zip(threads) {
        let mut location = archive.location(id).unwrap();
        for (time, event) in events {
            location.event(*time, event).unwrap();
        }
        written.push(location.finish().unwrap());
    }
    archive.finish(written).unwrap();
    Otf2.open(&path).unwrap().scan(&()).unwrap()
}

pub(crate) fn recorded(threads: &[Events]) -> (TraceInfo, Causality) {
    let Scan { info, logs, .. } = scan(threads);
    let causality = Causality::build(&info, logs, CausalityOptions::default()).unwrap();
    (info, causality)
}

/// Times of cause and effect of every dependency, in order.
pub(crate) fn dependencies(causality: &Causality) -> Vec<(u64, u64)> {
    let nodes = causality.nodes();
    let time = |node| nodes.timestamp(node).0;
    let received = nodes.all();
    let messages = received.filter_map(|it| Some((time(causality.message_source(it)?), time(it))));
    let mut found: Vec<(u64, u64)> = messages.collect();
    let collectives = causality.collectives();
    for instance in collectives.instances() {
        let participants = collectives.participants(instance);
        collectives.each_dependency(instance, |from, to| {
            let cause = participants[from].cause().unwrap();
            found.push((time(cause), time(participants[to].effect().unwrap())));
        });
    }
    found.sort_unstable();
    found
}

/// The same of what threads recorded without a defect.
pub(crate) fn concluded(threads: &[Events]) -> Vec<(u64, u64)> {
    let (_, causality) = recorded(threads);
    assert!(causality.defects().is_empty(), "{:?}", causality.defects());
    dependencies(&causality)
}

pub(crate) const FORK: EventData = EventData::ThreadFork {
    model: Paradigm::OPENMP,
    threads: 2,
};
pub(crate) const JOIN: EventData = EventData::ThreadJoin {
    model: Paradigm::OPENMP,
};

pub(crate) const fn team_begin(thread_team: CommRef) -> EventData {
    EventData::ThreadTeamBegin { thread_team }
}

pub(crate) const fn team_end(thread_team: CommRef) -> EventData {
    EventData::ThreadTeamEnd { thread_team }
}

pub(crate) const fn enter(region: RegionRef) -> EventData {
    EventData::Enter { region }
}

pub(crate) const fn leave(region: RegionRef) -> EventData {
    EventData::Leave { region }
}

pub(crate) const fn recording(measurement_mode: MeasurementMode) -> EventData {
    EventData::MeasurementOnOff { measurement_mode }
}

pub(crate) const fn acquire(lock: u32, acquisition_order: u32) -> EventData {
    EventData::ThreadAcquireLock {
        model: Paradigm::PTHREAD,
        lock,
        acquisition_order,
    }
}

pub(crate) const fn release(lock: u32, acquisition_order: u32) -> EventData {
    EventData::ThreadReleaseLock {
        model: Paradigm::PTHREAD,
        lock,
        acquisition_order,
    }
}

pub(crate) const fn task_create(creating_thread: u32, generation_number: u32) -> EventData {
    EventData::ThreadTaskCreate {
        thread_team: TEAM,
        creating_thread,
        generation_number,
    }
}

pub(crate) const fn task_switch(creating_thread: u32, generation_number: u32) -> EventData {
    EventData::ThreadTaskSwitch {
        thread_team: TEAM,
        creating_thread,
        generation_number,
    }
}

pub(crate) const fn task_complete(creating_thread: u32, generation_number: u32) -> EventData {
    EventData::ThreadTaskComplete {
        thread_team: TEAM,
        creating_thread,
        generation_number,
    }
}
