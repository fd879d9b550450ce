//! A method of one's own beside those of the command: `examples/own_method.rs`.

use crate::common::{Outcome, Scratch, example, traces};
use serde_json::Value;

fn run(scratch: &Scratch, words: &str) -> Outcome {
    let mut command = scratch.program(example("own_method").to_str().unwrap());
    command.args(words.split_whitespace());
    command.output().unwrap().into()
}

#[test]
fn a_method_of_ones_own_corrects_a_trace() {
    let scratch = traces::scratch([("trace", traces::skewed())]);
    let words = "correct trace -o out --method cristian --json -";
    let report = run(&scratch, words).expect_code(0).stdout;
    let report: Value = serde_json::from_str(&report).unwrap();
    let method = &report["method"];
    assert_eq!(method["option"], "cristian");
    assert_eq!(method["name"], "cristian, then controlled logical clock");
    assert!(report["before"]["reversed"].as_u64().unwrap() > 0);
    assert_eq!(report["after"]["reversed"], 0);
    // The copy is one as any other.
    scratch.succeed("check out");
    scratch.succeed("undo out -o back");
}

#[test]
fn it_stands_in_the_help_and_in_comparisons() {
    let scratch = traces::scratch([("trace", traces::skewed())]);
    let help = run(&scratch, "correct --help").expect_code(0).stdout;
    // As wide as the terminal allows.
    let line = "- cristian:            Cristian: clocks shifted by the fastest round trip";
    assert!(help.contains(line), "{help}");
    assert!(help.contains("[default: auto]"), "{help}");
    let table = run(&scratch, "compare trace").expect_code(0).stdout;
    for name in ["cristian * ", "min-max * "] {
        assert!(
            table.lines().any(|it| it.starts_with(name)),
            "{name}: {table}"
        );
    }
    let alone = run(&scratch, "compare trace --method cristian").expect_code(0);
    assert!(!alone.stdout.contains("min-max"), "{}", alone.stdout);
}

#[test]
fn options_without_a_part_in_it_are_refused() {
    let scratch = traces::scratch([("trace", traces::skewed())]);
    let refused = |words: &str, message: &str| {
        let words = format!("correct trace -o out --method cristian {words}");
        let Outcome { code, stderr, .. } = run(&scratch, &words);
        assert_eq!(code, Some(2), "{words}: {stderr}");
        assert!(stderr.contains(message), "{words}: {stderr}");
    };
    refused(
        "--intervals 3",
        "--intervals has no part in --method cristian; leave it out",
    );
    refused(
        "--repair off --gamma-max 0.9",
        "--gamma-max has no part in --method cristian --repair off",
    );
    // Those that all estimators have are heeded.
    run(&scratch, "check trace").expect_code(1);
    let words = "correct trace -o out --method cristian --reference mean --gamma-max 0.9";
    run(&scratch, words).expect_code(0);
}

#[test]
fn the_command_itself_does_not_know_it() {
    let scratch = traces::scratch([("trace", traces::skewed())]);
    let words = "correct trace -o out --method cristian";
    let Outcome { code, stderr, .. } = scratch.retime(words);
    assert_eq!(code, Some(2));
    assert!(stderr.contains("invalid value 'cristian'"), "{stderr}");
}
