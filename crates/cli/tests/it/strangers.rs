//! Options that have no part in what is asked for are refused, and those that have one are heeded.

use serde_json::Value;

use crate::common::{Scratch, traces};

fn short_trace() -> Scratch {
    traces::scratch([("trace", traces::skewed())])
}

#[test]
fn what_would_do_nothing_is_refused() {
    let scratch = short_trace();
    let counters = "whose numbers are no times";
    let recorded = "has no part in --times recorded";
    let unused = "has no part in explain --unused";
    for (arguments, message) in [
        (
            "check trace --bounds off --drift-bound 1ppm",
            "--drift-bound has no part where --bounds is off; leave one of them out",
        ),
        (
            "check trace --bounds off --bounds-budget 10",
            "--bounds-budget has no part where --bounds is off",
        ),
        (
            "compare trace --bounds off --bounds-budget 10",
            "--bounds-budget has no part where --bounds is off",
        ),
        (
            "correct trace -o out --bounds off --drift-bound 1ppm",
            "--drift-bound has no part where --bounds is off",
        ),
        (
            "correct trace -o out --method lamport --drift-bound 1ppm",
            counters,
        ),
        (
            "correct trace -o out --method lamport --bounds-budget 10",
            counters,
        ),
        (
            "export trace -o out.json --times recorded --method clc",
            recorded,
        ),
        (
            "export trace -o out.json --times recorded --reference mean",
            recorded,
        ),
        (
            "export trace -o out.json --times recorded --max-rate-difference 2%",
            recorded,
        ),
        (
            "export trace -o - -v",
            "-v has no part where the trace goes to standard output",
        ),
        ("merge trace -o out.pftrace -v", "-v has no part in merge"),
        (
            "merge trace -o out.pftrace --truth trace",
            "--truth has no part in merge without --json or --html",
        ),
        ("explain trace --unused --method clc", unused),
        ("explain trace --unused --max-rate-difference 2%", unused),
        (
            "explain trace 0:0 --truth trace",
            "--truth has no part in explain",
        ),
        ("explain trace 0:0 -v", "-v has no part in explain"),
        (
            "check trace --rank-from rank(.)",
            "is of the format otf2, and --rank-from takes the ranks of profiles",
        ),
        (
            "order trace --rank-from rank(.)",
            "is of the format otf2, and --rank-from takes the ranks of profiles",
        ),
    ] {
        let outcome = scratch.retime(arguments);
        assert_eq!(outcome.code, Some(2), "{arguments}: {outcome:?}");
        assert!(
            outcome.stderr.contains(message),
            "{arguments}: {}",
            outcome.stderr
        );
    }
    assert_eq!(scratch.entries(), ["trace"]);
}

/// Some methods read the drift bound themselves.
#[test]
fn a_drift_bound_without_bounds_is_taken_where_something_else_reads_it() {
    let scratch = short_trace();
    for method in [
        "optimal",
        "extended",
        "hofmann-hilgers --intervals by-drift",
    ] {
        let asked = format!("--bounds off --drift-bound 20ppm --method {method}");
        let outcome = scratch.retime(&format!("correct trace -o out --force {asked}"));
        assert_ne!(outcome.code, Some(2), "{method}: {outcome:?}");
    }
    let compared = "compare trace --bounds off --drift-bound 20ppm --method clc";
    assert_ne!(scratch.retime(compared).code, Some(2));
}

#[test]
fn the_truth_is_told_by_whatever_corrects() {
    let scratch = Scratch::new();
    scratch.succeed("simulate halo -o t --ranks 4 --iterations 20 --offset 200us -q");
    for command in [
        "correct t -o out",
        "correct t -o out.jsonl --merged",
        "export t -o out.pftrace",
        "merge t -o merged.pftrace",
    ] {
        scratch.succeed(&format!("{command} --truth t-truth --json report.json"));
        let report: Value = serde_json::from_str(&scratch.read("report.json")).unwrap();
        let error = &report["accuracy"]["corrected"]["relative_ticks"]["mean_abs"];
        assert!(error.is_number(), "{command}: {}", report["accuracy"]);
        assert!(
            report["verdict"].is_object(),
            "{command}: {}",
            report["verdict"]
        );
    }
}

#[test]
fn a_table_comes_with_merged_lines_too() {
    let scratch = short_trace();
    scratch.succeed("correct trace -o out --collectives table.csv -q");
    scratch.succeed("correct trace -o out.jsonl --merged --collectives lines.csv -q");
    assert!(scratch.read("table.csv").lines().count() > 1);
    assert_eq!(scratch.read("lines.csv"), scratch.read("table.csv"));
}

/// The page and the numbers of a trace of which no correction can be right are those of the
/// recording.
#[test]
fn where_correct_refuses_both_reports_are_written() {
    let scratch = traces::scratch([("backlog", traces::backlog())]);
    for more in ["", " --merged"] {
        let correct = format!("correct backlog -o out --method convex-hull{more}");
        let files = "--html page.html --json report.json";
        let refused = scratch.retime(&format!("{correct} {files}"));
        assert_eq!((refused.code, &*refused.stdout), (Some(1), ""));
        assert!(scratch.read("page.html").contains("Not corrected: "));
        let report: Value = serde_json::from_str(&scratch.read("report.json")).unwrap();
        assert!(report.get("after").is_none() && report["before"].is_object());
        let printed = scratch.retime(&format!("{correct} --json -"));
        assert_eq!(printed.code, Some(1));
        let printed: Value = serde_json::from_str(&printed.stdout).unwrap();
        assert_eq!(printed["before"], report["before"]);
        for file in ["page.html", "report.json"] {
            std::fs::remove_file(scratch.join(file)).unwrap();
        }
    }
    assert_eq!(scratch.entries(), ["backlog"]);
}
