//! Every method and controller: no contradiction left, and undone exactly; or
//! the reason why not.

use crate::common::directory::assert_same;
use crate::common::golden::{assert_golden, transcript};
use crate::common::{Outcome, Scratch, traces};
use retime_sim::{Layout, Program, from, to};
use serde_json::Value;

/// Every method that repairs, and what it is called.
const METHODS: [(&str, &str); 14] = [
    ("auto", "alignment, then local repair"),
    ("clc", "controlled logical clock"),
    ("simple", "simple logical clock"),
    ("regression", "regression, then controlled logical clock"),
    ("convex-hull", "convex hulls, then controlled logical clock"),
    (
        "spanning-tree",
        "spanning tree of convex hulls, then controlled logical clock",
    ),
    (
        "spanning-tree --pairs regression",
        "spanning tree of regressions, then controlled logical clock",
    ),
    ("min-max", "min/max, then controlled logical clock"),
    (
        "hofmann-hilgers",
        "Hofmann and Hilgers, then controlled logical clock",
    ),
    (
        "extended",
        "Hofmann and Hilgers, extended for variable rates, then controlled logical clock",
    ),
    (
        "pseudo-sync",
        "pseudo-synchronisation, then controlled logical clock",
    ),
    (
        "pseudo-sync-closure",
        "closure of pseudo-synchronisation, then controlled logical clock",
    ),
    (
        "gentlest",
        "gentlest correction, then controlled logical clock",
    ),
    (
        "optimal",
        "middle of the error bounds, then controlled logical clock",
    ),
];

/// Corrects the trace with `options`, checks the result and undoes it.
fn report_of(options: &str) -> Value {
    let scratch = traces::scratch([("trace", traces::skewed())]);
    report_in(&scratch, options)
}

fn report_in(scratch: &Scratch, options: &str) -> Value {
    let outcome = scratch.succeed(&format!("correct trace -o out --force --json - {options}"));
    let report: Value = serde_json::from_str(&outcome).unwrap();
    assert_eq!(report["after"]["reversed"], 0, "{options}");
    assert_eq!(report["after"]["short"], 0, "{options}");
    scratch.succeed("check out -q");
    scratch.succeed("undo out -o back --force -q");
    assert_same(&scratch.join("trace"), &scratch.join("back"));
    report
}

#[test]
fn every_method_leaves_no_contradiction_and_can_be_undone() {
    let scratch = traces::scratch([("trace", traces::skewed())]);
    for (method, name) in METHODS {
        let report = report_in(&scratch, &format!("--method {method}"));
        assert_eq!(report["method"]["name"], name, "{method}");
        let option = method.split(' ').next().unwrap();
        assert_eq!(report["method"]["option"], option, "{method}");
        let aligned = !["clc", "simple"].contains(&method);
        assert_eq!(
            report["method"]["alignment"].is_object(),
            aligned,
            "{method}"
        );
    }
}

#[test]
fn every_clock_and_controller_leaves_no_contradiction() {
    for (options, name) in [
        (
            "--controller constant --gamma-max 0.9",
            "controlled logical clock",
        ),
        (
            "--controller a --min-distance 1ns",
            "controlled logical clock",
        ),
        (
            "--controller 1997",
            "controlled logical clock, controller of 1997",
        ),
        ("--controller b", "controlled logical clock, controllers AB"),
        (
            "--controller abcd",
            "controlled logical clock, controllers ABCD",
        ),
        (
            "--controller ACD --gamma-min 0.5",
            "controlled logical clock, controllers ACD",
        ),
        (
            "--controller passes",
            "controlled logical clock, in several passes",
        ),
        ("--amortization off", "controlled logical clock"),
        ("--backward", "controlled logical clock, run backwards"),
    ] {
        let options = format!("--method clc {options}");
        assert_eq!(report_of(&options)["method"]["name"], name, "{options}");
    }
    for (options, name) in [
        ("--method lamport", "Lamport's clock"),
        (
            "--backward --method simple",
            "simple logical clock, run backwards",
        ),
        (
            "--method regression --backward --controller b",
            "regression, then controlled logical clock, controllers AB, run backwards",
        ),
    ] {
        assert_eq!(report_of(options)["method"]["name"], name, "{options}");
    }
}

#[test]
fn a_backward_clock_moves_events_to_earlier_times() {
    let displacement = |options| {
        report_of(options)["distortion"]["largest_displacement"]
            .as_i64()
            .unwrap()
    };
    assert!(displacement("--method clc") > 0);
    assert!(displacement("--method clc --backward") < 0);
}

/// A difference of clocks that was expected makes ramps longer, so that events are moved more;
/// one that is smaller than jumps are changes nothing where all of them are known.
#[test]
fn ramps_are_as_long_as_an_expected_difference_takes() {
    let scratch = Scratch::new();
    scratch.succeed(
        "simulate halo -o trace --no-truth --ranks 4 --ranks-per-node 1 --events 2e4 --offset 20us --seed 3",
    );
    let moved = |options: &str| {
        let options = format!("--method clc --amortization 50% {options}");
        let report = report_in(&scratch, &options);
        let mean = &report["distortion"]["mean_displacement"];
        mean.as_f64().unwrap()
    };
    for method in ["gentlest", "printed"] {
        let expecting = |difference: &str| {
            moved(&format!(
                "--amortization-method {method} --start-clock-difference {difference}"
            ))
        };
        assert!(expecting("50ms") > moved(&format!("--amortization-method {method}")));
    }
    let [small, none] = ["--start-clock-difference 1ns", ""].map(moved);
    assert_eq!(small.to_bits(), none.to_bits());
}

/// A line of a trace.
fn line(location: &str, time: u64, way: &str, message: u64) -> String {
    format!(
        "{{\"location\":\"{location}\",\"time\":{time},\"type\":\"{way}\",\"message\":{message}}}\n"
    )
}

/// A round trip of a and b that takes 10, and a clock c that only sends: its messages bound it from
/// one side, and the other bound is guessed.
#[test]
fn a_missing_bound_is_so_many_round_trips_away() {
    let scratch = Scratch::new();
    let lines = [
        line("a", 1_000, "send", 1),
        line("b", 1_004, "receive", 1),
        line("b", 1_010, "send", 2),
        line("a", 1_016, "receive", 2),
        line("c", 1_020, "send", 3),
        line("b", 1_027, "receive", 3),
    ];
    scratch.write("trace", &lines.concat());
    let moved = |factor: &str| {
        let outcome = scratch.succeed(&format!(
            "correct trace -o out --force --json - --always --min-delay 0ticks --method extended \
             --repair off --intervals 1 --one-way-factor {factor}"
        ));
        let report: Value = serde_json::from_str(&outcome).unwrap();
        report["clocks"]["list"][2]["final_advance_ticks"]
            .as_i64()
            .unwrap()
    };
    // The middle of the bounds goes half as far.
    assert_eq!((moved("4") - moved("2")).abs(), 10);
}

/// Messages over 9,970 ticks that take 20 at least, on clocks that are wrong by 1 % at most: 20 / (2 * 1 %)
/// = 1000 ticks, of which sub-intervals last at most half.
#[test]
fn sub_intervals_are_as_short_as_drift_asks_for() {
    let scratch = Scratch::new();
    // The clock of b is ahead by 500 or a little more.
    let round_trip = |n: u64| {
        let (time, ahead) = (10_000 + 100 * n, 500 + n / 10 % 3);
        [
            line("a", time, "send", 2 * n),
            line("b", time + ahead + 25 + n % 7, "receive", 2 * n),
            line("b", time + ahead + 40, "send", 2 * n + 1),
            line("a", time + 66 + n % 5, "receive", 2 * n + 1),
        ]
    };
    scratch.write("trace", &(0..100).flat_map(round_trip).collect::<String>());
    let corrected = |options: &str| {
        scratch.succeed(&format!(
            "correct trace -o out --force -q --always --method min-max --repair off {options}"
        ));
        scratch.read("out")
    };
    let by_drift = corrected("--intervals by-drift --min-delay 20ticks --drift-bound 1%");
    assert_eq!(by_drift, corrected("--intervals 20 --min-delay 20ticks"));
    assert_ne!(by_drift, corrected("--intervals 3 --min-delay 20ticks"));
    let none = scratch.retime(
        "correct trace -o none --method min-max --intervals by-drift --min-delay 0ticks --always",
    );
    assert_eq!(none.code, Some(1), "{}", none.stderr);
    assert!(
        none.stderr.contains("give another --min-delay"),
        "{}",
        none.stderr
    );
}

#[test]
fn outside_of_the_window_nothing_is_counted() {
    let scratch = traces::scratch([("trace", traces::skewed())]);
    let reversed = |options: &str, out: &str| {
        let outcome = scratch.succeed(&format!("correct trace -o {out} --json - {options}"));
        let report: Value = serde_json::from_str(&outcome).unwrap();
        report["before"]["reversed"].as_u64().unwrap()
    };
    let all = reversed("", "all");
    assert!(all > 0);
    assert_eq!(reversed("--from 0ticks --to 1s", "same"), all);
    let late = scratch.retime("correct trace -o late --from 138us");
    let late = late.expect_code(3).stdout;
    assert_same(&scratch.join("trace"), &scratch.join("late"));
    for said in [
        "verdict    No contradiction found, but nothing was looked at: no dependency lies after 138 us\n",
        "matched    0 messages, 0 collectives;",
        "stretch    after 138 us from the first event on; nothing outside is looked at\n",
        "no message and no collective after 138 us relates the clocks",
        "Nothing was changed: late is a plain copy.",
    ] {
        assert!(late.contains(said), "{said}: {late}");
    }
}

#[test]
fn of_a_stretch_nothing_more_is_said_than_was_looked_at() {
    let scratch = traces::scratch([("trace", traces::skewed())]);
    let early = scratch.succeed("correct trace -o early --to 137us");
    assert!(
        early.contains("Wrote early: no contradiction left before 137 us, checked over"),
        "{early}"
    );
    let report = report_in(&scratch, "--from 1us --to 137us");
    let stretch = &report["examined"]["stretch"];
    assert_eq!(
        (
            stretch["from_seconds"].as_f64(),
            stretch["to_seconds"].as_f64()
        ),
        (Some(1e-6), Some(137e-6))
    );
    let kinds = ["messages", "collectives"].map(|kind| report["before"][kind]["total"].as_u64());
    let [Some(messages), Some(collectives)] = kinds else {
        panic!("{report}")
    };
    assert_eq!(
        stretch["dependencies"].as_u64(),
        Some(messages + collectives)
    );
}

#[test]
fn the_common_time_is_a_choice() {
    let scratch = traces::scratch([("trace", traces::skewed())]);
    // How far the clock of each rank is moved.
    let moved = |options: &str| -> Vec<i64> {
        let report = report_in(&scratch, options);
        let clocks = report["clocks"]["list"].as_array().unwrap();
        let advance = |clock: &Value| clock["final_advance_ticks"].as_i64().unwrap();
        clocks.iter().map(advance).collect()
    };
    for method in ["auto", "pseudo-sync-closure"] {
        let by = |reference: &str| {
            let all = moved(&format!("--method {method} --reference {reference}"));
            all.try_into().unwrap()
        };
        let first: [i64; 3] = by("first");
        assert_eq!(first[0], 0, "{method}");
        // Up to what messages leave open, clock 1 is 100 us ahead.
        assert!((first[1] + 100_000).abs() < 1_000, "{method}: {first:?}");
        assert!((first[2] - 30_000).abs() < 1_500, "{method}: {first:?}");
        // By location id, and by the name of a process with several words in it.
        let second: [i64; 3] = by("1");
        assert_eq!(second[1], 0, "{method}");
        assert!((second[0] - 100_000).abs() < 1_000, "{method}: {second:?}");
        let mean: [i64; 3] = by("mean");
        assert!(mean.iter().sum::<i64>().abs() <= 3, "{method}: {mean:?}");
    }
}

#[test]
fn a_sound_trace_is_left_alone_unless_it_must_not() {
    let scratch = traces::scratch([("trace", traces::sound())]);
    for (method, name) in METHODS {
        let correct = format!("correct trace -o out --force --method {method}");
        let outcome = scratch.succeed(&correct);
        assert!(outcome.contains("is a plain copy"), "{outcome}");
        assert_same(&scratch.join("trace"), &scratch.join("out"));
        let outcome = scratch.succeed(&format!("{correct} --always"));
        assert!(outcome.contains(&format!("method     {name}")), "{outcome}");
        scratch.succeed("check out -q");
        scratch.succeed("undo out -o back --force -q");
        assert_same(&scratch.join("trace"), &scratch.join("back"));
    }
}

#[test]
fn measured_offsets_are_interpolated() {
    let scratch = traces::scratch([("trace", traces::skewed())]);
    scratch.write("offsets", "0 0 0\n1 0 -100us\n1 60us -100us\n2 0 30us\n");
    let report = report_in(&scratch, "--method interpolation --offsets offsets");
    assert_eq!(
        report["method"]["name"],
        "linear interpolation, then controlled logical clock"
    );
    assert_eq!(report["method"]["jumps"], 0);
    let outcome = scratch.retime("correct trace -o out2 --method interpolation");
    assert_unsolved(
        &outcome,
        "the trace holds no clock offsets, and no retime-offsets.txt lies beside it; give measured \
         ones with --offsets FILE",
    );
    scratch.write("some", "1 0 -100us\n");
    let outcome = scratch.retime("correct trace -o out2 --method interpolation --offsets some");
    assert_unsolved(&outcome, "no offset is given for MPI Rank 2");
    scratch.write("wrong", "1 0\n");
    let outcome = scratch.retime("correct trace -o out2 --method interpolation --offsets wrong");
    assert_eq!(outcome.code, Some(2));
    assert!(
        outcome
            .stderr
            .contains("expected \"LOCATION-ID STAMP OFFSET\"")
    );
}

/// The file of libretime-pmpi lies where the program ran, beside the directory of its tracer.
#[test]
fn offsets_beside_the_trace_are_its_own_if_they_fit() {
    let scratch = traces::scratch([("trace", traces::skewed())]);
    let lines = "0 0 0ns\n0 1s 0ns\n1 0 -100us\n1 1s -100us\n2 0 30us\n2 1s 30us\n";
    let header = |ticks: &str| {
        format!("# retime offsets 1: clock monotonic, {ticks} ticks per second\n# location ..\n")
    };
    let correct = "correct trace -o out --force --method interpolation";
    scratch.write("retime-offsets.txt", &(header("1000000000") + lines));
    let said = scratch.succeed(correct);
    assert!(
        said.contains("by the offsets of retime-offsets.txt"),
        "{said}"
    );
    let report = report_in(&scratch, "--method interpolation");
    assert_eq!(report["method"]["offsets"], "retime-offsets.txt");
    // In the directory of the trace it comes first, and what cannot be used is no offset.
    let refused = |file: &str, why: &str| {
        scratch.write("trace/retime-offsets.txt", file);
        let outcome = scratch.retime(correct);
        let why = format!("the trace holds no clock offsets, and {why}");
        assert_unsolved(&outcome, &why);
    };
    let another = "those of trace/retime-offsets.txt are of another run or clock; to use them all \
                   the same give --offsets trace/retime-offsets.txt";
    refused(&(header("2000000000") + lines), another);
    refused(
        &(header("1000000000") + "0 0 0\n1 900s 0\n2 0 0\n"),
        another,
    );
    let beside = "those beside it cannot be used: trace/retime-offsets.txt: line 3: the trace has \
                  no location 9";
    refused(&(header("1000000000") + "9 0 0\n"), beside);
    // Another file of that name is none.
    scratch.write("trace/retime-offsets.txt", "my thesis");
    scratch.succeed(correct);
}

#[track_caller]
fn assert_unsolved(outcome: &Outcome, reason: &str) {
    assert_eq!(
        (outcome.code, &*outcome.stdout),
        (Some(1), ""),
        "{outcome:#?}"
    );
    assert!(outcome.stderr.contains(reason), "{}", outcome.stderr);
}

/// Two processes whose clocks a line through messages would turn backwards.
fn two_messages() -> Program {
    let mut program = Program::with_layout(Layout::node_per_rank(2));
    program.on(0).send(10_000, to(1)).recv(10_010, from(1));
    program.on(1).send(50_000, to(0)).recv(50_001, from(0));
    program
}

#[test]
fn a_method_without_a_solution_says_why() {
    let scratch = traces::scratch([
        ("one-way", traces::one_way(20)),
        ("bent", traces::bent(5)),
        ("skewed", traces::skewed()),
    ]);
    let one_way = "messages go only from MPI Rank 0";
    let infeasible = "no clocks as the method assumes them fit the messages along MPI Rank";
    for (trace, method, reason) in [
        ("one-way", "regression", one_way),
        ("one-way", "convex-hull", one_way),
        ("one-way", "spanning-tree", one_way),
        ("one-way", "min-max", one_way),
        ("one-way", "hofmann-hilgers", one_way),
        ("one-way", "extended", one_way),
        ("bent", "convex-hull", infeasible),
        ("bent", "spanning-tree", infeasible),
        ("bent", "pseudo-sync-closure", infeasible),
        (
            "skewed",
            "pseudo-sync --reference 2",
            "its closure also goes through other clocks",
        ),
    ] {
        let outcome = scratch.retime(&format!("correct {trace} -o out --method {method}"));
        assert_unsolved(&outcome, reason);
    }
    // The others have one for all.
    for method in ["auto", "clc", "simple", "gentlest", "optimal"] {
        for trace in ["one-way", "bent"] {
            scratch.succeed(&format!("correct {trace} -o out --force --method {method}"));
        }
    }
    assert_eq!(scratch.entries(), ["bent", "one-way", "out", "skewed"]);
}

#[test]
fn what_is_worse_than_the_recording_is_refused() {
    let scratch = traces::scratch([("sound", traces::sound()), ("few", two_messages())]);
    scratch.write("wrong", "0 0 0\n1 0 1ms\n2 0 0\n");
    let worse = "correct sound -o out --always --method interpolation --offsets wrong";
    let outcome = scratch.retime(&format!("{worse} --repair off"));
    assert_eq!((outcome.code, &*outcome.stdout), (Some(1), ""));
    assert_eq!(
        outcome.stderr,
        "retime: sound: the linear interpolation would leave 16 dependencies reversed, where \
         the recording has 0; nothing was written (--force writes it all the same)\n"
    );
    assert_eq!(scratch.entries(), ["few", "sound", "wrong"]);
    let forced = scratch.retime(&format!("{worse} --repair off --force"));
    assert_eq!(forced.code, Some(1));
    assert!(
        forced
            .stdout
            .contains("Wrote out, with 16 dependencies still reversed")
    );
    // Repaired, it is as good as any.
    scratch.succeed(&format!("{worse} --force"));
    scratch.succeed("check out -q");
}

#[test]
fn what_cannot_be_right_is_refused() {
    let scratch = traces::scratch([("backlog", traces::backlog())]);
    let commands = [
        "correct backlog -o out --method regression",
        "correct backlog -o out --method convex-hull",
        "correct backlog -o out --method convex-hull --merged",
        "correct backlog -o out --method spanning-tree --repair off",
    ];
    assert_golden("refused.txt", &transcript(&scratch, &commands));
    assert_eq!(scratch.entries(), ["backlog"]);
    // All of it can be had.
    let correct = "correct backlog -o out -q --method";
    scratch.succeed(&format!("{correct} regression --force"));
    scratch.succeed(&format!("{correct} convex-hull --force"));
    let wide = "convex-hull --max-rate-difference 5% --bounds off -o other";
    scratch.succeed(&format!("correct backlog -q --method {wide}"));
}

#[test]
fn senseless_options_are_refused() {
    let scratch = traces::scratch([("trace", traces::skewed())]);
    let no_part = "has no part in --method";
    for (options, message) in [
        (
            "--controller e",
            "no such controller: give constant, 1997, passes, or some of the letters a to d",
        ),
        ("--from 2s --to 1s", "--from lies after --to"),
        ("--amortization 0%", "is no amortisation rate"),
        ("--gamma-max 1", "is no control factor"),
        ("--drift-bound 0", "is no drift bound"),
        ("--drift-bound 60%", "no clock is so wrong"),
        ("--max-rate-difference 0", "is no limit of rate differences"),
        ("--max-rate-difference 2% --method clc", no_part),
        ("--reference nobody", "no location or process \"nobody\""),
        ("--controller abcd", no_part),
        ("--gamma-max 0.9", no_part),
        ("--backward", no_part),
        ("--repair off", no_part),
        ("--intervals 5", no_part),
        ("--offsets file", no_part),
        ("--method clc --reference mean", no_part),
        ("--method simple --gamma-max 0.9", no_part),
        ("--method lamport --min-distance 1us", no_part),
        ("--method regression --intervals 5", no_part),
        (
            "--method regression --repair off --amortization off",
            "--amortization has no part in --method regression --repair off; leave it out",
        ),
        ("--method convex-hull --pairs regression", no_part),
        ("--start-clock-difference 5ms", no_part),
        ("--method simple --start-clock-difference 5ms", no_part),
        (
            "--method clc --start-clock-difference 5ms --amortization off",
            "--start-clock-difference has no part where --amortization is off",
        ),
        ("--method hofmann-hilgers --one-way-factor 2", no_part),
        (
            "--method extended --one-way-factor 0.5",
            "give a number of 1 or more, such as 2",
        ),
        ("--method min-max --intervals 0", "0 is not in"),
    ] {
        let outcome = scratch.retime(&format!("correct trace -o out {options}"));
        assert_eq!(outcome.code, Some(2), "{options}: {}", outcome.stderr);
        assert!(
            outcome.stderr.contains(message),
            "{options}: {}",
            outcome.stderr
        );
        assert!(!scratch.join("out").exists());
    }
}
