//! Input files, and changes to them.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use retime_sim::{Layout, Program, from, to};

use crate::archives::small_archive;
use crate::common::{Scratch, directory, traces};

/// Content by path below the directory of the case.
pub(super) type Files = BTreeMap<String, Vec<u8>>;

pub(super) fn none() -> Files {
    Files::new()
}

pub(super) fn files_in(dir: &Path) -> Files {
    let files = directory::tree(dir).into_iter();
    files
        .filter_map(|(name, content)| Some((name.to_str().unwrap().to_owned(), content?)))
        .collect()
}

/// A program as `trace/traces.otf2`.
pub(super) fn archive(program: &Program) -> Files {
    let scratch = Scratch::new();
    traces::write(scratch.path(), "trace", program);
    files_in(scratch.path())
}

/// A ping-pong of two processes whose clocks disagree.
pub(super) fn ping_pong() -> Program {
    let mut program = Program::with_layout(Layout::node_per_rank(2));
    program
        .on(0)
        .enter(1_000, "main")
        .send(1_100, to(1))
        .recv(3_300, from(1))
        .leave(4_000, "main");
    program
        .on(1)
        .enter(100, "main")
        .recv(700, from(0))
        .send(1_800, to(0))
        .leave(2_000, "main");
    program
}

pub(super) fn trace() -> Files {
    archive(&ping_pong())
}

pub(super) fn with(mut files: Files, name: &str, content: impl Into<Vec<u8>>) -> Files {
    files.insert(name.into(), content.into());
    files
}

pub(super) fn without(mut files: Files, name: &str) -> Files {
    files.remove(name).unwrap();
    files
}

pub(super) fn changed(mut files: Files, name: &str, change: impl FnOnce(&mut Vec<u8>)) -> Files {
    change(files.get_mut(name).unwrap());
    files
}

/// An archive that is known byte by byte, as `t.otf2`.
pub(super) fn small() -> Files {
    let files = small_archive().into_iter();
    files
        .map(|(name, content)| (name.to_owned(), content))
        .collect()
}

/// The ping-pong as `retime correct` leaves it.
pub(super) fn corrected() -> Files {
    let scratch = Scratch::new();
    traces::write(scratch.path(), "original", &ping_pong());
    scratch.succeed("correct original -o trace --quiet --method clc --bounds off");
    fs::remove_dir_all(scratch.join("original")).unwrap();
    files_in(scratch.path())
}
