//! Archives made by the writer, as read by the OTF2 tools.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a test"
)]

mod judge;

use std::{
    fs,
    path::{Path, PathBuf},
};

use judge::{lines, otf2_print};
use retime_otf2::writer::{
    Archive, ArchiveSummary, AttributeRef, Collective, CollectiveOp, CommRef, DefinitionType,
    Definitions, Error, GroupType, LocationGroupType, LocationType, LocationWriter, MappingType,
    Message, MetricRef, MetricValue, Options, Paradigm, ParadigmClass, ParameterRef, Payload,
    RegionRef, RegionRole, Result, Root, Scope, Severity, StringRef, SystemTreeDomain, Value,
};
use tempfile::TempDir;

const SMALL: u64 = 0x4_0000;
const LARGEST_ID: u64 = u64::MAX - 1;

/// An archive with the given locations, world communicator 0 and region 0.
fn archive(locations: &[u64], options: Options) -> (TempDir, PathBuf, Archive) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("deep/down/traces.otf2");
    let mut archive = Archive::create(&path, options).unwrap();
    define(archive.definitions(), locations);
    (dir, path, archive)
}

fn define(definitions: &mut Definitions, locations: &[u64]) {
    let machine = definitions.system_tree_node("lab", "machine", None);
    let node = definitions.system_tree_node("node0", "node", Some(machine));
    definitions.system_tree_domain(node, SystemTreeDomain::SharedMemory);
    definitions.paradigm(Paradigm::Mpi, "MPI", ParadigmClass::Process);
    for &id in locations {
        let process =
            definitions.location_group(&format!("P{id}"), LocationGroupType::Process, Some(node));
        definitions.location(id, "Master thread", LocationType::CpuThread, process);
    }
    definitions.group("", GroupType::CommLocations, Paradigm::Mpi, locations);
    let ranks: Vec<_> = (0..locations.len() as u64).collect();
    let world = definitions.group("", GroupType::CommGroup, Paradigm::Mpi, &ranks);
    definitions.comm("WORLD", world, None);
    definitions.region("main", RegionRole::Function, Paradigm::User);
}

fn small() -> Options {
    Options {
        event_chunk: SMALL,
        definition_chunk: SMALL,
        ..Options::default()
    }
}

/// One location whose events `fill` writes, and the printed result.
fn single(options: Options, fill: impl FnOnce(&mut LocationWriter)) -> (ArchiveSummary, String) {
    let (_dir, path, mut archive) = archive(&[0], options);
    let mut location = archive.location(0).unwrap();
    fill(&mut location);
    let written = archive.finish([location.finish().unwrap()]).unwrap();
    (written, otf2_print(&path, &["-A"]).unwrap_or_default())
}

const WORLD: CommRef = CommRef(0);
const MAIN: RegionRef = RegionRef(0);

fn message(tag: u32) -> Message {
    Message {
        peer: 0,
        comm: WORLD,
        tag,
        length: 0x1_0000_0000,
    }
}

fn collective(root: Root) -> Collective {
    Collective {
        op: CollectiveOp::Bcast,
        comm: WORLD,
        root,
        sent: 1,
        received: 2,
    }
}

fn write_mpi(it: &mut LocationWriter) -> Result<()> {
    it.enter(10, MAIN)?;
    it.send(11, message(1))?;
    it.isend(12, message(2), 1)?;
    it.isend_complete(13, 1)?;
    it.irecv_request(14, u64::MAX - 2)?;
    it.recv(15, message(1))?;
    it.irecv(16, message(2), u64::MAX - 2)?;
    it.irecv_request(17, 3)?;
    it.request_test(18, 3)?;
    it.request_cancelled(19, 3)?;
    it.collective_begin(20)?;
    it.collective_end(21, collective(Root::Rank(0)))?;
    it.collective_begin(22)?;
    it.collective_end(23, collective(Root::None))?;
    it.non_blocking_collective_request(24, 4)?;
    it.non_blocking_collective_complete(25, collective(Root::Itself), 4)?;
    it.comm_create(26, WORLD)?;
    it.comm_destroy(27, WORLD)?;
    it.leave(28, MAIN)
}

#[test]
fn events_of_mpi() {
    let (written, text) = single(small(), |it| write_mpi(it).unwrap());
    assert_eq!((written.events, written.times), (19, Some((10, 28))));
    if text.is_empty() {
        return;
    }
    let peer = "0 (\"Master thread\" <0>), Communicator: \"WORLD\" <0>";
    let shared = format!("{peer}, Tag: 2, Length: 4294967296");
    let expected = [
        format!("MPI_SEND 0 11 Receiver: {peer}, Tag: 1, Length: 4294967296"),
        format!("MPI_ISEND 0 12 Receiver: {shared}, Request: 1"),
        "MPI_ISEND_COMPLETE 0 13 Request: 1".to_owned(),
        format!("MPI_RECV 0 15 Sender: {peer}, Tag: 1, Length: 4294967296"),
        format!("MPI_IRECV 0 16 Sender: {shared}, Request: 18446744073709551613"),
        "MPI_REQUEST_TEST 0 18 Request: 3".to_owned(),
        "MPI_REQUEST_CANCELLED 0 19 Request: 3".to_owned(),
    ];
    for line in expected {
        let kind = line.split(' ').next().unwrap();
        assert_eq!(lines(&text, kind), [line]);
    }
    let ends = lines(&text, "MPI_COLLECTIVE_END");
    assert!(
        ends[0].contains("Root: 0 (\"Master thread\" <0>), Sent: 1, Received: 2"),
        "{ends:?}"
    );
    assert!(ends[1].contains("Root: NONE"), "{ends:?}");
    let complete = lines(&text, "NON_BLOCKING_COLLECTIVE_COMPLETE");
    assert!(complete[0].contains("Root: SELF"), "{complete:?}");
    assert_eq!(
        lines(&text, "COMM_CREATE").len() + lines(&text, "COMM_DESTROY").len(),
        2
    );
}

fn write_others(it: &mut LocationWriter) -> Result<()> {
    it.program_begin(1, StringRef(0), &[StringRef(1), StringRef(2)])?;
    it.thread_fork(2, Paradigm::OpenMp, 4)?;
    it.thread_team_begin(3, WORLD)?;
    it.thread_team_end(4, WORLD)?;
    it.thread_join(5, Paradigm::OpenMp)?;
    it.thread_create(6, WORLD, 1)?;
    it.thread_begin(7, WORLD, 1)?;
    it.thread_end(8, WORLD, 1)?;
    it.thread_wait(9, WORLD, 1)?;
    it.measurement_on_off(10, false)?;
    it.measurement_on_off(11, true)?;
    it.buffer_flush(12, 50)?;
    let values = [
        MetricValue::Unsigned(7),
        MetricValue::Signed(-7),
        MetricValue::Float(0.5),
    ];
    it.metric(13, MetricRef(0), &values)?;
    it.parameter_string(14, ParameterRef(0), StringRef(0))?;
    it.parameter_int(15, ParameterRef(1), -3)?;
    it.parameter_unsigned(16, ParameterRef(2), 3)?;
    // Lock, a kind of event the writer has no method for.
    it.event_raw(17, 57, Payload::new().u8(3).c32(1).c32(2).as_bytes())?;
    // Task switch, a record without a length.
    it.event_raw(18, 29, Payload::new().c64(5).as_bytes())?;
    it.program_end(19, None)
}

/// Parameters and metrics, which the writer leaves to `raw`.
fn define_others(definitions: &mut Definitions) {
    let name = definitions.string("name").0;
    for (id, kind) in [(0, 0), (1, 1), (2, 2)] {
        definitions.raw(23, Payload::new().c32(id).c32(name).u8(kind));
    }
    for (id, kind) in [(0, 4), (1, 8), (2, 10)] {
        let mut member = Payload::new();
        member
            .c32(id)
            .c32(name)
            .c32(name)
            .u8(3)
            .u8(1)
            .u8(kind)
            .u8(1);
        definitions.raw(19, member.s64(0).c32(name));
    }
    let mut class = Payload::new();
    class.c32(0).u8(3).c32(0).c32(1).c32(2).u8(1).u8(2);
    definitions.raw(20, &class);
}

#[test]
fn events_of_threads_and_of_the_recording() {
    let (_dir, path, mut archive) = archive(&[0], Options::default());
    define_others(archive.definitions());
    let mut location = archive.location(0).unwrap();
    write_others(&mut location).unwrap();
    let written = archive.finish([location.finish().unwrap()]).unwrap();
    // The end of the flush counts as a time of the trace.
    assert_eq!((written.events, written.times), (19, Some((1, 50))));
    let Some(text) = otf2_print(&path, &["-A"]) else {
        return;
    };
    assert!(!text.contains("UNKNOWN"), "{text}");
    assert_eq!(
        lines(&text, "BUFFER_FLUSH"),
        ["BUFFER_FLUSH 0 12 Stop Time: 50"]
    );
    assert_eq!(
        lines(&text, "PARAMETER_INT64")[0].split(' ').next_back(),
        Some("-3")
    );
    assert!(lines(&text, "METRIC")[0].contains("0.5"));
    for kind in [
        "PROGRAM_BEGIN",
        "THREAD_FORK",
        "THREAD_TEAM_BEGIN",
        "THREAD_TEAM_END",
        "THREAD_JOIN",
        "THREAD_CREATE",
        "THREAD_BEGIN",
        "THREAD_END",
        "THREAD_WAIT",
        "PARAMETER_STRING",
        "PARAMETER_UINT64",
        "THREAD_ACQUIRE_LOCK",
        "OMP_TASK_SWITCH",
        "PROGRAM_END",
    ] {
        assert_eq!(lines(&text, kind).len(), 1, "{kind}\n{text}");
    }
}

/// `otf2-print` 3.0.2 does not know these, but finds its way around them.
#[test]
fn events_newer_than_the_reader() {
    let (written, text) = single(Options::default(), |it| {
        it.probe(1, message(1), 9).unwrap();
        it.mrecv(2, 9, 64).unwrap();
        it.imrecv_request(3, 10, 1).unwrap();
        it.imrecv(4, 1, 64).unwrap();
        it.enter(5, MAIN).unwrap();
    });
    assert_eq!(written.events, 5);
    if !text.is_empty() {
        assert_eq!(lines(&text, "ENTER"), ["ENTER 0 5 Region: \"main\" <0>"]);
    }
}

#[test]
fn locations_written_by_threads_in_several_chunks() {
    let ids = [0, 1, 1 << 32, LARGEST_ID];
    let (_dir, path, mut archive) = archive(&ids, small());
    let writers: Vec<_> = ids[..3]
        .iter()
        .map(|&id| archive.location(id).unwrap())
        .collect();
    let summaries: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = writers
            .into_iter()
            .map(|mut it| {
                scope.spawn(move || {
                    for step in 0..30_000 * (1 + it.location().min(2)) {
                        // Groups of three events at the same time.
                        it.send(step / 3, message(step as u32)).unwrap();
                    }
                    it.finish().unwrap()
                })
            })
            .collect();
        threads.into_iter().map(|it| it.join().unwrap()).collect()
    });
    let written = archive.finish(summaries).unwrap();
    assert_eq!((written.locations, written.events), (4, 180_000));
    assert!(size_of_events(&path, 1 << 32) > 4 * SMALL);
    assert_eq!(size_of_events(&path, LARGEST_ID), 20);
    let Some(text) = otf2_print(&path, &["-A"]) else {
        return;
    };
    assert_eq!(lines(&text, "MPI_SEND").len(), 180_000);
    for (id, count) in ids.iter().zip([30_000, 60_000, 90_000, 0]) {
        let line = format!("LOCATION {id} Name: \"Master thread\"");
        let expected = format!("# Events: {count},");
        let found = lines(&text, "LOCATION");
        assert!(
            found
                .iter()
                .any(|it| it.starts_with(&line) && it.contains(&expected)),
            "{found:?}"
        );
    }
}

fn size_of_events(anchor: &Path, id: u64) -> u64 {
    let path = anchor.with_extension("").join(format!("{id}.evt"));
    fs::metadata(path).unwrap().len()
}

/// libotf2 hangs on what its own writer makes of this.
#[test]
fn chunks_that_start_at_time_zero() {
    let (written, text) = single(small(), |it| {
        for _ in 0..60_000 {
            it.enter(0, MAIN).unwrap();
        }
        it.leave(1, MAIN).unwrap();
    });
    assert_eq!(written.times, Some((0, 1)));
    if !text.is_empty() {
        assert_eq!(lines(&text, "ENTER").len(), 60_000);
        assert_eq!(lines(&text, "LEAVE"), ["LEAVE 0 1 Region: \"main\" <0>"]);
    }
}

#[test]
fn chunks_that_start_within_equal_times() {
    let (_, text) = single(small(), |it| {
        for _ in 0..200_000 {
            it.enter(5, MAIN).unwrap();
        }
    });
    if !text.is_empty() {
        assert_eq!(lines(&text, "ENTER").len(), 200_000);
        assert!(
            lines(&text, "ENTER")
                .iter()
                .all(|it| it == "ENTER 0 5 Region: \"main\" <0>")
        );
    }
}

#[test]
fn times_of_every_magnitude() {
    let times = [
        0,
        0,
        1,
        1,
        1 << 62,
        (1 << 63) - 1,
        1 << 63,
        (1 << 63) + 1,
        u64::MAX - 1,
    ];
    let (written, text) = single(Options::default(), |it| {
        for time in times {
            it.enter(time, MAIN).unwrap();
        }
    });
    assert_eq!(written.times, Some((0, u64::MAX - 1)));
    if !text.is_empty() {
        let expected = times.map(|time| format!("ENTER 0 {time} Region: \"main\" <0>"));
        assert_eq!(lines(&text, "ENTER"), expected);
    }
}

#[test]
fn attributes_of_every_type() {
    let values = [
        Value::U8(1),
        Value::U16(2),
        Value::U32(3),
        Value::U64(4),
        Value::I8(-1),
        Value::I16(-2),
        Value::I32(-3),
        Value::I64(-4),
        Value::F32(0.5),
        Value::F64(0.25),
        Value::Location(0),
        Value::Definition(DefinitionType::String, 0),
        Value::Definition(DefinitionType::Region, 0),
        Value::Definition(DefinitionType::Comm, 0),
        Value::Definition(DefinitionType::LocationGroup, 0),
    ];
    let (_dir, path, mut archive) = archive(&[0], Options::default());
    let attributes = values.map(|value| {
        archive
            .definitions()
            .attribute(&format!("{value:?}"), "", value.type_code())
    });
    let mut location = archive.location(0).unwrap();
    for (attribute, value) in attributes.into_iter().zip(values) {
        location.attach(attribute, value).unwrap();
    }
    location.enter(1, MAIN).unwrap();
    // More attributes than the short length can hold.
    for attribute in attributes {
        location
            .attach(attribute, Value::Location(u64::MAX - 1))
            .unwrap();
        location
            .attach(AttributeRef(attribute.0 + 100), Value::U64(1 << 63))
            .unwrap();
    }
    location.leave(1, MAIN).unwrap();
    archive.finish([location.finish().unwrap()]).unwrap();
    let Some(text) = otf2_print(&path, &["-A"]) else {
        return;
    };
    let attributes: Vec<_> = text
        .lines()
        .filter(|it| it.contains("ADDITIONAL ATTRIBUTES"))
        .collect();
    for expected in ["; -1)", "; -4)", "; 0.25", "UINT8; 1)"] {
        assert!(
            attributes[0].contains(expected),
            "{expected}: {}",
            attributes[0]
        );
    }
    assert_eq!(attributes[1].matches("9223372036854775808").count(), 15);
}

#[test]
fn local_ids_and_clocks_are_translated() {
    let (_dir, path, mut archive) = archive(&[0], Options::default());
    let definitions = archive.definitions();
    for name in ["a", "b"] {
        definitions.region(name, RegionRole::Function, Paradigm::User);
    }
    let mut location = archive.location(0).unwrap();
    location.local().dense_map(MappingType::Region, &[2, 1, 0]);
    location.local().sparse_map(MappingType::Comm, &[(9, 0)]);
    location.local().clock_offset(100, -50, 0.0);
    location.local().clock_offset(200, 50, 0.0);
    location.enter(100, RegionRef(0)).unwrap();
    location
        .send(
            150,
            Message {
                comm: CommRef(9),
                ..message(1)
            },
        )
        .unwrap();
    location.leave(200, RegionRef(0)).unwrap();
    archive.finish([location.finish().unwrap()]).unwrap();
    let Some(text) = otf2_print(&path, &["-A"]) else {
        return;
    };
    assert_eq!(lines(&text, "ENTER"), ["ENTER 0 50 Region: \"b\" <2>"]);
    assert!(lines(&text, "MPI_SEND")[0].starts_with("MPI_SEND 0 150 "));
    assert!(lines(&text, "MPI_SEND")[0].contains("\"WORLD\" <0>"));
    assert_eq!(lines(&text, "LEAVE"), ["LEAVE 0 250 Region: \"b\" <2>"]);
}

#[test]
fn definitions_larger_than_a_chunk_of_them() {
    let ids: Vec<_> = (0..2000).collect();
    let (_dir, path, mut archive) = archive(&ids, small());
    let definitions = archive.definitions();
    let long = "long ".repeat(1000);
    for number in 0..100 {
        definitions.string(&format!("{long}{number}"));
    }
    let group = definitions.group("half", GroupType::CommGroup, Paradigm::Mpi, &ids[..1000]);
    let rest = definitions.group("rest", GroupType::CommGroup, Paradigm::Mpi, &ids[1000..]);
    let half = definitions.comm("half", group, Some(WORLD));
    definitions.inter_comm("bridge", (group, rest), Some(half));
    let own = definitions.group("", GroupType::CommSelf, Paradigm::Mpi, &[]);
    definitions.comm("SELF", own, None);
    archive.finish([]).unwrap();
    assert!(fs::metadata(path.with_extension("def")).unwrap().len() > 2 * SMALL);
    let Some(text) = otf2_print(&path, &["-A"]) else {
        return;
    };
    assert_eq!(lines(&text, "LOCATION").len(), 2000);
    assert_eq!(
        lines(&text, "STRING")
            .iter()
            .filter(|it| it.len() > 5000)
            .count(),
        100
    );
    assert!(lines(&text, "INTER_COMM")[0].contains("\"bridge\""));
    let definitions = text
        .lines()
        .skip_while(|it| !it.starts_with("----"))
        .take_while(|it| !it.starts_with("=== Events"))
        .filter(|it| it.starts_with(char::is_uppercase))
        .count();
    let expected = format!("Number of global definitions   {definitions}\n");
    assert!(text.contains(&expected), "{expected}");
}

#[test]
fn the_anchor_tells_what_it_was_told() {
    let options = Options {
        resolution: 2_095_197_216,
        range: Some((7, 1007)),
        realtime: Some(1_700_000_000_000_000_000),
        machine: "lab".into(),
        creator: "test".into(),
        description: "two words".into(),
        properties: vec![("RETIME::KEY".into(), "value".into())],
        trace_id: 0xABCD,
        ..Options::default()
    };
    let (_, text) = single(options, |it| it.enter(10, MAIN).unwrap());
    if text.is_empty() {
        return;
    }
    for expected in [
        "Version                        3.0.0",
        "Chunk size events              1048576",
        "Chunk size definitions         4194304",
        "Machine name                   lab",
        "Creator                        test",
        "Description                    two words",
        "Number of properties           1",
        "Trace identifier               abcd",
        "Ticks per Seconds: 2095197216, Global Offset: 7, Length: 1000,",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
}

#[test]
fn markers() {
    let (_dir, path, mut archive) = archive(&[0], Options::default());
    let kind = archive
        .markers()
        .define("group", "category", Severity::High);
    archive
        .markers()
        .mark(5, 3, kind, Scope::Location(0), "here");
    archive
        .markers()
        .mark(9, 0, kind, Scope::Global, "everywhere");
    archive.finish([]).unwrap();
    let Some(text) = judge::run("otf2-marker", &path, &[]) else {
        return;
    };
    for word in ["group", "category", "HIGH", "here", "everywhere"] {
        assert!(text.contains(word), "{word}\n{text}");
    }
}

#[test]
fn disorder_is_refused_unless_wanted() {
    let (_dir, _, mut ordered) = archive(&[3], Options::default());
    let mut location = ordered.location(3).unwrap();
    location.enter(5, MAIN).unwrap();
    location.enter(5, MAIN).unwrap();
    let error = location.leave(4, MAIN).unwrap_err();
    assert_eq!(
        error.to_string(),
        "location 3: event 3 at time 4 comes after one at time 5"
    );
    let disorder = Options {
        allow_disorder: true,
        ..Options::default()
    };
    let (written, _) = single(disorder, |it| {
        it.enter(5, MAIN).unwrap();
        it.leave(4, MAIN).unwrap();
    });
    assert_eq!(written.times, Some((4, 5)));
}

#[test]
fn mistakes_in_events_are_refused() {
    let (_dir, _, mut archive) = archive(&[0], small());
    let mut it = archive.location(0).unwrap();
    let attribute = archive.definitions().attribute("a", "", 1);
    assert!(matches!(
        it.event_raw(1, 5, &[]),
        Err(Error::ReservedCode(5))
    ));
    assert!(matches!(
        it.event_raw(1, 12, &[2, 1]),
        Err(Error::SingletonPayload(12))
    ));
    assert!(matches!(
        it.event_raw(1, 200, &vec![0; SMALL as usize]),
        Err(Error::RecordTooLarge { code: 200, .. })
    ));
    assert!(matches!(
        it.metric(1, MetricRef(0), &[MetricValue::Unsigned(0); 256]),
        Err(Error::TooManyElements {
            code: 31,
            count: 256
        })
    ));
    it.attach(attribute, Value::U8(1)).unwrap();
    assert!(matches!(
        it.attach(attribute, Value::U8(2)),
        Err(Error::RepeatedAttribute(0))
    ));
    assert!(matches!(it.finish(), Err(Error::DanglingAttributes(0))));
}

#[test]
fn mistakes_in_locations_are_refused() {
    let (_dir, _, mut it) = archive(&[0, 1], small());
    let open = it.location(0).unwrap();
    assert!(matches!(it.location(0), Err(Error::LocationOpenedTwice(0))));
    assert!(matches!(it.location(u64::MAX), Err(Error::LocationId)));
    drop(open);
    assert!(matches!(it.finish([]), Err(Error::LocationUnfinished(0))));

    let (_dir, _, mut it) = archive(&[0, 1], small());
    let stranger = it.location(7).unwrap().finish().unwrap();
    assert!(matches!(
        it.finish([stranger]),
        Err(Error::LocationUndefined(7))
    ));

    let (_dir, _, it) = archive(&[4, 4], small());
    assert!(matches!(it.finish([]), Err(Error::LocationDefinedTwice(4))));
}

#[test]
fn mistakes_in_archives_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let create = |name: &str, options| Archive::create(dir.path().join(name), options);
    assert!(matches!(
        create("traces", small()),
        Err(Error::AnchorName(_))
    ));
    let tiny = Options {
        event_chunk: 1000,
        ..Options::default()
    };
    assert!(matches!(
        create("a.otf2", tiny),
        Err(Error::ChunkSize(1000))
    ));
    let nul = Options {
        machine: "a\0b".into(),
        ..Options::default()
    };
    assert!(matches!(create("a.otf2", nul), Err(Error::NulInText(_))));
    create("a.otf2", small()).unwrap().finish([]).unwrap();
    assert!(matches!(create("a.otf2", small()), Err(Error::Io { .. })));
    fs::write(dir.path().join("c.def"), "mine").unwrap();
    assert!(matches!(create("c.otf2", small()), Err(Error::Io { .. })));
    let mut it = create("b.otf2", small()).unwrap();
    it.definitions().string("a\0b");
    assert!(matches!(it.finish([]), Err(Error::NulInText(_))));
    assert!(!dir.path().join("b.otf2").exists());
}

/// Bytes as libotf2 writes them: the start of a Score-P recording.
#[test]
fn records_have_the_bytes_libotf2_gives_them() {
    let (_dir, path, mut archive) = archive(&[0], Options::default());
    let mut it = archive.location(0).unwrap();
    let start = 0x1a_47f4_ff70_5a1d;
    it.attach(AttributeRef(2), Value::U64(26601)).unwrap();
    it.program_begin(start, StringRef(8), &[]).unwrap();
    it.enter(start + 1, RegionRef(3)).unwrap();
    let sent = Message {
        peer: 1,
        comm: WORLD,
        tag: 10,
        length: 16384,
    };
    it.send(start + 1, sent).unwrap();
    it.program_end(start + 2, None).unwrap();
    archive.finish([it.finish().unwrap()]).unwrap();
    let mut expected = vec![0x03, 0x42, 1, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0];
    expected.extend([0x05, 0x1d, 0x5a, 0x70, 0xff, 0xf4, 0x47, 0x1a, 0x00]);
    expected.extend([0x06, 0x08, 1, 1, 1, 2, 4, 2, 0xe9, 0x67]);
    expected.extend([0x53, 0x03, 1, 8, 0]);
    expected.extend([0x05, 0x1e, 0x5a, 0x70, 0xff, 0xf4, 0x47, 0x1a, 0x00]);
    expected.extend([0x0c, 1, 3]);
    expected.extend([0x0e, 0x08, 1, 1, 0, 1, 10, 2, 0x00, 0x40]);
    expected.extend([0x05, 0x1f, 0x5a, 0x70, 0xff, 0xf4, 0x47, 0x1a, 0x00]);
    expected.extend([0x54, 0x09, 8, 0, 0, 0, 0, 0, 0, 0, 0x80]);
    expected.extend([0x02, 0x01]);
    assert_eq!(
        fs::read(path.with_extension("").join("0.evt")).unwrap(),
        expected
    );
}

/// Equal times share a record, except time 0; a chunk repeats its time once.
#[test]
fn times_are_written_when_they_must_be() {
    let (_dir, path, mut archive) = archive(&[0], small());
    let mut it = archive.location(0).unwrap();
    let zeros = 3;
    for _ in 0..zeros {
        it.enter(0, MAIN).unwrap();
    }
    let mut events = 0;
    for _ in 0..200_000 {
        it.leave(7, MAIN).unwrap();
        events += 1;
    }
    archive.finish([it.finish().unwrap()]).unwrap();
    let bytes = fs::read(path.with_extension("").join("0.evt")).unwrap();
    let enter = [5, 0, 0, 0, 0, 0, 0, 0, 0, 12, 0];
    assert_eq!(bytes[18..18 + enter.len() * zeros], enter.repeat(zeros));
    let mut found = 0;
    for (number, chunk) in bytes.chunks(SMALL as usize).enumerate() {
        let start = if number == 0 {
            18 + enter.len() * zeros
        } else {
            18
        };
        let (stamp, rest) = chunk[start..].split_at(9);
        assert_eq!(stamp, [5, 7, 0, 0, 0, 0, 0, 0, 0]);
        found += rest.chunks(2).take_while(|it| it == &[13, 0]).count();
    }
    assert_eq!(found, events);
}
