//! Every kind of event, and what is attached to events.

use retime_otf2::writer::{
    AttributeRef, Collective, CollectiveOp, DefinitionType, Definitions, LocationWriter, MetricRef,
    MetricValue, Options, Paradigm, ParameterRef, Payload, Result, Root, StringRef, Value,
};

use super::{MAIN, WORLD, archive, message, single, small};
use crate::judge::{lines, otf2_print};

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
