//! Applications of Debian, unchanged.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::events::Events;
use crate::running::{is_mpich, run, succeeded};

/// The path of a command, if it is installed, and built for the MPI that is tested.
fn installed(name: &str) -> Option<PathBuf> {
    let output = Command::new("sh")
        .args(["-c", &format!("command -v {name}")])
        .output()
        .unwrap();
    let path = String::from_utf8(output.stdout).unwrap();
    if path.trim().is_empty() {
        eprintln!("skipped: {name} is not installed");
        return None;
    }
    let path = PathBuf::from(path.trim());
    let libraries = Command::new("ldd").arg(&path).output().unwrap();
    let libraries = String::from_utf8_lossy(&libraries.stdout).into_owned();
    if libraries.contains("libmpich") != is_mpich() {
        eprintln!("skipped: {name} is built for another MPI");
        return None;
    }
    Some(path)
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

/// Quantum ESPRESSO: electrons of a crystal of silicon, in two pools of processes (Fortran).
#[test]
fn quantum_espresso() {
    let Some(pw) = installed("pw.x") else { return };
    let potential = Path::new("/usr/share/espresso/pseudo/Si.pz-vbc.UPF");
    if !potential.exists() {
        eprintln!("skipped: pw.x without quantum-espresso-data");
        return;
    }
    let scratch = tempfile::tempdir().unwrap();
    let dir = scratch.path();
    let input = "&control calculation='scf', prefix='silicon', outdir='./',\n\
        pseudo_dir='/usr/share/espresso/pseudo/' /\n\
        &system ibrav=2, celldm(1)=10.2, nat=2, ntyp=1, ecutwfc=12.0 /\n&electrons /\n\
        ATOMIC_SPECIES\n Si 28.086 Si.pz-vbc.UPF\nATOMIC_POSITIONS alat\n Si 0.00 0.00 0.00\n \
        Si 0.25 0.25 0.25\nK_POINTS automatic\n 2 2 2 1 1 1\n";
    fs::write(dir.join("in"), input).unwrap();
    let output = run(dir, 4, &VARIABLES, &pw, &["-npool", "2", "-in", "in"]);
    let said = succeeded(&output);
    assert!(said.contains("JOB DONE."), "{said}");
    let energy = said.lines().find(|it| it.starts_with("!    total energy"));
    assert!(energy.is_some_and(|it| it.contains("-15.794")), "{said}");
    fits(dir, 4, 10_000);
}
