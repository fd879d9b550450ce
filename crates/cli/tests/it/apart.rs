//! Events that are kept apart: all of them, in every view of the result, and back again.

use std::collections::HashMap;
use std::path::Path;

use crate::common::directory::assert_same;
use crate::common::times::times;
use crate::common::traces;
use serde_json::Value;

/// Options, and how many ticks successive events of a location are apart.
const LAWS: [(&str, u64); 8] = [
    ("--method lamport", 1),
    ("--method lamport --backward", 1),
    ("--method simple --min-distance 3ticks", 3),
    ("--method simple --min-distance 3ticks --backward", 3),
    ("--method clc --min-distance 1ticks", 1),
    ("--method clc --min-distance 40ticks --amortization off", 40),
    (
        "--method clc --controller 1997 --steps every --min-distance 2ticks",
        2,
    ),
    ("--method regression --min-distance 5ticks", 5),
];

fn by_location(trace: &Path) -> HashMap<u64, Vec<u64>> {
    times(trace).into_iter().collect()
}

fn assert_apart(times: &HashMap<u64, Vec<u64>>, distance: u64, what: &str) {
    for (location, times) in times {
        for pair in times.windows(2) {
            assert!(pair[1] >= pair[0] + distance, "{what}: {location} {pair:?}");
        }
    }
}

#[test]
fn all_events_are_apart_in_every_view_and_come_back() {
    let scratch = traces::scratch([("skewed", traces::skewed())]);
    for (number, (options, distance)) in LAWS.iter().enumerate() {
        let out = format!("skewed-{number}");
        let what = format!("skewed {options}");
        let told = scratch.retime(&format!(
            "correct skewed -o {out} --always --force {options}"
        ));
        assert_eq!(told.stderr, "", "{what}");
        let corrected = by_location(&scratch.join(&out));
        assert_apart(&corrected, *distance, &what);

        let listed = format!("order {out} --format jsonl");
        let listed = scratch.retime(&listed).stdout;
        let mut seen: HashMap<u64, Vec<u64>> = HashMap::new();
        for line in listed.lines().skip(1) {
            let event: Value = serde_json::from_str(line).unwrap();
            let location = event["location"].as_u64().unwrap();
            seen.entry(location)
                .or_default()
                .push(event["time"].as_u64().unwrap());
        }
        assert_eq!(seen, corrected, "{what}");

        let saved = scratch.join(&out).join("traces.retime");
        scratch.succeed(&format!(
            "apply {} skewed -o again-{out} --force",
            saved.display()
        ));
        assert_eq!(
            by_location(&scratch.join(&format!("again-{out}"))),
            corrected,
            "{what}"
        );
        scratch.succeed(&format!("undo {out} -o back-{out}"));
        assert_same(
            &scratch.join("skewed"),
            &scratch.join(&format!("back-{out}")),
        );
    }
}

#[test]
fn a_file_gives_each_location_its_distance() {
    let scratch = traces::scratch([("skewed", traces::skewed())]);
    let ids: Vec<u64> = {
        let mut ids: Vec<u64> = by_location(&scratch.join("skewed")).into_keys().collect();
        ids.sort_unstable();
        ids
    };
    scratch.write(
        "apart",
        &format!("# whose how\n* 2ticks\n{} 50ticks\n", ids[0]),
    );
    scratch.retime("correct skewed -o out --method simple --min-distance apart --always");
    let corrected = by_location(&scratch.join("out"));
    let of = |wanted: bool| {
        let some = corrected.iter().filter(|it| (*it.0 == ids[0]) == wanted);
        some.map(|(id, times)| (*id, times.clone()))
            .collect::<HashMap<_, _>>()
    };
    assert_apart(&of(true), 50, "the first");
    assert_apart(&of(false), 2, "the others");
    for (content, message) in [
        ("7777 2ticks\n", "line 1: the trace has no location 7777"),
        ("* 2\n", "line 1:"),
        ("*\n", "line 1: expected \"LOCATION DISTANCE\", found \"*\""),
    ] {
        scratch.write("apart", content);
        let refused = scratch.retime("correct skewed -o no --method simple --min-distance apart");
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.stderr.contains(message), "{}", refused.stderr);
    }
    let absent = scratch.retime("correct skewed -o no --method simple --min-distance absent");
    assert!(
        absent
            .stderr
            .contains("neither a value with a unit such as 1ns, nor a file")
    );
}

#[test]
fn steps_without_a_controller_that_steps_are_refused() {
    let scratch = traces::scratch([("skewed", traces::skewed())]);
    let refused = scratch.retime("correct skewed -o out --method clc --steps every");
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("--steps every has no part"),
        "{}",
        refused.stderr
    );
    let refused = scratch.retime("correct skewed -o out --method simple --steps every");
    assert!(
        refused
            .stderr
            .contains("--steps has no part in --method simple")
    );
}

/// Intervals are told of events that communicate, and where more is asked for of all.
#[test]
fn changes_are_told_of_all_events_where_more_is_asked_for() {
    let scratch = traces::scratch([("skewed", traces::skewed())]);
    let events: usize = by_location(&scratch.join("skewed"))
        .values()
        .map(|it| it.len() - 1)
        .sum();
    let short = scratch.retime("correct skewed -o a --method clc").stdout;
    assert!(!short.contains("between all events"), "{short}");
    let long = scratch
        .retime("correct skewed -o b --method clc -v --json c.json")
        .stdout;
    assert!(long.contains("between all events"), "{long}");
    let report: Value = serde_json::from_str(&scratch.read("c.json")).unwrap();
    assert_eq!(report["distortion"]["all_events"]["intervals"], events);
}
