//! `retime simulate`: what it writes, and what it refuses.

use crate::common::{Scratch, directory, judge};

const SCENARIOS: [&str; 5] = [
    "halo",
    "finite-elements",
    "ring",
    "producer-consumer",
    "random",
];

#[test]
fn every_scenario_is_sound_in_truth_only() {
    let scratch = Scratch::in_memory();
    for scenario in SCENARIOS {
        let words = format!("simulate {scenario} -o {scenario} --events 5000 --offset 5ms");
        let printed = scratch.succeed(&words);
        assert!(
            printed.starts_with(&format!("Wrote {scenario}: 5,")),
            "{printed}"
        );
        assert!(printed.contains(&format!("Wrote {scenario}-truth: ")));
        scratch.retime(&format!("check {scenario}")).expect_code(1);
        scratch.succeed(&format!("check {scenario}-truth"));
        scratch.succeed(&format!("correct {scenario} -o {scenario}-corrected"));
        for trace in [scenario.to_owned(), format!("{scenario}-truth")] {
            judge::assert_readable(&scratch.join(&trace).join("traces.otf2"));
        }
    }
}

/// All parts of a clock at once, in all scenarios.
#[test]
fn clocks_of_every_kind() {
    let scratch = Scratch::in_memory();
    let clocks = "--bend 1ppm --wander 2us --wander-period 10ms --walk 5ppm --walk-every 1ms \
                  --jumps 3 --jump-size 200us --glitches 2 --ntp 2ms --ntp-threshold 50us --tick 1us \
                  --wrong-clock 1:-2ms --clocks node --resolution 2095197216";
    for scenario in SCENARIOS {
        let words = format!("simulate {scenario} -o {scenario} --events 5000 {clocks}");
        scratch.succeed(&words);
        judge::assert_readable(&scratch.join(scenario).join("traces.otf2"));
    }
    // The same with clocks that show times twice: contradictory in itself.
    let back = format!("simulate halo -o back --events 5000 {clocks} --clocks process --backwards");
    let back = back.replace("--clocks node ", "");
    scratch.succeed(&back);
    let found = scratch.retime("check back --clocks location");
    assert_eq!(found.code, Some(1), "{found:?}");
    assert!(
        found.stdout.contains("stamped before their predecessor"),
        "{}",
        found.stdout
    );
}

/// Delays that last, and heavier tails, in all scenarios: the truth stays sound.
#[test]
fn load_and_congestion_of_every_kind() {
    let scratch = Scratch::in_memory();
    let delays =
        "--delay-distribution heavy --tail-index 1.3 --congestion 20us --congestion-lasts 5ms";
    for (scenario, victims) in SCENARIOS
        .into_iter()
        .zip(["processes", "nodes", "1", "0", "nodes"])
    {
        let load = format!("--load {victims} --load-share 50% --load-lasts 3ms --load-turn 500us");
        scratch.succeed(&format!(
            "simulate {scenario} -o {scenario} --events 5000 {delays} {load}"
        ));
        scratch.succeed(&format!("check {scenario}-truth"));
    }
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let scratch = Scratch::in_memory();
    for (name, seed) in [("a", 7), ("b", 7), ("c", 8)] {
        scratch.succeed(&format!(
            "simulate random -o {name} --seed {seed} --iterations 50 --walk 1ppm"
        ));
    }
    directory::assert_same(&scratch.join("a"), &scratch.join("b"));
    directory::assert_same(&scratch.join("a-truth"), &scratch.join("b-truth"));
    let events = |name: &str| std::fs::read(scratch.join(name).join("traces/0.evt")).unwrap();
    assert_ne!(events("a"), events("c"));
}

#[test]
fn truth_goes_where_it_is_wanted() {
    let scratch = Scratch::in_memory();
    scratch.succeed("simulate ring -o one --iterations 2 --no-truth");
    assert_eq!(scratch.entries(), ["one"]);
    scratch.succeed("simulate ring -o two --iterations 2 --truth true --quiet");
    assert_eq!(scratch.entries(), ["one", "true", "two"]);
    scratch.succeed("simulate ring -o three/ --iterations 2 --quiet");
    scratch.succeed("simulate ring -o three/ --iterations 3 --quiet --force");
    let entries = ["one", "three", "three-truth", "true", "two"];
    assert_eq!(scratch.entries(), entries);
}

#[test]
fn it_says_what_the_clocks_are_and_what_is_safe() {
    let scratch = Scratch::in_memory();
    let printed = scratch.succeed(
        "simulate finite-elements -o trace --grid 1x3 --duration 50ms --offset 0 --drift 0 \
         --min-delay 5us --delay-distribution constant --wrong-clock 2:-3us",
    );
    assert!(
        printed.contains("off by -3 us to 0 s at the start, by -3 us to 0 s at the end"),
        "{printed}"
    );
    assert!(printed.contains("is 5"), "{printed}");
    assert!(printed.contains("retime correct trace -o trace-corrected"));
}

#[test]
fn what_makes_no_sense_is_refused() {
    let scratch = Scratch::in_memory();
    scratch.succeed("simulate ring -o there --iterations 1 --no-truth");
    let refused = |words: &str, message: &str| {
        let outcome = scratch.retime(&format!("simulate {words}"));
        assert_eq!(outcome.code, Some(2), "{words}: {outcome:?}");
        assert!(
            outcome.stderr.contains(message),
            "{words}: {}",
            outcome.stderr
        );
        assert_eq!(scratch.entries(), ["there"], "{words}");
    };
    refused("ring -o there", "there: exists already");
    refused("ring -o new --truth there", "there: exists already");
    refused("ring -o new --truth new", "the same directory as --output");
    refused("ring -o no/new", "no: no such directory");
    refused(
        "ring -o new --grid 2x2",
        "--grid is for halo and finite-elements only",
    );
    refused("random -o new --ranks 1", "nobody to send to");
    refused(
        "halo -o new --wrong-clock 4:1ms",
        "there is no rank 4 among 4",
    );
    refused(
        "halo -o new --offset 5",
        "write a number with ns, us, ms or s",
    );
    refused(
        "halo -o new --epoch 0 --wrong-clock 0:-1ms --offset 0",
        "with --epoch",
    );
    refused(
        "halo -o new --resolution 0",
        "the resolution must not be zero",
    );
    refused(
        "halo -o new --events 5 --iterations 5",
        "cannot be used with",
    );
    refused(
        "halo -o new --wander 1s --wander-period 1s",
        "run backwards",
    );
    refused("halo -o new --ntp 5ns", "every 1us");
    refused("chess -o new", "possible values");
}

#[cfg(unix)]
#[test]
fn an_interrupt_leaves_nothing() {
    let scratch = Scratch::in_memory();
    let outcome = scratch.shell(
        "\"$RETIME\" simulate halo -o big --events 3e7 & \
         until ls -A | grep -q partial; do sleep 0.01; done; kill -TERM $!; wait $!",
    );
    let message = "retime: interrupted; nothing was written\n";
    assert_eq!((outcome.code, &*outcome.stderr), (Some(130), message));
    assert!(scratch.entries().is_empty());
}

/// As `timeout -s INT` does: one signal to the process, one to its group.
#[test]
fn an_interrupt_told_twice_leaves_nothing() {
    let scratch = Scratch::in_memory();
    let outcome = scratch.shell(
        "\"$RETIME\" simulate halo -o big --events 3e7 & \
         until ls -A | grep -q partial; do sleep 0.01; done; \
         for i in 1 2 3 4 5; do kill -TERM $! 2>/dev/null; sleep 0.001; done; wait $!",
    );
    let message = "retime: interrupted; nothing was written\n";
    assert_eq!((outcome.code, &*outcome.stderr), (Some(130), message));
    assert!(scratch.entries().is_empty());
}

/// Of two clocks nobody can tell which one was set; of more the reference is
/// named like any other, and its time before counts.
#[test]
fn clocks_that_were_set_are_named() {
    let scratch = Scratch::in_memory();
    let clocks = "--offset 100us --drift 20ppm --jumps 1 --jump-size 50us";
    for ranks in [2, 4] {
        let trace = format!("set-{ranks}");
        let words = format!("simulate halo -o {trace} --ranks {ranks} --events 4e4 {clocks}");
        scratch.succeed(&words);
        let words = format!("correct {trace} -o {trace}-out --truth {trace}-truth");
        let words = format!("{words} --json {trace}.json");
        let printed = scratch.succeed(&words);
        let lines: Vec<&str> = printed
            .lines()
            .filter(|line| line.contains(" set by ") && line.contains(", known to ±"))
            .collect();
        let report = std::fs::read(scratch.join(&format!("{trace}.json"))).unwrap();
        let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
        let steps = report["method"]["alignment"]["steps"].as_array().unwrap();
        assert_eq!(lines.len(), steps.len(), "{printed}");
        // Bounds follow the steps, so they rest on them.
        let is_contradicted = !report["bounds"]["contradicted"]
            .as_array()
            .is_none_or(Vec::is_empty);
        let rest = "bounds hold if clocks were set where the method found it, and nowhere else";
        assert_eq!(printed.contains(rest), !is_contradicted, "{printed}");
        // Also where nothing is corrected, so that no method says which they are.
        let words = format!("check {trace} --json {trace}.json");
        let checked = scratch.retime(&words).expect_code(1).stdout;
        let report = std::fs::read(scratch.join(&format!("{trace}.json"))).unwrap();
        let report: serde_json::Value = serde_json::from_slice(&report).unwrap();
        let bounds = &report["bounds"];
        let is_contradicted = bounds.get("contradicted").is_some();
        let rest = "bounds hold if clocks were set as follows, and nowhere else:";
        assert_eq!(checked.contains(rest), !is_contradicted, "{checked}");
        let if_set = bounds["if_set"].as_array().unwrap();
        assert_eq!(if_set.len(), steps.len(), "{checked}");
        let mut set: Vec<u64> = steps
            .iter()
            .map(|it| it["clock"].as_u64().unwrap())
            .collect();
        set.sort_unstable();
        if ranks == 2 {
            assert!(!set.contains(&0), "{printed}");
            let unsure =
                |line: &&str| line.ends_with(", unless it was the other: two clocks cannot tell");
            assert!(lines.iter().all(unsure), "{printed}");
        } else {
            assert_eq!(set, [0, 1, 2, 3], "{printed}");
            let common =
                |line: &&&str| line.ends_with("; the common time is what it showed before");
            let common: Vec<_> = lines.iter().filter(common).collect();
            assert!(
                matches!(common[..], [line] if line.contains("the clock of MPI Rank 0 ")),
                "{printed}"
            );
        }
        for step in steps {
            assert!(step["after"].as_u64().unwrap() < step["until"].as_u64().unwrap());
            assert!(
                (1_000..=50_000).contains(&step["by_ticks"].as_i64().unwrap().abs()),
                "{step}"
            );
        }
        assert!(printed.contains("this holds for 100.000 %"), "{printed}");
    }
}

#[test]
fn pairs_that_are_not_listed_are_counted() {
    let scratch = Scratch::new();
    scratch.retime("simulate halo --ranks 900 --events 90000 --no-truth -q -o many");
    let said = scratch.retime("check many --bounds off --json many.json");
    let report: serde_json::Value = serde_json::from_str(&scratch.read("many.json")).unwrap();
    assert_eq!(
        report["before"]["pairs"].as_array().map(Vec::len),
        Some(1000)
    );
    let pairs = report["before"]["reversed_pairs"].as_u64().unwrap();
    assert!(pairs > 1100, "{pairs}");
    let (thousands, rest) = ((pairs - 3) / 1000, (pairs - 3) % 1000);
    let others = format!("and {thousands},{rest:03} more");
    assert!(said.stdout.contains(&others), "{others}: {}", said.stdout);
}
