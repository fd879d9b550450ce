//! Events that last while their clock is set.

use std::fs;

use proptest::prelude::*;
use retime::format::Format;
use retime::{ClockMap, Clocks, Correction, Knot, Timestamp};
use retime_kineto::Kineto;
use serde_json::Value;

/// A call that launches a kernel after so many nanoseconds and lasts so many, and the kernel, which
/// begins so many later and lasts as said.
#[derive(Clone, Copy, Debug)]
struct Launched {
    after: u64,
    calls: u64,
    later: u64,
    lasts: u64,
}

/// The nanoseconds from the begin of an event to its end.
type Stretch = (u64, u64);

/// A profile of launches and kernels, which wait for one another on one stream, all in one range.
fn profile(launched: &[Launched]) -> (String, Vec<[Stretch; 2]>) {
    let (mut now, mut free) = (1_000_000, 0);
    let mut stretches = Vec::new();
    for it in launched {
        now += it.after;
        let begin = free.max(now + it.later);
        stretches.push([(now, now + it.calls), (begin, begin + it.lasts)]);
        (now, free) = (now + it.calls, begin + it.lasts);
    }
    let last = stretches.iter().flatten().map(|it| it.1).max().unwrap();
    let us = |ns: u64| format!("{}.{:03}", ns / 1_000, ns % 1_000);
    let event = |cat: &str, pid: u32, (from, to): Stretch, number: usize| {
        let (ts, dur) = (us(from), us(to - from));
        // Keys come in any order.
        let times = match number % 3 {
            0 => format!(r#""dur": {dur}, "ts": {ts}"#),
            1 => format!(r#""ts": "{ts}", "dur": "{dur}""#),
            _ => format!(r#""ts": {ts}, "dur": {dur}0017"#),
        };
        let name = if cat == "kernel" {
            "add"
        } else {
            "cudaLaunchKernel"
        };
        format!(
            r#"{{"ph": "X", "cat": "{cat}", "name": "{name}", "pid": {pid}, "tid": {pid}, {times},
                "args": {{"correlation": {number}}}}}"#
        )
    };
    let mut events = vec![event("user_annotation", 9, (900_000, last), 0)];
    for (number, [launch, kernel]) in (1..).zip(&stretches) {
        events.push(event("cuda_runtime", 9, *launch, number));
        events.push(event("kernel", 7, *kernel, number));
    }
    (
        format!("{{\"traceEvents\": [{}]}}", events.join(",\n")),
        stretches,
    )
}

/// The begins and ends of the events of a profile.
fn stretches(text: &str) -> Vec<Stretch> {
    let ns = |it: &Value| {
        let text = it.as_str().map_or_else(|| it.to_string(), str::to_owned);
        (text.parse::<f64>().unwrap() * 1e3 + 0.001) as u64
    };
    let document: Value = serde_json::from_str(text).unwrap();
    let events = document["traceEvents"].as_array().unwrap().iter();
    events
        .map(|it| (ns(&it["ts"]), ns(&it["ts"]) + ns(&it["dur"])))
        .collect()
}

proptest! {
    /// A kernel after its launch stays there, kernels follow each other, and what a map changes
    /// by more than drift has both ends where it says.
    #[test]
    fn dependencies_survive_a_clock_that_is_set(
        launched in prop::collection::vec(
            (0_u64..50_000, 500_u64..9_000, 1_u64..30_000, 100_u64..400_000), 1..20),
        pieces in prop::collection::vec((1_000_u64..600_000, 0_u64..900_000), 1..5),
    ) {
        let launched: Vec<Launched> = launched.into_iter().map(|(after, calls, later, lasts)| {
            Launched { after, calls, later, lasts }
        }).collect();
        let (text, recorded) = profile(&launched);
        let knots = pieces.iter().scan((1_000_000, 5_000_000), |at, (raw, to)| {
            *at = (at.0 + raw, at.1 + to);
            Some(Knot::at(Timestamp(at.0), Timestamp(at.1)))
        });
        let map = ClockMap::new(knots.collect(), vec![]).unwrap();

        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::write(at("t.json"), &text).unwrap();
        let trace = Kineto.open(&at("t.json")).unwrap();
        let locations = trace.scan(&()).unwrap().info.locations.len();
        let clocks = Clocks::from_owners(&vec![(); locations]).0;
        let correction = Correction::new(clocks, vec![map.clone()]);
        let undo = trace.rewriting().unwrap().rewrite(&correction, &at("new.json"), &()).unwrap();

        let new = stretches(&fs::read_to_string(at("new.json")).unwrap());
        let mut cursor = map.cursor(retime::LocationIndex(0));
        let mut maps = |time: u64| cursor.map_time(Timestamp(time)).unwrap().0;
        let mut free = 0;
        for (was, is) in recorded.iter().zip(new[1..].chunks(2)) {
            // Where a map stands still, what comes later stays later by a nanosecond.
            let still = 2 * launched.len() as u64 + 2;
            prop_assert!(is[1].0 + still >= is[0].0, "{is:?} were {was:?}");
            if was[1].0 > was[0].0 && maps(was[1].0) > maps(was[0].0) + still {
                prop_assert!(is[1].0 >= is[0].0, "{is:?} were {was:?}");
            }
            prop_assert!(is[1].0 >= free, "{is:?} were {was:?}");
            free = is[1].1;
            let mapped = (maps(was[1].0), maps(was[1].1));
            if (mapped.1 - mapped.0).abs_diff(was[1].1 - was[1].0) > 1_000 {
                prop_assert!(is[1].0.abs_diff(mapped.0) <= still, "{is:?} were {was:?}");
                prop_assert!(is[1].1.abs_diff(mapped.1) <= still, "{is:?} were {was:?}");
            }
        }

        let copy = Kineto.open(&at("new.json")).unwrap();
        copy.rewriting().unwrap().restore(&correction, &undo, &at("back.json"), &()).unwrap();
        prop_assert_eq!(fs::read_to_string(at("back.json")).unwrap(), text);
    }
}
