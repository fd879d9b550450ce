//! `retime merge`: what is said, where the file goes, and offsets that come back to the same
//! correction. What readers make of the file is tested beside `retime-merge` and in
//! `tests/browser`.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use flate2::read::GzDecoder;
use retime_perfetto_wire::fields::{trace_packet, track_descriptor};
use retime_perfetto_wire::read::Fields;
use retime_testing::kineto::{KinetoRun, Style};
use serde_json::Value;

use crate::common::directory::assert_same;
use crate::common::{Outcome, Scratch};

/// Ranks on two hosts.
pub(crate) fn job() -> Scratch {
    let scratch = Scratch::new();
    let run = KinetoRun {
        ranks: 4,
        ranks_per_host: 2,
        seed: 9,
        ..KinetoRun::training(Style::Nccl)
    };
    run.write(&scratch.join("run")).unwrap();
    fs::remove_file(scratch.join("run/truth.json")).unwrap();
    scratch
}

fn json(scratch: &Scratch, name: &str) -> Value {
    serde_json::from_slice(&fs::read(scratch.join(name)).unwrap()).unwrap()
}

/// The events of documents, by document and as they come, without what is made anew.
fn lasting(document: &Value) -> Vec<Value> {
    let all = document["traceEvents"].as_array().unwrap().iter();
    let shown = all.filter(|it| it["ph"] != "M" && it["cat"] != "retime");
    let shown = shown.filter(|it| it["name"] != "dependency").cloned();
    let plain = shown.map(|mut it| {
        for key in ["ts", "pid", "id"] {
            it.as_object_mut().unwrap().remove(key);
        }
        it
    });
    plain.collect()
}

#[test]
fn it_says_who_was_off_and_loses_nothing() {
    let scratch = job();
    let told = scratch.retime("merge run -o job.json").expect_code(0);
    let lines: Vec<&str> = told.stdout.lines().collect();
    let [.., clocks, dependencies, written] = *lines else {
        panic!("{}", told.stdout);
    };
    assert!(
        clocks.contains(" of 2 clocks: ") && clocks.contains(" ± "),
        "{clocks}"
    );
    assert!(
        dependencies.contains(" and 0 as corrected "),
        "{dependencies}"
    );
    assert!(
        written.starts_with("Wrote job.json: 4 profiles (shown as "),
        "{written}"
    );

    scratch.retime("correct run -o corrected -q").expect_code(0);
    let names = scratch.shell("ls corrected/*.json*").stdout;
    let mut expected = Vec::new();
    for name in names.lines().filter(|it| !it.ends_with(".retime")) {
        let bytes = fs::read(scratch.join(name)).unwrap();
        let document = if bytes.starts_with(&[0x1f, 0x8b]) {
            serde_json::from_reader(GzDecoder::new(&*bytes)).unwrap()
        } else {
            serde_json::from_slice(&bytes).unwrap()
        };
        expected.push(lasting(&document));
    }
    assert_eq!(expected.len(), 4);
    assert!(lasting(&json(&scratch, "job.json")) == expected.concat());
}

#[test]
fn files_and_directories_are_one_job_and_bytes_depend_on_nothing_else() {
    let scratch = job();
    scratch.shell("mkdir a b; cp run/*0.* run/*1.* a/; cp run/*2.* run/*3.* b/");
    let whole = |name: &str| {
        scratch
            .retime(&format!("merge run -o whole-{name} -q"))
            .expect_code(0);
        fs::read(scratch.join(&format!("whole-{name}"))).unwrap()
    };
    for name in ["t.pftrace", "t.json.gz", "t.tar"] {
        let expected = whole(name);
        for (runs, threads) in [("a b", 1), ("b a", 3)] {
            let out = format!("{threads}-{name}");
            let command = format!("merge {runs} -o {out} -q --threads {threads}");
            scratch.retime(&command).expect_code(0);
            assert!(fs::read(scratch.join(&out)).unwrap() == expected, "{out}");
        }
    }
    let refused = scratch.retime("merge a a -o t.json");
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("is named twice"),
        "{}",
        refused.stderr
    );
    let piped = scratch.shell("\"$RETIME\" merge run -o - -q | cmp - whole-t.pftrace");
    assert_eq!(
        (piped.code, &*piped.stdout, &*piped.stderr),
        (Some(0), "", "")
    );
}

#[test]
fn it_replaces_what_it_wrote_and_nothing_else() {
    let scratch = job();
    let private = fs::Permissions::from_mode(0o600);
    let file = fs::read_dir(scratch.join("run")).unwrap().next().unwrap();
    fs::set_permissions(scratch.join("run"), fs::Permissions::from_mode(0o700)).unwrap();
    fs::set_permissions(file.unwrap().path(), private).unwrap();
    for name in ["t.pftrace", "t.pftrace.gz", "t.json", "t.json.gz", "t.tar"] {
        let merge = format!("merge run -o {name} -q");
        scratch.retime(&merge).expect_code(0);
        let first = fs::read(scratch.join(name)).unwrap();
        assert_eq!(scratch.retime(&merge).code, Some(2), "{name}");
        scratch.retime(&format!("{merge} --force")).expect_code(0);
        assert!(fs::read(scratch.join(name)).unwrap() == first, "{name}");
        let mode = fs::metadata(scratch.join(name))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o077, 0, "{name}");
    }
    scratch.write("mine.json", "{\"traceEvents\": []}");
    let refused = scratch.retime("merge run -o mine.json --force");
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("is no merged trace"),
        "{}",
        refused.stderr
    );
    for name in ["t.txt", "t.tar.gz", "t.json.zst"] {
        let refused = scratch.retime(&format!("merge run -o {name}"));
        assert_eq!(refused.code, Some(2));
        assert!(
            refused.stderr.contains("the ending says no kind of file"),
            "{name}"
        );
    }
    let left = [
        "mine.json",
        "run",
        "t.json",
        "t.json.gz",
        "t.pftrace",
        "t.pftrace.gz",
        "t.tar",
    ];
    assert_eq!(scratch.entries(), left);
    // Nobody reads on.
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = scratch.command("merge run -o - -q");
    Outcome::from(command.stdout(writer).output().unwrap()).expect_code(0);
}

#[test]
fn a_manifest_says_what_constants_leave() {
    let scratch = job();
    let told = scratch
        .retime("merge run --manifest-only -o manifest.json")
        .expect_code(0);
    let line = told.stdout.lines().last().unwrap();
    assert!(
        line.contains("one constant offset for each of 4 files"),
        "{line}"
    );
    assert!(line.contains("times are off of "), "{line}");
    let manifest = json(&scratch, "manifest.json");
    let files = manifest["perfetto_manifest"]["files"].as_array().unwrap();
    let offsets: Vec<Option<i64>> = files
        .iter()
        .map(|it| it["clocks"]["offset_ns"].as_i64())
        .collect();
    assert_eq!(offsets.len(), 4);
    assert!(offsets.iter().flatten().all(|it| *it >= 0));
    assert!(offsets.contains(&None));
    assert_eq!(scratch.retime("merge run --manifest-only").code, Some(2));
}

#[test]
fn offsets_come_back_to_the_same_correction() {
    let scratch = job();
    scratch
        .retime("correct run -o corrected --offsets-out offsets.json -q")
        .expect_code(0);
    scratch
        .retime("apply --offsets offsets.json run -o applied -q")
        .expect_code(0);
    scratch.shell("rm -f corrected/*.retime applied/*.retime");
    assert_same(&scratch.join("corrected"), &scratch.join("applied"));
    // With others beside them, and of the command that writes nothing else.
    scratch
        .retime("merge run --offsets-out alone.json -q")
        .expect_code(0);
    let mut all = json(&scratch, "alone.json");
    assert_eq!(all["traces"], json(&scratch, "offsets.json")["traces"]);
    let first = all["traces"][0].clone();
    let mut other = first.clone();
    other["trace"]["digest"] = 1.into();
    all["traces"] = vec![other.clone(), first].into();
    scratch.write("all.json", &all.to_string());
    scratch
        .retime("apply --offsets all.json run -o again -q")
        .expect_code(0);
    scratch.shell("rm -f again/*.retime");
    assert_same(&scratch.join("corrected"), &scratch.join("again"));
    all["traces"] = vec![other.clone(), other].into();
    scratch.write("others.json", &all.to_string());
    for (name, text, said) in [
        ("others", None, "has the offsets of other traces alone"),
        (
            "garbage",
            Some("{\"traces\"".to_owned()),
            "is no file of offsets",
        ),
        (
            "older",
            Some(all.to_string().replace("\"version\":1", "\"version\":7")),
            "has version 7",
        ),
        (
            "gap",
            Some(gap(&scratch)),
            "does not begin where the one before it ends",
        ),
    ] {
        let name = format!("{name}.json");
        if let Some(text) = text {
            scratch.write(&name, &text);
        }
        let refused = scratch.retime(&format!("apply --offsets {name} run -o refused"));
        assert_eq!(refused.code, Some(2), "{name}");
        assert!(refused.stderr.contains(said), "{name}: {}", refused.stderr);
        assert!(refused.stderr.contains(&name), "{name}: {}", refused.stderr);
        assert!(!scratch.join("refused").exists());
    }
    assert_eq!(scratch.retime("apply --offsets offsets.json").code, Some(2));
    assert_eq!(scratch.retime("merge run").code, Some(2));
}

/// Offsets of which one piece is missing.
fn gap(scratch: &Scratch) -> String {
    let mut all = json(scratch, "offsets.json");
    let clocks = all["traces"][0]["clocks"].as_array_mut().unwrap();
    let pieces = clocks
        .iter_mut()
        .map(|it| it["pieces"].as_array_mut().unwrap());
    let most = pieces.max_by_key(|it| it.len()).unwrap();
    assert!(most.len() > 1);
    most.remove(0);
    all.to_string()
}

/// Of archives, too, with clocks that drift, were set or wander, and with coarse ticks.
#[test]
fn offsets_of_any_trace_come_back() {
    for clocks in [
        "--drift 50ppm",
        "--tick 1us --jumps 1",
        "--wander 1ms --wander-period 1s",
    ] {
        let scratch = Scratch::new();
        let simulate =
            format!("simulate halo -o halo --no-truth --events 4000 --offset 1ms {clocks}");
        scratch.succeed(&simulate);
        scratch
            .retime("correct halo -o corrected --offsets-out offsets.json -q")
            .expect_code(0);
        scratch
            .retime("apply --offsets offsets.json halo -o applied -q")
            .expect_code(0);
        scratch.shell("rm -f corrected/*.retime applied/*.retime");
        assert_same(&scratch.join("corrected"), &scratch.join("applied"));
        for (file, told) in [
            (
                "t.json",
                "retime export -o NAME.json writes what it shows of a trace as JSON, slices and \
                 arrows, at corrected times",
            ),
            ("t.tar", "become members of an archive"),
        ] {
            let refused = scratch.retime(&format!("merge halo -o {file}"));
            assert_eq!(refused.code, Some(2));
            assert!(refused.stderr.contains(told), "{}", refused.stderr);
            assert!(!scratch.join(file).exists());
        }
    }
}

/// A clock that gained 29 us within 3 ms would drift by 17,527 ppm.
#[test]
fn of_a_clock_that_was_set_no_drift_is_told() {
    let scratch = Scratch::new();
    let simulate = "simulate halo -o halo --no-truth --events 4000 --offset 1ms --ranks 3 -q";
    scratch.succeed(&format!("{simulate} --jumps 1"));
    let corrected = scratch.retime("correct halo -o corrected").stdout;
    let set = "the clock of MPI Rank 2 was set by +";
    assert!(corrected.contains(set), "{corrected}");
    let told = scratch.retime("merge halo -o halo.pftrace").stdout;
    let line = told.lines().next().unwrap();
    let of = |rank: &str| line.split("; ").find(|it| it.contains(rank)).unwrap();
    assert!(!of("(rank 2)").contains("drift"), "{line}");
}

/// Nothing is known of a drift that is known to less than quartzes differ by.
#[test]
fn a_drift_is_told_that_is_known() {
    let scratch = Scratch::new();
    let simulate = "simulate halo --no-truth --ranks 2 --offset 1ms --drift 0 --compute 1ms -q";
    let line = |duration: &str| {
        scratch.succeed(&format!("{simulate} --duration {duration} -o halo --force"));
        scratch.retime("merge halo -o halo.pftrace --force").stdout
    };
    let (long, short) = (line("1s"), line("10ms"));
    assert!(long.contains("drift +0.00 ± "), "{long}");
    assert!(short.contains(" ± ") && !short.contains("drift"), "{short}");
}

/// Traces of four formats in one file: each is there with all its dependencies.
#[test]
fn traces_of_other_formats_are_put_beside_profiles() {
    let scratch = job();
    scratch.succeed("simulate halo -o halo --no-truth --ranks 4 --events 2000 --offset 1ms -q");
    scratch
        .retime("correct halo --merged -o lines.jsonl -q")
        .expect_code(0);
    scratch
        .retime("export halo -o halo.pftrace -q")
        .expect_code(0);
    let told = scratch.retime("merge run halo lines.jsonl halo.pftrace -o job.pftrace");
    let told = told.expect_code(0).stdout;
    assert!(
        told.contains("5 profiles (shown as 20 processes)"),
        "{told}"
    );
    for format in ["OTF2", "JSON lines"] {
        assert!(
            told.contains(&format!("Of a trace of {format} with ")),
            "{told}"
        );
    }
    assert!(told.contains("nothing relates these 4 traces"), "{told}");
    let total = |path: &str| {
        let outcome = scratch.retime(&format!("check {path} --json -"));
        let report: Value = serde_json::from_str(&outcome.stdout).unwrap();
        let before = &report["before"];
        let of = |kind: &str| before[kind]["total"].as_u64().unwrap();
        of("messages") + of("collectives")
    };
    let archive = total("halo");
    assert!(archive > 0);
    for one in ["lines.jsonl", "halo.pftrace"] {
        assert_eq!(total(one), archive, "{one}");
    }
    scratch
        .retime("merge halo lines.jsonl halo.pftrace -o three.pftrace -q")
        .expect_code(0);
    assert_eq!(total("three.pftrace"), 3 * archive);
    // No two things have one number.
    let file = fs::read(scratch.join("job.pftrace")).unwrap();
    let mut tracks = std::collections::BTreeSet::new();
    let packets = Fields::of(&file).map(|it| it.unwrap().value.bytes().unwrap());
    let mut described = 0;
    for packet in packets {
        for field in Fields::of(packet).map(Result::unwrap) {
            if field.number != trace_packet::TRACK_DESCRIPTOR {
                continue;
            }
            let track = field.value.bytes().unwrap();
            let uuid = Fields::of(track).map(Result::unwrap);
            let uuid = uuid.filter(|it| it.number == track_descriptor::UUID);
            described += 1;
            tracks.extend(uuid.filter_map(|it| it.value.number()));
        }
    }
    assert_eq!(tracks.len(), described);
}

#[test]
fn an_interrupt_leaves_nothing() {
    let scratch = Scratch::new();
    let run = KinetoRun {
        ranks: 8,
        iterations: 60,
        filler: 10,
        ..KinetoRun::training(Style::Nccl)
    };
    run.write(&scratch.join("run")).unwrap();
    for (number, wait) in ["0.05", "0.2", "0.5", "0.8"].iter().enumerate() {
        let command = format!(
            "\"$RETIME\" merge run -o t{number}.json.gz -q & it=$!; sleep {wait}; kill -INT $it; wait $it"
        );
        let outcome = scratch.shell(&command);
        let is_whole = scratch.join(&format!("t{number}.json.gz")).exists();
        let expected = if is_whole { 0 } else { 130 };
        assert_eq!(outcome.code, Some(expected), "{}", outcome.stderr);
    }
    let entries = scratch.entries();
    assert!(
        entries.iter().all(|it| it == "run" || it.starts_with('t')),
        "{entries:?}"
    );
}

#[test]
fn clocks_that_dependencies_show_to_be_off_are_said_to_be_off() {
    let line = |location: &str, time: u64, rest: &str| {
        format!(r#"{{"location":"{location}","time":{time}{rest}}}"#) + "\n"
    };
    // Ten seconds before the first message, in which clocks may have wandered by far more than the
    // 50 us by which they differ later.
    let mut lines = line("a", 1_000_000_000, "") + &line("b", 1_000_000_000, "");
    for message in 0..50_u64 {
        let at = 11_000_000_000 + 100_000 * message;
        let told = |kind: &str, id: u64| format!(r#","type":"{kind}","message":{id}"#);
        lines += &line("a", at + 50_000, &told("send", 2 * message));
        lines += &line("b", at + 10_000, &told("receive", 2 * message));
        lines += &line("b", at + 20_000, &told("send", 2 * message + 1));
        lines += &line("a", at + 80_000, &told("receive", 2 * message + 1));
    }
    let scratch = Scratch::new();
    scratch.write("log.jsonl", &lines);
    let said = scratch.retime("merge log.jsonl -o job.pftrace").stdout;
    let off = "2 clocks: none was off by more than is known of it over the whole run, though some were \
               off, as dependencies show\n100 dependencies, of which 50 as recorded";
    assert!(said.contains(off), "{said}");
    // Lines are no profile, and none are counted.
    assert!(
        said.contains("\nWrote job.pftrace: no profile. Open it in"),
        "{said}"
    );
}

/// Each rank numbers its launches from 1: those of others are not its own. Of rank 0 the profiler
/// has missed a launch, and of rank 1 a kernel.
#[test]
fn launches_of_a_rank_start_its_own_kernels_alone() {
    let scratch = Scratch::new();
    let event = |cat: &str, name: &str, tid: u32, at: u32, number: u32| {
        format!(
            r#"{{"ph":"X","cat":"{cat}","name":"{name}","pid":{tid},"tid":{tid},"ts":{at},"dur":5,"args":{{"correlation":{number}}}}}"#
        )
    };
    let launch = |at, number| event("cuda_runtime", "cudaLaunchKernel", 9, at, number);
    let kernel = |at, number| event("kernel", "sgemm", 0, at, number);
    let arrow = |ph: &str, pid: u32, at: u32| {
        format!(
            r#"{{"ph":"{ph}","cat":"ac2g","name":"ac2g","id":7,"pid":{pid},"tid":{pid},"ts":{at},"bp":"e"}}"#
        )
    };
    let all = [
        vec![
            kernel(110, 7),
            arrow("f", 0, 110),
            launch(120, 8),
            kernel(140, 8),
        ],
        vec![
            launch(900, 7),
            arrow("s", 9, 901),
            launch(930, 8),
            kernel(950, 8),
        ],
    ];
    for (rank, events) in all.iter().enumerate() {
        let text = format!(
            r#"{{"distributedInfo":{{"rank":{rank},"world_size":2}},"traceEvents":[
{}
]}}"#,
            events.join(",\n")
        );
        fs::write(scratch.join(&format!("rank{rank}.json")), text).unwrap();
    }
    for to in ["job.pftrace", "job.json"] {
        let merge = format!("merge rank0.json rank1.json -o {to}");
        // Nothing relates both ranks, which do not communicate.
        scratch.retime(&merge).expect_code(3);
        let check = scratch.retime(&format!("check {to}")).expect_code(3);
        assert!(
            !check.stdout.contains("reversed, the worst"),
            "{}",
            check.stdout
        );
        assert!(!check.stdout.contains("ambiguous"), "{}", check.stdout);
        assert!(
            !check.stdout.contains("before the calls"),
            "{}",
            check.stdout
        );
    }
}

/// The report of a check, without what a file is called, how many tracks and events it has, who has
/// learned the minimal delay, and how
/// long checking took.
pub(crate) fn checked(scratch: &Scratch, trace: &str) -> String {
    let check = scratch.retime(&format!("check {trace}")).expect_code(0);
    let kept = check.stdout.lines().filter(|it| {
        let own = ["trace ", "min delay ", "time ", "          ", "warning "];
        !own.iter().any(|own| it.starts_with(own))
    });
    kept.collect::<Vec<_>>().join("\n")
}
