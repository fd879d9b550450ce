//! What is concluded of launches, kernels, copies and synchronisations.

use retime::causality::{Causality, CausalityOptions, Participant};
use retime_model::format::Format;
use retime_otf2::writer::{ArchiveWriter, LocationWriter, Payload, WriteOptions};
use retime_otf2::{
    AttributeRef, AttributeValue, EventData, LocationGroupType, LocationType, MeasurementMode,
    Paradigm, ParameterRef, ParameterType, RegionRef, RegionRole, RmaWinRef, Type,
};
use retime_otf2_format::Otf2;

use crate::threads::{acquire, release};

/// What a location of the trace is.
#[derive(Clone, Copy)]
enum Kind {
    Thread,
    /// A stream in the context with that number.
    Stream(usize),
    /// A stream among the threads of the process.
    Plain,
}
use Kind::{Plain, Stream, Thread};

/// Something that takes a while.
#[derive(Clone, Copy)]
enum It {
    Call(&'static str),
    /// A launch or a kernel with a call site.
    At(u64, &'static str),
    /// A call of the driver that names the stream with that id, an event, or both.
    Names(&'static str, Option<u64>, Option<u64>),
    /// A copy of memory, as a stream records it.
    Copied,
    Off,
    /// A lock that is held, by its acquisition.
    Held(u32),
}
use It::{At, Call, Copied, Held, Names, Off};

const LAUNCH: It = Call("cudaLaunchKernel");
const KERNEL: It = Call("kernel");
const WAIT: It = Call("cudaDeviceSynchronize");

/// The code of definitions of parameters.
const PARAMETER: u8 = 23;

const REGIONS: [&str; 13] = [
    "cudaLaunchKernel",
    "kernel",
    "cudaDeviceSynchronize",
    "cudaStreamSynchronize",
    "cudaSetDevice",
    "cudaMemcpyAsync",
    "cudaGraphLaunch",
    "cuLaunchKernel",
    "COMPUTE IDLE",
    "cuStreamSynchronize",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuEventDestroy_v2",
];

/// Attributes of calls: a stream, an event.
const STREAM_REF: AttributeRef = AttributeRef(0);
const EVENT_REF: AttributeRef = AttributeRef(1);

/// What one location recorded: from when to when it did what.
type Recorded<'a> = (Kind, &'a [(u64, u64, It)]);

/// Writes and reads what the locations of a process recorded; by effect the times of
/// causes and effects.
fn edges(locations: &[Recorded<'_>]) -> Vec<(u64, u64)> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("t.otf2");
    let mut archive = ArchiveWriter::create(&path, WriteOptions::default()).unwrap();
    let it = archive.definitions();
    let process = it.location_group("p", LocationGroupType::PROCESS, None);
    let contexts = [0, 1]
        .map(|_| it.created_location_group("c", LocationGroupType::ACCELERATOR, None, process));
    for (id, (kind, _)) in (0..).zip(locations) {
        let (kind, group) = match *kind {
            Thread => (LocationType::CPU_THREAD, process),
            Plain => (LocationType::ACCELERATOR_STREAM, process),
            Stream(context) => (LocationType::ACCELERATOR_STREAM, contexts[context]),
        };
        it.location(id, "it", kind, group);
    }
    assert_eq!(
        it.attribute("CUDA_STREAM_REF", "", Type::LOCATION),
        STREAM_REF
    );
    assert_eq!(it.attribute("CUDA_EVENT_REF", "", Type::UINT64), EVENT_REF);
    for name in REGIONS {
        let role = match name {
            "COMPUTE IDLE" => RegionRole::ARTIFICIAL,
            _ => RegionRole::FUNCTION,
        };
        it.region(name, role, Paradigm::CUDA);
    }
    let name = it.string("callsite id");
    let parameter = Payload::new()
        .c32(0)
        .c32(name.0)
        .u8(ParameterType::UINT64.0)
        .clone();
    it.raw(PARAMETER, &parameter);
    let mut written = Vec::new();
    for (id, (_, recorded)) in (0..).zip(locations) {
        let mut location = archive.location(id).unwrap();
        fill(&mut location, recorded);
        written.push(location.finish().unwrap());
    }
    archive.finish(written).unwrap();
    let scan = Otf2.open(&path).unwrap().scan(&()).unwrap();
    let it = Causality::build(&scan.info, scan.logs, CausalityOptions::default()).unwrap();
    assert!(it.defects().is_empty(), "{:?}", it.defects());
    let mut found = dependencies(&it);
    found.sort_unstable_by_key(|&(cause, effect)| (effect, cause));
    found
}

fn dependencies(it: &Causality) -> Vec<(u64, u64)> {
    let nodes = it.nodes();
    let time = |node| nodes.timestamp(node).0;
    let messages = nodes.all();
    let messages = messages.filter_map(|node| Some((time(it.message_source(node)?), time(node))));
    let mut found: Vec<(u64, u64)> = messages.collect();
    for instance in it.collectives().instances() {
        let participants = it.collectives().participants(instance);
        for cause in participants.iter().filter_map(Participant::cause) {
            let effects = participants.iter().filter_map(Participant::effect);
            found.extend(effects.map(|effect| (time(cause), time(effect))));
        }
    }
    found
}

/// The stream and the event that a call names.
type Named = (Option<u64>, Option<u64>);

fn close(location: &mut LocationWriter, (end, event, (stream, address)): (u64, EventData, Named)) {
    let stream = stream.map(|it| (STREAM_REF, AttributeValue::Location(it)));
    let address = address.map(|it| (EVENT_REF, AttributeValue::U64(it)));
    for (attribute, value) in stream.into_iter().chain(address) {
        location.attach(attribute, value).unwrap();
    }
    location.event(end, &event).unwrap();
}

/// Calls that begin before another has ended lie in it.
fn fill(location: &mut LocationWriter, recorded: &[(u64, u64, It)]) {
    let mut open: Vec<(u64, EventData, Named)> = Vec::new();
    for &(begin, end, it) in recorded {
        while open.last().is_some_and(|(end, ..)| *end <= begin) {
            close(location, open.pop().unwrap());
        }
        let (win, matching_id) = (RmaWinRef(0), 42);
        match it {
            Call(name) | At(_, name) | Names(name, ..) => {
                let region = REGIONS.iter().position(|it| *it == name).unwrap();
                let region = RegionRef(region as u32);
                location.enter(begin, region).unwrap();
                if let At(value, _) = it {
                    let parameter = ParameterRef(0);
                    let site = EventData::ParameterUnsignedInt { parameter, value };
                    location.event(begin, &site).unwrap();
                }
                let named = match it {
                    Names(_, stream, event) => (stream, event),
                    _ => (None, None),
                };
                open.push((end, EventData::Leave { region }, named));
            }
            Copied => {
                let (remote, bytes) = (0, 8);
                let get = EventData::RmaGet {
                    win,
                    remote,
                    bytes,
                    matching_id,
                };
                location.event(begin, &get).unwrap();
                let complete = EventData::RmaOpCompleteBlocking { win, matching_id };
                open.push((end, complete, (None, None)));
            }
            Held(order) => {
                location.event(begin, &acquire(1, order)).unwrap();
                open.push((end, release(1, order), (None, None)));
            }
            Off => {
                for measurement_mode in [MeasurementMode::OFF, MeasurementMode::ON] {
                    let event = EventData::MeasurementOnOff { measurement_mode };
                    location.event(begin, &event).unwrap();
                }
            }
        }
    }
    for it in open.into_iter().rev() {
        close(location, it);
    }
}

/// A loop that launches from one place.
const LOOP: [(u64, u64, It); 3] = [
    (10, 12, At(7, "cudaLaunchKernel")),
    (20, 22, At(7, "cudaLaunchKernel")),
    (30, 32, At(7, "cudaLaunchKernel")),
];

#[test]
fn rounds_of_a_loop_are_told_apart_by_their_order() {
    // The second and the third kernel are stamped before they were launched.
    let kernels = [
        (11, 14, At(7, "kernel")),
        (15, 16, At(7, "kernel")),
        (17, 18, At(7, "kernel")),
    ];
    let found = edges(&[(Thread, &LOOP), (Stream(0), &kernels)]);
    assert_eq!(found, [(10, 11), (20, 15), (30, 17)]);
}

#[test]
fn a_call_site_that_serves_two_streams_proves_what_holds_for_both() {
    // Launched in turn; which stream has which launch is not recorded.
    let first = [(11, 14, At(7, "kernel")), (33, 34, At(7, "kernel"))];
    let second = [(21, 24, At(7, "kernel"))];
    let found = edges(&[(Thread, &LOOP), (Stream(0), &first), (Stream(0), &second)]);
    assert_eq!(found, [(10, 11), (10, 21), (20, 33)]);
}

#[test]
fn a_launch_that_nothing_came_of_makes_no_false_pair() {
    // The second launch has failed.
    let kernels = [(11, 14, At(7, "kernel")), (31, 34, At(7, "kernel"))];
    let found = edges(&[(Thread, &LOOP), (Stream(0), &kernels)]);
    assert_eq!(found, [(10, 11), (20, 31)]);
}

#[test]
fn call_sites_in_an_order_of_their_own_say_more() {
    let launches = [
        (10, 12, At(1, "cudaLaunchKernel")),
        (20, 22, At(2, "cudaLaunchKernel")),
        (30, 32, At(1, "cudaLaunchKernel")),
        (40, 42, At(2, "cudaLaunchKernel")),
    ];
    // Site 1 follows site 2 only once.
    let kernels = [(21, 24, At(2, "kernel")), (31, 34, At(1, "kernel"))];
    let found = edges(&[(Thread, &launches), (Stream(0), &kernels)]);
    assert_eq!(found, [(20, 21), (30, 31)]);
}

#[test]
fn what_lacks_its_launch_proves_nothing() {
    let kernels = [1, 11, 21, 31].map(|time| (time, time + 2, At(7, "kernel")));
    assert_eq!(edges(&[(Thread, &LOOP), (Stream(0), &kernels)]), []);
    // Nor does an order in which nobody launched.
    let launches = [
        (10, 12, At(1, "cudaLaunchKernel")),
        (20, 22, At(2, "cudaLaunchKernel")),
    ];
    let kernels = [(21, 24, At(2, "kernel")), (31, 34, At(1, "kernel"))];
    assert_eq!(edges(&[(Thread, &launches), (Stream(0), &kernels)]), []);
}

#[test]
fn threads_that_launch_from_one_place_prove_nothing() {
    let other = [(5, 6, At(7, "cudaLaunchKernel"))];
    let kernels = [11, 21, 31, 41].map(|time| (time, time + 2, At(7, "kernel")));
    let found = edges(&[(Thread, &LOOP), (Thread, &other), (Stream(0), &kernels)]);
    assert_eq!(found, []);
    // From places of their own each has its kernels.
    let other = [(5, 6, At(8, "cudaLaunchKernel"))];
    let mut kernels = kernels;
    kernels[0].2 = At(8, "kernel");
    let found = edges(&[(Thread, &LOOP), (Thread, &other), (Stream(0), &kernels)]);
    assert_eq!(found, [(5, 11), (10, 21), (20, 31), (30, 41)]);
}

#[test]
fn without_call_sites_numbers_have_to_agree() {
    let launches = [(10, 12, LAUNCH), (20, 22, LAUNCH)];
    let kernels = [
        (5, 9, Call("COMPUTE IDLE")),
        (9, 14, KERNEL),
        (15, 18, KERNEL),
        (25, 28, KERNEL),
    ];
    let found = edges(&[(Thread, &launches), (Plain, &kernels[..3])]);
    assert_eq!(found, [(10, 9), (20, 15)]);
    assert_eq!(edges(&[(Thread, &launches), (Plain, &kernels)]), []);
    assert_eq!(edges(&[(Thread, &launches), (Plain, &kernels[..2])]), []);
}

#[test]
fn the_driver_belongs_to_the_runtime_that_calls_it() {
    let launches = [
        (10, 14, LAUNCH),
        (11, 13, At(7, "cuLaunchKernel")),
        (20, 24, LAUNCH),
        (21, 23, At(7, "cuLaunchKernel")),
    ];
    let kernels = [(12, 14, At(7, "kernel")), (22, 24, At(7, "kernel"))];
    let found = edges(&[(Thread, &launches), (Stream(0), &kernels)]);
    assert_eq!(found, [(10, 12), (20, 22)]);
}

#[test]
fn what_is_not_recorded_whole_proves_nothing() {
    let kernels = [(11, 14, KERNEL), (21, 24, KERNEL)];
    let whole = [(10, 12, LAUNCH), (20, 22, LAUNCH)];
    assert_eq!(edges(&[(Thread, &whole), (Plain, &kernels)]).len(), 2);
    for besides in [Off, Call("cudaGraphLaunch")] {
        let launches = [(10, 12, LAUNCH), (15, 16, besides), (20, 22, LAUNCH)];
        assert_eq!(edges(&[(Thread, &launches), (Plain, &kernels)]), []);
    }
}

#[test]
fn a_device_is_waited_for_with_all_that_was_launched_before() {
    let host = [
        (10, 12, LAUNCH),
        (20, 22, LAUNCH),
        (25, 30, WAIT),
        (31, 35, WAIT),
        (40, 42, LAUNCH),
        (50, 52, WAIT),
    ];
    // The wait returns before the second kernel has ended.
    let kernels = [(11, 14, KERNEL), (21, 33, KERNEL), (43, 47, KERNEL)];
    let found = edges(&[(Thread, &host), (Stream(0), &kernels)]);
    assert_eq!(
        found,
        [(10, 11), (20, 21), (33, 30), (40, 43), (47, 52)],
        "a second wait proves nothing new"
    );
}

#[test]
fn of_two_streams_only_what_must_have_been_launched_is_waited_for() {
    let host = [
        (10, 12, LAUNCH),
        (20, 22, LAUNCH),
        (25, 30, WAIT),
        (40, 42, LAUNCH),
    ];
    // The first stream may have been launched at 10 and 20, at 10 and 40 or at 20 and 40.
    let first = [(21, 28, KERNEL), (41, 60, KERNEL)];
    let second = [(23, 29, KERNEL)];
    let found = edges(&[(Thread, &host), (Stream(0), &first), (Stream(0), &second)]);
    // That the first kernel is over when the host has waited holds for all of these.
    assert_eq!(found, [(10, 21), (10, 23), (28, 30), (20, 41)]);
}

#[test]
fn a_stream_is_not_waited_for_by_name() {
    let host = [(10, 12, LAUNCH), (25, 26, Call("cudaStreamSynchronize"))];
    let found = edges(&[(Thread, &host), (Stream(0), &[(11, 90, KERNEL)])]);
    assert_eq!(found, [(10, 11)]);
}

/// Launches from a place for each of two streams, with ids 1 and 2, ...
const LAUNCHES: [(u64, u64, It); 2] = [
    (10, 12, At(1, "cudaLaunchKernel")),
    (20, 22, At(2, "cudaLaunchKernel")),
];
/// ... and what these carry out.
const FIRST: [(u64, u64, It); 1] = [(11, 90, At(1, "kernel"))];
const SECOND: [(u64, u64, It); 1] = [(21, 80, At(2, "kernel"))];

/// What is concluded of waits after these launches, besides the launches themselves.
fn waited(waits: &[(u64, u64, It)]) -> Vec<(u64, u64)> {
    let host = [&LAUNCHES, waits].concat();
    let streams = [(Stream(0), &FIRST[..]), (Stream(0), &SECOND[..])];
    let found = edges(&[&[(Thread, &host[..])], &streams[..]].concat());
    assert_eq!(found[..2], [(10, 11), (20, 21)]);
    found[2..].to_vec()
}

#[test]
fn a_stream_that_is_named_is_waited_for() {
    let wait = |stream| Names("cuStreamSynchronize", Some(stream), None);
    assert_eq!(waited(&[(25, 30, wait(1))]), [(90, 30)]);
    assert_eq!(waited(&[(25, 30, wait(2))]), [(80, 30)]);
    // As the runtime calls it, and within a wait for the device.
    assert_eq!(
        waited(&[(24, 31, Call("cudaStreamSynchronize")), (25, 30, wait(2))]),
        [(80, 30)]
    );
    assert_eq!(
        waited(&[(24, 31, WAIT), (25, 30, wait(2))]),
        [(80, 30), (90, 31)]
    );
    // One that is of another process, or none at all.
    assert_eq!(waited(&[(25, 30, wait(0)), (31, 35, wait(77))]), []);
}

#[test]
fn what_is_launched_after_a_wait_for_its_stream_is_not_waited_for() {
    let wait = Names("cuStreamSynchronize", Some(1), None);
    let host = [(10, 12, LAUNCH), (20, 30, wait), (31, 33, LAUNCH)];
    let kernels = [(11, 18, KERNEL), (32, 40, KERNEL)];
    let found = edges(&[(Thread, &host), (Stream(0), &kernels)]);
    assert_eq!(found, [(10, 11), (18, 30), (31, 32)]);
    // What the launch itself waits for can still be before its kernel.
    let host = [(10, 12, LAUNCH), (20, 33, LAUNCH), (25, 30, wait)];
    let found = edges(&[(Thread, &host), (Stream(0), &kernels)]);
    assert_eq!(found, [(10, 11), (18, 30), (20, 32)]);
}

#[test]
fn an_event_waits_for_what_was_launched_before_it_was_recorded() {
    let record = |stream| Names("cuEventRecord", Some(stream), Some(0xe0));
    let wait = Names("cuEventSynchronize", None, Some(0xe0));
    assert_eq!(waited(&[(25, 26, record(2)), (27, 30, wait)]), [(80, 30)]);
    // It counts where it was recorded last.
    let again = [(24, 25, record(2)), (26, 27, record(1)), (28, 30, wait)];
    assert_eq!(waited(&again), [(90, 30)]);
    let before = [(5, 6, record(1)), (10, 12, LAUNCH), (27, 30, wait)];
    let found = edges(&[(Thread, &before), (Stream(0), &[(11, 90, KERNEL)])]);
    assert_eq!(found, [(10, 11)]);
}

#[test]
fn an_event_that_may_be_another_is_not_waited_for() {
    let record = (24, 25, Names("cuEventRecord", Some(1), Some(0xe0)));
    let wait = (28, 30, Names("cuEventSynchronize", None, Some(0xe0)));
    // Never recorded, another, one that is destroyed, or recorded where it is not known.
    assert_eq!(waited(&[wait]), []);
    let other = (28, 30, Names("cuEventSynchronize", None, Some(0xe8)));
    assert_eq!(waited(&[record, other]), []);
    let destroyed = (26, 27, Call("cuEventDestroy_v2"));
    assert_eq!(waited(&[record, destroyed, wait]), []);
    let anew = (26, 27, Call("cuEventRecord"));
    assert_eq!(waited(&[record, anew, wait]), []);
    // Another thread records events, too.
    let host = [&LAUNCHES[..], &[record, wait]].concat();
    let found = edges(&[
        (Thread, &host),
        (Stream(0), &FIRST),
        (Stream(0), &SECOND),
        (Thread, &[anew]),
    ]);
    assert_eq!(found, [(10, 11), (20, 21)]);
}

#[test]
fn only_the_chosen_device_is_waited_for() {
    let choose = Call("cudaSetDevice");
    let at = |site| At(site, "cudaLaunchKernel");
    let first = [(11, 90, At(1, "kernel"))];
    let second = [(21, 24, At(2, "kernel"))];
    // The second device, on which the last kernel was launched.
    let host = [
        (10, 12, at(1)),
        (15, 16, choose),
        (20, 22, at(2)),
        (25, 30, WAIT),
    ];
    let found = edges(&[(Thread, &host), (Stream(0), &first), (Stream(1), &second)]);
    assert_eq!(found, [(10, 11), (20, 21), (24, 30)]);
    // Nobody knows which.
    let host = [
        (10, 12, at(1)),
        (20, 22, at(2)),
        (23, 24, choose),
        (25, 30, WAIT),
    ];
    let found = edges(&[(Thread, &host), (Stream(0), &first), (Stream(1), &second)]);
    assert_eq!(found, [(10, 11), (20, 21)]);
    // Streams among threads may be of any device.
    let host = [(10, 12, LAUNCH), (20, 22, LAUNCH), (25, 30, WAIT)];
    let found = edges(&[
        (Thread, &host),
        (Plain, &[(11, 90, KERNEL)]),
        (Plain, &[(21, 24, KERNEL)]),
    ]);
    assert_eq!(found, [(10, 11), (10, 21)]);
}

#[test]
fn copies_follow_the_calls_that_start_them() {
    let copy = Call("cudaMemcpyAsync");
    let host = [
        (10, 12, copy),
        (13, 14, LAUNCH),
        (20, 22, copy),
        (25, 30, WAIT),
    ];
    let stream = [(11, 13, Copied), (14, 18, KERNEL), (23, 28, Copied)];
    let found = edges(&[(Thread, &host), (Stream(0), &stream)]);
    assert_eq!(found, [(10, 11), (13, 14), (20, 23), (28, 30)]);
    // One is not recorded on the stream, say between two places on the device.
    let found = edges(&[(Thread, &host), (Stream(0), &stream[..2])]);
    assert_eq!(found, [(13, 14), (18, 30)]);
}

#[test]
fn what_threads_hand_over_hides_no_launch() {
    let host = [(5, 8, Held(1)), (10, 12, LAUNCH), (20, 30, WAIT)];
    let other = [(14, 16, Held(2))];
    let stream = [(11, 22, KERNEL)];
    let found = edges(&[(Thread, &host), (Thread, &other), (Stream(0), &stream)]);
    assert_eq!(found, [(10, 11), (8, 14), (22, 30)]);
}
