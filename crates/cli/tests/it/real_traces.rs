//! Recordings of real programs, where the shared traces are at hand.

use crate::archives;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use crate::common::directory::{self, assert_same};
use crate::common::{Scratch, judge, times};
use retime_otf2::Trace;
use serde_json::Value;

/// A directory with shared traces; `None`, and a note, if they are not there.
pub(crate) fn unpacked(names: &[&str]) -> Option<Scratch> {
    let Some(traces) = archives::shared() else {
        eprintln!("skipped: no shared traces beside the repository, needed {names:?}");
        return None;
    };
    let scratch = Scratch::new();
    for name in names {
        let mut tar = Command::new("tar");
        tar.arg("--zstd").arg("-xf");
        tar.arg(traces.join(format!("{name}.tar.zst")));
        let status = tar.arg("-C").arg(scratch.path()).status().unwrap();
        assert!(status.success(), "tar unpacks {name}");
    }
    Some(scratch)
}

pub(crate) fn report(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

/// The printed lines of each section and location, in order, without times;
/// and the times.
#[derive(Debug, Default)]
struct Printed {
    /// Everything before the events.
    definitions: Vec<String>,
    lines: BTreeMap<(String, u64), Vec<String>>,
    times: BTreeMap<(String, u64), Vec<u64>>,
    /// Second times of events that have two.
    stops: BTreeMap<u64, Vec<u64>>,
    complaints: Vec<String>,
}

impl Printed {
    fn new(anchor: &Path) -> Option<Self> {
        let printed = judge::otf2_print(anchor, &["-A"])?;
        let mut all = Self {
            complaints: printed
                .complaints
                .iter()
                .map(|line| line.replace(&*anchor.with_extension("").to_string_lossy(), "NAME"))
                .collect(),
            ..Self::default()
        };
        let (mut section, mut location) = (String::new(), 0);
        for line in printed.text.lines() {
            if line.starts_with("=== ") {
                line.clone_into(&mut section);
            } else if section.starts_with("=== Events") || section.starts_with("=== Snapshots") {
                all.event(line, &section, &mut location);
            } else if !line.starts_with("CLOCK_PROPERTIES") {
                all.definitions.push(line.to_owned());
            }
        }
        Some(all)
    }

    fn event(&mut self, line: &str, section: &str, location: &mut u64) {
        // Of millions of lines, which the tool writes with spaces.
        let mut words: Vec<&str> = line.split_ascii_whitespace().collect();
        let numbers = [1, 2].map(|at| words.get(at).and_then(|word| word.parse().ok()));
        let mut times = None;
        if let [Some(id), Some(time)] = numbers {
            *location = id;
            times = Some(time);
            words[2] = "TIME";
            if words[0] == "BUFFER_FLUSH" {
                let last = words.len() - 1;
                let stops = self.stops.entry(id).or_default();
                stops.push(words[last].parse().unwrap());
                words[last] = "TIME";
            }
        }
        let key = (section.to_owned(), *location);
        self.lines
            .entry(key.clone())
            .or_default()
            .push(words.join(" "));
        self.times.entry(key).or_default().extend(times);
    }

    /// The same but for times, and nothing new to complain about.
    #[track_caller]
    fn assert_differs_in_times_only(&self, other: &Self) {
        assert_eq!(self.definitions, other.definitions);
        for (key, lines) in &self.lines {
            let theirs = &other.lines[key];
            let at = lines.iter().zip(theirs).find(|(a, b)| a != b);
            assert_eq!(at, None, "{key:?}");
            assert_eq!(lines.len(), theirs.len(), "{key:?}");
        }
        assert_eq!(self.lines.len(), other.lines.len());
        let new = other
            .complaints
            .iter()
            .find(|it| !self.complaints.contains(it));
        assert_eq!(new, None);
    }
}

/// Everything that must hold of a trace and its corrected copy `out`.
fn check_corrected(scratch: &Scratch, trace: &str, anchor: &str) {
    let (input, output) = (scratch.join(trace), scratch.join("out"));
    let (before, after) = (Trace::open(&input).unwrap(), Trace::open(&output).unwrap());
    for location in before.locations() {
        let counts = |trace: &Trace| trace.times(location, &[], &()).unwrap().counts;
        assert_eq!(counts(&before), counts(&after));
    }
    let printed = [&input, &output].map(|dir| Printed::new(&dir.join(anchor)));
    if let [Some(before), Some(after)] = &printed {
        before.assert_differs_in_times_only(after);
        assert_ne!(before.times, after.times);
    }
    let again = report(&scratch.succeed("check out --json -"));
    assert_eq!(again["before"]["reversed"], 0);
    assert_eq!(again["before"]["out_of_order"], 0);
    scratch.succeed("undo out -o back");
    assert_same(&input, &scratch.join("back"));
}

#[test]
fn sound_traces_come_out_as_they_are() {
    let names = [
        "halo4.otf2d",
        "ring4.otf2d",
        "colls4.otf2d",
        "ping-pong-otf2",
        "ping-pong-otf2-papi",
        "t0a",
        "t0b",
    ];
    let Some(scratch) = unpacked(&names) else {
        return;
    };
    for name in names {
        let outcome = scratch.retime(&format!("correct {name} -o {name}.out --json -"));
        // The peers of two of them are not defined, so nothing could be looked at.
        assert_eq!(
            outcome.code,
            Some(if name.starts_with("t0") { 3 } else { 0 }),
            "{name}"
        );
        let report = report(&outcome.stdout);
        assert_eq!(report["before"]["reversed"], 0, "{name}");
        assert_eq!(report["after"], Value::Null, "{name}");
        assert_same(&scratch.join(name), &scratch.join(&format!("{name}.out")));
    }
}

#[test]
fn a_run_with_clock_offsets_is_corrected() {
    let Some(scratch) = unpacked(&["rtns.mono", "rtns.truth"]) else {
        return;
    };
    let report = report(&scratch.succeed("correct rtns.mono -o out --json -"));
    let (before, after) = (&report["before"], &report["after"]);
    assert_eq!(report["trace"]["events"], 456_040);
    assert_eq!(before["messages"]["reversed"], 23_778);
    assert_eq!(before["messages"]["total"], 48_000);
    assert_eq!(before["collectives"]["reversed"], 8_911);
    assert_eq!(after["reversed"], 0);
    assert_eq!(after["short"], 0);
    let delay = report["parameters"]["min_delay"]["smallest_ticks"].as_i64();
    assert!((1..=176).contains(&delay.unwrap()), "{delay:?}");

    let recorded = mean_error(&scratch, "rtns.mono");
    let corrected = mean_error(&scratch, "out");
    eprintln!("mean error {recorded:.0} ns recorded, {corrected:.0} ns corrected");
    assert!((67_000.0..68_000.0).contains(&recorded), "{recorded}");
    assert!(corrected <= 1_000.0, "{corrected}");
    check_corrected(&scratch, "rtns.mono", "traces.otf2");
}

/// Mean deviation of all events from their true times in ns, up to a constant.
fn mean_error(scratch: &Scratch, trace: &str) -> f64 {
    let times = |name: &str| -> Vec<u64> {
        let times = times::times(&scratch.join(name)).into_iter();
        times.flat_map(|(_, times)| times).collect()
    };
    let (found, truth) = (times(trace), times("rtns.truth"));
    assert_eq!((found.len(), truth.len()), (456_040, 456_040));
    let errors = found
        .iter()
        .zip(&truth)
        .map(|(found, truth)| found.wrapping_sub(*truth) as i64 as f64);
    let errors: Vec<f64> = errors.collect();
    times::mean_deviation(&errors)
}

#[test]
fn a_lost_record_is_reported_and_left_out() {
    let Some(scratch) = unpacked(&["dr.mono"]) else {
        return;
    };
    let strict = scratch.retime("correct dr.mono -o out --strict");
    assert_eq!(strict.code, Some(1));
    assert!(
        strict.stderr.contains("1 send without a receive"),
        "{strict:#?}"
    );
    assert!(!scratch.join("out").exists());

    let report = report(&scratch.succeed("correct dr.mono -o out --json -"));
    let oddities = report["matching"]["oddities"].as_array().unwrap();
    assert_eq!(oddities.len(), 2, "{oddities:#?}");
    for (oddity, kind) in oddities
        .iter()
        .zip(["send-without-receive", "receive-never-completed"])
    {
        assert_eq!(oddity["kind"], kind);
        assert_eq!(oddity["count"], 1);
    }
    assert_eq!(report["before"]["messages"]["total"], 47_999);
    assert_eq!(report["after"]["reversed"], 0);
    check_corrected(&scratch, "dr.mono", "traces.otf2");
}

#[test]
fn an_eztrace_recording_is_corrected() {
    let Some(scratch) = unpacked(&["ezr1"]) else {
        return;
    };
    let report = report(&scratch.succeed("correct ezr1/ring_trace -o out --json -"));
    let before = &report["before"]["messages"];
    assert!(
        before["reversed"].as_u64() > before["total"].as_u64().map(|total| total / 2),
        "{before}"
    );
    assert_eq!(report["after"]["reversed"], 0);
    let warnings = report["warnings"].to_string();
    assert!(warnings.contains("Group 0 is defined twice"), "{warnings}");
    assert!(
        warnings.contains("4 locations with another number of events"),
        "{warnings}"
    );
    check_corrected(&scratch, "ezr1/ring_trace", "eztrace_log.otf2");
}

/// The last line of a check and its exit code.
fn verdict(scratch: &Scratch, trace: &str) -> (i32, String) {
    let outcome = scratch.retime(&format!("check {trace}"));
    let last = outcome.stdout.lines().last().unwrap_or_default().to_owned();
    (outcome.code.unwrap(), last)
}

const SOUND: &str = "No contradiction: every effect is stamped at or after its cause.";

#[test]
fn threads_that_other_paradigms_number_are_no_ranks() {
    let names = [
        "defects/D1a-threads-omp-locations-message",
        "defects/D1b-threads-omp-locations-barrier",
        "defects/D1-controls",
    ];
    let Some(scratch) = unpacked(&names) else {
        return;
    };
    for trace in scratch.entries() {
        assert_eq!(verdict(&scratch, &trace), (0, SOUND.to_owned()), "{trace}");
        scratch.succeed(&format!("correct {trace} -o out --force"));
        assert_same(&scratch.join(&trace), &scratch.join("out"));
    }
}

#[test]
fn ranks_that_are_location_groups_are_corrected() {
    let Some(scratch) = unpacked(&["defects/comm-location-groups"]) else {
        return;
    };
    for trace in ["LG/L1", "LG/LG1", "LG/LG2"] {
        let text = scratch
            .retime(&format!("check {trace}"))
            .expect_code(1)
            .stdout;
        assert!(text.contains("messages         5 of 5 (100.0 %)"), "{text}");
        scratch.succeed(&format!("correct {trace} -o out --force"));
        assert_eq!(verdict(&scratch, "out"), (0, SOUND.to_owned()), "{trace}");
        scratch.succeed("undo out -o back --force");
        assert_same(&scratch.join(trace), &scratch.join("back"));
    }
}

/// Of the records of this trace only launches and their kernels tell of communication;
/// the threads that Score-P numbers in every trace are no ranks.
#[test]
fn kernels_follow_their_launches() {
    let Some(scratch) = unpacked(&["mi300-scorep"]) else {
        return;
    };
    assert_eq!(verdict(&scratch, "mi300-scorep"), (0, SOUND.to_owned()));
    let report = report(&scratch.succeed("check mi300-scorep --json -"));
    assert_eq!(report["examined"]["message_ends"]["used"], 4);
    assert_eq!(report["examined"]["unused"], Value::Array(vec![]));
}

/// Nothing but the order of launches shows that these kernels are stamped 5 us early.
#[test]
fn kernels_that_begin_before_their_launch_are_repaired() {
    let Some(scratch) = unpacked(&["defects/M-missing-edge-kinds"]) else {
        return;
    };
    for clocks in ["auto", "process", "location"] {
        let options = format!("s.gpu-same-group --clocks {clocks}");
        let report = report(&scratch.retime(&format!("check {options} --json -")).stdout);
        assert_eq!(report["before"]["reversed"], 8, "{clocks}");
        scratch.succeed(&format!("correct {options} -o out --force -q"));
        assert_eq!(verdict(&scratch, "out"), (0, SOUND.to_owned()), "{clocks}");
        scratch.succeed("undo out -o back --force -q");
        assert_same(&scratch.join("s.gpu-same-group"), &scratch.join("back"));
    }
}

/// Collectives of 0.7 s that all wait for hundreds of microseconds: lines that follow them would drift by
/// 600 ppm, and be twice as far from the truth as constants.
#[test]
fn loose_collectives_of_a_short_run_prove_no_drift() {
    let Some(scratch) = unpacked(&["gpu/gloo_ddp4"]) else {
        return;
    };
    std::fs::create_dir(scratch.join("shifted")).unwrap();
    for rank in 0..4 {
        let name = format!("rank{rank}.json");
        let text = scratch.read(&format!("ddp4/{name}"));
        let mut profile: Value = serde_json::from_str(&text).unwrap();
        for event in profile["traceEvents"].as_array_mut().unwrap() {
            if let Some(time) = event["ts"].as_f64().filter(|_| rank == 3) {
                event["ts"] = Value::from(time - 2_500.0);
            }
        }
        scratch.write(&format!("shifted/{name}"), &profile.to_string());
    }
    let report = report(&scratch.succeed("correct shifted -o out --truth ddp4 -q --json -"));
    for host in report["hosts"].as_array().unwrap() {
        let rate = host["drift"]["rate"].as_f64().unwrap_or(0.0);
        assert!(rate.abs() < 1e-4, "{host}");
    }
    let error = &report["accuracy"]["corrected"]["relative_ticks"]["mean_abs"];
    assert!(error.as_f64() < Some(50_000.0), "{error}");
}

const IDENTITY: &str = r#"{"format": "retime correction", "version": 1, "clocks": []}"#;
const SHIFT: &str =
    r#"{"format":"retime correction","version":1,"clocks":[{"knots":[[0,1000000]]}]}"#;

#[test]
fn every_type_of_record_survives() {
    let names = ["alltypes", "alltypes32"];
    let Some(scratch) = unpacked(&names) else {
        return;
    };
    scratch.write("identity.json", IDENTITY);
    scratch.write("shift.json", SHIFT);
    for name in names {
        scratch.succeed(&format!("apply identity.json {name} -o same --force"));
        assert_same(&scratch.join(name), &scratch.join("same"));
    }

    scratch.succeed("apply shift.json alltypes -o out");
    let printed =
        ["alltypes", "out"].map(|dir| Printed::new(&scratch.join(dir).join("traces.otf2")));
    if let [Some(before), Some(after)] = &printed {
        before.assert_differs_in_times_only(after);
        for (key, times) in &before.times {
            // An event that is stamped before its predecessor waits for it.
            let mut latest = 0;
            let shifted = times.iter().map(|&time| {
                latest = time.max(if key.0.contains("Events") { latest } else { 0 });
                latest + 1_000_000
            });
            assert!(shifted.eq(after.times[key].iter().copied()), "{key:?}");
        }
        for (location, stops) in &before.stops {
            let shifted = stops.iter().map(|stop| stop + 1_000_000);
            assert!(
                shifted.eq(after.stops[location].iter().copied()),
                "{location}"
            );
        }
        assert!(before.stops.values().map(Vec::len).sum::<usize>() > 100);
    }
    scratch.succeed("undo out -o back");
    assert_same(&scratch.join("alltypes"), &scratch.join("back"));

    // Here some stamps are at the end of what 64 bits hold.
    let outcome = scratch.retime("apply shift.json alltypes32 -o out32");
    assert_eq!((outcome.code, &*outcome.stdout), (Some(2), ""));
    assert!(
        outcome.stderr.contains("does not fit into 64 bits"),
        "{outcome:#?}"
    );
    assert!(!scratch.join("out32").exists());
}

#[test]
fn archives_of_either_byte_order_survive() {
    let Some(scratch) = unpacked(&["variants"]) else {
        return;
    };
    // By more the largest stamps would not fit.
    scratch.write("shift.json", &SHIFT.replace("1000000", "100"));
    let mut found = 0;
    for name in directory::entries(&scratch.join("variants")) {
        let trace = format!("variants/{name}");
        found += 1;
        scratch.succeed(&format!("apply shift.json {trace} -o out --force"));
        scratch.succeed("undo out -o back --force");
        assert_same(&scratch.join(&trace), &scratch.join("back"));
        let anchors = [&trace, "out"].map(|dir| scratch.join(dir).join("traces.otf2"));
        if let [Some(before), Some(after)] = anchors.map(|anchor| Printed::new(&anchor)) {
            before.assert_differs_in_times_only(&after);
        }
    }
    assert!(found > 0);
}

#[test]
fn what_is_silent_moves_with_its_host() {
    let names = [
        "D2-controls",
        "D2a-gpu-accelerator-group",
        "D2b-gpu-cluster-no-node",
        "D2c-silent-process-on-node",
    ]
    .map(|name| format!("defects/{name}"));
    let Some(scratch) = unpacked(&names.each_ref().map(String::as_str)) else {
        return;
    };
    // Who follows whom, by location id.
    for (name, follow) in [
        ("f.gpu-node", vec![(1, 0), (3, 2)]),
        ("f.gpu-nonode", vec![(1, 0), (3, 2)]),
        ("f.gpu-samegroup", vec![(1, 0), (4, 3)]),
        ("f.silent-process", vec![(2, 1)]),
        ("f.silent-thread", vec![(2, 1)]),
    ] {
        let recorded: BTreeMap<u64, Vec<u64>> =
            times::times(&scratch.join(name).join("traces.otf2"))
                .into_iter()
                .collect();
        for clocks in ["auto", "node", "process", "location"] {
            let options = format!("{name} -o out --force -q --clocks {clocks}");
            scratch.succeed(&format!("correct {options}"));
            let corrected: BTreeMap<u64, Vec<u64>> = times::times(&scratch.join("out/traces.otf2"))
                .into_iter()
                .collect();
            let moved = |location: u64| {
                let times = recorded[&location].iter().zip(&corrected[&location]);
                let by = times.map(|(&before, &after)| after.wrapping_sub(before) as i64);
                (by.clone().min().unwrap(), by.max().unwrap())
            };
            for &(silent, host) in &follow {
                let ((least, most), (low, high)) = (moved(silent), moved(host));
                assert!(
                    low - 1 <= least && most <= high + 1,
                    "{silent} in {options}"
                );
            }
            scratch.succeed("undo out -o back --force -q");
            assert_same(&scratch.join(name), &scratch.join("back"));
        }
    }
    let sound = "f.gpu-sound";
    scratch.succeed(&format!("correct {sound} -o out --force -q"));
    assert_same(&scratch.join(sound), &scratch.join("out"));
}

#[test]
fn metrics_and_streams_of_one_process_have_its_clock() {
    let Some(scratch) = unpacked(&["mi300-scorep"]) else {
        return;
    };
    let outcome = scratch.retime("correct mi300-scorep -o out --json -");
    let report = report(&outcome.stdout);
    assert_eq!(report["trace"]["locations"], 32);
    assert_eq!(report["clocks"]["count"], 1);
    assert_eq!(report["clocks"]["refuted_groups"], 0);
    assert_same(&scratch.join("mi300-scorep"), &scratch.join("out"));
}

#[test]
fn no_pair_of_a_sound_trace_is_false() {
    let cases = [
        ("D3a-recv-and-irecv-threads", "f.recv-and-irecv-threads", 2),
        (
            "D3b-irecv-record-order-threads",
            "f.irecv-record-order-threads",
            2,
        ),
        ("D4a-mrecv-recorded-as-recv", "f.mrecv-as-recv", 2),
        ("D5-recording-off", "f.recording-off", 0),
        (
            "D6-unrecorded-mrecv-shifts-channel",
            "f.widow1-truth",
            1_000,
        ),
    ];
    let archives = cases.map(|(archive, ..)| format!("defects/{archive}"));
    let Some(scratch) = unpacked(&archives.each_ref().map(|it| &**it)) else {
        return;
    };
    for (_, trace, messages) in cases {
        let outcome = scratch.retime(&format!("check {trace} --json -"));
        let before = &report(&outcome.stdout)["before"];
        assert_eq!(before["messages"]["total"], messages, "{trace}");
        assert_eq!(before["reversed"], 0, "{trace}");
    }
}
