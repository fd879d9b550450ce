//! Every kind of event, and what is attached to events.

use retime_otf2::writer::{
    Collective, DefinitionsWriter, LocationWriter, Payload, WriteOptions, WriteResult,
};
use retime_otf2::{
    AttributeRef, AttributeValue, CollectiveOp, CollectiveRoot, CommRef, EventData,
    LocationGroupRef, MeasurementMode, MetricRef, MetricValue, Paradigm, ParameterRef, RegionRef,
    StringRef, Timestamp,
};

use super::{MAIN, WORLD, archive, message, single, small};
use crate::judge::{lines, otf2_print};

fn collective(root: CollectiveRoot) -> Collective {
    Collective {
        op: CollectiveOp::BCAST,
        comm: WORLD,
        root,
        sent: 1,
        received: 2,
    }
}

fn write_mpi(it: &mut LocationWriter) -> WriteResult<()> {
    it.enter(10, MAIN)?;
    it.send(11, message(1))?;
    it.isend(12, message(2), 1)?;
    it.isend_complete(13, 1)?;
    it.irecv_request(14, u64::MAX - 2)?;
    it.recv(15, message(1))?;
    it.irecv(16, message(2), u64::MAX - 2)?;
    it.irecv_request(17, 3)?;
    it.event(18, &EventData::MpiRequestTest { request: 3 })?;
    it.event(19, &EventData::MpiRequestCancelled { request: 3 })?;
    it.event(20, &EventData::MpiCollectiveBegin)?;
    it.collective_end(21, collective(CollectiveRoot::Rank(0)))?;
    it.event(22, &EventData::MpiCollectiveBegin)?;
    it.collective_end(23, collective(CollectiveRoot::None))?;
    it.event(24, &EventData::NonBlockingCollectiveRequest { request: 4 })?;
    it.non_blocking_collective_complete(25, collective(CollectiveRoot::Itself), 4)?;
    it.event(
        26,
        &EventData::CommCreate {
            communicator: WORLD,
        },
    )?;
    it.event(
        27,
        &EventData::CommDestroy {
            communicator: WORLD,
        },
    )?;
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

fn write_others(it: &mut LocationWriter) -> WriteResult<()> {
    let program = EventData::ProgramBegin {
        program_name: StringRef(0),
        arguments: vec![StringRef(1), StringRef(2)],
    };
    it.event(1, &program)?;
    it.event(
        2,
        &EventData::ThreadFork {
            model: Paradigm::OPENMP,
            threads: 4,
        },
    )?;
    it.event(3, &EventData::ThreadTeamBegin { thread_team: WORLD })?;
    it.event(4, &EventData::ThreadTeamEnd { thread_team: WORLD })?;
    it.event(
        5,
        &EventData::ThreadJoin {
            model: Paradigm::OPENMP,
        },
    )?;
    it.event(
        6,
        &EventData::ThreadCreate {
            thread_contingent: WORLD,
            sequence_count: 1,
        },
    )?;
    it.event(
        7,
        &EventData::ThreadBegin {
            thread_contingent: WORLD,
            sequence_count: 1,
        },
    )?;
    it.event(
        8,
        &EventData::ThreadEnd {
            thread_contingent: WORLD,
            sequence_count: 1,
        },
    )?;
    it.event(
        9,
        &EventData::ThreadWait {
            thread_contingent: WORLD,
            sequence_count: 1,
        },
    )?;
    for (time, measurement_mode) in [(10, MeasurementMode::OFF), (11, MeasurementMode::ON)] {
        it.event(time, &EventData::MeasurementOnOff { measurement_mode })?;
    }
    let stop_time = Timestamp(50);
    it.event(12, &EventData::BufferFlush { stop_time })?;
    let values = vec![
        MetricValue::Unsigned(7),
        MetricValue::Signed(-7),
        MetricValue::Float(0.5),
    ];
    let metric = MetricRef(0);
    it.event(13, &EventData::Metric { metric, values })?;
    let parameter = EventData::ParameterString {
        parameter: ParameterRef(0),
        string: StringRef(0),
    };
    it.event(14, &parameter)?;
    let parameter = EventData::ParameterInt {
        parameter: ParameterRef(1),
        value: -3,
    };
    it.event(15, &parameter)?;
    let parameter = EventData::ParameterUnsignedInt {
        parameter: ParameterRef(2),
        value: 3,
    };
    it.event(16, &parameter)?;
    // Any code and payload: the acquisition of a lock.
    it.event_raw(17, 57, Payload::new().u8(3).c32(1).c32(2).as_bytes())?;
    // Task switch, a record without a length.
    it.event_raw(18, 29, Payload::new().c64(5).as_bytes())?;
    it.event(19, &EventData::ProgramEnd { exit_status: None })
}

/// Parameters and metrics, which the writer leaves to `raw`.
fn define_others(definitions: &mut DefinitionsWriter) {
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
    let (_dir, path, mut archive) = archive(&[0], WriteOptions::default());
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
    let (written, text) = single(WriteOptions::default(), |it| {
        let probe = EventData::MpiProbe {
            sender: 0,
            communicator: WORLD,
            tag: 1,
            message: 9,
        };
        it.event(1, &probe).unwrap();
        it.event(
            2,
            &EventData::MpiMrecv {
                message: 9,
                length: 64,
            },
        )
        .unwrap();
        it.event(
            3,
            &EventData::MpiImrecvRequest {
                message: 10,
                request: 1,
            },
        )
        .unwrap();
        it.event(
            4,
            &EventData::MpiImrecv {
                request: 1,
                length: 64,
            },
        )
        .unwrap();
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
        AttributeValue::U8(1),
        AttributeValue::U16(2),
        AttributeValue::U32(3),
        AttributeValue::U64(4),
        AttributeValue::I8(-1),
        AttributeValue::I16(-2),
        AttributeValue::I32(-3),
        AttributeValue::I64(-4),
        AttributeValue::F32(0.5),
        AttributeValue::F64(0.25),
        AttributeValue::Location(0),
        AttributeValue::String(StringRef(0)),
        AttributeValue::Region(RegionRef(0)),
        AttributeValue::Comm(CommRef(0)),
        AttributeValue::LocationGroup(LocationGroupRef(0)),
    ];
    let (_dir, path, mut archive) = archive(&[0], WriteOptions::default());
    let attributes = values.map(|value| {
        archive
            .definitions()
            .attribute(&format!("{value:?}"), "", value.kind())
    });
    let mut location = archive.location(0).unwrap();
    for (attribute, value) in attributes.into_iter().zip(values) {
        location.attach(attribute, value).unwrap();
    }
    location.enter(1, MAIN).unwrap();
    // More attributes than the short length can hold.
    for attribute in attributes {
        location
            .attach(attribute, AttributeValue::Location(u64::MAX - 1))
            .unwrap();
        location
            .attach(
                AttributeRef(attribute.0 + 100),
                AttributeValue::U64(1 << 63),
            )
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
