//! All that mpi.h declares: the clock rides on it, or it is refused by name, or it is harmless.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::{Command, Stdio};

use crate::running::{given, of_mpi};

const REFUSED: &str = include_str!("../../shim/refused.txt");
const HARMLESS: &str = include_str!("harmless.txt");

/// The names below the reasons of a list.
fn names(list: &str) -> BTreeSet<String> {
    let lines = list.lines().filter(|it| it.starts_with(' '));
    let names = lines.flat_map(str::split_whitespace);
    let full = |it: &str| {
        if it.starts_with("MPIX_") {
            it.to_owned()
        } else {
            format!("MPI_{it}")
        }
    };
    names.map(full).collect()
}

/// The functions of `mpi.h`, by their prototypes.
fn declared() -> BTreeSet<String> {
    let mut compiler = Command::new(of_mpi("mpicc"))
        .args(["-E", "-P", "-x", "c", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut source = compiler.stdin.take().unwrap();
    source.write_all(b"#include <mpi.h>\n").unwrap();
    drop(source);
    let output = compiler.wait_with_output().unwrap();
    let header = String::from_utf8(output.stdout).unwrap();
    let statements = header
        .split(';')
        .filter(|it| !it.trim_start().starts_with("typedef"));
    statements.filter_map(call_of).collect()
}

/// The name of MPI before the first parenthesis that follows one; constants have no small letter.
fn call_of(prototype: &str) -> Option<String> {
    let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let opened = prototype.match_indices('(');
    let mut before = opened.map(|(at, _)| prototype[..at].trim_end());
    before.find_map(|it| {
        let name = it.rsplit(|it| !is_part(it)).next()?;
        let is_call = name.starts_with("MPI_") || name.starts_with("MPIX_");
        let is_call = is_call && name.contains(|it: char| it.is_ascii_lowercase());
        is_call.then(|| name.to_owned())
    })
}

/// The functions that the library stands before.
fn stood_before() -> BTreeSet<String> {
    let output = Command::new("nm")
        .args(["-D", "--defined-only"])
        .arg(given("RETIME_PMPI"))
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let symbols = text.lines().filter_map(|it| it.split(' ').next_back());
    let calls = symbols.filter(|it| it.starts_with("MPI_") || it.starts_with("MPIX_"));
    calls.map(str::to_owned).collect()
}

#[test]
fn every_call_is_carried_or_refused_or_harmless() {
    let (declared, stood_before) = (declared(), stood_before());
    assert!(declared.len() > 350, "{declared:?}");
    let (refused, harmless) = (names(REFUSED), names(HARMLESS));
    let is_harmless = |call: &str| {
        harmless.iter().any(|it| match it.strip_suffix('*') {
            Some(beginning) => call.starts_with(beginning),
            None => it == call,
        })
    };
    for call in &declared {
        let is_refused = refused.contains(call);
        assert!(
            stood_before.contains(call) || !is_refused && is_harmless(call),
            "{call} is neither carried nor refused nor known to be harmless"
        );
        assert!(
            !stood_before.contains(call) || is_refused || !harmless.contains(call),
            "{call} is carried, and said to be harmless"
        );
    }
    let unknown: Vec<_> = stood_before.difference(&declared).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
    let carried = stood_before.difference(&refused).count();
    let refused = stood_before.intersection(&refused).count();
    eprintln!(
        "{} calls: {carried} carried, {refused} refused",
        declared.len()
    );
}
