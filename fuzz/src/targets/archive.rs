//! The files of a small archive, one of them as given.
//!
//! Whatever is accepted holds together: the fast pass and the thorough reader see the
//! same events, a correction can be written and changes nothing but times, and undoing it
//! gives every byte back.

use std::fs;
use std::path::Path;

use retime::format::Format;
use retime::{Correction, LocationIndex, SavedClock};
use retime_otf2_format::Otf2;
use retime_sim::{Layout, Program, from, to};
use tempfile::TempDir;

const ANCHOR: &str = "t.otf2";
const DEFINITIONS: &str = "t.def";
const LOCAL: &str = "t/0.def";
const EVENTS: &str = "t/0.evt";

/// Two processes, with clock offsets, requests, a collective and regions.
fn program() -> Program {
    let mut program = Program::with_layout(Layout::node_per_rank(2));
    program
        .on(0)
        .clock_offset(0, 5)
        .clock_offset(9_000, 7)
        .enter(1_000, "main")
        .send(1_100, to(1))
        .irecv_request(1_200, 7)
        .isend(1_250, to(1).tag(2).bytes(300), 8)
        .irecv(3_300, from(1), 7)
        .isend_complete(3_350, 8)
        .barrier(3_400, 5_000)
        .leave(5_100, "main");
    program
        .on(1)
        .enter(600, "main")
        .recv(700, from(0))
        .recv(900, from(0).tag(2).bytes(300))
        .send(1_800, to(0))
        .barrier(2_000, 2_400)
        .leave(2_500, "main");
    program
}

/// A sound archive, in memory where the system has a place for that.
fn sound() -> TempDir {
    let shm = Path::new("/dev/shm");
    let directory = if shm.is_dir() {
        TempDir::new_in(shm)
    } else {
        TempDir::new()
    };
    let directory = directory.unwrap();
    let input = directory.path().join("in");
    fs::create_dir(&input).unwrap();
    program().write(&input.join(ANCHOR)).unwrap();
    directory
}

/// The same with one file as given.
fn with(name: &str, content: &[u8]) -> TempDir {
    let directory = sound();
    fs::write(directory.path().join("in").join(name), content).unwrap();
    directory
}

fn seed(name: &str) -> Vec<Vec<u8>> {
    vec![fs::read(sound().path().join("in").join(name)).unwrap()]
}

pub(super) fn anchors() -> Vec<Vec<u8>> {
    seed(ANCHOR)
}

pub(super) fn all_definitions() -> Vec<Vec<u8>> {
    seed(DEFINITIONS)
}

pub(super) fn all_local_definitions() -> Vec<Vec<u8>> {
    seed(LOCAL)
}

pub(super) fn all_events() -> Vec<Vec<u8>> {
    seed(EVENTS)
}

pub(super) fn anchor(input: &[u8]) -> String {
    read(&with(ANCHOR, input))
}

pub(super) fn definitions(input: &[u8]) -> String {
    read(&with(DEFINITIONS, input))
}

pub(super) fn local_definitions(input: &[u8]) -> String {
    read(&with(LOCAL, input))
}

pub(super) fn events(input: &[u8]) -> String {
    read(&with(EVENTS, input))
}

fn refused(error: impl std::fmt::Display) -> String {
    format!("refused: {error}")
}

/// Reads all that there is, in two ways.
fn read(archive: &TempDir) -> String {
    let input = archive.path().join("in");
    let trace = match retime_otf2::Trace::open(&input) {
        Ok(trace) => trace,
        Err(error) => return without(archive, &refused(error)),
    };
    let mut words = String::new();
    for location in trace.locations() {
        let glanced = trace.glance(location, &(), |_| Ok(()));
        let read = count(&trace, location);
        match (glanced, read) {
            (Ok(counts), Ok(events)) => {
                assert_eq!(counts.total(), events, "both readers see the same events");
            }
            (Err(glanced), Err(_)) => return without(archive, &refused(glanced)),
            (glanced, read) => panic!("only one reader fails: {glanced:?}, {read:?}"),
        }
    }
    let opened = Otf2.open(&input);
    match opened.and_then(|trace| Ok((trace.scan(&())?, trace))) {
        Ok((scan, trace)) => words += &trace.warnings(&scan.contents).join("; "),
        Err(error) => return without(archive, &refused(error)),
    }
    words
}

/// How many events a reader finds that looks at every record.
fn count(trace: &retime_otf2::Trace, location: LocationIndex) -> retime_otf2::Result<u64> {
    let mut events = trace.events(location)?;
    let mut count = 0;
    while let Some(event) = events.next()? {
        // Records that cannot be read are counted by a scan, no more.
        let _ = (event.data(), event.decode_attributes());
        count += 1;
    }
    Ok(count)
}

/// Errors name files, in a directory that is another one each time.
fn without(archive: &TempDir, words: &str) -> String {
    words.replace(&*archive.path().to_string_lossy(), "")
}

pub(super) fn rewriting(input: &[u8]) -> String {
    let archive = with(EVENTS, input);
    let there = archive.path().join("in");
    let opened = Otf2.open(&there);
    let (scan, trace) = match opened.and_then(|trace| Ok((trace.scan(&())?, trace))) {
        Ok(both) => both,
        Err(error) => return without(&archive, &refused(error)),
    };
    let clock = |knots: &[[u64; 2]]| SavedClock {
        locations: None,
        knots: knots.iter().map(|&knot| knot.into()).collect(),
        steps: Vec::new(),
        distance: None,
    };
    // A shift, a stretch, and a squeeze in which many stamps become one.
    for (number, knots) in [
        &[[0, 1_000_000]][..],
        &[[0, 0], [10_000, 10_100]],
        &[[0, 500], [10_000, 600]],
    ]
    .into_iter()
    .enumerate()
    {
        let correction = Correction::restore(&[clock(knots)], &scan.info).unwrap();
        let (out, back) = (
            archive.path().join(format!("out-{number}")),
            archive.path().join(format!("back-{number}")),
        );
        fs::create_dir(&out).unwrap();
        let undo = match trace.rewriting().unwrap().rewrite(&correction, &out, &()) {
            Ok(undo) => undo,
            Err(error) => return without(&archive, &refused(error)),
        };
        let written = Otf2.open(&out).unwrap();
        let again = written.scan(&()).unwrap();
        assert_eq!(again.contents, scan.contents, "nothing but times changes");
        fs::create_dir(&back).unwrap();
        written
            .rewriting()
            .unwrap()
            .restore(&correction, &undo, &back, &())
            .unwrap();
        for name in [ANCHOR, DEFINITIONS, LOCAL, EVENTS, "t/1.evt", "t/1.def"] {
            let bytes = |directory: &Path| fs::read(directory.join(name)).ok();
            assert_eq!(bytes(&there), bytes(&back), "{name} is restored");
        }
    }
    "written and restored".into()
}
