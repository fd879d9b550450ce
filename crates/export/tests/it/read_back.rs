//! An exported file read again: each arrow between processes is the dependency that it was,
//! reversed ones too.

use std::fs;

use proptest::prelude::*;
use retime::causality::{CausalityOptions, EventNode};
use retime::format::{Format, SILENT_RANK};
use retime::{Causality, LocationIndex, TraceInfo};
use retime_export::{Kind, Shown, Times, dependencies};
use retime_perfetto::Perfetto;

use crate::program::Program;
use crate::random::{LOCATIONS, correction, programs};

/// An event, by the name of its location and its time.
type At = (String, u64);

/// Cause and effect of all dependencies between processes, in order.
fn between_processes(
    causality: &Causality,
    info: &TraceInfo,
    at: impl Fn(EventNode) -> At,
) -> Vec<(At, At)> {
    let process = |node| info.locations[causality.nodes().location(node).as_usize()].process;
    let all = dependencies(causality).into_iter();
    let between = all.filter(|it| process(it.cause) != process(it.effect));
    let mut found: Vec<_> = between.map(|it| (at(it.cause), at(it.effect))).collect();
    found.sort();
    found
}

/// The ids of locations as an export names them: at the end of the names of their tracks.
fn id(name: &str) -> String {
    let (_, id) = name.rsplit_once("location ").unwrap();
    id.trim_end_matches(')').to_owned()
}

fn read_back(file: &[u8]) -> (Vec<(At, At)>, u64) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("out.pftrace");
    fs::write(&path, file).unwrap();
    let trace = Perfetto.open(&path).unwrap();
    let scan = trace.scan(&()).unwrap();
    let options = CausalityOptions::default();
    let causality = Causality::build(&scan.info, scan.logs, options).unwrap();
    let nodes = causality.nodes();
    let at = |node| {
        let location = &scan.info.locations[nodes.location(node).as_usize()];
        let time = nodes.timestamp(node).0 - trace.zero().0;
        (id(&location.name), time)
    };
    let unused = trace.unused(&scan.contents).into_iter();
    // Processes that exchange nothing are no arrows that were lost.
    let unused = unused.filter(|it| it.kind != SILENT_RANK);
    (
        between_processes(&causality, &scan.info, at),
        unused.flat_map(|it| it.records).sum(),
    )
}

fn exported(
    program: &Program,
    times: Times,
    offsets: [u64; LOCATIONS],
) -> (Vec<(At, At)>, Vec<u8>) {
    let info = program.info(1_000_000_000);
    let (causality, correction) = (program.causality(&info), correction(offsets));
    let shown = Shown {
        kind: Kind::Perfetto,
        times,
        from: None,
        to: None,
        locations: (0..LOCATIONS as u32).map(LocationIndex).collect(),
        gzip: false,
    };
    let file = program
        .exported(1_000_000_000, &correction, &shown)
        .unwrap();
    let retimed = causality.retimed(&correction, &()).unwrap();
    let shown = match times {
        Times::Recorded => &causality,
        _ => &retimed,
    };
    let nodes = shown.nodes();
    let firsts = (0..LOCATIONS).filter_map(|it| Some(nodes.extent(it)?.first.0));
    let origin = firsts.min().unwrap_or_default();
    let at = |node| {
        let location = &info.locations[nodes.location(node).as_usize()];
        (location.id.to_string(), nodes.timestamp(node).0 - origin)
    };
    (between_processes(shown, &info, at), file)
}

proptest! {
    #[test]
    fn arrows_are_the_dependencies_that_they_were(
        program in programs(),
        offsets in [0_u64..300, 0..300, 0..300],
        times in prop_oneof![Just(Times::Recorded), Just(Times::Corrected)],
    ) {
        prop_assume!(program.0.iter().any(|it| !it.is_empty()));
        let (expected, file) = exported(&program, times, offsets);
        let (found, unused) = read_back(&file);
        prop_assert_eq!(found, expected);
        prop_assert_eq!(unused, 0);
    }
}
