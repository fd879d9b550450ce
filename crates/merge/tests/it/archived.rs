//! Archives by the rules that Perfetto documents for them and their manifest.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use retime_merge::{MANIFEST, Member, archive, member_names};
use retime_model::format::{Document, DocumentKind};
use retime_perfetto_wire::fields::{trace, trace_packet};
use retime_perfetto_wire::write::{bytes, uint};
use serde_json::{Value, json};

/// Fails on what the reference of the format rules out.
fn check(manifest: &Value, names: &BTreeSet<String>) {
    let top = manifest.as_object().unwrap();
    assert_eq!(top.keys().collect::<Vec<_>>(), ["perfetto_manifest"]);
    let manifest = &manifest["perfetto_manifest"];
    assert_eq!(manifest["version"], 1);
    let files = manifest["files"].as_array().unwrap();
    let paths: BTreeSet<String> = files
        .iter()
        .map(|it| it["path"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(paths.len(), files.len());
    for file in files {
        let path = file["path"].as_str().unwrap();
        assert!(path.len() <= 99 && names.contains(path), "{path}");
        if let Some(machine) = file.get("machine") {
            assert!(!machine["name"].as_str().unwrap().is_empty());
        }
        let Some(clocks) = file.get("clocks") else {
            continue;
        };
        // Files in Chrome's format have no clock of a name, and those of packets have one.
        for (name, clock) in [
            (path, clocks.get("clock")),
            (
                clocks["sync_to"]["file"].as_str().unwrap(),
                clocks["sync_to"].get("clock"),
            ),
        ] {
            assert_eq!(name.ends_with(".pftrace"), clock.is_some(), "{name}");
        }
        assert!(paths.contains(clocks["sync_to"]["file"].as_str().unwrap()));
        assert_ne!(clocks["sync_to"]["file"], path);
        assert!(clocks["offset_ns"].as_i64().unwrap() >= 0);
    }
}

fn members(archive: &[u8]) -> Vec<(String, Vec<u8>)> {
    let mut archive = tar::Archive::new(archive);
    let entries = archive.entries().unwrap().map(|entry| {
        let mut entry = entry.unwrap();
        let name = entry.path().unwrap().to_string_lossy().into_owned();
        let mut content = Vec::new();
        entry.read_to_end(&mut content).unwrap();
        (name, content)
    });
    entries.collect()
}

#[test]
fn an_archive_is_as_documented() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let plain = br#"{"traceEvents": [{"ph": "i", "ts": 5, "name": "a"}]}"#;
    let long = format!("{}.json.gz", "r".repeat(120));
    std::fs::write(at("rank0.json"), plain).unwrap();
    let mut packed = GzEncoder::new(
        std::fs::File::create(at(&long)).unwrap(),
        Compression::fast(),
    );
    std::io::Write::write_all(&mut packed, plain).unwrap();
    packed.finish().unwrap();
    std::fs::create_dir(at("other")).unwrap();
    std::fs::write(at("other/rank0.json"), b"[]").unwrap();

    let files: Vec<PathBuf> = ["rank0.json", &long, "other/rank0.json"].map(at).to_vec();
    let paths = || files.iter().map(PathBuf::as_path);
    let zeros = [1_790_857_026_000_000_000, 1_790_857_025_000_000_000, -7];
    let documents: Vec<Document> = paths()
        .map(|it| Document {
            path: it.into(),
            ..Document::default()
        })
        .collect();
    let own: Vec<Member> = member_names(documents.iter())
        .into_iter()
        .zip(zeros)
        .map(|(name, zero)| Member {
            name,
            host: Some("host \"1\"".into()),
            zero,
            clock: None,
        })
        .collect();
    let mut out = Vec::new();
    let bytes = archive(&own, paths(), &mut out, &()).unwrap();
    assert_eq!(bytes, out.len() as u64);

    let found = members(&out);
    assert_eq!(found[0].0, MANIFEST);
    let names: BTreeSet<String> = found.iter().skip(1).map(|it| it.0.clone()).collect();
    assert_eq!(names.len(), 3);
    let text = std::str::from_utf8(&found[0].1).unwrap();
    let dense: String = text.split_whitespace().collect();
    assert!(dense.starts_with("{\"perfetto_manifest\""));
    let manifest: Value = serde_json::from_str(text).unwrap();
    check(&manifest, &names);
    let contents: Vec<&[u8]> = found.iter().skip(1).map(|it| &*it.1).collect();
    assert_eq!(contents, [&plain[..], plain, b"[]"]);
    let offset =
        |file: usize| manifest["perfetto_manifest"]["files"][file]["clocks"]["offset_ns"].as_i64();
    assert_eq!(
        [offset(0), offset(1), offset(2)],
        [
            Some(1_790_857_026_000_000_007),
            Some(1_790_857_025_000_000_007),
            None,
        ]
    );
    // What is not there, or no archive of one, is an error.
    let missing = [Path::new("/nothing/there.json")];
    assert!(archive(&own, missing.into_iter(), &mut Vec::new(), &()).is_err());
}

/// A file with one packet for each machine, stamped by a clock.
fn packets(path: &Path, clock: u64, machines: &[u64]) {
    let mut file = Vec::new();
    for machine in machines {
        let mut packet = Vec::new();
        uint(&mut packet, trace_packet::TIMESTAMP, 7);
        uint(&mut packet, trace_packet::TIMESTAMP_CLOCK_ID, clock);
        if *machine != 0 {
            uint(&mut packet, trace_packet::MACHINE_ID, *machine);
        }
        bytes(&mut file, trace::PACKET, &packet);
    }
    std::fs::write(path, file).unwrap();
}

/// Files of packets are on machines of their own, and related by clocks that are named.
#[test]
fn packets_are_related_by_their_clocks() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    let document = |name: &str, base| Document {
        kind: DocumentKind::Packets,
        path: at(name),
        base,
        ..Document::default()
    };
    packets(&at("one.pftrace"), 1, &[0]);
    packets(&at("two.pftrace"), 6, &[0, 9]);
    let member =
        |name: &str, later| Member::of(&document(name, 100), name.into(), later, &()).unwrap();
    let own = [member("one.pftrace", 20), member("two.pftrace", 5)];
    let text = retime_merge::manifest(&own);
    let found: Value = serde_json::from_str(&text).unwrap();
    check(&found, &own.iter().map(|it| it.name.clone()).collect());
    let base = "two.pftrace (machine 0)";
    let wanted = json!({"perfetto_manifest": {
        "version": 1,
        "trace_time": {"file": "two.pftrace", "machine": base, "clock": "BOOTTIME"},
        "files": [
            {
                "path": "one.pftrace",
                "machine": {"name": "one.pftrace"},
                "clocks": {
                    "clock": "REALTIME",
                    "sync_to": {"file": "two.pftrace", "machine": base, "clock": "BOOTTIME"},
                    "offset_ns": 15,
                },
            },
            {
                "path": "two.pftrace",
                "machines": [
                    {"id": 0, "name": base},
                    {"id": 9, "name": "two.pftrace (machine 9)"},
                ],
            },
        ],
    }});
    assert_eq!(found, wanted);
    // Nobody else knows a clock that a program made for itself.
    packets(&at("own.pftrace"), 70, &[0]);
    let refused = Member::of(&document("own.pftrace", 0), "own".into(), 0, &());
    let told = refused.unwrap_err().to_string();
    assert!(
        told.contains("own.pftrace: its times are by a clock"),
        "{told}"
    );
}
