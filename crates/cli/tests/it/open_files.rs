//! A trace may have many more files than a process may have open.

#![cfg(target_os = "linux")]

use std::fs;

use crate::common::Scratch;
use crate::common::directory::assert_same;

#[test]
fn a_trace_has_more_files_than_may_be_open() {
    let scratch = Scratch::in_memory();
    let halo = "simulate halo --ranks 100 --ranks-per-node 1 --events 40000 --no-truth";
    scratch.succeed(&format!("{halo} --offset 100us -o trace -q"));
    scratch.succeed("correct trace -o free -q");
    for limit in [24, 64] {
        for command in ["correct trace -o out", "undo free -o original"] {
            let script = format!("ulimit -n {limit}; exec \"$RETIME\" {command} -q");
            let outcome = scratch.shell(&script);
            assert_eq!(outcome.code, Some(0), "{limit}: {outcome:#?}");
        }
        assert_same(&scratch.join("out"), &scratch.join("free"));
        assert_same(&scratch.join("original"), &scratch.join("trace"));
        for made in ["out", "original"] {
            fs::remove_dir_all(scratch.join(made)).unwrap();
        }
    }
}
