//! Traces that others made: those of the tests of Perfetto's trace processor, encoded by Perfetto's
//! own code (`data/README.md`).

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use retime::causality::CausalityOptions;
use retime::format::{Format, FormatError};
use retime::{Causality, LocationIndex};
use retime_perfetto::Perfetto;

use crate::files::moved;

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

/// The findings in a file: locations with their events, dependencies, and what is not used.
fn content(path: &Path) -> Result<String, FormatError> {
    let trace = Perfetto.open(path)?;
    let scan = trace.scan(&())?;
    let mut told = String::new();
    for (location, it) in (0..).map(LocationIndex).zip(&scan.info.locations) {
        let process = &scan.info.processes[it.process];
        writeln!(told, "  {} / {}", process.name, it.name).unwrap();
        let mut rows = trace.rows(location)?;
        while let Some(row) = rows.next_row()? {
            let name = row.region.and_then(|it| trace.region(it));
            let at = i128::from(row.time.0) - i128::from(trace.zero().0);
            let name = name.unwrap_or_default();
            writeln!(told, "    {at} {} {}", row.kind, name.escape_debug()).unwrap();
        }
    }
    for unused in trace.unused(&scan.contents) {
        let count: u64 = unused.records.iter().sum();
        writeln!(told, "  not used: {count} {}", unused.kind).unwrap();
    }
    let options = CausalityOptions::default();
    let causality = Causality::build(&scan.info, scan.logs, options).unwrap();
    let nodes = causality.nodes();
    for node in nodes.all() {
        if let Some(send) = causality.message_source(node) {
            let at = |node| i128::from(nodes.timestamp(node).0) - i128::from(trace.zero().0);
            writeln!(told, "  message {} -> {}", at(send), at(node)).unwrap();
        }
    }
    Ok(told)
}

/// Moved, and taken back byte for byte; or why not.
fn there_and_back(path: &Path) -> Result<&'static str, FormatError> {
    let scratch = tempfile::tempdir().unwrap();
    let (out, back) = (
        scratch.path().join("out.pb"),
        scratch.path().join("back.pb"),
    );
    let trace = Perfetto.open(path)?;
    let correction = moved(&*trace, 1_000_000, 40);
    let writable = trace.rewriting().unwrap();
    let undo = writable.rewrite(&correction, &out, &())?;
    let copy = Perfetto.open(&out)?;
    copy.scan(&())?;
    let restoring = copy.rewriting().unwrap();
    restoring.restore(&correction, &undo, &back, &())?;
    assert!(
        fs::read(path).unwrap() == fs::read(&back).unwrap(),
        "{}",
        path.display()
    );
    Ok("moved and restored")
}

#[test]
fn traces_of_perfettos_tests_are_read_and_come_back() {
    let mut files: Vec<PathBuf> = fs::read_dir(data())
        .unwrap()
        .map(|it| it.unwrap().path())
        .filter(|it| it.extension().is_some_and(|it| it == "pftrace"))
        .collect();
    files.sort();
    assert!(files.len() >= 20, "{files:?}");
    let mut told = String::new();
    for file in &files {
        let said = |error: FormatError| {
            let text = error.to_string();
            text.replace(&*data().to_string_lossy(), "")
                .trim_start_matches('/')
                .to_owned()
        };
        let name = file.file_name().unwrap().to_string_lossy();
        writeln!(told, "{name}").unwrap();
        match content(file) {
            Ok(content) => told += &content,
            Err(error) => writeln!(told, "  refused: {}", said(error)).unwrap(),
        }
        match there_and_back(file) {
            Ok(words) => writeln!(told, "  {words}").unwrap(),
            Err(error) => writeln!(told, "  not written: {}", said(error)).unwrap(),
        }
    }
    let expected = data().join("expected.txt");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        fs::write(&expected, &told).unwrap();
    }
    assert_eq!(told, fs::read_to_string(&expected).unwrap());
}
