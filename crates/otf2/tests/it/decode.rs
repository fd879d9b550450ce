//! What the records of the small archive mean.

use crate::common;
use crate::common::{file, record, small_archive, write};
use retime_otf2::definitions::DefinitionDefect;
use retime_otf2::{
    Archive, ClockCorrection, CommRef, Cursor, Definitions, Endian, EventReader, Fields, FileKind,
    GroupRef, GroupType, LocalDefinitions, Members, Paradigm, RegionRef, RegionRole, RmaWinFlags,
    RmaWinRef, StringRef, SystemTreeDomain, SystemTreeNodeRef, Value,
    schema::{self, Class},
};

fn open(files: &[common::SmallFile]) -> (tempfile::TempDir, Archive) {
    let dir = tempfile::tempdir().expect("a temporary directory");
    let anchor = write(dir.path(), files);
    let archive = Archive::open(anchor).expect("sound");
    (dir, archive)
}

fn with_definitions(records: &[&[u8]]) -> Definitions {
    let mut files = small_archive();
    files[1].1 = file(1, 0, records);
    let (_dir, archive) = open(&files);
    Definitions::read(&archive).expect("sound")
}

#[test]
fn the_anchor_is_read() {
    let (_dir, archive) = open(&small_archive());
    let anchor = archive.anchor();
    assert_eq!(anchor.version, [3, 0, 2]);
    assert_eq!(anchor.machine, b"machine");
    assert_eq!(anchor.properties, [(b"A::B".to_vec(), b"c".to_vec())]);
    assert_eq!(anchor.trace_id, Some(77));
    assert_eq!(
        (anchor.locations, anchor.snapshots, anchor.thumbnails),
        (2, 1, 1)
    );
}

/// The members of the communicator are indices 1 and 0 of the list of
/// locations 0 and 7.
#[test]
fn definitions_are_resolved() {
    let (_dir, archive) = open(&small_archive());
    let definitions = Definitions::read(&archive).expect("sound");
    let clock = definitions.clock.expect("there is one");
    assert_eq!(clock.ticks_per_second, 1_000_000_000);
    assert_eq!((clock.trace_length, clock.realtime), (100, None));
    assert_eq!(definitions.location_ids(), [0, 7]);
    let node = definitions
        .system_tree
        .get(SystemTreeNodeRef(0))
        .expect("defined");
    assert_eq!(node.domains, [SystemTreeDomain::SHARED_MEMORY]);
    let region = definitions.regions.get(RegionRef(0)).expect("defined");
    assert_eq!(definitions.text(region.name), "main");
    // Type 22 of version 1.0 is a barrier of MPI; the name was the only one.
    assert_eq!(
        (region.role, region.paradigm),
        (RegionRole::BARRIER, Paradigm::MPI)
    );
    assert_eq!(region.canonical_name, region.name);
    let world = definitions.comm_members(CommRef(0)).expect("resolved");
    assert_eq!(*world, Members::Intra([7, 0].into()));
    assert_eq!(world.rank(7), Some(0));
    assert_eq!(definitions.unknown, 1);
    assert_eq!(definitions.counts.get("Location"), Some(&2));
    assert_eq!(definitions.defects.total(), 0);
}

/// Records end where the version that wrote them had no more fields.
#[test]
fn what_old_versions_lack_follows_from_what_they_had() {
    let shown = |code: u8, payload: &[u8]| {
        let schema = schema::lookup(FileKind::GlobalDefinitions, code).expect("known");
        Fields::new(schema, Cursor::new(payload, Endian::Little))
            .map(|field| field.expect("complete"))
            .map(|field| format!("{}={}", field.name(), field.value.unsigned().unwrap_or(0)))
            .collect::<Vec<_>>()
            .join(" ")
    };
    // A property of version 1.3 is always a string.
    assert_eq!(
        shown(28, b"\x00\x01\x05\x01\x06"),
        "locationGroup=0 name=5 type=11 value=6"
    );
    // The deprecated field is ignored when the newer ones are there.
    assert_eq!(
        shown(28, b"\x00\x01\x05\x01\x06\x04\x01\x09"),
        "locationGroup=0 name=5 type=4 value=9"
    );
    // A region of version 1.1 that ends after the first of the newer fields.
    assert_eq!(
        shown(15, b"\x00\x01\x05\x00\x1d\x00\x00\x00\x01\x08"),
        "self=0 name=5 description=0 sourceFile=0 beginLineNumber=0 endLineNumber=0 \
         canonicalName=8 regionRole=4 paradigm=1 regionFlags=3"
    );
    assert_eq!(
        shown(18, b"\x00\x01\x05\x04\x00"),
        "self=0 name=5 numberOfMembers=0 groupType=5 paradigm=4 groupFlags=0"
    );
    assert_eq!(shown(24, b"\x00\x00\x00"), "self=0 name=0 comm=0 flags=1");
}

#[test]
fn references_without_target_and_duplicates_are_reported() {
    let definitions = with_definitions(&[
        &record(10, b"\x00a\0"),
        &record(10, b"\x00b\0"),
        &record(14, b"\x01\x05\x01\x09\x01\x00\xff"),
        &record(22, b"\x01\x02\x00\x01\x08\xff"),
    ]);
    let shown: Vec<String> = definitions
        .defects
        .first()
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        shown,
        [
            "String 0 is defined twice",
            "there is no ClockProperties record",
            "Location.name refers to String 9, which is not defined",
            "Comm.group refers to Group 8, which is not defined",
            "the ranks of communicator 2 cannot be related to locations",
        ]
    );
    assert_eq!(definitions.text(StringRef(0)), "a");
}

/// As EZTrace writes it: group 0 lists locations, then ranks.
#[test]
fn a_group_that_is_defined_twice_serves_both_purposes() {
    let definitions = with_definitions(&[
        &record(22, b"\x00\x00\x00\xff"),
        &record(18, b"\x00\x00\x06\x01\x02\x01\x05\x01\x09\x04\x04\x00"),
        &record(18, b"\x00\x00\x04\x01\x02\x01\x01\x00\x05\x04\x00"),
    ]);
    let members = definitions.comm_members(CommRef(0)).expect("resolved");
    assert_eq!(*members, Members::Intra([9, 5].into()));
    let kinds: Vec<GroupType> = definitions
        .groups
        .all(GroupRef(0))
        .map(|g| g.kind)
        .collect();
    assert_eq!(kinds, [GroupType::COMM_LOCATIONS, GroupType::COMM_GROUP]);
    let duplicate = DefinitionDefect::Duplicate {
        record: "Group",
        id: 0,
    };
    assert!(definitions.defects.first().contains(&duplicate));
}

#[test]
fn every_kind_of_communicator_is_resolved() {
    let definitions = with_definitions(&[
        // Global members; self; indices of another paradigm than the world's.
        &record(
            18,
            b"\x01\x01\x00\x04\x01\x02\x01\x01\x01\x02\x05\x04\x01\x01",
        ),
        &record(18, b"\x01\x02\x00\x05\x00\x06\x04\x00"),
        &record(18, b"\x01\x03\x00\x00\x01\x01\x00\x05\x07\x00"),
        &record(
            18,
            b"\x01\x04\x00\x06\x01\x03\x01\x09\x01\x03\x01\x04\x04\x04\x00",
        ),
        &record(18, b"\x01\x05\x00\x04\x01\x02\x01\x01\x01\x02\x05\x04\x00"),
        &record(22, b"\x01\x01\x00\x01\x01\xff\x00"),
        &record(22, b"\x01\x02\x00\x01\x02\xff\x00"),
        &record(22, b"\x01\x03\x00\x01\x03\xff\x00"),
        &record(22, b"\x01\x04\x00\x01\x04\xff\x00"),
        &record(43, b"\x01\x05\x00\x01\x05\x01\x04\xff\x00"),
        &record(43, b"\x01\x07\x00\x01\x01\x01\x04\xff\x00"),
        &record(24, b"\x01\x06\x00\x01\x05"),
    ]);
    let location = |comm, own, rank| definitions.comm_members(CommRef(comm))?.location(own, rank);
    // Ranks in events are those of the world, though two of its three take part.
    assert_eq!(location(1, 3, 0), Some(9));
    assert_eq!(location(1, 3, 1), Some(3));
    let global = definitions.comm_members(CommRef(1)).expect("resolved");
    assert_eq!((global.rank(4), global.size()), (Some(2), 2));
    assert_eq!(definitions.comm_members(CommRef(7)), None);
    assert_eq!(location(2, 77, 0), Some(77));
    assert_eq!(location(2, 77, 1), None);
    assert_eq!(definitions.comm_members(CommRef(3)), None);
    assert_eq!(location(4, 9, 0), Some(9));
    assert_eq!(location(5, 9, 1), Some(4));
    assert_eq!(location(5, 3, 0), Some(9));
    assert_eq!(
        definitions.window_members(RmaWinRef(6)),
        definitions.comm_members(CommRef(5))
    );
    assert_eq!(
        definitions.windows.get(RmaWinRef(6)).map(|w| w.flags),
        Some(RmaWinFlags::CREATE_DESTROY_EVENTS)
    );
}

/// Location group 3 has a metric and two threads, group 4 a stream, 5 nothing.
#[test]
fn a_rank_may_be_a_location_group() {
    let location = |id: u8, kind: u8, group: u8| record(14, &[1, id, 0, kind, 0, 1, group]);
    let definitions = with_definitions(&[
        &location(30, 3, 3),
        &location(31, 1, 3),
        &location(32, 1, 3),
        &location(40, 2, 4),
        // MPI: groups 4 and 3, of which a communicator has the second; HIP: 3 and 5.
        &record(18, b"\x01\x01\x00\x00\x01\x02\x01\x04\x01\x03\x07\x04\x00"),
        &record(18, b"\x01\x02\x00\x04\x01\x01\x01\x01\x05\x04\x00"),
        &record(18, b"\x01\x03\x00\x00\x01\x02\x01\x03\x01\x05\x07\x17\x00"),
        &record(22, b"\x01\x01\x00\x01\x01\xff\x00"),
        &record(22, b"\x01\x02\x00\x01\x02\xff\x00"),
        &record(22, b"\x01\x03\x00\x01\x03\xff\x00"),
    ]);
    let members = |comm| definitions.comm_members(CommRef(comm)).cloned();
    assert_eq!(members(1), Some(Members::Intra([40, 31].into())));
    assert_eq!(members(2), Some(Members::Intra([31].into())));
    assert_eq!(members(3), None);
    let ranks = |paradigm| definitions.ranks(paradigm).map(|it| it.to_vec());
    assert_eq!(ranks(Paradigm::MPI), Some(vec![40, 31]));
    assert_eq!(ranks(Paradigm::HIP), None);
    let dangling = DefinitionDefect::Dangling {
        record: "Group",
        field: "members",
        class: Class::LocationGroup,
        target: 5,
    };
    assert!(definitions.defects.first().contains(&dangling));
}

#[test]
fn events_are_decoded_raw_and_mapped() {
    let (_dir, archive) = open(&small_archive());
    let local = LocalDefinitions::read(&archive, 0).expect("sound");
    let shown = |mut events: EventReader| {
        let mut shown = Vec::new();
        while let Some(event) = events.next().expect("sound") {
            let fields: Vec<String> = event
                .decode()
                .expect("sound")
                .iter()
                .map(|field| match field.value {
                    Value::Unsigned(value) => format!("{}={value}", field.name()),
                    Value::Signed(value) => format!("{}={value}", field.name()),
                    _ => String::new(),
                })
                .collect();
            let attributes = event.decode_attributes().expect("sound");
            let attributes: Vec<_> = attributes
                .iter()
                .map(|it| (it.attribute.0, it.value.value().unsigned()))
                .collect();
            shown.push((
                event.time % 1_000_000,
                event.name(),
                fields.join(" "),
                attributes,
            ));
        }
        assert_eq!(events.unknown(), 1);
        shown
    };
    let raw = shown(EventReader::raw(&archive, 0).expect("sound"));
    let attribute = (0, Some(26_601));
    let begin = "programName=1 numberOfArguments=0".to_owned();
    assert_eq!(raw[0], (622_557, "ProgramBegin", begin, vec![attribute]));
    assert_eq!((raw[1].1, raw[1].2.as_str()), ("Enter", "region=3"));
    assert_eq!(
        raw[2].2,
        "receiver=1 communicator=0 msgTag=10 msgLength=16384"
    );
    let metric = "metric=0 numberOfMetrics=2 typeIDs=4 metricValues=5 typeIDs=8 metricValues=0";
    assert_eq!(raw[3].2, metric);
    assert_eq!((raw[4].1, raw[4].2.as_str()), ("Unknown", ""));
    assert_eq!(raw[5].2, "exitStatus=-9223372036854775808");

    let mapped = shown(EventReader::mapped(&archive, &local).expect("sound"));
    // 77,443 ticks into an interval of 100,000 that gains 10 ticks.
    assert_eq!(
        (raw[1].0, mapped[0].0, mapped[1].0),
        (700_000, 622_567, 700_018)
    );
    assert_eq!(mapped[1].2, "region=0");
}

#[test]
fn one_clock_offset_corrects_nothing_and_two_extrapolate() {
    let one = ClockCorrection::new(&[(100, 7)]).expect("ordered");
    assert!(one.is_identity());
    assert_eq!(one.cursor().correct(100), 100);
    assert!(ClockCorrection::new(&[(100, 7), (100, 8)]).is_none());
    let two = ClockCorrection::new(&[(100, 0), (200, 100)]).expect("ordered");
    assert_eq!(two.cursor().correct(300), 500);
    assert_eq!(two.cursor().correct(0), 0_u64.wrapping_sub(100));
}

#[test]
fn the_clock_cursor_never_goes_back() {
    let bent = ClockCorrection::new(&[(0, 0), (100, 0), (200, 100)]).expect("ordered");
    let mut cursor = bent.cursor();
    assert_eq!(cursor.correct(50), 50);
    assert_eq!(cursor.correct(150), 200);
    // Extrapolated backwards from the second interval.
    assert_eq!(cursor.correct(50), 0);
}

/// Halves go to the even neighbour, and differences are taken exactly.
#[test]
fn clock_shifts_are_rounded_as_libotf2_does() {
    let half = ClockCorrection::new(&[(0, 0), (2, 1)]).expect("ordered");
    let shifts: Vec<u64> = (0..6).map(|t| half.cursor().correct(t) - t).collect();
    assert_eq!(shifts, [0, 0, 1, 2, 2, 2]);
    let far = 1 << 63;
    let exact = ClockCorrection::new(&[(far, -3), (far + 10, -3)]).expect("ordered");
    assert_eq!(exact.cursor().correct(far + 7), far + 4);
}

/// The end of a flush is a second time and moves the clock on.
#[test]
fn the_end_of_a_flush_is_corrected() {
    let mut files = small_archive();
    let offset = |time: u64, offset: u8| {
        let tail = [&[1, offset][..], &0_f64.to_le_bytes()].concat();
        record(6, &[&time.to_le_bytes()[..], &tail].concat())
    };
    files[2].1 = file(
        1,
        2,
        &[
            &common::time(50),
            &record(10, &150_u64.to_le_bytes()),
            &common::time(60),
            &[0x0c, 0x00],
        ],
    );
    files[3].1 = file(1, 0, &[&offset(0, 0), &offset(100, 0), &offset(200, 100)]);
    let (_dir, archive) = open(&files);
    let local = LocalDefinitions::read(&archive, 0).expect("sound");
    let mut events = EventReader::mapped(&archive, &local).expect("sound");
    let flush = events.next().expect("sound").expect("an event");
    assert_eq!(flush.time, 50);
    assert_eq!(
        flush.fields().get("stopTime"),
        Ok(Some(Value::Unsigned(200)))
    );
    assert_eq!(events.next().expect("sound").expect("an event").time, 20);
}
