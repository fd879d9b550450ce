//! The commands on a file of JSON lines: what they do with an archive, they do with it.

use serde_json::Value;

use crate::common::Scratch;

/// A simulated run as an archive, `halo`, and as a file of lines.
fn halo() -> Scratch {
    let scratch = Scratch::new();
    scratch.succeed("simulate halo -o halo --no-truth --ranks 4 --events 40000 -q");
    let lines = scratch.retime("order halo --format jsonl").stdout;
    scratch.write("halo.jsonl", &lines);
    scratch
}

fn report(scratch: &Scratch, name: &str) -> Value {
    serde_json::from_str(&scratch.read(name)).unwrap()
}

/// A part of a report without the names of locations, as lines name no threads.
fn unnamed(part: &Value) -> Value {
    let mut part = part.clone();
    if let Some(worst) = part["worst"].as_array_mut() {
        for violation in worst {
            for name in ["cause_on", "effect_on"] {
                violation[name].take();
            }
        }
    }
    part
}

#[test]
fn check_and_correct_report_what_they_report_of_the_archive() {
    let scratch = halo();
    // Lines do not say which processes share a computer, so clocks are left out.
    let parts = ["matching", "before", "bounds"];
    let solved = ["after", "method", "distortion", "gentlest"];
    for (command, solved) in [("check", &[][..]), ("correct -o halo-out", &solved)] {
        let (archive, lines) = (command, command.replace("halo-out", "out.jsonl"));
        let archive = scratch.retime(&format!("{archive} halo --json archive.json"));
        let lines = scratch.retime(&format!("{lines} halo.jsonl --json lines.json"));
        assert_eq!(
            (lines.code, &*lines.stderr),
            (archive.code, &*archive.stderr)
        );
        let (archive, lines) = (
            report(&scratch, "archive.json"),
            report(&scratch, "lines.json"),
        );
        assert_eq!(lines["trace"]["format"], "JSON lines");
        for part in parts.iter().chain(solved) {
            assert!(archive[part].is_object(), "{command}: {part}");
            let (archive, lines) = (unnamed(&archive[part]), unnamed(&lines[part]));
            assert_eq!(archive, lines, "{command}: {part}");
        }
    }
    let corrected = scratch.retime("order halo-out --format jsonl").stdout;
    let sorted = |text: &str| -> Vec<String> {
        let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
        lines.sort_unstable();
        lines
    };
    assert_eq!(sorted(&corrected), sorted(&scratch.read("out.jsonl")));
}

#[test]
fn undo_restores_every_byte_and_apply_corrects_again() {
    let scratch = halo();
    scratch
        .retime("correct halo.jsonl -o out.jsonl -q")
        .expect_code(0);
    scratch
        .retime("undo out.jsonl -o back.jsonl -q")
        .expect_code(0);
    assert_eq!(scratch.read("back.jsonl"), scratch.read("halo.jsonl"));
    scratch
        .retime("apply out.jsonl.retime halo.jsonl -o again.jsonl -q")
        .expect_code(0);
    assert_eq!(scratch.read("again.jsonl"), scratch.read("out.jsonl"));

    let left = scratch.retime("undo halo.jsonl -o never.jsonl");
    assert_eq!(left.code, Some(2));
    assert!(
        left.stderr
            .contains("no correction is saved beside this trace"),
        "{left:#?}"
    );
    assert!(!scratch.join("never.jsonl").exists());
}

#[test]
fn compare_and_order_read_them() {
    let scratch = halo();
    let compared = scratch.retime("compare halo.jsonl --method clc --json c.json");
    assert_eq!(compared.code, Some(0), "{compared:#?}");
    scratch.retime("compare halo --method clc --json archive.json");
    let (archive, lines) = (report(&scratch, "archive.json"), report(&scratch, "c.json"));
    let results = |report: &Value| -> Vec<(Value, u64)> {
        let methods = report["methods"].as_array().unwrap().iter();
        let reversed = |it: &Value| it["result"]["reversed"].as_u64().unwrap();
        methods
            .map(|it| (it["name"].clone(), reversed(it)))
            .collect()
    };
    assert_eq!(results(&archive), results(&lines));

    let lines = scratch.retime("order halo.jsonl --format csv").stdout;
    let archive = scratch.retime("order halo --format csv").stdout;
    assert_eq!(lines.lines().count(), archive.lines().count());
}

#[test]
fn an_output_that_exists_stays_unless_it_is_a_trace_and_forced() {
    let scratch = halo();
    scratch.write("notes.txt", "not a trace\n");
    for force in ["", " --force"] {
        let outcome = scratch.retime(&format!("correct halo.jsonl -o notes.txt{force}"));
        assert_eq!(outcome.code, Some(2), "{outcome:#?}");
        assert_eq!(scratch.read("notes.txt"), "not a trace\n");
    }
    scratch.write("out.jsonl", &scratch.read("halo.jsonl"));
    let kept = scratch.retime("correct halo.jsonl -o out.jsonl -q");
    assert_eq!(kept.code, Some(2));
    assert_eq!(scratch.read("out.jsonl"), scratch.read("halo.jsonl"));
    scratch
        .retime("correct halo.jsonl -o out.jsonl -q --force")
        .expect_code(0);
    assert_ne!(scratch.read("out.jsonl"), scratch.read("halo.jsonl"));
    let partial = |name: &String| name.contains("partial");
    assert!(!scratch.entries().iter().any(partial));
}

#[test]
fn the_format_can_be_named_where_the_path_says_nothing() {
    let scratch = halo();
    scratch.write("events", &scratch.read("halo.jsonl"));
    let found = scratch.retime("check events -q");
    let named = scratch.retime("check events --format jsonl -q");
    let wrong = scratch.retime("check events --format otf2");
    assert_eq!(
        (found.code, named.code, wrong.code),
        (Some(1), Some(1), Some(2))
    );
    assert!(wrong.stderr.contains("OTF2"), "{wrong:#?}");
}

#[test]
fn clocks_are_called_by_the_names_that_lines_give_their_locations() {
    let line = |location: &str, time: u64, kind: &str, message: u64| {
        format!(r#"{{"location":{location},"time":{time},"type":"{kind}","message":{message}}}"#)
    };
    let mut lines = Vec::new();
    for message in 0..20 {
        let at = 1_000_000 * (message + 1);
        lines.push(line(r#""fr\u00f6ntend""#, at, "send", 2 * message));
        lines.push(line("7", at - 300_000, "receive", 2 * message));
        lines.push(line("7", at - 250_000, "send", 2 * message + 1));
        lines.push(line(
            r#""fr\u00f6ntend""#,
            at + 150_000,
            "receive",
            2 * message + 1,
        ));
    }
    let scratch = Scratch::new();
    scratch.write("services.jsonl", &lines.join("\n"));
    let said = scratch.retime("correct services.jsonl -o out.jsonl --json report.json");
    assert_eq!(said.code, Some(0), "{}", said.stderr);
    let pair = "fröntend -> location 7: 20 of 20 reversed";
    assert!(said.stdout.contains(pair), "{}", said.stdout);
    assert!(
        said.stdout.contains("times are those of fröntend"),
        "{}",
        said.stdout
    );
    let clocks = &report(&scratch, "report.json")["clocks"]["list"];
    assert_eq!(
        [&clocks[0]["name"], &clocks[1]["name"]],
        ["fröntend", "location 7"]
    );
}

#[test]
fn events_that_wait_for_each_other_are_told_with_the_id_that_locations_share() {
    let scratch = Scratch::new();
    let line = |location: &str, time: u64, kind: &str, id: &str| {
        format!(r#"{{"location":"{location}","time":{time},"type":"{kind}","message":{id}}}"#)
            + "\n"
    };
    // Both count their messages from 7 on, and the send of each stands behind its own receive.
    let lines = [
        line("api", 1_100, "receive", "7"),
        line("db", 1_150, "receive", "7"),
        line("db", 1_200, "send", "7"),
        line("api", 1_250, "send", "7"),
    ];
    scratch.write("both.jsonl", &lines.concat());
    let said = scratch.retime("correct both.jsonl -o out.jsonl");
    assert_eq!(said.code, Some(1), "{said:#?}");
    let shared = "1 line with a message id that was in use already, first id 7, received by api \
                  (location 0) and by db (location 1)";
    for part in ["wait for each other in a cycle", shared] {
        assert!(said.stderr.contains(part), "{}", said.stderr);
    }
}

#[test]
fn a_list_as_lines_has_the_names_of_locations() {
    let scratch = halo();
    let line = r#"{"location":"frontend","time":1,"type":"send","message":"a"}"#;
    scratch.write("named.jsonl", line);
    for (trace, names) in [
        ("named.jsonl", r#""names":["frontend"]}"#),
        ("halo", r#""names":["MPI Rank 0 / Master thread","#),
    ] {
        let list = scratch
            .retime(&format!("order {trace} --format jsonl"))
            .stdout;
        let header = list.lines().next().unwrap();
        assert!(header.contains(names), "{header}");
    }
}

/// Operations of one for all, or of all for one, of which no line says who the root is, prove
/// nothing: no verdict rests on them.
#[test]
fn operations_without_a_root_prove_nothing() {
    let scratch = Scratch::new();
    for class in ["from-root", "to-root"] {
        let line = |location: u32, time: u32, kind: &str| {
            format!(
                "{{\"location\":{location},\"time\":{time},\"type\":\"collective-{kind}\",\
                 \"collective\":1,\"participants\":3,\"class\":\"{class}\"}}\n"
            )
        };
        let begins = (0..3).map(|it| line(it, 1_000 + it, "begin"));
        let ends = (0..3).map(|it| line(it, 2_000 + it, "end"));
        scratch.write("lines", &begins.chain(ends).collect::<String>());
        let check = scratch.retime("check lines").expect_code(3);
        for part in [
            "nothing was looked at: none of 3 records of communication could be used",
            "1 collective lacks a participant, first at event ",
            "what is certain of the others is used",
        ] {
            assert!(check.stdout.contains(part), "{class}: {}", check.stdout);
        }
    }
}

/// No grouping takes the events of one location apart, and none is finer than that by locations.
#[test]
fn only_a_finer_grouping_is_advised() {
    let scratch = Scratch::new();
    let lines = r#"{"retime-stream":1,"locations":[0,1],"clocks":[0,0]}
{"location":0,"time":10,"type":"receive","message":7}
{"location":0,"time":20,"type":"send","message":7}
{"location":1,"time":10,"type":"receive","message":8}
{"location":0,"time":30,"type":"send","message":8}
"#;
    scratch.write("lines", lines);
    for (clocks, advised) in [
        (
            "node",
            "can repair; try a finer grouping: --clocks process or --clocks location\n",
        ),
        (
            "process",
            "can repair; try a finer grouping: --clocks location\n",
        ),
        (
            "location",
            "reversed within one clock, which no correction can repair\n",
        ),
        (
            "auto",
            "reversed within one clock, which no correction can repair\n",
        ),
    ] {
        let check = scratch.retime(&format!("check lines --clocks {clocks}"));
        let check = check.expect_code(1).stdout;
        assert!(check.contains(advised), "{clocks}: {check}");
    }
}
