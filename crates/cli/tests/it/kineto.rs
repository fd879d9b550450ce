//! Profiles of training jobs, and what is done with their files.

use std::fs;

use flate2::Compression;
use flate2::write::GzEncoder;
use retime_testing::kineto::{KinetoRun, Style};

use crate::common::Scratch;
use crate::common::directory::assert_same;
use crate::simulated_jobs::{read_report, runs, simulate};

#[test]
fn files_given_one_by_one_are_a_run() {
    let scratch = Scratch::new();
    simulate(&scratch, &runs()[1]);
    scratch.retime("correct run -o out --quiet").expect_code(0);
    let files = "run/rank7.pt.trace.json run/rank0.pt.trace.json run/rank1.pt.trace.json \
                 run/rank2.pt.trace.json run/rank4.pt.trace.json run/rank5.pt.trace.json \
                 run/rank6.pt.trace.json";
    scratch
        .retime(&format!("correct {files} -o other --quiet"))
        .expect_code(0);
    assert_same(&scratch.join("out"), &scratch.join("other"));
    let said = scratch.retime(&format!("check {files}")).stdout;
    let advised = "To repair it: retime correct FILE... -o CORRECTED\n";
    assert!(said.ends_with(advised), "{said}");
    // It is the run that the correction was made for.
    scratch.succeed("apply out/run.retime run -o again --quiet");

    let refused = |command: &str, message: &str| {
        let outcome = scratch.retime(command);
        assert_eq!(outcome.code, Some(2), "{outcome:#?}");
        assert!(outcome.stderr.contains(message), "{}", outcome.stderr);
    };
    fs::create_dir(scratch.join("more")).unwrap();
    let copy = |to: &str| fs::copy(scratch.join("run/rank0.pt.trace.json"), scratch.join(to));
    copy("more/rank0.pt.trace.json").unwrap();
    copy("more/again.json").unwrap();
    let twice = "check run/rank0.pt.trace.json more/rank0.pt.trace.json";
    refused(twice, "copies of both would be one file");
    refused("check more", "is a file of rank 0, as more/again.json is");
    // No directory that holds any of them is ever replaced.
    fs::rename(scratch.join("more/again.json"), scratch.join("again.json")).unwrap();
    fs::remove_file(scratch.join("more/rank0.pt.trace.json")).unwrap();
    fs::rename(
        scratch.join("run/rank7.pt.trace.json"),
        scratch.join("more/rank7.json"),
    )
    .unwrap();
    let both = "run/rank0.pt.trace.json more/rank7.json";
    refused(
        &format!("correct {both} -o more --force"),
        "is or holds the input",
    );
    refused(
        &format!("correct {both} -o run --force"),
        "is or holds the input",
    );
    assert!(scratch.join("more/rank7.json").exists());
    scratch.write("more/notes.txt", "nothing");
    refused(
        "check run/rank0.pt.trace.json more/notes.txt",
        "is not called *.json",
    );
    scratch.write("a.jsonl", "{\"location\":1,\"time\":1}\n");
    refused(
        "check a.jsonl run/rank0.pt.trace.json",
        "run retime once for each",
    );
}

#[test]
fn compressed_files_stay_compressed() {
    let scratch = Scratch::new();
    simulate(&scratch, &runs()[1]);
    scratch.retime("correct run -o out --quiet").expect_code(0);
    fs::create_dir(scratch.join("packed")).unwrap();
    for entry in fs::read_dir(scratch.join("run")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let packed = fs::File::create(scratch.join("packed").join(name + ".gz")).unwrap();
        let mut packed = GzEncoder::new(packed, Compression::fast());
        std::io::copy(&mut fs::File::open(&path).unwrap(), &mut packed).unwrap();
        packed.finish().unwrap();
    }
    scratch
        .retime("correct packed -o small --quiet")
        .expect_code(0);
    // Not the bytes that this program's way to compress makes others.
    let undone = scratch.succeed("undo small -o back");
    let contents = "the contents of every file with their original checksum";
    assert!(undone.contains(contents), "{undone}");
    for (packed, plain) in [("small", "out"), ("back", "run")] {
        for rank in [0, 7] {
            let name = format!("rank{rank}.pt.trace.json");
            let packed = fs::read(scratch.join(packed).join(name.clone() + ".gz")).unwrap();
            let mut decoder = flate2::read::GzDecoder::new(&*packed);
            let mut text = String::new();
            std::io::Read::read_to_string(&mut decoder, &mut text).unwrap();
            // One member, as some readers stop after the first.
            assert!(decoder.into_inner().is_empty());
            let plain = fs::read_to_string(scratch.join(plain).join(name)).unwrap();
            assert!(text == plain, "rank {rank}");
        }
    }
}

/// Two processes in one file, which send each other messages; the clock of the second is 1 ms
/// ahead, and arrows are all that says so.
fn arrows() -> String {
    arrows_at(|micros| format!("{micros}.5"))
}

/// Two processes that send each other messages, with times as `written`.
fn arrows_at(written: impl Fn(i64) -> String) -> String {
    let mut events = vec![r#"{"ph":"M","name":"process_name","pid":2,"args":{"name":"w"}}"#.into()];
    for round in 0..40 {
        let at = |pid: i64, after: i64| 1000 + 500 * round + after + 1000 * (pid - 1);
        let mut arrow = |id: i64, ph: &str, pid: i64, after: i64| {
            let ts = written(at(pid, after));
            events.push(format!(
                r#"{{"ph":"{ph}","cat":"c","name":"n","id":{id},"pid":{pid},"tid":9,"ts":{ts}}}"#
            ));
        };
        arrow(2 * round, "s", 1, 0);
        arrow(2 * round, "f", 2, 12);
        arrow(2 * round + 1, "s", 2, 60);
        arrow(2 * round + 1, "f", 1, 72);
        // Within one process an arrow says nothing, and where ids repeat, nobody knows which.
        arrow(1000 + round, "s", 1, 80);
        arrow(1000 + round, "f", 1, 90);
        arrow(5000, "s", 1, 95);
    }
    format!("[{}", events.join(",\n"))
}

#[test]
fn arrows_between_processes_are_messages() {
    let scratch = Scratch::new();
    scratch.write("arrows.json", &arrows());
    let correct = "correct arrows.json -o out.json --json report.json --quiet";
    scratch.retime(correct).expect_code(0);
    let report = read_report(&scratch);
    assert_eq!(report["matching"]["messages"], 80);
    assert_eq!(report["before"]["reversed"], 40);
    assert_eq!(report["after"]["reversed"], 0);
    // Both ways take as long, so the clocks differ by 1 ms, known to the way that is open.
    let clocks = report["clocks"]["list"].as_array().unwrap();
    let advance = |clock: usize| clocks[clock]["final_advance_ticks"].as_i64().unwrap();
    assert_eq!(advance(0), 0);
    assert!((advance(1) + 1_000_000).abs() < 100, "{}", advance(1));
    scratch.retime("undo out.json -o back.json").expect_code(0);
    assert!(scratch.read("back.json") == scratch.read("arrows.json"));
}

/// Profilers record again and again, each time into files of their own.
#[test]
fn of_several_recordings_of_a_rank_one_is_taken() {
    let run = KinetoRun {
        iterations: 6,
        ..KinetoRun::training(Style::Nccl)
    };
    let scratch = Scratch::new();
    simulate(&scratch, &run);
    scratch
        .retime("check run --json report.json --quiet")
        .expect_code(1);
    let once = read_report(&scratch);
    // The same a minute later.
    let base = "\"baseTimeNanoseconds\": ";
    let later = |text: &str| {
        let (before, rest) = text.split_once(base).unwrap();
        let (digits, rest) = rest.split_once(',').unwrap();
        let moved = digits.parse::<u64>().unwrap() + 60_000_000_000;
        format!("{before}{base}{moved},{rest}")
    };
    let path = |rank: u32, which: &str| scratch.join(&format!("run/rank{rank}.pt.trace{which}"));
    for rank in 0..run.ranks {
        let text = later(&fs::read_to_string(path(rank, ".json")).unwrap());
        fs::write(path(rank, ".again.json"), text).unwrap();
    }
    let outcome = scratch.retime("check run --json report.json");
    assert_eq!(outcome.code, Some(1), "{outcome:#?}");
    let left_out = "left out, since other recordings of their ranks or processes are taken: \
                    rank0.pt.trace.json (of rank 0, as rank0.pt.trace.again.json)";
    let shown = format!("{}{}", outcome.stdout, outcome.stderr);
    assert!(shown.contains(left_out), "{shown}");
    assert_eq!(read_report(&scratch)["matching"], once["matching"]);

    scratch.retime("correct run -o out --quiet").expect_code(0);
    scratch.retime("check out --quiet").expect_code(0);
    let same = |which: &str| {
        scratch.read(&format!("run/{which}")) == scratch.read(&format!("out/{which}"))
    };
    assert!((0..run.ranks).all(|rank| same(&format!("rank{rank}.pt.trace.json"))));
    assert!(!same("rank4.pt.trace.again.json"));
    scratch.retime("undo out -o back").expect_code(0);
    assert_same(&scratch.join("back"), &scratch.join("run"));

    // Where a rank lacks the second, the first of all are taken.
    fs::remove_file(path(3, ".again.json")).unwrap();
    let outcome = scratch.retime("check run --json report.json");
    let shown = format!("{}{}", outcome.stdout, outcome.stderr);
    let left_out = "rank0.pt.trace.again.json (of rank 0, as rank0.pt.trace.json)";
    assert!(shown.contains(left_out), "{shown}");
    assert_eq!(read_report(&scratch)["matching"], once["matching"]);
}

/// Two ranks that send each other messages, the second 1 ms ahead: a directory of profiles,
/// with more in it than these.
pub(crate) fn two_ranks(scratch: &Scratch) {
    fs::create_dir(scratch.join("run")).unwrap();
    for rank in 0..2 {
        let events = (0..20).map(|seq| {
            let ts = 1000 + 500 * seq + 1000 * rank;
            format!(
                r#"{{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce","pid":0,"tid":7,
                "ts":{ts}.5,"dur":90,"args":{{"Collective name":"allreduce","Seq":{seq},
                "In msg nelems":4,"dtype":"Float","Process Group Name":"0",
                "Process Group Ranks":"[0, 1]"}}}}"#
            )
        });
        let events: Vec<String> = events.collect();
        let text = format!(
            r#"{{"distributedInfo":{{"rank":{rank},"world_size":2}},"traceEvents":[{}]}}"#,
            events.join(",\n")
        );
        scratch.write(&format!("run/rank{rank}.json"), &text);
    }
}

#[test]
fn what_is_no_profile_is_named_and_copied() {
    let scratch = Scratch::new();
    two_ranks(&scratch);
    scratch.write("run/config.json", "{\"learning_rate\": 0.1}\n");
    scratch.write("run/notes.txt", "nothing\n");
    fs::create_dir(scratch.join("run/more")).unwrap();
    let warning = "warning    left out, since called like a profile but none: config.json (its \
                   object has no array traceEvents)\n";
    let outcome = scratch.retime("check run");
    assert_eq!(outcome.code, Some(1), "{outcome:#?}");
    assert!(outcome.stdout.contains(warning), "{outcome:#?}");
    let outcome = scratch.retime("correct run -o out").expect_code(0);
    assert!(outcome.stdout.contains(warning), "{outcome:#?}");
    let mut entries = vec!["config.json", "notes.txt", "rank0.json", "rank1.json"];
    for file in &entries[..2] {
        assert_eq!(
            scratch.read(&format!("out/{file}")),
            scratch.read(&format!("run/{file}"))
        );
    }
    entries.push("run.retime");
    assert_eq!(
        crate::common::directory::entries(&scratch.join("out")),
        entries
    );
    // What lies beside the profiles does not keep the copy from being replaced.
    scratch.succeed("correct run -o out --force --quiet");
    fs::remove_dir(scratch.join("run/more")).unwrap();
    scratch.succeed("undo out -o back");
    assert_same(&scratch.join("run"), &scratch.join("back"));
}

#[cfg(unix)]
#[test]
fn beside_profiles_links_are_copied_as_links_and_nothing_is_fetched_through_them() {
    use std::os::unix::fs::symlink;
    use std::os::unix::net::UnixListener;

    let scratch = Scratch::new();
    two_ranks(&scratch);
    // A profile may lie elsewhere.
    fs::rename(scratch.join("run/rank1.json"), scratch.join("rank1.json")).unwrap();
    symlink("../rank1.json", scratch.join("run/rank1.json")).unwrap();
    scratch.write("run/notes.txt", "nothing\n");
    symlink("notes.txt", scratch.join("run/link")).unwrap();
    symlink("not there yet", scratch.join("run/dangling")).unwrap();
    let _socket = UnixListener::bind(scratch.join("run/socket")).unwrap();
    for force in ["", "--force"] {
        let outcome = scratch.retime(&format!("correct run -o out {force}"));
        let outcome = outcome.expect_code(0);
        let warning = "socket is not copied: it is a socket";
        assert!(outcome.stdout.contains(warning), "{outcome:#?}");
    }
    let said = |name: &str| fs::read_link(scratch.join(name)).unwrap();
    assert_eq!(said("out/link").to_str(), Some("notes.txt"));
    assert_eq!(said("out/dangling").to_str(), Some("not there yet"));
    assert!(!scratch.join("out/rank1.json").is_symlink());
    scratch.retime("undo out -o back").expect_code(0);
    assert_eq!(said("back/link").to_str(), Some("notes.txt"));
    assert_eq!(scratch.read("back/rank1.json"), scratch.read("rank1.json"));

    scratch.write("secret", "root:$6$secret\n");
    symlink("../secret", scratch.join("run/shadow")).unwrap();
    let outcome = scratch.retime("correct run -o more");
    assert_eq!(outcome.code, Some(2), "{outcome:#?}");
    assert!(
        outcome
            .stderr
            .starts_with("retime: run/shadow: is a symbolic link that leads out")
    );
    assert!(!scratch.join("more").exists());
}

/// Runs `check` and `correct` on a directory with one damaged file.
fn assert_refused(damaged: &[u8], name: &str, message: &str) {
    let scratch = Scratch::new();
    two_ranks(&scratch);
    fs::write(scratch.join("run").join(name), damaged).unwrap();
    for command in ["check run", "correct run -o out"] {
        let outcome = scratch.retime(command);
        assert_eq!(outcome.code, Some(2), "{name} {command}: {outcome:#?}");
        let expected = format!("retime: run/{name}: {message}");
        assert!(outcome.stderr.starts_with(&expected), "{outcome:#?}");
    }
    assert_eq!(scratch.entries(), ["run"]);
}

#[test]
fn a_damaged_profile_is_not_left_out() {
    let scratch = Scratch::new();
    two_ranks(&scratch);
    let whole = scratch.read("run/rank1.json").into_bytes();
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    std::io::Write::write_all(&mut packed, &whole).unwrap();
    let packed = packed.finish().unwrap();
    let way_out = "without this profile its events would be missing: \
                   restore it, or move it elsewhere to leave it out";
    let text = format!("byte 0: this is no text, nor whole compressed data; {way_out}");
    // One bit, in what says that a file is compressed.
    for byte in 0..2 {
        let mut flipped = packed.clone();
        flipped[byte] ^= 2;
        assert_refused(&flipped, "rank2.json.gz", &text);
    }
    // One bit, in how it is, and in what.
    for byte in [2, 3, packed.len() / 2, packed.len() - 6] {
        let mut flipped = packed.clone();
        flipped[byte] ^= 4;
        assert_refused(&flipped, "rank2.json.gz", "");
    }
    assert_refused(
        b"",
        "rank2.json",
        &format!("byte 0: there is nothing in it; {way_out}"),
    );
    assert_refused(
        b"",
        "rank2.pt.trace.json.gz",
        "byte 0: there is nothing in it; ",
    );
    assert_refused(&[0; 5000], "rank2.json", &text);
    let cut = format!("byte 20: it ends here, in the midst of JSON; {way_out}");
    assert_refused(&whole[..20], "rank2.json", &cut);
    assert_refused(&packed[..packed.len() / 2], "rank2.json.gz", "");
    assert_refused(&packed[..packed.len() - 4], "rank2.json.gz", "");
    assert_refused(&whole[..whole.len() - 30], "rank2.json", "line ");
}

/// Who mends one file does not meet the next one then.
#[test]
fn all_damaged_profiles_are_named() {
    let scratch = Scratch::new();
    two_ranks(&scratch);
    let whole = scratch.read("run/rank1.json");
    let way_out = "files cannot be read; without these profiles their events would be missing: \
                   restore them, or move them elsewhere to leave them out";
    // Damaged at their beginning, which is seen when the directory is opened.
    scratch.write("run/rank2.json", "");
    scratch.write("run/rank3.json", &whole[..20]);
    let outcome = scratch.retime("check run");
    assert_eq!(
        (outcome.code, &*outcome.stderr),
        (
            Some(2),
            &*format!(
                "retime: run: 2 {way_out}\n  run/rank2.json: byte 0: there is nothing in it\n  \
                 run/rank3.json: byte 20: it ends here, in the midst of JSON\n"
            )
        )
    );
    for rank in 4..10 {
        scratch.write(&format!("run/rank{rank}.json"), "");
    }
    let outcome = scratch.retime("correct run -o out");
    assert!(
        outcome
            .stderr
            .starts_with(&format!("retime: run: 8 {way_out}\n"))
    );
    assert_eq!(outcome.stderr.lines().count(), 1 + 5 + 1, "{outcome:#?}");
    assert!(outcome.stderr.ends_with("\n  and 3 more\n"), "{outcome:#?}");
    // Damaged further on, which is seen when they are read: in the order of their names,
    // whichever thread comes first.
    for rank in 2..10 {
        scratch.write(&format!("run/rank{rank}.json"), &whole[..whole.len() - 30]);
    }
    for threads in [1, 2] {
        let outcome = scratch.retime(&format!("check run --threads {threads}"));
        let named: Vec<&str> = outcome.stderr.lines().skip(1).collect();
        assert_eq!(named.len(), 6, "{outcome:#?}");
        for (line, rank) in named.iter().zip(2..7) {
            assert!(
                line.starts_with(&format!("  run/rank{rank}.json: line ")),
                "{line}"
            );
        }
    }
    assert_eq!(scratch.entries(), ["run"]);
}

#[test]
fn nothing_is_corrected_twice() {
    let scratch = Scratch::new();
    two_ranks(&scratch);
    scratch.write("arrows.json", &arrows());
    let line = |location, kind, time, id: &str| {
        format!(
            "{{\"location\":{location},\"time\":{time},\"type\":\"{kind}\",\"message\":\"{id}\"}}\n"
        )
    };
    let lines = [line(0, "send", 500, "a"), line(1, "receive", 100, "a")].concat();
    scratch.write("lines.jsonl", &lines);
    for (input, out, again, correction) in [
        ("run", "once", "again", "once/run.retime"),
        ("arrows.json", "once.json", "again.json", "once.json.retime"),
        (
            "lines.jsonl",
            "once.jsonl",
            "again.jsonl",
            "once.jsonl.retime",
        ),
    ] {
        scratch.succeed(&format!("correct {input} -o {out} --quiet --force"));
        let before = scratch.entries();
        let outcome = scratch.retime(&format!("correct {out} -o {again} --always --quiet"));
        let message = format!(
            "retime: {correction}: is the correction of an earlier run, and a copy can hold only \
             one; undo it first, or move it elsewhere to leave it out\n"
        );
        assert_eq!((outcome.code, outcome.stderr), (Some(2), message));
        assert_eq!(scratch.entries(), before);
        // A plain copy takes it along, under whichever name it was saved.
        let older = format!("{correction}.json");
        fs::rename(scratch.join(correction), scratch.join(&older)).unwrap();
        let outcome = scratch.retime(&format!("correct {out} -o {again} --always --quiet"));
        assert!(
            outcome
                .stderr
                .starts_with(&format!("retime: {older}: is the ")),
            "{outcome:#?}"
        );
        scratch.retime(&format!("correct {out} -o {again} --quiet"));
        for copy in [out, again] {
            scratch.succeed(&format!("undo {copy} -o back-{copy} --quiet"));
            let back = scratch.join(&format!("back-{copy}"));
            if input == "run" {
                assert_same(&scratch.join(input), &back);
            } else {
                assert_eq!(
                    fs::read(scratch.join(input)).unwrap(),
                    fs::read(back).unwrap()
                );
            }
        }
    }
}

#[cfg(unix)]
#[test]
fn names_that_are_not_unicode_come_back() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::PermissionsExt;

    let scratch = Scratch::new();
    two_ranks(&scratch);
    let odd = scratch
        .join("run")
        .join(OsStr::from_bytes(b"r\xff\xfe0.json"));
    fs::rename(scratch.join("run/rank0.json"), &odd).unwrap();
    scratch.succeed("correct run -o out --quiet");
    let mode = fs::metadata(scratch.join("out/run.retime"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o111, 0, "{mode:o}");
    scratch.succeed("undo out -o back");
    let names = |directory: &str| {
        let entries = fs::read_dir(scratch.join(directory)).unwrap();
        let mut names: Vec<_> = entries.map(|it| it.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names("run"), names("back"));
    for name in names("run") {
        let read = |directory: &str| fs::read(scratch.join(directory).join(&name)).unwrap();
        assert_eq!(read("run"), read("back"));
    }
}

#[test]
fn times_below_zero_and_in_strings_are_corrected() {
    let scratch = Scratch::new();
    let below = arrows_at(|micros| format!("\"{}.25\"", micros - 30_000));
    assert!(below.contains("\"ts\":\"-29000.25\""));
    scratch.write("arrows.json", &below);
    let correct = "correct arrows.json -o out.json --json report.json --quiet";
    scratch.retime(correct).expect_code(0);
    // A list has the times of the file, in nanoseconds, though stamps have no sign.
    let list = scratch.retime("order arrows.json --format csv -q").stdout;
    let times: Vec<i64> = list
        .lines()
        .skip(1)
        .map(|it| it.split(',').next().unwrap().parse().unwrap())
        .collect();
    assert_eq!((times[0], times.is_sorted()), (-29_000_250, true));
    assert!(times.iter().any(|it| *it < 0) && times.len() == 280);
    let text = scratch.retime("order arrows.json -q").stdout;
    let first = text.lines().nth(1).unwrap();
    assert!(
        first.starts_with("           -29000250       0.000000000 "),
        "{first}"
    );
    // What was shifted by one microsecond is no part of the same run.
    let other = arrows_at(|micros| format!("\"{}.25\"", micros - 30_001));
    scratch.write("other.json", &other);
    let refused = scratch.retime("apply out.json.retime other.json -o applied.json");
    assert_eq!(refused.code, Some(2), "{refused:#?}");
    for first in ["between -29,000,250 and -", "between -29,001,250 and -"] {
        assert!(refused.stderr.contains(first), "{refused:#?}");
    }
    let report = read_report(&scratch);
    assert_eq!(report["before"]["reversed"], 40);
    assert_eq!(report["after"]["reversed"], 0);
    scratch.succeed("check out.json --quiet");
    scratch.succeed("undo out.json -o back.json");
    assert!(scratch.read("back.json") == scratch.read("arrows.json"));
}

#[cfg(target_os = "linux")]
#[test]
fn no_number_takes_memory() {
    let scratch = Scratch::new();
    for number in ["4294967295", "\"4294967295\"", "18446744073709551615", "-1"] {
        let text = format!(
            r#"{{"distributedInfo":{{"rank":{number},"world_size":4294967295,
            "pg_config":[{{"pg_name":"0","ranks":[{number}]}}]}},"traceEvents":[
            {{"ph":"X","cat":"kernel","name":"ncclDevKernel_AllReduce","pid":{number},
            "tid":{number},"ts":1,"dur":{number},"args":{{"Collective name":"allreduce",
            "Seq":{number},"In msg nelems":{number},"dtype":"Float","Process Group Name":"0",
            "Process Group Ranks":"[4294967295]"}}}}]}}"#
        );
        scratch.write("t.json", &text);
        // Kibibytes: an eighth of what a byte for each rank would take.
        let outcome = scratch.shell("ulimit -v 500000; exec \"$RETIME\" check t.json --threads 2");
        assert!(
            matches!(outcome.code, Some(0 | 3)),
            "{number}: {outcome:#?}"
        );
    }
}

#[test]
fn ranks_by_path_are_those_of_lists_too() {
    let scratch = Scratch::new();
    let run = KinetoRun {
        ranks: 4,
        iterations: 2,
        offset: 0,
        drift: 0,
        ..KinetoRun::training(Style::Nccl)
    };
    run.write(&scratch.join("files")).unwrap();
    fs::remove_file(scratch.join("files/truth.json")).unwrap();
    let by_name = scratch.succeed("order files --format csv");
    for rank in 0..4 {
        let worker = scratch.join(&format!("run/worker-{rank}"));
        fs::create_dir_all(&worker).unwrap();
        let file = scratch.join(&format!("files/rank{rank}.pt.trace.json"));
        fs::rename(file, worker.join("trace.json")).unwrap();
    }
    let by_path = scratch.succeed("order run --rank-from worker-(\\d+)/ --format csv");
    assert_eq!(by_path, by_name);
}
