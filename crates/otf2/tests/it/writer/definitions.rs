//! Definitions, the anchor and markers.

use std::fs;

use retime_otf2::writer::{Message, WriteOptions};
use retime_otf2::{
    Anchor, CommRef, GroupType, MappingType, MarkerScope, MarkerSeverity, Paradigm, RegionRef,
    RegionRole,
};

use super::{MAIN, SMALL, WORLD, archive, message, single, small};
use crate::judge::{self, lines, otf2_print};

#[test]
fn local_ids_and_clocks_are_translated() {
    let (_dir, path, mut archive) = archive(&[0], WriteOptions::default());
    let definitions = archive.definitions();
    for name in ["a", "b"] {
        definitions.region(name, RegionRole::FUNCTION, Paradigm::USER);
    }
    let mut location = archive.location(0).unwrap();
    location.local().dense_map(MappingType::REGION, &[2, 1, 0]);
    location.local().sparse_map(MappingType::COMM, &[(9, 0)]);
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
    let group = definitions.group("half", GroupType::COMM_GROUP, Paradigm::MPI, &ids[..1000]);
    let rest = definitions.group("rest", GroupType::COMM_GROUP, Paradigm::MPI, &ids[1000..]);
    let half = definitions.comm("half", group, Some(WORLD));
    definitions.inter_comm("bridge", group, rest, Some(half));
    let own = definitions.group("", GroupType::COMM_SELF, Paradigm::MPI, &[]);
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
    let options = WriteOptions {
        resolution: 2_095_197_216,
        range: Some((7, 1007)),
        realtime: Some(1_700_000_000_000_000_000),
        machine: "lab".into(),
        creator: "test".into(),
        description: "two words".into(),
        properties: vec![("RETIME::KEY".into(), "value".into())],
        trace_id: 0xABCD,
        ..WriteOptions::default()
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

/// Version 3.0 of the library refuses such names, versions from 3.1 on write them.
#[test]
fn names_of_properties_may_have_a_minus() {
    let options = WriteOptions {
        properties: vec![("SCORE-P::KEY-1".into(), "value".into())],
        ..WriteOptions::default()
    };
    let (_dir, path, archive) = archive(&[0], options);
    archive.finish([]).unwrap();
    let anchor = Anchor::read(&path).unwrap();
    let property = (b"SCORE-P::KEY-1".to_vec(), b"value".to_vec());
    assert_eq!(anchor.properties, [property]);
}

#[test]
fn markers() {
    let (_dir, path, mut archive) = archive(&[0], WriteOptions::default());
    let kind = archive
        .markers()
        .define("group", "category", MarkerSeverity::HIGH);
    archive
        .markers()
        .mark(5, 3, kind, MarkerScope::Location(0), "here");
    archive
        .markers()
        .mark(9, 0, kind, MarkerScope::Global, "everywhere");
    archive.finish([]).unwrap();
    let Some(text) = judge::run("otf2-marker", &path, &[]) else {
        return;
    };
    for word in ["group", "category", "HIGH", "here", "everywhere"] {
        assert!(text.contains(word), "{word}\n{text}");
    }
}
