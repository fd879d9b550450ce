//! `retime compare`: the table, the report, and what it leaves alone.

use crate::common::golden::{assert_golden, transcript};
use crate::common::{Scratch, traces};
use retime_testing::Effort;
use serde_json::Value;

fn scratch() -> Scratch {
    traces::scratch([
        ("skewed", traces::skewed()),
        ("truth", traces::sound()),
        ("odd", traces::odd()),
    ])
}

/// Without times and memory, which stand to the right of the jumps.
fn masked(text: &str) -> String {
    let mut cut = None;
    let mut out = String::new();
    for line in text.lines() {
        if line.starts_with("method") && line.contains("jump") {
            cut = line.find("jump").map(|at| at + "jump".len());
        } else if line.is_empty() {
            cut = None;
        }
        let end = cut.unwrap_or(usize::MAX).min(line.len());
        out += line[..end].trim_end();
        out.push('\n');
    }
    out
}

#[test]
fn the_table_holds_every_method() {
    let commands = ["compare skewed --truth truth"];
    let text = transcript(&scratch(), &commands);
    for line in text.lines() {
        assert!(line.chars().count() <= 100, "{line}");
    }
    assert_golden("compare.txt", &masked(&text));
}

#[test]
fn methods_can_be_chosen() {
    let commands = [
        "compare skewed --method clc --method convex-hull --bounds off",
        "compare skewed --method simple --bounds off -v",
        "compare skewed --method lamport",
        "compare skewed --method nothing",
        "compare",
        "compare skewed --features",
        "compare nowhere",
    ];
    assert_golden(
        "compare-chosen.txt",
        &masked(&transcript(&scratch(), &commands)),
    );
}

/// A limit of rates says something of methods that align clocks, and nothing of logical ones.
#[test]
fn a_limit_that_no_method_heeds_is_refused() {
    let scratch = scratch();
    let compare = |methods: &str| {
        let command = format!("compare skewed {methods} --max-rate-difference 1ppm --bounds off");
        scratch.retime(&command)
    };
    let alone = compare("--method clc");
    let no_part = "--max-rate-difference has no part in --method clc; leave it out or choose \
                   another method";
    assert_eq!(alone.code, Some(2), "{alone:#?}");
    assert!(alone.stderr.contains(no_part), "{}", alone.stderr);
    for heeded in ["", "--method clc --method convex-hull"] {
        let found = compare(heeded);
        assert_eq!(found.stderr, "", "{heeded}");
    }
}

/// Intervals of these programs are of hundreds of ticks and more.
#[test]
fn no_interval_changes_by_more_than_was_foreseen() {
    let scratch = Scratch::new();
    let mut changed = false;
    for (seed, scenario) in ["halo", "random", "finite-elements"].iter().enumerate() {
        let out = format!("{scenario}-{seed}");
        let options = format!("--ranks 4 --iterations 40 --seed {seed} --no-truth -q");
        scratch.succeed(&format!("simulate {scenario} -o {out} {options}"));
        let report = scratch.succeed(&format!("compare {out} --method clc --bounds off --json -"));
        let report: Value = serde_json::from_str(&report).unwrap();
        let methods = report["methods"].as_array().unwrap();
        let foreseen = methods.iter().filter(|it| it.get("foreseen").is_some());
        let names: Vec<&str> = foreseen
            .clone()
            .map(|it| it["name"].as_str().unwrap())
            .collect();
        assert_eq!(names, ["clc", "clc, abcd"]);
        for method in foreseen {
            let of = |part: &str, name: &str| method[part][name].as_f64().unwrap();
            let measured = of("result", "interval_change_largest");
            changed |= measured > 0.0;
            assert!(measured <= of("foreseen", "by_constraints"), "{method}");
            assert!(
                of("foreseen", "by_constraints") <= of("foreseen", "by_theorem_17"),
                "{method}"
            );
            assert!((of("foreseen", "usual") - 0.005).abs() < 1e-12);
        }
    }
    assert!(changed, "no program needed a correction");
}

#[test]
fn the_report_holds_the_figures() {
    let scratch = scratch();
    let before = names(&scratch);
    let report = scratch
        .retime("compare skewed --truth truth --json -")
        .expect_code(0);
    assert_eq!(names(&scratch), before, "something was written");
    let report: Value = serde_json::from_str(&report.stdout).unwrap();
    assert_eq!(report["schema"], "retime-comparison-1");
    let methods = report["methods"].as_array().unwrap();
    let method = |name: &str| methods.iter().find(|it| it["name"] == name).unwrap();
    let recorded = &method("recorded")["result"];
    let clc = &method("clc")["result"];
    assert!(recorded["reversed"].as_u64().unwrap() > 0);
    assert_eq!((&clc["reversed"], &clc["short"]), (&0.into(), &0.into()));
    assert_eq!(recorded["interval_change_mean"], 0.0);
    assert!(clc["seconds"].as_f64().is_some());
    // The same figures as of the command that corrects.
    let written = scratch.succeed("correct skewed --method clc --truth truth -o out --json -");
    let written: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(clc["knots"], written["method"]["knots"]);
    assert_eq!(clc["interval_change_mean"], written["distortion"]["mean"]);
    for measure in ["relative_ticks", "synchronization_ticks"] {
        let errors = &written["accuracy"]["corrected"][measure];
        assert!(errors.is_object(), "{measure}");
        assert_eq!(&clc["accuracy"][measure], errors);
    }
    // Each method says what it did, or why not.
    for method in methods {
        let (reason, result) = (&method["reason"], &method["result"]);
        assert_ne!(reason.is_null(), result.is_null(), "{method}");
    }
}

#[test]
fn the_default_leaves_a_sound_trace_alone_as_correct_does() {
    let report = scratch()
        .retime("compare truth --truth truth --json -")
        .expect_code(0);
    let report: Value = serde_json::from_str(&report.stdout).unwrap();
    let methods = report["methods"].as_array().unwrap();
    let result = |name: &str| {
        let method = methods.iter().find(|it| it["name"] == name).unwrap();
        method["result"].clone()
    };
    assert_eq!(result("auto"), result("recorded"));
    assert_eq!(result("auto")["accuracy"]["relative_ticks"]["max"], 0.0);
    // The others show what they would do.
    assert_ne!(result("optimal"), result("recorded"));
}

#[test]
fn a_result_that_cannot_be_right_is_marked() {
    let scratch = traces::scratch([("backlog", traces::backlog())]);
    let compare = "compare backlog --method convex-hull --method clc";
    let shown = scratch.retime(compare).expect_code(0).stdout;
    assert!(
        shown.contains("\nconvex-hull: refused by retime correct: "),
        "{shown}"
    );
    let report = scratch.retime(&format!("{compare} --json -")).stdout;
    let report: Value = serde_json::from_str(&report).unwrap();
    for method in report["methods"].as_array().unwrap() {
        let hull = method["name"].as_str().unwrap().starts_with("convex-hull");
        assert!(method["result"].is_object(), "{method}");
        assert_eq!(method["refused"].is_string(), hull, "{method}");
    }
    // What is refused does not count as help.
    scratch
        .retime("compare backlog --method convex-hull -q")
        .expect_code(1);
}

#[test]
fn it_fails_where_no_method_helps() {
    let scratch = scratch();
    // Two locations are not enough for hulls where messages go one way.
    let simulate = "simulate producer-consumer -o one-way --ranks 2 --iterations 50 --seed 3";
    scratch.succeed(simulate);
    let recorded = scratch.retime("check one-way -q").code;
    let hull = scratch.retime("compare one-way --method convex-hull --bounds off");
    assert_eq!(hull.code, recorded, "{}", hull.stdout);
    assert!(hull.stdout.contains("convex-hull: "), "{}", hull.stdout);
    let clock = "compare one-way --method clc --bounds off";
    scratch.retime(clock).expect_code(0);
    let strict = "compare odd --method clc --bounds off --strict";
    scratch.retime(strict).expect_code(1);
}

fn names(scratch: &Scratch) -> Vec<std::ffi::OsString> {
    let entries = std::fs::read_dir(scratch.path()).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    names
}

/// It takes longer than all other tests of a module.
#[test]
fn the_comparison_of_features_is_that_of_the_documentation() {
    if Effort::asked() != Effort::All {
        return;
    }
    let scratch = Scratch::new();
    let features = scratch.retime("compare --features").expect_code(0).stdout;
    let page = include_str!("../../../../docs/REPRODUCTIONS.md");
    let table = features.split("\n\n").nth(1).unwrap();
    assert!(table.lines().count() > 15, "{features}");
    for line in table.lines() {
        assert!(page.contains(line), "not in docs/REPRODUCTIONS.md: {line}");
        assert!(line.chars().count() <= 100, "{line}");
    }
}
