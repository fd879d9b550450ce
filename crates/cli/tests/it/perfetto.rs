//! Traces of Perfetto: jobs as PyTorch and rocprof write them, and what `export` writes.

use std::fs;

use retime_testing::kineto::{KinetoRun, Style};
use retime_testing::perfetto::{Shape, packets};

use crate::common::Scratch;
use crate::common::directory::assert_same;

/// Writes the packets of a small job into the directory `run`.
fn job(scratch: &Scratch, shape: Shape) {
    let run = KinetoRun {
        ranks: 4,
        ranks_per_host: 1,
        iterations: 4,
        filler: 1,
        ..KinetoRun::training(Style::Nccl)
    };
    run.write(&scratch.join("json")).unwrap();
    fs::create_dir(scratch.join("run")).unwrap();
    for rank in 0..run.ranks {
        let profile = fs::read(scratch.join(&format!("json/rank{rank}.pt.trace.json"))).unwrap();
        let file = packets(&profile, shape).unwrap();
        fs::write(scratch.join(&format!("run/rank{rank}.pftrace")), file).unwrap();
    }
}

/// What a command says that ends with this code; the job has warnings.
#[track_caller]
fn said(scratch: &Scratch, arguments: &str, code: i32) -> String {
    let outcome = scratch.retime(arguments);
    assert_eq!(outcome.code, Some(code), "{outcome:#?}");
    outcome.stdout
}

#[test]
fn jobs_are_corrected_and_restored() {
    for shape in [Shape::PyTorch, Shape::Stages, Shape::Rocprof] {
        let scratch = Scratch::new();
        job(&scratch, shape);
        said(&scratch, "check run", 1);
        let summary = said(&scratch, "correct run -o out", 0);
        assert!(summary.contains("(Perfetto)"), "{summary}");
        assert!(summary.contains("no contradiction left"), "{summary}");
        said(&scratch, "check out", 0);
        said(&scratch, "undo out -o back", 0);
        assert_same(&scratch.join("run"), &scratch.join("back"));
        // Files one by one, with ranks from their paths.
        let files = "run/rank0.pftrace run/rank1.pftrace run/rank2.pftrace run/rank3.pftrace";
        let command = format!("correct {files} -o files --rank-from rank(\\d+)");
        said(&scratch, &command, 0);
        let read = |path: &str| fs::read(scratch.join(path)).unwrap();
        assert!(read("files/rank2.pftrace") == read("out/rank2.pftrace"));
    }
}

/// The arrows of an export are the dependencies of the trace, reversed ones too.
#[test]
fn what_export_writes_is_read() {
    let scratch = Scratch::new();
    scratch.succeed("demo --keep kept");
    let outcome = scratch.retime("export kept/halo -o halo.pftrace --times recorded -q");
    outcome.expect_code(1);
    let original = said(&scratch, "check kept/halo", 1);
    let summary = said(&scratch, "check halo.pftrace -v", 1);
    let told = "32,689 of 60,004 dependencies";
    assert!(original.contains(told), "{original}");
    assert!(summary.contains(told), "{summary}");
    assert!(!summary.contains("arrow end"), "{summary}");
    said(&scratch, "correct halo.pftrace -o corrected.pftrace", 0);
    said(&scratch, "check corrected.pftrace", 0);
}

/// With a format that is named the other kind is copied, as the message says.
#[test]
fn a_directory_of_both_kinds_is_one_kind_if_that_is_said() {
    let scratch = Scratch::new();
    job(&scratch, Shape::PyTorch);
    fs::copy(
        scratch.join("json/rank0.pt.trace.json"),
        scratch.join("run/other.json"),
    )
    .unwrap();
    for arguments in ["check run", "check run --rank-from rank(\\d+)"] {
        let outcome = scratch.retime(arguments);
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        let told = "run: holds profiles of both kinds";
        assert!(outcome.stderr.contains(told), "{outcome:?}");
    }
    said(&scratch, "check run --format perfetto", 1);
}
