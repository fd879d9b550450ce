//! The examples, built and run as their users would.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::machine::{Language, Linked, build, has, here, run};

/// The bundled recording of a real run, unpacked.
pub(crate) fn recording(into: &Path) -> PathBuf {
    let packed = fs::File::open(here().join("../cli/demo/halo.tar.zst")).unwrap();
    let tar = ruzstd::decoding::StreamingDecoder::new(packed).unwrap();
    tar::Archive::new(tar).unpack(into).unwrap();
    let found = find(into).expect("the recording has an anchor file");
    found.parent().unwrap().to_owned()
}

/// The first anchor file below a directory, by name.
fn find(directory: &Path) -> Option<PathBuf> {
    let entries = fs::read_dir(directory)
        .unwrap()
        .map(|it| it.unwrap().path());
    let mut entries: Vec<_> = entries.collect();
    entries.sort();
    let is_anchor = |it: &&PathBuf| it.extension().is_some_and(|it| it == "otf2");
    let here = entries.iter().find(is_anchor).cloned();
    here.or_else(|| {
        entries
            .iter()
            .filter(|it| it.is_dir())
            .find_map(|it| find(it))
    })
}

/// An example that is built once for each way of linking, and run.
fn example(name: &str, arguments: impl Fn(&Path) -> Vec<PathBuf>) -> Option<Vec<String>> {
    let source = here().join("examples").join(name);
    let language = Language::of(&source).unwrap();
    if !has(language.compiler()) {
        return None;
    }
    let told = [Linked::Shared, Linked::Static].map(|linked| {
        let place = tempfile::tempdir().unwrap();
        let program = build(&source, linked, place.path());
        run(Command::new(program).args(arguments(place.path())))
    });
    Some(told.into())
}

#[test]
fn correct_in_c_corrects_the_recording() {
    let trace = tempfile::tempdir().unwrap();
    recording(trace.path());
    let recorded = find(trace.path()).unwrap();
    let told = example("correct.c", |place| {
        vec![recorded.clone(), place.join("out")]
    });
    for told in told.into_iter().flatten() {
        let lines: Vec<_> = told.lines().collect();
        assert!(
            lines[0].contains(": 32689 of 60004 dependencies violated, the worst by "),
            "{told}"
        );
        assert!(told.contains("no contradiction left"), "{told}");
        assert!(
            told.contains("out: 0 of 60004 dependencies violated"),
            "{told}"
        );
        assert_eq!(
            lines.iter().filter(|it| it.contains("within -")).count(),
            4,
            "{told}"
        );
    }
}

#[test]
fn ordered_log_in_c_is_causally_sorted() {
    let told = example("ordered_log.c", |_| vec!["200".into()]);
    for told in told.into_iter().flatten() {
        let last = told.lines().last().unwrap();
        // Each question arrives 100 ms early by the physical clock, unless it took that long.
        let reversed: u32 = last.split(' ').nth(3).unwrap().parse().unwrap();
        assert!(last.starts_with("of 400 messages "), "{last}");
        assert!(
            reversed > 150 && last.ends_with(" 0 by the logical ones"),
            "{last}"
        );
        assert_eq!(told.lines().count(), 801);
    }
}

#[test]
fn monitor_in_cpp_feeds_the_filter() {
    for told in example("monitor.cpp", |_| Vec::new()).into_iter().flatten() {
        let last = told.lines().last().unwrap();
        assert!(last.starts_with("84 events came, 84 left; "), "{last}");
        assert!(last.ends_with(", 0 events forced"), "{last}");
        assert_eq!(told.lines().count(), 85);
    }
}

#[test]
fn correct_in_fortran_corrects_and_takes_it_back() {
    let trace = tempfile::tempdir().unwrap();
    recording(trace.path());
    let recorded = find(trace.path()).unwrap();
    let arguments = |place: &Path| vec![recorded.clone(), place.join("out"), place.join("back")];
    for told in example("correct.f90", arguments).into_iter().flatten() {
        assert!(told.contains("no contradiction left"), "{told}");
    }
}

#[test]
fn barrier_in_fortran_is_left_by_nobody_too_early() {
    for told in example("barrier.f90", |_| Vec::new()).into_iter().flatten() {
        assert!(
            told.contains("times a barrier was left too early"),
            "{told}"
        );
        assert!(
            told.contains(concat!("libretime ", env!("CARGO_PKG_VERSION"))),
            "{told}"
        );
    }
}
