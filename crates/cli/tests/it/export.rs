//! `retime export`: what is in the file, where it goes, and what it leaves alone. What viewers
//! make of it is tested beside `retime-export` and in `tests/browser`.

use std::fs::{self, File};
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::common::{Outcome, Scratch, as_lines, traces};
use crate::examined;

fn recording() -> Scratch {
    let scratch = Scratch::in_memory();
    traces::recording(scratch.path());
    scratch
}

fn events(json: &[u8]) -> Vec<Value> {
    let file: Value = serde_json::from_slice(json).unwrap();
    file["traceEvents"].as_array().unwrap().clone()
}

fn count(events: &[Value], phase: &str) -> usize {
    events.iter().filter(|it| it["ph"] == phase).count()
}

#[test]
fn it_holds_what_the_trace_holds() {
    let scratch = Scratch::in_memory();
    scratch.succeed("simulate halo -o halo --no-truth --ranks 4 --events 30000 -q");
    let order = scratch.retime("order halo --format csv -q").stdout;
    let enters = order.lines().filter(|it| it.contains(",Enter,")).count();
    for (times, code, groups) in [("recorded", 1, 1), ("corrected", 0, 1), ("both", 0, 2)] {
        let command = format!("export halo -o {times}.json --times {times} -q --json {times}");
        scratch.retime(&command).expect_code(code);
        let report: Value = serde_json::from_str(&scratch.read(times)).unwrap();
        let before = &report["before"];
        let reversed = before["reversed"].as_u64().unwrap() as usize;
        assert!(reversed > 1000, "{reversed}");
        let dependencies = |of: &str| before[of]["total"].as_u64().unwrap() as usize;
        let arrows = dependencies("messages") + dependencies("collectives");

        let events = events(&fs::read(scratch.join(&format!("{times}.json"))).unwrap());
        for (phase, expected) in [("B", enters), ("E", enters), ("s", arrows), ("f", arrows)] {
            assert_eq!(count(&events, phase), groups * expected, "{times} {phase}");
        }
        // One for each send and receive, each end of a collective, and the last begins.
        let is_listed = |it: &&Value| it["name"].as_str().unwrap_or("").starts_with("reversed ");
        let listed = events.iter().filter(is_listed).count();
        assert_eq!(listed, groups * reversed, "the track of contradictions");
        let points = count(&events, "X") - listed;
        let ends = groups * (2 * dependencies("messages") + dependencies("collectives"));
        assert!(points > ends && points <= groups * 2 * arrows, "{points}");
        let marked = events
            .iter()
            .filter(|it| it["ph"] == "s" && it["cat"] == "reversed");
        let recorded = if times == "corrected" { 0 } else { reversed };
        assert_eq!(marked.count(), recorded, "{times}");
        let named = |name| events.iter().filter(|it| it["name"] == name).count();
        // Four ranks, and the track of contradictions.
        assert_eq!(named("process_name"), groups * 5);
        assert_eq!(named("thread_name"), groups * 5);
        assert_eq!(named("clock offset") > 0, times != "recorded");
    }
}

/// Locations have other ids in an export, as tracks come first that the trace does not have.
#[test]
fn of_an_export_that_is_read_again_locations_have_one_id() {
    let scratch = Scratch::in_memory();
    scratch.succeed("simulate halo -o halo --no-truth --ranks 4 --events 20000 -q");
    let known = scratch.retime("check halo").stdout;
    assert!(known.contains("MPI Rank 1 -> "), "{known}");
    for first in ["a.json", "a.pftrace"] {
        let export = |from: &str, to: &str| {
            let command = format!("export {from} -o {to} --times recorded -q");
            scratch.retime(&command).expect_code(1);
        };
        export("halo", first);
        export(first, "b.json");
        for file in [first, "b.json"] {
            let found = scratch.retime(&format!("check {file} -v")).stdout;
            let lines: Vec<&str> = found.lines().filter(|it| it.contains("event ")).collect();
            assert!(lines.iter().any(|it| it.contains("(location ")), "{found}");
            for line in lines {
                assert!(!line.contains("0) (location"), "{line}");
                for place in line.split(" -> ") {
                    assert!(place.matches("(location ").count() <= 1, "{line}");
                }
            }
            let pairs = found
                .lines()
                .filter(|it| it.contains(" reversed, the worst by"));
            for pair in pairs {
                let named = [format!(" {first} -> "), format!(" -> {first}:")];
                let is_file = named.iter().any(|it| pair.contains(it));
                assert!(!pair.contains("(location ") && !is_file, "{pair}");
            }
        }
        fs::remove_file(scratch.join("b.json")).unwrap();
    }
}

/// Viewers show an error, or nothing, of a file without events.
#[test]
fn nothing_to_look_at_is_not_to_be_opened() {
    let scratch = Scratch::in_memory();
    examined::write(scratch.path(), "empty", |_, _| {});
    scratch.succeed("simulate ring -o ring --no-truth --ranks 2 --iterations 2 -q");
    let said = |trace: &str| {
        let export = format!("export {trace} -o {trace}.json --times recorded");
        scratch.retime(&export).stdout
    };
    let (empty, ring) = (said("empty"), said("ring"));
    let nothing = "0 slices, 0 arrows, 4 tracks. Viewers have nothing to show of it.";
    assert!(empty.contains(nothing), "{empty}");
    assert!(!empty.contains("Open it"), "{empty}");
    assert!(
        ring.contains(". Open it in https://ui.perfetto.dev."),
        "{ring}"
    );
}

#[test]
fn the_ending_says_which_kind_of_file_it_is() {
    let scratch = recording();
    let some = "--from 100ms --to 101ms -q";
    let (perfetto, chrome) = (b"\x0a".as_slice(), b"{".as_slice());
    for (name, start) in [
        ("t", perfetto),
        ("t.pftrace", perfetto),
        ("t.perfetto-trace", perfetto),
        ("t.perfetto", perfetto),
        ("t.json", chrome),
    ] {
        scratch
            .retime(&format!("export halo -o {name} {some}"))
            .expect_code(0);
        assert!(fs::read(scratch.join(name)).unwrap().starts_with(start));
        // None before it is one, too.
        let out = format!("export halo -o {name}.gz {some}");
        scratch.retime(&out).expect_code(0);
        let unpacked = scratch.shell(&format!("gzip -dc {name}.gz | cmp - {name}"));
        assert_eq!((unpacked.code, &*unpacked.stderr), (Some(0), ""), "{name}");
    }
    for name in ["t.foo", "t.json.zst", "t.JSON", "t.pftrace.1"] {
        let export = format!("export halo -o {name} {some}");
        let refused = scratch.retime(&export);
        assert_eq!(refused.code, Some(2), "{name}");
        assert!(refused.stderr.contains("or say --to perfetto"), "{name}");
        assert!(!scratch.join(name).exists(), "{name}");
        let chosen = format!("{export} --to chrome");
        scratch.retime(&chosen).expect_code(0);
        assert!(fs::read(scratch.join(name)).unwrap().starts_with(chrome));
    }
}

#[test]
fn the_bytes_depend_on_nothing_but_the_trace() {
    let scratch = Scratch::in_memory();
    scratch.succeed("simulate halo -o halo --no-truth --ranks 4 --events 60000 -q");
    for suffix in ["pftrace", "json.gz"] {
        let files = [1, 2, 5].map(|threads| {
            let out = format!("{threads}.{suffix}");
            let command = format!("export halo -o {out} --threads {threads} -q");
            scratch.retime(&command).expect_code(0);
            fs::read(scratch.join(&out)).unwrap()
        });
        assert!(files[0] == files[1] && files[0] == files[2], "{suffix}");
    }
    // To a file or to a pipe, and by the name or as asked for.
    let out = scratch.shell("\"$RETIME\" export halo -o - --to perfetto | cmp - 1.pftrace");
    assert_eq!((out.code, &*out.stdout, &*out.stderr), (Some(0), "", ""));
}

#[test]
fn it_replaces_what_it_wrote_and_may_be_read_by_whom_the_trace_may() {
    let scratch = recording();
    let anchor = scratch.join("halo/traces.otf2");
    fs::set_permissions(&anchor, fs::Permissions::from_mode(0o600)).unwrap();
    for name in ["t.pftrace", "t.json", "t.pftrace.gz", "t.json.gz"] {
        let export = format!("export halo -o {name} --from 100ms --to 101ms -q");
        scratch.retime(&export).expect_code(0);
        let first = fs::read(scratch.join(name)).unwrap();
        assert_eq!(scratch.retime(&export).code, Some(2));
        scratch.retime(&format!("{export} --force")).expect_code(0);
        assert_eq!(fs::read(scratch.join(name)).unwrap(), first);
        let mode = fs::metadata(scratch.join(name)).unwrap().permissions();
        assert_eq!(mode.mode() & 0o777, 0o600);
    }
    let left = ["halo", "t.json", "t.json.gz", "t.pftrace", "t.pftrace.gz"];
    assert_eq!(scratch.entries(), left);
}

#[test]
fn a_reader_may_stop_and_a_full_disk_may_not() {
    let scratch = recording();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = scratch.command("export halo -o - -q");
    Outcome::from(command.stdout(writer).output().unwrap()).expect_code(0);
    let Ok(full) = File::options().write(true).open("/dev/full") else {
        eprintln!("skipped: no /dev/full");
        return;
    };
    let mut command = scratch.command("export halo -o - -q");
    let outcome = Outcome::from(command.stdout(full).output().unwrap());
    assert_eq!(outcome.code, Some(2));
    assert_eq!(
        outcome.stderr,
        "retime: standard output: No space left on device (os error 28)\n"
    );
}

#[test]
fn names_of_json_lines_stay_what_they_are() {
    let scratch = Scratch::new();
    let name = "</script><img onerror=\"x\">\u{1b}[31m";
    let mut text =
        String::from("{\"retime-stream\":1,\"ticks_per_second\":1000,\"locations\":[5]}\n");
    for (time, kind) in [(1, "Enter"), (2, "Leave")] {
        let line = serde_json::json!({"location": 5, "time": time, "kind": kind, "region": name});
        text.push_str(&line.to_string());
        text.push('\n');
    }
    scratch.write("t.jsonl", &text);
    scratch.retime("export t.jsonl -o t.json -q").expect_code(0);
    let json = scratch.read("t.json");
    assert!(!json.contains('\u{1b}'), "{json}");
    let events = events(json.as_bytes());
    let begin = events.iter().find(|it| it["ph"] == "B").unwrap();
    assert_eq!(begin["name"], name);
    let of_thread = events
        .iter()
        .find(|it| it["name"] == "thread_name")
        .unwrap();
    assert_eq!(of_thread["args"]["name"], "location 5");
    scratch
        .retime("export t.jsonl -o t.pftrace -q")
        .expect_code(0);
    let packets = fs::read(scratch.join("t.pftrace")).unwrap();
    let is_there = packets.windows(name.len()).any(|it| it == name.as_bytes());
    assert!(is_there, "{name}");
}

/// A message faster than a minimal delay that was learned contradicts a guess, not the trace.
#[test]
fn a_learned_delay_makes_no_sound_trace_unsound() {
    let scratch = Scratch::in_memory();
    let mut events = [Vec::new(), Vec::new()];
    for round in 0..40_i64 {
        let (there, back) = (1_000_000 + 200_000 * round, 1_100_000 + 200_000 * round);
        events[0].push((there, "send", 2 * round));
        events[1].push((there + 16_000 + round % 7, "receive", 2 * round));
        events[1].push((back, "send", 2 * round + 1));
        events[0].push((back + 10, "receive", 2 * round + 1));
    }
    scratch.write("sound.jsonl", &as_lines(events));
    let check = scratch.succeed("check sound.jsonl --json -");
    let check: Value = serde_json::from_str(&check).unwrap();
    assert_eq!(check["before"]["short"], 40);
    for more in ["", " --times recorded"] {
        let export = format!("export sound.jsonl -o out.pftrace --force{more}");
        let said = scratch.succeed(&export);
        assert!(!said.contains("too short"), "{said}");
    }
    // One that was asked for is a condition.
    let asked = "export sound.jsonl -o asked.pftrace --times recorded --min-delay 1us";
    let said = scratch.retime(asked).expect_code(1).stdout;
    assert!(
        said.contains("; 40 dependencies reversed or too short in it."),
        "{said}"
    );
}

/// Events of one location that are stamped out of order contradict the recording by themselves.
#[test]
fn what_is_stamped_before_its_predecessor_contradicts_the_recording() {
    let scratch = traces::scratch([("trace", traces::backwards())]);
    scratch.retime("check trace").expect_code(1);
    let recorded = "export trace -o recorded.pftrace --times recorded";
    scratch.retime(recorded).expect_code(1);
    let compared = scratch.retime("compare trace --method clc").stdout;
    assert!(!compared.contains("contradict nothing"), "{compared}");
}
