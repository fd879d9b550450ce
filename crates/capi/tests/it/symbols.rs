//! The symbols of the shared library: those of the header, and no others.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use crate::machine::{has, here, libraries, run};

/// The functions that a header declares.
pub(crate) fn declared(header: &str) -> BTreeSet<String> {
    let code = header.split("extern \"C\" {").nth(1).unwrap();
    let names = code.split('(').filter_map(|before| {
        let name = before.rsplit([' ', '*', '\n']).next()?;
        name.starts_with("retime_").then(|| name.to_owned())
    });
    // Comments name functions too.
    names
        .filter(|it| code.contains(&format!(" {it}(")) || code.contains(&format!("*{it}(")))
        .collect()
}

#[test]
fn the_library_exports_what_the_header_declares() {
    if !has("nm") {
        return;
    }
    let header = fs::read_to_string(here().join("include/retime.h")).unwrap();
    let library = libraries().join("libretime.so");
    let listed = run(Command::new("nm")
        .args(["-D", "--defined-only"])
        .arg(&library));
    let exported: BTreeSet<String> = listed
        .lines()
        .filter_map(|line| line.rsplit(' ').next())
        .map(str::to_owned)
        .collect();
    assert_eq!(exported, declared(&header));
    if has("readelf") {
        let dynamic = run(Command::new("readelf").arg("-d").arg(&library));
        assert!(dynamic.contains("[libretime.so.0]"), "{dynamic}");
    }
}
