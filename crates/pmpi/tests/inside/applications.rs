//! Applications of Debian, unchanged.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::events::Events;
use crate::running::{run, succeeded};

/// The path of a command, if it is installed.
fn installed(name: &str) -> Option<std::path::PathBuf> {
    let output = Command::new("sh")
        .args(["-c", &format!("command -v {name}")])
        .output()
        .unwrap();
    let path = String::from_utf8(output.stdout).unwrap();
    if path.trim().is_empty() {
        eprintln!("skipped: {name} is not installed");
        return None;
    }
    Some(path.trim().into())
}

const VARIABLES: [(&str, &str); 2] = [("RETIME_CLOCK", "controlled"), ("RETIME_EVENTS", "events")];

fn fits(dir: &Path, size: u32, events: usize) {
    let found = Events::read(&dir.join("events"), size);
    assert!(found.count() > events, "{}", found.count());
    eprintln!("{} events", found.count());
    found.reversed_but_repaired();
}

/// Molecular dynamics (C++).
#[test]
fn lammps() {
    let Some(lmp) = installed("lmp") else { return };
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    let input = "units lj\natom_style atomic\nlattice fcc 0.8442\nregion box block 0 6 0 6 0 6\n\
        create_box 1 box\ncreate_atoms 1 box\nmass 1 1.0\nvelocity all create 1.44 87287 loop geom\n\
        pair_style lj/cut 2.5\npair_coeff 1 1 1.0 1.0 2.5\nneighbor 0.3 bin\nfix 1 all nve\n\
        thermo 50\nrun 100\n";
    fs::write(dir.join("in"), input).unwrap();
    succeeded(&run(
        dir,
        4,
        &VARIABLES,
        &lmp,
        &["-in", "in", "-log", "none"],
    ));
    fits(dir, 4, 5_000);
}

/// The HPC Challenge: linear algebra, transposition, Fourier transforms, random access (C).
#[test]
fn hpcc() {
    let Some(hpcc) = installed("hpcc") else {
        return;
    };
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    let input = "input\nnone\nHPL.out\n8\n1\n200\n1\n40\n0\n1\n2\n2\n16.0\n1\n2\n1\n4\n1\n2\n1\n1\n1\n1\n1\n0\n1\n1\n64\n0\n0\n1\n8\n\
        0\n0\n1\n200\n0\n0\n";
    fs::write(dir.join("hpccinf.txt"), input).unwrap();
    succeeded(&run(dir, 4, &VARIABLES, &hpcc, &[""; 0]));
    let said = fs::read_to_string(dir.join("hpccoutf.txt")).unwrap();
    assert!(said.contains("Success=1"), "{said}");
    fits(dir, 4, 1_000);
}
