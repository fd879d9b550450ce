//! The manifest of an archive: how the times of its files relate, in Perfetto's words.
//!
//! A document in Chrome's format has no clock that readers know, so its times are on a line of
//! its own, from the `ts` of its events alone: `baseTimeNanoseconds` does not count there. The
//! times of packets are by a clock with a name, and the clocks of one name are one clock on a
//! machine, so each file of packets has a machine of its own. A manifest relates either to the
//! times of another file by one number:
//!
//! ```text
//! time there = ts + offset_ns        offset_ns = (base + correction) - (least of these)
//! ```
//!
//! The file with the least of these is the reference, so that no offset is negative, and none
//! of its events comes before the beginning of the merged time line, where readers drop it.
//! What the correction adds is a constant here. Where files were corrected it is nothing, and
//! only differing bases are left.
//!
//! Source: <https://perfetto.dev/docs/reference/perfetto-manifest> (version 1).

use std::collections::BTreeSet;

use retime_model::format::Document;
use retime_perfetto::FileClock;
use serde::Serialize;

use crate::member::Member;
use crate::titles::endings;

/// The longest name of a member that readers take, in bytes.
pub const LONGEST_NAME: usize = 99;

/// The name of the manifest in an archive.
pub const MANIFEST: &str = "perfetto_manifest.json";

#[derive(Serialize)]
struct Root<'a> {
    perfetto_manifest: Manifest<'a>,
}

#[derive(Serialize)]
struct Manifest<'a> {
    version: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    trace_time: Option<Reference<'a>>,
    files: Vec<File<'a>>,
}

#[derive(Serialize)]
struct File<'a> {
    path: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    machine: Option<Machine<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    machines: Vec<Embedded>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clocks: Option<Clocks<'a>>,
}

#[derive(Serialize)]
struct Machine<'a> {
    name: &'a str,
}

/// A machine that packets of a file name by a number.
#[derive(Serialize)]
struct Embedded {
    id: u32,
    name: String,
}

#[derive(Serialize)]
struct Clocks<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    clock: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    machine: Option<String>,
    sync_to: Reference<'a>,
    offset_ns: i64,
}

/// The clock of a file.
#[derive(Serialize)]
struct Reference<'a> {
    file: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    machine: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clock: Option<&'static str>,
}

/// The text of a manifest.
///
/// ```
/// use retime_merge::{Member, manifest};
///
/// let member = |name: &str, zero| Member { name: name.into(), host: None, zero, clock: None };
/// let text = manifest(&[member("rank0.json", 1_000), member("rank1.json", 700)]);
/// let found: serde_json::Value = serde_json::from_str(&text)?;
/// let clocks = &found["perfetto_manifest"]["files"][0]["clocks"];
/// assert_eq!(clocks["sync_to"]["file"], "rank1.json");
/// assert_eq!(clocks["offset_ns"], 300);
/// # Ok::<(), serde_json::Error>(())
/// ```
pub fn manifest(members: &[Member]) -> String {
    let reference = members.iter().min_by_key(|it| it.zero);
    let files = members.iter().map(|member| {
        let to = reference.filter(|it| it.name != member.name);
        File {
            path: &member.name,
            machine: machine(member),
            machines: embedded(member),
            clocks: to.map(|to| Clocks {
                clock: clock(member),
                machine: base_machine(member),
                sync_to: clock_of(to),
                offset_ns: member.zero.saturating_sub(to.zero),
            }),
        }
    });
    let document = Root {
        perfetto_manifest: Manifest {
            version: 1,
            trace_time: reference.filter(|it| it.clock.is_some()).map(clock_of),
            files: files.collect(),
        },
    };
    // Text and whole numbers can always be written.
    let text = serde_json::to_string_pretty(&document).unwrap_or_default();
    format!("{text}\n")
}

/// The clock that others can refer to; that of a document in Chrome's format has no name.
fn clock_of(member: &Member) -> Reference<'_> {
    Reference {
        file: &member.name,
        machine: base_machine(member),
        clock: clock(member),
    }
}

fn clock(member: &Member) -> Option<&'static str> {
    member.clock.as_ref().and_then(FileClock::name)
}

/// True if the packets of a file name machines by numbers.
fn has_several_machines(clock: &FileClock) -> bool {
    clock.machines.iter().any(|it| *it != 0)
}

/// The one machine that a file is of: its host, or for packets one of the file's own.
fn machine(member: &Member) -> Option<Machine<'_>> {
    let host = || member.host.as_deref().filter(|it| !it.is_empty());
    let name = match &member.clock {
        None => host()?,
        Some(clock) if has_several_machines(clock) => return None,
        Some(_) => &member.name,
    };
    Some(Machine { name })
}

/// The names of the machines whose numbers stand in the packets of a file.
fn embedded(member: &Member) -> Vec<Embedded> {
    let clock = member.clock.as_ref().filter(|it| has_several_machines(it));
    let ids = clock.into_iter().flat_map(|it| &it.machines);
    ids.map(|&id| Embedded {
        id,
        name: embedded_name(member, id),
    })
    .collect()
}

fn embedded_name(member: &Member, id: u32) -> String {
    format!("{} (machine {id})", member.name)
}

/// The machine whose clock is that of the file, where it has several.
fn base_machine(member: &Member) -> Option<String> {
    let clock = member
        .clock
        .as_ref()
        .filter(|it| has_several_machines(it))?;
    let first = clock.machines.first()?;
    Some(embedded_name(member, *first))
}

/// Names for the members of an archive, in the order of their files: as these are called, but
/// none twice, none too long, and without `.gz`, since members are plain.
pub fn member_names<'a>(documents: impl Iterator<Item = &'a Document>) -> Vec<String> {
    let mut taken = BTreeSet::from([MANIFEST.to_owned()]);
    let named = documents.map(|document| {
        let name = document.path.file_name().unwrap_or_default();
        let name = name.to_string_lossy();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let endings = endings(document.kind);
        let parted = endings
            .iter()
            .find_map(|&it| Some((name.strip_suffix(it)?, it)));
        let usual = endings.first().copied().unwrap_or_default();
        let (stem, ending) = parted.unwrap_or((name, usual));
        let mut found = shortened(stem, ending);
        let mut number = 1;
        while !taken.insert(found.clone()) {
            number += 1;
            found = shortened(stem, &format!("_{number}{ending}"));
        }
        found
    });
    named.collect()
}

/// A name that is not too long, of the end of the stem, which is where profilers say the rank.
fn shortened(stem: &str, ending: &str) -> String {
    let room = LONGEST_NAME - ending.len();
    let mut from = stem.len().saturating_sub(room);
    while !stem.is_char_boundary(from) {
        from += 1;
    }
    format!("{}{ending}", stem.get(from..).unwrap_or_default())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "failing is how a test reports")]
mod tests {
    use retime_model::format::DocumentKind;

    use super::*;

    #[test]
    fn names_are_short_and_none_comes_twice() {
        let long = format!("{}é{}rank7.json.gz", "x".repeat(30), "y".repeat(90));
        let files = [
            "a/rank0.json",
            "b/rank0.json.gz",
            &long,
            "perfetto_manifest.json",
        ];
        let document = |path: &str, kind| Document {
            path: path.into(),
            kind,
            ..Document::default()
        };
        let files = files.map(|it| document(it, DocumentKind::Chrome));
        let packets = ["a/rank0.pb.gz", "b/rank0.pb", "c/rank0"];
        let packets = packets.map(|it| document(it, DocumentKind::Packets));
        let names = member_names(packets.iter());
        assert_eq!(names, ["rank0.pb", "rank0_2.pb", "rank0.pftrace"]);
        let names = member_names(files.iter());
        assert_eq!(names[..2], ["rank0.json", "rank0_2.json"]);
        assert!(names[2].ends_with("yrank7.json"));
        assert_eq!(names[3], "perfetto_manifest_2.json");
        assert!(names.iter().all(|it| it.len() <= LONGEST_NAME));
    }

    #[test]
    fn it_begins_as_readers_tell_it() {
        let member = Member {
            name: "a.json".into(),
            host: Some("node1".into()),
            zero: -5,
            clock: None,
        };
        let text = manifest(&[member]);
        let dense: String = text.split_whitespace().collect();
        assert!(dense.starts_with("{\"perfetto_manifest\""));
        let found: serde_json::Value = serde_json::from_str(&text).unwrap();
        let file = &found["perfetto_manifest"]["files"][0];
        assert_eq!(file["machine"]["name"], "node1");
        assert!(file.get("clocks").is_none());
    }
}
