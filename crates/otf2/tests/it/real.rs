//! Definitions of real traces, and what is needed to read them.

use crate::common;
use std::fs;

use retime_otf2::definitions::DefinitionDefect;
use retime_otf2::{Archive, CommRef, Definitions, Error, LocalDefinitions, Members, Result};

fn locals(archive: &Archive) -> Result<Vec<LocalDefinitions>> {
    let definitions = Definitions::read(archive)?;
    LocalDefinitions::read_all(archive, &definitions.location_ids(), &())
}

/// EZTrace writes ids out of order, group 0 twice, and wrong event counts.
#[test]
fn eztrace_communicators_are_resolved() {
    let Some((_dir, path)) = common::unpack("ezr1") else {
        return;
    };
    let archive = Archive::open(path.join("ring_trace")).expect("sound");
    let definitions = Definitions::read(&archive).expect("sound");
    let locations = [0, 536_870_911, 1_073_741_822, 1_610_612_733];
    assert_eq!(definitions.location_ids(), locations);
    let world = definitions.comm_members(CommRef(0)).expect("resolved");
    assert_eq!(*world, Members::Intra(locations.into()));
    let alone = definitions
        .comm_members(CommRef(1_610_612_734))
        .expect("resolved");
    assert_eq!(*alone, Members::Intra([1_610_612_733].into()));
    let duplicate = DefinitionDefect::Duplicate {
        record: "Group",
        id: 0,
    };
    assert_eq!(definitions.defects.first(), [duplicate]);
}

#[test]
fn score_p_definitions_are_resolved() {
    let Some((_dir, path)) = common::unpack("ping-pong-otf2") else {
        return;
    };
    let archive = Archive::open(&path).expect("sound");
    let definitions = Definitions::read(&archive).expect("sound");
    let clock = definitions.clock.expect("there is one");
    assert_eq!(clock.ticks_per_second, 2_095_197_216);
    let world = definitions.comm_members(CommRef(1)).expect("resolved");
    assert_eq!(world.location(0, 1), Some(1));
    let locals = locals(&archive).expect("sound");
    assert!(locals[0].clock.is_identity());
    assert!(!locals[1].clock.is_identity());
    assert!(locals.iter().all(|local| !local.mappings.is_empty()));
}

/// Without its file, communicator 0 of a location would be another one.
#[test]
fn a_lost_or_damaged_local_definition_file_is_an_error() {
    let Some((_dir, path)) = common::unpack("ping-pong-otf2") else {
        return;
    };
    let archive = Archive::open(&path).expect("sound");
    let file = archive.local_definitions_path(0);
    let bytes = fs::read(&file).expect("read");
    for length in [0, 1, 17, 18, 40, bytes.len() - 2] {
        fs::write(&file, &bytes[..length]).expect("written");
        let archive = Archive::open(&path).expect("sound");
        let error = locals(&archive).expect_err("refused");
        assert!(
            matches!(error, Error::Truncated { .. }),
            "{length}: {error}"
        );
    }
    fs::remove_file(&file).expect("removed");
    let error = locals(&archive).expect_err("refused");
    assert!(
        matches!(&error, Error::MissingFile { path, .. } if *path == file),
        "{error}"
    );
}

/// Archives that do without some or all of these files.
#[test]
fn absent_local_definition_files_are_accepted() {
    for name in ["alltypes", "alltypes32", "t0a", "t0b"] {
        let Some((_dir, path)) = common::unpack(name) else {
            return;
        };
        let archive = Archive::open(&path).expect("sound");
        assert!(locals(&archive).is_ok(), "{name}");
    }
    // These files exist, but say nothing.
    let Some((_dir, path)) = common::unpack("rtns.mono") else {
        return;
    };
    let archive = Archive::open(&path).expect("sound");
    fs::remove_file(archive.local_definitions_path(2)).expect("removed");
    assert!(locals(&archive).is_ok());
}
