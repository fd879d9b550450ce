//! Names of outputs and inputs that are long, strange, or not what they seem.

#![cfg(unix)]

use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::symlink;

use crate::common::directory::assert_same;
use crate::common::{Outcome, RETIME, Scratch, traces};

const LINES: &str = "{\"location\":\"a\",\"time\":1000,\"type\":\"send\",\"message\":1}
{\"location\":\"b\",\"time\":900,\"type\":\"receive\",\"message\":1}
";

fn prepared() -> Scratch {
    let scratch = traces::scratch([("trace", traces::skewed())]);
    scratch.write("lines.jsonl", LINES);
    scratch
}

#[test]
fn names_may_be_as_long_as_the_system_lets_them() {
    for count in [100, 101, 235, 255] {
        // Characters of two bytes, so that none is cut in the middle.
        let name = |letter: &str| {
            format!(
                "{}{}",
                letter.repeat(2 - count % 2),
                "\u{e4}".repeat(count.div_ceil(2) - 1)
            )
        };
        let scratch = prepared();
        let (out, back, list) = (name("o"), name("b"), name("l"));
        scratch.succeed(&format!("correct trace -o {out}"));
        scratch.succeed(&format!("undo {out} -o {back}"));
        scratch.succeed(&format!("correct trace --merged -o {list}"));
        assert_same(&scratch.join("trace"), &scratch.join(&back));
        scratch.succeed(&format!("correct trace -o {out} --force"));
        assert_eq!(scratch.entries().len(), 5, "{:?}", scratch.entries());
    }
}

/// The correction beside a file has a name that is seven bytes longer.
#[test]
fn names_of_files_leave_room_for_their_correction() {
    let scratch = prepared();
    for count in [243, 244, 248] {
        let name = |letter: &str| letter.repeat(count);
        let (out, back) = (name("o"), name("b"));
        scratch.succeed(&format!("correct lines.jsonl -o {out}"));
        scratch.succeed(&format!("undo {out} -o {back}"));
        assert_eq!(scratch.read(&back), LINES);
    }
    let before = scratch.entries();
    for count in [249, 255] {
        let out = "o".repeat(count);
        let refused = scratch.retime(&format!("correct lines.jsonl -o {out}"));
        let message = format!(
            "retime: {out}.retime: the saved correction, without which nothing can be undone, \
             cannot have so long a name; give the output a shorter one\n"
        );
        assert_eq!((refused.code, &*refused.stderr), (Some(2), &*message));
        assert_eq!(scratch.entries(), before);
    }
    // What has no correction may have any name, and so may the input.
    let long = "i".repeat(255);
    fs::rename(scratch.join("lines.jsonl"), scratch.join(&long)).unwrap();
    assert_eq!(scratch.retime(&format!("check {long} -q")).code, Some(1));
    for out in ["x.json", "x.pftrace"] {
        let out = format!("{}{out}", "e".repeat(255 - out.len()));
        scratch.succeed(&format!("export {long} -o {out} -q"));
        assert!(scratch.join(&out).is_file());
    }
    scratch.succeed(&format!("correct {long} -o corrected.jsonl"));
    scratch.succeed("undo corrected.jsonl -o back.jsonl");
    assert_eq!(scratch.read("back.jsonl"), LINES);
}

/// A strange path is shown in the line that it belongs to, and obeyed by no terminal.
#[test]
fn control_characters_of_paths_are_shown() {
    let scratch = Scratch::new();
    let strange = "two\nlines\u{1b}[31m";
    let dir = scratch.join(strange);
    fs::create_dir(&dir).unwrap();
    fs::write(dir.join("l.jsonl"), LINES).unwrap();
    fs::write(dir.join("bad.jsonl"), "{\"location\":\n").unwrap();
    fs::write(dir.join("bad.json"), "[{\"ph\":\"X\",\n").unwrap();
    traces::write(&dir, "trace", &traces::skewed());
    fs::write(dir.join("trace/traces/0.evt"), "OTF2").unwrap();
    let outcome = |words: &str| -> Outcome {
        let words = words.split(' ').map(|it| it.replace('@', strange));
        scratch.command("").args(words).output().unwrap().into()
    };
    let shown = r"two\nlines\u{1b}[31m/";
    for (words, code) in [
        ("check @/l.jsonl", 1),
        ("check @/none", 2),
        ("check @/bad.jsonl", 2),
        ("check @/bad.json", 2),
        ("check @/trace", 2),
        ("correct @/l.jsonl -o @/o.jsonl", 0),
        ("correct @/l.jsonl -o @/o.jsonl", 2),
        ("correct @/l.jsonl -o @/none/o", 2),
        ("correct @/l.jsonl -o @/m --merged", 0),
        ("check @/o.jsonl.retime", 2),
        ("undo @/l.jsonl -o @/b.jsonl", 2),
        ("undo @/o.jsonl -o @/b.jsonl", 0),
        ("apply @/o.jsonl.retime @/l.jsonl -o @/a.jsonl", 0),
        ("apply @/l.jsonl @/l.jsonl -o @/a2.jsonl", 2),
        ("export @/l.jsonl -o @/e.json", 0),
        ("export @/l.jsonl -o @/e.foo", 2),
        ("simulate ring -o @/s --ranks 2 --iterations 2", 0),
        ("check @/l.jsonl --truth @/trace/none", 2),
        ("check @/l.jsonl --min-delay @/none", 2),
    ] {
        let Outcome {
            code: found,
            stdout,
            stderr,
        } = outcome(words);
        assert_eq!(found, Some(code), "{words}: {stdout}{stderr}");
        let text = if code == 2 { &stderr } else { &stdout };
        assert!(text.contains(shown), "{words}: {text}");
        assert!(
            !stdout.contains('\u{1b}') && !stderr.contains('\u{1b}'),
            "{words}"
        );
        for line in stdout.lines().chain(stderr.lines()) {
            assert!(!line.starts_with("lines"), "{words}: {line}");
        }
        assert!(
            code != 2 || stderr.lines().count() == 1,
            "{words}: {stderr}"
        );
    }
}

/// Commands that are advised do what they say when a shell reads them, whatever the path.
#[test]
fn advised_commands_can_be_pasted() {
    let scratch = Scratch::new();
    let of_no_text = OsStr::from_bytes(b"caf\xe9 au lait");
    let names = ["two\nlines \u{1b}[31m", "it's \\n", "-o"].map(OsStr::new);
    for name in names.into_iter().chain([of_no_text]) {
        fs::write(scratch.path().join(name), LINES).unwrap();
        let mut check = scratch.command("check --");
        let said = Outcome::from(check.arg(name).output().unwrap()).stdout;
        let (_, advised) = said.trim_end().rsplit_once("retime ").expect(&said);
        let pasted = format!("\"$RETIME\" {advised}").replace("CORRECTED", "pasted");
        let mut bash = scratch.program("bash");
        bash.env("RETIME", RETIME).args(["-c", &pasted]);
        let done = Outcome::from(bash.output().unwrap());
        assert_eq!(done.code, Some(0), "{pasted}: {}", done.stderr);
        fs::remove_file(scratch.join("pasted")).unwrap();
    }
}

/// The copy that a demonstration leaves can be taken back as it says, wherever it lies.
#[test]
fn a_demonstration_goes_wherever_nothing_is() {
    let scratch = prepared();
    let said = scratch.succeed("demo --keep=-o");
    let (_, advised) = said.trim_end().rsplit_once("try retime ").expect(&said);
    scratch.succeed(advised);
    assert_same(&scratch.join("-o/halo"), &scratch.join("-o/restored"));

    for (keep, message) in [
        ("trace", "trace: exists already; give a new path"),
        (
            "none/kept",
            "none: no such directory; create it before writing into it",
        ),
    ] {
        let outcome = scratch.retime(&format!("demo --keep {keep}"));
        assert_eq!(outcome.code, Some(2), "{outcome:#?}");
        assert_eq!(outcome.stderr, format!("retime: {message}\n"));
    }
}

#[test]
fn what_is_advised_of_a_simulation_can_be_done() {
    let scratch = Scratch::new();
    for output in ["--output=rings/", "--output=-r"] {
        let said = scratch.succeed(&format!("simulate ring {output} --ranks 3 --iterations 9"));
        let (_, advised) = said.split_once("Next: retime check ").expect(&said);
        let (_, correct) = advised.split_once("retime ").expect(&said);
        scratch.succeed(correct.trim_end());
    }
}

#[test]
fn archives_one_level_deeper_are_named() {
    let scratch = Scratch::new();
    let runs = scratch.join("runs");
    fs::create_dir(&runs).unwrap();
    for name in ["second", "first"] {
        traces::write(&runs, name, &traces::sound());
    }
    let outcome = scratch.retime("check runs");
    let expected = "retime: runs: no .otf2 file in this directory; try runs/first or runs/second\n";
    assert_eq!(outcome.stderr, expected, "{outcome:#?}");
}

/// Two long names that begin alike, and of which one is being written by somebody.
#[test]
fn leftovers_of_long_names_are_found() {
    let scratch = prepared();
    let long = "x".repeat(220);
    let (mine, other) = (format!("{long}1"), format!("{long}2"));
    let limited = format!("ulimit -f 0; exec \"$RETIME\" correct trace -o {mine}");
    assert_eq!(scratch.shell(&limited).code, Some(2));
    let dead = |name: &str| {
        let sum = crc32fast::hash(name.as_bytes());
        format!(".{}~{sum:08x}.retime-{}.partial", &long[..100], u32::MAX)
    };
    for name in [&mine, &other] {
        fs::create_dir(scratch.join(&dead(name))).unwrap();
    }
    scratch.succeed(&format!("correct trace -o {mine}"));
    assert!(!scratch.join(&dead(&mine)).exists());
    assert!(scratch.join(&mine).is_dir());
}

#[test]
fn a_dash_is_no_name() {
    let scratch = prepared();
    scratch.write("shift.json", "{}");
    for arguments in [
        "correct trace -o -",
        "correct trace --merged -o -",
        "correct lines.jsonl -o -",
        "apply shift.json trace -o -",
        "undo trace -o -",
        "simulate ring -o -",
    ] {
        let outcome = scratch.retime(arguments);
        assert_eq!(outcome.code, Some(2), "{arguments}: {outcome:#?}");
        assert_eq!(outcome.stdout, "", "{arguments}");
        assert_eq!(
            outcome.stderr,
            "retime: -: is standard output, where no trace can be read again and checked; give a \
             new path, or ./- for one of that name\n",
            "{arguments}"
        );
    }
    scratch.succeed("correct trace -o ./-");
    assert!(scratch.join("-").is_dir());
}

#[test]
fn a_slash_at_the_end() {
    let scratch = prepared();
    scratch.write(
        "d.json",
        "[{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"pid\":1,\"tid\":1,\"name\":\"a\"}]",
    );
    for file in ["d.json", "lines.jsonl", "trace/traces.otf2"] {
        let outcome = scratch.retime(&format!("check {file}/"));
        assert_eq!(outcome.code, Some(2), "{outcome:#?}");
        let expected = format!(
            "retime: {file}/: is a file, and the slash at its end makes a directory of it; leave \
             that out\n"
        );
        assert_eq!(outcome.stderr, expected);
    }
    // Of what is made the format says whether it is a file.
    scratch.succeed("correct lines.jsonl -o out.jsonl/");
    scratch.succeed("undo out.jsonl -o back.jsonl/");
    assert_eq!(scratch.read("back.jsonl"), LINES);
    assert!(scratch.join("out.jsonl.retime").is_file());
}

#[test]
fn an_export_replaces_no_link() {
    let scratch = prepared();
    scratch.write("precious", "");
    for target in ["nowhere", "precious"] {
        symlink(target, scratch.join("e.pftrace")).unwrap();
        let outcome = scratch.retime("export trace -o e.pftrace --force");
        assert_eq!(outcome.code, Some(2), "{outcome:#?}");
        assert!(scratch.join("e.pftrace").is_symlink());
        fs::remove_file(scratch.join("e.pftrace")).unwrap();
    }
}

#[test]
fn what_a_copy_took_along_keeps_nobody_from_replacing_it() {
    let scratch = prepared();
    symlink("traces.def", scratch.join("trace/latest")).unwrap();
    symlink("gone", scratch.join("trace/later")).unwrap();
    fs::create_dir(scratch.join("trace/empty")).unwrap();
    scratch.succeed("correct trace -o out");
    scratch.succeed("correct trace -o out --force");
    // Links and directories of somebody else do.
    symlink("lines.jsonl", scratch.join("out/mine")).unwrap();
    assert_eq!(scratch.retime("correct trace -o out --force").code, Some(2));
    fs::remove_file(scratch.join("out/mine")).unwrap();
    scratch.write("out/empty/mine", "precious");
    assert_eq!(scratch.retime("correct trace -o out --force").code, Some(2));
    assert_eq!(scratch.read("out/empty/mine"), "precious");
}

#[test]
fn paths_need_not_be_text() {
    let scratch = prepared();
    let name = |start: &str| {
        let mut name = OsString::from(start);
        name.push(OsStr::from_bytes(b"\xff\x1b[31m"));
        name
    };
    fs::rename(scratch.join("trace"), scratch.path().join(name("t"))).unwrap();
    let run = |words: &[&OsStr]| {
        let mut command = scratch.command("");
        Outcome::from(command.args(words).output().unwrap()).expect_code(0)
    };
    let (correct, undo, o) = ("correct".as_ref(), "undo".as_ref(), "-o".as_ref());
    let corrected = run(&[correct, &name("t"), o, &name("c")]);
    assert!(!corrected.stdout.contains('\u{1b}'), "{corrected:#?}");
    run(&[undo, &name("c"), o, &name("b")]);
    let there = |start| scratch.path().join(name(start));
    assert_same(&there("t"), &there("b"));
}
