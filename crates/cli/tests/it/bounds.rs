//! Error bounds and the gentlest correction: stated, saved, and true.

use std::fmt::Write;

use crate::common;
use crate::common::{Scratch, traces};
use retime_sim::{Layout, Program, from, to};
use serde_json::Value;

/// A trace and its truth.
fn skewed() -> Scratch {
    traces::scratch([("trace", traces::skewed()), ("truth", traces::sound())])
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

fn number(of: &Value) -> f64 {
    of.as_f64().unwrap_or_else(|| panic!("{of} is no number"))
}

#[test]
fn the_truth_is_within_the_bounds() {
    let scratch = skewed();
    for method in ["auto", "clc", "convex-hull", "optimal"] {
        let correct =
            format!("correct trace -o out --force --truth truth --json - --method {method}");
        let report = json(&scratch.succeed(&correct));
        let bounds = &report["bounds"];
        assert_eq!(bounds["truth"]["share"], 1.0, "{method}");
        assert_eq!(bounds["truth"]["events"], 40, "{method}");
        assert_eq!(
            (&bounds["events"], &bounds["unbounded"]),
            (&62.into(), &0.into())
        );
        assert_eq!(bounds["complete"], true);
        // Whatever was written is no nearer than any method could guarantee.
        assert!(number(&bounds["mean"]) >= number(&bounds["mean_half_width"]));
        // Errors without their mean, as the truth shows them, are no larger.
        let found = number(&report["accuracy"]["corrected"]["synchronization_ticks"]["max"]);
        assert!(
            found <= 2.0 * number(&bounds["largest"]),
            "{method}: {found}"
        );
    }
    // Recorded times are as far off as their clocks, to what messages leave open.
    let check = scratch.retime("check trace --truth truth --json -");
    let bounds = &json(&check.stdout)["bounds"];
    let largest = number(&bounds["largest"]);
    assert!((100_000.0..102_000.0).contains(&largest), "{largest}");
    assert_eq!(bounds["truth"]["share"], 1.0);
}

#[test]
fn bounds_are_saved_with_the_correction() {
    let scratch = skewed();
    let report = json(&scratch.succeed("correct trace -o out --json -"));
    let saved = json(&scratch.read("out/traces.retime"));
    let bounds = &saved["bounds"];
    assert_eq!(
        (number(&bounds["drift_bound"]), &bounds["reference"]),
        (1e-4, &0.into())
    );
    let clocks = bounds["clocks"].as_array().unwrap();
    assert_eq!(clocks.len(), 3);
    let mut largest: f64 = 0.0;
    for (location, clock) in clocks.iter().enumerate() {
        assert_eq!(clock["locations"], Value::from(vec![location]));
        let knots = clock["knots"].as_array().unwrap();
        let stamps: Vec<u64> = knots.iter().map(|knot| knot[0].as_u64().unwrap()).collect();
        assert!(stamps.len() > 1 && stamps.is_sorted());
        let sides = knots.iter().flat_map(|knot| [&knot[1], &knot[2]]);
        largest = sides.map(number).fold(largest, f64::max);
    }
    assert!(largest >= number(&report["bounds"]["largest"]));
    // Undoing needs none of it.
    scratch.succeed("undo out -o back -q");
    common::directory::assert_same(&scratch.join("trace"), &scratch.join("back"));
}

#[test]
fn without_bounds_nothing_is_said_of_them() {
    let scratch = skewed();
    let report = scratch.succeed("correct trace -o out --json - --bounds off");
    for word in ["\"bounds", "gentlest"] {
        assert!(!report.contains(word), "{word}");
    }
    assert!(!scratch.read("out/traces.retime").contains("bounds"));
    let check = scratch.retime("check trace -v --bounds off");
    assert!(!check.stdout.contains("bound"), "{}", check.stdout);
}

#[test]
fn the_drift_bound_has_many_forms() {
    let scratch = skewed();
    let bounds = |drift: &str| {
        let check = scratch.retime(&format!("check trace --json - --drift-bound {drift}"));
        json(&check.stdout)["bounds"].clone()
    };
    let usual = bounds("100ppm");
    for same in ["0.01%", "1e-4", "0.0001", "100000ppb"] {
        assert_eq!(bounds(same), usual, "{same}");
    }
    assert_eq!(usual["drift_bound"], 1e-4);
    let (steady, wild) = (bounds("1ppm"), bounds("1%"));
    let best = |of: &Value| number(&of["mean_half_width"]);
    assert!(best(&steady) < best(&usual) && best(&usual) < best(&wild));
}

/// A clock that swings by 10 us in so many nanoseconds: in 50 ms, so that its rate is up to 1257 ppm off.
fn swinging(period: f64) -> Scratch {
    exchange(|at| {
        let angle = std::f64::consts::TAU * at as f64 / period;
        (at as f64 + 10e3 * angle.sin()).round() as u64
    })
}

/// Two ranks that exchange messages for 100 ms; the clock of the second one shows that.
fn exchange(shown: impl Fn(u64) -> u64) -> Scratch {
    let mut program = Program::with_layout(Layout::node_per_rank(2));
    for round in 1..1_000 {
        let at = 100_000 * round;
        program.on(0).send(at, to(1)).recv(at + 3_000, from(1));
        program
            .on(1)
            .recv(shown(at + 1_000), from(0))
            .send(shown(at + 2_000), to(0));
    }
    traces::scratch([("trace", program)])
}

#[test]
fn where_the_drift_bound_is_contradicted_is_said() {
    let scratch = swinging(50e6);
    let report = |drift: &str| {
        let check = scratch.retime(&format!("check trace --json - --drift-bound {drift}"));
        json(&check.stdout)["bounds"].clone()
    };
    let places = report("10ppm")["contradicted"].clone();
    let places = places.as_array().unwrap();
    assert!(!places.is_empty());
    for place in places {
        let (after, until) = (number(&place["after"]), number(&place["until"]));
        assert!(
            after < until && number(&place["by_ticks"]) >= 1.0,
            "{place}"
        );
    }
    let check = scratch.retime("check trace --drift-bound 10ppm");
    let first = format!(
        "the clock of MPI Rank {} between its stamps {} and {} (0.0",
        places[0]["clock"], places[0]["after"], places[0]["until"]
    );
    for words in [
        "the drift bound is contradicted by",
        &first,
        "bounds hold if these clocks",
        "is too low, as where a time service slewed them: --drift-bound 500ppm allows for that",
    ] {
        assert!(check.stdout.contains(words), "{words}: {}", check.stdout);
    }
    let wide = scratch.retime("check trace --drift-bound 500ppm").stdout;
    assert!(wide.contains("else --drift-bound is too low\n"), "{wide}");
    // For clocks that may do what this one does nothing is contradicted.
    assert!(report("0.2%").get("contradicted").is_none());
    let check = scratch.retime("check trace --drift-bound 0.2%");
    assert!(
        !check.stdout.contains("is contradicted"),
        "{}",
        check.stdout
    );
}

/// A clock that gains 83,333 ppm for a fifth of the run, as chrony slews at most.
#[test]
fn a_slewed_clock_is_told_and_bounds_allow_for_it() {
    let gained = |at: u64| (at.clamp(40_000_000, 60_000_000) - 40_000_000) / 12;
    let scratch = exchange(|at| at + gained(at));
    let report = scratch.retime("correct trace -o out --max-rate-difference 10% --json -");
    let report = json(&report.stdout);
    let alignment = &report["method"]["alignment"];
    assert!(alignment.get("steps").is_none(), "{alignment}");
    let [faster, slower] = &alignment["rate_changes"].as_array().unwrap()[..] else {
        panic!("{alignment}")
    };
    let first = number(&report["trace"]["first_stamp"]);
    for (change, by_ppm, at) in [
        (faster, 83_333.0, 40e6),
        (slower, -83_333.0, 60e6 + 1e6 / 0.6),
    ] {
        assert_eq!(change["clock"], 1);
        assert!(
            (number(&change["by_ppm"]) - by_ppm).abs() < 100.0,
            "{change}"
        );
        assert!(
            (number(&change["at"]) - first - at).abs() < 200e3,
            "{change}"
        );
    }
    let bounds = &report["bounds"];
    assert_eq!(bounds["drift_bound"], 1e-4, "{bounds}");
    assert_eq!(&bounds["if_rates_change"], &alignment["rate_changes"]);
    for change in [faster, slower] {
        let [after, at, until] = ["after", "at", "until"].map(|it| number(&change[it]));
        assert!(after <= at && at <= until, "{change}");
    }
    // The slewed clock gains a millisecond and more; bounds without the two changes are those of messages.
    let half = number(&bounds["mean_half_width"]);
    assert!(half < 100e3, "{bounds}");
    assert!(bounds.get("contradicted").is_none(), "{bounds}");
    let said = scratch
        .retime("correct trace -o again --max-rate-difference 10%")
        .stdout;
    // What it gained by that is no drift.
    assert!(!said.contains("drift +"), "{said}");
    for words in [
        "the clock of MPI Rank 1 was slewed by +1.67 ms, at 83333.",
        " ppm, between its stamps ",
        " of the run), unless it was the other: two clocks cannot tell",
        "bounds hold if rates changed where the method found it, and no clock wanders more beside that",
    ] {
        assert!(said.contains(words), "{words}: {said}");
    }
    // Whoever gives a drift bound gives one for the rest of the run, and `check` says which rates changed.
    let given = scratch.retime("check trace --drift-bound 50ppm").stdout;
    for words in [
        "wander less than 50 ppm",
        "bounds hold if rates changed as follows, and no clock wanders more beside that:",
        "the clock of MPI Rank 1 was slewed by +1.67 ms, at 83333.",
    ] {
        assert!(given.contains(words), "{words}: {given}");
    }
}

/// A clock that swings in 200 ms, by up to 314 ppm, contradicts the usual drift bound, and not that of time services.
#[test]
fn one_larger_drift_bound_is_taken_for_many_steps() {
    let scratch = swinging(200e6);
    let bounds = |scratch: &Scratch, options: &str| {
        let check = scratch.retime(&format!("check trace --json - {options}"));
        json(&check.stdout)["bounds"].clone()
    };
    let larger = bounds(&scratch, "");
    assert_eq!(larger["drift_bound"], 5e-4);
    assert_eq!(larger["refuted_drift_bound"], 1e-4);
    assert!(larger.get("contradicted").is_none(), "{larger}");
    let explicit = bounds(&scratch, "--drift-bound 500ppm");
    assert_eq!(larger["mean_half_width"], explicit["mean_half_width"]);
    let said = scratch.retime("check trace").stdout;
    let reason = "100 ppm are contradicted in several places and 500 ppm in none";
    assert!(said.contains(reason), "{said}");
    // Whoever gives a drift bound gets bounds by it.
    let given = bounds(&scratch, "--drift-bound 100ppm");
    assert_eq!(given["drift_bound"], 1e-4);
    assert!(given["contradicted"].as_array().unwrap().len() > 1);
    assert!(given.get("refuted_drift_bound").is_none(), "{given}");
    // One that explains no more is not taken, and not advised.
    let scratch = swinging(20e6);
    assert_eq!(bounds(&scratch, "")["drift_bound"], 1e-4);
    let said = scratch.retime("check trace").stdout;
    assert!(said.contains("else --drift-bound is too low\n"), "{said}");
}

/// A time service takes 50 us from the second clock, less and less: its rate is off by 1250 ppm at first.
/// No message proves more than 500 ppm, but the alignment follows more.
#[test]
fn a_drift_bound_is_no_less_than_what_the_alignment_follows() {
    let scratch = exchange(|at| {
        let since = (at as f64 - 20e6).max(0.0);
        (at as f64 + 50e3 * (1.0 - (-since / 40e6).exp())).round() as u64
    });
    let check = scratch.retime("check trace --json -");
    let bounds = &json(&check.stdout)["bounds"];
    assert_eq!(bounds["drift_bound"], 1e-3, "{bounds}");
    assert_eq!(bounds["refuted_drift_bound"], 1e-4);
    assert!(bounds.get("contradicted").is_none(), "{bounds}");
    let said = scratch.retime("check trace").stdout;
    let reason = "100 ppm are contradicted and 1000 ppm are not, by which the best alignment has clocks \
                  wander";
    assert!(said.contains(reason), "{said}");
    // Whoever gives a drift bound gets bounds by it.
    let given = scratch.retime("check trace --json - --drift-bound 100ppm");
    assert_eq!(json(&given.stdout)["bounds"]["drift_bound"], 1e-4);
}

#[test]
fn clocks_without_bounds_are_named() {
    let scratch = Scratch::new();
    let mut program = Program::with_layout(Layout::node_per_rank(4));
    for round in 0..5 {
        let at = 10_000 + 1_000 * round;
        program
            .on(0)
            .send(at, to(1))
            .recv(at + 500, from(1))
            .send(at + 600, to(2));
        program.on(1).recv(at + 200, from(0)).send(at + 300, to(0));
        program.on(2).recv(at + 550, from(0));
        program.on(3).enter(at, "alone");
    }
    program.on(2).send(20_000, to(3).tag(9));
    traces::write(scratch.path(), "trace", &program);
    let check = scratch.retime("check trace");
    let one_sided = "warning    MPI Rank 2 / Master thread (location 2): dependencies relate it to \
                     MPI Rank 0 / Master thread (location 0) in one direction only";
    assert!(check.stdout.contains(one_sided), "{}", check.stdout);
    assert!(check.stdout.contains("of the events"), "{}", check.stdout);
}

#[test]
fn what_forces_a_distortion_is_named() {
    let scratch = traces::scratch([("trace", traces::bent(3))]);
    let check = scratch.retime("check trace -v --min-delay 0ticks");
    let text = "gentlest   no correction can keep all local intervals within";
    assert!(check.stdout.contains(text), "{}", check.stdout);
    assert!(
        check
            .stdout
            .contains("event 3 of location 1 -> event 3 of location 0")
    );
    let report = json(
        &scratch
            .retime("check trace --json - --min-delay 0ticks")
            .stdout,
    );
    let gentlest = &report["gentlest"];
    let ratio = number(&gentlest["needed_ticks"]) / number(&gentlest["width_ticks"]);
    assert!((number(&gentlest["distortion"]) - ratio).abs() < 1e-12);
    assert!(gentlest["forced_by"].as_array().unwrap().len() >= 2);
    // The method of that name attains it, on clocks that are none.
    let correct =
        "correct trace -o out --json - --min-delay 0ticks --method gentlest --repair off --force";
    let corrected = json(&scratch.retime(correct).stdout);
    let largest = number(&corrected["distortion"]["largest"]);
    assert!(largest < 1.01 * ratio, "{largest} against {ratio}");
    // Where shifts will do, that is said.
    let scratch = skewed();
    let check = scratch.retime("check trace -v");
    assert!(
        check
            .stdout
            .contains("constant shifts satisfy all dependencies")
    );
}

/// Messages one after the other around three clocks, which in one round arrive before they were sent:
/// no two clocks contradict each other, so it takes a second search to leave them out.
#[test]
fn clocks_that_are_unbounded_for_the_budget_are_counted() {
    let scratch = common::Scratch::new();
    let mut events = [Vec::new(), Vec::new(), Vec::new()];
    for round in 0..40_i64 {
        for from in 0..3_i64 {
            let begin = 1_000_000 * (round + 1);
            let (sent, takes) = match round {
                20 => (begin - 99_999 * from, -100_000),
                _ => (begin + 200_000 * from, 1_000),
            };
            let message = 3 * round + from;
            events[from as usize].push((sent, "send", message));
            events[(from as usize + 1) % 3].push((sent + takes, "receive", message));
        }
    }
    let mut lines = String::new();
    for (location, events) in events.iter_mut().enumerate() {
        events.sort_unstable();
        for (time, kind, message) in events {
            writeln!(
                lines,
                r#"{{"location":{location},"time":{time},"type":"{kind}","message":"{message}"}}"#
            )
            .unwrap();
        }
    }
    scratch.write("trace.jsonl", &lines);
    let bounds = |budget: &str| {
        let check = format!("check trace.jsonl --json - {budget}");
        let report = json(&scratch.retime(&check).stdout);
        (report["bounds"].clone(), report["warnings"].to_string())
    };
    let (found, said) = bounds("--bounds-budget 1");
    assert_eq!(found["complete"], false);
    assert_eq!(
        (&found["given_up_clocks"], &found["events"]),
        (&3.into(), &0.into())
    );
    let expected = "the search for error bounds has used up its steps: 3 clocks are not bounded on \
                    both sides; --bounds-budget allows more";
    assert!(said.contains(expected), "{said}");
    let (found, said) = bounds("");
    assert_eq!(found["complete"], true);
    assert_eq!(found["given_up_clocks"], 0);
    assert!(!said.contains("--bounds-budget"), "{said}");
}

/// Two clocks that send to each other twenty times, and forty times more from the first alone,
/// while the second was set forwards by 5 ms, which no dependency contradicts.
#[test]
fn bounds_say_until_when_a_step_would_show() {
    let scratch = common::Scratch::new();
    let mut lines = String::new();
    let mut message = |number: i64, from: (u8, i64), to: (u8, i64)| {
        for ((location, time), kind) in [(from, "send"), (to, "receive")] {
            writeln!(
                lines,
                r#"{{"location":{location},"time":{time},"type":"{kind}","message":"{number}"}}"#
            )
            .unwrap();
        }
    };
    for round in 0..20 {
        let at = 1_000_000 * (round + 1);
        message(2 * round, (0, at), (1, at + 1_000));
        message(2 * round + 1, (1, at + 2_000), (0, at + 3_000));
    }
    for round in 20..60 {
        let at = 1_000_000 * (round + 1);
        message(2 * round, (0, at), (1, at + 5_001_000));
    }
    scratch.write("trace.jsonl", &lines);
    let report = json(&scratch.retime("check trace.jsonl --json -").stdout);
    let clock = &report["bounds"]["clocks"][1];
    assert_eq!(clock["step_shows_from"], 1_002_000);
    assert_eq!(clock["step_shows_until"], 20_002_000);
    // Its first receive, and forty at the end.
    assert_eq!(clock["events_beyond"], 41);
    let summary = scratch.retime("check trace.jsonl -v").stdout;
    let said = "41 of 80 events lie before or after the stretch in which their clock both sends and \
                receives: there this is certain only if it was not set";
    assert!(summary.contains(said), "{summary}");
    let said = "a step larger than messages leave open would show from 1002000 until 20002000";
    assert!(summary.contains(said), "{summary}");
}

/// Two clocks that send to each other twenty times; the second also sends to a third one, and that to
/// a fourth: both can be set whenever they like.
#[test]
fn bounds_say_that_of_one_side_no_step_would_show() {
    let scratch = common::Scratch::new();
    let mut lines = String::new();
    for round in 0..20 {
        let ways = [(0, 1), (1, 0), (1, 2), (2, 3)];
        for (number, (from, to)) in (4 * round..).zip(ways) {
            let at = 1_000_000 * (round + 1) + 10_000 * (number % 4);
            for (location, time, kind) in [(from, at, "send"), (to, at + 1_000, "receive")] {
                writeln!(
                    lines,
                    r#"{{"location":{location},"time":{time},"type":"{kind}","message":"{number}"}}"#
                )
                .unwrap();
            }
        }
    }
    scratch.write("trace.jsonl", &lines);
    let report = json(&scratch.retime("check trace.jsonl --json -").stdout);
    let clocks = &report["bounds"]["clocks"];
    // What goes to the third clock shows no step of the second.
    assert_eq!(clocks[1]["step_shows_until"], 20_001_000);
    for clock in [2, 3] {
        assert!(clocks[clock]["step_shows_from"].is_null(), "{clocks}");
    }
    let summary = scratch.retime("check trace.jsonl").stdout;
    let said = "60 events are of clocks that are bounded on one side only: that side holds only if these \
                were not set";
    assert!(summary.contains(said), "{summary}");

    let first: Vec<&str> = lines.lines().take(2).collect();
    scratch.write("one.jsonl", &first.join("\n"));
    let summary = scratch.retime("check one.jsonl").stdout;
    let said = "1 event is of a clock that is bounded on one side only: that side holds only if it was not set";
    assert!(summary.contains(said), "{summary}");
}

#[test]
fn a_merge_without_bounds_says_that_none_were_asked_for() {
    let scratch = traces::scratch([("trace", traces::skewed())]);
    let said = scratch.succeed("merge trace -o merged.pftrace --bounds off");
    assert!(
        said.contains(", and no error bounds were asked for"),
        "{said}"
    );
    assert!(!said.contains("nothing bounds"), "{said}");
    let asked = scratch.succeed("merge trace -o again.pftrace --min-delay 1us --force");
    assert!(
        asked.contains("as corrected are reversed or faster than the minimal delay"),
        "{asked}"
    );
}
