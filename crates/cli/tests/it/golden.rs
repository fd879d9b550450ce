//! What the command prints, word by word.

use crate::common;
use crate::common::golden::{assert_golden, normalised, transcript};
use crate::common::times::{mean_deviation, times};
use crate::common::{Scratch, traces};
use serde_json::Value;

/// A directory with the hand-made traces.
fn hand_made() -> Scratch {
    traces::scratch([
        ("skewed", traces::skewed()),
        ("one-node", traces::one_node()),
        ("sound", traces::sound()),
        ("odd", traces::odd()),
        ("backwards", traces::backwards()),
    ])
}

#[test]
fn check() {
    let commands = [
        "check skewed",
        "check --verbose skewed/traces.otf2",
        "check sound",
        "check one-node",
        "check one-node --clocks node",
        "check skewed --clocks process --min-delay 500ns",
        "check odd",
        "check odd --strict",
        "check sound --strict",
        "check backwards",
    ];
    assert_golden("check.txt", &transcript(&hand_made(), &commands));
}

#[test]
fn check_with_a_table_of_delays() {
    let scratch = hand_made();
    scratch.write(
        "delays.txt",
        "# from to delay\n* * 500ns\n0 * 1us # all from 0\n0 1 2ticks\n\n",
    );
    let commands = ["check skewed --min-delay delays.txt"];
    assert_golden("delays.txt", &transcript(&scratch, &commands));
}

#[test]
fn correct_and_undo() {
    let scratch = hand_made();
    let commands = [
        "correct skewed -o corrected",
        "check corrected",
        "undo corrected -o original",
        "correct sound -o copy",
        "undo copy -o x",
        "correct odd -o odd-corrected",
        "correct odd --strict -o x",
        "correct backwards -o forwards",
        "check forwards",
        "undo forwards -o backwards-again",
        "correct one-node --clocks node -o still-wrong",
        "correct skewed --method clc --gamma-max 0.9 --amortization 10% --min-delay 1tick --verbose -o eager",
        "correct skewed --verbose -o aligned",
    ];
    assert_golden("correct.txt", &transcript(&scratch, &commands));
    common::directory::assert_same(&scratch.join("skewed"), &scratch.join("original"));
    common::directory::assert_same(&scratch.join("sound"), &scratch.join("copy"));
    common::directory::assert_same(&scratch.join("backwards"), &scratch.join("backwards-again"));
    assert!(!scratch.join("x").exists());
}

#[test]
fn apply() {
    let scratch = hand_made();
    scratch.write(
        "shift.json",
        r#"{"format": "retime correction", "version": 1, "clocks": [{"knots": [[0, 1000]]}]}"#,
    );
    scratch.write(
        "one.json",
        r#"{"format": "retime correction", "version": 1,
            "clocks": [{"locations": [1], "knots": [[0, 0], [1000000, 900000]]}]}"#,
    );
    scratch.write(
        "strange.json",
        r#"{"format": "retime correction", "version": 1, "clocks": [
            {"locations": [1, 77], "knots": [[0, 1000]]}]}"#,
    );
    scratch.write(
        "identity.json",
        r#"{"format": "retime correction", "version": 1, "clocks": []}"#,
    );
    let commands = [
        "apply shift.json skewed -o shifted",
        "apply one.json skewed -o one",
        "apply identity.json skewed -o same",
        "apply strange.json skewed -o strange",
        "apply strange.json skewed -o strange --force",
        "correct skewed -o corrected --quiet",
        "apply corrected/traces.retime skewed -o again",
        "undo shifted -o back",
    ];
    assert_golden("apply.txt", &transcript(&scratch, &commands));
    common::directory::assert_same(&scratch.join("skewed"), &scratch.join("same"));
    common::directory::assert_same(&scratch.join("skewed"), &scratch.join("back"));
}

#[test]
fn reports_as_json() {
    let scratch = hand_made();
    let check = scratch.retime("check odd --json -");
    assert_eq!((check.code, &*check.stderr), (Some(1), ""));
    assert_golden("check.json", &normalised(&scratch, &check.stdout));

    let commands = ["correct skewed -o corrected --json report.json"];
    let printed = transcript(&scratch, &commands);
    assert!(printed.contains("no contradiction left"), "{printed}");
    assert_golden(
        "correct.json",
        &normalised(&scratch, &scratch.read("report.json")),
    );
    let report: Value = serde_json::from_str(&scratch.read("report.json")).unwrap();
    assert_eq!(report["after"]["reversed"], 0);
    assert!(report["timing"]["total_seconds"].as_f64().unwrap() > 0.0);
}

#[test]
fn help_of_every_command() {
    let commands = [
        "--help",
        "-h",
        "check --help",
        "compare --help",
        "correct --help",
        "apply --help",
        "undo --help",
        "simulate --help",
        "demo --help",
        "reproduce --help",
        "order --help",
        "export --help",
        "merge --help",
        "stream --help",
        "completions --help",
        "man --help",
        "--version",
    ];
    assert_golden("help.txt", &transcript(&Scratch::new(), &commands));
}

#[test]
fn completions_know_commands_and_options() {
    let scratch = Scratch::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = scratch.succeed(&format!("completions {shell}"));
        for word in [
            "correct",
            "undo",
            "min-delay",
            "gamma-max",
            "dense-alltoallv",
        ] {
            assert!(script.contains(word), "{shell} lacks {word}");
        }
    }
}

#[test]
fn completions_complete_in_bash() {
    let scratch = Scratch::new();
    let script = r#"eval "$("$RETIME" completions bash)"
        COMP_WORDS=(retime correct --am) COMP_CWORD=2
        _retime retime --am correct && echo "${COMPREPLY[@]}""#;
    let mut bash = scratch.program("bash");
    bash.args(["--norc", "-c", script])
        .env("RETIME", common::RETIME);
    match bash.output() {
        Ok(output) => assert_eq!(
            String::from_utf8_lossy(&output.stdout).trim(),
            "--amortization --amortization-method"
        ),
        Err(error) => println!("skipped: bash: {error}"),
    }
}

#[test]
fn the_manual_page_is_one_and_describes_every_command() {
    let page = Scratch::new().succeed("man");
    assert!(page.contains(".TH retime 1"), "{page}");
    assert_eq!(page.matches(".SH NAME").count(), 17, "one per command");
    assert!(!page.contains("(1)"), "refers to another page");
    for text in [
        "check",
        "explain",
        "merge",
        "correct",
        "apply",
        "undo",
        "stream",
        "simulate",
        "demo",
        "completions",
        "man",
        r"\-\-min\-delay",
        r"\-\-json",
        "Exit codes",
    ] {
        assert!(page.contains(text), "lacks {text}");
    }
    let unknown = page
        .lines()
        .filter(|line| line.starts_with('.'))
        .filter(|line| {
            let name = line.split_whitespace().next().unwrap_or_default();
            ![
                ".TH", ".SH", ".SS", ".TP", ".RS", ".RE", ".br", ".ie", ".el", ".sp", ".PP", ".IP",
            ]
            .contains(&name)
        });
    assert_eq!(unknown.collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn usage_errors() {
    let commands = [
        "",
        "chekc skewed",
        "check",
        "check skewed --min-delay 5",
        "check skewed --min-delay 2days",
        "check skewed --min-delay -3us",
        "check skewed --min-delay --quiet",
        "check skewed --clocks core",
        "check skewed --threads 0",
        "check skewed --quiet --verbose",
        "check skewed --json",
        "correct skewed",
        "correct skewed -o out --gamma-max 1",
        "correct skewed -o out --gamma-max much",
        "correct skewed -o out --amortization 0%",
        "correct skewed -o out --amortization 0.5",
        "correct skewed -o out --method magic",
        "apply skewed -o out",
        "apply shift.json skewed -o out --json report.json",
        "undo skewed -o out --verbose",
        "completions ksh",
    ];
    let scratch = hand_made();
    assert_golden("usage.txt", &transcript(&scratch, &commands));
    assert!(!scratch.join("out").exists());
}

#[test]
fn colours_are_for_terminals_and_for_who_forces_them() {
    let scratch = hand_made();
    let run = |variables: &[&str]| {
        let mut command = scratch.command("check odd");
        for variable in variables {
            command.env(variable, "1");
        }
        String::from_utf8(command.output().unwrap().stdout).unwrap()
    };
    let plain = run(&[]);
    assert!(!plain.contains('\u{1b}'));
    let coloured = run(&["CLICOLOR_FORCE"]);
    assert!(coloured.contains("\u{1b}[1m"), "{coloured}");
    assert!(
        coloured.contains("\u{1b}[33m"),
        "warnings are yellow: {coloured}"
    );
    assert!(!run(&["CLICOLOR_FORCE", "NO_COLOR"]).contains('\u{1b}'));
}

#[test]
fn the_demo_tells_the_story() {
    let scratch = Scratch::new();
    let commands = ["demo", "demo --keep kept"];
    assert_golden("demo.txt", &transcript(&scratch, &commands));
    assert_eq!(scratch.entries(), ["kept"]);
    assert_eq!(
        common::directory::entries(&scratch.join("kept")),
        ["corrected", "halo"]
    );
}

#[test]
fn the_bundled_recording() {
    let scratch = Scratch::new();
    traces::recording(scratch.path());
    let commands = [
        "check halo",
        "correct halo -o corrected --json report.json",
        "check corrected",
    ];
    assert_golden("recording.txt", &transcript(&scratch, &commands));
    let report: Value = serde_json::from_str(&scratch.read("report.json")).unwrap();

    assert_eq!(report["trace"]["events"], 456_040);
    let before = &report["before"];
    assert_eq!(before["messages"]["reversed"], 23_778);
    assert_eq!(before["messages"]["total"], 48_000);
    assert_eq!(before["collectives"]["reversed"], 8_911);
    assert_eq!(before["collectives"]["total"], 12_004);
    let after = &report["after"];
    for count in ["reversed", "short", "reversed_within_clock", "out_of_order"] {
        assert_eq!(after[count], 0, "{count}");
    }
    assert_eq!(after["messages"]["total"], 48_000);
    assert_eq!(after["collectives"]["total"], 12_004);

    // What a message really takes is 176 ns.
    let delay = report["parameters"]["min_delay"]["smallest_ticks"].as_i64();
    assert!((1..=176).contains(&delay.unwrap()), "{delay:?}");
    assert!(after["smallest_latency_ticks"].as_i64() >= delay);

    let recorded = times(&scratch.join("halo"));
    let corrected = times(&scratch.join("corrected"));
    let (before, after) = (error(&recorded, &recorded), error(&recorded, &corrected));
    assert!((67_000.0..68_000.0).contains(&before), "{before} ns");
    assert!(after <= 1_000.0, "{after} ns");
}

/// Mean deviation of all events from the truth in ns, up to a constant.
fn error(recorded: &[(u64, Vec<u64>)], times: &[(u64, Vec<u64>)]) -> f64 {
    // How far the clock of each rank was set off, as in `commands/demo.rs`.
    let offsets = [-1_598, 148_402, -81_598, 38_402];
    let mut errors = Vec::new();
    for (rank, offset) in offsets.into_iter().enumerate() {
        let pairs = times[rank].1.iter().zip(&recorded[rank].1);
        errors
            .extend(pairs.map(|(time, stamp)| (time.wrapping_sub(*stamp) as i64 + offset) as f64));
    }
    assert_eq!(errors.len(), 456_040);
    mean_deviation(&errors)
}
