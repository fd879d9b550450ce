//! A minimal delay that was given is part of the clock condition: what is faster contradicts
//! the clocks. One that was learned is a guess.

use crate::common::Scratch;
use serde_json::Value;

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// Four clocks up to 100 us apart, and messages that take 250 us at least: none is reversed.
fn sound() -> Scratch {
    let scratch = Scratch::new();
    scratch.succeed(
        "simulate finite-elements -o trace --grid 2x2 --iterations 20 --min-delay 250us \
         --delay-excess 20us --offset 100us --drift 0 --seed 1",
    );
    scratch.write("delays", "* * 250us\n");
    scratch
}

#[test]
fn what_is_faster_than_a_given_delay_contradicts_the_clocks() {
    let scratch = sound();
    for given in ["250us", "delays"] {
        let check = format!("check trace --min-delay {given}");
        let told = scratch.retime(&check).expect_code(1);
        assert!(told.stdout.contains("below min delay"), "{}", told.stdout);
        let verdict = told.stdout.lines().next().unwrap();
        assert!(
            verdict.ends_with("faster than the minimal delay that was given"),
            "{verdict}"
        );
        let report = json(
            &scratch
                .retime(&format!("{check} --json -"))
                .expect_code(1)
                .stdout,
        );
        assert_eq!(report["parameters"]["min_delay"]["is_condition"], true);
        assert_eq!(report["before"]["reversed"], 0);
        let faster = report["before"]["short"].as_u64().unwrap();
        let by = report["before"]["shortest_by_ticks"].as_i64().unwrap();
        // Two clocks differ by at most 200 us.
        assert!(
            faster > 0 && (1_000..=200_000).contains(&by),
            "{faster} by {by}"
        );
        for method in ["auto", "clc", "clc --controller abcd", "simple"] {
            let correct =
                format!("correct trace -o out --force --min-delay {given} --method {method}");
            let report = json(&scratch.succeed(&format!("{correct} --json -")));
            assert_eq!(report["after"]["short"], 0, "{method}");
            scratch.succeed(&format!("check out --min-delay {given}"));
        }
    }
}

#[test]
fn what_is_faster_than_a_learned_delay_does_not() {
    let scratch = sound();
    let report = json(&scratch.succeed("check trace --json -"));
    assert_eq!(report["parameters"]["min_delay"]["is_condition"], false);
    let copied = scratch.succeed("correct trace -o out");
    assert!(copied.contains("plain copy"), "{copied}");
    // Neither does a given one that all messages take.
    scratch.succeed("check trace --min-delay 1us");
    let copied = scratch.succeed("correct trace -o other --min-delay 1us");
    assert!(copied.contains("plain copy"), "{copied}");
}

#[test]
fn what_is_faster_than_a_given_delay_within_one_clock_is_told() {
    let scratch = Scratch::new();
    // One node whose ranks read one clock.
    scratch
        .succeed("simulate halo -o trace --grid 2x2 --iterations 20 --offset 0 --drift 0 --seed 1");
    let told = scratch.succeed("check trace --min-delay 1ms");
    let told = told.lines().find(|line| line.contains("of one clock"));
    let told = told.expect("a warning");
    let count = told
        .split_whitespace()
        .find_map(|word| word.replace(',', "").parse::<u64>().ok());
    let apart = scratch.retime("check trace --min-delay 1ms --clocks location --json -");
    let apart = json(&apart.expect_code(1).stdout);
    assert_eq!(count, apart["before"]["short"].as_u64(), "{told}");
    // A delay that is only learned asks nothing of them.
    let learned = scratch.succeed("check trace");
    assert!(!learned.contains("of one clock"), "{learned}");
}

/// Clocks of eight nodes wander by 20 us within a second in which few messages tell of them: an alignment that
/// does not follow them makes round trips negative, which says nothing of steps or defects.
#[test]
fn clocks_that_wander_faster_than_messages_tell_are_not_called_set() {
    let scratch = Scratch::new();
    scratch.succeed(
        "simulate random -o trace --ranks 8 --ranks-per-node 1 --compute 80ms --congestion 50us \
         --congestion-share 80% --duration 5s --offset 300us --drift 20ppm --wander 20us \
         --wander-period 1s -q",
    );
    let words = scratch.succeed("correct trace -o out");
    assert!(
        words.contains("half the fastest round trip as recorded"),
        "{words}"
    );
    for falsely in ["were set or run at other rates", "came back before"] {
        assert!(!words.contains(falsely), "{words}");
    }
    let report = scratch.succeed("correct trace -o again --json - --quiet");
    let report = json(&report);
    assert_eq!(
        report["parameters"]["min_delay"]["of_aligned_clocks"],
        false
    );
    assert_eq!(report["warnings"], serde_json::json!([]));
}
