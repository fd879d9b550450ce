//! Traces of Perfetto: jobs as PyTorch and rocprof write them, and what `export` writes.

use std::collections::BTreeMap;
use std::fs;
use std::io::{Read, Write};

use flate2::Compression;
use flate2::write::GzEncoder;
use retime_perfetto_wire::fields::{
    clock, clock_snapshot, ftrace, process_descriptor, remote_clock_sync, synced_clocks, trace,
    trace_packet, track_descriptor, track_event,
};
use retime_perfetto_wire::write::{bytes, fixed64, uint};
use retime_testing::kineto::{KinetoRun, Style};
use retime_testing::perfetto::{Shape, packets};
use serde_json::{Value, json};

use crate::common::Scratch;
use crate::common::directory::assert_same;

/// Writes the packets of a small job into the directory `run`.
fn job(scratch: &Scratch, shape: Shape) {
    let run = KinetoRun {
        ranks: 4,
        ranks_per_host: 1,
        iterations: 4,
        filler: 1,
        ..KinetoRun::training(Style::Nccl)
    };
    run.write(&scratch.join("json")).unwrap();
    fs::create_dir(scratch.join("run")).unwrap();
    for rank in 0..run.ranks {
        let profile = fs::read(scratch.join(&format!("json/rank{rank}.pt.trace.json"))).unwrap();
        let file = packets(&profile, shape).unwrap();
        fs::write(scratch.join(&format!("run/rank{rank}.pftrace")), file).unwrap();
    }
}

/// What a command says that ends with this code; the job has warnings.
#[track_caller]
fn said(scratch: &Scratch, arguments: &str, code: i32) -> String {
    let outcome = scratch.retime(arguments);
    assert_eq!(outcome.code, Some(code), "{outcome:#?}");
    outcome.stdout
}

#[test]
fn jobs_are_corrected_and_restored() {
    for shape in [Shape::PyTorch, Shape::Stages, Shape::Rocprof] {
        let scratch = Scratch::new();
        job(&scratch, shape);
        said(&scratch, "check run", 1);
        let summary = said(&scratch, "correct run -o out", 0);
        assert!(summary.contains("(Perfetto)"), "{summary}");
        assert!(summary.contains("no contradiction left"), "{summary}");
        said(&scratch, "check out", 0);
        said(&scratch, "undo out -o back", 0);
        assert_same(&scratch.join("run"), &scratch.join("back"));
        // Files one by one, with ranks from their paths.
        let files = "run/rank0.pftrace run/rank1.pftrace run/rank2.pftrace run/rank3.pftrace";
        let command = format!("correct {files} -o files --rank-from rank(\\d+)");
        said(&scratch, &command, 0);
        let read = |path: &str| fs::read(scratch.join(path)).unwrap();
        assert!(read("files/rank2.pftrace") == read("out/rank2.pftrace"));
    }
}

/// The arrows of an export are the dependencies of the trace, reversed ones too.
#[test]
fn what_export_writes_is_read() {
    let scratch = Scratch::new();
    scratch.succeed("simulate halo -o halo --no-truth --ranks 4 --events 60000 -q");
    let outcome = scratch.retime("export halo -o halo.pftrace --times recorded -q");
    outcome.expect_code(1);
    let original = said(&scratch, "check halo", 1);
    let summary = said(&scratch, "check halo.pftrace -v", 1);
    let told = "4,348 of 7,904 dependencies";
    assert!(original.contains(told), "{original}");
    assert!(summary.contains(told), "{summary}");
    assert!(!summary.contains("arrow end"), "{summary}");
    said(&scratch, "correct halo.pftrace -o corrected.pftrace", 0);
    said(&scratch, "check corrected.pftrace", 0);
}

/// With a format that is named the other kind is copied, as the message says.
#[test]
fn a_directory_of_both_kinds_is_one_kind_if_that_is_said() {
    let scratch = Scratch::new();
    job(&scratch, Shape::PyTorch);
    fs::copy(
        scratch.join("json/rank0.pt.trace.json"),
        scratch.join("run/other.json"),
    )
    .unwrap();
    for arguments in ["check run", "check run --rank-from rank(\\d+)"] {
        let outcome = scratch.retime(arguments);
        assert_eq!(outcome.code, Some(2), "{outcome:?}");
        let told = "run: holds profiles of both kinds";
        assert!(outcome.stderr.contains(told), "{outcome:?}");
    }
    let told = "1 profile of another kind (Chrome's JSON, Perfetto's packets, JAX's xplane)";
    for (command, code) in [
        ("check run", 1),
        ("correct run -o out", 0),
        ("merge run -o job.pftrace", 0),
        ("export run -o run.pftrace", 0),
    ] {
        let outcome = scratch.retime(&format!("{command} --format perfetto"));
        assert_eq!(outcome.code, Some(code), "{outcome:?}");
        let said = [&*outcome.stdout, &*outcome.stderr].concat();
        assert!(said.contains(told) && said.contains("other.json"), "{said}");
    }
    // A trace of files that are named has nothing beside them.
    let files = "run/rank0.pftrace run/rank1.pftrace run/rank2.pftrace run/rank3.pftrace";
    let summary = said(&scratch, &format!("check {files} --format perfetto"), 1);
    assert!(!summary.contains("another kind"), "{summary}");
}

/// JAX writes each profile in a form of its own, too, which is called like packets, and one of them
/// a second time in the form that is read.
#[test]
fn profiles_of_jax_in_their_own_form_lie_beside_those_that_are_read() {
    let scratch = Scratch::new();
    job(&scratch, Shape::PyTorch);
    let plane: &[u8] = b"\x0a\x10\x12\x0e/host:metadata";
    fs::write(scratch.join("json/host0.xplane.pb"), plane).unwrap();
    let first = scratch.join("json/rank0.pt.trace.json");
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(&fs::read(&first).unwrap()).unwrap();
    let packed = packed.finish().unwrap();
    fs::remove_file(first).unwrap();
    for name in ["rank0.trace.json.gz", "perfetto_trace.json.gz"] {
        fs::write(scratch.join("json").join(name), &packed).unwrap();
    }
    let second = "perfetto_trace.json.gz (what JAX writes again beside rank0.trace.json.gz)";
    let told = "1 profile of another kind (Chrome's JSON, Perfetto's packets, JAX's xplane) beside \
                those of the trace: no part of it, and in a copy with times as recorded: \
                host0.xplane.pb";
    for (command, code) in [("check json", 1), ("correct json -o out", 0)] {
        let summary = said(&scratch, command, code);
        assert!(summary.contains(told), "{summary}");
        assert!(summary.contains(second), "{summary}");
    }
    assert_eq!(
        fs::read(scratch.join("out/host0.xplane.pb")).unwrap(),
        plane
    );
}

/// Each kind is a trace of a merged file, also where ranks are taken from paths; of one rank one
/// file is put in.
#[test]
fn both_kinds_are_merged_with_each_rank_once() {
    let scratch = Scratch::new();
    job(&scratch, Shape::PyTorch);
    let json = "json/rank0.pt.trace.json";
    for more in ["", "--rank-from rank(\\d+)"] {
        let merge = format!("merge {more} {json} run/rank2.pftrace");
        let merged = scratch.retime(&format!("{merge} run/rank1.pftrace -o a.json --force"));
        assert!(merged.stdout.contains("3 profiles"), "{merged:?}");
        let twice = scratch.retime(&format!("{merge} run/rank0.pftrace -o b.json"));
        assert_eq!(twice.code, Some(2), "{twice:?}");
        let told = "run/rank0.pftrace: is of rank 0, as json/rank0.pt.trace.json is";
        assert!(twice.stderr.contains(told), "{twice:?}");
        assert!(!scratch.join("b.json").exists());
    }
}

/// The members of an archive, by name, and its manifest.
fn unpacked(scratch: &Scratch, name: &str) -> (BTreeMap<String, Vec<u8>>, Value) {
    let bytes = fs::read(scratch.join(name)).unwrap();
    let mut members = BTreeMap::new();
    for entry in tar::Archive::new(&*bytes).entries().unwrap() {
        let mut entry = entry.unwrap();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        let name = entry.path().unwrap().to_string_lossy().into_owned();
        members.insert(name, content);
    }
    let manifest = members.remove("perfetto_manifest.json").unwrap();
    (members, serde_json::from_slice(&manifest).unwrap())
}

/// Members are the corrected files, and what relates their clocks is that these show the same.
#[test]
fn packets_become_members_of_an_archive() {
    let scratch = Scratch::new();
    job(&scratch, Shape::PyTorch);
    said(&scratch, "correct run -o out", 0);
    said(&scratch, "merge run -o job.tar", 0);
    let (members, manifest) = unpacked(&scratch, "job.tar");
    assert_eq!(members.len(), 4);
    for (name, content) in &members {
        let own = fs::read(scratch.join(&format!("out/{name}")));
        assert!(*content == own.unwrap_or_else(|_| panic!("{name}")));
    }
    let manifest = &manifest["perfetto_manifest"];
    let clock = manifest["trace_time"]["clock"].as_str().unwrap();
    assert_eq!(manifest["trace_time"]["file"], "rank0.pftrace");
    for (rank, file) in manifest["files"].as_array().unwrap().iter().enumerate() {
        let path = format!("rank{rank}.pftrace");
        assert_eq!(
            (&file["path"], &file["machine"]["name"]),
            (&json!(path), &json!(path))
        );
        let wanted = json!({
            "clock": clock,
            "sync_to": {"file": "rank0.pftrace", "clock": clock},
            "offset_ns": 0,
        });
        assert_eq!(file["clocks"], if rank == 0 { Value::Null } else { wanted });
    }
}

/// One constant for each file is the offset of its clock against the one that is the least.
#[test]
fn a_manifest_relates_files_of_packets_as_they_are() {
    let scratch = Scratch::new();
    job(&scratch, Shape::PyTorch);
    let told = "merge run --manifest-only -o manifest.json --offsets-out offsets.json";
    said(&scratch, told, 0);
    let read = |name: &str| -> Value { serde_json::from_str(&scratch.read(name)).unwrap() };
    let (manifest, offsets) = (read("manifest.json"), read("offsets.json"));
    let clocks = offsets["traces"][0]["clocks"].as_array().unwrap();
    let offset = |rank: u64| {
        let is_own = |it: &&Value| it["ranks"].as_array().unwrap().contains(&json!(rank));
        let clock = clocks.iter().find(is_own).unwrap();
        clock["offset_ns"].as_f64().unwrap().round() as i64
    };
    let least = (0..4).map(offset).min().unwrap();
    let files = manifest["perfetto_manifest"]["files"].as_array().unwrap();
    for (rank, file) in (0..).zip(files) {
        let found = file["clocks"]["offset_ns"].as_i64().unwrap_or(0);
        assert_eq!(found, offset(rank) - least, "{file}");
    }
    assert!((0..4).any(|rank| offset(rank) != least));
}

/// A message within others.
fn nested(out: &mut Vec<u8>, field: u32, fill: impl FnOnce(&mut Vec<u8>)) {
    let mut own = Vec::new();
    fill(&mut own);
    bytes(out, field, &own);
}

/// The lead of the other machine's clock, as notes of both say.
const AHEAD: u64 = 1_000_000_000;

/// Notes of the clocks of the host and of another machine, by turns.
fn notes() -> Vec<u8> {
    let mut sync = Vec::new();
    for at in [1000, 1020] {
        nested(&mut sync, remote_clock_sync::SYNCED_CLOCKS, |note| {
            for (field, shows) in [
                (synced_clocks::CLIENT_CLOCKS, AHEAD + at),
                (synced_clocks::HOST_CLOCKS, at + 10),
            ] {
                nested(note, field, |clocks| {
                    nested(clocks, clock_snapshot::CLOCKS, |it| {
                        uint(it, clock::CLOCK_ID, 6);
                        uint(it, clock::TIMESTAMP, shows);
                    });
                });
            }
        });
    }
    sync
}

/// A slice without anything but an arrow that it begins or ends.
struct Slice {
    begin: u64,
    field: u32,
    flow: u64,
}

fn packet(out: &mut Vec<u8>, machine: u64, fill: impl FnOnce(&mut Vec<u8>)) {
    nested(out, trace::PACKET, |packet| {
        uint(packet, trace_packet::TRUSTED_PACKET_SEQUENCE_ID, 1);
        if machine > 0 {
            uint(packet, trace_packet::MACHINE_ID, machine);
        }
        fill(packet);
    });
}

fn slice(out: &mut Vec<u8>, machine: u64, slice: &Slice) {
    let ends = [
        (track_event::SLICE_BEGIN, slice.begin),
        (track_event::SLICE_END, slice.begin + 10_000),
    ];
    for (kind, at) in ends {
        packet(out, machine, |it| {
            uint(it, trace_packet::TIMESTAMP, at);
            nested(it, trace_packet::TRACK_EVENT, |event| {
                uint(event, track_event::TYPE, kind);
                uint(event, track_event::TRACK_UUID, 1);
                if kind == track_event::SLICE_BEGIN {
                    fixed64(event, slice.field, slice.flow);
                }
            });
        });
    }
}

/// Calls between two machines that use the same numbers. The clock of the one is ahead by what notes
/// say, and by more than answers take besides.
fn two_machines() -> Vec<u8> {
    let mut out = Vec::new();
    for (machine, name) in [(0, "client"), (5, "server")] {
        packet(&mut out, machine, |it| {
            nested(it, trace_packet::TRACK_DESCRIPTOR, |track| {
                uint(track, track_descriptor::UUID, 1);
                nested(track, track_descriptor::PROCESS, |process| {
                    uint(process, process_descriptor::PID, 7);
                    bytes(process, process_descriptor::PROCESS_NAME, name.as_bytes());
                });
            });
        });
    }
    packet(&mut out, 5, |it| {
        bytes(it, trace_packet::REMOTE_CLOCK_SYNC, &notes());
    });
    let (leaves, arrives) = (track_event::FLOW_IDS, track_event::TERMINATING_FLOW_IDS);
    for call in 0..20 {
        let at = 2_000_000_000 + 1_000_000 * call;
        let there = at + AHEAD + 300_000;
        for (machine, begin, field, flow) in [
            (0, at, leaves, call),
            (5, there + 20_000, arrives, call),
            (5, there + 40_000, leaves, 100 + call),
            (0, at + 60_000, arrives, 100 + call),
        ] {
            slice(&mut out, machine, &Slice { begin, field, flow });
        }
    }
    out
}

/// Notes of clocks are followed, stay as they are, and what they leave is corrected; merged, the
/// machines are told apart by names.
#[test]
fn machines_with_notes_of_their_clocks_are_corrected_from_end_to_end() {
    let scratch = Scratch::new();
    let file = two_machines();
    fs::write(scratch.join("job.pftrace"), &file).unwrap();
    let summary = said(&scratch, "check job.pftrace", 1);
    let told = "20 of 40 dependencies are reversed, the worst by 270 us";
    assert!(summary.contains(told), "{summary}");
    said(&scratch, "correct job.pftrace -o out.pftrace", 0);
    said(&scratch, "check out.pftrace", 0);
    let corrected = fs::read(scratch.join("out.pftrace")).unwrap();
    let holds = |file: &[u8], what: &[u8]| file.windows(what.len()).any(|it| it == what);
    assert!(holds(&corrected, &notes()));
    said(&scratch, "undo out.pftrace -o back.pftrace", 0);
    assert!(fs::read(scratch.join("back.pftrace")).unwrap() == file);

    said(&scratch, "merge job.pftrace -o merged.pftrace", 0);
    let merged = fs::read(scratch.join("merged.pftrace")).unwrap();
    for name in ["job: client 7", "job: server 7 (machine 5)"] {
        assert!(holds(&merged, name.as_bytes()), "{name}");
    }
    assert!(holds(&merged, &notes()));
    let summary = said(&scratch, "check merged.pftrace", 0);
    assert!(summary.contains("matched    40 messages"), "{summary}");
}

/// A packet of a switch of the kernel, at this time.
fn of_the_kernel(at: u64) -> Vec<u8> {
    let mut file = Vec::new();
    packet(&mut file, 0, |packet| {
        nested(packet, trace_packet::FTRACE_EVENTS, |bundle| {
            nested(bundle, ftrace::EVENT, |event| {
                uint(event, ftrace::EVENT_TIMESTAMP, at);
            });
        });
    });
    file
}

/// Events of the kernel do not stand beside those of other files; the message names the file that
/// was given, not the copy that was made of it.
#[test]
fn files_that_cannot_be_merged_are_named_as_they_were_given() {
    let scratch = Scratch::new();
    job(&scratch, Shape::PyTorch);
    let path = scratch.join("run/rank1.pftrace");
    let mut file = fs::read(&path).unwrap();
    let place = file.len();
    file.extend(of_the_kernel(1_790_000_000_000_000_000));
    fs::write(&path, file).unwrap();
    let outcome = scratch.retime("merge run -o job.pftrace");
    assert_eq!(outcome.code, Some(2), "{outcome:?}");
    let told = format!("run/rank1.pftrace: byte {place}: a packet begins here");
    assert!(outcome.stderr.contains(&told), "{outcome:?}");
    assert!(!outcome.stderr.contains("partial"), "{outcome:?}");
    // JSON leaves them out, and says so.
    let told = said(&scratch, "merge run -o job.json", 0);
    assert!(told.contains("1 other packet "), "{told}");
}

/// The names of the slices of documents of JSON, without what was added, in order, and how many
/// of them are collective operations.
fn slices(documents: &[Value]) -> (Vec<String>, usize) {
    let all = documents
        .iter()
        .filter_map(|it| it["traceEvents"].as_array());
    let all = all
        .flatten()
        .filter(|it| it["ph"] == "X" && it["cat"] != "retime");
    let all: Vec<&Value> = all.collect();
    let mut names: Vec<String> = all.iter().map(|it| it["name"].to_string()).collect();
    names.sort();
    let joined = all
        .iter()
        .filter(|it| it["args"]["Collective name"].is_string());
    (names, joined.count())
}

/// Packets merged into JSON have the slices of which they were made, and the same dependencies; what
/// has no place there is counted.
#[test]
fn packets_become_json() {
    for shape in [Shape::PyTorch, Shape::Stages, Shape::Rocprof] {
        let scratch = Scratch::new();
        job(&scratch, shape);
        let told = said(&scratch, "merge run -o job.json", 0);
        let has_clocks = shape == Shape::Rocprof;
        assert_eq!(told.contains("JSON has no place for"), has_clocks, "{told}");
        let read = |path: &str| -> Value {
            serde_json::from_slice(&fs::read(scratch.join(path)).unwrap()).unwrap()
        };
        let profiles = (0..4).map(|rank| read(&format!("json/rank{rank}.pt.trace.json")));
        let profiles: Vec<Value> = profiles.collect();
        let merged = read("job.json");
        assert!(
            slices(&profiles) == slices(std::slice::from_ref(&merged)),
            "{shape:?}"
        );
        let mut processes = merged["traceEvents"].as_array().unwrap().iter();
        let first = processes.find(|it| it["name"] == "process_name").unwrap();
        let first = first["args"]["name"].as_str().unwrap();
        assert!(first.starts_with("rank 0: "), "{first}");
        // Read again, nothing contradicts.
        said(&scratch, "check job.json", 0);
    }
}

/// A merged file that is read again has the dependencies that were found, each once: those of
/// operations by their arguments, which arrows say again.
#[test]
fn merged_files_are_read_again() {
    for (shape, runs) in [
        (Shape::PyTorch, "run"),
        (Shape::Stages, "run"),
        (Shape::Rocprof, "run"),
        (Shape::PyTorch, "json"),
    ] {
        let scratch = Scratch::new();
        job(&scratch, shape);
        fs::remove_file(scratch.join("json/truth.json")).unwrap();
        let counts = |path: &str| {
            let outcome = scratch.retime(&format!("check {path} --json -"));
            let report: serde_json::Value = serde_json::from_str(&outcome.stdout).unwrap();
            let before = &report["before"];
            assert!(report["before"]["reversed"].as_u64().is_some(), "{report}");
            let of = |kind: &str| before[kind]["total"].as_u64().unwrap();
            (
                of("messages"),
                of("collectives"),
                before["reversed"].as_u64(),
            )
        };
        let (messages, collectives, _) = counts(runs);
        assert!(collectives > 50, "{collectives}");
        let told = said(&scratch, &format!("merge {runs} -o merged.pftrace"), 0);
        let drawn = format!("{} arrows between them", messages + collectives);
        assert!(told.replace(',', "").contains(&drawn), "{shape:?}: {told}");
        let (again, joined, reversed) = counts("merged.pftrace");
        let all = messages + collectives;
        assert_eq!(again + joined, all, "{shape:?} {runs}");
        assert_eq!(reversed, Some(0));
    }
}
